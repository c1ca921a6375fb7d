"""The commands about facts: write them down, find them, show them, and the slots that they fill."""

import sys
from dataclasses import replace
from functools import partial
from typing import Any

from ..errors import Usage
from ..hits import Answer, by_page, merge_answers
from ..markdown.attributes import ATTRIBUTES, FILTERS
from .call import ABOUT, AS_OF, DRY_RUN, Call, argument, command, flag, one_of, option, parameter
from .render_hits import print_answer, print_conversations, print_passages, print_retained, print_slots

_SLOT = argument(None, "The slot.")
_DAY = option("--date", "The log's day [default: today].", "DAY")
UNSEAL = flag("--unseal", "Open sealed lines, on this terminal alone.")
_ALL = 1000  # hits, where a budget counts instead
_PICKED = 50  # hits in the picker, unless it is said how many
_FLAGS = [
    parameter(each.long, bool, flag(each.flag, each.help))
    if each.shape == "flag"
    else parameter(each.long, list[str] | None if each.many else str | None, option(each.flag, each.help, each.metavar))
    for each in sorted(ATTRIBUTES, key=lambda each: each.hidden)
]
_FILTERS = [
    parameter(each.parameter, float | None, option(each.flag, each.help, min=0, max=1))
    if each.value == "share"
    else parameter(
        each.parameter, list[str] | None if each.many else str | None, option(each.flag, each.help, each.metavar)
    )
    for each in FILTERS
]
_WHOSE = option("--about -a", "Whose slot.", "NAME")


@command(
    "retain", 'memctl retain "Peter prefers concise replies" --about Peter --confidence 0.9', _FLAGS, after="about"
)
def retain(
    call: Call,
    text: list[str] | None = argument("[TEXT…]", "A grammar line or plain text; - reads lines from stdin.", default=None),
    kind: str | None = option("--kind", "world, experience, opinion or observation.", "KIND"),
    about: list[str] | None = ABOUT,
    day: str | None = _DAY,
    allow_secrets: bool = flag("--allow-secrets", "Keep it even if it looks like a secret."),
    dry_run: bool = DRY_RUN,
    **attributes: Any,
) -> None:  # fmt: skip
    """Write a fact down in today's log. When it answers, the fact is on disk; earlier lines that it may replace are named."""
    given: dict[str, Any] = {"kind": kind, "about": about or (), "day": day, "dry_run": dry_run} | attributes
    if attributes["sealed"] and text in (None, [], ["-"]):
        from .setup import ask

        typed = ask("Text: ") if sys.stdin.isatty() else sys.stdin.read()
        return print_retained(call, call.memory.vault(ask).retain(typed, **given), dry_run)
    lines = [" ".join(text or ())]
    if text == ["-"]:
        lines = [line for line in sys.stdin.read().split("\n") if line.strip()]
    if not any(lines):
        raise Usage("nothing to retain", "give the text, or - and pipe in one fact a line")
    done = call.memory.retain(lines, allow_secrets=allow_secrets, **given)
    is_asked = not dry_run and (call.out.json or not call.out.quiet)
    by_agent = any((kept.fact.source or "").partition(":")[0] == "agent" for kept in done.kept)
    view = call.memory.public() if is_asked and by_agent else call.memory  # an agent answers for nothing private
    print_retained(call, done, dry_run, view.near(done, aside=not call.out.json) if is_asked else ())


@command(
    "recall", 'memctl recall "why PostgreSQL?" --since 90d --about Atlas', _FILTERS, after="k", paged=True, several=True
)
def recall(
    call: Call,
    query: list[str] | None = argument("[QUERY]…", "Words; also @Name, #tag, kind:opinion, since:30d.", default=None),
    *,
    k: int | None = option("--k -k", "How many hits at most [default: 10, or as many as fit into --budget].", min=1, max=1000),
    no_vectors: bool = flag("--no-vectors", "By words only."),
    hops: int = option("--hops", "2 or 3: also what the hits lead to by the names they share.", default=1, min=1, max=3),
    per_page: int | None = option("--per-page", "Hits of one document at most [1]; 0: all of its lines.", "N", min=0),
    by: str | None = option("--by", "page: the hits of each page together.", "WHAT"),
    among: str | None = option("--in", "Ask these workspaces of shared memory (docs/shared.md), or all.", "NAME,…|all"),
    budget: int | None = option("--budget", "Never more than that many tokens.", "TOKENS", min=1),
    history: bool = flag("--history", "Show every version of what a hit says."),
    explain: bool = flag("--explain", "Show how each score came about."),
    unseal: bool = UNSEAL,
    interactive: bool = flag("--interactive -i", "Type, see, choose a hit, and open it in your editor."),
    format: str | None = option("--format -f", "text, json, jsonl, md or paths [default: text].", "FORMAT"),
    **given: Any,
) -> int:  # fmt: skip
    """Find facts, each with its citation. Without a query: the newest within the filters. -w may be given again: the best of each."""
    one_of("--by", by, ("page",), "page")
    memory, per_page, paths = call.memory, (0 if by else 1) if per_page is None else per_page, given["path"] or ()
    if (call.also or among) and (interactive or unseal or any(each.startswith("/") for each in paths)):
        raise Usage("several workspaces take no --interactive, no --unseal and no absolute --path", "name one")
    if call.also and among:
        raise Usage("--in and several -w exclude each other", "run one after the other")
    filters = given | {"per_page": per_page, "path": [each.removeprefix(f"{memory.workspace.root}/") for each in paths]}
    query_read = memory.query(" ".join(query or ()), **filters)
    if interactive:
        from .moves import pick_and_open

        return pick_and_open(call, query_read.words, {"k": k or _PICKED, "vectors": not no_vectors, **filters})
    one_of("--format", format, ("text", "json", "jsonl", "md", "paths"), "text, json, jsonl, md or paths")
    share = budget and max(1, budget // (len(call.also) + 1))
    asked: dict[str, Any] = {"k": k, "history": history, "hops": hops, "vectors": not no_vectors, "budget": share}
    answer = _asked_where(call, among, query_read, k or (_ALL if budget else None), asked)
    answer = by_page(answer) if by else answer
    format = format or ("json" if call.out.json else "text")
    call.out.matches = partial(memory.matches, query_read.words)
    if not unseal:
        return print_answer(call, answer, format, explain, by == "page")
    from .setup import unsealed

    with unsealed(call, format) as vault:
        return print_answer(call, answer._replace(hits=tuple(map(vault.opened_hit, answer.hits))), format, explain)


def _asked_where(call: Call, among: str | None, query: Any, most: int | None, asked: dict[str, Any]) -> Answer:
    """The answer of shared workspaces, of several folders with their `most` best hits together, or of the one there is."""
    if among is not None:
        return call.memory.shared().recall(among.split(","), query, **asked)
    if call.also:
        answers = [(name, at.recall(query, **asked)) for name, at in call.each()]
        return merge_answers(answers, most or call.memory.workspace.settings.k)
    return call.memory.recall(query, **asked)


@command("show", "memctl show memory/2025-11-27.md#L12", paged=True)
def show(
    call: Call,
    reference: list[str] = argument("REF…", "Citations (path#L3-L9, or of shared memory), ids, entities, pages, globs."),
    context: int = option("--context -C", "Lines around it.", default=3, min=0, max=1000),
    unseal: bool = UNSEAL,
    source: bool = flag("--source", "The turns of the conversation in which a fact was said, if its transcript is found."),
) -> None:  # fmt: skip
    """Print what references point at, with the lines around it; a line that moved is found by its id."""
    if source:
        return print_conversations(call, call.memory.said_in(reference, context))
    passages = call.memory.show(reference, context)
    if not unseal:
        return print_passages(call, passages)
    from .setup import unsealed

    with unsealed(call) as vault:
        print_passages(call, [replace(each, lines=tuple(map(vault.opened, each.lines))) for each in passages])


@command("fact list", "memctl fact list --about Atlas", paged=True)
def fact_list(call: Call, about: str | None = _WHOSE, as_of: str | None = AS_OF) -> int:
    """Every slot with what holds for it now; the owner's first."""
    found = call.memory.facts(about, as_of=as_of)
    if not found:
        call.out.note(f"no slot {f'of {about} ' if about else ''}holds anything; `memctl fact set` fills one")
    print_slots(call, found, "facts")
    return 0 if found else 1


@command("fact get", "memctl fact get city --about Peter")
def fact_get(call: Call, key: str = _SLOT, about: str | None = _WHOSE, as_of: str | None = AS_OF) -> None:
    """The current value of a slot."""
    print_slots(call, call.memory.fact(key, about, as_of=as_of), "versions")


@command("fact history", "memctl fact history city --about Peter", paged=True)
def fact_history(call: Call, key: str = _SLOT, about: str | None = _WHOSE, as_of: str | None = AS_OF) -> None:
    """Every version of a slot, with the days on which it held."""
    print_slots(call, call.memory.fact_history(key, about, as_of=as_of), "versions")


@command("fact set", 'memctl fact set city "Lives in Lisbon" --about Peter')
def fact_set(
    call: Call,
    key: str = _SLOT,
    text: list[str] = argument("TEXT…", "What holds from now on."),
    about: str | None = _WHOSE,
    when: str | None = option("--when", "When it is true.", "TIME"),
    day: str | None = _DAY,
    dry_run: bool = DRY_RUN,
) -> None:
    """Fill a slot: retains a world fact with that key; older values become history."""
    done = call.memory.retain(" ".join(text), about=about or (), key=key, when=when, day=day, dry_run=dry_run)
    print_retained(call, done, dry_run)
