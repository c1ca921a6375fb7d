"""Injections: what is told, quoted or recalled is not done, not believed, and not printed as a live command (scorecard S14)."""

from __future__ import annotations

from pathlib import Path

from face_helpers import write_pages
from torture import injections


def test_no_injection_gets_through(tmp_path: Path) -> None:
    """Over act, memory, HTTP and MCP, in three languages."""
    count, done = injections.executed()
    assert count >= 300 and done == 0
    workspace = write_pages(tmp_path, injections.pages())
    assert injections.ingested(workspace) == (count, 0)
    assert injections.believed(workspace) == (21, 0)
    count, live = injections.printed(workspace)
    assert count > 80 and live == 0
    assert injections.unfenced(workspace) == (21, 0)
