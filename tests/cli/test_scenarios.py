"""The pages under tests/scenarios are a manual and a test at once: every command in them is run, every answer compared.

A page is prose with ```console blocks. A line `$ command` is run in a fresh folder; the lines below it are what a
terminal shows, and `[exit N]` closes the answer where the exit code is not 0. `[..]` stands for anything in a line.
A page starts in a copy of fixtures/workspace, or with `<!-- starts in an empty folder -->` in an empty one.
Commands run in this process, what stands behind a pipe or `>` goes through the shell; so does a page with
`<!-- real processes -->` and any other line with more than memctl in it. The clock says 2025-11-30. `MEMCTL_UPDATE=1 pytest tests/cli/test_scenarios.py` writes the answers anew.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path

import pytest
from face_helpers import NOW, all_commands, call, fixture_copy
from store_helpers import environment

ROOT = Path(__file__).parents[2]
MANUAL = [ROOT / "README.md", ROOT / "docs" / "quickstart.md", ROOT / "docs" / "keeping.md"]
PAGES = [*MANUAL, *sorted((ROOT / "tests" / "scenarios").glob("*.md"))]
UPDATE = bool(os.environ.get("MEMCTL_UPDATE"))
HOME = "/home/quill/notes"
VARYING = r'(?<="took_ms": )[0-9.]+|(?<=\()[0-9.]+(?= s\)$)|(?<=\bx-)[0-9a-f]{10}\b|(?<=, (?:python|sqlite) )[0-9.]+'
DURATION = re.compile(VARYING, re.MULTILINE)  # and random ids, and versions of this machine


@dataclass(slots=True)
class Step:
    """One command of a page, the line it stands on, and what the page says it answers."""

    command: str
    line: int
    expected: list[str] = field(default_factory=list)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_scenario(page: Path, tmp_path: Path) -> None:
    """Every answer on the page is what memctl answers."""
    text = page.read_text(encoding="utf-8")
    folder = _start(text, tmp_path)
    made, steps = [], 0
    for part in _parts(text):
        if isinstance(part, str):
            made.append(part)
            continue
        steps += 1
        answer = _answer(part.command, folder, "<!-- real processes -->" in text, tmp_path)
        made += [f"$ {part.command}", *_merge(part.expected, answer)]
    written = "\n".join(made) + "\n"
    assert steps, f"{page.name} runs nothing"
    if UPDATE:
        page.write_text(written, encoding="utf-8")
    elif written != text:
        pytest.fail(_difference(text, written), pytrace=False)


def test_every_command_has_a_scenario() -> None:
    """The manual leaves out no command."""
    told = " ".join(page.read_text(encoding="utf-8") for page in PAGES)
    for words in all_commands():
        assert f"$ memctl {' '.join(words)}" in told, f"no scenario runs memctl {' '.join(words)}"


def _start(text: str, tmp_path: Path) -> Path:
    if "<!-- starts in an empty folder -->" in text:
        (tmp_path / "workspace").mkdir()
        return tmp_path / "workspace"
    return fixture_copy(tmp_path)  # or a retain on a slow machine says that the index is not complete yet


def _parts(text: str) -> Iterator[str | Step]:
    """The page in order: lines of prose as they are, commands with their expected answers."""
    step: Step | None = None
    inside = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            inside = line == "```console"
            if step:
                yield step
            step = None
            yield line
        elif inside and line.startswith("$ "):
            if step:
                yield step
            step = Step(line[2:], number)
        elif step:
            step.expected.append(line)
        else:
            yield line


def _answer(command: str, folder: Path, real: bool, tmp_path: Path) -> list[str]:
    env = {}
    if command.startswith(home := "HOME=$PWD/home "):
        env, command = {"HOME": str(folder / "home")}, command.removeprefix(home)
    words = list(shlex.shlex(command, posix=True, punctuation_chars="|<>;&"))
    given = re.fullmatch(r"((?:printf|echo|cat) [^|]*) \| memctl ([^|<>;&]*)", command)
    if given and not real:
        _, text = _shell(given[1], folder, tmp_path / "bin")
        done = call(shlex.split(given[2]), folder, stdin=text, merged=True)
        code, text = done.code, done.out
    elif not real and (piped := re.fullmatch(r"memctl ([^|<>;&$]*) (?:\| |(?=> ))(?!.*(?:memctl|2>))(.*)", command)):
        done = call(shlex.split(piped[1]), folder, **env)
        code, text = _shell(piped[2] if "| " in command else f"cat {piped[2]}", folder, tmp_path / "bin", done.out)
        code, text = code if "| " in command else done.code, done.err + text
    elif real or not command.startswith("memctl") or any(set(word) <= set("|<>;&") for word in words if word):
        code, text = _shell(command, folder, tmp_path / "bin")
    else:
        done = call(shlex.split(command)[1:], folder, merged=True, **env)
        code, text = done.code, done.out
    text = DURATION.sub("[..]", text.replace(str(folder.resolve()), HOME).replace(str(folder), HOME))
    return [line.rstrip() for line in text.splitlines()] + ([f"[exit {code}]"] if code else [])


def _shell(command: str, folder: Path, programs: Path, given: str = "") -> tuple[int, str]:
    programs.mkdir(exist_ok=True)
    for name, arguments in (("memctl", "-m memctl"), ("python", "")):
        script = programs / name
        script.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {arguments} "$@"\n')
        script.chmod(0o755)
    env = environment(
        MEMCTL_NOW=NOW, PATH=f"{programs}:{os.environ['PATH']}", COLUMNS="100", LC_ALL="C.UTF-8", GIT_CONFIG_GLOBAL=os.devnull,
        PYTHONUNBUFFERED="",
    )  # fmt: skip
    env |= {f"GIT_{who}_{what}": "quill@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    done = subprocess.run(
        ["sh", "-c", command], cwd=folder, env=env, input=given, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, timeout=60, encoding="utf-8",
    )  # fmt: skip
    return done.returncode, done.stdout


def _merge(expected: list[str], answer: list[str]) -> list[str]:
    """The answer, with the expected line wherever that matches it."""
    pairs = zip_longest(expected[: len(answer)], answer, fillvalue="")
    return [old if re.fullmatch(".*".join(map(re.escape, old.split("[..]"))), new) else new for old, new in pairs]


def _difference(text: str, written: str) -> str:
    import difflib

    lines = difflib.unified_diff(text.splitlines(), written.splitlines(), "on the page", "answered", lineterm="")
    return "MEMCTL_UPDATE=1 writes this down, if it is right:\n" + "\n".join(lines)
