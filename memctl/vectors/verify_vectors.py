"""Verify the vectors: every sum, and how much the search that recall uses misses of what comparing all of them finds."""

from __future__ import annotations

from contextlib import closing

from ..ids import page_id
from ..notes.workspace import Workspace
from .check import VectorsChecked, check_vectors
from .file import has_vectors, open_vectors

__all__ = ["VectorsChecked", "verify_vectors"]


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
