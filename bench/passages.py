"""How much of the gold a model reads: the share of gold lines within the first 2,000 and 8,000 characters that memory hands out.

`python bench/passages.py DATA/locomo [--workspaces conv-26,conv-30]`: for each question what `Memory.memories`,
the tool recall of MCP and `context` behind its recent lines give, by words. A gold line counts where its text stands in the part
looked at.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

from sets import by_workspace

import memctl

AT = (2_000, 8_000)
_SHOWN = 60  # characters by which a line is known again


def main() -> None:
    """Print a line for each way out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--workspaces", default="")
    given = parser.parse_args()
    os.environ["MEMCTL_VECTORS"] = "none"
    shares: dict[str, list[list[float]]] = defaultdict(list)
    for name, questions in by_workspace(given.data, given.workspaces).items():
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(given.data / name, folder, dirs_exist_ok=True)
            last = max(path.stem[:10] for path in Path(folder, "memory").glob("*.md"))
            with memctl.open(folder, now=datetime.fromisoformat(last)) as memory:
                ways: dict[str, Callable[[str], str]] = {
                    "memories": lambda text, memory=memory: memory.memories(text, k=40, budget=4_000).text,  # type: ignore[misc]
                    "mcp": lambda text, memory=memory: memory.told(text, k=40, budget=4_000)[1],  # type: ignore[misc]
                    "context": lambda text, memory=memory: memory.context(text, budget=4_000).recalled,  # type: ignore[misc]
                }
                for question in questions:
                    gold = [_text_of(folder, place) for place in question["gold"]]
                    for way, give in ways.items():
                        text = give(str(question["question"]))
                        shares[way].append([sum(line in text[:most] for line in gold) / len(gold) for most in AT])
    for way, found in shares.items():
        means = (100 * sum(row[at] for row in found) / len(found) for at in range(len(AT)))
        print(
            f"{way:10} {len(found):5} questions  "
            + "  ".join(f"gold@{n:,} {m:.1f}" for n, m in zip(AT, means, strict=True))
        )


def _text_of(folder: str, place: str) -> str:
    path, _, line = place.partition("#L")
    text = Path(folder, path).read_text("utf-8").splitlines()[int(line.partition("-")[0]) - 1]
    return text.removeprefix("- ").strip()[:_SHOWN]


if __name__ == "__main__":
    main()
