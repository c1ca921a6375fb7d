"""Export: plain data out. Facts as they stand now, and the history of every belief, a row for each piece of evidence.

A file takes the place of the last one as a whole. The only user of sqlite-utils.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from ..beliefs.view import beliefs
from ..errors import CannotWrite, ExtraMissing, Usage
from ..facts import Fact, fields, is_trusted
from ..hits import Hit
from ..index.open_memory import OpenMemory
from ..index.queries.entries import Query, by_ids, fact_ids
from ..index.queries.filters import condition_of
from ..index.sync import sync
from ..markdown.grammar import render
from ..notes.workspace import Workspace
from ..recall.entry_hits import hits_of
from ..recall.recall import resolve_about
from ..system import OPEN_SAFELY

_AT_ONCE = 500  # facts that are judged and read again together


class Exported(NamedTuple):
    """A table: the columns that tell one row from another, and its rows, each with the same columns."""

    key: tuple[str, ...]
    rows: list[dict[str, Any]]


def export(memory: OpenMemory, what: str, query: Query) -> Exported:
    """Every fact within the query's filters, or every belief about its first name with its whole history."""
    if what not in ("facts", "beliefs"):
        raise Usage(f"there is no export of {what!r}", "facts or beliefs")
    if what == "facts":
        return Exported(("path", "line"), memory.run(lambda memory: _fact_rows(memory, query)))
    return Exported(("belief", "number"), list(_belief_rows(memory, query)))


def _fact_rows(memory: OpenMemory, query: Query) -> list[dict[str, Any]]:
    """Oldest first. What the words of a query ask plays no part. A fact that was replaced stands in its row with what replaced it."""
    index = memory.index
    # Half a memory is not an export: take the time that it takes.
    if stale := memory.telling(sync(memory.workspace, index, progress=memory.progress)).stale:
        memory.tell(f"stale, so rows are missing: {stale}")
    about, warnings = resolve_about(index, query)
    for warning in warnings:
        memory.tell(warning)
    ids = fact_ids(index, condition_of(query, about))
    rows: list[dict[str, Any]] = []
    for start in range(0, len(ids), _AT_ONCE):
        some = ids[start : start + _AT_ONCE]
        entries = by_ids(index, some)
        hits = hits_of(memory, (entries[i] for i in some), as_of=query.as_of).values()
        rows += map(_row, hits)
        memory.progress(len(rows), len(ids), "reading")
    return rows


_TOLD = (
    "id=ref kind day valid_from=valid.first valid_to=valid.last entities content key=fact.key confidence importance "
    "outcome=fact.outcome task=fact.task why=fact.why origin"
)
_STANDS = (
    "private superseded_by expired retracted source path=source.path line=source.line end_line=source.end_line heading"
)


def _row(hit: Hit) -> dict[str, Any]:
    fact = hit.fact or Fact(hit.kind, hit.content)
    told = fields(replace(hit, fact=fact), _TOLD) | {"trusted": is_trusted(hit.origin)}
    return told | fields(hit, _STANDS) | {"attributes": dict(fact.extra), "written": render(fact)}


def _belief_rows(memory: OpenMemory, query: Query) -> Iterator[dict[str, Any]]:
    """A row for each piece of evidence, belief after belief, oldest first.

    `confidence` is what followed from the evidence up to there, `now` what the belief stands at.
    """
    for view in beliefs(memory, about=query.about[0] if query.about else None, as_of=query.as_of):
        for number, bullet in enumerate(view.evidence, 1):
            is_stated = bullet.after is None and bullet.verdict != "superseded"
            row = {"belief": view.ref, "number": number} | fields(bullet, "day verdict strength stated=number")
            row["confidence"] = bullet.number if is_stated else bullet.after
            row |= fields(bullet, "evidence=ref source=citation") | {"reason": bullet.reason or None}
            row |= fields(view, "text entities") | {"now": round(view.ledger.confidence, 4)}
            yield row | fields(view, "contested=ledger.contested trend=ledger.trend over place")


def export_target(path: Path, workspace: Workspace) -> Path:
    """The file behind `path`; Usage for what may not be replaced: a link, a folder, a device, anything that the workspace lives on."""
    if path.is_symlink():
        raise Usage(f"{path} is a symbolic link", "name the file itself, or remove the link")
    try:
        target = path.resolve()
        taken = target.exists() and not target.is_file()
    except (OSError, RuntimeError, ValueError) as error:
        raise CannotWrite(str(path), getattr(error, "strerror", None) or str(error)) from error
    if taken:
        raise Usage(f"{path} is {'a folder' if target.is_dir() else 'not a regular file'}", "name a file")
    if target.is_relative_to(workspace.root):
        name = target.relative_to(workspace.root)
        if name.suffix.lower() in (".md", ".markdown", ".toml") or name.parts[0].startswith("."):
            raise Usage(f"{path} is, or would be, a part of the workspace", "name another file, or leave --output out")
    return target


def write_export(path: Path, workspace: Workspace, content: Iterable[str] | Mapping[str, Exported]) -> None:
    """Write text, or tables as a SQLite file, in place of what stands at `path`.

    ExtraMissing without sqlite-utils, CannotWrite where the disk is full or the folder may not be written.
    """
    target = export_target(path, workspace)
    if isinstance(content, Mapping):
        try:
            from sqlite_utils import Database
        except ImportError:
            raise ExtraMissing("export", "what writes SQLite tables (sqlite-utils)") from None
        with _replacing(target) as made:
            database = Database(made)
            for name, table in content.items():
                database.table(name).insert_all(map(dict, table.rows), pk=table.key, batch_size=1000)
            database.close()
    else:
        with _replacing(target) as made, open(made, "w", encoding="utf-8", newline="") as stream:
            stream.writelines(content)
            stream.flush()
            os.fsync(stream.fileno())


@contextmanager
def _replacing(path: Path) -> Iterator[Path]:
    """A new file in the same folder, to be written; it takes the place of `path` afterwards, unless there was an error.

    It has the mode of the file that it replaces; a new one is its owner's alone to read.
    """
    made = path.with_name(f".memctl-{secrets.token_hex(8)}{path.suffix}")
    try:
        mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else None
        os.close(os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL | OPEN_SAFELY, 0o600))
        if mode is not None:
            os.chmod(made, mode)
        yield made
        os.replace(made, path)
    except (OSError, sqlite3.Error) as error:
        raise CannotWrite(str(path), getattr(error, "strerror", None) or str(error)) from error
    finally:
        with suppress(OSError):
            made.unlink()
