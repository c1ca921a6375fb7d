"""Does a hook speak where memory has the answer, and keep silent elsewhere? `python bench/hooks.py [--held]`.

The prompts of tests/data/prompts are put to a memory of their lines, one language at a time; every second prompt is held.
Answered: the share of answerable prompts beside which the right line is shown. Precision: of the prompts beside which
anything is shown, those for which the right line is. Chatter: the share of the others beside which anything is shown.
"""

from __future__ import annotations

import sys
import tempfile
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import memctl

DATA = Path(__file__).parent.parent / "tests/data/prompts"


class Prompt(NamedTuple):
    """A prompt and the text of the line that answers it; None where none does."""

    text: str
    answer: str | None


def read(path: Path) -> tuple[list[str], list[Prompt]]:
    """The lines of the memory and the prompts."""
    lines: list[str] = []
    prompts: list[Prompt] = []
    answers = True
    for row in path.read_text("utf-8").splitlines():
        if row == "[silent]":
            answers = False
        elif row.startswith("> "):
            prompts.append(Prompt(row[2:], lines[-1].partition(": ")[2]))
        elif not answers:
            prompts.append(Prompt(row, None))
        elif not row.startswith("#"):
            lines.append(row)
    return lines, prompts


def measure(path: Path, held: bool) -> tuple[float, float, float, list[str]]:
    """Precision, answered, chatter, and the prompts that went wrong, of one half of a language's prompts."""
    lines, prompts = read(path)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "memory").mkdir()
        log = "# 2025-11-20\n\n## Retain\n\n" + "".join(f"- {line}\n" for line in lines)
        Path(folder, "memory/2025-11-20.md").write_text(log, "utf-8")
        with memctl.open(folder, now=datetime(2025, 11, 25)) as memory:
            shown = {p.text: memory.beside_prompt(p.text, 1200, 8) for p in prompts[held::2]}
    chosen = prompts[held::2]
    right = {p.text for p in chosen if p.answer and p.answer in shown[p.text]}
    spoken = [p for p in chosen if shown[p.text]]
    asked = [p for p in chosen if p.answer]
    wrong = [p.text for p in chosen if (p.text not in right if p.answer else shown[p.text])]
    chatter = sum(not p.answer for p in spoken) / (len(chosen) - len(asked))
    return len(right) / max(1, len(spoken)), len(right) / len(asked), chatter, wrong


if __name__ == "__main__":
    for file in sorted(DATA.glob("*.txt")):
        precision, answered, chatter, wrong = measure(file, "--held" in sys.argv)
        print(f"{file.stem}  precision {precision:.2f}  answered {answered:.2f}  chatter {chatter:.2f}  {wrong}")
