"""Where `export` writes: a text, or a SQLite file of plain rows, in place of the last one. The only user of sqlite-utils."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..errors import CannotWrite, ExtraMissing, Usage
from ..notes.system import OPEN_SAFELY
from ..notes.workspace import Workspace

__all__ = ["replace_file", "target_of", "write_tables"]


def target_of(path: Path, workspace: Workspace) -> Path:
    """The file behind `path`; Usage for what may not be replaced: a folder, a device, anything that the workspace lives on."""
    try:
        target = path.resolve()
        taken = target.exists() and not target.is_file()
    except (OSError, RuntimeError, ValueError) as error:
        raise CannotWrite(str(path), getattr(error, "strerror", None) or str(error)) from error
    if taken:
        raise Usage(f"{path} is {'a folder' if target.is_dir() else 'no regular file'}", "name a file")
    if target.is_relative_to(workspace.root):
        name = target.relative_to(workspace.root)
        if name.suffix.lower() in (".md", ".markdown", ".toml") or name.parts[0].startswith("."):
            raise Usage(f"{path} is, or would be, a part of the workspace", "name another file, or leave --output out")
    return target


def write_tables(path: Path, tables: Mapping[str, tuple[str | tuple[str, ...], Iterable[Mapping[str, Any]]]]) -> None:
    """Write each table (primary key, rows) into a new SQLite file that then takes the place of `path`.

    ExtraMissing without sqlite-utils, CannotWrite where the disk is full or the folder may not be written.
    """
    try:
        from sqlite_utils import Database
    except ImportError:
        raise ExtraMissing("export", "what writes SQLite tables (sqlite-utils)") from None
    import sqlite3

    made = _beside(path)
    try:
        database = Database(made)
        for name, (key, rows) in tables.items():
            database.table(name).insert_all(map(dict, rows), pk=key, batch_size=1000)
        database.close()
        os.replace(made, path)
    except (OSError, sqlite3.Error) as error:
        raise CannotWrite(str(path), getattr(error, "strerror", None) or str(error)) from error
    finally:
        with suppress(FileNotFoundError):
            made.unlink()


def replace_file(path: Path, pieces: Iterable[str]) -> None:
    """Write text into a new file that then takes the place of `path`; CannotWrite as above."""
    made = _beside(path)
    try:
        with open(made, "w", encoding="utf-8", newline="") as stream:
            stream.writelines(pieces)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(made, path)
    except OSError as error:
        raise CannotWrite(str(path), error.strerror or str(error)) from error
    finally:
        with suppress(FileNotFoundError):
            made.unlink()


def _beside(path: Path) -> Path:
    """A new file in the same folder: with the mode of the one that it will replace, else with what the user's mask gives."""
    made = path.with_name(f".memctl-{secrets.token_hex(8)}{path.suffix}")
    try:
        mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else None
        os.close(os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL | OPEN_SAFELY, 0o666 if mode is None else 0o600))
        if mode is not None:
            os.chmod(made, mode)
    except OSError as error:
        raise CannotWrite(str(path), error.strerror or str(error)) from error
    return made
