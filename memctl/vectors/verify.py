"""Look at every vector of a file, and at how much the quick search misses of what comparing all of them finds."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from contextlib import closing
from typing import Any, NamedTuple

from ..ids import page_id
from ..markdown.escape import many
from ..notes.workspace import Workspace
from .file import Vectors, has_vectors, open_vectors
from .quantized import Code, CodeQuery, codes_of
from .tables import read_pack

_FIRST = 10  # recall@10
_MARGIN = 1e-9  # of two that are equally like the question either will do


class VectorsChecked(NamedTuple):
    """How many vectors and texts were looked at, what is wrong (one line each), and recall@10 over `asked` questions.

    `recall` is None where nothing could be asked. The questions are stored vectors themselves, each without itself.
    """

    vectors: int
    texts: int
    problems: tuple[str, ...]
    asked: int
    recall: float | None


def verify_vectors(workspace: Workspace) -> VectorsChecked | None:
    """None where there are no vectors. Ten seconds at most for the questions."""
    if not has_vectors(workspace):
        return None
    notes: list[str] = []
    vectors = open_vectors(workspace, note=notes.append)
    if vectors is None:
        return VectorsChecked(0, 0, tuple(notes), 0, None)
    with closing(vectors):
        return check_vectors(vectors, paths={page_id(page.path): page.path for page in workspace.scan()})


def check_vectors(
    vectors: Vectors, most: int = 100, seconds: float = 10.0, paths: Mapping[int, str] | None = None
) -> VectorsChecked:
    """Check sums, names and signs; then ask up to `most` stored vectors, for so long. `paths` name the pages."""
    rows = {row[0]: row for row in vectors.texts()}  # what is not sound is said below, with its number
    damaged = vectors.total_rows() - len(rows)
    problems = [f"{many(damaged, 'text is', 'texts are')} damaged"] if damaged else []
    packs = [read_pack(row, vectors.dim) for row in vectors.pages()]
    sound = [pack for pack in packs if pack]
    if len(sound) < len(packs):
        problems.append(f"{many(len(packs) - len(sound), 'page is', 'pages are')} damaged")
    width = vectors.dim + 7 >> 3
    for pack in sound:
        keys = pack.all_keys()
        page = (paths or {}).get(pack.page, "a page that is gone")
        lost = sum(key not in rows for key in keys)
        if lost:
            problems.append(f"{page}: {many(lost, 'vector is', 'vectors are')} not there")
        elif pack.signs != b"".join([rows[key][4][:width] for key in keys]):
            problems.append(f"{page}: signs that are not those of its vectors")
    if problems:
        vectors.complain()
    asked, recall = _recall(
        vectors, rows, _spread_out([key for pack in sound for key in pack.all_keys()], most), seconds
    )
    return VectorsChecked(sum(pack.rows for pack in sound), len(rows), tuple(problems), asked, recall)


def _spread_out(keys: list[int], most: int) -> list[int]:
    """Some of them, from all pages, none twice."""
    return list(dict.fromkeys(keys[:: max(1, len(keys) // most)]))[:most]


def _recall(
    vectors: Vectors, rows: dict[int, tuple[Any, ...]], keys: Iterable[int], seconds: float
) -> tuple[int, float | None]:
    """How many were asked, and the share of the true ten that the search finds."""
    matrix = vectors.matrix(load=True)
    entries = _entries(vectors)
    deadline = time.monotonic() + seconds
    shares: list[float] = []
    for key in keys:
        if key not in rows or (shares and time.monotonic() > deadline):
            continue
        _, script, norm, _, planes, _ = rows[key]
        code = Code(script, norm, codes_of(planes, vectors.dim))
        own = entries.get(key, set())
        wanted = _FIRST + len(own)
        exact = matrix.scan(code, None, wanted).cosines if matrix else _compared(code, rows, entries, wanted)
        true = [value for entry, value in exact.items() if entry not in own][:_FIRST]
        found = [value for entry, value in vectors.scan(code, None, wanted).cosines.items() if entry not in own]
        if true:
            shares.append(sum(value >= true[-1] - _MARGIN for value in found[: len(true)]) / len(true))
    return len(shares), sum(shares) / len(shares) if shares else None


def _entries(vectors: Vectors) -> dict[int, set[int]]:
    """Key of a text -> the entries that have its vector."""
    found: dict[int, set[int]] = {}
    for entry, key, _ in vectors.named():
        found.setdefault(key, set()).add(entry)
    return found


def _compared(
    code: Code, rows: dict[int, tuple[Any, ...]], entries: dict[int, set[int]], limit: int
) -> dict[int, float]:
    """All compared, without numpy."""
    asked = CodeQuery(code)
    best: dict[int, float] = {}
    for key, owners in entries.items():
        value = asked.cosine(*rows[key][2:5]) if key in rows else -2.0
        for entry in owners:
            if value > best.get(entry, -2.0):
                best[entry] = value
    return dict(sorted(best.items(), key=lambda pair: (-pair[1], pair[0]))[:limit])
