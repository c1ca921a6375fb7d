"""The commands to look around: documents, entities and their names, timelines, graphs, pages for a browser."""

import shutil
from collections.abc import Sequence
from datetime import date, timedelta
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import ExtraMissing, Usage
from ..facts import Period, fields
from ..hits import hit_json
from ..markdown.escape import many, one_line
from .call import DRY_RUN, Call, argument, command, flag, option
from .output import BOLD, FAINT, GREEN, fitted
from .render_hits import marks_of, place_of, print_hit

if TYPE_CHECKING:
    from ..memory import EntityGraph, Named, Timeline


@command("docs", "memctl docs bank/decisions", paged=True)
def docs(call: Call, folder: str = argument("[FOLDER]", "Of the workspace.", default="")) -> None:
    """The pages of a folder and the folders in it, with what `description:` in their front matter says, a folder's index page for it."""
    found = call.memory.documents(folder)
    if call.out.json:
        call.out.raw_json({"schema": 1, "documents": [each._asdict() for each in found]})
        return
    rows = [(x.path, many(x.pages, "page") if x.pages else "", x.title, x.description) for x in found]
    call.out.table(("path", "", "title", "description"), rows)


@command("entity list", "memctl entity list --type person", paged=True)
def entity_list(call: Call, type: str | None = option("--type", "Only of that type: person, project.", "TYPE")) -> int:
    """Every entity with a page, and every name written as @Name or [[Name]]; most mentioned first."""
    lines = call.memory.entities(type)
    if call.out.json:
        return call.out.raw_json({"schema": 1, "entities": [fields(line, _ENTITY) for line in lines]}, lines)
    inside = "bank/entities/" if call.out.styled else ""  # where all are: a terminal has no room for it
    pages = [(line.path or "").removeprefix(inside) for line in lines]
    told = zip(lines, pages, strict=True)
    rows = [(line.name, line.type or "", line.mentions, ", ".join(line.aliases), page) for line, page in told]
    call.out.table(("name", "type", "lines", "aliases", f"page in {inside}"), rows)
    return 0 if lines else 1


_ENTITY = "name type aliases mentions path"


@command("entity show", 'memctl entity show "Alex Chen"', paged=True)
def entity_show(
    call: Call,
    name: list[str] = argument("NAME", "A name or an alias."),
    k: int = option("--k -k", "How many at most.", default=10, min=1, max=1000),
) -> None:
    """One entity: its names, what holds now, its newest lines."""
    view, out = call.memory.entity(" ".join(name), k), call.out
    if out.json:
        slots = {hit.key: hit_json(hit) for hit in view.slots}
        newest = [hit_json(hit) for hit in view.newest]
        out.raw_json({"schema": 1, "entity": fields(view.line, _ENTITY), "slots": slots, "newest": newest})
        return
    line = view.line
    also = f" (also {', '.join(line.aliases)})" if line.aliases else ""
    page = out.style(line.path or "no page yet", FAINT)
    out.emit(f"{out.style(line.name, BOLD)}{out.style(also, FAINT)} {page}")
    for hit in view.slots:
        text = f"{out.style(hit.key or '', BOLD)}: {out.style(one_line(hit.content))}"
        out.emit(f"   {text}{marks_of(call, hit)} {place_of(call, hit.source)}")
    for number, hit in enumerate(view.newest, 1):
        print_hit(call, hit, number)


@command("entity alias", 'memctl entity alias "Alex Chen" 老陈 "Чэнь Ли"')
def alias(
    call: Call,
    name: str = argument("NAME", "Who it is; a page is made for a new name."),
    aliases: list[str] = argument("ALIAS…", "Other names, in any script."),
    remove: bool = flag("--remove", "Take these names away instead."),
    dry_run: bool = DRY_RUN,
) -> None:
    """Give an entity other names. They stand under `aliases` in the front matter of its page."""
    _print_named(call, call.memory.alias(name, aliases, remove=remove, dry_run=dry_run), dry_run)


@command("entity merge", 'memctl entity merge bosun "Alex Petrov"')
def merge(
    call: Call,
    name: str = argument("NAME", "The name that is to be another one's."),
    into: str = argument("INTO", "Whose name it is to be."),
    undo: bool = flag("--undo", "Take a merge back."),
    dry_run: bool = DRY_RUN,
) -> None:
    """Make one of two entities: INTO gets the names of NAME, and NAME's page says so. Nothing is lost; --undo parts them."""
    _print_named(call, call.memory.merge(name, into, undo=undo, dry_run=dry_run), dry_run)


def _print_named(call: Call, done: "Named", dry_run: bool) -> None:
    out = call.out
    if out.json:
        made = fields(done, "entity path added removed pages diff warnings=notes")
        out.raw_json({"schema": 1, "dry_run": dry_run} | made)
        return
    if dry_run:
        out.diff(done.diff)
    else:
        out.line(*(f"{done.entity} + {name}" for name in done.added))
        out.line(*(f"{done.entity} - {name}" for name in done.removed))
        out.note(*done.pages)
    out.note(*done.notes)


# -- what draws: timelines and the neighbours of an entity -------------------------------------------------------------

_LEVELS = "▁▂▃▄▅▆▇█"
SVG = option("--svg", "Write the picture as SVG to that file, - is stdout. Needs memctl-workspace[view].", "FILE")
_BAR, _OVER, _MARK, _MARKS, _BEFORE = "█", "░", "·", ":", "‹"
_NARROWEST, _WIDEST_NAME = 40, 34
_HANGING = 12  # columns of a day and two blanks


@command("timeline", "memctl timeline @Peter --since 2025-09", paged=True)
def timeline(
    call: Call,
    name: list[str] | None = argument("[@NAME]", "About whom [default: the newest lines].", default=None),
    since: str | None = option("--since", "From then on: 30d, 2025-11.", "WHEN"),
    until: str | None = option("--until", "Up to then.", "WHEN"),
    k: int = option("--k -k", "How many events at most.", default=40, min=1, max=1000),
    svg: str | None = SVG,
) -> int:
    """Draw facts, events and beliefs over time; below it each line with its citation."""
    found = call.memory.timeline(" ".join(name or ()) or None, since=since, until=until, events=k)
    if not _print_made(call, found, svg) and found.is_drawn:
        _print_timeline(call, found)
    if not found.is_drawn:
        cure = "`memctl recall --about NAME` lists other facts"
        call.out.note(f"nothing to draw: no slot, event, belief or change; {cure}")
    return 0 if found.is_drawn else 1


@command("graph", "memctl graph @Peter --svg peter.svg")
def graph(
    call: Call,
    name: list[str] = argument("@NAME", "The entity in the middle."),
    k: int = option("--k -k", "How many neighbours at most.", default=12, min=1, max=60),
    svg: str | None = SVG,
) -> None:
    """Draw who and what stands on the same lines as an entity: as text of Mermaid, which GitHub and Obsidian draw, or as SVG."""
    found = call.memory.graph(" ".join(name), most=k)
    if not _print_made(call, found, svg):
        call.out.lines(found.as_mermaid())
    if found.more > 0:
        call.out.note(f"{many(found.more, 'more neighbour')}; -k {k + found.more} draws them")


@command("view", "memctl view --out pages")
def view(
    call: Call,
    out: Path | None = option("--out", "Write the pages into this folder.", "DIR"),
    port: int = option("--port -p", "Where `memctl serve` listens.", default=7733, min=1, max=65535),
) -> None:
    """Look at the memory as pages that only read: as files with --out, or at `memctl serve`, of which this prints the link.

    Private and sealed lines are in neither. Needs memctl-workspace[view], and the link [serve] too.
    """
    if out is None:
        lacking = [extra for package, extra in (("uvicorn", "serve"), ("jinja2", "view")) if find_spec(package) is None]
        if lacking:
            raise ExtraMissing(",".join(lacking), "what shows the pages in a browser")
        link = f"http://127.0.0.1:{port}/view/login?key={call.memory.pictures().key()}"
        if call.out.json:
            call.out.raw_json({"schema": 1, "url": link})
        else:
            call.out.line(link)
        call.out.note("the link works while `memctl serve` runs; `memctl view --out DIR` writes files")
        return
    with call.progress("drawing") as memory:
        done = memory.pictures().write(out)
    if call.out.json:
        call.out.raw_json({"schema": 1, "pages": done.pages, "bytes": done.size, "left_out": list(done.left_out)})
    else:
        call.out.line(str(out / "index.html"))
    call.out.note(*(f"left out: {what}" for what in done.left_out))


def _print_made(call: Call, drawn: "Timeline | EntityGraph", svg: str | None) -> bool:
    """Write a picture as SVG to a file, with - to stdout, and print it as JSON, as far as wanted; False if neither is."""
    if call.out.json and svg == "-":
        raise Usage("--svg - and --json both write to stdout", "name a file for --svg, or leave out one of them")
    if svg:
        text = call.memory.pictures().svg(drawn)
        if svg == "-":
            call.out.line(text)
        else:
            call.memory.write_export(Path(svg), [text + "\n"])
            call.out.note(f"written to {svg}")
    if call.out.json:
        call.out.raw_json(drawn.as_json())
    return bool(call.out.json or svg)


class Scale:
    """Days as columns of a line of text."""

    def __init__(self, days: Period, width: int) -> None:
        assert days.first and days.last
        self.first, self.last, self.width = days.first, max(days.last, days.first + timedelta(days=1)), width

    def column(self, day: date) -> int:
        """The column of a day; days outside are at the ends."""
        share = (day - self.first) / (self.last - self.first)
        return round(min(1.0, max(0.0, share)) * (self.width - 1))

    def bar(self, valid: Period, is_over: bool) -> str:
        """A period as a bar: full while it holds, light once it is over."""
        start, end = self.column(valid.first or self.first), self.column(valid.last or self.last)
        return " " * start + (_OVER if is_over else _BAR) * (end - start + 1)

    def marks(self, days: Sequence[date]) -> str:
        """A mark in the column of each day; another for several, and for what happened before the first."""
        columns = [self.column(day) for day in days]
        drawn = [" " if not (n := columns.count(at)) else _MARK if n == 1 else _MARKS for at in range(self.width)]
        return "".join([_BEFORE, *drawn[1:]] if any(day < self.first for day in days) else drawn)

    def steps(self, points: Sequence[tuple[date, float]]) -> list[float | None]:
        """For each column the newest number by then; None before the first."""
        made: list[float | None] = [None] * self.width
        for day, number in points:
            column = self.column(day)
            made[column:] = [number] * (self.width - column)
        return made

    def axis(self) -> str:
        """The first day, the last, and one between where there is room."""
        first, last = str(self.first), str(self.last)
        if self.width < len(first) + len(last) + 2:
            return last.rjust(self.width)
        gap = self.width - len(first) - len(last)
        middle = str(self.first + (self.last - self.first) / 2)
        return first + (middle if gap > 2 * len(middle) else "").center(gap) + last


def sparkline(numbers: Sequence[float | None]) -> str:
    """Shares from 0 to 1 as blocks of that height, one a column; a blank for None."""
    return "".join(" " if n is None else _LEVELS[max(0, min(7, round(n * 8) - 1))] for n in numbers)


def _print_timeline(call: Call, found: "Timeline") -> None:
    out, width = call.out, max(_NARROWEST, shutil.get_terminal_size().columns)
    beside = min(_WIDEST_NAME, width // 3)
    scale = Scale(found.days, width - beside - 2)

    def row(name: str, drawn: str, *style: int) -> None:
        out.emit(f"{fitted(name, beside)}  {out.style(drawn.rstrip(), *style)}")

    row(found.about or "", scale.axis(), FAINT)
    for slot in found.slots:
        for number, hit in enumerate(slot.versions):
            name = "  " if number else f"{slot.label(found.about)}: "
            row(name + one_line(hit.content), scale.bar(hit.valid, bool(hit.superseded_by) or hit.expired))
    if found.events:
        row("happened", scale.marks(found.event_days), GREEN)
    for view, points in found.beliefs:
        shares = scale.steps([(point.day, point.confidence) for point in points])
        row(f"{view.ledger.confidence:.2f} {one_line(view.text)}", sparkline(shares))
    held = [(slot.label(found.about), hit) for slot in found.slots for hit in slot.versions]
    for what, hit in [*held, *(("", hit) for hit in found.events)]:
        days = f"{hit.valid.first or hit.day or '…'}" + (f"..{hit.valid.last or ''}" if what else "")
        name = f"{out.style(what + ':', BOLD)} " if what else ""
        text = f"{name}{out.style(one_line(hit.content))} {place_of(call, hit.source)}"
        out.emit(f"{out.style(days, FAINT)}  {text}", _HANGING)
    for view, points in found.beliefs:
        last = points[-1]
        numbers = " → ".join(f"{point.confidence:.2f}" for point in points[-6:])
        proof = f" {place_of(call, last.source)}" if last.source else ""
        text = f"{out.style(one_line(view.text))} {numbers}{proof} {out.style('^' + view.ref, FAINT)}"
        out.emit(f"{out.style(str(last.day), FAINT)}  {text}", _HANGING)
    out.note(*(f"{what}: not drawn" for what in found.left_out))
