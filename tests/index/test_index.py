"""index/index.py and index/sync.py: pages as rows, kept up, made anew, and proved to be the same."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import cast

import pytest
import sqlite_utils
from store_helpers import LOG, PAGES, make_workspace, synced

import memctl as package
from memctl.errors import CannotWrite
from memctl.index import index as index_module, rows as rows_module
from memctl.index.heal import open_index, open_scratch, with_index
from memctl.index.index import Index
from memctl.index.lexical import select_terms
from memctl.index.queries.entity_names import entities_named, has_entities, listed_names
from memctl.index.queries.entries import dump, embeddable, frequencies, own_lines, rarest
from memctl.index.reread import reread
from memctl.index.row import Row
from memctl.index.rows import rows_of
from memctl.index.sync import build_index as index, verify
from memctl.notes.files import read_page
from memctl.notes.workspace import Workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return make_workspace(tmp_path)


def put(opened: Index, workspace: Workspace, path: str, text: str) -> None:
    (workspace.root / path).parent.mkdir(parents=True, exist_ok=True)
    (workspace.root / path).write_text(text, encoding="utf-8")
    page = read_page(workspace, path)
    with opened.writing():
        opened.put(rows_of(path, page.text), page.status, page.sha256, page.looked_ns, page.warning)


def table(opened: Index, name: str) -> list[tuple[object, ...]]:
    return opened.rows(f"SELECT * FROM {name}")


def test_only_rows_that_differ_are_written(workspace: Workspace) -> None:
    with open_scratch() as opened:
        put(opened, workspace, LOG, PAGES[LOG])
        before = opened.rows("SELECT total_changes()")[0][0]
        put(opened, workspace, LOG, PAGES[LOG] + "- W: One more\n")
        small = opened.rows("SELECT total_changes()")[0][0] - before
        before = opened.rows("SELECT total_changes()")[0][0]
        put(opened, workspace, LOG, "# Else\n\n- All\n- of\n- it\n- is\n- new\n")
        assert small < (opened.rows("SELECT total_changes()")[0][0] - before) / 3
        assert list(dump(opened)) != []


def test_a_page_knows_how_many_of_its_entries_are_embedded(workspace: Workspace) -> None:
    with open_scratch() as opened:
        for path, text in PAGES.items():
            put(opened, workspace, path, text)
        put(
            opened,
            workspace,
            "bank/e.md",
            "# E\n\nA line.\n\n<!-- memctl:begin x -->\nA copy.\n<!-- memctl:end x -->\n",
        )
        counted = "SELECT page.path, count(entry.id) FROM page LEFT JOIN embeddable AS entry ON entry.page = page.id"
        expected = opened.rows(f"{counted} GROUP BY page.id ORDER BY page.path")
        assert opened.rows("SELECT path, embedded FROM page ORDER BY path") == expected
        assert embeddable(opened) == sum(count for _, count in expected) > 9


def test_what_is_remembered_goes_with_every_change(workspace: Workspace) -> None:
    synced(workspace)

    def job(first: Index) -> None:
        asked: list[int] = []

        def count() -> int:
            asked.append(1)
            return int(first.rows("SELECT count(*) FROM entry")[0][0])

        before = first.remembered("n", count)
        assert (first.remembered("n", count), len(asked)) == (before, 1)
        with first.reading():
            assert (first.remembered("n", count), len(asked)) == (before, 1)
        put(first, workspace, "bank/one.md", "# One\n\nline\n")  # its own write
        assert first.remembered("n", count) == before + 2
        with first.writing():
            first.drop("bank/one.md")
            assert first.remembered("n", count) == before  # not kept: it may be rolled back
        with closing(open_index(workspace)) as second:  # another's write
            put(second, workspace, "bank/two.md", "# Two\n\nline\n")
            with first.reading():
                assert first.remembered("n", count) == before + 2
                put(second, workspace, "bank/two.md", "# Two\n")
                assert first.remembered("n", count) == before + 2  # one state for a whole reading
            assert first.remembered("n", count) == before + 1

    with_index(workspace, job)


def test_what_names_mean(workspace: Workspace) -> None:
    with open_scratch() as opened:
        for name in ("Alex Chen", "Alex Petrov", "Irina Volkova", "Atlas"):
            text = f"---\naliases: [{name[0]}., Пётр {name}]\n---\n# {name}\n"
            put(opened, workspace, f"bank/entities/{name.replace(' ', '-')}.md", text)
        found = {
            name: [e.name for e in entities_named(opened, name)]
            for name in ("alex", "Alex Chen", "irina", "A.", "I.", "Пётр", "volkova", "", " ", "\udcff")
        }
        assert sorted(found.pop("alex")) == ["Alex Chen", "Alex Petrov"]
        assert sorted(found.pop("A.")) == ["Alex Chen", "Alex Petrov", "Atlas"]
        assert len(found.pop("Пётр")) == 0
        nobody: list[str] = []
        assert found == {
            "Alex Chen": ["Alex Chen"], "irina": ["Irina Volkova"], "I.": ["Irina Volkova"], "volkova": nobody,
            "": nobody, " ": nobody, "\udcff": nobody,
        }  # fmt: skip
        assert entities_named(opened, "atlas")[0].keys == ("a.", "atlas", "петр atlas")
        assert {n.name for n in listed_names(opened, ["atlas", "none"])["atlas"]} == {"Atlas"}
        assert has_entities(opened)


def test_an_entity_that_goes_between_two_reads_is_not_named(workspace: Workspace) -> None:
    """The names and whose they are come from two statements: another process may drop a page in between."""
    with open_scratch() as opened:
        for name in ("Atlas", "Irina"):
            put(opened, workspace, f"bank/entities/{name}.md", f"# {name}\n")
        with opened.writing():
            opened.rows("DELETE FROM naming WHERE name = 'Atlas'")
        assert [each.name for name in ("atlas", "irina") for each in entities_named(opened, name)] == ["Irina"]


def test_a_page_that_goes_takes_everything_along(workspace: Workspace) -> None:
    with open_scratch() as opened:
        for path, text in PAGES.items():
            put(opened, workspace, path, text)
        for name in ("entry", "mention", "link", "slot", "entity", "alias"):
            assert table(opened, name)
        with opened.writing():
            for path in PAGES:
                opened.drop(path)
        assert list(dump(opened)) == []
        for name in ("page", "entry", "mention", "link", "slot", "entity", "alias", "words"):
            assert table(opened, name) == []


def test_pages_whose_paths_share_a_hash_live_side_by_side(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (rows_module, index_module):
        monkeypatch.setattr(module, "page_id", lambda path: 7)
    texts = {f"bank/{name}.md": f"# {name}\n\n- W @{name}: says {name}\n" for name in ("a", "b", "c")}
    with open_scratch() as opened:
        for path, text in texts.items():
            put(opened, workspace, path, text)
        with opened.writing():
            opened.drop("bank/a.md")
        put(opened, workspace, "bank/c.md", texts["bank/c.md"] + "more\n")
        assert sorted(row[0] for row in opened.rows("SELECT path FROM page")) == ["bank/b.md", "bank/c.md"]
        names = opened.rows("SELECT name FROM mention ORDER BY name")
        assert names == [("b",), ("c",)]
        orphans = opened.rows(
            "SELECT count(*) FROM entry LEFT JOIN page ON page.id = entry.id >> 22 WHERE page.id IS NULL"
        )
        assert orphans == [(0,)]


def test_a_write_that_fails_leaves_no_trace(workspace: Workspace) -> None:
    with open_scratch() as opened:
        put(opened, workspace, LOG, PAGES[LOG])
        before = list(dump(opened))
        with pytest.raises(KeyboardInterrupt), opened.writing():
            opened.drop(LOG)
            raise KeyboardInterrupt
        assert list(dump(opened)) == before


def test_a_reader_sees_one_state(workspace: Workspace) -> None:
    synced(workspace)
    reader, writer = open_index(workspace), open_index(workspace)
    with reader.reading():
        before = reader.rows("SELECT count(*) FROM entry")
        put(writer, workspace, LOG, "# New\n")
        assert reader.rows("SELECT count(*) FROM entry") == before
    assert reader.rows("SELECT count(*) FROM entry") != before
    reader.close()
    writer.close()


def test_a_read_only_index_is_told(workspace: Workspace) -> None:
    synced(workspace)
    db = sqlite3.connect(f"{(workspace.memory / 'index.sqlite').as_uri()}?mode=ro", uri=True, isolation_level=None)
    with pytest.raises(CannotWrite), Index(db, None).writing():
        db.execute("DELETE FROM page")
    db.close()


@pytest.mark.parametrize("name", ["\udcff", "a\ud800b"])
def test_an_argument_that_is_no_text_finds_nothing(workspace: Workspace, name: str) -> None:
    synced(workspace)
    opened = open_index(workspace)
    assert opened.rows("SELECT 1 FROM page WHERE path = ?", (name,)) == []
    assert opened.rows_in("SELECT path FROM page WHERE path IN ({keys})", [name, LOG]) == [(LOG,)]
    opened.close()


def test_a_list_of_any_length(workspace: Workspace) -> None:
    synced(workspace)
    keys = [f"no{number}" for number in range(3000)] + [LOG, "memory.md"]
    found = with_index(workspace, lambda opened: opened.rows_in("SELECT path FROM page WHERE path IN ({keys})", keys))
    assert sorted(found) == [("memory.md",), (LOG,)]


def test_verify_compares_the_index_as_it_stands_and_leaves_nothing_behind(workspace: Workspace) -> None:
    index(workspace)
    (workspace.root / LOG).write_text("# Else\n")
    before = sorted(path.name for path in workspace.memory.iterdir())
    assert verify(workspace).differences
    assert sorted(path.name for path in workspace.memory.iterdir()) == before
    index(workspace)
    assert not verify(workspace).differences


@pytest.mark.parametrize(("page", "before", "after"), [
    ("memory/2025-11-20.md", "---\nsrc: web\n---\n## Retain\n\n- W(key=city) @Peter: Rome\n", "## Retain\n\n- W(key=city) @Peter: Rome\n"),
    ("memory/2025-11-20.md", "| Peter | Milan |\n|---|---|\n| Ann | Oslo |\n\ntext\n\n| Day | Where |\n|---|---|\n| Peter | Milan |\n", None),
    ("notes/a.md", "| Day | Where |\n|---|---|\n| Peter | Milan |\n", "| Peter | Milan |\n|---|---|\n| Day | Where |\n"),
])  # fmt: skip
def test_lines_that_stay_are_read_as_their_page_is_now(
    tmp_path: Path, page: str, before: str, after: str | None
) -> None:
    """Without the front matter that named an origin, and where a row of a table becomes its head."""
    workspace = make_workspace(tmp_path, {page: before})
    index(workspace)
    (workspace.root / page).write_text(before + "\nMore.\n" if after is None else after)
    index(workspace)
    assert not verify(workspace).differences


def test_verify_names_what_differs(workspace: Workspace) -> None:
    index(workspace)

    def meddle(opened: Index) -> None:
        with opened.writing():
            opened.run("UPDATE entry SET heading = 'Elsewhere' WHERE line = 3")

    with_index(workspace, meddle)
    (difference, *_) = verify(workspace).differences
    assert "Elsewhere" in difference
    assert "a rebuild gives" in difference


def test_a_lock_that_is_busy_through_the_command_line(workspace: Workspace) -> None:
    """Exit code 14. The usual 10 s of waiting are cut short."""
    from memctl.cli.call import load, run

    index(workspace)
    (workspace.root / LOG).write_text("# Else\n")
    other = open_index(workspace)
    real = Index.writing
    with pytest.MonkeyPatch.context() as patch, real(other):
        patch.setattr(Index, "writing", lambda self, wait=10.0: real(self, 0.05))
        words = ["index", "-w", str(workspace.root)]
        assert run(load(words), words) == 14
    other.close()


def test_numbered_values_are_bound_by_name() -> None:
    """Python 3.14 refuses a sequence for `?1`, 3.12 and 3.13 warn."""
    bound: list[object] = []

    class Watched:
        def execute(self, sql: str, values: object) -> sqlite3.Cursor:
            bound.append(values)
            return db.execute(sql, values)  # type: ignore[arg-type]

    with closing(sqlite3.connect(":memory:")) as db:
        opened = Index(cast(sqlite3.Connection, Watched()), None)
        assert opened.rows("SELECT ?2, ?1, ?2", (1, "two")) == [("two", 1, "two")]
    assert bound == [{"1": 1, "2": "two"}]


@pytest.mark.parametrize("stays", [False, True])
@pytest.mark.parametrize("budget", [0, 1, 2, 3, 100])
def test_the_rarest_terms_are_those_of_the_whole_counts(workspace: Workspace, budget: int, stays: bool) -> None:
    text = "- W @Alice: The gateway moved to Berlin\n- W: Шлюз переехал в Берлин\n- W: 网关迁到柏林\n"
    with open_scratch() as opened:
        opened.stays = stays
        for day in range(1, 5):
            put(opened, workspace, f"memory/2025-12-0{day}.md", text[: 50 * day])
        wanted = [*(term for (term,) in opened.rows("SELECT term FROM vocabulary")), "nowhere"]
        for asked in (wanted, wanted[::-1], wanted[:2], wanted[-1:], []):
            whole = frequencies(opened, asked, own=True)
            assert rarest(opened, asked, budget) == {term: whole[term] for term in select_terms(whole, budget)}


SCHEMA = (Path(package.__file__).parent / "index" / "schema.sql").read_text("utf-8")


def test_an_entry_keeps_every_column_of_a_row_but_its_terms(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path)
    synced(workspace)
    database = sqlite_utils.Database(workspace.memory / "index.sqlite")
    columns = [column.name for column in database["entry"].columns]
    assert [name for name in Row._fields if name not in columns] == ["path", "own"] and set(columns) <= set(Row._fields)
    assert database["entry"].count == database["words"].count > 0
    tables = {"page", "entry", "mention", "link", "slot", "naming", "named", "words"}
    assert tables <= set(database.table_names())
    database.close()


def test_every_column_of_the_tables_for_lines_has_a_comment() -> None:
    for table in ("page", "entry", "slot"):
        body = SCHEMA.partition(f"CREATE TABLE {table} (")[2].partition("\n)")[0].splitlines()[1:]
        bare = [line.split()[0] for line in body if "--" not in line and "PRIMARY KEY" not in line]
        assert not bare, (table, bare)


MOVED = "bank/notes.md"
LINE = "Пётр keeps the keys, 爱丽丝 the codes."


@pytest.mark.parametrize(
    ("copies", "expected"), [((1,), 3), ((3, 9), 7), ((1, 8), 3), ((0, 3, 10), 7), ((2, 4), 5), ((), None)]
)
def test_a_line_that_moved_is_found_at_its_nearest_copy(
    tmp_path: Path, copies: tuple[int, ...], expected: int | None
) -> None:
    """It stood on line 5; copies stand elsewhere now, and other lines where it was. Without a copy it is gone."""
    workspace = make_workspace(tmp_path, {MOVED: f"One.\n\nTwo.\n\n{LINE}\n"})
    synced(workspace)
    paragraphs = [f"Other {n}." for n in range(12)]
    for number in copies:
        paragraphs[number] = LINE
    (tmp_path / MOVED).write_text("\n\n".join(paragraphs) + "\n", "utf-8")

    def job(opened):
        (entry,) = (e for e in own_lines(opened, MOVED) if e.line == 5)
        return reread(workspace, [entry]).get(entry.id)

    seen = with_index(workspace, job)
    assert (seen and (seen.cited.line, seen.raw)) == (expected and (expected, (LINE,)))
