"""The command help in README.md, made from the commands themselves: `python bench/help.py README.md [--check]`."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

BEGIN, END = "<!-- memctl help -->\n", "<!-- memctl help end -->\n"
COMMANDS = (
    "", "init", "retain", "recall", "show", "entity list", "entity show", "entity alias", "entity merge", "fact get", "fact set", "fact history",
    "index", "status", "check", "reflect", "belief list", "belief show", "why", "conflicts", "resolve", "forget", "eval",
    "context", "ingest", "act", "watch", "serve", "mcp", "connect", "hook", "import", "export",
)  # fmt: skip


def main() -> int:
    path = Path(sys.argv[1])
    before = path.read_text("utf-8")
    head, _, rest = before.partition(BEGIN)
    after = head + BEGIN + "".join(map(block, COMMANDS)) + END + rest.partition(END)[2]
    if "--check" in sys.argv:
        if before != after:
            print(f"{path}: the command help is not what the commands say; run `make docs`")
        return int(before != after)
    path.write_text(after, "utf-8")
    return 0


def block(command: str) -> str:
    """The help of one command as a foldable piece of Markdown."""
    words = [sys.executable, "-m", "memctl", *command.split(), "--help"]
    environment = os.environ | {"COLUMNS": "100", "TERMINAL_WIDTH": "100", "NO_COLOR": "1"}
    shown = subprocess.run(words, capture_output=True, text=True, check=True, env=environment).stdout
    lines = "\n".join(line.rstrip() for line in shown.strip().splitlines())
    return (
        f"\n<details><summary><code>memctl {command or '--help'}</code></summary>\n\n```\n{lines}\n```\n\n</details>\n"
    )


if __name__ == "__main__":
    sys.exit(main())
