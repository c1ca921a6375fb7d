"""The commands about entities: list them, show one, give it other names, make two of them one."""

from typing import TYPE_CHECKING

from ..facts import fields
from ..hits import hit_json
from ..markdown.escape import many, one_line
from .call import DRY_RUN, Call, argument, command, flag, option
from .hits import marks_of, place_of, print_hit
from .output import BOLD, FAINT

if TYPE_CHECKING:
    from ..memory import Named


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
