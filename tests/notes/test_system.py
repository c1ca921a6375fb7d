"""The walk of tests/other_system.py gives the same answers and files where macOS and Windows are faked as on the system of the tests."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def walk(platform: str, home: Path) -> tuple[str, dict[str, str], set[str]]:
    """What memctl answers there, the pages that it leaves, and the faked calls that it made."""
    home.mkdir()
    done = subprocess.run(
        [sys.executable, "tests/other_system.py", platform, str(home / "notes")],
        cwd=ROOT, capture_output=True, encoding="utf-8", timeout=300,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "HOME": str(home), "MEMCTL_VECTORS": "none"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    answers, calls = done.stdout.rstrip("\n").replace(str(home), "~").rsplit("calls:", 1)
    pages = {str(path.relative_to(home)): path.read_text("utf-8") for path in home.rglob("*.md")}
    pages = {name: re.sub(r"x-\w+|~.notes|sha=\w+", "", text.replace(str(home), "~")) for name, text in pages.items()}
    return re.sub(r'"took_ms": [0-9.]+', "", answers), pages, set(calls.split())


@pytest.mark.skipif(sys.platform != "linux", reason="the fakes stand on calls of Linux")
def test_other_systems_give_the_same_answers(tmp_path: Path) -> None:
    """init, retain, recall, reflect, fact, forget, connect, a hook and check: every answer, every page."""
    answers, pages, calls = walk("linux", tmp_path / "linux")
    assert "$ check [0]\nno problems found" in answers and not calls
    assert walk("win32", tmp_path / "win32") == (answers, pages, {"locking", "rename"})
    assert walk("darwin", tmp_path / "darwin") == (answers, pages, {"renamex_np"})
