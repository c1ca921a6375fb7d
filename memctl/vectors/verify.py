"""Looks at every vector, and at what the quick search misses of them."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping
from contextlib import closing
from typing import Any, NamedTuple

from ..ids import page_id
from ..markdown.escape import many
from ..notes.workspace import Workspace
from .file import Vectors, open_vectors
from .matrix import Matrix
from .quantized import Code, codes_of
from .tables import read_pack

_FIRST = 10  # recall@10
_SECONDS = 10.0  # in which vectors are asked to be checked
_MARGIN = 1e-9  # of two that are equally like the question either will do


class VectorsChecked(NamedTuple):
    """How many vectors and texts were looked at, and what was found."""

    vectors: int
    texts: int
    problems: tuple[str, ...]  # what is wrong, one line each
    asked: int  # stored vectors that were asked for their neighbours, each without itself
    recall: float | None  # recall@10 over these; None where nothing could be asked


def verify_vectors(workspace: Workspace) -> VectorsChecked | None:
    """None where there are no vectors. Ten seconds at most for the questions."""
    notes: list[str] = []  # empty where there is no file
    vectors = open_vectors(workspace, notes.append)
    if vectors is None:
        return VectorsChecked(0, 0, tuple(notes), 0, None) if notes else None
    with closing(vectors):
        return check_vectors(vectors, {page_id(page.path): page.path for page in workspace.scan()})


def check_vectors(vectors: Vectors, paths: Mapping[int, str], most: int = 100) -> VectorsChecked:
    """Check sums, names and signs; then ask up to `most` stored vectors, for ten seconds. `paths` name the pages."""
    rows = {row[0]: row for row in vectors.texts()}
    damaged = sum(1 for _ in vectors.rows("SELECT key FROM code")) - len(rows)
    problems = [f"{many(damaged, 'text is', 'texts are')} damaged"] if damaged else []
    packs = [read_pack(row, vectors.head.dim) for row in vectors.rows("SELECT * FROM pack")]
    sound = [pack for pack in packs if pack]
    if len(sound) < len(packs):
        problems.append(f"{many(len(packs) - len(sound), 'page is', 'pages are')} damaged")
    width = vectors.head.dim + 7 >> 3
    for pack in sound:
        held = pack.all_keys()
        page = paths.get(pack.page, "a page that is gone")
        lost = sum(key not in rows for key in held)
        if lost:
            problems.append(f"{page}: {many(lost, 'vector is', 'vectors are')} not there")
        elif pack.signs != b"".join([rows[key][4][:width] for key in held]):
            problems.append(f"{page}: signs that are not those of its vectors")
    if problems:
        vectors.complain()
    keys = [key for pack in sound for key in pack.all_keys()]
    spread = list(dict.fromkeys(keys[:: max(1, len(keys) // most)]))[:most]
    asked, recall = _recall(vectors, rows, spread)
    return VectorsChecked(len(keys), len(rows), tuple(problems), asked, recall)


def _recall(vectors: Vectors, rows: dict[int, tuple[Any, ...]], keys: Iterable[int]) -> tuple[int, float | None]:
    """How many were asked, and the share of the true ten that the search finds."""
    try:
        matrix = Matrix.load(vectors)
    except ImportError:
        matrix = None
    entries = defaultdict[int, set[int]](set)  # key of a text -> the entries that have its vector
    for pack in vectors.packs().values():
        for entry, key, _ in pack.vectors():
            entries[key].add(entry)
    deadline = time.monotonic() + _SECONDS
    shares: list[float] = []
    for key in keys:
        if key not in rows or (shares and time.monotonic() > deadline):
            continue
        _, script, norm, _, planes, _ = rows[key]
        code = Code(script, norm, codes_of(planes, vectors.head.dim))
        own = entries.get(key, set())
        wanted = _FIRST + len(own)
        exact = matrix.scan(code, None, wanted) if matrix else vectors.scan(code, None, wanted, exact=True)
        true = [value for entry, value in exact.cosines.items() if entry not in own][:_FIRST]
        found = [value for entry, value in vectors.scan(code, None, wanted).cosines.items() if entry not in own]
        if true:
            shares.append(sum(value >= true[-1] - _MARGIN for value in found[: len(true)]) / len(true))
    return len(shares), sum(shares) / len(shares) if shares else None
