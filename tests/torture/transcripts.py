"""G1: transcripts of 100 MB in every format, through the real command: the most memory, seconds per MB, nothing lost."""

from __future__ import annotations

import json
import re
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from counting import call_growth
from store_helpers import make_workspace
from torture.memory import peak

SIZE = 100 << 20
_SAID = (
    "Мы решили взять PostgreSQL для проекта {n}.", "I prefer tea number {n} without sugar.", "请记住：第{n}号仓库周五发布。",
    "What do you think about part {n}?", "ok",
)  # fmt: skip
_OUTPUT = "\n".join(
    f'{n:06} drwxr-xr-x 2 root root 4096 some/long/path/to/a/file_{n}.py \\ "quoted"' for n in range(60)
)


def _messages(size: int) -> Iterator[tuple[str, str]]:
    """(role, text) as an agent at work has them: 25 statements in three languages, the rest questions and tool output."""
    n = written = 0
    while written < size:
        said = _SAID[n % 5].format(n=n % 25)
        for role, text in (("user", said), ("assistant", "I had a look at it.\n" + said), ("tool", _OUTPUT)):
            written += len(text.encode()) + 60
            yield role, text
        n += 1


def array(size: int) -> Iterator[str]:
    """One JSON array on one line."""
    first = True
    for role, text in _messages(size):
        yield ("[" if first else ",") + json.dumps({"role": role, "content": text}, ensure_ascii=False)
        first = False
    yield "]"


def lines(size: int) -> Iterator[str]:
    """A message a line."""
    yield from (json.dumps({"role": role, "content": text}) + "\n" for role, text in _messages(size))


def session(size: int) -> Iterator[str]:
    """Claude Code."""
    for role, text in _messages(size):
        content: object = [{"type": "tool_result", "tool_use_id": "t", "content": text}] if role == "tool" else text
        spoken = "user" if role == "tool" else role
        about = {"type": spoken, "uuid": "u", "sessionId": "s", "timestamp": "2025-11-20T10:00:00Z"}
        yield json.dumps(about | {"message": {"role": spoken, "content": content}}, ensure_ascii=False) + "\n"


def export(size: int) -> Iterator[str]:
    """Conversations of ChatGPT, 300 messages each."""
    mapping: dict[str, object] = {}
    first = True
    for number, (role, text) in enumerate(_messages(size)):
        place = str(number)
        before = str(number - 1) if mapping else None
        message = {"author": {"role": role}, "content": {"content_type": "text", "parts": [text]}}
        mapping[place] = {"message": message, "parent": before, "children": []}
        if len(mapping) == 300:
            yield ("[" if first else ",") + json.dumps({"mapping": mapping, "current_node": place}, indent=1)
            mapping, first = {}, False
    yield "]"


def dialogue(size: int) -> Iterator[str]:
    """Markdown."""
    names = {"user": "User", "assistant": "Assistant", "tool": "Tool"}
    yield from (f"**{names[role]}:** {text}\n\n" for role, text in _messages(size))


def one_message(size: int) -> Iterator[str]:
    """One message that never ends, between two short ones."""
    yield '[{"role": "user", "content": "I prefer tea number 1 without sugar."}, {"role": "user", "content": "'
    yield from ("pasted \\n" * 8192 for _ in range(size // 65536))
    yield '"}, {"role": "user", "content": "I prefer tea number 6 without sugar."}]'


PLANTED = [_SAID[n % 5].format(n=n) for n in range(25) if n % 5 < 3]
# Form -> lines that are certain, and those that are asked about: what the user prefers, and all after the first turn of a
# tool where speakers are only marked in text, which anybody in it can write.
EXPECTED = {array: (10, 5), lines: (10, 5), session: (10, 5), export: (10, 5), dialogue: (1, 14), one_message: (0, 2)}


def found(root: Path, planted: Iterable[str]) -> tuple[int, int, int]:
    """(kept lines, lines that are asked about, planted statements that stand in neither)."""
    kept = [line for log in (root / "memory").glob("*.md") for line in _bullets(log)]
    asked = _bullets(root / "bank/review.md")
    gist = [re.sub(r"^I prefer |^请记住：", "", each) for each in planted]
    return len(kept), len(asked), sum(not any(each in line for line in kept + asked) for each in gist)


def _bullets(page: Path) -> list[str]:
    text = page.read_text("utf-8") if page.exists() else ""
    return [line for line in text.splitlines() if line.startswith("- ")]


HOSTILE = {
    "brackets": b"[" * 64, "braces": b'{"a":' * 16, "quotes": b'"' * 64, "backslashes": b'["' + b"\\" * 62, "keys": b'{"k":1,"k":"v",' * 4,
    "fences": b"```\n" * 16, "tags": b"<system>\n" * 8, "memory": b"<memory-abcdefgh1>\n" * 3, "labels": b"**User:**\n" * 8, "bold": b"**a" * 20,
    "stamps": b"[2026-01-01 " * 5, "spaces": b" " * 64, "semicolons": b"a;" * 32, "hashes": b"# " * 32, "paths": b"a/" * 32, "quoted": b"> \n" * 20,
    "zeros": b"\0" * 64, "high": b"\xff\xd0" * 32, "lines": b"\n" * 64, "nothing": b'{"role":"user","content":""}\n' * 3,
}  # fmt: skip


def steepest() -> tuple[float, str]:
    """Of inputs made to be slow the one whose work, in calls, grows most where it is twice as long: 2 is linear; its name."""
    import memctl.ingest.filter as intake
    from memctl.ingest.formats import read_transcript
    from memctl.ingest.turns import Notes

    def read(data: list[bytes]) -> None:
        for turn in read_transcript(data, Notes()):
            intake.blanked(turn.text)

    made = {(name, lead): [lead, piece * 64] for name, piece in HOSTILE.items() for lead in (b"", b"User: ")}
    grown = {
        f"{name} {lead.decode()}".strip(): call_growth(read, lambda n, data=data: [data[0], *[data[1]] * n], 32)
        for (name, lead), data in made.items()
    }
    name = max(grown, key=lambda each: grown[each])
    return grown[name], name


def main(short: bool = False) -> bool:
    growth, name = steepest()
    print(
        f"G1 hostile: {2 * len(HOSTILE)} inputs, twice as long at the most {growth:.1f} times the calls ({name})",
        flush=True,
    )
    size = SIZE // 10 if short else SIZE
    met = growth < 3
    with tempfile.TemporaryDirectory() as folder:
        for form, expected in EXPECTED.items():
            path = Path(folder) / f"{form.__name__}.txt"
            with path.open("w", encoding="utf-8") as stream:
                stream.writelines(form(size))
            root = make_workspace(Path(folder) / form.__name__, {}).root
            start = time.monotonic()
            most = peak(root, "ingest", str(path), "--apply")
            seconds = time.monotonic() - start
            kept, asked, lost = found(root, [PLANTED[1], PLANTED[4]] if form is one_message else PLANTED)
            megabytes = path.stat().st_size / 2**20
            print(
                f"G1 {form.__name__}: {megabytes:.0f} MB, {most:.0f} MiB at the most, {seconds / megabytes:.2f} s/MB, "
                f"{kept} kept, {asked} asked, {lost} lost",
                flush=True,
            )
            met &= most < 200 and (kept, asked, lost) == (*expected, 0)
            path.unlink()
    return met
