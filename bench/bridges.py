"""Recall over two and three hops, through real workspaces of Markdown: `python bench/bridges.py`.

A chain is three facts, A–B, B–C and C–D. The question names A and shares words with the first fact alone; each name of
a chain also stands on other facts, beside hubs (names on more than 5 % of all facts), busy names (just below that) and
names of other chains. Names are English, Russian and Chinese in turn. Shown is how often the fact two or three hops
away is among the first ten, or a hit already, in per cent with a 95 % interval over all chains (Wilson). The time of `--hops`
has the recall in it.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import partial
from pathlib import Path
from random import Random

from generate import make_queries, make_workspace
from sets import wilson
from speed import timed

import memctl

TODAY = date(2025, 11, 30)
SCRIPTS = ("en", "ru", "zh")
HUBS, BUSY = 6, 6


@dataclass(frozen=True)
class Chain:
    """A question and the three facts that lead from it to its answer."""

    question: str
    facts: tuple[str, str, str]


@dataclass
class Names:
    """Seeded pseudo-words and names of three scripts, none of them twice."""

    rng: Random
    taken: set[str] = field(default_factory=set)

    def fresh(self, make: Callable[[], str]) -> str:
        """What `make` returns, unless it was there before."""
        while (word := make()) in self.taken:
            pass
        self.taken.add(word)
        return word

    def word(self, script: str) -> str:
        """A word that ends in a consonant, so that stemming leaves it."""
        return self.fresh(lambda: self._syllables(script, self.rng.randint(2, 3)))

    def name(self, script: str) -> str:
        """A name: capitalised, or three Chinese characters."""
        word = self.word(script)
        return word if script == "zh" else word.capitalize()

    def _syllables(self, script: str, count: int) -> str:
        pick = self.rng.choice
        if script == "zh":
            return "".join(chr(self.rng.randrange(0x4E00, 0x9000)) for _ in range(3))
        onsets, vowels, ends = (
            ("bdfgklmnprtvz", "aou", "kmnrtb") if script == "en" else ("бдгклмнпртвз", "ауы", "кмнртб")
        )
        return "".join(pick(onsets) + pick(vowels) for _ in range(count)) + pick(ends)


@dataclass(frozen=True)
class Shape:
    """How hard a set is."""

    chains: int = 150
    others: int = 3  # further facts about each name of a chain
    background: int = 600  # facts about hubs and busy names alone
    plain: bool = (
        False  # the second fact of each pair names the bridge without a mark, or by an alias; bridges have pages
    )
    shared: bool = True  # names of chains meet names of other chains


def make(root: Path, shape: Shape, seed: int) -> list[Chain]:
    """Write a workspace and return its chains."""
    rng = Random(seed)
    names = Names(rng)
    hubs, busy = ([names.name(SCRIPTS[n % 3]) for n in range(count)] for count in (HUBS, BUSY))
    fill = {script: [names.word(script) for _ in range(400)] for script in SCRIPTS}
    cast = [[names.name(SCRIPTS[n % 3]) for _ in range(4)] for n in range(shape.chains)]
    lines: list[str] = []
    chains: list[Chain] = []
    aliases: dict[str, str] = {}

    def told(script: str, *named: str) -> str:
        words = [*rng.sample(fill[script], 5), *named]
        rng.shuffle(words)
        lines.append(" ".join(words))
        return lines[-1]

    def company(script: str) -> str:
        """Now and then somebody whom everybody knows."""
        return (
            f"@{rng.choice(hubs)}"
            if rng.random() < 0.4
            else f"@{rng.choice(busy)}"
            if rng.random() < 0.3
            else rng.choice(fill[script])
        )

    for number, (a, b, c, d) in enumerate(cast):
        script = SCRIPTS[number % 3]
        asked = [names.word(script), names.word(script)]
        if shape.plain:
            aliases |= {b: names.name(SCRIPTS[(number + 1) % 3]), c: names.name(SCRIPTS[(number + 1) % 3])}
        second = (aliases[b] if number % 2 else b) if shape.plain else f"@{b}"
        third = (aliases[c] if number % 2 else c) if shape.plain else f"@{c}"
        first = " ".join([*asked, f"@{a}", f"@{b}", company(script), *rng.sample(fill[script], 2)])
        lines.append(first)
        chains.append(
            Chain(
                " ".join([*asked, a]),
                (first, told(script, second, f"@{c}", company(script)), told(script, third, f"@{d}", company(script))),
            )
        )
        for name in (a, b, c, d):
            for _ in range(shape.others):
                other = (
                    rng.choice(rng.choice(cast)) if shape.shared and rng.random() < 0.4 else rng.choice([*hubs, *busy])
                )
                told(script, f"@{name}", f"@{other}")
    for _ in range(shape.background):
        told(rng.choice(SCRIPTS), f"@{rng.choice(hubs)}", f"@{rng.choice(hubs if rng.random() < 0.6 else busy)}")
    rng.shuffle(lines)
    _write(root, lines, aliases)
    return chains


def _write(root: Path, lines: Sequence[str], aliases: dict[str, str]) -> None:
    (root / "memory").mkdir(parents=True)
    for start in range(0, len(lines), 8):
        day = TODAY - timedelta(days=1 + start // 8)
        body = "".join(f"- W: {line}\n" for line in lines[start : start + 8])
        (root / "memory" / f"{day}.md").write_text(f"## Retain\n\n{body}", encoding="utf-8")
    for name, alias in aliases.items():
        page = root / "bank" / "entities" / f"{name}.md"
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(f"---\naliases: [{alias}]\n---\n\n# {name}\n", encoding="utf-8")


# -- ways to find it --------------------------------------------------------------------------------------------------


@dataclass
class Asked:
    """One question with its answer by words, and what the ways below need."""

    memory: memctl.Memory
    question: str
    answer: memctl.Answer


def direct(asked: Asked) -> list[str]:
    """The hits themselves."""
    return [hit.content for hit in asked.answer.hits]


def shown(hops: int) -> Callable[[Asked], list[str]]:
    """What `recall --hops` shows, and that its hits are those of recall without it."""

    def run(asked: Asked) -> list[str]:
        answer = asked.memory.recall(asked.question, k=10, hops=hops)
        assert answer._replace(took_ms=asked.answer.took_ms, related=None) == asked.answer, "the main ranking changed"
        return [hit.content for hit in answer.related or ()]

    return run


WAYS: dict[str, Callable[[Asked], list[str]]] = {
    "direct hits only": direct,
    "--hops 2": shown(2),
    "--hops 3": shown(3),
}


# -- measuring --------------------------------------------------------------------------------------------------------


def measure(shape: Shape, seeds: int, ways: Sequence[str]) -> None:
    """Print the table of one kind of set."""
    hits: dict[str, list[tuple[bool, bool]]] = {way: [] for way in ways}
    took: dict[str, list[float]] = {way: [] for way in ways}
    for asked, chain in _questions(shape, seeds):
        for way in ways:
            start = time.perf_counter()
            found = WAYS[way](asked)
            took[way].append((time.perf_counter() - start) * 1000)
            found += direct(asked)  # a hit is not repeated among what is related
            hits[way].append((chain.facts[1] in found, chain.facts[2] in found))
    for way in ways:
        second, third = zip(*hits[way], strict=True)
        print(
            f"  {way:26} hop 2 @10 {interval(second)}   hop 3 @10 {interval(third)}   p50 {statistics.median(took[way]):5.1f} ms"
        )


def _questions(shape: Shape, seeds: int) -> Iterator[tuple[Asked, Chain]]:
    for seed in range(seeds):
        root = Path(tempfile.mkdtemp(prefix="memctl-bridges-"))
        try:
            chains = make(root, shape, seed)
            with memctl.open(root, now=TODAY) as memory:
                for chain in chains:
                    yield Asked(memory, chain.question, memory.recall(chain.question, k=10)), chain
        finally:
            shutil.rmtree(root)


def speed(facts: int, questions: int) -> None:
    """Print what related lines cost beside recall itself, in a store with hubs."""
    root = Path(tempfile.mkdtemp(prefix="memctl-bridges-"))
    try:
        make_workspace(root, facts)
        with memctl.open(root, now=TODAY) as memory:
            memory.sync()
            asked = make_queries(questions)
            _times(memory, asked, 1)
            alone = _times(memory, asked, 1)
            base = statistics.median(alone)
            print(f"{facts:,} facts: recall p50 {base:.1f} ms")
            for hops in (2, 3):
                times = _times(memory, asked, hops)
                more = statistics.median(whole - part for whole, part in zip(times, alone, strict=True))
                print(f"  --hops {hops}: p50 {more:.1f} ms more ({more / base:.1f} x recall)")
    finally:
        shutil.rmtree(root)


def _times(memory: memctl.Memory, asked: Sequence[str], hops: int) -> list[float]:
    return [timed(partial(memory.recall, question, k=10, hops=hops)) for question in asked]


def interval(found: Sequence[bool]) -> str:
    """Per cent with Wilson's interval."""
    low, high = wilson(sum(found), len(found))
    return f"{100 * sum(found) / len(found):5.1f} ({100 * max(0, low):5.1f}–{100 * min(1, high):5.1f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chains", type=int, default=150)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--ways", default="", help="only these, comma-separated")
    parser.add_argument("--speed", type=int, default=0, metavar="FACTS", help="measure the time at that size instead")
    given = parser.parse_args()
    if given.speed:
        speed(given.speed, 40)
        return
    ways = [way for way in WAYS if not given.ways or way in given.ways.split(",")]
    sets = {
        "bridges": Shape(given.chains),
        "bridges, harder: 5 further facts about each name": Shape(given.chains, others=5),
        "bridges named without a mark or by an alias": Shape(given.chains, plain=True),
        "three hops among 500 background facts": Shape(50, others=0, background=500),
    }
    for title, shape in sets.items():
        print(f"{title}: {shape.chains} chains x {given.seeds} seeds")
        measure(shape, given.seeds, ways)


if __name__ == "__main__":
    main()
