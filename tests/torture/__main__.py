"""`python tests/torture [R1 R7 …] [--short]`: the long runs behind the scorecard. Prints a figure for each row."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
for room in ("markdown", "house", "server"):  # whose tests have a longer form here
    sys.path.insert(0, str(Path(__file__).parent.parent / room))

ROWS = {
    "R1": "kill_points",
    "R3": "power_loss",
    "R4": "races",
    "R5": "editor_storm",
    "R6": "states",
    "R7": "damage",
    "R9": "outside",
    "R10": "burst",
    "R12": "same_tick",
    "R13": "embedding",
    "R14": "connect_kills",
    "G1": "transcripts",
    "S4": "paths",
    "S5": "poison",
    "S7-http": "http_requests",
    "S7-mcp": "mcp_requests",
    "S14": "injections",
    "S15": "forgotten",
    "S10": "memory",
    "S12": "sockets",
    "S17": "sealed",
    "S13": "as_if_absent",
}


def main(words: list[str]) -> int:
    """Run the rows named (all, without names); 1 if one of them misses its target."""
    short = "--short" in words
    named = [word for word in words if not word.startswith("--")] or list(ROWS)
    met = [importlib.import_module(f"torture.{ROWS[row]}").main(short) for row in named]
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
