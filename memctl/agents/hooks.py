"""What a host's hooks do: memory into a session and beside a prompt, and out of a transcript before it is shortened.

A hook must not stop an agent: its time is bounded, and whatever goes wrong is an empty answer and a line in
`.memory/hooks.log`. Private lines never go out: the model that reads them may be anywhere.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, TextIO

from ..errors import BadSettings, LockBusy, MemctlError, NoWorkspace, OverBudget, PageUnreadable
from ..memory import Memory
from ..notes.files import prepare_memory
from ..notes.settings import SETTINGS
from ..notes.workspace import Workspace, current_folder, find_workspace
from ..system import append_bounded, run_with_timeout

EVENTS = {"session-start": "SessionStart", "prompt": "UserPromptSubmit", "pre-compact": "PreCompact", "session-end": "SessionEnd"}  # fmt: skip
"""Our names of the events, and those of Claude Code and Codex."""
_SECONDS = {"session-start": 5.0, "prompt": 2.0, "pre-compact": 10.0, "session-end": 2.0}
_FINISH = 300.0  # what a long transcript may take after the host was let go
_MOST_INPUT = 8 * 1024 * 1024
_PROMPT = 20_000  # characters of a prompt that are looked at
# A host cuts what a hook says at 10,000 characters; tokens of three letters stay below that.
_START_TOKENS, _PROMPT_TOKENS = 2400, 1200
_SYNC = 1.0
_LINES = 8  # beside one prompt
_MOST_LOG = 256 * 1024
_HARMLESS = (NoWorkspace, BadSettings, PageUnreadable, LockBusy)  # their words name paths, never what was asked


class _Silent(Exception):
    """Nothing to say; its text is for the log."""


def run_hook(event: str, named: str | None, now: datetime, stdin: TextIO) -> dict[str, Any] | None:
    """What to print for an event whose JSON stands on stdin: None is nothing. Never raises, and returns in a bounded time."""
    start = time.monotonic()
    if event not in EVENTS:
        log_hook(named, now, event, f"no such event; {', '.join(EVENTS)}")
        return None

    def logged(done: dict[str, Any]) -> None:
        if log := done.pop("log", ""):
            log_hook(named or done.get("root"), now, event, f"{log} ({time.monotonic() - start:.1f} s)")

    def job() -> bytes:
        done = _tried(event, named, now, stdin)
        if event in ("pre-compact", "session-end"):  # itself: it may be on its own by then
            logged(done)
        return json.dumps(done).encode()

    # A session may be the first that looks at the folder: its index is finished behind it.
    outcome = run_with_timeout(job, _SECONDS[event], finish=0.0 if event == "prompt" else _FINISH)
    said: Any = json.loads(outcome.answer) if outcome.answer is not None else {"log": outcome.trouble}
    logged(said)
    answer: dict[str, Any] | None = said.get("answer")
    return answer


def log_hook(named: str | None, now: datetime, event: str, what: str) -> None:
    """Add a line; a new log starts at 256 KiB, and one older is kept. Silent where it cannot be written."""
    folder = named or os.environ.get("MEMCTL_WORKSPACE")
    if not folder:
        return
    root, line = Path(os.path.expanduser(folder)), f"{now:%Y-%m-%dT%H:%M:%S} {event[:20]}: {what}"
    with suppress(OSError, MemctlError):
        if (root / SETTINGS).exists() or (root / "memory").is_dir():
            prepare_memory(Workspace(root))
        short = " ".join(line.split())[:500].encode("utf-8", "replace")
        append_bounded(root / ".memory" / "hooks.log", short + b"\n", _MOST_LOG)


def _tried(event: str, named: str | None, now: datetime, stdin: TextIO) -> dict[str, Any]:
    """The answer, or what went wrong, and where the log is."""
    root = None
    try:
        given = _read(stdin)
        workspace = _workspace(named, given)
        root = str(workspace.root)
        answer, log = answer_hook(workspace, event, given, now)
        return {"answer": answer, "log": log, "root": root}
    except _Silent as reason:
        return {"log": str(reason), "root": root}
    except MemctlError as error:
        what = f": {error.what}" if isinstance(error, _HARMLESS) else ""
        return {"log": f"{type(error).__name__}{what}", "root": root}


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


def _workspace(named: str | None, given: Mapping[str, Any]) -> Workspace:
    roots = given.get("workspace_roots")
    places = [given.get("cwd"), *(roots if isinstance(roots, list) else [])]
    told = next((place for place in places if isinstance(place, str) and os.path.isdir(place)), None)
    return find_workspace(named, os.environ, Path(told) if told else current_folder())


def answer_hook(
    workspace: Workspace, event: str, given: Mapping[str, Any], now: datetime
) -> tuple[dict[str, Any] | None, str]:
    """The answer to an event, None where there is nothing to say; and a line for the log, often empty."""
    if event in ("pre-compact", "session-end"):
        return None, _keep(Memory(workspace, lambda: now), given)
    # Without a model: loading one takes longer than all the rest, and `belonging` goes by words. What the index lacks
    # after a second comes with the next call.
    settings = workspace.settings._replace(model="none", sync_seconds=min(workspace.settings.sync_seconds, _SYNC))
    workspace = replace(workspace, settings=settings)
    memory = Memory(workspace, lambda: now)
    if event == "prompt":
        text = _beside(memory, given.get("prompt"))
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
    """What belongs to a prompt; mostly nothing."""
    if not isinstance(prompt, str) or not prompt.strip() or prompt.lstrip().startswith("/"):  # a command of the host
        return ""
    budget = min(memory.workspace.settings.budget, _PROMPT_TOKENS)
    return memory.beside_prompt(prompt[:_PROMPT], budget, _LINES)


def _keep(memory: Memory, given: Mapping[str, Any]) -> str:
    path = given.get("transcript_path")
    if not isinstance(path, str) or not os.path.exists(os.path.expanduser(path)):
        return ""  # a session in which nothing was said has no transcript
    done = memory.ingest(Path(os.path.expanduser(path)), apply=True, seconds=_FINISH - 10)
    told = f"kept {sum(not kept.already for kept in done.kept)}, asked {len(done.asked)}, refused {len(done.refused)}"
    return told if done.complete else f"{told}, not read to the end"
