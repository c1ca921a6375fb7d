"""The fixture workspace after `memctl reflect --since 150d`, byte for byte: fixtures/reflected is what a person looks at.

`MEMCTL_UPDATE=1 pytest tests/cli/test_expected.py` writes it anew; read the diff before committing it.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from face_helpers import FIXTURES, NOW, call, fixture_copy, reflected_copy

EXPECTED = FIXTURES / "reflected"


def test_the_fixture_reflected(tmp_path: Path) -> None:
    """What reflect writes, for eyes and for tests: new or changed pages of bank/, and nothing else changed."""
    root = fixture_copy(tmp_path)
    done = call(["reflect", "--since", "150d", "--propose-core"], root, MEMCTL_NOW=NOW)
    assert done.code == 0 and done.err == "2 conflicts; `memctl conflicts` shows them\n"
    written = {path.relative_to(root): path for path in root.rglob("*.md") if _differs(path, root)}
    assert all(path.parts[0] == "bank" for path in written)
    if os.environ.get("MEMCTL_UPDATE"):
        shutil.rmtree(EXPECTED, ignore_errors=True)
        for relative, path in written.items():
            (EXPECTED / relative).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, EXPECTED / relative)
    kept = {path.relative_to(EXPECTED): path.read_bytes() for path in EXPECTED.rglob("*.md")}
    assert {relative: path.read_bytes() for relative, path in written.items()} == kept


def _differs(path: Path, root: Path) -> bool:
    before = FIXTURES / "workspace" / path.relative_to(root)
    return not before.exists() or before.read_bytes() != path.read_bytes()


def test_every_link_in_it_leads_somewhere(tmp_path: Path) -> None:
    """`check` finds no problem in what reflect wrote."""
    root = reflected_copy(tmp_path)
    told = [line for line in call(["check"], root, MEMCTL_NOW=NOW).out.splitlines() if ": conflict:" not in line]
    assert not [line for line in told if line.startswith(("bank/", "memory/"))]
