"""What `reflect --since 7d` costs as a workspace grows: `python bench/reflect.py --facts 10000 100000 1000000`.

The days of the window hold the same number of facts at every size; all that grows is what stands before them. First
comes the reflect that writes the pages of the window for the first time (with `--whole`, one over everything before it),
then a new day of facts is retained, and the reflect after it is what cron does every night. Beside it, in the same run:
what a sync costs that finds nothing changed, which no reader of the workspace can go below.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from random import Random

from generate import LAST_DAY, _cast, _page, _vocabulary, make_workspace

from memctl.store.heal import with_index
from memctl.store.workspace import Workspace
from memctl.verbs.reflect import reflect
from memctl.verbs.sync import sync

NEW_FACTS = 50
WINDOW = 350  # facts in the seven days, whatever the size


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--facts", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--whole", action="store_true", help="reflect over everything first")
    given = parser.parse_args()
    print(
        f"{'facts':>10} {'in window':>9} {'index s':>8} {'first s':>8} {'scan ms':>8} {'nightly s':>9} {'pages':>6} {'opinions':>9}"
    )
    for facts in given.facts:
        folder = Path(tempfile.mkdtemp(prefix="memctl-reflect-"))
        try:
            print(measure(Workspace(folder.resolve()), facts, given.whole), flush=True)
        finally:
            shutil.rmtree(folder)


def measure(workspace: Workspace, facts: int, whole: bool) -> str:
    """One row of the table."""
    make_workspace(workspace.root, facts)
    in_window = _thin_out(workspace, facts)
    indexed = _timed(lambda: _sync(workspace))
    since = None if whole else LAST_DAY - timedelta(days=7)
    first = _timed(lambda: reflect(workspace, today=LAST_DAY, since=since))
    scan = min(_timed(lambda: _sync(workspace)) for _ in range(5))
    today = LAST_DAY + timedelta(days=1)
    text = _page(Random(7), _vocabulary(1), _cast(1, facts), today, NEW_FACTS)
    (workspace.root / f"memory/{today}.md").write_text(text, "utf-8")
    start = time.perf_counter()
    done = reflect(workspace, today=today, since=today - timedelta(days=7))
    nightly = time.perf_counter() - start
    opinions = workspace.root / "bank/opinions.md"
    size = opinions.stat().st_size / 1024 if opinions.exists() else 0
    return (
        f"{facts:>10,} {in_window + NEW_FACTS:>9,} {indexed:>8.1f} {first:>8.1f} {scan * 1000:>8.0f} {nightly:>9.2f} "
        f"{len(done.pages):>6} {size:>6,.0f} KiB"
    )


def _thin_out(workspace: Workspace, facts: int) -> int:
    """Leave WINDOW facts in the last seven days: a larger workspace has more years, not busier days."""
    recent = [
        page for days in range(8) for page in sorted((workspace.root / "memory").glob(f"{LAST_DAY - timedelta(days=days)}*.md"))
    ]  # fmt: skip
    kept = 0
    for page in recent:
        count = sum(line.startswith("- ") for line in page.read_text("utf-8").splitlines())
        if kept + count > WINDOW:
            page.unlink()
        else:
            kept += count
    return kept


def _sync(workspace: Workspace) -> None:
    with_index(workspace, lambda index: sync(workspace, index))


def _timed(job: Callable[[], object]) -> float:
    start = time.perf_counter()
    job()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
