"""R1, R2: stop a command, or let the disk fail, at every system call of it that changes the workspace.

strace counts the calls: a first run lists those that touch the workspace, then one run for each stops exactly there.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from face_helpers import memory_on
from store_helpers import DAY, LOG, environment, make_workspace, memctl, rebuilt, rows, strays, synced

from memctl.index.sync import verify
from memctl.notes import edits as replacing
from memctl.notes.workspace import Workspace, find_workspace
from memctl.reflect.reflect import reflect

CALLS = (
    "openat", "write", "pwrite64", "fsync", "fdatasync", "ftruncate", "rename", "renameat2", "unlink", "mkdir", "link", "linkat",
    "fchmod", "fchown",
)  # fmt: skip
FACT = "The kettle is in the Fjord room"
HAS_STRACE = shutil.which("strace") is not None
_LINE = re.compile(r"^\d+\s+(?P<call>\w+)\((?P<rest>.*)$")


@dataclass(frozen=True)
class Point:
    """The `number`-th `call` of a process; `what` is what it does, for the report."""

    call: str
    number: int
    what: str


class NotReached(Exception):
    """The process came to its end before: under load it makes other calls, and fewer, than when they were counted."""


@dataclass(frozen=True)
class Scene:
    """A workspace before, and the command (or `script`, which gets the folder as its argument) that runs in it.

    Where it `rewrites` pages, each is old or new after any stop, and a second run finishes: no file holds what is `gone`.
    """

    name: str
    prepare: Callable[[Path], Workspace]
    words: tuple[str, ...] = ()
    script: str = ""
    rewrites: bool = False
    gone: bytes = b""

    def run(self, root: Path, before: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
        """Run it in a process of its own behind the words of `before`."""
        if not self.script:
            return memctl(*self.words, "-w", str(root), before=before)
        return subprocess.run(
            [*before, sys.executable, "-c", self.script, str(root)], capture_output=True, text=True, timeout=60, errors="replace",
            env=environment(),
        )  # fmt: skip


def _bare(root: Path) -> Workspace:
    return make_workspace(root, {"memory.md": "# Memory\n"})


def _no_index(root: Path) -> Workspace:
    return make_workspace(root)


def _indexed(root: Path) -> Workspace:
    workspace = make_workspace(root)
    synced(workspace)
    return workspace


def _behind(root: Path) -> Workspace:
    workspace = _indexed(root)
    (root / "bank/decisions/new.md").write_text("# New\n\nSomething @Peter decided.\n")
    (root / "bank/entities/Atlas.md").unlink()
    return workspace


def _damaged(root: Path) -> Workspace:
    workspace = _indexed(root)
    with open(workspace.memory / "index.sqlite", "r+b") as stream:
        stream.seek(8192)
        stream.write(bytes(4096))
    return workspace


# What reflect does to a page, and nothing else; errors are told as the command line tells them.
REPLACE = """
import sys
from memctl.errors import MemctlError
from memctl.notes.edits import replace, writing_alone
from memctl.notes.workspace import Workspace
from memctl.markdown.blocks import splice
from pathlib import Path
workspace = Workspace(Path(sys.argv[1]))
try:
    with writing_alone(workspace, "reflect"):
        for path in PATHS:
            page = workspace.root / path
            before = page.read_bytes() if page.exists() else None
            replace(workspace, path, before, splice((before or b"").decode(), "now", "- Runs on port 8080").encode())
except MemctlError as error:
    sys.exit(print(f"{error.what}\\n  {error.cure}", file=sys.stderr) or error.exit_code)
"""


def _replacing(*paths: str) -> str:
    return REPLACE.replace("PATHS", repr(paths))


SCENES = (
    Scene("retain, first of its day, no folder", _bare, ("retain", FACT)),
    Scene("retain, indexed", _indexed, ("retain", FACT)),
    Scene("index, none yet", _no_index, ("index",)),
    Scene("index, behind", _behind, ("index",)),
    Scene("index --rebuild", _indexed, ("index", "--rebuild")),
    Scene("index, damaged", _damaged, ("index",)),
    Scene("index --verify", _behind, ("index", "--verify")),
    Scene("replace a page", _no_index, script=_replacing("bank/entities/Atlas.md"), rewrites=True),
    Scene("replace, a new page in a new folder", _bare, script=_replacing("bank/entities/Atlas.md"), rewrites=True),
    Scene(
        "replace three pages",
        _no_index,
        script=_replacing("memory.md", "bank/entities/Peter.md", "bank/x.md"),
        rewrites=True,
    ),
)


# Facts about three entities, a belief with evidence and a strategy: what makes reflect write six pages.
_REFLECTED = {
    LOG: (
        "# 2025-11-27\n\n## Retain\n\n- W(key=db) @Atlas: The database is PostgreSQL 16\n- W @Atlas @Peter: Peter leads Atlas\n"
        "- O(0.7) @Peter: Peter prefers concise replies\n- B(outcome=ok,task=deploy) @Atlas: Deployed with a canary\n"
        "- W @Peter: Peter lives in Oslo\n- B(outcome=ok,task=deploy) @Atlas: Deployed with a canary again\n"
        "- W @Fjord: The kettle is in the Fjord room\n- W @Fjord: The Fjord room has six chairs\n"
    ),
    "bank/entities/Atlas.md": "# Atlas\n\nMine.\n",
    "bank/opinions.md": "# Opinions\n\nMine too.\n",
    "memory.md": "# Memory\n",
}


def _reflected(root: Path) -> Workspace:
    return make_workspace(root, _REFLECTED)


def reflected_before(root: Path) -> Workspace:
    """Reflected yesterday; today there is more to say on every page."""
    workspace = make_workspace(root, _REFLECTED)
    reflect(memory_on(workspace, DAY))
    more = "# 2025-11-26\n\n## Retain\n\n" + "".join(
        f"- {line}\n"
        for line in (
            "W(key=db) @Atlas: The database is PostgreSQL 17", "O(0.9) @Peter: Peter prefers concise replies to long ones",
            "B(outcome=fail,task=deploy) @Atlas: Deployed by hand", "W @Peter: Peter has a dog",
            "W @Fjord: The Fjord room has a window",
        )
    )  # fmt: skip
    (root / "memory/2025-11-26.md").write_text(more)
    return workspace


def _reflected_all(root: Path) -> Workspace:
    workspace = reflected_before(root)
    reflect(memory_on(workspace, DAY))
    return workspace


REFLECTING = (
    Scene("reflect, first time", _reflected, ("reflect",), rewrites=True),
    Scene("reflect, all pages change", reflected_before, ("reflect",), rewrites=True),
    Scene(
        "forget",
        _reflected_all,
        ("forget", "--about", "Peter", "--include-exempt", "--apply"),
        rewrites=True,
        gone=b"has a dog",
    ),
)


def points(scene: Scene, root: Path) -> list[Point]:
    """Every call of the command that changes something in the workspace, in order."""
    scene.prepare(root)
    log = root.parent / "calls.txt"
    done = scene.run(root, ("strace", "-f", "--seccomp-bpf", "-y", "-o", str(log), "-e", f"trace={','.join(CALLS)}"))
    assert done.returncode == 0, done.stderr
    counted: Counter[str] = Counter()
    found = []
    for line in log.read_text(errors="replace").splitlines():
        match = _LINE.match(line)
        if not match or match["call"] not in CALLS:
            continue
        counted[match["call"]] += 1
        reads_only = match["call"] == "openat" and "O_CREAT" not in match["rest"] and "O_TRUNC" not in match["rest"]
        if str(root) in match["rest"] and not reads_only:
            found.append(Point(match["call"], counted[match["call"]], match["rest"][:100]))
    return found


def stop_at(scene: Scene, point: Point, root: Path, how: str) -> tuple[Workspace, int, str, str, str]:
    """Run the command with `how` (`signal=SIGKILL`, `error=ENOSPC`) at a point: workspace, code, log before, output."""
    workspace = scene.prepare(root)
    log = root / LOG
    before = log.read_text(encoding="utf-8") if log.exists() else ""
    # Not with --seccomp-bpf: there some injected signals come too late.
    calls = root.parent / f"{root.name}.txt"
    injected = f"inject={point.call}:{how}:when={point.number}"
    done = scene.run(root, ("strace", "-f", "-y", "-o", str(calls), "-e", f"trace={point.call}", "-e", injected))
    lines = [line for line in calls.read_text(errors="replace").splitlines() if _LINE.match(line)]
    calls.unlink()
    hit = lines[-1:] if how.startswith("signal") else [line for line in lines if "(INJECTED)" in line]
    if not any(str(root) in line for line in hit):
        raise NotReached  # the calls of two runs are not quite the same, and this one was another
    return workspace, done.returncode, before, done.stdout, done.stderr


def _page_is_whole(root: Path, before: str) -> str | None:
    """The log is as it was, or as it should be; a page just created may still be empty."""
    log = root / LOG
    now = log.read_text(encoding="utf-8") if log.exists() else ""
    new = f"{before}- W: {FACT}\n" if before else f"# {DAY}\n\n## Retain\n\n- W: {FACT}\n"
    return None if now in (before, new) else f"torn page {now[-60:]!r}"


def pages_of(root: Path) -> dict[str, bytes]:
    """Every page by path; the random ids of tombstones are all the same."""
    pages = (path for path in root.rglob("*.md") if ".memory" not in path.parts)
    return {p.relative_to(root).as_posix(): re.sub(rb"\bx-[0-9a-f]{10}\b", b"x-0", p.read_bytes()) for p in pages}


def _rewritten(scene: Scene, root: Path, told: int, said: str) -> str | None:
    """What is wrong with pages after a stop, against those before and those of an undisturbed run; then it runs again."""
    before = pages_of(scene.prepare(root.parent / "before").root)
    shutil.rmtree(root.parent / "before")
    good = pages_of(root.parent / "first")
    now = pages_of(root)
    for path in {*before, *good, *now}:
        # All names get their pages before any is told: one just created may hold its heading alone, as a log may be empty.
        heading = good.get(path, b"").partition(b"\n")[0] + b"\n" if path not in before else None
        if now.get(path) not in (before.get(path), good.get(path), heading):
            return f"{path} is neither old nor new: {now.get(path, b'')[-60:]!r}"
    if told == 0 and now != good and "not written again" not in said:
        return "success, but not all pages are written"
    again = scene.run(root)
    if again.returncode not in (0, 1):  # 1: nothing is left to forget
        return f"the next run: exit {again.returncode} {again.stderr[-200:]}"
    young, replacing.STALE_SECONDS = replacing.STALE_SECONDS, -1.0
    with replacing.writing_alone(Workspace(root), "reflect"):
        replacing.STALE_SECONDS = young
    if pages_of(root) != good:
        return "the next run does not finish the job"
    kept = [str(p) for p in root.rglob("*") if p.is_file() and scene.gone and scene.gone in p.read_bytes()]
    return f"what was forgotten is still in {kept}" if kept else None


def after_kill(scene: Scene, point: Point, root: Path) -> str | None:
    """What is wrong after a kill -9 at a point, or None. NotReached if the process never came there."""
    workspace, code, before, stdout, stderr = stop_at(scene, point, root, "signal=SIGKILL")
    if code == 0:
        raise NotReached
    torn = _rewritten(scene, root, code, stderr) if scene.rewrites else _page_is_whole(root, before)
    if torn:
        return torn
    if stdout.startswith("memory/") and FACT not in (root / LOG).read_text(encoding="utf-8"):
        return "acknowledged and lost"
    workspace = find_workspace(str(root), {}, root)
    if rows(workspace) != rebuilt(workspace) or verify(workspace).differences:
        return "index differs from a rebuild"
    if (workspace.memory / ".gitignore").read_bytes()[-2:] != b"*\n":
        return ".gitignore is torn"
    return f"left behind: {strays(workspace)}" if strays(workspace) else None


def after_error(scene: Scene, point: Point, root: Path, error: str) -> str | None:
    """What is wrong after a failing call, or None: success is said of what is there, failure of what is not."""
    workspace, code, before, stdout, stderr = stop_at(scene, point, root, f"error={error}")
    if "Traceback" in stderr or "unexpected" in stderr or code not in (0, 13):
        return f"exit {code}: {stderr.strip()[-200:]}"
    torn = _rewritten(scene, root, code, stderr) if scene.rewrites else _page_is_whole(root, before)
    if torn:
        return torn
    if scene.words[:1] == ("retain",):
        kept = (root / LOG).exists() and FACT in (root / LOG).read_text(encoding="utf-8")
        said = "memory/2025-11-27.md#L" in stdout
        if code == 0 and not (kept and said):
            return "success without the fact"
        if code == 13 and kept and "stands there" not in stderr:
            return "an error for a fact that is there"
        if code == 13 and "\n  " not in stderr:
            return f"no cure: {stderr}"
    if rows(workspace) != rebuilt(workspace):
        return "index differs from a rebuild"
    return f"left behind: {strays(workspace)}" if strays(workspace) else None


def run(
    scenes: Sequence[Scene], check: Callable[[Scene, Point, Path], str | None], every: int = 1
) -> tuple[int, list[str], int]:
    """(how many points, what went wrong, how many more were not reached) over the scenes; with `every` = n only each n-th."""
    tried, wrong, missed = 0, [], 0
    for scene in scenes:
        with tempfile.TemporaryDirectory() as folder:
            base = Path(folder).resolve()
            for number, point in enumerate(points(scene, base / "first")[::every]):
                try:
                    problem = check(scene, point, base / str(number))
                except NotReached:
                    problem, missed = None, missed + 1
                else:
                    tried += 1
                if problem:
                    wrong.append(f"{scene.name} at {point.call} {point.what[:70]}: {problem}")
                shutil.rmtree(base / str(number))
    return tried, wrong, missed


def main(short: bool = False) -> bool:
    if not HAS_STRACE:
        print("R1 R2 skipped: strace is not installed")
        return True
    failed: list[str] = []
    for name, scenes, every in (("", SCENES, 12), (" of reflect", REFLECTING, 60)):
        every = every if short else 1
        tried, wrong, missed = run(scenes, after_kill, every)
        print(f"R1 kill points{name} {tried} violations {len(wrong)}{f' not reached {missed}' if missed else ''}")
        failed += wrong
        for error in ("ENOSPC", "EIO"):
            third = every * 3 if short else 1
            tried, wrong, _ = run(scenes, lambda scene, point, root: after_error(scene, point, root, error), third)  # noqa: B023
            print(f"R2 {error} points{name} {tried} violations {len(wrong)}")
            failed += wrong
    for line in failed:
        print(f"   {line}")
    return not failed
