"""The generated pages: `python bench/help.py [--check]`.

docs/commands.md, the man page and what shells complete are made from the commands, docs/settings.md, the tables of docs/grammar.md,
docs/mcp.md and docs/languages.md and what SAVE_FACT takes in docs/act.md from those of the code, and `[terms]` of stopwords.txt from the
`[words]` above it.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer
from man import man_page

from memctl.cli.call import load
from memctl.language import words
from memctl.language.analyzer import terms
from memctl.language.tokens import estimate
from memctl.language.words import languages, lines
from memctl.markdown.attributes import ATTRIBUTES, FILTERS
from memctl.notes.settings import KEYS, Settings
from memctl.server.mcp_tools import TOOLS

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
HEAD = """# Commands

What `memctl COMMAND --help` says; `make docs` writes this page.

Exit codes: 0 done or found · 1 nothing found, or `check` found something · 2 usage · 10 no workspace · 11 a path outside of it · 12 a page changed meanwhile ·
13 a page cannot be read or written, or the answer not printed · 14 a lock or port is taken · 15 refused · 16 an optional part is missing · 17 the server of shared memory · 70 a bug · 130 interrupted.
An error is two lines on stderr, what happened and what to do; with `--json` one line there: `{"schema": 1, "error": {"kind", "exit_code", "what", "do"}}`.
"""
SETTINGS = """# Settings

`memctl.toml` at the root of a workspace; every key is optional, and an unknown one is an error. `make docs` writes this page.
`MEMCTL_VECTORS` stands for `model` under `[vectors]`, `MEMCTL_WORKSPACE` names the workspace, `MEMCTL_NOW` the present.
An answer that is longer than the terminal goes through `MEMCTL_PAGER`, else `PAGER`, else `less -FRX`; an empty one is none. `NO_COLOR` takes colours and links away.

| key | what for | its value | default |
|---|---|---|---|
"""
COMMANDS = (
    "", "init", "retain", "recall", "show", "open", "log", "undo", "entity list", "entity show", "entity alias", "entity merge", "fact list", "fact get", "fact set", "fact history", "docs",
    "index", "status", "check",
    "timeline", "graph", "view",
    "reflect", "lessons", "belief list", "belief show", "why", "conflicts", "resolve", "review", "forget", "eval",
    "context", "ingest", "act", "watch", "serve", "mcp", "connect", "hook", "import", "export", "vault", "publish",
    "completion",
)  # fmt: skip


def main() -> int:
    """Write the pages, or with --check say whether they are as they would be written."""
    in_replies = ", ".join(f"`{each.long}=`" for each in ATTRIBUTES if each.reply and each.name != "key")
    pages = {
        "docs/act.md": between("act.md", "reply", in_replies),
        "docs/commands.md": HEAD + "".join(map(block, COMMANDS)),
        "docs/settings.md": SETTINGS + "".join(settings_rows()),
        "docs/grammar.md": filled(
            "grammar.md", "attributes", ("attribute", "flag of `memctl retain`", "on", "meaning"), attribute_rows()
        ),
        "docs/languages.md": filled("languages.md", "topics", ("topic", "what it does", *languages()), topic_rows()),
        "docs/mcp.md": filled("mcp.md", "tools", ("tool", "writes", "takes", "for example", "tokens"), tool_rows()),
        "docs/memctl.1": man_page(commands("", typer.main.get_command(load([])))),
        "memctl/shell/commands.tsv": "".join("\t".join(row) + "\n" for row in completion_rows()),
        **{f"memctl/language/data/{name}/stopwords.txt": stop_words(name) for name in languages()},
    }
    if "--check" not in sys.argv:
        for name, text in pages.items():
            (ROOT / name).write_text(text, "utf-8")
        return 0
    stale = [name for name, text in pages.items() if (ROOT / name).read_text("utf-8") != text]
    for name in stale:
        print(f"{name}: not what the code says; run `make docs`")
    return bool(stale)


def completion_rows() -> Iterator[tuple[str, str, str, str]]:
    """What a shell completes: command, names, kind of value, help. A command itself has no names and no value.

    A kind is the placeholder of a value, or the words that it may be with a `|` between; `…` says that it may come again.
    """
    for path, command in commands("", typer.main.get_command(load([]))):
        yield (
            path,
            "",
            "",
            textwrap.shorten(re.split(r"[.;]\s", command.help or "")[0].rstrip("."), 72, placeholder=" …"),
        )
        for each in command.params:
            names = [" ".join(each.opts), *each.secondary_opts] if each.param_type_name == "option" else [""]
            for name in names if not each.hidden else ():
                yield path, name, kind(each), " ".join((each.help or "").split())
        yield path, "-h --help", "", "Show this message and exit."
    yield "@query filters", "", "|".join(each.name for each in FILTERS), ""
    for language in languages():
        rows = [line.split() for line in lines(language, "dates").get("words", ())]
        yield f"@when {language}", "", "|".join(row[2] for row in rows if row[0] == "offset"), ""


def commands(path: str, command: Any) -> Iterator[tuple[str, Any]]:
    """A command with all below it, each with its words."""
    yield path, command
    for name, each in getattr(command, "commands", {}).items():
        yield from commands(f"{path} {name}".strip(), each)


def kind(parameter: Any) -> str:
    """The kind of value that an option or an argument takes; empty for a flag."""
    if getattr(parameter, "is_flag", False):
        return ""
    listed = re.match(r"(?:[a-z-]+, )*[a-z-]+,? or [a-z-]+(?=[ .,])", parameter.help or "")
    name = re.sub(r"\W", "", parameter.metavar or parameter.name).upper()
    chosen = "|".join(re.split(r", or |, | or ", listed[0])) if listed and " and " not in listed[0] else name
    return chosen + ("…" if parameter.nargs == -1 or getattr(parameter, "multiple", False) else "")


def filled(name: str, mark: str, heads: tuple[str, ...], rows: Iterator[str]) -> str:
    """A page of docs/ with the table between two marks as the code has it."""
    return between(name, mark, f"\n| {' | '.join(heads)} |\n|{'---|' * len(heads)}\n{''.join(rows)}")


def between(name: str, mark: str, text: str) -> str:
    """A page of docs/ with this text between two marks."""
    before, _, rest = (DOCS / name).read_text("utf-8").partition(f"<!-- {mark} -->")
    return f"{before}<!-- {mark} -->{text}<!-- {mark} end -->{rest.partition(f'<!-- {mark} end -->')[2]}"


def attribute_rows() -> Iterator[str]:
    """A row for each attribute of the grammar."""
    for each in ATTRIBUTES:
        written = f"{each.name}={each.example}" if each.example else each.name
        again = "; may stand again" if each.many else ""
        kinds = "all" if each.kinds == "WBOS" else ", ".join(each.kinds)
        yield f"| `{written}` | `{each.flag}` | {kinds} | {each.help.rstrip('.')}{again} |\n"


def stop_words(language: str) -> str:
    """The stop words of a language with what analysis makes of them, kept because it takes 5 ms of every recall."""
    held = (ROOT / f"memctl/language/data/{language}/stopwords.txt").read_text("utf-8").partition("[terms]\n")[0]
    made = sorted(set(terms(" ".join(word for line in lines(language, "stopwords")["words"] for word in line.split()))))
    return f"{held}[terms]\n{textwrap.fill(' '.join(made), 118, break_on_hyphens=False)}\n"


def topic_rows() -> Iterator[str]:
    """A row for each topic of the words of languages: the line that says what it does stays, the marks follow from the folders."""
    table = (
        (DOCS / "languages.md").read_text("utf-8").partition("<!-- topics -->\n")[2].partition("<!-- topics end -->")[0]
    )
    told = {cells[1].strip(" `"): cells[2].strip() for line in table.splitlines()[2:] if (cells := line.split("|"))}
    folders = {
        name: {path.stem for path in (Path(words.__file__).parent / "data" / name).iterdir()} for name in languages()
    }
    for topic in dict.fromkeys((*told, *sorted(set().union(*folders.values())))):
        marks = " | ".join("✓" if topic in folders[name] else "" for name in folders)
        yield f"| `{topic}` | {told.get(topic, '')} | {marks} |\n"


def tool_rows() -> Iterator[str]:
    """A row for each tool of MCP, and what they cost together."""
    cost = []
    for each in TOOLS:
        shown = {"name": each.name, "description": each.description, "input_schema": each.input_schema}
        cost.append(estimate(json.dumps(shown, separators=(",", ":"))))
        takes = " ".join(each.takes.model_fields)
        example = json.dumps(each.example, ensure_ascii=False)
        yield f"| `{each.name}` | {'yes' if each.writes else ''} | {f'`{takes}`' if takes else ''} | `{example}` | {cost[-1]} |\n"
    reading = sum(each for tool, each in zip(TOOLS, cost, strict=True) if not tool.writes)
    yield f"| those that read | | | | {reading} |\n"
    yield f"| all | | | | {sum(cost):,} |\n"


def settings_rows() -> Iterator[str]:
    """A row for each key of memctl.toml."""
    defaults = Settings()
    for table, keys in KEYS.items():
        for name, key in keys.items():
            default = getattr(defaults, key.field)
            shown = "" if default in (None, ()) else f"`{json.dumps(default)}`"
            spelled = f"`[{table}] {name}`" if table else f"`{name}`"
            yield f"| {spelled} | {key.purpose} | {key.told} | {shown} |\n"


def block(command: str) -> str:
    """The help of one command as a section."""
    called = [sys.executable, "-m", "memctl", *command.split(), "--help"]
    environment = os.environ | {"COLUMNS": "80", "NO_COLOR": "1"}
    shown = subprocess.run(called, capture_output=True, text=True, check=True, env=environment).stdout
    lines = "\n".join(line.rstrip() for line in shown.strip().splitlines())
    return f"\n## memctl {command}\n\n```\n{lines}\n```\n".replace("## memctl \n", "## memctl\n")


if __name__ == "__main__":
    sys.exit(main())
