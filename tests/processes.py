"""`memctl` as a process of its own, forked from one that has its modules loaded: a tenth of the time of a new interpreter."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from multiprocessing import get_context
from multiprocessing.context import BaseContext
from multiprocessing.process import BaseProcess
from pathlib import Path

_MODULES = [
    "memctl.cli.remember", "memctl.cli.agents", "memctl.memory", "memctl.recall.recall", "memctl.index.sync",
    "memctl.retain.retain", "memctl.reflect.reflect", "memctl.maintenance.status", "pytest",  # what torture/races.py has
]  # fmt: skip

PATIENT = "from memctl.agents import hooks; hooks._SECONDS.update(dict.fromkeys(hooks._SECONDS, 50.0))"  # a busy machine is no reason for silence


def forkserver() -> BaseContext:
    """Where new processes are forked from one that has these modules."""
    context = get_context("forkserver")
    context.set_forkserver_preload(_MODULES)
    return context


def start_memctl(
    words: Sequence[str], environ: Mapping[str, str], cwd: Path | str | None, files: list[str], powerless: bool = False
) -> BaseProcess:
    """`memctl WORDS…` as a process with its own environment and end, as a shell would start it; `files` are its three streams.

    A powerless one may do what modes of files allow, though root started it.
    """
    given = (list(words), dict(environ), str(cwd or os.getcwd()), files, powerless)
    process = forkserver().Process(target=_begin, args=given)
    process.start()
    return process


def run_memctl(
    words: Sequence[str],
    data: bytes,
    environ: Mapping[str, str],
    cwd: Path | str | None,
    seconds: float,
    powerless: bool = False,
) -> subprocess.CompletedProcess[bytes]:
    """What `memctl WORDS…` answers in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, name) for name in ("in", "out", "err")]
        Path(paths[0]).write_bytes(data)
        process = start_memctl(words, environ, cwd, paths, powerless)
        process.join(seconds)
        if process.exitcode is None:
            process.kill()
            process.join()
            raise subprocess.TimeoutExpired(list(words), seconds)
        out, err = (Path(path).read_bytes() for path in paths[1:])
    return subprocess.CompletedProcess(list(words), process.exitcode, out, err)


def _begin(words: list[str], environ: dict[str, str], cwd: str, paths: list[str], powerless: bool) -> None:
    """In the new process: what the interpreter does at its start, then the program."""
    if powerless and os.geteuid() == 0:  # Linux: no capability is left (linux/capability.h), nor comes back with exec
        libc = ctypes.CDLL(None)
        libc.prctl(28, 1)
        assert libc.capset((ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()) == 0
    os.environ.clear()
    os.environ.update(environ)
    os.chdir(cwd)
    for number, path in enumerate(paths):
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND if number else os.O_RDONLY)
        os.dup2(fd, number)
        os.close(fd)
    sys.stdin = open(0, encoding="utf-8", errors="surrogateescape", closefd=False)  # noqa: SIM115 - for the whole run
    sys.stdout = open(1, "w", encoding="utf-8", errors="surrogateescape", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
    sys.argv = ["memctl", *words]
    exec(PATIENT if words[:1] == ["hook"] else "")
    from memctl.__main__ import main

    sys.exit(main())
