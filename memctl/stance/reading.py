"""A sentence as stance sees it: clauses with what they speak of, and what sets a clause aside."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from ..language.names import is_han
from .lexicon import Lexicon, stem_word, tokens
from .phrases import ATTITUDES, Item, items_of
from .quantities import Quantity, quantities
from .units import CONTENT, OPERATORS, Unit, is_barrier, units_of

__all__ = ["Clause", "analyse"]


class Clause(NamedTuple):
    """A stretch of text with one view: what it speaks of, how much of it, and why it may not count."""

    items: tuple[Item, ...]
    quantities: tuple[Quantity, ...]
    units: tuple[Unit, ...]
    flags: frozenset[str]
    slots: tuple[tuple[str, int], ...]
    segments: tuple[int, ...]
    sentence: int


FLAGS = (
    "hedge",
    "past",
    "plan",
    "if",
    "wonder",
    "mention",
    "hearsay",
    "reversal",
    "change",
    "compare_other",
    "only",
    "although",
)
_ENDS = frozenset(".!?…;。！？；")
_MOST = 80  # items of one clause: a longer one is a paste, and pairs grow with the square
_OPEN = {"«": "»", "“": "”", "「": "」", "『": "』", '"': '"', "„": "“"}


@lru_cache(maxsize=2048)
def analyse(text: str, lexicon: Lexicon, names: tuple[str, ...] = ()) -> tuple[Clause, ...]:
    """The clauses of `text`, in order. `names` are Han words to keep whole. Time in proportion to the length; never fails."""
    clauses = []
    for number, (sentence, asked) in enumerate(_sentences(units_of(tokens(text[:2000]), lexicon, names))):
        for part in _parts(sentence):
            clauses.append(_clause(part, number, asked))
    return tuple(_handed_down(clauses))


def _sentences(units: list[Unit]) -> Iterator[tuple[list[Unit], bool]]:
    """(units, is it a question) of each sentence; marks inside quotes end nothing."""
    held: list[Unit] = []
    closing = ""
    for unit in units:
        if closing:
            closing = "" if unit.word == closing else closing
        elif unit.word in _OPEN:
            closing = _OPEN[unit.word]
        elif unit.word in _ENDS:
            if held:
                yield held, unit.word in "?？"
            held = []
            continue
        held.append(unit)
    if held:
        yield held, any(unit.word in "?？" for unit in held)


def _parts(sentence: list[Unit]) -> Iterator[list[Unit]]:
    held: list[Unit] = []
    for unit in sentence:
        if unit.sections & {"but", "although"} and held:
            yield held
            held = []
        held.append(unit)
    if held:
        yield held


def _clause(units: list[Unit], number: int, asked: bool) -> Clause:
    kept, quoted = _unquoted(_needed(_no_longer(_joined(units))))
    kept = [_earlier(unit, kept[at + 1 : at + 2]) for at, unit in enumerate(kept)]
    flags = {section for unit in kept for section in unit.sections if section in FLAGS}
    if asked:
        flags.add("question")
    if quoted:
        flags.add("quoted")
    if _year(kept):
        flags.add("year")
    numbers = quantities(kept)
    counted = {number.at for number in numbers if "scales" not in kept[number.at].sections}
    items, segments = items_of(kept)
    items = tuple(item for item in items if item.at not in counted)[:_MOST]
    slots = tuple((name, at) for at, unit in enumerate(kept) for name in unit.relations) + tuple(_framed(kept))
    return Clause(items, numbers, tuple(kept), frozenset(flags), slots, segments, number)


_FRAMES = {
    "在": ("employer", frozenset(("工作", "上班", "任职"))),
    "在 ": ("school", frozenset(("读书", "上学", "念书", "读大学"))),
    "用": ("written", frozenset(("写", "写的", "开发", "编写", "实现"))),
}


def _framed(units: list[Unit]) -> Iterator[tuple[str, int]]:
    """Relations that stand around their value: 在腾讯工作, 用 Go 写."""
    for at, unit in enumerate(units[:-2]):
        value = units[at + 1]
        for name, ends in (_FRAMES.get(key, ("", frozenset())) for key in (unit.word, f"{unit.word} ")):
            if name and not value.sections & CONTENT and any(after.word in ends for after in units[at + 2 : at + 4]):
                yield name, at


def _earlier(unit: Unit, after: list[Unit]) -> Unit:
    """«Раньше десяти» is an hour, no time gone by."""
    if unit.word.casefold() == "раньше" and after and (after[0].kind == "n" or "numbers" in after[0].sections):
        return unit._replace(sections=unit.sections - {"past"})
    return unit


def _joined(units: list[Unit]) -> list[Unit]:
    """Verbs with a particle that stands apart from them: "picked every bit of onion out" refuses."""
    found = list(units)
    for at, unit in enumerate(units):
        verbs = {stem_word(role.name) for role in unit.roles if role.section == "apart"}
        for before in range(at - 1, max(-1, at - 7), -1) if verbs else ():
            if is_barrier(units[before]):
                break
            if units[before].key in verbs:
                sections = (found[before].sections - {"ask", "like", "light", "mild", "prefer"}) | {"refuse"}
                found[before] = found[before]._replace(sections=sections)
                break
    return found


def _no_longer(units: list[Unit]) -> list[Unit]:
    """不…了 says that something is over: 咖啡不喝了."""
    ends = [
        n for n, unit in enumerate(units) if unit.word == "了" and (n + 1 == len(units) or is_barrier(units[n + 1]))
    ]
    if not ends:
        return units
    found = list(units)
    for end in ends:
        start = next((n for n in range(end - 1, -1, -1) if is_barrier(units[n])), -1)
        for n in range(start + 1, end):
            if units[n].word in ("不", "不想", "不要"):
                found[n] = units[n]._replace(sections=units[n].sections | {"stop", "reversal"})
    return found


_WITHOUT = frozenset(("без", "without", "没", "没有", "不"))


def _needed(units: list[Unit]) -> list[Unit]:
    """ "Without X, no Y" needs X: «без сказки не засыпает», 没听故事就不睡."""
    found = list(units)
    for at, unit in enumerate(units):
        if unit.word.casefold() not in _WITHOUT:
            continue
        han = is_han(unit.word[0])
        for no in range(at - 2, max(-1, at - 7), -1) if not han else ():
            if is_barrier(units[no]) or "coordinate" in units[no].sections:
                break
            if "not" in units[no].sections and not _feels(units[no + 1 : no + 2]):
                found[at] = unit._replace(roles=(), sections=frozenset(("ask",)))
                found[no] = units[no]._replace(roles=(), sections=frozenset(("generic",)))
                break
        for no in range(at + 2, min(at + 7, len(units))):
            then = units[no]
            barred = is_barrier(then) or ("coordinate" in then.sections and not han)
            if barred or (not han and "not" in then.sections and _feels(units[no + 1 : no + 2])):
                break
            denied = then.sections & ({"not", "no", "dislike", "refuse"} if han else {"not"})
            if denied and (not han or any(before.word in ("就", "便", "就是") for before in units[at + 1 : no])):
                found[at] = unit._replace(roles=(), sections=frozenset(("ask",)))
                found[no] = then._replace(roles=(), sections=frozenset(("generic",)))
                break
    return found


def _feels(units: list[Unit]) -> bool:
    return any(unit.sections & {"like", "dislike", "refuse", "stop", "not"} for unit in units)


def _unquoted(units: list[Unit]) -> tuple[list[Unit], bool]:
    """Without what stands in quotes, unless the one it is about says it; a quoted name of one or two words stays."""
    kept: list[Unit] = []
    at, quoted = 0, False
    while at < len(units):
        closing = _OPEN.get(units[at].word)
        end = next((n for n in range(at + 1, len(units)) if units[n].word == closing), 0) if closing else 0
        if not end:
            kept.append(units[at])
            at += 1
            continue
        inside = units[at + 1 : end]
        if len(inside) <= 2 or _own_words(units[:at]):
            kept += inside
        elif not quoted:
            quoted = not _stands_alone(units[:at] + units[end + 1 :])
        at = end + 1
    return kept, quoted


def _own_words(before: list[Unit]) -> bool:
    """True when what comes before a quote says that the subject of the line speaks."""
    spoken = any("say" in unit.sections or "ask" in unit.sections for unit in before)
    strange = any(unit.sections & {"kin", "people", "source", "hearsay"} for unit in before)
    return spoken and not strange and not any(unit.word in ("a", "an", "the") for unit in before[:1])


def _stands_alone(rest: list[Unit]) -> bool:
    """True when what stands around a quote is a report of its own: somebody acted, and nobody else is cited."""
    if any(unit.sections & {"source", "hearsay", "say", "by", "kin", "people", "mention", "wonder"} for unit in rest):
        return False
    return sum(1 for unit in rest if unit.kind in "wh" and (not unit.sections or unit.sections & OPERATORS)) >= 2


_SINCE = frozenset(("since", "from", "с", "со", "自", "从", "by", "к", "после", "after"))


def _year(units: list[Unit]) -> bool:
    """True when a clause names a year in which it was so; "since 2020" goes on."""
    for at, unit in enumerate(units):
        if unit.kind == "n" and len(unit.word) == 4 and unit.word.isdigit() and "1900" <= unit.word <= "2100":
            before = units[at - 1].word.casefold() if at else ""
            after = units[at + 1].word.casefold() if at + 1 < len(units) else ""
            marked = before in ("in", "of", "during", "в", "year", "за") or after.startswith(("年", "год"))
            if marked and before not in _SINCE:
                return True
    return False


def _handed_down(clauses: list[Clause]) -> Iterator[Clause]:
    """A clause without nouns of its own speaks of what the clause before it names: "used to like it but now hates it"."""
    before: tuple[Item, ...] = ()
    for clause in clauses:
        nouns = [item for item in clause.items if not item.light and not item.axes]
        meant = any(unit.sections & {"anaphor", "but"} for unit in clause.units)
        if not nouns and before and meant:
            att = next((item.att for item in clause.items if item.att), 0) or _attitude(clause)
            no = -1 if any(unit.sections & {"not", "stop"} for unit in clause.units) and not att else 1
            lent = tuple(item._replace(att=att, no=no, segment=-1) for item in before if not item.axes)
            clause = clause._replace(items=clause.items + lent)
        else:
            before = clause.items
        yield clause


def _attitude(clause: Clause) -> int:
    """The attitude of a clause without items."""
    sign, found = 1, 0
    for unit in clause.units:
        if unit.sections & {"not", "no", "stop"} and "plain" not in unit.sections:
            sign = -sign
        for section, (value, _) in ATTITUDES.items():
            if section in unit.sections:
                found = sign * value
                sign = 1
    return found
