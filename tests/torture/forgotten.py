"""S15: what a tombstone and every derived file tell of a forgotten line: its text is not found, and no id proves a guess of it."""

from __future__ import annotations

import re
from pathlib import Path

from face_helpers import TODAY, memory_on, write_pages

from memctl.facts import Kind
from memctl.ids import fact_id, question_id
from memctl.notes.workspace import Workspace

LINES = (
    ("The code of the alarm is {pin}", "Alarm"),
    ("Код от сейфа {pin}", "Сейф"),
    ("保险箱的密码是 {pin}", "保险箱"),
)
_PIN = "4711"
_SHOWN = re.compile(rb"(?<!\d)4711(?!\d)")  # in a longer number, such as a time in ns, it tells nothing
_ID = re.compile(rb"(?<![\w-])[a-z]-[0-9a-z]{8}(?![\w-])")


def workspace_with(root: Path, old: bool = False) -> tuple[Workspace, list[str]]:
    """A workspace in which pages and answers name the lines to forget, reflected and shown; and the ids of these.

    With `old` the lines were forgotten before tombstones had ids of their own.
    """
    said = [(text.format(pin=_PIN), who) for text, who in LINES]
    ids = [fact_id(Kind.WORLD, (who,), text, TODAY) for text, who in said]
    lines = [
        f"- <!-- memctl:forgotten {ref} 2025-11-30 -->" if old else f"- W @{who}: {text}"
        for ref, (text, who) in zip(ids, said, strict=True)
    ]
    more = [f"- W(supersedes={ref}) @Else: It was changed, number {at}" for at, ref in enumerate(ids)]
    asked = [
        f"- S(for={ref},settles={question_id('due', ref)},src=agent): It is so, {at}" for at, ref in enumerate(ids)
    ]
    notes = "\n".join(f"See ^{ref} there.\n" for ref in ids)
    pages = {f"memory/{TODAY}.md": "\n".join(lines) + "\n", "memory/2025-12-01.md": "\n".join([*more, *asked]) + "\n"}
    workspace = write_pages(
        root, pages | {"bank/notes.md": f"# Notes\n\n{notes}", "memctl.toml": "[recall]\nrecord = true\n"}
    )
    memory_on(workspace).reflect()
    memory_on(workspace).review()
    memory_on(workspace).recall("alarm сейф 保险箱")
    return workspace, ids


def told(workspace: Workspace) -> tuple[int, int]:
    """(files in which a code stands, guesses of a code that an id in any file proves), of all files of the workspace."""
    held = [path.read_bytes() for path in sorted(workspace.root.rglob("*")) if path.is_file()]
    found = {match.decode() for data in held for match in _ID.findall(data)}
    days = [(text, who, day) for text, who in LINES for day in (TODAY, None)]
    guesses = {
        fact_id(Kind.WORLD, (who,), text.format(pin=pin), day) for text, who, day in days for pin in range(4000, 5000)
    }
    proven = found & (guesses | {question_id("due", ref) for ref in guesses})
    return sum(bool(_SHOWN.search(data)) for data in held), len(proven)
