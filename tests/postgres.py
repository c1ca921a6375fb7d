"""A PostgreSQL server of one's own: a data folder, a free port on loopback, passwords; for tests/shared and the load test.

Its programs are those of the wheel `pgserver`, else of the system. Started by root, it runs as somebody else.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

ADMIN, PASSWORD = "keeper", "Tr0ub4dor-and-3"
_NOBODY = 65534


def programs() -> Path | None:
    """The folder of initdb and postgres; None where there is none."""
    spec = importlib.util.find_spec("pgserver")
    wheel = [Path(spec.origin).parent / "pginstall" / "bin"] if spec and spec.origin else []
    system = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    found = shutil.which("initdb")
    for folder in (*wheel, *system, *([Path(found).parent] if found else [])):
        if (folder / "initdb").exists() and (folder / "postgres").exists():
            return folder
    return None


class Postgres:
    """A server; `start`, `kill` (as a power failure would) and `stop` it, make users, ask for its URL."""

    def __init__(self, folder: Path, **settings: str) -> None:
        found = programs()
        assert found, "no PostgreSQL: install pgserver, or the package postgresql of the system"
        self._bin, self._folder, self._settings = found, folder, settings
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None
        self._as: dict[str, Any] = {}
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            self._as = {"user": _NOBODY, "group": _NOBODY, "extra_groups": []}
            if not _anybody_reaches(found / "initdb"):  # a clone or an environment that only root may enter
                self._bin = folder / "programs" / "pgserver" / "pginstall" / "bin"
                shutil.copytree(found.parent, self._bin.parent, symlinks=True)
                if (libraries := found.parents[2] / "pgserver.libs").exists():
                    shutil.copytree(libraries, folder / "programs" / "pgserver.libs")
            for name in (folder, *folder.rglob("*")):
                os.chown(name, _NOBODY, _NOBODY, follow_symlinks=False)
        password = folder / "password"
        password.write_text(PASSWORD)
        if self._as:
            os.chown(password, _NOBODY, _NOBODY)
        self._run(
            "initdb", "-D", "data", "-U", ADMIN, "-A", "scram-sha-256", "--pwfile", str(password), "-E", "UTF8", "--no-locale", "-N",
        )  # fmt: skip
        self.start()
        self.sql("CREATE DATABASE memctl", database="postgres")

    def _run(self, program: str, *words: str) -> None:
        env = {"PATH": os.environ["PATH"], "LC_ALL": "C"}
        command = [self._bin / program, *words]
        subprocess.run(command, cwd=self._folder, check=True, capture_output=True, env=env, **self._as)

    def start(self) -> None:
        """Start it, and wait until it answers."""
        given = {"listen_addresses": "127.0.0.1", "port": str(self.port), "unix_socket_directories": ""}
        given |= {"fsync": "off", "max_connections": "200"}
        options = [word for name, value in (given | self._settings).items() for word in ("-c", f"{name}={value}")]
        self._process, told = None, ""
        for _ in range(2_000):  # tries, a twentieth of a second apart
            if self._process is None:
                with open(self._folder / "log", "ab") as log:
                    self._process = subprocess.Popen(
                        [self._bin / "postgres", "-D", "data", *options], cwd=self._folder, stdout=log, stderr=log,
                        env={"PATH": os.environ["PATH"], "LC_ALL": "C"}, start_new_session=True, **self._as,
                    )  # fmt: skip
            try:
                self.sql("SELECT 1", database="postgres")
                return
            except Exception:
                told = (self._folder / "log").read_text()[-2000:]
                if self._process.poll() is not None:
                    assert "is still in use" in told, told  # a process of the one that was killed is not gone yet
                    self._process = None
                time.sleep(0.05)
        raise AssertionError(told)

    @property
    def runs(self) -> bool:
        """False after `kill` and `stop`."""
        return self._process is not None

    def kill(self) -> None:
        """SIGKILL to all of its processes: each is a session of its own, and would finish what it is at."""
        if self._process:
            others = [pid for (pid,) in self.sql("SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()")]
            os.kill(self._process.pid, signal.SIGSTOP)  # it would start them anew
            for pid in (*others, self._process.pid):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            self._process.wait()
        (self._folder / "data" / "postmaster.pid").unlink(missing_ok=True)
        self._process = None

    def stop(self) -> None:
        """End it."""
        if self._process:
            self._process.send_signal(signal.SIGQUIT)
            self._process.wait()
        self._process = None

    def url(self, user: str = ADMIN, password: str = PASSWORD, database: str = "memctl") -> str:
        """Its address for a user."""
        return f"postgresql://{user}:{password}@127.0.0.1:{self.port}/{database}"

    def sql(self, text: str, *values: object, database: str = "memctl") -> list[tuple[Any, ...]]:
        """What a statement answers to its administrator."""
        import psycopg

        with psycopg.connect(self.url(database=database), autocommit=True, connect_timeout=5) as connection:
            cursor = connection.execute(text.encode(), values or None)
            return cursor.fetchall() if cursor.description else []

    def add_user(self, name: str, *teams: str) -> str:
        """Make a user who is a member of these teams, and each team that is not there; the URL for it."""
        self.sql(f"CREATE ROLE {name} LOGIN PASSWORD '{PASSWORD}'")
        for team in teams:
            if not self.sql("SELECT 1 FROM pg_roles WHERE rolname = %s", team):
                self.sql(f"CREATE ROLE {team}")
            self.sql(f"GRANT {team} TO {name}")
        return self.url(name)


def free_port() -> int:
    """A port on which nobody listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _anybody_reaches(path: Path) -> bool:
    whole = path.resolve()
    return all(place.stat().st_mode & 1 for place in (whole, *whole.parents))


def folder_for_server() -> Path:
    """A folder that whoever the server runs as may enter."""
    place = next((place for place in (tempfile.gettempdir(), "/tmp") if _anybody_reaches(Path(place))), None)
    folder = Path(tempfile.mkdtemp(prefix="memctl-pg-", dir=place))
    folder.chmod(0o755)
    return folder
