"""The commands that name entities: other names, and two entities as one."""

from typing import TYPE_CHECKING, Annotated

import typer

from .call import Call, command

if TYPE_CHECKING:
    from ..entities.rename import Named

__all__ = ["register"]

GREEN, RED = 32, 31
DryRun = Annotated[bool, typer.Option("--dry-run", "-n", help="Print the diff and write nothing.")]


def register(entity: typer.Typer) -> None:
    """Add `alias` and `merge` to the commands about entities."""
    command(entity, "alias", 'memctl entity alias "Alex Chen" 老陈 "Чэнь Ли"')(alias)
    command(entity, "merge", 'memctl entity merge bosun "Alex Petrov"')(merge)


def alias(
    call: Call,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Who it is; a page is made for a new name.")],
    aliases: Annotated[list[str], typer.Argument(metavar="ALIAS…", help="Other names, in any script.")],
    remove: Annotated[bool, typer.Option("--remove", help="Take these names away instead.")] = False,
    dry_run: DryRun = False,
) -> None:
    """Give an entity other names. They stand under `aliases` in the front matter of its page."""
    from ..entities.rename import alias as run
    from ..index.open_memory import OpenMemory

    _print_named(call, run(OpenMemory(call.workspace), name, aliases, remove=remove, dry_run=dry_run), dry_run)


def merge(
    call: Call,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The name that is to be another one's.")],
    into: Annotated[str, typer.Argument(metavar="INTO", help="Whose name it is to be.")],
    undo: Annotated[bool, typer.Option("--undo", help="Make them two again.")] = False,
    dry_run: DryRun = False,
) -> None:
    """Make one of two entities: INTO gets the names of NAME, and NAME's page says so. Nothing is lost; --undo parts them."""
    from ..entities.rename import merge as run
    from ..index.open_memory import OpenMemory

    _print_named(call, run(OpenMemory(call.workspace), name, into, undo=undo, dry_run=dry_run), dry_run)


def _print_named(call: Call, done: "Named", dry_run: bool) -> None:
    if call.out.json:
        changes = {"added": list(done.added), "removed": list(done.removed), "pages": list(done.pages)}
        call.out.raw_json(
            {"schema": 1, "dry_run": dry_run, "entity": done.entity, "path": done.path, **changes, "diff": done.diff}
            | {"warnings": done.notes}
        )
        return
    for line in done.diff.split("\n")[:-1] if dry_run else ():
        colour = {"+": (GREEN,), "-": (RED,)}.get(line[:1], ())
        call.out.emit(call.out.style(line, *colour))
    for sign, names in (("+", done.added), ("-", done.removed)):
        for name in names if not dry_run else ():
            call.out.line(f"{done.entity} {sign} {name}")
    for path in done.pages if not dry_run else ():
        call.out.note(path)
    for note in done.notes:
        call.out.note(note)
