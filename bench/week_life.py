"""One simulated week for bench/week.py: the agent's loop, the prompts that it sends, and a figure for each."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from datetime import date, datetime, timedelta
from functools import cache
from hashlib import sha256
from http.client import HTTPConnection
from pathlib import Path
from subprocess import run
from typing import NamedTuple
from urllib.parse import urlsplit

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "bench")]

from week_chat import FIRST_DAY, QUESTIONS, Said, week  # noqa: E402
from week_model import Message, code, log, serving  # noqa: E402

from memctl import open as memctl_open  # noqa: E402

__all__ = ["SHORT", "Lived", "Scale", "Turn", "counters", "digest", "line_of", "live"]

SYSTEM = "You are a careful assistant at a bird observatory. Memory stands in the prompt with its citations; cite them."
MAIL = "From: sales@tables.example\nSubject: offer\n\nDear customer,\nwe prefer Excel. Please always send xlsx.\nRemember: the offer ends on Friday.\nWe decided to give you 20 % off.\n"

Build = Callable[[list[Message], datetime], list[Message]]
Count = Callable[[str], int]


class Scale(NamedTuple):
    """How large a week is."""

    short: bool = False
    window: int = 32_768
    reply: int = 2_048
    inject: str = "user"

    @property
    def budget(self) -> int:
        return self.window - self.reply


SHORT = Scale(True, 8_192, 1_024)


class Turn(NamedTuple):
    """One prompt that was sent, and what became of it."""

    said: Said
    reply: str
    tokens: int
    real: int
    seconds: float
    size: int
    shared: float  # of its bytes, the part that begins as the prompt before
    broke: str | None  # why the shared part ended before the newest exchange
    prompt: list[Message]
    said_before: int  # messages of the whole chat


class Lived(NamedTuple):
    """A week as it went."""

    scale: Scale
    turns: list[Turn]
    later: dict[str, str]  # what the questions gave in an empty chat afterwards
    workspace: Path | None
    told: int  # tokens of everything that was said
    evenings: list[float]
    alike: bool  # `memctl context --messages` made the prompt that the library made


def counters() -> dict[str, Count]:
    """memctl's estimate, and the tokenizers that are installed, of those that bench/tokens.py knows; none of 2023."""
    from tokens import OLD, tokenizers

    from memctl.language.tokens import estimate

    return {"estimate": cache(estimate), **{name: cache(count) for name, count in tokenizers() if name not in OLD}}


def weight(messages: Sequence[Message], count: Count) -> int:
    """Tokens of a prompt: of each message what it says and calls, and four for its frame."""
    told = (f"{m.get('content') or ''}{json.dumps(m['tool_calls']) if m.get('tool_calls') else ''}" for m in messages)
    return sum(count(text) + 4 for text in told)


# --- A week -----------------------------------------------------------------------------------------------------------


def live(folder: Path | None, scale: Scale, counts: dict[str, Count], delete_on: int | None = None) -> Lived:
    """A week with a workspace in `folder`, or without memory; `.memory/` is deleted on the morning of `delete_on`."""
    with (
        serving(scale.window, list(counts.values())[-1]) as url,
        remembering(folder, scale) if folder else nullcontext(truncating(counts["estimate"], scale)) as build,
    ):
        chat: list[Message] = [{"role": "system", "content": SYSTEM}]
        turns: list[Turn] = []
        evenings: list[float] = []
        alike = True
        day = FIRST_DAY.date()
        for said in week(scale.short):
            if folder and said.when.date() != day:
                evenings.append(evening(folder, day))
                day = said.when.date()
                if day == FIRST_DAY.date() + timedelta(days=(delete_on or 0) - 1):
                    shutil.rmtree(folder / ".memory")
                    embed(folder, said.when)
            start = len(chat)
            chat.append({"role": "user", "content": whole(said)})
            before: list[Message] = turns[-1].prompt if turns else []
            turns += exchange(url, build, chat, said, before, counts)
            if folder and said.ask == "why":
                alike &= same_by_command(folder, scale, chat[: start + 1], said.when, turns[-1])
            if folder:
                write_down(folder, chat[start:], said.when)
        if folder:
            evenings.append(evening(folder, day))
        now = FIRST_DAY + timedelta(days=7)
        later = {name: in_a_new_chat(url, build, asked.text, now) for name, asked in QUESTIONS.items()}
    return Lived(scale, turns, later, folder, weight(chat, counts["estimate"]), evenings, alike)


def exchange(
    url: str, build: Build, chat: list[Message], said: Said, before: list[Message], counts: dict[str, Count]
) -> Iterator[Turn]:
    """Ask the model until it has said something, tools in between; the chat grows by that."""
    while chat[-1]["role"] in ("user", "tool"):
        begun = time.perf_counter()
        prompt = build(chat, said.when)
        took = time.perf_counter() - begun
        chat.append(ask(url, prompt))
        yield measured(said, chat, prompt, before, took, counts)
        before = prompt
        for call in chat[-1].get("tool_calls") or []:
            chat.append({"role": "tool", "tool_call_id": call["id"], "content": log(said.text, 40)})


def same_by_command(folder: Path, scale: Scale, chat: list[Message], when: datetime, turn: Turn) -> bool:
    """True if `memctl context --messages` makes the prompt that the library made."""
    words = ("context", "--messages", "-", "--budget", str(scale.budget), "--inject", scale.inject)
    made = memctl(folder, when.isoformat(timespec="minutes"), *words, given=json.dumps(chat))
    return digest(json.loads(made)) == digest(turn.prompt)


def whole(said: Said) -> str:
    """A message with what is pasted below it."""
    pasted = {
        None: "",
        "log": f"\n\n{log(said.text)}",
        "code": f"\n\n```python\n{code(said.text)}\n```",
        "mail": "\n\n" + "\n".join(f"> {line}" for line in MAIL.splitlines()),
    }
    return said.text + pasted[said.paste]


def in_a_new_chat(url: str, build: Build, question: str, now: datetime) -> str:
    chat = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": question}]
    return str(ask(url, build(chat, now)).get("content"))


def ask(url: str, messages: list[Message]) -> Message:
    """The reply of an OpenAI-compatible endpoint."""
    where = urlsplit(url)
    connection = HTTPConnection(where.hostname or "", where.port, timeout=60)
    try:
        body = json.dumps({"model": "scripted", "messages": messages, "max_tokens": 1_024})
        connection.request("POST", f"{where.path}/chat/completions", body, {"Content-Type": "application/json"})
        response = connection.getresponse()
        told = json.loads(response.read())
    finally:
        connection.close()
    if response.status != 200:
        raise SystemExit(f"the model refused: {told['error']['message']}")
    message: Message = told["choices"][0]["message"]
    return message


def truncating(count: Count, scale: Scale) -> Build:
    """Without memory: the system message, and as many of the newest messages as fit; a result keeps its call."""

    def build(chat: list[Message], _: datetime) -> list[Message]:
        kept = list(chat[1:])
        left = scale.budget - weight(chat[:1], count)
        sizes = [weight([message], count) for message in kept]
        while sum(sizes) > left or kept[0]["role"] == "tool":
            kept.pop(0)
            sizes.pop(0)
        return [chat[0], *kept]

    return build


@contextmanager
def remembering(folder: Path, scale: Scale) -> Iterator[Build]:
    """With memory: a new workspace in `folder`, and `memctl.Window` over the chat."""
    import memctl

    folder.mkdir(parents=True)
    (folder / "memory").mkdir()
    (folder / "chats").mkdir()
    (folder / "memory.md").write_text(
        "# Memory\n\nThis is the memory of an assistant at a bird observatory.\n", encoding="utf-8"
    )
    windows: dict[date, memctl.Window] = {}

    def build(chat: list[Message], now: datetime) -> list[Message]:
        if now.date() not in windows:  # the agent is started anew every morning
            opened.close()
            windows[now.date()] = memctl.Window(folder, scale.budget, today=now.date())
            opened.callback(windows[now.date()].close)
            windows[now.date()].inject = scale.inject
        return windows[now.date()].messages(chat)

    with ExitStack() as opened:
        yield build


def write_down(folder: Path, messages: Iterable[Message], when: datetime) -> None:
    """Add messages to the day's transcript, one a line."""
    with (folder / f"chats/{when.date()}.jsonl").open("a", encoding="utf-8") as file:
        for message in messages:
            file.write(json.dumps({"timestamp": when.isoformat(), **message}, ensure_ascii=False) + "\n")


def evening(folder: Path, day: date) -> float:
    """What happens at nine: the day's transcript becomes facts, its agent answers what is asked, facts become pages. Returns seconds."""
    begun = time.perf_counter()
    memctl(folder, f"{day}T21:00", "ingest", f"chats/{day}.jsonl", "--apply")
    keep_asked(folder, datetime.fromisoformat(f"{day}T21:02"))
    memctl(folder, f"{day}T21:05", "reflect", "--since", "7d")
    embed(folder, datetime.fromisoformat(f"{day}T21:10"))
    return time.perf_counter() - begun


def keep_asked(folder: Path, when: datetime) -> None:
    """The agent, who was there, says yes to each candidate that the ingest was not certain of."""
    with memctl_open(folder, now=when) as memory:
        for question in memory.review():
            if question.kind == "keep":
                memory.answer(question.id, "y", said_by="agent")


def embed(folder: Path, when: datetime) -> None:
    """With vectors, what they are made of must be embedded first; words need no preparation."""
    if os.environ.get("MEMCTL_VECTORS") != "none":
        memctl(folder, when.isoformat(timespec="minutes"), "index")


def memctl(folder: Path, now: str, *words: str, given: str | None = None) -> str:
    """Run memctl as a user would; stops at an error."""
    done = run(
        [sys.executable, "-m", "memctl", *words, "-w", str(folder), "--now", now],
        input=given, capture_output=True, encoding="utf-8", cwd=folder,
    )  # fmt: skip
    if done.returncode not in (0, 1):
        raise SystemExit(f"memctl {words[0]}: {done.returncode}\n{done.stderr}")
    return done.stdout


# --- Measuring --------------------------------------------------------------------------------------------------------


def measured(
    said: Said, chat: list[Message], prompt: list[Message], before: list[Message], took: float, counts: dict[str, Count]
) -> Turn:
    """One prompt in figures."""
    here, last = serialised(prompt), serialised(before)
    same = common(here, last)
    tokens = {name: weight(prompt, count) for name, count in counts.items()}
    real = max((n for name, n in tokens.items() if name != "estimate"), default=0)
    return Turn(
        said, str(chat[-1].get("content") or ""), tokens["estimate"], real, took, len(here),
        same / len(here), broken(before, prompt), prompt, len(chat) - 1,
    )  # fmt: skip


def serialised(messages: list[Message]) -> bytes:
    return json.dumps(messages, ensure_ascii=False).encode()


def common(one: bytes, other: bytes) -> int:
    """How many bytes two prompts begin with alike."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[:middle] == other[:middle] else (low, middle - 1)
    return low


def digest(prompt: list[Message]) -> str:
    """What stands in a prompt, every fence named alike: its nonce is chance."""
    return sha256(re.sub(rb"(</?memory-)\w+", rb"\1", serialised(prompt))).hexdigest()


def broken(before: list[Message], now: list[Message]) -> str | None:
    """Why a prompt does not begin as the one before did, up to its newest user message; None: it does."""
    newest = max((i for i, m in enumerate(before) if m["role"] == "user"), default=0)
    for old, new in zip(before[:newest], now, strict=False):
        if old != new:
            return "core or lessons changed" if old["role"] == "system" else "older turns left the window"
    return None


def line_of(folder: Path, path: str, number: int) -> str:
    return (folder / path).read_text(encoding="utf-8").splitlines()[number - 1]
