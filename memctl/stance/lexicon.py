"""The word lists of stance: the shipped ones and a user's own, as one index of phrases.

The lists are data files (`language/data/<language>/stance.toml`). A section is a string of words with commas between;
in GROUPED sections each line is `name: words`, and the lines of `scales` have two ends: `name: words | words`. Equal
names in several languages are one thing, so a Russian line can speak for an English belief. `not_on` bars words from a
scale or a section with which they share but their stem: an author accepts nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache, cached_property, lru_cache
from typing import NamedTuple

from ..language.analyzer import stop_terms, terms
from ..language.names import is_han
from ..language.words import toml, words

LANGUAGES = ("en", "ru", "zh")
GROUPED = ("groups", "kinds", "choices", "scales", "slots", "units", "not_on")
VALUED = ("numbers", "months")


class Token(NamedTuple):
    """One word, number, sign or run of Han characters: as written, folded, stemmed, what it is and where it begins."""

    raw: str
    word: str
    stem: str
    kind: str  # w word, n number, i identifier, p punctuation, h Han run
    start: int


class PhraseRole(NamedTuple):
    """What a phrase of a list is good for: its section, the name of its line, the end of its scale (or its value)."""

    section: str
    name: str = ""
    side: float = 0


class Phrase(NamedTuple):
    """One phrase of the lists, or a word that no list has: its spelling, its key and its roles.

    `kind` is that of its token, or "r" for a run of unknown Han characters. `parts` are the groups of its words.
    """

    word: str
    key: str
    kind: str
    capital: bool
    roles: tuple[PhraseRole, ...]
    sections: frozenset[str]
    start: int
    relations: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()


class Lexicon:
    """An index from phrases to roles. `match` and `han` find the longest phrase at a place."""

    def __init__(self, lists: list[Mapping[str, str]]) -> None:
        self.phrases: dict[str, list[tuple[tuple[str, ...], list[PhraseRole]]]] = {}
        self.characters: dict[str, list[PhraseRole]] = {}
        self.relations: dict[str, list[tuple[tuple[str, ...], list[PhraseRole]]]] = {}
        self.han_relations: dict[str, list[PhraseRole]] = {}
        self.longest = 1
        known: dict[tuple[bool, tuple[str, ...]], list[PhraseRole]] = {}
        for given in lists:
            for section, text in given.items():
                for phrase, role in _entries(section, str(text)):
                    self._add(phrase, role, known)
        self._share_choices([*known.values(), *self.characters.values()])
        for table in (self.phrases, self.relations):
            for found in table.values():
                found.sort(key=lambda entry: -len(entry[0]))

    def _add(self, phrase: str, role: PhraseRole, known: dict[tuple[bool, tuple[str, ...]], list[PhraseRole]]) -> None:
        exact = phrase.startswith("=")
        phrase = phrase.removeprefix("=").strip()
        relation = role.section == "slots"
        roles: list[PhraseRole]
        if phrase and all(map(is_han, phrase)):
            roles = (self.han_relations if relation else self.characters).setdefault(phrase, [])
            self.longest = max(self.longest, len(phrase))
        else:
            key = _key(phrase, exact)
            if not key:
                return
            if (relation, key) not in known:
                known[relation, key] = []
                table = self.relations if relation else self.phrases
                table.setdefault(key[0], []).append((key, known[relation, key]))
            roles = known[relation, key]
        if role not in roles:
            roles.append(role)

    def _share_choices(self, entries: list[list[PhraseRole]]) -> None:
        """What is a choice under one name is one under all: `drive` as well as `car`."""
        classes: dict[str, dict[str, PhraseRole]] = {}
        for roles in entries:
            for group in (role.name for role in roles if role.section == "groups"):
                for role in roles:
                    if role.section == "choices":
                        classes.setdefault(group, {})[role.name] = role
        for roles in entries:
            for group in [role.name for role in roles if role.section == "groups"]:
                roles += [role for role in classes.get(group, {}).values() if role not in roles]

    def match(self, found: tuple[Token, ...], at: int) -> tuple[int, tuple[PhraseRole, ...]]:
        """How many tokens the longest phrase at `at` takes, and its roles; (1, ()) when no list has it."""
        token = found[at]
        best = 0
        roles: list[PhraseRole] = []
        for first in (f"={token.word}", token.stem):
            for key, given in self.phrases.get(first, ()):
                if len(key) < best:
                    break
                if size := _span(key, found, at):
                    roles = [*roles, *given] if size == best else list(given) if size > best else roles
                    best = max(size, best)
        return (best, _without_chance(roles)) if best else (1, self._derived(token))

    @cached_property
    def common(self) -> frozenset[str]:
        """Chinese words without a role, so that no part of one is taken for a word of the lists."""
        return frozenset(words("zh", "common")[""])

    def relation(self, found: tuple[Token, ...], at: int) -> tuple[int, tuple[PhraseRole, ...]]:
        """How many tokens the longest relation ("lives in") at `at` takes, and its names."""
        token = found[at]
        there = [
            (size, role)
            for first in (f"={token.word}", token.stem)
            for key, given in self.relations.get(first, ())
            if (size := _span(key, found, at))
            for role in given
        ]
        best = max((size for size, _ in there), default=0)
        return best, tuple(role for size, role in there if size == best)

    def groups(self, found: tuple[Token, ...]) -> tuple[str, ...]:
        """The names of the things that single words of a phrase stand for."""
        return tuple(
            role.name
            for token in found
            for first in (f"={token.word}", token.stem)
            for key, given in self.phrases.get(first, ())
            if len(key) == 1
            for role in given
            if role.section == "groups"
        )

    def _derived(self, token: Token) -> tuple[PhraseRole, ...]:
        """Roles of the word that this one is made of: `shorter` of short, `unhelpful` and «неудобный» turned round."""
        for base, turned in _bases(token):
            for key, given in self.phrases.get(base, ()):
                if len(key) == 1 and (roles := [role for role in given if role.section == "scales"]):
                    return tuple(role._replace(side=-role.side) if turned else role for role in roles)
        return ()


def _without_chance(roles: list[PhraseRole]) -> tuple[PhraseRole, ...]:
    """Roles without those that a word has only because of its stem: an author accepts nothing."""
    barred = {role.name for role in roles if role.section == "not_on"}
    if barred:
        roles = [r for r in roles if r.section != "not_on" and not barred & {r.section, r.name}]
    return tuple(dict.fromkeys(roles))


def _key(phrase: str, exact: bool) -> tuple[str, ...]:
    """What the tokens of a text are compared with: `=word` as it stands, a stem otherwise, `*` and `**` for gaps."""
    if phrase.isalpha() and phrase.islower():
        return (f"={fold(phrase)}",) if exact else (stem_word(fold(phrase)),)
    if "*" in phrase:
        parts = (part if part in ("*", "**") else _key(part, exact) for part in phrase.split())
        return tuple(key for part in parts for key in ((part,) if isinstance(part, str) else part))
    return tuple(f"={token.word}" if exact else token.stem for token in tokens(phrase))


def _fits(key: str, token: Token) -> bool:
    return key[1:] == token.word if key[0] == "=" else key == token.stem


def _span(key: tuple[str, ...], found: tuple[Token, ...], at: int) -> int:
    """How many tokens a phrase takes at `at`, 0 when it is not there; `*` stands for up to two short words, `**` for three."""
    gap = next((n for n, part in enumerate(key) if part in ("*", "**")), None)
    if gap is None:
        return len(key) if _stands(key, found, at) else 0
    if not _stands(key[:gap], found, at):
        return 0
    for skipped in range(4 if key[gap] == "**" else 3):
        if skipped and key[gap] == "*" and len("".join(part.word for part in found[at + gap + skipped - 1 :][:1])) > 3:
            return 0
        if _stands(key[gap + 1 :], found, at + gap + skipped):
            return len(key) - 1 + skipped
    return 0


def _stands(key: tuple[str, ...], found: tuple[Token, ...], at: int) -> bool:
    return len(key) <= len(found) - at and all(map(_fits, key, found[at : at + len(key)]))


def _bases(token: Token) -> Iterator[tuple[str, bool]]:
    word = token.word
    if word.isascii():
        for end in ("est", "er"):
            if word.endswith(end) and len(word) > len(end) + 2:
                bare = word[: -len(end)]
                yield from ((stem_word(base), False) for base in (bare, f"{bare}e", bare[:-1]))
        for start in ("un", "in", "im", "dis", "non"):
            if word.startswith(start) and len(word) > len(start) + 3:
                yield stem_word(word[len(start) :]), True
    elif word.endswith("лив"):
        yield stem_word(f"{word}ый"), False
    elif word.endswith(("ен", "ок")):
        yield stem_word(word[:-2] + ("ный" if word.endswith("ен") else "кий")), False
        yield stem_word(word[:-2] + "ьный"), False
    elif word.startswith("по") and len(word) > 5:
        yield stem_word(word[2:]), False
    elif word.startswith("не") and len(word) > 5:
        yield stem_word(word[2:]), True


def _entries(section: str, text: str) -> Iterator[tuple[str, PhraseRole]]:
    """(phrase, role) of each word of a section."""
    if section in VALUED:
        for item in _items(text):
            phrase, _, value = item.rpartition(" ")
            yield f"={phrase.removeprefix('=')}", PhraseRole(section, "", float(value))
    elif section not in GROUPED:
        yield from ((item, PhraseRole(section)) for item in _items(text))
    else:
        for line in filter(None, map(str.strip, text.splitlines())):
            name, _, rest = line.partition(":")
            if section == "units":
                name, _, factor = name.partition(" ")
                yield from ((item, PhraseRole(section, name, float(factor))) for item in _items(rest))
                continue
            if section == "not_on":
                yield from ((f"={item}", PhraseRole(section, name.strip())) for item in _items(rest))
                continue
            first, _, second = rest.partition("|")
            yield from ((item, PhraseRole(section, name.strip(), 1)) for item in _items(first))
            yield from ((item, PhraseRole(section, name.strip(), -1)) for item in _items(second))


def _items(text: str) -> list[str]:
    return [item for part in text.split(",") if (item := " ".join(part.split()))]


@cache
def shipped() -> Lexicon:
    """The lexicon of the lists that come with memctl."""
    return lexicon()


def lexicon(*extra: Mapping[str, str]) -> Lexicon:
    """The shipped lists and `extra` ones: section -> words, in the form of the data files."""
    return Lexicon([*(toml(language, "stance") for language in LANGUAGES), *extra])


# -- tokens -----------------------------------------------------------------------------------------------------------

_APOSTROPHES = str.maketrans({"\u2019": "'", "\u2018": "'", "\u02bc": "'", "\u0451": "\u0435", "\u0401": "\u0415"})


@cache
def _token() -> re.Pattern[str]:
    han = r"\u3400-\u9fff\uf900-\ufaff"
    return re.compile(
        rf"(?P<i>v?\d+\.\d+(?:\.\d+)+(?:-[^\W_{han}]+(?:\.\d+)*)?(?![^\W_{han}])|[^\W\d_{han}][^\W_{han}]*(?:[-_./+][^\W_{han}]+)*(?:(?<=\d)|[-_./+][^\W_{han}]*\d[^\W_{han}]*)(?![^\W_{han}]))"
        rf"|(?P<w>[^\W\d_{han}]+(?:'[^\W\d_{han}]+)*(?:[+#]{{1,2}}(?!\w))?)"
        rf"|(?P<n>\d{{4}}-\d\d-\d\d|\d{{1,2}}:\d\d(?!\d)|\d{{1,3}}(?:[,\u00a0\u202f]\d{{3}})+(?!\d)(?:\.\d+)?|\d+(?:[.,]\d+)*)"
        rf"|(?P<h>[{han}]+)"
        rf"|(?P<p>[^\w\s])"
    )


@lru_cache(maxsize=50_000)
def stem_word(word: str) -> str:
    """The Snowball stem of a folded word; «звуков» too, which `names.stem_word` takes for a surname.

    Short Russian words lose their ending as well («тля, тли»), which Snowball leaves them.
    """
    found = terms(word)
    stem = found[0] if found else word
    return stem[:-1] if 3 <= len(stem) <= 4 and stem[-1] in "аеийоуыья" and stem not in stop_terms() else stem


_HYPHENS = "-\u2010\u2011"


def _glued(text: str, at: int) -> bool:
    return 0 < at < len(text) - 1 and text[at - 1].isalpha() and text[at + 1].isalpha()


def fold(text: str) -> str:
    """`text` with plain apostrophes and without «ё»; of the same length."""
    return text.translate(_APOSTROPHES)


@lru_cache(maxsize=4096)
def tokens(text: str) -> tuple[Token, ...]:
    """The tokens of `text` in order. A hyphen parts words, but not identifiers such as `prod-5`."""
    found = []
    for match in _token().finditer(fold(text)):
        raw, kind = match[0], match.lastgroup or "p"
        word = raw.casefold()
        if kind == "p" and raw in _HYPHENS and _glued(text, match.start()):
            continue
        if kind == "w" and word.endswith(("'s", "s'")) and word not in ("it's", "he's", "she's", "that's", "let's"):
            word = word[:-2] if word.endswith("'s") else word[:-1]
        stem = stem_word(word) if kind == "w" else word
        found.append(Token(raw, word, stem, kind, match.start()))
    return tuple(found)
