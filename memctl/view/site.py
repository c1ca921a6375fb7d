"""The workspace as pages to look at, which only read: as files (`memctl view --out`), or page by page (`memctl serve`).

Every page is made by a template that escapes whatever a line, a name or a file says. No page has a script, a style of its
own or anything from elsewhere; private and sealed lines are in none, because all is read through the public view.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, cached_property, partial
from html import escape
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from ..beliefs.view import BeliefView, beliefs
from ..conflicts.listing import conflicts
from ..errors import MemctlError, Usage
from ..facts import Citation, Period, grouped
from ..ids import hashed
from ..index.open_memory import OpenMemory, on_fresh_index
from ..index.queries.entries import Query, days_of_pages, entry_count
from ..index.reread import page_lines
from ..language.names import entity_key
from ..markdown.escape import many, printable, sources
from ..recall.lookup import EntityLine, list_entities
from ..recall.recall import recall_in
from ..review.collect import open_questions, questions
from ..review.question import last_shown
from ..system import as_cannot_write
from .charts import chart_style, curve_chart, graph_chart, timeline_chart
from .pictures import ViewWritten, graph_in, timeline_in

POLICY = "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'"
"""The Content-Security-Policy of every page: its stylesheets, which are files, and nothing else."""

T = TypeVar("T")
_FOLDER = Path(__file__).with_name("templates")
NAMES, _BELIEFS, _PAIRS, _WEEKS, _NEWEST = 200, 40, 100, 8, 30  # of each on one page
_SPELLED = 100  # names without a page that are spelled as their lines do
_NEAR = 100  # lines by which the neighbours of a name are found
MOST_ENTITIES, _FEW_ENTITIES = 300, 12  # names with a page as files; of a large memory
MOST_BELIEFS = 1_000  # as files
MOST_BYTES = 12_000_000  # of lines as files
_MANY = 5_000  # entries from which conflicts are not looked for again: that takes minutes
_PAGE = re.compile(
    r"(?P<what>[a-z]+)(?:-(?P<number>[1-9]\d{0,5}))?\.html|(?P<kind>lines|entity)/(?P<name>[0-9a-f-]{6,16})\.html"
)


@dataclass
class Site:
    """The pages of an open public view. `most` entities and `most_beliefs` are shown, all for None; `kept` are the groups of lines."""

    memory: OpenMemory
    most: int | None = None
    most_beliefs: int | None = None
    kept: set[str] | None = None
    left_out: list[str] = field(default_factory=list)

    @cached_property
    def groups(self) -> dict[str, list[str]]:
        """The pages of the workspace by the page of lines that shows them: logs by month, newest first, others alone, by path."""
        by_path = sorted(days_of_pages(self.memory.index).items())
        by_day = sorted(by_path, key=lambda each: each[1] or "", reverse=True)
        return grouped((day[:7] if day else _hash(path), path) for path, day in by_day)

    @cached_property
    def group_of(self) -> dict[str, str]:
        """The page of lines on which a page of the workspace stands."""
        return {path: group for group, paths in self.groups.items() for path in paths}

    @cached_property
    def entities(self) -> tuple[EntityLine, ...]:
        """Every name, most mentioned first."""
        return list_entities(self.memory, _SPELLED)

    @cached_property
    def names(self) -> dict[str, str]:
        """Names that have a page here, by the name of its file."""
        return {_hash(entity_key(each.name)): each.name for each in self.entities[: self.most]}

    @cached_property
    def beliefs(self) -> tuple[BeliefView, ...]:
        """Every belief, the firmest first."""
        return beliefs(self.memory)

    def link(self, citation: Citation, up: str = "") -> str | None:
        """Where a cited line stands; None for one that was left out."""
        group = self.group_of.get(citation.path)
        if group is None or (self.kept is not None and group not in self.kept):
            return None
        return f"{up}lines/{group}.html#{_hash(citation.path)}-L{citation.line}"

    def entity_link(self, name: str, up: str = "") -> str | None:
        """Where the page of a name is; None where it has none."""
        key = _hash(entity_key(name))
        return f"{up}entity/{key}.html" if key in self.names else None

    def page(self, path: str, query: str | None = None) -> str | None:
        """A page by its path; None if there is none. `query` is what is searched for, on a server."""
        match = _PAGE.fullmatch(path)
        if not match:
            return None
        if match["kind"] == "lines":
            return self._lines(match["name"]) if match["name"] in self.groups else None
        if match["kind"]:
            return self._entity(self.names[match["name"]]) if match["name"] in self.names else None
        what, number = match["what"], int(match["number"] or 1)
        if what == "entities" and (part := _part(what, number, self.entities, NAMES)):
            return self._show("entities.html", "Names", pages=part[0], listed=part[1], total=len(self.entities))
        if what == "beliefs" and (held := _part(what, number, self.beliefs[: self.most_beliefs], _BELIEFS)):
            return self._show("beliefs.html", "Beliefs", pages=held[0], held=self._drawn(held[1]))
        if what == "days":
            return self._show("days.html", "Days and pages", groups=self.groups, kept=self.kept)
        if what == "search":
            hits = recall_in(self.memory, Query(words=query), k=50).hits if query else ()
            return self._show("search.html", "Search", query=query or "", hits=hits)
        made = {"index": self._index, "digest": self._digest, "review": self._review}.get(what)
        return made() if made else None

    def _show(self, template: str, title: str, up: str = "", **values: Any) -> str:
        at = {"title": title, "up": up, "policy": POLICY, "is_served": self.most is None, "left_out": self.left_out}
        at |= {"link": partial(self.link, up=up), "whose": partial(self.entity_link, up=up)}
        return _templates().get_template(template).render(at | values)

    def _index(self) -> str:
        newest = recall_in(self.memory, Query(), k=_NEWEST).hits
        counts = {"lines": entry_count(self.memory.index), "names": len(self.entities), "beliefs": len(self.beliefs)}
        return self._show("index.html", "Memory", newest=newest, counts=counts, top=self.entities[:24])

    def _drawn(self, views: Iterable[BeliefView], up: str = "") -> list[tuple[BeliefView, Markup]]:
        """Beliefs, each with its curve where there is one."""
        link, today = partial(self.link, up=up), self.memory.today
        curves = ((view, view.curve) for view in views)
        drawn = ((view, curve_chart(view.text, curve, today, link) if curve[1:] else "") for view, curve in curves)
        return [(view, Markup(chart)) for view, chart in drawn]

    def _digest(self) -> str:
        weeks = sorted((path for path in self.group_of if path.startswith("bank/digest/")), reverse=True)[:_WEEKS]
        told = [(path, [_cited(line, path) for line in self._text(path) if line[:2] in ("# ", "- ")]) for path in weeks]
        return self._show("digest.html", "Digest of the weeks", weeks=told)

    def _review(self) -> str:
        is_large = entry_count(self.memory.index) > _MANY
        doubts = (one.doubt for one in last_shown(self.memory.workspace).values()) if is_large else ()
        asked = open_questions(self.memory, doubts) if is_large else questions(self.memory)
        pairs = () if is_large else conflicts(self.memory)
        open_ones = [each for each in asked if not each.is_for_owner]
        return self._show(
            "review.html", "Conflicts and questions", is_large=is_large, asked=open_ones[:_PAIRS], pairs=pairs[:_PAIRS],
            more=max(0, len(open_ones) - _PAIRS) + max(0, len(pairs) - _PAIRS),
        )  # fmt: skip

    def _entity(self, name: str) -> str:
        up, key = "../", entity_key(name)
        held = [view for view in self.beliefs if key in map(entity_key, view.entities)]
        found = timeline_in(self.memory, name, Period(), _NEWEST, held)
        chart = timeline_chart(found, partial(self.link, up=up)) if found.is_drawn else ""
        near, graph = None, ""
        with suppress(MemctlError):
            near = graph_in(self.memory, name, 10, _NEAR)
        if near and near.edges:
            graph = graph_chart(near, {other: self.entity_link(other, up) or "" for other in near.neighbours})
        return self._show(
            "entity.html", name, up, line=next((each for each in self.entities if each.name == name), None), found=found, near=near,
            newest=recall_in(self.memory, Query(about=(name,)), k=_NEWEST).hits, held=self._drawn(held[:_BELIEFS], up),
            chart=Markup(chart), graph=Markup(graph),
        )  # fmt: skip

    def _lines(self, group: str) -> str:
        paths = self.groups[group]
        title = paths[0] if len(paths) == 1 else group
        pages = [(path, _hash(path), _listed(_hash(path), self._text(path))) for path in paths]
        return self._show("lines.html", title, "../", pages=pages)

    def _text(self, path: str) -> list[str]:
        try:
            return [printable(line) for line in page_lines(self.memory.workspace, path)]
        except MemctlError as error:
            return [error.what]


class _ListPart(NamedTuple):
    """Which part of a list stands on a page, and how many pages there are."""

    what: str
    number: int
    last: int

    def path(self, number: int) -> str:
        return f"{self.what}.html" if number == 1 else f"{self.what}-{number}.html"


def _part(what: str, number: int, whole: Sequence[T], each: int) -> tuple[_ListPart, Sequence[T]] | None:
    """The page of a list with a number, and what stands on it; None where there is no such page."""
    found = _ListPart(what, number, max(1, -(-len(whole) // each)))
    return (found, whole[(number - 1) * each : number * each]) if number <= found.last else None


def _listed(key: str, lines: Iterable[str]) -> Markup:
    """Lines as items of a list with their numbers as anchors: a template would take three times as long."""
    items = (f'<li id="{key}-L{at}" value="{at}">{escape(line)}\n' for at, line in enumerate(lines, 1) if line.strip())
    return Markup("".join(items))


def _hash(text: str) -> str:
    return hashed(text.encode("utf-8", "replace"), 6).hex()


def _cited(line: str, page: str) -> tuple[str, Citation | None]:
    """A line of the digest on `page` without its links, and the line that it cites."""
    cited = (Citation(source.path, *source.lines) for source in sources(line, page) if source.lines)
    text = re.sub(r"\s*·?\s*\[[^\]]*\]\([^)]*\)", "", line[2:])
    return re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", text), next(cited, None)


@cache
def _templates() -> Environment:
    loader = FileSystemLoader(_FOLDER)
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)


def stylesheets() -> dict[str, str]:
    """The files beside the pages, by name: the look of the pages, and that of charts."""
    return {"view.css": (_FOLDER / "view.css").read_text("utf-8"), "charts.css": chart_style()}


def view_page(memory: OpenMemory, path: str, query: str | None) -> str | None:
    """A page or a stylesheet of a public view, as a server answers it; None where there is none."""
    if path.endswith(".css"):
        return stylesheets().get(path)
    return on_fresh_index(lambda opened: Site(opened).page(path or "index.html", query))(memory)


@on_fresh_index
def write_view(memory: OpenMemory, folder: Path) -> ViewWritten:
    """Write the whole site of a public view into a folder, in place of what another one left there; Usage for pages of anybody else.

    The pages of lines first, newest first, as many as there is room for; then those that lead to them.
    """
    most = _FEW_ENTITIES if entry_count(memory.index) > _MANY else MOST_ENTITIES
    kept: set[str] = set()
    made: set[Path] = set()
    site = Site(memory, most, MOST_BELIEFS, kept)
    count = size = 0
    if folder.exists() and not folder.is_dir():
        raise Usage(f"{folder} is a file", "name a folder")
    earlier = {page for below in (".", "lines", "entity") for page in (folder / below).glob("*.html")}
    for page in earlier:
        with as_cannot_write(page):
            is_ours = page.is_file() and b" \xc2\xb7 memctl</title>" in page.read_bytes()
        if not is_ours:
            raise Usage(f"{page} is not a page of a view", "name an empty folder, or that of an earlier view")

    def put(path: str, text: str) -> None:
        nonlocal count, size
        data, target = text.encode("utf-8", "replace"), folder / path
        with as_cannot_write(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
        made.add(target)
        count, size = count + path.endswith(".html"), size + len(data)

    groups = sorted(site.groups, key=lambda group: len(group) == 7)  # other pages, then months, newest first
    for done, group in enumerate(groups):
        if size < MOST_BYTES:
            put(f"lines/{group}.html", site.page(f"lines/{group}.html") or "")
            kept.add(group)
        memory.progress(done, len(groups))
    if left := len(groups) - len(kept):
        site.left_out.append(f"the lines of {many(left, 'older month or page', 'older months and pages')}")
    if (more := len(site.entities) - most) > 0:
        site.left_out.append(f"pages of the {many(more, 'name')} with the fewest lines")
    if (fewer := len(site.beliefs) - MOST_BELIEFS) > 0:
        site.left_out.append(f"{many(fewer, 'belief')}, the least firm")
    for name, text in stylesheets().items():
        put(name, text)
    paths = ["index.html", "days.html", "review.html", "digest.html"]
    held = _part("beliefs", 1, site.beliefs[:MOST_BELIEFS], _BELIEFS)
    for part in (_part("entities", 1, site.entities, NAMES), held):
        paths += [part[0].path(number) for number in range(1, part[0].last + 1)] if part else []
    for path in [*paths, *(f"entity/{name}.html" for name in site.names)]:
        put(path, site.page(path) or "")
    for page in earlier - made:  # it may tell what was forgotten since
        page.unlink()
    return ViewWritten(count, size, tuple(site.left_out))
