"""`show --source`: from a fact back to the turns in which it was said, wherever the transcript lies now."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from face_helpers import call, memory_on, write_pages

from memctl.errors import NothingFound
from memctl.notes.workspace import Workspace

CHAT = (
    ("user", "Good morning. Could you look at the tests?"),
    ("assistant", "They are green."),
    ("user", "We decided to move the build to Python 3.13."),
    ("assistant", "Noted."),
    ("user", "Мы решили перенести релиз на 5 декабря."),
    ("assistant", "Хорошо."),
    ("user", "我们决定把数据库迁移到 PostgreSQL 17。"),
)
TOLD = ("Python 3.13", "релиз", "PostgreSQL 17")


@pytest.fixture
def kept(tmp_path: Path) -> tuple[Path, dict[str, str]]:
    """A workspace whose facts were taken from chats/talk.jsonl, and the id of the fact in each language."""
    lines = [json.dumps({"role": role, "content": text}, ensure_ascii=False) for role, text in CHAT]
    root = write_pages(tmp_path, {"chats/talk.jsonl": "\n".join(lines) + "\n"}).root
    assert call(["ingest", "chats/talk.jsonl", "--apply", "--date", "2025-11-29"], root).code == 0
    hits = json.loads(call(["recall", "--since", "2025-11-01", "--json", "-k", "9"], root).out)["hits"]
    return root, {word: hit["id"] for word in TOLD for hit in hits if word in hit["content"]}


def conversation(root: Path, ref: str, *flags: str) -> dict[str, object]:
    """What `show --source --json` says of one fact."""
    found = json.loads(call(["show", ref, "--source", "--json", *flags], root).out)["conversations"]
    assert len(found) == 1
    return dict(found[0])


@pytest.mark.parametrize(("word", "line"), [*zip(TOLD, (3, 5, 7), strict=True)])
def test_the_turn_with_those_around_it(kept: tuple[Path, dict[str, str]], word: str, line: int) -> None:
    """In three languages; the marked turn is the one that says it."""
    root, ids = kept
    shown = call(["show", ids[word], "--source", "-C", "1"], root)
    marked = [each for each in shown.out.splitlines() if each.lstrip().startswith(">")]
    assert shown.code == 0 and len(marked) == 1 and word in marked[0] and "user:" in marked[0]
    assert shown.out.startswith(f"chats/talk.jsonl#L{line} ^{ids[word]}") and not shown.err


@pytest.mark.parametrize("place", ["old/2025/talk.jsonl", "archive/renamed.jsonl", "talk.jsonl"])
def test_a_transcript_that_moved(kept: tuple[Path, dict[str, str]], place: str) -> None:
    """Found by its name or its words, also when lines were put above it; the line says where it was."""
    root, ids = kept
    (root / place).parent.mkdir(parents=True, exist_ok=True)
    old = root / "chats" / "talk.jsonl"
    (root / place).write_text('{"role": "user", "content": "Hello."}\n' + old.read_text("utf-8"), "utf-8")
    old.unlink()
    for word, line in zip(TOLD, (4, 6, 8), strict=True):
        found = conversation(root, ids[word], "-C", "0")
        assert (found["path"], found["cited"]) == (place, f"chats/talk.jsonl#L{line - 1}")
        assert found["turns"][found["said"]]["line"] == line  # type: ignore[index, call-overload]
    assert f"the line says chats/talk.jsonl#L{line - 1}" in call(["show", ids[word], "--source"], root).err


def test_a_transcript_that_is_gone_or_was_never_there(kept: tuple[Path, dict[str, str]]) -> None:
    """Exit 1, what and what to do on a line each; a file that has the name and says something else is not shown."""
    root, ids = kept
    (root / "chats" / "talk.jsonl").write_text('{"role": "user", "content": "Nothing of it."}\n', "utf-8")
    gone = call(["show", ids["релиз"], "--source"], root)
    assert gone.code == 1 and "chats/talk.jsonl#L5" in gone.err and "put the transcript back" in gone.err
    call(["retain", "W: The kettle is blue", "--date", "2025-11-29"], root)
    own = call(["show", "memory/2025-11-29.md#L3", "--source"], root)
    assert own.code == 1 and "does not say in which conversation" in own.err and not own.out


def test_others_than_the_owner_see_no_transcript(kept: tuple[Path, dict[str, str]]) -> None:
    """Where lines are private, a public view answers as if the transcript were gone."""
    root, ids = kept
    call(["retain", "W(private): The PIN is 7391", "--date", "2025-11-29"], root)
    with memory_on(Workspace(root)) as memory:
        assert memory.said_in(ids["релиз"])
        with pytest.raises(NothingFound):
            memory.public().said_in(ids["релиз"])


def test_a_fact_from_the_prose_of_a_log(tmp_path: Path) -> None:
    """Its source is a paragraph of the log, wherever that stands now."""
    log = "memory/2025-11-29.md"
    root = write_pages(tmp_path, {log: "# 2025-11-29\n\nWe moved the build to Python 3.13 today.\n"}).root
    call(["ingest", log, "--apply"], root)
    text = (root / log).read_text("utf-8")
    text = text.replace("\n\nWe", "\n\nLunch.\n\nWe", 1)
    (root / log).write_text(text, "utf-8")
    line = next(number for number, each in enumerate(text.splitlines(), 1) if "src=user:" in each)
    found = conversation(root, f"{log}#L{line}")
    assert found["path"] == log and found["cited"] == f"{log}#L3"
    assert found["turns"][found["said"]]["line"] == 5  # type: ignore[index, call-overload]
