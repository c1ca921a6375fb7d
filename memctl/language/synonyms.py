"""Other words for what a question names: which spellings of a group stand in it, and which could stand for them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache

from .analyzer import fold, terms
from .names import has_han, is_han
from .words import languages, lines

_WORD = re.compile(r"[^\W_]+")
_HEAD = 3  # letters by which the groups of a word are found, more of a long one: no ending begins before

Expansion = tuple[tuple[str, ...], tuple[str, ...]]
"""Tokens that, one after another, stand for terms of a question; and those terms."""

# Its tokens, the spelling itself if it is Chinese, whether it is looked for, whether it is understood. Plain tuples: to
# make a class for them costs more than all the rest.
_Spelling = tuple[tuple[str, ...], str, bool, bool]


def expansions(text: str, wanted: Sequence[str], more: Sequence[Sequence[str]] = ()) -> list[Expansion]:
    """What could stand for the wanted terms of a question: the other spellings of every group that it names.

    `more` are groups of the workspace's own.
    """
    folded = fold(text).casefold()
    asked = [token for word in text.replace("-", " ").split() for token in terms(word)[:1]]
    known = set(wanted)
    found: dict[tuple[str, ...], dict[str, None]] = {}
    for line in _likely(folded, known, _table(tuple(", ".join(group) for group in more))):
        spellings = _spellings(line)
        named = (
            tokens for tokens, han, _, read in spellings if read and (han in folded if han else _follow(tokens, asked))
        )
        anchors = dict.fromkeys(term for tokens in named for term in tokens if term in known)
        for tokens, _, sought, _ in spellings if anchors else ():
            if sought and not set(tokens) <= known:
                found.setdefault(tokens, {}).update(anchors)
    return [(tokens, tuple(anchors)) for tokens, anchors in found.items()]


@cache
def groups(section: str = "") -> tuple[str, ...]:
    """The shipped groups, a line each: spellings of all languages with commas between; `near` are words that mean nearly the same."""
    held: dict[str, list[str]] = {}
    for language in languages():
        for line in lines(language, "synonyms").get(section, ()):
            name, colon, spellings = line.partition(": ")
            key = name if colon else line.partition(",")[0].lstrip("~+")
            held.setdefault(key, []).append(spellings if colon else line)
    return tuple(map(", ".join, held.values()))


@lru_cache(maxsize=4)
def _table(more: tuple[str, ...]) -> str:
    """All groups as one text in which every word follows a space, to be searched without reading its lines."""
    own = [fold(line.replace("\n", " ")).casefold() for line in more]
    return "\n ".join(["", *groups(), *groups("near"), *own, ""]).replace("~", " ~ ").replace(" +", " + ")


def _likely(folded: str, known: set[str], table: str) -> list[str]:
    """The lines that may hold a spelling from the text: some word in them begins as a word of the text does."""
    heads: dict[str, None] = {}
    for word in _WORD.findall(folded):
        if has_han(word):
            heads |= dict.fromkeys(word[i : i + 2] for i in range(len(word) - 1) if is_han(word[i]))
        elif len(word) > 1 and (found := known.intersection(terms(word))):
            long = len(word) > _HEAD
            whole = [f" {piece}{end}" for piece in (word, *found) if len(piece) <= _HEAD for end in ", -\n"]
            heads |= dict.fromkeys([f" {word[: max(_HEAD, min(len(word) - _HEAD, 5))]}"] if long else whole)
    lines: dict[int, str] = {}
    for head in heads:
        at = table.find(head)
        while at >= 0:
            start, end = table.rfind("\n", 0, at), table.find("\n", at + 1)
            lines.setdefault(start, table[start + 1 : end])
            at = table.find(head, end)
    return list(lines.values())


@cache
def _spellings(line: str) -> tuple[_Spelling, ...]:
    found: list[_Spelling] = []
    for part in line.split(","):
        mark = part.strip()[:2]
        spelled = part.strip().removeprefix("~ ").removeprefix("+ ").strip()
        han = spelled if spelled and all(map(is_han, spelled)) else ""
        tokens = [token for word in spelled.replace("-", " ").split() for token in terms(word)[:1]]  # k8s, not its 8
        if han:
            tokens = [token for token in terms(han) if len(token) > 1]
        if tokens:
            found.append((tuple(tokens), han, mark != "~ ", mark != "+ "))
    return tuple(found)


def _follow(tokens: tuple[str, ...], asked: Sequence[str]) -> bool:
    """True if these tokens stand in the text, one after another."""
    many = len(tokens)
    return any(token == tokens[0] and tuple(asked[at : at + many]) == tokens for at, token in enumerate(asked))
