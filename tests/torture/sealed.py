"""S17: the text of sealed lines outside the terminal that opened them: nowhere, and at no moment of a run.

A watcher reads every file of workspace, home and TMPDIR and the arguments and environment of every process meanwhile. What a
terminal shows is looked at too: an opened text stands on its second screen alone, and what is typed at the prompt nowhere.
"""

from __future__ import annotations

import contextlib
import os
import re
import select
import subprocess
import sys
import threading
from base64 import b64encode
from collections.abc import Iterator, Sequence
from pathlib import Path

SECRETS = ("Kestrel-4711-over-the-weir", "Пустельга над плотиной 90210", "红隼飞过水坝四七一一")
_SECOND = re.compile(rb"\x1b\[\?1049h.*?\x1b\[\?1049l", re.DOTALL)


def _forms(secret: str) -> list[bytes]:
    raw = secret.encode()
    return [raw, secret.encode("utf-16-le"), b64encode(raw), raw.hex().encode(), ascii(secret)[1:-1].encode()]


FORMS = [form for secret in SECRETS for form in _forms(secret)]


def _told(data: bytes) -> bool:
    return any(form in data for form in FORMS)


def _places(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Every file below a folder, and what the kernel tells of every other process."""
    own = str(os.getpid())
    tasks = [p for p in Path("/proc").glob("[0-9]*") if p.name != own] if Path("/proc").is_dir() else []
    every = [*folder.rglob("*"), *(task / name for task in tasks for name in ("cmdline", "environ"))]
    for path in every:
        with contextlib.suppress(OSError):
            if path.is_file():
                yield str(path), path.read_bytes()


class Run:
    """A workspace with a vault in a folder of its own, commands run in it, and where a text was seen that must not be."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.seen = folder, set[str]()
        for name in ("tmp", "home", "notes"):
            (folder / name).mkdir()
        kept = {name: value for name, value in os.environ.items() if not name.startswith("MEMCTL_")}
        self.env = kept | {
            "MEMCTL_VECTORS": "none", "TMPDIR": str(folder / "tmp"), "HOME": str(folder / "home"), "TERM": "xterm",
            "XDG_CONFIG_HOME": str(folder / "home"), "PYTHONPATH": str(Path(__file__).parents[2]),
        }  # fmt: skip

    def watch(self, stop: threading.Event) -> None:
        """Look everywhere again and again until `stop`, and once more."""
        while True:
            last = stop.is_set()
            self.seen.update(where for where, data in _places(self.folder) if _told(data))
            if last:
                return

    def piped(self, *words: str, stdin: str = "") -> str:
        """A command whose streams are pipes; none of them may tell."""
        done = subprocess.run(
            [sys.executable, "-m", "memctl", *words], cwd=self.folder / "notes", env=self.env,
            input=stdin.encode(), capture_output=True, check=False,
        )  # fmt: skip
        if _told(done.stdout + done.stderr):
            self.seen.add(f"the output of {words[0]}")
        return done.stdout.decode()

    def typed(self, *words: str, keys: str) -> bytes:
        """All that a terminal showed of a command while `keys` were typed; on its first screen nothing may tell."""
        import pty

        ours, theirs = pty.openpty()
        with subprocess.Popen(
            [sys.executable, "-m", "memctl", *words], cwd=self.folder / "notes", env=self.env,
            stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
        ) as process:  # fmt: skip
            os.close(theirs)
            shown, waiting = b"", True
            with contextlib.suppress(OSError):  # the other end is closed
                while process.poll() is None or select.select([ours], [], [], 0)[0]:
                    if select.select([ours], [], [], 0.05)[0]:
                        shown += os.read(ours, 65536)
                    if waiting and shown.rstrip().endswith((b"Text:", b"here")):  # a prompt: echo is off by now
                        waiting = bool(os.write(ours, keys.encode()) < 0)
        os.close(ours)
        if _told(_SECOND.sub(b"", shown)):
            self.seen.add(f"the first screen of {words[0]}")
        return shown


COMMANDS = ("vault rekey", "reflect", "context code --private", "export", "check", "index", "recall code --json")


def leaks(folder: Path, secrets: Sequence[str], commands: Sequence[str]) -> tuple[int, set[str]]:
    """How many texts were opened on a second screen, and every other place where one was seen."""
    run, stop, opened = Run(folder), threading.Event(), 0
    watcher = threading.Thread(target=run.watch, args=(stop,))
    watcher.start()
    try:
        run.piped("init", "--vault")
        for secret in secrets:
            run.typed("retain", "--sealed", "--about", "Home", "--cue", "code", keys=f"{secret}\n")
            kept = run.piped("retain", "--sealed", "--about", "Home", stdin=secret)
            opened += _told(run.typed("show", kept.split()[-1], "--unseal", keys="\n"))
        opened += _told(run.typed("recall", "code", "--unseal", keys="\n"))
        for words in commands:
            run.piped(*words.split())
    finally:
        stop.set()
        watcher.join()
    return opened, run.seen
