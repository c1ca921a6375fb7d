"""`memctl index` as a person or a program sees it: words first, which others can use at once, then the vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import MemctlError
from .call import Call
from .printing import print_index, report_json

if TYPE_CHECKING:
    from ..index.sync import SyncReport
    from ..vectors.embed import EmbedReport

__all__ = ["print_and_embed"]


def print_and_embed(call: Call, report: SyncReport, rebuilt: bool, vectors: bool) -> int:
    """Print what a sync did, embed what has no vector yet, and print that too.

    What kept it from embedding is raised at the end, when all else is told.
    """
    if not call.out.json:
        print_index(call, report)
        call.out.flush()  # embedding may take hours
    done, problem = _embed(call) if vectors else (None, None)
    problem = problem or (done.problem if done else None)
    if call.out.json:
        call.out.raw_json(report_json(report) | {"vectors": _json(done, problem)})
    elif done:
        _print(call, done, rebuilt)
    if problem:
        raise problem
    return 0


def _embed(call: Call) -> tuple[EmbedReport | None, MemctlError | None]:
    from ..vectors.embed import embed_workspace

    try:
        with call.out.progress("embedding (words are ready)") as progress:
            return embed_workspace(call.workspace, progress), None
    except MemctlError as error:
        return None, error
    except KeyboardInterrupt as stop:
        for line in stop.args:
            call.out.note(line)
        raise


def _print(call: Call, done: EmbedReport, rebuilt: bool) -> None:
    speed = f" in {done.seconds:,.1f} s, {done.rate:,.1f} a second" if done.made else ""
    covered = f"{done.entries - done.missing:,} of {done.entries:,} entries have vectors"
    call.out.line(f"{done.made:,} embedded with {done.model}{speed}; {covered}")
    if rebuilt and done.entries > done.made:
        call.out.note("vectors are kept: each belongs to its text, whatever becomes of the index")
    if done.stopped and not done.problem:
        call.out.note(done.stopped)


def _json(done: EmbedReport | None, problem: MemctlError | None) -> dict[str, Any] | None:
    if done is None:
        return {"problem": problem.what} if problem else None
    counts = {"model": done.model, "embedded": done.made, "entries": done.entries, "missing": done.missing}
    return counts | {"seconds": round(done.seconds, 3), "stopped": done.stopped}
