"""From nothing to the first cited answer: `python bench/first_hour.py [FOLDER]`. Keystrokes and seconds, by the README alone.

A fresh clone, a fresh virtual environment, an empty home. A keystroke is a character of a command, or Enter. FOLDER is one of your
own notes: 200 of them are copied. What packages take to come over the network is in the seconds of the first row.
"""

from __future__ import annotations

import argparse
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
NOTES = 200
_CITED = re.compile(r"^1\. \S.*#L\d+", re.MULTILINE)


def main() -> None:
    """Print a row for each way there."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, metavar="FOLDER", help="your own notes")
    own = parser.parse_args().folder
    with tempfile.TemporaryDirectory() as folder:
        home, clone = Path(folder, "home"), Path(folder, "memctl")
        home.mkdir()
        subprocess.run(["git", "clone", "-q", str(ROOT), str(clone)], check=True)
        subprocess.run([sys.executable, "-m", "venv", str(home / "venv")], check=True)
        path = f"{home / 'venv' / 'bin'}{os.pathsep}{os.environ['PATH']}"
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("MEMCTL", "PYTHON"))}
        env = kept | {"HOME": str(home), "PATH": path}
        block = re.search(r"```sh\npipx install \..*?\n(.*?)```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL)
        assert block, "the first block of the README is not where it was"
        first = [line.split("  #")[0].strip() for line in block[1].splitlines()]
        ways = {
            "install": ["pip install ."],
            "the first block of the README": first,
            "the fixture": ['memctl recall "why PostgreSQL?" -w fixtures/workspace'],
            "make demo, which installs too": ["make demo"],
        }
        if own:
            taken = sorted(each for each in own.rglob("*.md") if ".git" not in each.parts)[:NOTES]
            for note in taken:
                target = home / "own" / note.relative_to(own)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(note, target)
            ways[f"a folder of {len(taken)} notes"] = ["cd ~/own", "memctl init", 'memctl recall "sqlite in bash"']
            ways["that folder in Claude Code"] = ["cd ~/own", "memctl connect claude-code --write"]
        print("| way | keystrokes | s CPU | s wall |\n|---|---|---|---|")
        for way, lines in ways.items():
            print(f"| {way} | {row(lines, clone, env)} |")


def row(lines: list[str], folder: Path, env: dict[str, str]) -> str:
    """Keystrokes, CPU seconds and wall seconds of typing these lines into one shell; a question must be answered."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(["bash", "-e"], input="\n".join(lines), cwd=folder, env=env, capture_output=True, text=True)
    after, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic() - start
    if done.returncode or ("recall" in lines[-1] and not _CITED.search(done.stdout)):
        raise SystemExit(f"{lines} did not go as the README says:\n{done.stdout}{done.stderr}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return f"{sum(len(line) + 1 for line in lines)} | {cpu:.1f} | {wall:.1f}"


if __name__ == "__main__":
    main()
