"""The server of shared memory: a connection to PostgreSQL by psycopg 3, its schema, and every statement that is sent there.

All that can go wrong there is one ServerFailed, with one thing to do; no password is in it.
"""

from __future__ import annotations

import json
import logging
import math
import os
import socket
import time
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from threading import Event, Thread
from typing import Any, NamedTuple

from ..errors import ExtraMissing, MemctlError, Refused, ServerFailed, Usage

logging.getLogger("psycopg").addHandler(logging.NullHandler())  # else it tells of a lost connection beside us

VERSION = 4  # of schema.sql: raise it with every change there
_SETTINGS = "SET LOCAL lock_timeout = '60s'; SET LOCAL idle_in_transaction_session_timeout = '120s'; SET LOCAL search_path = pg_catalog, pg_temp"
_PATIENCE = {
    "connect_timeout": "10", "keepalives_idle": "20", "keepalives_interval": "5", "keepalives_count": "4", "tcp_user_timeout": "40000",
    "application_name": "memctl",
}  # fmt: skip
SILENCE = 90.0  # seconds for an answer: more than those for a lock
_KEPT = 4  # connections that a process that stays keeps open
_SOME = 200  # pages that are sent or fetched together
_DOWN = "see that it runs and that the address is right; everything local works without it"
_CURES = {
    "28P01": "correct the user, or the password in ~/.pgpass or PGPASSWORD",
    "28000": "ask whoever runs the server to let this user in (pg_hba.conf)",
    "3D000": "make that database (createdb), or name another",
    "42501": "ask whoever owns the schema for the right to do that; who publishes first needs CREATE on the database",
    "55P03": "another publishes under that name; let it finish, then run it again",
    "53100": "free space on the server, then run it again",
    "25006": "name the server that takes writes",
}


class SharedWorkspace(NamedTuple):
    """A workspace as the server knows it."""

    workspace: str
    team: str
    generation: str
    revision: int
    removed: int
    head: str
    token: str
    analysis: int
    ttl: str
    model: str
    publisher: str
    published: str
    means: bytes = b""  # of the model: read where they are wanted


class SharedPage(NamedTuple):
    """A page of it; `content` is None where only the rest is asked for. `codes` are vectors by key, `lacking` counts those not there."""

    path: str
    digest: bytes
    head: str
    content: bytes | None = None
    terms: Sequence[str] = ()
    lacking: int = 0
    codes: Mapping[int, bytes] = {}


_BYTEA_ARRAY = 1001  # PostgreSQL's number of that type
_ROW = "workspace, team, generation::text, revision, removed, head, token, analysis, ttl, model, publisher, to_char(published, 'YYYY-MM-DD')"


class SharedServer:
    """A PostgreSQL server by its URL; `transaction` talks to it. `close` lets go of connections that were kept."""

    def __init__(self, url: str, keep: bool = False) -> None:
        try:
            import psycopg
        except ImportError as error:
            raise ExtraMissing("shared", "psycopg") from error
        self._driver: Any = psycopg
        self._url, self._most = url, _KEPT if keep else 0
        self._idle: list[Any] = []
        cure = "write postgresql://USER@HOST:5432/DB, and the password into ~/.pgpass"
        unreadable = Usage("the address of the server cannot be read", cure)
        try:
            self._given: dict[str, Any] = psycopg.conninfo.conninfo_to_dict(url)
        except psycopg.Error:  # whose text may quote the password
            raise unreadable from None
        parts = [str(self._given.get(part)) for part in ("host", "port", "dbname")]
        if any("@" in part for part in parts):  # a part of a password, it may be
            raise unreadable

    @property
    def place(self) -> str:
        """Where it is, as people are told: no user, no password."""
        host = self._given.get("host") or self._given.get("hostaddr") or os.environ.get("PGHOST", "localhost")
        port = self._given.get("port") or os.environ.get("PGPORT", "5432")
        name = self._given.get("dbname") or os.environ.get("PGDATABASE", "")
        return f"{host}:{port}/{name}"

    @contextmanager
    def transaction(self, write: bool = False) -> Iterator[SharedSession]:
        """All or nothing, seen as of one moment. With `write` the schema is made where there is none."""
        try:
            connection = self._connected()
            try:
                with _watched(connection), connection.transaction():
                    mode = "" if write else "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY; "
                    connection.execute(mode + _SETTINGS)
                    if write:
                        _make_schema(connection, self.place)
                    yield SharedSession(connection, self.place, self._checked(connection))
            except BaseException:
                connection.close()
                raise
        except self._driver.Error as error:
            raise self._failed(error) from error
        if len(self._idle) < self._most:
            self._idle.append(connection)
        else:
            connection.close()

    def _connected(self) -> Any:
        with suppress(IndexError):  # none is left, or another thread took it
            while connection := self._idle.pop():
                with suppress(self._driver.Error), _watched(connection):  # the server may have gone, and come back
                    connection.execute("SELECT")
                    return connection
                connection.close()
        patience = {key: value for key, value in _PATIENCE.items() if key not in self._given}
        return self._driver.connect(self._url, autocommit=True, prepare_threshold=None, **patience)

    def close(self) -> None:
        """Close the connections that were kept."""
        for connection in self._idle:
            connection.close()
        self._idle.clear()

    def _checked(self, connection: Any) -> str:
        """The id of the server. ServerFailed for a schema that is missing, older or newer than this program's."""
        errors = self._driver.errors
        try:
            version, server = connection.execute("SELECT version, server::text FROM memctl.meta").fetchone()
        except (errors.UndefinedTable, errors.InvalidSchemaName) as error:
            what = f"{self.place} holds no shared memory"
            raise ServerFailed(what, "`memctl publish` puts a workspace there") from error
        if version == VERSION:
            return str(server)
        what = f"the schema at {self.place} is version {version}, and this memctl speaks version {VERSION}"
        again = (
            "let its owner DROP SCHEMA memctl CASCADE, then publish again from every workspace: all there is derived"
        )
        raise ServerFailed(what, "update memctl" if version > VERSION else again)

    def _failed(self, error: Any) -> MemctlError:
        """What happened, in a line without the password, and what to do."""
        told = " ".join(str(error).split()) or type(error).__name__
        for secret in filter(None, (self._given.get("password"), os.environ.get("PGPASSWORD"), self._url)):
            told = told.replace(str(secret), "***")
        wrong = "28P01" if "password authentication failed" in told or "no password supplied" in told else None
        cure = _CURES.get(error.sqlstate or wrong or "", _DOWN)
        return ServerFailed(f"shared memory at {self.place}: {told[:300]}", cure)


@contextmanager
def _watched(connection: Any) -> Iterator[None]:
    """Leave a server that was asked and says nothing, as one that is gone."""
    over, wait, until = Event(), connection.wait, [math.inf]

    def answered(steps: Any, *more: Any, **named: Any) -> Any:  # psycopg waits there for every answer
        until[0] = time.monotonic() + SILENCE
        try:
            return wait(moving(steps), *more, **named)
        finally:
            until[0] = math.inf

    def moving(steps: Any) -> Any:
        ready = None
        while True:
            if ready:  # a part was sent or came; nothing did where the time of a step is over
                until[0] = time.monotonic() + SILENCE
            try:
                waiting_for = steps.send(ready)
            except StopIteration as end:
                return end.value
            ready = yield waiting_for

    def watch() -> None:
        while not over.wait(SILENCE / 9):
            if time.monotonic() > until[0]:
                return line.shutdown(socket.SHUT_RDWR)

    connection.wait = answered
    with socket.fromfd(connection.fileno(), socket.AF_INET, socket.SOCK_STREAM) as line:
        Thread(target=watch, daemon=True).start()
        try:
            yield
        finally:
            over.set()
            del connection.wait


def _make_schema(connection: Any, place: str) -> None:
    """Make the tables where there are none."""
    there = "SELECT to_regclass('memctl.meta') IS NOT NULL"
    if connection.execute(there).fetchone()[0]:
        return
    if (encoding := connection.execute("SHOW server_encoding").fetchone()[0]) != "UTF8":
        what = f"the database at {place} is encoded in {encoding}"
        raise ServerFailed(what, "make another: createdb -E UTF8 -T template0")
    connection.execute("SELECT pg_advisory_xact_lock(hashtext('memctl'))")
    if not connection.execute(there).fetchone()[0]:  # another process may have been quicker
        connection.execute((Path(__file__).parent / "schema.sql").read_text("utf-8"))
        connection.execute("INSERT INTO memctl.meta (version) VALUES (%s)", [VERSION])


def _as_text(codes: Iterable[bytes]) -> str:
    """Vectors as an array of a type of pgvector."""
    told = ",".join(str([*memoryview(code).cast("b")]) for code in codes)
    return "{" + told.replace("[", '"[').replace("]", ']"') + "}"


class SharedSession:
    """One transaction; `server` is the id of the server."""

    def __init__(self, connection: Any, place: str, server: str) -> None:
        self._connection, self.place, self.server = connection, place, server

    def _rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        return list(self._connection.execute(sql, values).fetchall())

    def _names(self, sql: str, *values: Any) -> list[str]:
        return [name for (name,) in self._rows(sql, *values)]

    def workspaces(self, names: Sequence[str]) -> dict[str, SharedWorkspace]:
        """Those of these names that one may see."""
        found = self._rows(f"SELECT {_ROW} FROM memctl.workspaces WHERE workspace = ANY(%s)", list(names))
        return {row[0]: SharedWorkspace(*row) for row in found}

    def count(self) -> int:
        """How many there are that one may see."""
        return int(self._rows("SELECT count(*) FROM memctl.workspaces")[0][0])

    def newest(self, most: int) -> list[str]:
        """The names of those that were published last."""
        sql = "SELECT workspace FROM memctl.workspaces ORDER BY memctl.workspaces.published DESC, workspace LIMIT %s"
        return self._names(sql, most)

    def holding(self, words: Sequence[str]) -> Iterator[tuple[str, str]]:
        """(workspace, word) for each of these words that stands on one of its pages."""
        yield from self._connection.execute("SELECT workspace, word FROM memctl.holding(%s)", [list(words)])

    def analysed_otherwise(self, analysis: int) -> list[str]:
        """The workspaces whose terms were made by another version: what they hold is not known."""
        return self._names("SELECT workspace FROM memctl.workspaces WHERE analysis <> %s", analysis)

    def paths(self, name: str) -> list[str]:
        """The paths of every page of a workspace."""
        return self._names("SELECT path FROM memctl.pages WHERE workspace = %s", name)

    def changed(self, name: str, since: int) -> Iterator[SharedPage]:
        """The pages that came or changed after a revision."""
        sql = "SELECT path, digest, head, content FROM memctl.pages WHERE workspace = %s AND revision > %s"
        with self._connection.cursor(name="changed") as cursor:
            cursor.itersize = _SOME
            for row in cursor.execute(sql, [name, since]):
                yield SharedPage(*row)

    def means(self, name: str) -> bytes:
        """The means of the model whose vectors a workspace has."""
        return bytes(self._rows("SELECT means FROM memctl.workspaces WHERE workspace = %s", name)[0][0])

    def codes(self, name: str, paths: Sequence[str], keys: Sequence[int]) -> Iterator[tuple[int, bytes]]:
        """The vectors of some texts on some pages, by key. ValueError for what is none."""
        sql = "SELECT key, code FROM memctl.pages, unnest(keys, codes) AS its (key, code) WHERE workspace = %s AND path = ANY(%s) AND key = ANY(%s)"
        for key, code in self._rows(sql, name, list(paths), list(keys)):
            try:  # the types of pgvector come as text
                yield key, code if isinstance(code, bytes) else array("b", json.loads(code)).tobytes()
            except (TypeError, OverflowError) as error:
                raise ValueError(str(code)[:80]) from error

    def claim(self, name: str, team: str | None) -> SharedWorkspace:
        """The workspace of that name, made if there is none, for this transaction alone. Refused if another team has it."""
        is_in = "SELECT 1 FROM pg_roles WHERE rolname = %s AND pg_has_role(oid, 'MEMBER')"
        if team is not None and not self._rows(is_in, team):
            cure = f'there: CREATE ROLE "{team}"; GRANT "{team}" TO you'
            raise Usage(f"you are in no team {team!r} at {self.place}", cure)
        sql = "INSERT INTO memctl.workspaces (workspace, team) VALUES (%s, coalesce(%s, current_user)) ON CONFLICT DO NOTHING"
        self._connection.execute(sql, [name, team])
        found = self._rows(f"SELECT {_ROW} FROM memctl.workspaces WHERE workspace = %s FOR UPDATE", name)
        if not found:
            raise Refused(f"the name {name} is taken by another team", "publish under another: --as NAME")
        return SharedWorkspace(*found[0])

    def known(self, name: str) -> dict[str, SharedPage]:
        """What the server has of each page, but for its content."""
        sql = "SELECT path, digest, head, NULL, NULL, lacking FROM memctl.pages WHERE workspace = %s"
        return {row[0]: SharedPage(*row) for row in self._rows(sql, name)}

    def write(
        self, before: SharedWorkspace, after: SharedWorkspace, pages: Iterator[SharedPage], cited: Mapping[str, str],
        removed: Sequence[str], told: Callable[[int], object],
    ) -> None:  # fmt: skip
        """Bring a published workspace up to date: send pages, some at a time; `told` is called with how many were sent.

        `cited` are pages that are as they were, and stand in a commit now.
        """
        name, revision, run = after.workspace, after.revision, self._connection.execute
        sql = (
            "UPDATE memctl.workspaces SET team = %s, revision = %s, removed = %s, head = %s, token = %s, analysis = %s, ttl = %s, "
            "model = %s, means = %s, publisher = current_user, published = now() WHERE workspace = %s"
        )
        run(sql, [*after[1:2], *after[3:10], after.means, name])
        if after.team != before.team:
            run("UPDATE memctl.pages SET team = %s WHERE workspace = %s", [after.team, name])
        sql = (
            "INSERT INTO memctl.pages (workspace, team, revision, path, digest, head, content, terms, lacking, keys, codes) "
            "VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s) ON CONFLICT (workspace, path, team) DO UPDATE SET "
            "revision = excluded.revision, digest = excluded.digest, head = excluded.head, "
            "content = excluded.content, terms = excluded.terms, lacking = excluded.lacking, keys = excluded.keys, codes = excluded.codes"
        )
        type_ = run("SELECT codes FROM memctl.pages LIMIT 0").description[0].type_code
        spelled = list if type_ == _BYTEA_ARRAY else _as_text
        rows = ((name, after.team, revision, *page[:-1], [*page.codes], spelled(page.codes.values())) for page in pages)
        count = 0
        with self._connection.cursor() as cursor:
            while some := list(islice(rows, _SOME)):
                cursor.executemany(sql, some)
                count += len(some)
                told(count)
            sql = "UPDATE memctl.pages SET head = %s, revision = %s WHERE workspace = %s AND path = %s"
            cursor.executemany(sql, [(head, revision, name, path) for path, head in cited.items()])
        run("DELETE FROM memctl.pages WHERE workspace = %s AND path = ANY(%s)", [name, list(removed)])

    def withdraw(self, name: str) -> bool:
        """Take a workspace away with all of its pages; False if there is none of that name."""
        return bool(self._rows("DELETE FROM memctl.workspaces WHERE workspace = %s RETURNING 1", name))
