"""Git as the transport: `python bench/git_week.py --machines 50 --facts 200 --days 7`.

Every machine is a clone of a workspace that `memctl init --git` made. On each day each retains its facts, part of them
before the first exchange and part after; some replace a line that came from another, some forget one, some do not come
online that day. An exchange is commit, pull and push with the repository that all share, or (`--peers`) a pull from
another machine; the order is another one each time, and a push is refused (`--refused`) where another machine was quicker:
then it pulls again. `--reflecting` machines reflect every day, and commit bank/ as it is. At the end everyone has
everything, some reflect, and what stands on the machines is compared byte for byte.

With `--light` a machine that neither reflects nor forgets keeps no index: what `retain` writes of its lines elsewhere is
appended to its log. Clones borrow the objects of the shared repository (`git clone --shared`); every merge is git's.

Printed: conflicts in logs and in bank/ (which `reflect` is to settle), lines that are lost, doubled, or back though they
were forgotten, and how many different bank/ there are; that of a clone made last, which has no index yet, among them.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import resource
import shutil
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from pathlib import Path
from random import Random

from generate import cast_of, init_workspace, vocabulary

import memctl

FIRST = date(2025, 11, 24)
KEYS = ("city", "owner", "status", "version", "budget", "deadline", "vendor", "region")
ONLINE = 0.9


@dataclass
class Score:
    """What came of a week."""

    kept: int = 0
    merges: int = 0
    refused: int = 0
    conflicts: Counter[str] = field(default_factory=Counter)
    unsettled: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    back: list[str] = field(default_factory=list)
    forgotten: int = 0
    replaced: int = 0
    logs: int = 0
    banks: int = 0
    markers: int = 0
    reflected: int = 0
    checks: Counter[str] = field(default_factory=Counter)
    spent: dict[str, list[float]] = field(default_factory=dict)  # seconds of the clock and of CPU, and how often


def git(root: Path, *words: str, ok: bool = True) -> str:
    """Git without settings from outside."""
    who = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "gc.auto=0", "-c", "core.quotePath=false"]
    env = os.environ | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(
        ["git", *who, *words], cwd=root, capture_output=True, text=True, encoding="utf-8", env=env, check=False
    )
    if ok and done.returncode:
        raise RuntimeError(f"git {' '.join(words)}: {done.stdout}{done.stderr}")
    return done.stdout


class Week:
    """The machines, the repository that they share, and what was told to them."""

    def __init__(
        self, base: Path, machines: int, facts: int, reflecting: int, compared: int, exchanges: int = 2,
        peers: float = 0.25, rebase: bool = False, refused: float = 0.0, forgetting: int | None = None, light: bool = False,
    ) -> None:  # fmt: skip
        seed, self.compared, self.exchanges, self.peers, self.rebase = 1, compared, exchanges, peers, rebase
        self.base, self.facts, self.chance, self.found = base, facts, Random(seed), Score()
        self.refused = refused
        self.words, self.cast = vocabulary(seed), cast_of(seed, max(2_500, 7 * machines * facts))
        self.hub = base / "hub.git"
        self.roots = [base / f"machine{number:02}" for number in range(machines)]
        self.reflecting = set(self.roots[:: max(1, machines // reflecting)][:reflecting]) if reflecting else set()
        every = 5 if forgetting is None else -(-machines // max(1, forgetting))
        self.forgetting = set(self.roots[::every]) if forgetting != 0 else set()
        self.light = set(self.roots) - self.reflecting - self.forgetting if light else set()
        self.said: dict[str, str] = {}  # the line of each text that must stand, by its id
        self.gone: set[str] = set()
        self.taken: set[str] = set()  # ids that somebody replaced or forgot: nobody else does it again
        git(base, "init", "-q", "--bare", "-b", "main", str(self.hub))
        first = self.roots[0]
        first.mkdir()
        git(first, "init", "-q", "-b", "main")
        for name, value in (("user.name", "t"), ("user.email", "t@example.org")):
            git(first, "config", name, value)
        init_workspace(first, "--git")
        git(first, "remote", "add", "origin", str(self.hub))
        git(first, "push", "-q", "origin", "HEAD:main")
        for root in self.roots[1:]:
            git(base, "clone", "-q", "--shared", str(self.hub), str(root))
        self.desk = base / "desk"
        self.desk.mkdir()
        init_workspace(self.desk)

    @contextmanager
    def timed(self, part: str) -> Iterator[None]:
        """Count what a part of the work takes, with the programs that it runs."""
        start, cpu = time.monotonic(), cpu_seconds()
        yield
        spent = self.found.spent.setdefault(part, [0.0, 0.0, 0])
        spent[:] = spent[0] + time.monotonic() - start, spent[1] + cpu_seconds() - cpu, spent[2] + 1

    def memory(self, root: Path, day: date) -> memctl.Memory:
        """The memory of a machine on a day."""
        return memctl.open(root, now=datetime(day.year, day.month, day.day, 12), resident=False)

    def live(self, days: int) -> Score:
        """Run the week, bring everything together, and say what came of it."""
        for number in range(days):
            day = FIRST + timedelta(days=number)
            away = {root for root in self.roots if self.chance.random() > ONLINE}
            for part in range(self.exchanges):
                for root in self.roots:
                    self.tell(root, day, number, part)
                online = [root for root in self.chance.sample(self.roots, len(self.roots)) if root not in away]
                self.exchange_all(online, day, reflects=part == self.exchanges - 1)
            print(f"{day}: {self.found.kept} kept, {self.found.merges} merges, {self.times()}", flush=True)
        last = FIRST + timedelta(days=days)
        for _ in range(2):  # the second time nobody has anything new
            self.exchange_all(self.chance.sample(self.roots, len(self.roots)), last, peers=False)
        self.compare_logs()
        print(told(self.found), flush=True)
        self.compare(last)
        return self.found

    def times(self) -> str:
        """What each part took so far."""
        told = (
            f"{part} {own[2]:.0f} times {own[0]:.0f} s ({own[1]:.0f} CPU)" for part, own in self.found.spent.items()
        )
        return ", ".join(told)

    def exchange_all(self, order: Sequence[Path], day: date, peers: bool = True, reflects: bool = False) -> None:
        """Every machine exchanges what it has, some while another one does."""
        left = list(order)
        while left:
            some = [left.pop(0)]
            while left and self.refused and self.chance.random() < self.refused:
                some.append(left.pop(0))
            for root in some:
                if reflects and root in self.reflecting:
                    with self.timed("reflect"):
                        self.memory(root, day).reflect(since="1d")
                with self.timed("commit"):
                    self.commit(root)
            self.exchange(some, day, peers)

    def tell(self, root: Path, day: date, number: int, part: int) -> None:
        """Retain a part of the day's facts; replace a line and forget another, now and then."""
        who = self.roots.index(root)
        lines = []
        for at in range(part, self.facts, self.exchanges):
            head = self.chance.choice(("W", f"W(key={self.chance.choice(KEYS)})", "B", "O(0.8)", "S"))
            words = self.words.pick(self.chance).sentence(self.chance, 10)
            lines.append(f"{head} @{self.name()}: {words} Note {number}.{who}.{at}")
        here = "".join(page.read_text("utf-8") for page in sorted((root / "memory").glob("*.md")))
        known = [ref for ref in self.chance.sample(sorted(self.said), min(9, len(self.said))) if ref not in self.taken]
        known = [ref for ref in known if self.said[ref] in here]
        if known and self.chance.random() < 0.5:
            self.taken.add(known[0])
            self.found.replaced += 1
            lines.append(f"W(supersedes={known[0]}) @{self.name()}: It changed. Note {number}.{who}.new{part}")
        with self.timed("retain, without an index" if root in self.light else "retain"):
            done = self.retained_apart(root, lines, day) if root in self.light else self.memory(root, day).retain(lines)
        for kept in done.kept:
            self.said[kept.ref] = kept.fact.text
            self.found.kept += 1
        if (
            part == 0
            and root in self.forgetting
            and (chosen := self.newest(here) if self.chance.random() < 0.5 else known[1:2])
        ):
            with self.timed("forget"):
                self.forget(self.memory(root, day), chosen[0])

    def retained_apart(self, root: Path, lines: Sequence[str], day: date) -> memctl.Retained:
        """Retain lines on a page of their own, and append them to the log of a machine without an index."""
        page, log = self.desk / f"memory/{day}.md", root / f"memory/{day}.md"
        page.unlink(missing_ok=True)
        done = self.memory(self.desk, day).retain(lines)
        text = page.read_text("utf-8")
        log.parent.mkdir(exist_ok=True)
        with log.open("a", encoding="utf-8") as stream:
            stream.write(text.partition("## Retain\n\n")[2] if stream.tell() else text)
        return done

    def newest(self, here: str) -> list[str]:
        """The id of the last line that this machine had, if nobody has taken it: what is appended next stands beside it."""
        text = here.rstrip("\n").rpartition("\n")[2].partition(": ")[2]
        return [ref for ref, said in self.said.items() if said == text and ref not in self.taken]

    def name(self) -> str:
        """Somebody or something, the best known most often."""
        return self.chance.choices(self.cast.names, cum_weights=self.cast.cum_weights)[0]

    def forget(self, memory: memctl.Memory, ref: str) -> None:
        """Forget a line of anybody's that this machine has."""
        done = memory.forget(apply=True, ids=[ref], include_exempt=True)
        if done.lines:
            self.taken.add(ref)
            self.gone.add(self.said.pop(ref))
            self.found.forgotten += 1

    def exchange(self, some: Sequence[Path], day: date, peers: bool = True) -> None:
        """Pull and push; of machines that do so at once, all have pulled before the last pushes, and the others are refused."""
        root, *others = some
        is_shared = not (peers and self.chance.random() < self.peers)
        source = str(self.hub) if is_shared else str(self.chance.choice(self.roots))
        if source != str(root):
            self.pull(root, source, day)
        if others:
            self.exchange(others, day, peers)
        while is_shared and not self.pushed(root):
            self.found.refused += 1
            self.pull(root, source, day)

    def pushed(self, root: Path) -> bool:
        """False where the push is refused, because another machine was quicker."""
        with self.timed("push"):
            return "\n!" not in "\n" + git(root, "push", "-q", "--porcelain", "origin", "HEAD:main", ok=False)

    def commit(self, root: Path) -> None:
        """Everything that changed."""
        git(root, "add", "-A")
        if git(root, "status", "--porcelain"):
            git(root, "commit", "-q", "-m", "notes")

    def pull(self, root: Path, source: str, day: date) -> None:
        """`git pull`; where git reports a conflict in bank/, reflect, as the docs say."""
        self.found.merges += 1
        with self.timed("pull"):
            self.merge(root, source, day)

    def merge(self, root: Path, source: str, day: date) -> None:
        """One pull."""
        git(root, "pull", "-q", "--rebase" if self.rebase else "--no-rebase", "--no-edit", source, "main", ok=False)
        while paths := git(root, "diff", "--name-only", "--diff-filter=U").split("\n")[:-1]:
            self.found.conflicts.update("logs" if path.startswith("memory/") else "bank" for path in paths)
            with self.timed("reflect on conflicts"):
                self.memory(root, day).reflect()
            self.found.unsettled += [path for path in paths if "<<<<<<<" in (root / path).read_text("utf-8")]
            if not self.rebase:
                return self.commit(root)
            git(root, "add", "-A")
            git(root, "-c", "core.editor=true", "rebase", "--continue", ok=False)
        return None

    def compare_logs(self) -> None:
        """Compare the logs of the machines at the end, and of a clone made last."""
        fresh = self.base / "fresh"
        git(self.base, "clone", "-q", str(self.hub), str(fresh))
        roots, found = [*self.roots, fresh], self.found
        found.logs = len({digest(root, "memory") for root in roots})
        every = Counter(
            line for page in (fresh / "memory").glob("*.md") for line in page.read_text("utf-8").splitlines() if line
        )
        texts = Counter[str]()
        for line, count in every.items():
            texts[line.partition(": ")[2]] += count
        found.lost = [text for text in self.said.values() if not texts[text]]
        found.doubled = [text for text in self.said.values() if texts[text] > 1]
        found.back = [text for text in self.gone if texts[text]]

    def compare(self, day: date) -> None:
        """Compare what reflect makes of them."""
        fresh, found = self.base / "fresh", self.found
        banks: set[str] = set()
        others = [root for root in self.roots if root not in self.reflecting]
        for root in (fresh, *sorted(self.reflecting), *others[: self.compared]):
            with self.timed("reflect at the end"):
                self.memory(root, day).reflect()
            banks.add(digest(root, "bank"))
            found.reflected, found.banks = found.reflected + 1, len(banks)
            print(f"{root.name}: {found.banks} different bank/ of {found.reflected}, {self.times()}", flush=True)
        pages = [page.read_text("utf-8") for page in (fresh / "bank").rglob("*.md")]
        found.markers = sum(text.count("<<<<<<<") + text.count(">>>>>>>") for text in pages)
        found.checks = Counter(finding.rule for finding in self.memory(fresh, day).check())


def cpu_seconds() -> float:
    """CPU time of this process and of those that it ran."""
    return sum(sum(resource.getrusage(whose)[:2]) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def told(found: Score) -> str:
    """The figures, one a line; of lists the length and the first."""
    lines = []
    for name, value in vars(found).items():
        shown = (
            f"{len(value)} {value[:3]}"
            if isinstance(value, list)
            else dict(value)
            if isinstance(value, Counter)
            else value
        )
        lines.append(f"{name:10} {shown}\n")
    return "".join(lines)


def digest(root: Path, folder: str) -> str:
    """One digest of every file in a folder."""
    made = hashlib.sha256()
    for path in sorted((root / folder).rglob("*")):
        if path.is_file():
            made.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return made.hexdigest()


def main() -> None:
    """Print the figures of a week."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--machines", type=int, default=50)
    parser.add_argument("--facts", type=int, default=200, help="a day, of each machine")
    parser.add_argument("--days", type=int, default=7)
    parser.add_argument("--reflecting", type=int, default=5, help="machines that reflect every day")
    parser.add_argument("--exchanges", type=int, default=2, help="a day, of each machine that is online")
    parser.add_argument("--compared", type=int, default=50, help="machines that reflect at the end alone")
    parser.add_argument("--peers", type=float, default=0.25, help="share of exchanges that go from machine to machine")
    parser.add_argument(
        "--refused", type=float, default=0.0, help="share of pushes before which another machine pushes"
    )
    parser.add_argument("--forgetting", type=int, help="machines that forget lines; every fifth")
    parser.add_argument("--light", action="store_true", help="machines that neither reflect nor forget keep no index")
    parser.add_argument("--keep", type=Path, help="a new folder for the machines, which stays")
    parser.add_argument("--rebase", action="store_true", help="exchange by `git pull --rebase`")
    given = parser.parse_args()
    base = given.keep or Path(tempfile.mkdtemp(prefix="memctl-week-"))
    base.mkdir(exist_ok=True)
    start, cpu = time.monotonic(), cpu_seconds()
    try:
        week = given.machines, given.facts, given.reflecting, given.compared, given.exchanges
        more = given.peers, given.rebase, given.refused, given.forgetting, given.light
        found = Week(base.resolve(), *week, *more).live(given.days)
    finally:
        if not given.keep:
            shutil.rmtree(base)
    print(told(found))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"wall {time.monotonic() - start:.0f} s, CPU with git {cpu_seconds() - cpu:.0f} s, at most {peak:.0f} MiB")


if __name__ == "__main__":
    main()
