"""What `reflect --since 7d` costs as a workspace grows: `python bench/reflect.py --facts 10000 100000 1000000`.

The days of the window hold the same lines at every size, byte for byte, about the 200 names that every size tells of
most: all that grows is what stands before them, and the hubs with it (`about`: the lines that name one of those names).
These names have a page from the start, so that no night has to make it. First comes a reflect over the window that
fills the pages (with `--whole`, one over everything), then a new day is written, and the reflect after it is what cron
does every night, with the questions that it leaves for review (`cpu`: what of it this process worked, on a busy machine).
`shared` is the size of the pages that everybody shares (opinions, world, experience, lessons), which the index reads whole
once they are written. `--window 40 400 4000` shows how the cost follows the change; with `--new` the window tells of names
of its own, so that nothing but the workspace grows; with `--profile` a line tells the CPU seconds that the night spent in each
package of memctl by itself and in what it calls outside, under a profiler, which makes all of them about twice as many.
"""

from __future__ import annotations

import argparse
import cProfile
import gc
import pstats
import re
import shutil
import tempfile
import time
from collections import Counter
from datetime import date, datetime, timedelta
from pathlib import Path
from random import Random

from generate import LAST_DAY, cast_of, make_workspace, page_of, vocabulary
from speed import timed

import memctl

TOLD_OF = 10_000  # the cast of a workspace of this size is who the window tells of, whatever the size
DAYS = 8  # those of the window, the new one with them
SHARED = ("opinions", "world", "experience", "lessons")
COLUMNS = ("facts", "in window", "about", "index s", "first s", "night s", "cpu s", "pages", "shared KiB")
PACKAGE = Path(memctl.__file__).parent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--facts", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--window", type=int, nargs="+", default=[400], help="facts in the window")
    parser.add_argument("--whole", action="store_true", help="reflect over everything first")
    parser.add_argument("--new", action="store_true", help="the window tells of names that nothing before it knows")
    parser.add_argument("--profile", action="store_true", help="where the night spends its time, by package")
    given = parser.parse_args()
    gc.set_threshold(200_000)  # as the program does
    print("  ".join(f"{name:>10}" for name in COLUMNS))
    for facts in given.facts:
        for window in given.window:
            folder = Path(tempfile.mkdtemp(prefix="memctl-reflect-"))
            try:
                row = measure(folder, facts, max(1, window // DAYS), given)
                print("  ".join(f"{cell:>10}" for cell in row), flush=True)
            finally:
                shutil.rmtree(folder)


def measure(root: Path, facts: int, a_day: int, given: argparse.Namespace) -> tuple[str, ...]:
    """One row of the table."""
    make_workspace(root, facts)
    names = _make_window(root, a_day, given.new)
    indexed = timed(_memory_at(root, LAST_DAY).sync) / 1000
    first = timed(lambda: _memory_at(root, LAST_DAY).reflect(since=None if given.whole else "7d")) / 1000
    _tell(root, 0, a_day, given.new)
    profile = cProfile.Profile(time.process_time)
    if given.profile:
        profile.enable()
    start, began = time.perf_counter(), time.process_time()
    done = _memory_at(root, LAST_DAY + timedelta(days=1)).reflect(since="7d")
    nightly, cpu = time.perf_counter() - start, time.process_time() - began
    if given.profile:
        profile.disable()
        print("  ".join(f"{package} {seconds:.2f}" for package, seconds in by_package(profile).most_common()))
    pages = [root / f"bank/{name}.md" for name in SHARED]
    size = sum(page.stat().st_size for page in pages if page.exists()) / 1024
    return (
        f"{facts:,}", f"{a_day * DAYS:,}", f"{_lines_about(root, names):,}", f"{indexed:.1f}", f"{first:.1f}", f"{nightly:.2f}",
        f"{cpu:.2f}", str(len(done.pages)), f"{size:,.0f}",
    )  # fmt: skip


def _memory_at(root: Path, day: date) -> memctl.Memory:
    return memctl.open(root, now=datetime(day.year, day.month, day.day, 12), resident=False)


def _make_window(root: Path, a_day: int, new: bool) -> list[str]:
    """Write the last seven days anew, the same for every size; returns whom they tell of, who all have a page."""
    for days in range(DAYS):
        for page in (root / "memory").glob(f"{LAST_DAY - timedelta(days=days)}*.md"):
            page.unlink()
    for days in range(1, DAYS):
        _tell(root, days, a_day, new)
    names = [_renamed(name, new) for name in cast_of(1, TOLD_OF).names]
    for name in names:
        page = root / f"bank/entities/{name}.md"
        if not page.exists():
            page.write_text(f"# {name}\n", "utf-8")
    return names


def _renamed(text: str, new: bool) -> str:
    """A text in which every name of the cast is another one, unknown before, where `new` names are asked for."""
    if new:
        for name in sorted(cast_of(1, TOLD_OF).names, key=len, reverse=True):
            text = re.sub(rf"(?<![\w-]){re.escape(name)}(?!\w)|(?<=@){re.escape(name)}", f"Zz{name}", text)
    return text


def _tell(root: Path, days: int, count: int, new: bool) -> None:
    """The log of so many days before the new one."""
    day = LAST_DAY + timedelta(days=1 - days)
    text = page_of(Random(f"window {days}"), vocabulary(1), cast_of(1, TOLD_OF), day, count)
    (root / f"memory/{day}.md").write_text(_renamed(text, new), "utf-8")


def _lines_about(root: Path, names: list[str]) -> int:
    """In how many lines of the logs one of these names stands as @Name."""
    texts = (page.read_text("utf-8") for page in (root / "memory").glob("*.md"))
    known = set(names)
    lines = (line.partition(":")[0] for text in texts for line in text.split("\n") if line.startswith("- "))
    return sum(any(word[1:] in known for word in line.split() if word[0] == "@") for line in lines)


def by_package(profile: cProfile.Profile) -> Counter[str]:
    """The CPU seconds that each package of memctl took by itself; those of what they call under "outside"."""
    seconds: Counter[str] = Counter()
    for (file, _, _), (_, _, own, _, _) in pstats.Stats(profile).stats.items():  # type: ignore[attr-defined]
        path = Path(file)
        inside = path.relative_to(PACKAGE).parts if path.is_relative_to(PACKAGE) else ("outside",)
        seconds[inside[0].removesuffix(".py")] += own
    return seconds


if __name__ == "__main__":
    main()
