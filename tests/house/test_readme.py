"""Every block of README.md and docs/ works as it stands; the console blocks of the first pages are run by tests/cli/test_scenarios.py."""

from __future__ import annotations

import ast
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from configparser import RawConfigParser
from pathlib import Path
from typing import TypeGuard

import pytest
from face_helpers import all_commands, call, reflected_copy

import memctl
from memctl.maintenance import status

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
RUN_ELSEWHERE = {ROOT / "README.md", ROOT / "docs" / "quickstart.md", ROOT / "docs" / "keeping.md"}  # by test_scenarios
STAYING = {"mcp", "serve", "watch"}  # run until they are stopped: tests of their own
FOLDERS = {"~/notes", "%h/notes", "~/Vault", "~/.openclaw/workspace", "conv-26"}
NOT_THERE = r"\b(?:[fopqrx]-[0-9a-z]{4,}|DIR|FILE|HOST|EVENT|ID|N)\b|…|--write|--undo|--sealed|--unseal|--in |vault |words vectors"
CHAT = [{"role": "user", "content": "Why PostgreSQL?"}, {"role": "assistant", "content": "Joins took 47 s."}]


def blocks(language: str, page: Path = ROOT / "README.md") -> list[str]:
    """The fenced blocks of one language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)


def test_the_python_block_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The library in four lines."""
    (block,) = blocks("python")
    (tmp_path / "memory").mkdir()
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    exec(block, names)  # what the page says, word by word
    (hit,) = names["hits"]  # type: ignore[misc]
    assert hit.content == "Prefers concise replies" and hit.confidence == 0.9


def test_the_first_block_leads_to_a_cited_answer(tmp_path: Path) -> None:
    """Word by word, in an empty home, but for the line that installs: it names what pyproject.toml builds."""
    first, *lines = blocks("sh")[0].splitlines()
    assert first.split("#")[0].split() == ["pipx", "install", "."]
    assert "uv tool install ." in first and "pip install ." in first
    (tmp_path / "home").mkdir()
    (tmp_path / "memctl").write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m memctl "$@"\n')
    (tmp_path / "memctl").chmod(0o755)
    env = {f"GIT_{who}_{what}": "quill@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    env |= {"HOME": str(tmp_path / "home"), "PATH": f"{tmp_path}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    for line in lines:
        done = subprocess.run(
            ["sh", "-c", line], cwd=tmp_path / "home", env=env, capture_output=True, text=True, check=True
        )
    assert "1. memory/" in done.stdout and "Uses PostgreSQL 16, because joins took 47 s" in done.stdout
    assert (tmp_path / "home" / "notes" / ".git").is_dir()


def test_every_extra_is_named() -> None:
    """What a user may add, by the names of pyproject.toml; the page is one page."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    named = set(re.findall(r"\*\*([\w-]+)\*\*", README.partition("as an extra")[2].partition("\n\n")[0]))
    assert named == set(project["optional-dependencies"]) - {"dev", "docs"}
    told = {extra for extra, _ in status.OPTIONAL.values()} | {"nli"}  # which brings what sentence-transformers does
    assert told == named, "`memctl status` says of each what it would add"


def prepared(tmp_path: Path) -> Path:
    """A copy of the fixture workspace with the files that the examples read; ~/notes leads to it."""
    root = reflected_copy(tmp_path)
    (root / "chat.json").write_text(json.dumps(CHAT))
    lines = "".join(json.dumps(message) + "\n" for message in CHAT)
    for name in ("chat.jsonl", "export.jsonl", "memories.jsonl"):
        (root / name).write_text(lines)
    (root / "questions.jsonl").write_text('{"question": "why PostgreSQL?", "gold": ["memory/2025-10-15.md#L9"]}\n')
    (root / "reply.txt").write_text('It is PostgreSQL. [SEARCH_MEMORY query="PostgreSQL"]\n')
    return root


def commands_of(page: Path) -> list[str]:
    """Every memctl command of a page's blocks for a shell, cron or systemd, without what stands around it."""
    found = []
    for language in ("sh", "bash", "console", "cron", "ini"):
        for line in "".join(blocks(language, page)).replace("\\\n", "").splitlines():
            command = re.search(r"(?:^\$? ?|ExecStart=\S*|\* +|&& )(memctl .*)", line)
            if command and not (language == "console" and page in RUN_ELSEWHERE):
                found.append(command[1])
    return found


WHERE = re.compile(r" +#.*| (?:-w|--workspace) \S+| (?:-q|--quiet)\b|  +$")
EXAMPLES = {
    WHERE.sub("", line): (page.name, line) for page in reversed(PAGES) for line in commands_of(page)
}  # each once


@pytest.mark.parametrize(("page", "line"), EXAMPLES.values())
def test_every_command_of_a_page_runs(page: str, line: str, tmp_path: Path) -> None:
    """In a copy of the fixture workspace that stands for ~/notes. What stays, or names an example's id, is held to its flags."""
    line = line.replace("$(date +\\%F)", "chat").replace("../", "")
    words = shlex.split(re.split(r" [|>]| 2>|;| &&", line)[0], comments=True)[1:]
    known = max((c for c in all_commands() if words[: len(c)] == list(c)), key=len, default=())
    assert known or words[0].startswith("-"), f"{page}: no such command: {line}"
    if words[0] in STAYING or re.search(NOT_THERE, line):
        told = call([*known, "--help"], tmp_path).out
        assert all(flag.split("=")[0] in told for flag in words if re.match(r"--?[a-z]", flag)), line
        return
    root = prepared(tmp_path)
    words = [str(root) if word in FOLDERS else word.replace("~/notes/chats/", "") for word in words]
    done = call(words, root, HOME=str(tmp_path))
    assert done.code in (0, 1), done.both


def test_every_setting_and_program_of_a_page_is_one(tmp_path: Path) -> None:
    """memctl reads the TOML, JSON is JSON, and Python uses names that memctl has."""
    for page in PAGES:
        for block in blocks("toml", page):
            if set(tomllib.loads(block)) & {"mcp_servers", "hooks"}:  # a host's
                continue
            (tmp_path / "memctl.toml").write_text(block, "utf-8")
            done = call(["status"], tmp_path)
            assert done.code in (0, 1), f"{page.name}: {done.both}"
        for block in blocks("json", page):
            json.loads(block)
        for block in blocks("ini", page):
            RawConfigParser().read_string(block)
        for block in blocks("python", page):
            used = {node.attr for node in ast.walk(ast.parse(block)) if _is_of_memctl(node)}
            assert used <= set(memctl.__all__), f"{page.name}: {used}"


def _is_of_memctl(node: ast.AST) -> TypeGuard[ast.Attribute]:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "memctl"


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
        if page.name not in ("CHANGELOG.md", "connect.md")  # what was, and pages of other hosts
        for path in named.findall(page.read_text("utf-8"))
        if not (ROOT / path).exists() and not (ROOT / "memctl" / path).exists()
    ]
    assert not lost


def test_the_pages_of_docs_are_in_their_index() -> None:
    """docs/README.md names every page."""
    index = (ROOT / "docs" / "README.md").read_text("utf-8")
    for page in (ROOT / "docs").glob("*.md"):
        assert page.name == "README.md" or f"({page.name})" in index, page.name
