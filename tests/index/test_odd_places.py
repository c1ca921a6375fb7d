"""Places that are not what they should be: an index that is no file, a linked folder, words that were taken back."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from face_helpers import call, write_pages

LINE = {"memory/2025-11-01.md": "# 2025-11-01\n\n## Retain\n\n- W @Atlas: The quokka lives in лесу 森林\n"}


@pytest.mark.parametrize("kind", ["folder", "pipe"])
def test_an_index_that_is_no_file_is_moved_aside(tmp_path: Path, kind: str) -> None:
    """What somebody put there stays, under another name; the index is made."""
    root = write_pages(tmp_path, LINE).root
    place = root / ".memory" / "index.sqlite"
    place.parent.mkdir(exist_ok=True)
    if kind == "folder":
        place.mkdir()
        (place / "note.txt").write_text("mine")
    else:
        os.mkfifo(place)
    assert "quokka" in call(["recall", "quokka"], root).out
    assert call(["index"], root).code == 0 and place.is_file()
    (aside,) = place.parent.glob("index.sqlite.*[0-9]")
    assert kind == "pipe" or (aside / "note.txt").read_text() == "mine"


def test_a_linked_folder_is_told(tmp_path: Path) -> None:
    """It is not followed, and whatever looks into it says so."""
    root = write_pages(tmp_path / "here", {}).root
    other = write_pages(tmp_path / "there", LINE).root
    for name in ("memory", "bank"):
        (root / name).rmdir() if (root / name).exists() else None
        (root / name).symlink_to(other / "memory")
    read = "check; index; recall quokka; context quokka; entity list; log; docs; export facts; reflect"
    for words in read.split("; "):
        told = call(words.split(), root, merged=True).out
        assert "memory:" in told and "bank:" in told and 2 <= told.count("symbolic link") <= 4, words


def test_a_link_to_itself_hides_no_page(tmp_path: Path) -> None:
    root = write_pages(tmp_path, LINE).root
    (root / "a.jsonl").symlink_to("a.jsonl")
    assert "quokka" in call(["recall", "quokka"], root).out


def test_words_that_were_taken_back_leave_the_index(tmp_path: Path) -> None:
    """`memctl index` leaves no byte of a line that an editor took out, in three scripts, nor an index for others that needs none."""
    kept = "# x\n\n## Retain\n\n- W: stays\n"
    root = write_pages(tmp_path, LINE | {"memory/2025-11-02.md": f"{kept}- W(private): goes\n"}).root
    call(["index"], root)
    (root / "memory" / "2025-11-02.md").write_text(kept, "utf-8")
    (root / "memory" / "2025-11-01.md").write_text("# 2025-11-01\n", "utf-8")
    call(["recall", "stays"], root)
    call(["index"], root)
    left = b"".join(path.read_bytes() for path in (root / ".memory").rglob("*") if path.is_file())
    assert not [word for word in ("quokka", "лесу", "森林") if word.encode() in left]


def test_pages_that_bear_one_name_are_told(tmp_path: Path) -> None:
    """Reflect writes one of them, and says so."""
    facts = "".join(f"- W @Atlas: Part {number} is ready\n" for number in range(4))
    pages = {"bank/entities/Atlas.md": "# Atlas\n", "bank/entities/atlas.md": "# atlas\n"}
    root = write_pages(tmp_path, pages | {"memory/2025-11-01.md": f"# x\n\n## Retain\n\n{facts}"}).root
    told = call(["reflect"], root, merged=True).out
    assert "bank/entities/Atlas.md, bank/entities/atlas.md bear one name" in told
