"""Does a hook speak where memory has the answer, and keep silent elsewhere? `python bench/hooks.py [--absent] [--held] | --fit`.

The prompts of tests/data/prompts are put to a memory of their lines, one language at a time; every second prompt is held.
Answered: the share of answerable prompts beside which the right line is shown. Precision: of the prompts beside which
anything is shown, those for which the right line is. Chatter: the share of the others beside which anything is shown.

`--absent` puts told.jsonl and absent.jsonl there to the months of their personas: right and answered, and at how many of the
others a hook speaks, by kind; "helped" are commands for which some line would help. With `--held` the held files; totals alone.

`--fit` fits the weights of memctl/context/context.py on the prompts of tests/data/unseen, unseen2, unseen4, the open half of
unseen7 and these two files and prints them; then what hooks say of each set by the weights that are fitted without the persona
who asks.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from functools import partial
from math import exp
from pathlib import Path
from typing import NamedTuple

import unseen
from answerable import solved
from sets import rows_of

import memctl
from memctl.context.context import SPEAKING, lines_beside

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


FITTED_ON = {"unseen": "", "unseen2": "", "unseen4": "", "unseen7": "rowan,vadim,yuchen"}  # of the last its open half
NOT_TOLD = *unseen.UNTOLD, "absent", "helped", "talk"


class Weighed(NamedTuple):
    """A prompt of a persona: its kind, what speaks for an answer among the lines found, whether one of these is the answer."""

    of: str
    lang: str
    persona: str
    kind: str
    signs: list[float]  # none where lines stand beside it without being weighed, or where there are none
    shows: bool  # some line, if the signs are weighed as enough
    right: bool


def prompts_of(of: str, only: str) -> list[unseen.Row]:
    """The prompts of a set, or of some of its personas."""
    unseen.GIVEN.of, unseen.GIVEN.only = of, only
    return [{**row, "of": of, "set": of} for row in unseen.rows("prompts.jsonl")]


def absent(held: bool) -> list[unseen.Row]:
    """Those of told.jsonl and absent.jsonl, or of the held files, as rows of a set; a command that a line would help is one of a kind of its own."""
    made: list[unseen.Row] = []
    for of in ("told", "absent"):
        for row in rows_of(DATA / f"{of}{'-held' * held}.jsonl"):
            gold, kind = row.get("gold") or row.get("helped", []), "helped" if row.get("helped") else row["kind"]
            made.append(
                {**row, "of": "absent", "workspace": row["persona"], "prompt": row["text"], "gold": gold, "kind": kind}
            )
    return made


def weighed(every: Sequence[unseen.Row]) -> Iterator[Weighed]:
    """Prompts, each put to the months of its persona."""
    for name, mine in unseen.by("workspace", every):
        unseen.GIVEN.of, unseen.GIVEN.only = mine[0]["set"], ""
        with unseen.folder(f"prompts-{name}") as root:
            pages = unseen.write_month(root, name)
            with unseen.opened(root) as memory:
                for row in mine:
                    ask = partial(lines_beside, prompt=row["prompt"], budget=unseen.HOOK_TOKENS, most=unseen.HOOK_LINES)
                    items, signs, tells = memory.public().run(ask)
                    right = any(unseen.told_in("\n".join(item.line for item in items), row, pages))
                    yield Weighed(row["of"], row["lang"], name, row["kind"], signs, bool(items) and tells, right)


def fitted(rows: Sequence[Weighed], steps: int = 12, ridge: float = 1.0) -> list[float]:
    """The weights of a logistic by Newton's steps, the bias first; signs are weighed alike by how much they vary."""
    signs = [each.signs for each in rows if each.signs]
    size = len(signs[0])
    means = [sum(x[i] for x in signs) / len(signs) for i in range(size)]
    spread = [(sum((x[i] - means[i]) ** 2 for x in signs) / len(signs)) ** 0.5 for i in range(size)]
    data = [[1.0, *((x[i] - means[i]) / spread[i] for i in range(size))] for x in signs]
    truth = [float(each.right) for each in rows if each.signs]
    found = [0.0] * (size + 1)
    for _ in range(steps):
        curve = [[ridge * (i == j > 0) for j in range(size + 1)] for i in range(size + 1)]
        slope = [-ridge * each * (i > 0) for i, each in enumerate(found)]
        for x, y in zip(data, truth, strict=True):
            chance = 1 / (1 + exp(-sum(w * each for w, each in zip(found, x, strict=True))))
            for i, each in enumerate(x):
                slope[i] += each * (y - chance)
                for j, other in enumerate(x):
                    curve[i][j] += chance * (1 - chance) * each * other
        found = [old + step for old, step in zip(found, solved(curve, slope), strict=True)]
    plain = [weight / wide for weight, wide in zip(found[1:], spread, strict=True)]
    return [found[0] - sum(weight * mean for weight, mean in zip(plain, means, strict=True)), *plain]


def fit() -> None:
    """Print the weights, and what those that are fitted without a persona say of its prompts."""
    every = [row for of, only in FITTED_ON.items() for row in prompts_of(of, only)] + absent(held=False)
    found = sorted(weighed(every), key=lambda each: each.of)
    rows = [each for each in found if each.signs]
    print("SPEAKING =", [round(weight, 2) for weight in fitted(rows)])
    without = {
        name: fitted([each for each in rows if each.persona != name]) for name in {each.persona for each in found}
    }
    report(found, without.__getitem__)


def report(found: Sequence[Weighed], weights: Callable[[str], Sequence[float]]) -> None:
    """Print right, answered and spoken to, a line a set and language, by the weights for a persona."""
    count: dict[tuple[str, str], Counter[str]] = {}
    for each in found:
        bias, *rest = weights(each.persona)
        weight = bias + sum(w * x for w, x in zip(rest, each.signs, strict=False))
        speaks = each.shows and (not each.signs or weight > 0)
        kinds = [each.kind, f"spoke {each.kind}"] if speaks else [each.kind]
        is_right = speaks and each.right and each.kind != "helped"
        one = count.setdefault((each.of, each.lang), Counter())
        one.update(kinds, helps=speaks and each.right and each.kind == "helped", right=is_right)
        one.update(
            speaks=speaks and (each.of != "absent" or each.kind == "told")
        )  # of these others the share is for itself
    for (of, lang), one in count.items():
        wrong = ", ".join(f"{kind} {one[f'spoke {kind}']}/{one[kind]}" for kind in NOT_TOLD if one[kind])
        right, told = unseen.share(one["right"], one["speaks"]), unseen.share(one["right"], one["told"])
        print(f"{of} {lang}: right {right}, answered {told}; spoke at {wrong}; helped rightly {one['helps']}")


if __name__ == "__main__":
    if "--fit" in sys.argv:
        fit()
    elif "--absent" in sys.argv:
        report(list(weighed(absent("--held" in sys.argv))), lambda name: SPEAKING)
    else:
        for file in sorted(DATA.glob("*.txt")):
            precision, answered, chatter, wrong = measure(file, "--held" in sys.argv)
            print(f"{file.stem}  precision {precision:.2f}  answered {answered:.2f}  chatter {chatter:.2f}  {wrong}")
