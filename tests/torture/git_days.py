"""R15: machines that share their notes by git for days, in any order of pulls: `bench/git_week.py` in a small form."""

from __future__ import annotations

import importlib
import sys
import tempfile
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path


def main(short: bool = False) -> bool:
    """No conflict in a log, no line lost or doubled, none in bank/ that reflect leaves, and one bank/ everywhere."""
    sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))
    week = importlib.import_module("git_week")
    machines, facts, days = (3, 8, 2) if short else (5, 20, 3)
    with tempfile.TemporaryDirectory() as base, redirect_stdout(StringIO()):
        found = week.Week(Path(base).resolve(), machines, facts, 2, machines).live(days)
    wrong = {name: getattr(found, name) for name in ("lost", "doubled", "unsettled", "markers") if getattr(found, name)}
    logs = found.conflicts["logs"]
    print(
        f"R15 {machines} machines, {found.kept} facts, {found.merges} merges: conflicts in logs {logs}, lost, doubled or "
        f"unsettled {wrong or 0}, different logs {found.logs}, different bank/ {found.banks}"
    )
    return not wrong and logs == 0 and found.logs == found.banks == 1
