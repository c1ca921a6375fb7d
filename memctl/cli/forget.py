"""The command forget: selectors in, the diff or what was forgotten out. What is gone is named by id and place, never by its text."""

from typing import TYPE_CHECKING, Any

from ..errors import Usage
from ..facts import fields
from ..markdown.escape import many, one_line
from .call import Call, command, flag, option
from .hits import place_of
from .output import FAINT, YELLOW, Output

if TYPE_CHECKING:
    from ..memory import Forgetting

_ORIGINS = ("owner", "user", "agent", "tool", "web", "import")
_MOST_LEFT = 20


@command("forget", "memctl forget --expired --apply")
def forget(
    call: Call,
    *,
    ids: list[str] | None = option("--id", "That line; may be given again.", "ID"),
    about: list[str] | None = option("--about -a", "Lines about them, by any of their names.", "NAME"),
    source: str | None = option("--source", "From there: web, tool, import, import:lab, agent …", "SRC"),
    before: str | None = option("--before", "Told before that day: 2025-01, or 90d ago.", "WHEN"),
    expired: bool = flag("--expired", "Facts whose ttl= ran out, or whose until= or t= is past."),
    unused: bool = flag("--unused", "Old facts of low importance that nothing cites and no slot holds."),
    suggest: bool = flag("--suggest", "List what could go, with the reason each, and change nothing."),
    include_exempt: bool = flag("--include-exempt", "With --about or --source: what is exempt, too."),
    apply: bool = flag("--apply", "Do it; without this the diff is shown and nothing changes."),
    dry_run: bool = flag("--dry-run -n", "Print the diff and write nothing; this is the default."),
) -> int:
    """Forget lines: a tombstone without the text stays in their place, and every copy goes. Selectors all must hold.

    Exempt but for --id: identity, health, relationships, preferences, security, what is pinned (i=0.9), notes outside
    the logs.
    """
    if apply and (dry_run or suggest):
        raise Usage(f"--apply and {'--dry-run' if dry_run else '--suggest'} together", "choose one")
    if source is not None and source.partition(":")[0] not in _ORIGINS:
        raise Usage(f"--source {source!r} is not an origin", f"one of {', '.join(_ORIGINS)}, with or without :name")
    done = call.memory.forget(
        apply=apply, suggest=suggest, ids=tuple(ids or ()), about=tuple(about or ()), source=source, before=before,
        expired=expired, unused=unused, include_exempt=include_exempt,
    )  # fmt: skip
    out, count = call.out, len(done.lines)
    found = count or (done.already and not suggest)
    if out.json:
        return out.raw_json(_json(done, suggest, apply), found)
    if suggest:
        for line in done.lines:
            id, why = out.style("^" + line.ref, FAINT), out.style(line.reason, YELLOW)
            out.emit(f"{place_of(call, line.citation)} {id} {why}", 3)
            out.say(f"   {one_line(line.content or '')}")
    else:
        _print_forgotten(out, done, apply)
    _print_rest(out, done)
    if suggest:
        out.note("`memctl forget --id ID` shows how each would go" if count else "nothing to suggest")
    elif not found:
        out.note("nothing to forget")
    elif count and not apply:
        out.note(f"{many(count, 'line')} would be forgotten; --apply does it")
    return 0 if found else 1


def _print_forgotten(out: Output, done: "Forgetting", is_applied: bool) -> None:
    out.diff(done.diff)
    if is_applied:
        for line in done.lines:
            out.line(f"forgotten: {line.citation} ^{line.ref}" + (f" ({line.reason})" if line.reason else ""))
        out.line(*(f"forgotten: belief ^{ref}" for ref in done.beliefs))
        out.line(*(f"rewritten: {path}" for path in done.scrubbed))
    out.note(*(f"forgotten before: {place}" for place in done.already))


def _json(done: "Forgetting", suggest: bool, is_applied: bool) -> dict[str, Any]:
    line = "id=ref source=citation kind reason"
    if suggest:
        lines = [fields(each, f"{line} content") for each in done.lines]
        return {"schema": 1, "suggestions": lines} | fields(done, "exempt spared left")
    made = {"schema": 1, "dry_run": not is_applied, "forgotten": [fields(each, line) for each in done.lines]}
    return made | fields(done, "scrubbed beliefs left exempt spared already diff warnings")


def _print_rest(out: Output, done: "Forgetting") -> None:
    out.note(*(f"stays: {text}" for text in done.left[:_MOST_LEFT]))
    if len(done.left) > _MOST_LEFT:
        out.note(f"stays: and {len(done.left) - _MOST_LEFT} more; --json lists them")
    out.note(*(f"exempt: {text}" for text in done.spared[:_MOST_LEFT]))
    if done.exempt:
        counts = ", ".join(f"{count} {why}" for why, count in sorted(done.exempt.items()))
        out.note(f"exempt: {counts}; --id forgets one by name")
    out.note(*(f"warning: {text}" for text in done.warnings))
