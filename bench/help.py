"""The generated pages: `python bench/help.py [--check]`.

docs/commands.md is made from the commands, docs/settings.md and the table of docs/grammar.md from those of the code.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from memctl.markdown.attributes import ATTRIBUTES
from memctl.notes.settings import KEYS, Settings

DOCS = Path(__file__).parents[1] / "docs"
HEAD = "# Commands\n\nWhat `memctl COMMAND --help` says; `make docs` writes this page.\n"
SETTINGS = """# Settings

`memctl.toml` at the root of a workspace; every key is optional, and an unknown one is an error. `make docs` writes this page.
`MEMCTL_VECTORS` stands for `model` under `[vectors]`, `MEMCTL_WORKSPACE` names the workspace, `MEMCTL_NOW` the present.

| key | what for | its value | default |
|---|---|---|---|
"""
COMMANDS = (
    "", "init", "retain", "recall", "show", "open", "entity list", "entity show", "entity alias", "entity merge", "fact list", "fact get", "fact set", "fact history",
    "index", "status", "check",
    "timeline",
    "reflect", "belief list", "belief show", "why", "conflicts", "resolve", "review", "forget", "eval",
    "context", "ingest", "act", "watch", "serve", "mcp", "connect", "hook", "import", "export", "vault",
)  # fmt: skip


def main() -> int:
    """Write the pages, or with --check say whether they are as they would be written."""
    pages = {
        "commands.md": HEAD + "".join(map(block, COMMANDS)),
        "settings.md": SETTINGS + "".join(settings_rows()),
        "grammar.md": grammar_page(),
    }
    if "--check" not in sys.argv:
        for name, text in pages.items():
            (DOCS / name).write_text(text, "utf-8")
        return 0
    stale = [name for name, text in pages.items() if (DOCS / name).read_text("utf-8") != text]
    for name in stale:
        print(f"docs/{name}: not what the code says; run `make docs`")
    return bool(stale)


def grammar_page() -> str:
    """docs/grammar.md with its table of attributes as the code has them."""
    before, _, rest = (DOCS / "grammar.md").read_text("utf-8").partition("<!-- attributes -->\n")
    after = rest.partition("<!-- attributes end -->\n")[2]
    table = "| attribute | flag of `memctl retain` | on | meaning |\n|---|---|---|---|\n" + "".join(attribute_rows())
    return f"{before}<!-- attributes -->\n{table}<!-- attributes end -->\n{after}"


def attribute_rows() -> Iterator[str]:
    """A row for each attribute of the grammar."""
    for each in ATTRIBUTES:
        written = f"{each.name}={each.example}" if each.example else each.name
        again = "; may stand again" if each.many else ""
        kinds = "all" if each.kinds == "WBOS" else ", ".join(each.kinds)
        yield f"| `{written}` | `{each.flag}` | {kinds} | {each.help.rstrip('.')}{again} |\n"


def settings_rows() -> Iterator[str]:
    """A row for each key of memctl.toml."""
    defaults = Settings()
    for table, keys in KEYS.items():
        for name, key in keys.items():
            default = getattr(defaults, key.field)
            shown = "" if default in (None, ()) else f"`{json.dumps(default)}`"
            spelled = f"`[{table}] {name}`" if table else f"`{name}`"
            yield f"| {spelled} | {key.purpose} | {key.told.removeprefix('is ')} | {shown} |\n"


def block(command: str) -> str:
    """The help of one command as a section."""
    words = [sys.executable, "-m", "memctl", *command.split(), "--help"]
    environment = os.environ | {"COLUMNS": "80", "NO_COLOR": "1"}
    shown = subprocess.run(words, capture_output=True, text=True, check=True, env=environment).stdout
    lines = "\n".join(line.rstrip() for line in shown.strip().splitlines())
    return f"\n## memctl {command}\n\n```\n{lines}\n```\n".replace("## memctl \n", "## memctl\n")


if __name__ == "__main__":
    sys.exit(main())
