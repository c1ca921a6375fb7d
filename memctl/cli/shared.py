"""Shared memory on the command line: publish what others may see of a workspace, and withdraw it."""

from ..markdown.escape import many, one_line
from .call import Call, command, flag, option


@command("publish", "memctl publish --to postgresql://alice@db.example/memctl --as atlas --team atlas")
def publish(
    call: Call,
    to: str | None = option("--to", "The PostgreSQL server [default: url under [shared]].", "URL"),
    name: str | None = option("--as", "The name of this workspace there [default: name under [shared]].", "NAME"),
    team: str | None = option("--team", "The role whose members may see it [default: you alone].", "ROLE"),
    force: bool = flag("--force", "Put the pages here in place of what somebody else published."),
    withdraw: bool = flag("--withdraw", "Take it off the server, and off every reader's machine when they ask next."),
    dry_run: bool = flag("--dry-run -n", "Say which pages would travel, and send nothing."),
) -> None:
    """Make this workspace shared memory on a PostgreSQL server: the pages that changed since, nothing private, sealed or untrusted.

    All of it is there, or nothing. Others ask it by `recall --in NAME`.
    """
    memory = call.memory
    if withdraw:
        gone = memory.shared(to).withdraw(name)
        if call.out.json:
            call.out.raw_json({"schema": 1, "name": gone, "withdrawn": True})
        else:
            call.out.line(f"{gone} is withdrawn")
        return
    with call.progress("publishing", "stopped: nothing is published") as memory:
        done = memory.shared(to).publish(name, team=team, force=force, dry_run=dry_run)
    call.out.note(*done.notes)
    if call.out.json:
        call.out.raw_json({"schema": 1, "dry_run": dry_run} | done._asdict())
        return
    if dry_run:
        for mark, paths in (("+", done.sent), ("-", done.removed)):
            for path in paths:
                call.out.line(f"{mark} {one_line(path)}")
    told = f"{many(len(done.sent), 'page')} {'to send' if dry_run else 'sent'}, {len(done.removed)} {'to remove' if dry_run else 'removed'}"
    call.out.line(f"{done.name} at {done.place}: {told}, {done.pages} in all")
