"""What must be true of a page that reflect wrote: nothing of a person's is lost, and every citation stands for a line."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from face_helpers import snapshot

from memctl.beliefs.opinions_page import LEDGER, read_entries
from memctl.facts import Citation
from memctl.index.rows import rows_of
from memctl.markdown.escape import sources
from memctl.markdown.lines import split_lines
from memctl.markdown.markers import body_of
from memctl.markdown.page import live_blocks
from memctl.notes.workspace import Workspace

WHOLE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")


def outside(text: str, blocks: Collection[str] = (LEDGER,)) -> list[str]:
    """The lines of a page, with their ends, that stand in none of these blocks and, where reflect's own is among them, in no belief."""
    bare = text.removeprefix("\ufeff")
    inside = {n for b in live_blocks(split_lines(bare)) if b.name in blocks for n in range(b.begin, b.end + 1)}
    if LEDGER in blocks:
        inside |= {n for e in read_entries(text)[0] for n in range(e.span.line, e.end + 1)}
    return [line for n, line in enumerate(WHOLE.findall(bare), 1) if n not in inside]


def is_subsequence(lines: Sequence[str], others: Sequence[str]) -> bool:
    """True if all lines stand among the others, in order; the last one may have got a line end."""
    left = iter(others)
    return all(any(found == line or found.rstrip("\r\n") == line for found in left) for line in lines)


def lines_of(made: Workspace) -> dict[str, tuple[object, str]]:
    """Where the line with each id stands, and its origin, from the files alone."""
    found: dict[str, tuple[object, str]] = {}
    for path, data in sorted(snapshot(made.root).items()):
        if path.endswith(".md") and path != "bank/opinions.md":
            for row in rows_of(path, data.decode()).rows:
                if row.block is None:
                    found.setdefault(row.ref, (Citation(path, row.line, row.end_line), row.origin))
    return found


def citations(made: Workspace) -> Iterator[tuple[str, str, tuple[int, int], str]]:
    """Page, cited path, cited lines and id of everything that reflect cites anywhere in bank/."""
    for page, data in snapshot(made.root).items():
        if page.startswith("bank/") and page.endswith(".md"):
            lines = split_lines(data.decode())
            for block in live_blocks(lines):
                for source in sources("\n".join(body_of(lines, block)), page):
                    if source.lines:
                        yield page, source.path, (source.lines.line, source.lines.end_line), source.ref
            if page == "bank/opinions.md":
                for entry in read_entries(data.decode())[0]:
                    for _, bullet in entry.bullets:
                        if bullet.citation:
                            yield page, *cited(bullet)


def cited(bullet: object) -> tuple[str, tuple[int, int], str]:
    """The citation of a piece of evidence as `citations` gives it."""
    citation = bullet.citation  # type: ignore[attr-defined]
    return citation.path, (citation.line, citation.end_line), bullet.ref or ""  # type: ignore[attr-defined]


def check_citations(made: Workspace) -> int:
    """Every citation stands for a line with its id; returns how many there were."""
    pages = {
        path: rows_of(path, data.decode()).rows for path, data in snapshot(made.root).items() if path.endswith(".md")
    }
    count = 0
    for page, path, span, ref in citations(made):
        found = [row for row in pages.get(path, ()) if (row.line, row.end_line) == span]
        assert found, f"{page} cites {path}#L{span[0]}, which is no line"
        assert not ref or ref in {row.ref for row in found}, (
            f"{page} cites {path}#L{span[0]} as ^{ref}, not {found[0].ref}"
        )
        count += 1
    there = lines_of(made)
    for entry in read_entries((made.root / "bank/opinions.md").read_text("utf-8"))[0]:
        for _, bullet in entry.bullets:
            assert not (bullet.gone and bullet.ref in there), bullet
    return count
