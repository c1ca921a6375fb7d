"""What a host's hooks do: memory into a session and beside a prompt, and out of a transcript before it is shortened.

A hook must not stop an agent: its time is bounded, and whatever goes wrong is an empty answer and a line in
`.memory/hooks.log`. Private lines never go out: the model that reads them may be anywhere.
"""

from __future__ import annotations

import json
import mmap
import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from ..context.fence import fence, tamed
from ..errors import BadSettings, LockBusy, MemctlError, NoWorkspace, OverBudget, PageUnreadable
from ..markdown.lines import split_lines
from ..memory import Memory
from ..notes.files import prepare_memory, read_page
from ..notes.settings import SETTINGS
from ..notes.workspace import Workspace, current_folder, find_root, find_workspace
from ..system import append_bounded, run_with_timeout

if TYPE_CHECKING:
    from ..memory import Question

EVENTS = {"session-start": "SessionStart", "prompt": "UserPromptSubmit", "post-edit": "PostToolUse", "pre-compact": "PreCompact", "session-end": "SessionEnd"}  # fmt: skip
"""Our names of the events, and those of Claude Code and Codex."""
_SECONDS = {"session-start": 5.0, "prompt": 2.0, "post-edit": 2.0, "pre-compact": 10.0, "session-end": 2.0}
_FINISH = 300.0  # what a long transcript may take after the host was let go
_MOST_INPUT = 8 * 1024 * 1024
_PROMPT = 20_000  # characters of a prompt that are looked at
# A host cuts what a hook says at 10,000 characters; tokens of three letters stay below that.
_START_TOKENS, _PROMPT_TOKENS = 2400, 1200
_SYNC = 1.0
_LINES = 8  # beside one prompt
_BAD = 5  # lines of which is told what is wrong with them
_PATCHED = re.compile(r"^\*\*\* (?:Add File|Update File|Move to): (.+?)\s*$", re.MULTILINE)  # by Codex
_MOST_LOG = 256 * 1024
_HARMLESS = (NoWorkspace, BadSettings, PageUnreadable, LockBusy)  # their words name paths, never what was asked


class _Silent(Exception):
    """Nothing to say; its text is for the log."""


def run_hook(event: str, named: str | None, now: datetime, stdin: TextIO) -> dict[str, Any] | None:
    """What to print for an event whose JSON stands on stdin: None is nothing. Never raises, and returns in a bounded time."""
    start = time.monotonic()
    place = mmap.mmap(-1, mmap.PAGESIZE)  # of the workspace: the job may be ended before it can answer
    if event not in EVENTS:
        log_hook(named, now, event, f"no such event; {', '.join(EVENTS)}")
        return None

    def logged(done: dict[str, Any]) -> None:
        if log := done.pop("log", ""):
            log = f"{log} ({time.monotonic() - start:.1f} s)"
            log_hook(named or os.fsdecode(place[:].rstrip(b"\0")), now, event, log)

    def job() -> bytes:
        done = _tried(event, named, now, stdin, place)
        if event in ("pre-compact", "session-end"):  # itself: it may be on its own by then
            logged(done)
        return json.dumps(done).encode()

    # A session may be the first that looks at the folder: its index is finished behind it.
    outcome = run_with_timeout(job, _SECONDS[event], finish=0.0 if event in ("prompt", "post-edit") else _FINISH)
    said: Any = json.loads(outcome.answer) if outcome.answer is not None else {"log": outcome.trouble}
    logged(said)
    answer: dict[str, Any] | None = said.get("answer")
    return answer


def log_hook(named: str | None, now: datetime, event: str, what: str) -> None:
    """Add a line; a new log starts at 256 KiB, and one older is kept. Silent where it cannot be written."""
    line = " ".join(f"{now:%Y-%m-%dT%H:%M:%S} {event[:20]}: {what}".split())[:500]
    with suppress(OSError, MemctlError):
        root = find_root(named, os.environ, current_folder())
        if (root / SETTINGS).exists() or (root / "memory").is_dir():
            prepare_memory(Workspace(root))
        append_bounded(root / ".memory" / "hooks.log", line.encode("utf-8", "replace") + b"\n", _MOST_LOG)


def _tried(event: str, named: str | None, now: datetime, stdin: TextIO, place: mmap.mmap) -> dict[str, Any]:
    """The answer, or what went wrong; where the workspace is stands in `place` as soon as it is known."""
    try:
        given = _read(stdin)
        root = str(_root(named, given))
        place.write(os.fsencode(root)[: mmap.PAGESIZE])
        answer, log = answer_hook(find_workspace(root, os.environ, Path()), event, given, now)
        return {"answer": answer, "log": log}
    except _Silent as reason:
        return {"log": str(reason)}
    except MemctlError as error:
        what = f": {error.what}" if isinstance(error, _HARMLESS) else ""
        return {"log": f"{type(error).__name__}{what}"}


def _read(stdin: TextIO) -> Mapping[str, Any]:
    """The object on stdin; nothing on a terminal."""
    if stdin is None or stdin.closed:
        raise _Silent("stdin is closed")
    if stdin.isatty():
        return {}
    source: Any = getattr(stdin, "buffer", stdin)
    try:
        data = source.read(_MOST_INPUT + 1)
        if len(data) > _MOST_INPUT:
            raise _Silent("over 8 MiB on stdin")
        text = data.decode("utf-8-sig") if isinstance(data, bytes) else data
        given = json.loads(text) if text.strip() else {}
    except (ValueError, OSError, RecursionError) as error:
        raise _Silent(f"stdin is not JSON ({type(error).__name__})") from error
    if not isinstance(given, dict):
        raise _Silent("stdin is not a JSON object")
    return given


def _root(named: str | None, given: Mapping[str, Any]) -> Path:
    roots = given.get("workspace_roots")
    places = [given.get("cwd"), *(roots if isinstance(roots, list) else [])]
    told = next((place for place in places if isinstance(place, str) and os.path.isdir(place)), None)
    return find_root(named, os.environ, Path(told) if told else current_folder())


def answer_hook(
    workspace: Workspace, event: str, given: Mapping[str, Any], now: datetime
) -> tuple[dict[str, Any] | None, str]:
    """The answer to an event, None where there is nothing to say; and a line for the log, often empty."""
    if event in ("pre-compact", "session-end"):
        return None, _keep(Memory(workspace, lambda: now), given)
    # Without a model, which makes hooks no more often right (docs/retrieval.md). What the index lacks after a second comes
    # with the next call.
    settings = workspace.settings._replace(model="none", sync_seconds=min(workspace.settings.sync_seconds, _SYNC))
    workspace = workspace._replace(settings=settings)
    memory = Memory(workspace, lambda: now)
    if event == "prompt":
        text = _beside(memory, given.get("prompt"))
    elif event == "post-edit":
        view = memory.public() if (pages := [*_written(workspace, given)]) else memory
        text = "\n\n".join(filter(None, (_edited(view, *page) for page in pages)))
    else:
        try:
            text = memory.session_start(min(settings.budget, _START_TOKENS)).text
        except OverBudget:  # a large core: better all of it than nothing
            text = memory.session_start(settings.budget).text
    if not text.strip():
        return None, ""
    name = given.get("hook_event_name")
    if name == "sessionStart":  # Cursor's own dialect
        return {"additional_context": text}, ""
    return {"hookSpecificOutput": {"hookEventName": EVENTS[event], "additionalContext": text}}, ""


def _beside(memory: Memory, prompt: Any) -> str:
    """The recalled lines that belong to a prompt; for most prompts there are none."""
    if not isinstance(prompt, str) or not prompt.strip() or prompt.lstrip().startswith("/"):  # a command of the host
        return ""
    from ..review.offers import unanswered

    budget = min(memory.workspace.settings.budget, _PROMPT_TOKENS)
    view, told = memory.public(), ""
    found = view.beside_prompt(prompt[:_PROMPT], budget, _LINES)
    with suppress(MemctlError):  # the other answer goes out anyway
        told = _offered(unanswered(view), "Saved lately, and not settled")
    return "\n\n".join(filter(None, (found, told)))


def _offered(found: Sequence[Question], head: str) -> str:
    """What is offered, as data, below each newer line its older ones; and how it is answered."""
    if not found:
        return ""
    lines = "\n".join(f"- {each.newer} may replace\n  {each.id} {each.older}" for each in found).split("\n")
    how = f"by the tool answer, or `memctl review ID KEY --source agent`: {found[0].HOW}"
    return f"{head} ({how}):\n{fence(tamed(chr(10).join(dict.fromkeys(lines))))}"


def _edited(memory: Memory, path: str, lines: Set[str]) -> str:
    """What there is to say of lines that an agent wrote into a page by itself; mostly nothing."""
    from ..index.rows import iter_rows  # with the parser of pages, which other events mostly do not need
    from ..review.offers import offered_beside

    text = read_page(memory.workspace, path).text
    numbers = {n for n, line in enumerate(split_lines(text), 1) if line.strip() in lines}
    told = _offered(offered_beside(memory, path, numbers), f"Lines of {path} may replace earlier ones; settle it")
    faults = [(n, fault) for n, fault in iter_rows(path, text).problems if n in numbers][:_BAD]
    bad = (f"{path}#L{n}: {tamed(fault.message)}; {tamed(fault.suggestion)}" for n, fault in faults)
    return "\n".join(filter(None, (told, *bad)))


def _written(workspace: Workspace, given: Mapping[str, Any]) -> Iterator[tuple[str, set[str]]]:
    """The pages into which a tool has just written, each with the lines that are new; of Codex a patch says both."""
    asked, done = (each if isinstance(each, dict) else {} for each in map(given.get, ("tool_input", "tool_response")))
    patch = str(asked.get("command", ""))
    added = "\n".join(line[1:] for line in patch.split("\n") if line.startswith("+"))
    was = done.get("originalFile")
    old, new = (asked.get("old_string"), was), (asked.get("content"), asked.get("new_string"), added)
    for name in {str(asked.get("file_path")), *_PATCHED.findall(patch)}:
        folder, page = os.path.split(os.path.join(str(given.get("cwd")), name))
        place = Path(os.path.realpath(folder), page)
        if place.is_relative_to(workspace.root) and workspace.is_page(path := workspace.contain(str(place))):
            is_known = isinstance(was, str)  # an edit may have put in a part of a line
            texts = ((read_page(workspace, path).text,), (was,)) if is_known else (new, old)
            now, before = ({line.strip() for each in some for line in str(each or "").split("\n")} for some in texts)
            yield path, now - before


def _keep(memory: Memory, given: Mapping[str, Any]) -> str:
    path = given.get("transcript_path")
    if not isinstance(path, str) or not os.path.exists(os.path.expanduser(path)):
        return ""  # a session in which nothing was said has no transcript
    done = memory.ingest(Path(os.path.expanduser(path)), apply=True, seconds=_FINISH - 10)
    told = f"kept {sum(not kept.already for kept in done.kept)}, asked {len(done.asked)}, refused {len(done.refused)}"
    return told if done.complete else f"{told}, not read to the end"
