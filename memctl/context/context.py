"""Context: what an agent is given before it answers, within a budget, each recalled line with its citation."""

from __future__ import annotations

import json
import math
import os
import re
import sys
from collections import Counter as Tally
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from importlib import import_module
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from ..errors import ExtraBroken, ExtraMissing, MemctlError, NothingFound, OverBudget, Usage
from ..facts import Period, is_trusted, iso_day
from ..hits import Answer, more_line
from ..index.lexical import idf
from ..index.open_memory import OpenMemory
from ..index.queries.entity_names import KnownNames, all_entities, entity_named, keys_of
from ..index.queries.entries import Query, entry_count, frequencies
from ..language.analyzer import is_identifier, query_terms, stop_terms, terms
from ..language.dates import log_day
from ..language.names import as_listed, find_names, has_han
from ..language.tokens import Counter, estimate
from ..language.words import HAN_CHARS
from ..notes.files import read_page
from ..notes.workspace import CORE_PAGE, PAGES, TEMPLATES, Workspace
from ..recall.entry_hits import with_neighbours
from ..recall.query import read_query
from ..recall.question_in_paste import asks_anywhere
from ..recall.recall import WEAK, recall
from ..recall.surroundings import answerable, crowded_out, signs_of
from ..recall.wording import question_times
from ..review.question import waiting_line
from .layers import Layers, core_page, query_of
from .pack import Item, Pack, build_pack, fitting, item_of, recalled_block, stable_part


@dataclass(frozen=True, slots=True)
class ContextOptions:
    """What a context may hold; None is as in the settings. Untrusted lines never enter one."""

    budget: int | None = None  # in tokens
    about: Sequence[str] = ()  # only lines about these
    since: str | None = None  # only lines told from this day on
    private: bool = False  # private lines too, for a model on this machine
    count: Counter | None = None  # what counts tokens
    inject: str | None = None  # in a chat, where what is recalled stands: user or system
    session: str | None = None  # in a chat, the name under which what its user stated is kept until it ends

    def settled(self, memory: OpenMemory) -> tuple[int, Counter, Query]:
        """Budget, counter and filters, with the settings for what is not given."""
        workspace = memory.workspace
        filters = read_query("", memory.today, about=self.about, since=self.since)
        budget = workspace.settings.budget if self.budget is None else self.budget
        return budget, self.count or counter_of(workspace), filters


def context(
    memory: OpenMemory, message: str, options: ContextOptions, *, stable: bool = True, recalled: bool = True
) -> Pack:
    """The five layers for a message. OverBudget where the core alone is more than the budget: it is never cut.

    Without `recalled` only what a session begins with: core, known facts, lessons, recent lines; without `stable` only what
    belongs to the message and does not stand in the core.
    """
    memory = memory if options.private else memory.public()
    budget, count, filters = options.settled(memory)

    def job(opened: OpenMemory) -> Pack:
        core, warnings = core_of(opened)
        warnings += staleness(opened)
        layers = Layers(opened, count, filters, core)
        shown_core = core if stable else ""
        left = room_beside(shown_core, budget, count)
        chosen: dict[str, list[Item]] = {"recalled": []}
        waiting = ""
        if stable:  # each layer within its share; lessons leave what they do not need to the recent lines
            known = layers.known(left)
            beside = left - layers.cost(known)
            share = int(beside * layers.share("lessons"))
            lessons = layers.lessons(share, known)
            share += int(beside * layers.share("recent")) - layers.cost(lessons)
            # In this order: where all is too long after all, the first goes first.
            chosen |= {"recent": layers.recent(share, (*known, *lessons)), "lessons": lessons, "known": known}
            waiting = waiting_line(opened)
        before = [item for items in chosen.values() for item in items]
        left -= layers.cost(before) + _MARKS * (len(chosen) - 1)
        if recalled:
            chosen["recalled"] = layers.recalled(message, left, before)
        waiting = waiting if count(waiting) <= left else ""
        return build_pack(shown_core, chosen, budget, count, [*warnings, *layers.warnings], waiting, layers.rest)

    return memory.run(job)


_MARKS = 50  # tokens of the marks and the head of one block
_HEADING = 48  # tokens of them and of the line that names the rest, beside what `fitting` leaves free
_FILLED = 3  # times that a block is filled: lines of one passage take less than they do alone


def room_beside(core: str, budget: int, count: Counter) -> int:
    """What the core leaves of the budget."""
    needed = count(stable_part(core, {})) if core else 0
    if needed > budget:
        what = f"the core ({CORE_PAGE} and pinned pages) takes {needed:,} tokens, the budget is {budget:,}"
        cure = f"give --budget {needed} or more, shorten {CORE_PAGE}, or unpin pages in memctl.toml"
        raise OverBudget(f"{what}; the core is never cut", cure, needed)
    return budget - needed


def staleness(memory: OpenMemory) -> list[str]:
    """Bring the index up to date, where something changed; why it may lag, if it does."""
    report = memory.synced()
    if report.stale:
        memory.tell(f"stale: {report.stale}")
    return [report.stale] if report.stale else []


class Memories(NamedTuple):
    """A fenced block of cited lines, and how many; empty and 0 where nothing belongs to the message."""

    text: str
    lines: int


def memories(memory: OpenMemory, message: str, *, k: int = 10, hops: int = 1, budget: int = 2000) -> Memories:
    """The best `k` lines for a message that fit into `budget` tokens, the untrusted ones marked, without private ones.

    With 2 or 3 `hops` also lines that these lead to, each with the way.

    Lines far weaker than the best belong to another question. What looks like a filter in a message is only words.
    """
    query = query_of(message, Query(), memory.today)
    if not query_terms(query.words) and not query.days:
        return Memories("", 0)
    answer = recall(memory, query, k=k, hops=hops)
    least = WEAK * max((hit.score for hit in answer.hits), default=0.0)
    kept = tuple(hit for hit in answer.hits if hit.score >= least and not hit.retracted)
    related = tuple(hit for hit in answer.related or () if not hit.retracted)
    items = fitting(_as_items(memory, answer._replace(hits=kept, related=related)), budget, estimate)
    return Memories(recalled_block(items, rest=_rest(answer, items)), len(items))


def told(memory: OpenMemory, answer: Answer, budget: int) -> tuple[Answer, str]:
    """What of an answer fits into `budget` tokens, and its text as a model reads it: passages in the order of their pages, the
    best first, facts with their ids. A line goes with the one that may have replaced it."""
    found, items, room = _as_items(memory, answer, ids=True), list[Item](), budget - _HEADING
    for _ in range(_FILLED):
        tried = fitting(found, room, estimate)
        over = estimate(recalled_block(tried, rest=_rest(answer, tried))) - budget
        items, room = tried if over <= 0 or not items else items, room - over
    while True:
        shown = {item.source for item in items}
        left = [hit for hit in answer.hits if str(hit.source) not in shown]
        lost = {hit.ref for hit in left}
        alone = {str(hit.source) for hit in answer.hits if hit.perhaps_superseded_by in lost}
        if not alone.isdisjoint(shown):
            items = [item for item in items if item.source not in alone]
        elif estimate(block := recalled_block(items, rest=_rest(answer, items))) > budget and items:
            items.pop()
        else:
            break
    hits = tuple(hit for hit in answer.hits if str(hit.source) in shown)
    related = answer.related and tuple(hit for hit in answer.related if str(hit.source) in shown)
    why = ("no hit fits into the budget",) if answer.hits and not hits else answer.empty
    more = (*(hit.day or hit.source.path for hit in left), *answer.more)
    told = answer._replace(hits=hits, related=related, more=more, empty=why)
    unsaid = fitting([item for item in found if item.section == "related"], sys.maxsize, estimate, items)
    return crowded_out(told, len(unsaid), budget) if hits and unsaid and not related else told, block


def _as_items(memory: OpenMemory, answer: Answer, ids: bool = False) -> list[Item]:
    hits = memory.run(lambda opened: with_neighbours(opened, answer.hits))
    related = (item_of(hit, "recalled", "related", ids=ids) for hit in answer.related or ())
    return [*(item_of(hit, "recalled", ids=ids) for hit in hits), *related]


def _rest(answer: Answer, items: Sequence[Item]) -> str:
    """The line that says where the rest of an answer stands, of which `items` are shown."""
    shown = {item.source for item in items}
    left = [hit.day or hit.source.path for hit in answer.hits if str(hit.source) not in shown]
    return more_line((*left, *answer.more), (item.day or item.source.partition("#")[0] for item in items))


def beside_prompt(memory: OpenMemory, prompt: str, budget: int, most: int) -> str:
    """The fenced block of at most `most` lines that belong to a prompt; mostly empty: it speaks where one of them more likely
    than not answers the prompt. "Run the tests again" finds some line with a test in it; that answers nothing."""
    items, signs, tells = memory.public().run(lambda opened: lines_beside(opened, prompt, budget, most))
    bias, *weights = SPEAKING
    speaks = not signs or bias + sum(weight * sign for weight, sign in zip(weights, signs, strict=True)) > 0
    return recalled_block(items) if tells and speaks else ""


SPEAKING = -12.89, 1.15, 10.34, 0.85, 0.84, 0.26
"""Bias and weights of signs, fitted by `python bench/hooks.py --fit` (docs/retrieval.md)."""

_NEAR = 0.6  # of the score of the best line about whom the prompt names: what stands beside it
_STEEP = 4  # how soon more shared words speak for no more: near the idf of a rare word in months of notes
_WORDS = 2  # that a line shares with a prompt which does not ask, unless one is an identifier or beside a name


def lines_beside(memory: OpenMemory, prompt: str, budget: int, most: int) -> tuple[list[Item], list[float], bool]:
    """The lines that may stand beside a prompt by its words, the signs that they answer it (none where they are of the time
    that alone is asked for), and whether it asks or shares what tells."""
    query, by_words = query_of(prompt, Query(), memory.today), memory.with_workspace(memory.workspace.without_model())
    layers = Layers(by_words, counter_of(memory.workspace), Query(), core_of(memory)[0])
    found = layers.recalled(prompt, budget - _MARKS)
    best_first = sorted(layers.found, key=lambda hit: -hit.score)[:most]
    asks = asks_anywhere(re.sub("(?s)```.*?(```|$)", " ", query.pasted or query.words))  # SQL says "where"
    index, asked = memory.index, query_terms(query.words)
    counts, total = Tally(frequencies(index, asked, own=True)) - layers.outside, entry_count(index, own=True)
    weights = {term: idf(counts[term], total) / idf(1, total) for term in asked}  # 1 for a word of a single line
    names = {key for name in KnownNames(index).in_text(query.words) for key in (name, *keys_of(index, name))}
    names.update(_named_in(query.words, {name for hit in best_first for name in hit.entities}))
    own = {term for name in names for term in terms(name)}
    wanted = {term: weight for term, weight in weights.items() if len(term) > 1 and term not in own}
    known, texts = as_listed(names), ((item.source, item.line.partition("]")[2]) for item in found)
    about = (each for each in texts if not names or find_names(" ".join(_WORD.findall(each[1])), known))
    shared = {source: wanted.keys() & terms(text) for source, text in about}  # others answer it about somebody else
    hits = [hit for hit in best_first if str(hit.source) in shared]
    times = _times_alone(query, names, memory.today) if asks else ()
    days = ((hit, day) for hit in hits for day in (hit.valid.first, iso_day(hit.day)) if day)
    dated = [hit for hit, day in days if any(time.holds(day) for time in times)]
    near = dated or [hit for hit in hits if hit.score >= _NEAR * hits[0].score]
    newer = {hit.superseded_by or hit.perhaps_superseded_by for hit in near}  # in whatever words it is told
    shown = {str(hit.source) for hit in layers.found if hit in near or hit.ref in newer}
    items = [item for item in found if item.source in shown][:most]
    said = [wanted.keys() if "slot" in hit.why else shared[str(hit.source)] for hit in near]
    says = names or query.days or weights.keys() - stop_terms() or any("slot" in hit.why for hit in near)
    telling = (words for words in said if len(words) >= _WORDS or (names and words) or any(map(is_identifier, words)))
    tells = bool(says) and (asks or any(telling))
    if dated or not near:
        return items, [], tells
    weight = max(sum(wanted[term] for term in words) for words in said)
    chance = answerable(signs_of(memory.index, query.words, best_first, layers.outside), best_first) or 0.0
    marked = " ".join(_WORD.findall(" ".join(name for hit in near for name in hit.entities)))
    signs = [
        float(asks),
        hits[0].score / best_first[0].score,  # what another's line has more
        float(bool(names and find_names(marked, as_listed(names)))),  # a mark names whom the prompt names
        math.log1p(_STEEP * weight),  # how much the words weigh, names apart, that one shares; a slot all
        math.log(max(chance, 0.001) / max(1 - chance, 0.001)) if weight or not names else 0.0,
    ]
    return items, signs, tells


def _times_alone(query: Query, names: Collection[str], today: date) -> Sequence[Period]:
    """The times of a question for nothing but these: "what happened last week?", "what did Anna do on Monday?"."""
    if query.days:
        return (query.days,)
    own = {term for name in names for term in terms(name)}
    rest = " ".join(word for word in query.words.split() if own.isdisjoint(terms(word)) or has_han(word))
    for name in names if has_han(rest) else ():
        rest = re.sub(re.escape(name), "", rest, flags=re.IGNORECASE)
    times, is_bare, _ = question_times(rest, today)
    return times if is_bare else ()


def _named_in(words: str, bearers: Iterable[str]) -> list[str]:
    """Whom a prompt names: those of the names of found lines that it has, and words that can only be names."""
    from ..ingest.own_words import language_of, rx, vocabulary

    found = find_names(" ".join(_WORD.findall(words)), as_listed(bearers))
    if language_of(words) == "zh":
        able = [match[0] for match in rx("zh", "addressed").finditer(words)]
    else:
        able = [word for word in _WORD.findall(words)[1:] if word.istitle() and len(word) > 1]
    common = vocabulary("not_names")
    return [*found, *(name for name in able if name.casefold() not in common and name[:2] not in common)]


_WORD = re.compile(rf"[{HAN_CHARS}]+|[^\W\d_{HAN_CHARS}]+(?:-[^\W\d_{HAN_CHARS}]+)*")  # "Anna上周" is two


def core_of(memory: OpenMemory) -> tuple[str, list[str]]:
    """memory.md and the pinned pages, whole but for lines that are untrusted; and what could not be read."""
    workspace = memory.workspace
    parts: list[str] = []
    warnings: list[str] = []
    for path in dict.fromkeys((core_page(workspace), *workspace.settings.pinned)):
        try:
            text = read_page(workspace, workspace.contain(path)).text
        except MemctlError as error:
            if path != CORE_PAGE or (workspace.root / path).exists():
                warnings.append(f"pinned page {path} is left out: {error.what}")
            continue
        if source := _from_outside(text):
            warnings.append(f"{path} is left out: it came from outside ({source}); take `src` out if you stand for it")
            continue
        kept = "\n".join(line for line in _trusted(text).split("\n") if line not in TEMPLATES).strip()
        if kept and not PAGES.get(path, "").startswith(f"{kept}\n"):  # the heading alone
            parts.append(f"<!-- {path} -->\n{kept}")
    return "\n\n".join(parts), warnings


def _from_outside(text: str) -> str | None:
    """The `src` in the front matter of a page that came from outside: no line of it can vouch for itself."""
    if not text.removeprefix("\ufeff").startswith("---"):
        return None
    from ..markdown.front_matter import source_of

    source = source_of(text)
    return None if is_trusted(source) else source


def _trusted(text: str) -> str:
    """A page without lines that came from outside."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    if not re.search(r"\bsrc\s*=", text):
        return text
    from ..markdown.page import parse_page

    page = parse_page(text, facts_everywhere=True)
    lines = list(page.lines)
    for entry in page.entries:
        if entry.fact and not is_trusted(entry.fact.source):
            lines[entry.span.line - 1 : entry.span.end_line] = [""] * (entry.span.end_line - entry.span.line + 1)
    return "\n".join(lines)


# -- what counts tokens, by the name that settings and `--counter` give ------------------------------------------------

_REMEMBERED = 4096  # texts whose count is kept: a chat is counted message by message, every turn


def counter_of(workspace: Workspace, name: str | None = None) -> Counter:
    """The counter of that name; without one, that of `[context] counter`. A path is taken from the workspace on.

    ExtraMissing (exit 16) where the package for it is not installed, ExtraBroken where it cannot work offline.
    """
    chosen = name or workspace.settings.counter
    if chosen == "estimate":
        return estimate
    if chosen.endswith(".json"):
        return _of_file(str(workspace.root / os.path.expanduser(chosen)))
    return _of_tiktoken(chosen)


@lru_cache(maxsize=4)
def _of_file(path: str) -> Counter:
    if not os.path.isfile(path):
        raise Usage(f"no tokenizer at {path}", "name a tokenizer.json, as it comes with a model")
    try:
        json.loads(Path(path).read_text("utf-8"))["model"]["vocab"]  # the library raises bare Exceptions
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Usage(f"{path} is not a tokenizer: {error}", "name a tokenizer.json, as it comes with a model") from error
    try:
        tokenizers: Any = import_module("tokenizers")
    except ImportError as error:
        raise ExtraMissing("tokenizers", "tokenizers, which reads a tokenizer.json,") from error
    tokenizer = tokenizers.Tokenizer.from_file(path)
    return lru_cache(maxsize=_REMEMBERED)(lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids))


@lru_cache(maxsize=4)
def _of_tiktoken(name: str) -> Counter:
    try:
        tiktoken: Any = import_module("tiktoken")
    except ImportError as error:
        raise ExtraMissing("tiktoken", f"tiktoken, which counts {name},") from error
    if name not in tiktoken.list_encoding_names():
        known = ", ".join(sorted(tiktoken.list_encoding_names()))
        raise Usage(f"counter {name!r} is unknown", f"estimate, the path of a tokenizer.json, or one of {known}")
    encoding = _offline(tiktoken, name)
    return lru_cache(maxsize=_REMEMBERED)(lambda text: len(encoding.encode_ordinary(text)))


def _offline(tiktoken: Any, name: str) -> Any:
    """The encoding, if its file is in tiktoken's cache: memctl downloads nothing."""
    load: Any = import_module("tiktoken.load")
    read = load.read_file

    def read_here(path: str) -> bytes:
        if "://" not in path:
            return Path(path).read_bytes()
        raise ExtraBroken(
            f"tiktoken has no file for {name} in its cache, and memctl downloads nothing",
            f'run once with a network: python -c "import tiktoken; tiktoken.get_encoding({name!r})", '
            "and set TIKTOKEN_CACHE_DIR to a folder that lasts",
        )

    load.read_file = read_here
    try:
        return tiktoken.get_encoding(name)
    finally:
        load.read_file = read


# -- pages that a server offers whole, without their private lines -----------------------------------------------------

_LOGS = 7  # newest logs that are listed
_LONGEST = 64_000  # characters of a page that is given whole


class PublicPage(NamedTuple):
    """One page: `kind` is page, log or entity, `name` is what it is asked by."""

    kind: str
    name: str
    description: str


def public_pages(memory: OpenMemory) -> tuple[PublicPage, ...]:
    """All of them: core pages, logs from the newest on, entities by name."""
    workspace = memory.workspace
    memory.sync_for_read()
    there = {page.path for page in workspace.scan() if page.problem is None}
    core = dict.fromkeys((core_page(workspace), *workspace.settings.pinned))
    entities = [entity for entity in all_entities(memory.index) if workspace.is_page(entity.path)]
    entities.sort(key=lambda entity: entity.name)
    return (
        *(PublicPage("page", path, "Always in context") for path in core if path in there),
        *(PublicPage("log", name, "Daily log") for name in _logs(workspace)[:_LOGS]),
        *(PublicPage("entity", entity.name, entity.type or "Entity page") for entity in entities),
    )


def public_page(memory: OpenMemory, kind: str, name: str) -> str:
    """The text of a page without its private lines, of a very long one the beginning; NothingFound if it is not offered."""
    workspace = memory.workspace
    if kind == "page" and workspace.is_page(name):
        path = name
    elif kind == "log" and name in _logs(workspace):
        path = f"memory/{name}.md"
    elif kind == "entity":
        path = _entity_page(memory, name)
    else:
        raise NothingFound(f"there is no {kind} {name[:200]!r}", "list the resources to see them all")
    text = read_page(workspace, path).text.removeprefix("\ufeff")
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}\n\n[cut here; show {path}#L… reads on]\n"


def _logs(workspace: Workspace) -> list[str]:
    """The names of the logs, newest first."""
    pages = (PurePosixPath(page.path) for page in workspace.scan() if page.problem is None)
    return sorted((p.stem for p in pages if str(p.parent) == "memory" and log_day(p.name)), reverse=True)


def _entity_page(memory: OpenMemory, name: str) -> str:
    memory.sync_for_read()
    found = entity_named(memory.index, name)
    if isinstance(found, str) or not memory.workspace.is_page(found.path):
        cure = "resources/list has those that do; recall finds lines about it"
        raise NothingFound(f"{name[:200]!r} has no page", cure)
    return found.path
