"""R13: stop embedding, or let the disk fail, at every system call of it that changes the workspace.

Words answer as before; the next pass completes, and the file of vectors is what an undisturbed pass makes.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from hash_embedder import HashEmbedder, packs
from store_helpers import make_workspace, memctl, rebuilt, rows, strays
from torture.kill_points import HAS_STRACE, NotReached, Point, Scene, run, stop_at

from memctl.index.open_memory import OpenMemory
from memctl.index.sync import build_index as index
from memctl.notes.workspace import Workspace
from memctl.vectors.embed import EmbedReport, embed

# `memctl index` with a model that is there in every process; errors are told as the command line tells them.
EMBED = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent.parent)!r})
from hash_embedder import HashEmbedder
from memctl.vectors import models
models.choose = lambda workspace: HashEmbedder()
from memctl.cli.call import load, run
words = ["index", "-w", sys.argv[1]]
sys.exit(run(load(words), words))
"""


def embedded(workspace: Workspace) -> EmbedReport:
    """Words and vectors brought up to date in this process."""
    index(workspace)
    return OpenMemory(workspace).run(lambda kept: embed(kept, HashEmbedder()))


def _fresh(root: Path) -> Workspace:
    workspace = make_workspace(root)
    index(workspace)
    return workspace


def _behind(root: Path) -> Workspace:
    workspace = make_workspace(root)
    embedded(workspace)
    (root / "bank/decisions/new.md").write_text("# New\n\nSomething @Peter decided.\n")
    (root / "bank/entities/Atlas.md").unlink()
    return workspace


def _another_model(root: Path) -> Workspace:
    workspace = make_workspace(root)
    index(workspace)
    OpenMemory(workspace).run(lambda kept: embed(kept, HashEmbedder("old")))
    return workspace


def _damaged(root: Path) -> Workspace:
    workspace = make_workspace(root)
    embedded(workspace)
    path = workspace.memory / "vectors.sqlite"
    data = path.read_bytes()
    path.write_bytes(data[:100] + bytes(len(data) - 100))
    return workspace


SCENES = (
    Scene("embed, first time", _fresh, script=EMBED),
    Scene("embed, behind", _behind, script=EMBED),
    Scene("embed, another model", _another_model, script=EMBED),
    Scene("embed, damaged", _damaged, script=EMBED),
)


def after(scene: Scene, point: Point, root: Path, how: str) -> str | None:
    """What is wrong after a stop or a failing call at a point, or None."""
    workspace, code, _, _, stderr = stop_at(scene, point, root, how)
    if how.startswith("signal"):
        if code == 0:
            raise NotReached
    elif "Traceback" in stderr or "unexpected" in stderr or code not in (0, 13):
        return f"exit {code}: {stderr.strip()[-200:]}"
    if memctl("recall", "PostgreSQL", cwd=root).returncode != 0:
        return "no answer by words"
    if rows(workspace) != rebuilt(workspace):
        return "index differs from a rebuild"
    again = embedded(workspace)
    if again.missing or again.stopped:
        return f"the next pass does not complete: {again}"
    if packs(workspace) != packs(Workspace(root.parent / "first")):
        return "vectors differ from those of an undisturbed pass"
    return f"left behind: {strays(workspace)}" if strays(workspace) else None


def main(short: bool = False) -> bool:
    """Print a line for kills and for each error; True if nothing went wrong."""
    if not HAS_STRACE:
        print("R13 skipped: strace is not installed")
        return True
    failed: list[str] = []
    for how in ("signal=SIGKILL", "error=ENOSPC", "error=EIO"):
        every = (24 if how.startswith("signal") else 72) if short else 1
        tried, wrong, missed = run(SCENES, partial(after, how=how), every)
        left = f" not reached {missed}" if missed else ""
        print(f"R13 embedding, {how} points {tried} violations {len(wrong)}{left}")
        failed += wrong
    for line in failed:
        print(f"   {line}")
    return not failed
