"""The command forget: selectors in, the diff or what was forgotten out. What is gone is named by id and place, never by its text."""

from typing import TYPE_CHECKING, Any

from ..errors import Usage
from ..markdown.escape import one_line
from .call import Call, command, flag, option
from .hits import place_of
from .output import FAINT, YELLOW

if TYPE_CHECKING:
    from ..memory import Forgetting

_ORIGINS = ("owner", "user", "agent", "tool", "web", "import")
_MOST_LEFT = 20


@command("forget", "memctl forget --expired --apply")
def forget(
    call: Call,
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
    return _print_suggested(call, done) if suggest else _print_forgotten(call, done, apply)


def _print_suggested(call: Call, done: "Forgetting") -> int:
    out = call.out
    if out.json:
        lines = [{**_line_json(line), "content": line.content} for line in done.lines]
        out.raw_json({"schema": 1, "suggestions": lines, "exempt": done.exempt, "left": done.left})
        return 0 if done.lines else 1
    for line in done.lines:
        out.emit(
            f"{place_of(call, line.citation)} {out.style('^' + line.ref, FAINT)} {out.style(line.reason, YELLOW)}", 3
        )
        out.say(f"   {one_line(line.content or '')}")
    how = "`memctl forget --id ID` shows how each would go" if done.lines else "nothing to suggest"
    _print_rest(call, done, how)
    return 0 if done.lines else 1


def _print_forgotten(call: Call, done: "Forgetting", is_applied: bool) -> int:
    out, code = call.out, 0 if done.lines or done.already else 1
    if out.json:
        out.raw_json(_forgotten_json(done, is_applied))
        return code
    out.diff(done.diff)
    if is_applied:
        for line in done.lines:
            why = f" ({line.reason})" if line.reason else ""
            out.line(f"forgotten: {line.citation} ^{line.ref}{why}")
        for ref in done.beliefs:
            out.line(f"forgotten: belief ^{ref}")
        for path in done.scrubbed:
            out.line(f"rewritten: {path}")
    out.note(*(f"forgotten before: {place}" for place in done.already))
    count, summary = len(done.lines), ""
    if count and not is_applied:
        summary = f"{count} {'line' if count == 1 else 'lines'} would be forgotten; --apply does it"
    _print_rest(call, done, summary or ("nothing to forget" if code else ""))
    return code


def _forgotten_json(done: "Forgetting", is_applied: bool) -> dict[str, Any]:
    made = {"schema": 1, "dry_run": not is_applied, "forgotten": [_line_json(line) for line in done.lines]}
    made |= {"scrubbed": done.scrubbed, "beliefs": done.beliefs, "left": done.left, "exempt": done.exempt}
    return made | {"already": [str(each) for each in done.already], "diff": done.diff, "warnings": done.warnings}


def _line_json(line: Any) -> dict[str, Any]:
    return {"id": line.ref, "source": str(line.citation), "kind": line.kind.value, "reason": line.reason}


def _print_rest(call: Call, done: "Forgetting", summary: str) -> None:
    call.out.note(*(f"stays: {text}" for text in done.left[:_MOST_LEFT]))
    if len(done.left) > _MOST_LEFT:
        call.out.note(f"stays: and {len(done.left) - _MOST_LEFT} more; --json lists them")
    if done.exempt:
        counts = ", ".join(f"{count} {why}" for why, count in sorted(done.exempt.items()))
        call.out.note(f"exempt: {counts}; --id forgets one by name")
    call.out.note(*(f"warning: {text}" for text in done.warnings))
    if summary:
        call.out.note(summary)
