"""`python tests/torture [R1 R7 …] [--short]`: the long runs behind the scorecard. Prints a figure for each row.

Rows run two at a time, each in a process of its own; what a row prints appears when it has ended, with its seconds.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
sys.path.insert(0, str(Path(__file__).parent.parent / "house"))  # whose list of commands S12 runs

ROWS = {
    "R1": "kill_points", "R10": "burst", "R13": "embedding", "R14": "connect_kills", "R15": "git_days", "G1": "transcripts", "S5": "poison",
    "S10": "memory", "S12": "sockets", "J": "judgement",
}  # fmt: skip


# Rows whose long form is a test under MEMCTL_TORTURE=1: the arguments of pytest.
TESTS = {
    "R3": ("tests/notes/test_files.py", "tests/notes/test_replace.py", "-k", "power_failure or missing_sync"),
    "R4": ("tests/index/test_races.py", "-k", "processes"),
    "R5": ("tests/index/test_races.py", "-k", "editor"),
    "R6": ("tests/index/test_sync.py", "-k", "made_anew"),
    "R7": ("tests/index/test_heal.py", "-k", "every_damage"),
    "R8": ("tests/vectors/test_vector_store.py",),
    "R9": ("tests/markdown/test_blocks.py", "-k", "outside"),
    "R12": ("tests/index/test_sync.py", "-k", "edits"),
    "S1": ("tests/house/test_fuzz.py",),
    "S2": ("tests/cli/test_output.py",),
    "S3": ("tests/markdown/test_blocks.py", "tests/markdown/test_grammar.py", "tests/reflect/test_pages.py"),
    "S4": ("tests/notes/test_workspace.py", "-k", "path or names or date"),
    "S7-http": ("tests/server/test_http_matrix.py",),
    "S7-mcp": ("tests/server/test_mcp.py", "-k", "wrongly_accepted"),
    "S8": ("tests/language/test_secrets.py",),
    "S9": ("tests/index/test_rows.py", "tests/agents/test_brackets.py", "tests/language/test_dates.py", "-k", "grows or times or work"),
    "S11": ("tests/notes", "tests/transfer", "tests/forget", "-k", "mode or modes"),
    "S13": ("tests/server/test_as_if_absent.py",),
    "S14": ("tests/agents/test_act.py", "-k", "injection"),
    "S15": ("tests/forget/test_tombstones.py", "-k", "guess"),
    "S16": ("tests/cli/test_stale.py",),
    "S17": ("tests/vault/test_vault.py", "-k", "scrollback"),
    "S18": ("tests/transfer/test_import.py", "-k", "binds_no_name"),
    "J4": ("tests/reflect/test_build.py",),
}  # fmt: skip


def passes(row: str, short: bool) -> bool:
    """True if the tests of a row pass, and there are any."""
    root = Path(__file__).parents[2]
    env = dict(os.environ) if short else os.environ | {"MEMCTL_TORTURE": "1"}
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *TESTS[row]]
    done = subprocess.run(words, cwd=root, env=env, capture_output=True, text=True, check=False)
    failed = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    cases = done.stdout.count(".") if done.returncode == 0 else 0
    print(
        f"{row} {' '.join(TESTS[row])}: {f'all pass ({cases})' if cases else 'FAILED'}",
        *failed[:5],
        sep="\n  ",
        flush=True,
    )
    return bool(cases)


def is_met(row: str, short: bool) -> bool:
    """True if a row meets its target; one that can't run says so, and does not."""
    try:
        return passes(row, short) if row in TESTS else importlib.import_module(f"torture.{ROWS[row]}").main(short)
    except Exception as error:
        print(f"{row} can't run: {error!r:.300}", flush=True)
        return False


def run_apart(row: str, short: bool) -> bool:
    """True if a row meets its target in a process of its own, whose words it prints whole."""
    begun = time.monotonic()
    words = [sys.executable, __file__, row, *(["--short"] if short else [])]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    print(f"{done.stdout.rstrip()}  [{time.monotonic() - begun:.0f} s]", flush=True)
    return done.returncode == 0


def main(words: list[str]) -> int:
    """Run the rows named (all, without names); 1 if one of them misses its target."""
    short = "--short" in words
    named = [word for word in words if not word.startswith("--")] or [*ROWS, *TESTS]
    if unknown := [row for row in named if row not in ROWS and row not in TESTS]:
        print(f"no row is called {', '.join(unknown)}; there are {', '.join([*ROWS, *TESTS])} (J is J1 to J3)")
        return 2
    if len(named) == 1:
        return 0 if is_met(named[0], short) else 1
    with ThreadPoolExecutor(2) as pool:
        met = list(pool.map(lambda row: run_apart(row, short), named))
    print("not met:", ", ".join(row for row, well in zip(named, met, strict=True) if not well) or "none")
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
