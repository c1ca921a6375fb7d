"""Whether `memctl serve` finds what the command line finds: `python bench/served.py DATA/locomo [--every 10]`.

Every question of the set is put to a server and to the library, and every so manieth to a process of the command line too.
Printed: of how many questions the ten lines and their order are equal, and recall@10 of the gold lines by each way.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

from sets import tasks
from warm import TODAY, server

K = 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--every", type=int, default=10, help="so manieth question goes to the command line too")
    given = parser.parse_args()
    by_workspace: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for question in tasks(given.data)[0].questions:
        by_workspace[question["workspace"]].append(question)
    found: dict[str, list[tuple[dict[str, Any], list[str]]]] = defaultdict(list)
    equal = asked = 0
    for name, questions in by_workspace.items():
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder).resolve() / name
            shutil.copytree(given.data / name, root)
            (root / "memctl.toml").touch()
            by_process(root, "warm")
            with server(root) as (connection, token):
                for number, question in enumerate(questions):
                    served = by_server(connection, token, question["question"])
                    found["serve"].append((question, served))
                    if number % given.every == 0:
                        typed = by_process(root, question["question"])
                        found["command line"].append((question, typed))
                        asked, equal = asked + 1, equal + (typed == served)
                        if typed != served:
                            print(f"   differs: {name} {question['question']}\n      {served}\n      {typed}")
    print(f"{asked} questions by both ways: {equal} with the same lines in the same order")
    for way, rows in found.items():
        shares = [len({*lines} & {*question["gold"]}) / len({*question["gold"]}) for question, lines in rows]
        print(f"{way:13} recall@{K} {100 * sum(shares) / len(shares):.1f} of {len(shares)}")


def by_server(connection: Any, token: str, question: str) -> list[str]:
    """The lines that the server cites, best first."""
    head = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    connection.request("POST", "/v1/recall", json.dumps({"query": question, "k": K}).encode(), head)
    answer = connection.getresponse()
    return cited(json.loads(answer.read()))


def by_process(root: Path, question: str) -> list[str]:
    """The same of `memctl recall`, a process of its own."""
    words = [sys.executable, "-m", "memctl", "recall", "-w", str(root), "-k", str(K), "--json", "--now", str(TODAY)]
    done = subprocess.run([*words, "--", question], capture_output=True, text=True, check=False)
    return cited(json.loads(done.stdout))


def cited(answer: dict[str, Any]) -> list[str]:
    """The places of the hits of an answer."""
    return [hit["source"] for hit in answer["hits"]]


if __name__ == "__main__":
    main()
