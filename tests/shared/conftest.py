"""A real server for the session, with two teams; each test finds it without shared memory."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator

import pytest
from postgres import Postgres, folder_for_server, programs

from memctl.shared.server import SharedServer


@pytest.fixture(scope="session")
def _running() -> Iterator[Postgres]:
    if programs() is None:
        missing = "no PostgreSQL here: install pgserver (pip) or postgresql (the system's)"
        if os.environ.get("CI"):
            pytest.fail(missing)
        pytest.skip(missing)
    folder = folder_for_server()
    server = Postgres(folder)
    for name, team in (("alice", "atlas"), ("bob", "atlas"), ("carol", "birch")):
        server.add_user(name, team)
    yield server
    server.stop()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def server(_running: Postgres) -> Postgres:
    """The server with its schema and no workspace: alice and bob are of team atlas, carol of birch, the schema is the keeper's."""
    if not _running.runs:  # a test that killed it has failed
        _running.start()
    _running.sql("DROP SCHEMA IF EXISTS memctl CASCADE")
    with SharedServer(_running.url()).transaction(write=True):
        return _running
