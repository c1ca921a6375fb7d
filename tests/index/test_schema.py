"""The index's schema, seen from outside: it fits on a screen, and every column says what it is."""

from __future__ import annotations

from pathlib import Path

import sqlite_utils
from store_helpers import make_workspace, synced

import memctl
from memctl.index.row import Row

SCHEMA = (Path(memctl.__file__).parent / "index" / "schema.sql").read_text("utf-8")


def test_it_fits_on_a_screen_or_two() -> None:
    assert SCHEMA.count("\n") <= 130


def test_an_entry_keeps_every_column_of_a_row_but_its_terms(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path)
    synced(workspace)
    database = sqlite_utils.Database(workspace.memory / "index.sqlite")
    columns = [column.name for column in database["entry"].columns]
    assert [name for name in Row._fields if name not in columns] == ["path", "own"] and set(columns) <= set(Row._fields)
    assert database["entry"].count == database["words"].count > 0
    tables = {"page", "entry", "mention", "link", "slot", "entity", "named", "words"}
    assert tables <= set(database.table_names())
    database.close()


def test_every_column_of_the_tables_for_lines_has_a_comment() -> None:
    for table in ("page", "entry", "slot"):
        body = SCHEMA.partition(f"CREATE TABLE {table} (")[2].partition("\n)")[0].splitlines()[1:]
        bare = [line.split()[0] for line in body if "--" not in line and "PRIMARY KEY" not in line]
        assert not bare, (table, bare)
