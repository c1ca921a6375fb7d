"""The commands about what is held: reflect, beliefs, why, and what disagrees."""

import shutil
from typing import TYPE_CHECKING, Any

from ..errors import Usage
from ..facts import Period, fields, is_trusted
from ..hits import hit_json
from ..judgement import standing_of
from ..markdown.escape import many, one_line
from .call import AS_OF, DRY_RUN, Call, argument, command, flag, option
from .output import BOLD, FAINT, YELLOW, Output
from .render_hits import kind_of, place_of, print_retained

if TYPE_CHECKING:
    from ..memory import BeliefView, Task

_SPARK, _HIGH = 8, 4  # numbers of a spark line, lines of a curve
_TRENDS = {"rising": "↗", "falling": "↘", "steady": "→"}


@command("reflect", "memctl reflect --since 7d")
def reflect(
    call: Call,
    since: str | None = option("--since", "Only what changed; conflicts since then: 7d, 2025-11 [default: all].", "WHEN"),
    dry_run: bool = DRY_RUN,
    apply: bool = flag("--apply", "Write the pages; this is the default."),
    propose_core: bool = flag("--propose-core", "Write proposals for memory.md to bank/proposals.md, too."),
    accept: int | None = option("--accept", "Apply proposal N to memory.md, and nothing else.", "N", min=1),
    refuse: int | None = option("--refuse", "Never propose N again.", "N", min=1),
) -> None:  # fmt: skip
    """Turn facts into entity pages, beliefs with evidence, lessons and the week's digest. Quiet if nothing changed."""
    if dry_run and apply:
        raise Usage("--dry-run and --apply together", "choose one")
    if accept and refuse:
        raise Usage("--accept and --refuse together", "one after the other")
    if number := accept or refuse:
        decide = call.memory.accept_proposal if accept else call.memory.refuse_proposal
        return _print_decided(call.out, bool(accept), number, decide(number, dry_run=dry_run), dry_run)
    out = call.out
    stopped = "stopped: pages written so far are complete; run `memctl reflect` again for the rest"
    with call.progress("reflecting", stopped) as memory:
        done = memory.reflect(since=since, dry_run=dry_run, propose=propose_core)
    if out.json:
        out.raw_json(done.as_json(applied=not dry_run) | ({"diff": done.diff} if dry_run else {}))
        return
    out.note(*done.notes)
    if dry_run:
        out.lines(done.diff)
    else:
        out.line(*done.pages)
        for told in done.digest:
            out.emit(f"{out.style(f'{told.lead}: {told.text}')} [{place_of(call, told.citation)}]", 3)
        if done.conflicts and done.pages:
            out.note(f"{many(done.conflicts, 'conflict')}; `memctl conflicts` shows them")


def _print_decided(out: Output, is_accepted: bool, number: int, change: str, dry_run: bool) -> None:
    page = "memory.md" if is_accepted else "bank/proposals.md"
    if out.json:
        out.raw_json({"schema": 1, "number": number, "applied": not dry_run, "diff": change})
    elif change:
        out.lines(change if dry_run else page)
    else:
        out.note(f"{page} says so already; nothing changed")


@command("belief list", "memctl belief list --about Peter", paged=True)
def belief_list(
    call: Call,
    about: str | None = option("--about -a", "Only those about that name.", "NAME"),
    as_of: str | None = AS_OF,
) -> int:
    """Every belief, the firmest first, with its trend. Exit code 1 if there are none."""
    from .look import sparkline

    found = call.memory.beliefs(about=about, as_of=as_of)
    if call.out.json:
        return call.out.raw_json({"schema": 1, "beliefs": [_belief_json(view) for view in found]}, found)
    for view in found:
        line = sparkline([point.confidence for point in view.curve[-_SPARK:]]).rjust(_SPARK)
        drawn = f"{line} " if call.out.styled else ""
        call.out.say(f"{drawn}{_headline(view)}", len(drawn) + 7)
    if not found:
        none = f"no belief is about {about}; `memctl belief list` shows all" if about else "no beliefs yet"
        call.out.note(f"{none}; `memctl reflect` makes them from lines such as `- O(0.8) @Peter: …`")
    return 0 if found else 1


@command("belief show", "memctl belief show o-7k3dq2ma --as-of 2025-11", paged=True)
def belief_show(
    call: Call,
    reference: list[str] = argument("ID", "The id of a belief or of the line that stated it, or words of it."),
    as_of: str | None = AS_OF,
) -> None:
    """One belief with its whole evidence."""
    view = call.memory.belief(" ".join(reference), as_of=as_of)
    if call.out.json:
        call.out.raw_json({"schema": 1, **_belief_json(view)})
    else:
        _print_belief(call, view)


@command("why", "memctl why f-1a2b3c4d", paged=True)
def why(
    call: Call, reference: str = argument("ID", "The id of a fact or a belief."), as_of: str | None = AS_OF
) -> None:
    """Why a fact or belief is held: what it replaced, what replaced it, its evidence."""
    reasons = call.memory.why(reference, as_of=as_of)
    if call.out.json:
        named = {"facts": reasons.hits, "replaced_by": reasons.replaced_by, "replaces": reasons.replaces}
        lists = {name: [hit_json(hit) for hit in hits] for name, hits in named.items()}
        call.out.raw_json({"schema": 1, **lists, "beliefs": [_belief_json(view) for view in reasons.beliefs]})
        return
    for title, hits in (("", reasons.hits), ("replaced by ", reasons.replaced_by), ("replaces ", reasons.replaces)):
        for hit in hits:
            told = f"{hit.day or 'undated'} · {hit.kind.value} · {one_line(hit.content)} ^{hit.ref}"
            call.out.emit(f"{title}{place_of(call, hit.source)} · {call.out.style(told)}", 3)
    for view in reasons.beliefs:
        _print_belief(call, view)


def _headline(view: "BeliefView") -> str:
    ledger = view.ledger
    names = " ".join(f"@{name}" for name in view.entities)
    asked = f" · questioned since {view.questioned}" if view.questioned else ""
    over = f" · over since {view.over}" if view.over else asked
    contested = " · contested" if ledger.contested else ""
    head = f"{ledger.confidence:.2f} {_TRENDS[ledger.trend]} {names}{': ' if names else ''}"
    return f"{head}{one_line(view.text)}{contested}{over} ^{view.ref}"


def _print_belief(call: Call, view: "BeliefView") -> None:
    ledger = view.ledger
    weights = f"for {ledger.weight_for:g}, against {ledger.weight_against:g}"
    call.out.say(_headline(view), 7)
    call.out.emit(f"  {place_of(call, view.place)} · ±{ledger.deviation:.2f} · {weights}")
    for line in _drawn(view) if call.out.styled else ():
        call.out.line(f"  {line}")
    for bullet in view.evidence:
        place = f" · {place_of(call, bullet.citation)}" if bullet.citation else ""
        standing = _standing(bullet)
        right = f", right in {standing['precision']:.2f} of {standing['cases']} cases" if standing["cases"] else ""
        judged = f" · {standing['tier']}{right}" if standing["rule"] else ""
        call.out.emit(f"  {call.out.style(bullet.text)}{judged}{place}" + (f" ^{bullet.ref}" if bullet.ref else ""), 4)


def _standing(bullet: Any) -> dict[str, str | float | None]:
    """The rule that found a piece of evidence, by which its reason begins, its tier, and how often it is right."""
    return standing_of(bullet.reason.partition(": ")[0], bullet.verdict == "questioned")


def _drawn(view: "BeliefView") -> list[str]:
    """The curve of a belief over its days, some lines high, with the days below it."""
    from .look import Scale, sparkline

    points = [(point.day, point.confidence) for point in view.curve]
    if len(points) < 2:
        return []
    room = max(20, shutil.get_terminal_size().columns - 8)
    scale = Scale(Period(points[0][0], points[-1][0]), min(60, room))
    shares = [(share or 0.0) * _HIGH for share in scale.steps(points)]
    rows = [sparkline([min(1.0, max(0.0, share - row)) or None for share in shares]) for row in range(_HIGH)]
    names = ["1.00 ", *["     "] * (_HIGH - 2), "0.00 "]
    return [*(name + row for name, row in zip(names, reversed(rows), strict=True)), "     " + scale.axis()]


def _belief_json(view: "BeliefView") -> dict[str, Any]:
    ledger, made = view.ledger, fields(view, "id=ref content=text entities")
    made |= {"confidence": round(ledger.confidence, 4), "deviation": round(ledger.deviation, 4)}
    made |= fields(ledger, "for=weight_for against=weight_against trend contested")
    made |= fields(view, "over questioned source=place")
    told = "day verdict strength number after source=citation gone reason id=ref"
    evidence = [fields(bullet, told) for bullet in view.evidence]
    for each, bullet in zip(evidence, view.evidence, strict=True):
        each |= _standing(bullet)
        if each["verdict"] not in ("for", "against"):
            each["strength"] = None
    return made | {"evidence": evidence}


@command("conflicts", "memctl conflicts --about Curlew", paged=True)
def conflicts(call: Call, about: str | None = option("--about -a", "Only what is about that name.", "NAME")) -> int:
    """List facts that disagree, two by two, with the rule that found them. Exit code 1 if there are none."""
    with call.progress("comparing") as memory:
        found = memory.conflicts(about=about)
    if call.out.json:
        listed = [fields(c, "rule reason about") | {"sides": [hit_json(hit) for hit in c.sides]} for c in found]
        return call.out.raw_json({"schema": 1, "conflicts": listed}, found)
    out = call.out
    for number, conflict in enumerate(found, 1):
        reason = f": {conflict.reason}" if conflict.reason else ""
        out.emit(f"{out.style(f'{number}.', BOLD)} {out.style(conflict.rule + reason, BOLD)}")
        for hit in conflict.sides:
            facts = [hit.day or "undated", kind_of(hit), ", ".join(hit.entities)]
            about_it = " · ".join(out.style(one_line(part), FAINT) for part in facts if part)
            mark = "" if is_trusted(hit.origin) else " " + out.style(f"[untrusted: {hit.origin}]", YELLOW)
            out.emit(f"   {place_of(call, hit.source)} · {about_it}{mark} {out.style('^' + hit.ref, FAINT)}")
            out.say(f"      {one_line(hit.content)}")
    if found:
        one, other = (hit.ref for hit in found[0].sides)
        out.note("to settle one, say which line is right, or that both are:")
        out.note(f"  memctl resolve {one} --over {other}", f"  memctl resolve {one} {other} --both")
    else:
        call.out.note("nothing disagrees" + (f" about {about}" if about else ""))
    return 0 if found else 1


@command("resolve", 'memctl resolve f-1a2b3c4d --over f-5e6f7a8b --because "counted again"')
def resolve(
    call: Call,
    reference: list[str] = argument("REF…", "The line that is right: an id or a citation."),
    over: str | None = option("--over", "The line that was never true, or no longer is.", "REF"),
    both: bool = flag("--both", "Both lines hold: do not list them again."),
    since: str | None = option("--from", "The other one was true until then [default: never].", "DAY"),
    because: str | None = option("--because", "Why, kept with the line.", "TEXT"),
    dry_run: bool = DRY_RUN,
) -> None:
    """Settle two lines that disagree, by adding one to today's log. Nothing is deleted."""
    named = [*reference, *([over] if over else ())]
    if len(named) != 2 or (over is None and not both):
        raise Usage("resolve takes two references", "memctl resolve REF --over REF, or memctl resolve REF REF --both")
    done = call.memory.resolve(*named, both=both, since=since, because=because, dry_run=dry_run)
    print_retained(call, done, dry_run)


@command("lessons", 'memctl lessons --task "deploy Atlas"', paged=True)
def lessons(
    call: Call,
    task: str | None = option("--task", "Of that task, in about these words.", "TEXT"),
    everything: bool = flag("--all", "Every way of a task, and every reason; without it 30 and 3."),
) -> int:
    """What worked and what to avoid, by task, counted from facts with an outcome. `reflect` writes the same to bank/lessons.md."""
    found, out = call.memory.lessons(task), call.out
    if out.json:
        return out.raw_json({"schema": 1, "tasks": list(map(_task_json, found))}, found)
    if not found:
        known = f"no two outcomes of {one_line(task) if task else 'one task'} are known, and none with a reason"
        out.note(f"{known}; `memctl retain --kind experience --task T --outcome ok|fail` records one")
    for each in found:
        out.emit(out.style(one_line(each.name or each.entity or "without a task"), BOLD))
        ways = each.strategies if everything else each.shown
        for way in ways:
            reasons = way.reasons if everything else way.reasons[:3]
            why = "; ".join(one_line(why) + (f" ({count} times)" if count > 1 else "") for why, count in reasons)
            label = "avoid" if way.is_to_avoid else ", ".join(way.labels)
            told = f"{label}: {one_line(way.name)} ({way.ok} ok, {way.failed} failed{': ' + why if why else ''})"
            out.emit(f"   {told} {place_of(call, way.outcomes[-1].citation)}", indent=5)
        if more := len(each.strategies) - len(ways):
            out.emit(f"   and {more:,} more: `memctl lessons --all`", indent=5)
    return 0 if found else 1


def _task_json(task: "Task") -> dict[str, Any]:
    ways = [
        fields(way, "strategy=name ok failed labels avoid=is_to_avoid")
        | {"reasons": [{"why": why, "count": count} for why, count in way.reasons]}
        | {"sources": [str(outcome.citation) for outcome in way.outcomes]}
        for way in task.strategies
    ]
    return {"task": task.name, "entity": task.entity, "strategies": ways}
