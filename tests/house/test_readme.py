"""Every block of README.md works as it stands; its console blocks are run by tests/cli/test_scenarios.py."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from face_helpers import all_commands, call, fixture_copy

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")
STAYING = {"mcp", "serve", "watch"}  # run until they are stopped: tests of their own
CHAT = [{"role": "user", "content": "Why PostgreSQL?"}, {"role": "assistant", "content": "Joins took 47 s."}]


def blocks(language: str) -> list[str]:
    """The fenced blocks of one language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def test_the_python_block_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The library in four lines."""
    (block,) = blocks("python")
    (tmp_path / "memory").mkdir()
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    exec(block, names)  # what the page says, word by word
    (hit,) = names["hits"]  # type: ignore[misc]
    assert hit.content == "Prefers concise replies" and hit.confidence == 0.9


LINES = [line for block in blocks("sh") for line in block.splitlines() if line.startswith("memctl")]


@pytest.mark.parametrize("line", LINES)
def test_a_shell_line_runs(line: str, tmp_path: Path) -> None:
    """Every memctl line, in a copy of the fixture workspace that stands for ~/notes."""
    root = fixture_copy(tmp_path)
    (root / "chat.json").write_text(json.dumps(CHAT))
    (root / "chat.jsonl").write_text("".join(json.dumps(message) + "\n" for message in CHAT))
    (root / "reply.txt").write_text('It is PostgreSQL. [SEARCH_MEMORY query="PostgreSQL"]\n')
    words = [str(root) if word == "~/notes" else word for word in shlex.split(line, comments=True)[1:]]
    if words[0] in STAYING:
        told = call([words[0], "--help"], tmp_path).out
        assert all(flag in told for flag in words if flag.startswith("-"))
    else:
        done = call(words, root, HOME=str(tmp_path))
        assert done.code in (0, 1), done.both


def test_what_it_names_exists() -> None:
    """Links lead to files, make targets are in the Makefile, commands are commands."""
    for link in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / link).exists(), link
    makefile = (ROOT / "Makefile").read_text("utf-8")
    for target in re.findall(r"(?:^|`)make (\w+)", README, re.MULTILINE):
        assert f"\n{target}:" in makefile, target
    known = {words[0] for words in all_commands()}
    for command in re.findall(r"^(?:\$ )?memctl (\w+)", README, re.MULTILINE):
        assert command in known, command


def test_files_that_are_named_exist() -> None:
    """A path of this repository in a page, a docstring or a comment leads to a file."""
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), ROOT / "pyproject.toml"]
    pages += [*(ROOT / "memctl").rglob("*.py"), *(ROOT / "tests").rglob("*.py"), *(ROOT / "memctl").rglob("*.sql")]
    rooms = "|".join(path.name for path in (ROOT / "memctl").iterdir() if path.is_dir() and path.name[0] != "_")
    named = re.compile(rf"(?<![\w./-])(?:memctl/)?((?:{rooms}|docs|bench|tests)/[\w/]+\.(?:py|sql))(?![\w*])")
    lost = [
        f"{page.relative_to(ROOT)}: {path}"
        for page in pages
        if page.name != "CHANGELOG.md"
        for path in named.findall(page.read_text("utf-8"))
        if not (ROOT / path).exists()
        and not (ROOT / "memctl" / path).exists()
        and page.name != "connect.md"  # other hosts' pages
    ]
    assert not lost


def test_the_pages_of_docs_are_in_their_index() -> None:
    """docs/README.md names every page."""
    index = (ROOT / "docs" / "README.md").read_text("utf-8")
    for page in (ROOT / "docs").glob("*.md"):
        assert page.name == "README.md" or f"({page.name})" in index, page.name
