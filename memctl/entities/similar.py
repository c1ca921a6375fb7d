"""Names that may mean the same: what is worth a question to a person, and never a reason to merge anything."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ..language.names import entity_key, is_han, script_of, stem_word
from ..language.phonetic import is_surname, pinyin_keys, transliterate
from ..language.words import words_of

_CROWD = 40  # names that share a form: it does not tell them apart

_ROMAN = re.compile("x{0,2}(?:i{1,3}|i?v|vi{1,3}|ix)|x{1,2}")
_NUMBERS = re.compile(r"\d+")


class Near(NamedTuple):
    """An entity that may be the same, by which two names, and why; `reason` is a phrase for a person."""

    entity: str
    name: str
    other: str
    reason: str


class _NameForm(NamedTuple):
    """A name taken apart: its words, folded; how it sounds; what tells it from all others whatever the rest says."""

    entity: str
    name: str
    words: tuple[str, ...]
    sounds: tuple[str, ...]
    marks: tuple[str, ...]


class SimilarNames:
    """Names with their entities, in blocks by form. Names that may be the same stand in one block: few are compared."""

    def __init__(self, names: Iterable[tuple[str, str]]) -> None:
        """`names` are (entity, name) pairs; an entity, given by its name or page, may have many names."""
        self._of: dict[str, list[_NameForm]] = defaultdict(list)
        self._blocks: dict[str, tuple[_NameForm, ...]] = {}
        self._full: dict[str, dict[str, _NameForm]] = defaultdict(dict)
        for entity, name in dict.fromkeys(names):
            form = _form(entity, name)
            self._of[entity].append(form)
            for block in _blocks(form):
                members = self._blocks.get(block, ())
                if len(members) <= _CROWD:
                    self._blocks[block] = (*members, form)
            for first in _firsts(form):
                self._full[first].setdefault(entity, form)

    def near(self, entity: str) -> tuple[Near, ...]:
        """Who may be the same as `entity`, once each, by name."""
        found: dict[str, Near] = {}
        for form in self._of.get(entity, ()):
            for other, reason in (*self._alike(form), *self._first_names(form)):
                found.setdefault(other.entity, Near(other.entity, form.name, other.name, reason))
        known = {" ".join(form.words) for form in self._of.get(entity, ())}
        return tuple(near for _, near in sorted(found.items()) if entity_key(near.other) not in known)

    def _alike(self, form: _NameForm) -> Iterator[tuple[_NameForm, str]]:
        seen = {id(form)}
        for block in _blocks(form):
            members = self._blocks.get(block, ())
            for other in members if len(members) <= _CROWD else ():
                if id(other) not in seen and other.entity != form.entity:
                    seen.add(id(other))
                    if reason := alike(form, other):
                        yield other, reason

    def _first_names(self, form: _NameForm) -> Iterator[tuple[_NameForm, str]]:
        """The one full name that a first name fits, and the first names that fit this full name and no other."""
        if fits := self._fitting(form):
            yield fits, "the only full name that it fits"
        for first in _firsts(form):
            for other in self._blocks.get(f"={first}", ()):
                if other.entity != form.entity and self._fitting(other) is form:
                    yield other, "it fits no other full name"

    def _fitting(self, form: _NameForm) -> _NameForm | None:
        if len(form.words) != 1 or form.marks or not _is_name(form):
            return None
        found = self._full.get(form.words[0], {}) | self._full.get(form.sounds[0], {})
        others = [full for entity, full in found.items() if entity != form.entity]
        return others[0] if len(others) == 1 else None


def _form(entity: str, name: str) -> _NameForm:
    words = tuple(re.split(r"[ .,]+", entity_key(name).strip(" .,")))
    marks = [number.lstrip("0") for number in _NUMBERS.findall(" ".join(words))]
    marks += [word for word in words[1:] if _ROMAN.fullmatch(word)]
    marks += [word for word in words if len(word) == 1 and not is_han(word)]
    return _NameForm(entity, name, words, tuple(map(transliterate, words)), tuple(marks))


# -- blocks: what two names must have in common to be compared --------------------------------------------------------


def _blocks(form: _NameForm) -> Iterator[str]:
    yield "".join(form.sounds)
    if len(form.words) == 1:
        yield from (f"={first}" for first in {form.words[0], form.sounds[0]})
    else:
        yield "".join(sorted(form.sounds))
    if any("а" <= char <= "я" for word in form.words for char in word):
        yield "~" + " ".join(map(stem_word, form.words))
    yield from pinyin_keys(form.name)


def _firsts(form: _NameForm) -> Iterator[str]:
    """The first names by which a full name may go: its first word, as it sounds; of a Chinese name all but the surname."""
    name = form.name.strip()
    if len(name) == 3 and all(map(is_han, name)) and is_surname(name[0]):
        yield name[1:]
    things = (*words_of("similar", "fillers"), *words_of("similar", "things"))
    if len(form.words) in (2, 3) and not form.marks and _is_name(form) and set(form.words).isdisjoint(things):
        yield form.sounds[0]


def _is_name(form: _NameForm) -> bool:
    """Letters only, with capitals where the spelling is known at all: an entity without a page has its key for a name."""
    words = re.split(r"[\s.,_-]+", form.name.strip(" .,"))
    cased = [word for word in words if not is_han(word[:1])]
    plain = form.name == entity_key(form.name) or all(word[:1].isupper() and word[1:].islower() for word in cased)
    return plain and all(word.isalpha() for word in form.words) and len(form.words[0]) > 1


def alike(one: _NameForm, other: _NameForm) -> str:
    """Why two names may be the same; empty if they are not alike, or if something tells them apart."""
    if one.words == other.words or one.marks != other.marks:
        return ""
    only = [word for word in one.words if word not in other.words]
    there = [word for word in other.words if word not in one.words]
    if not only and not there:
        return "the same words in another order" if len(one.words) == len(other.words) else ""
    letters = "".join(one.words)
    if letters == "".join(other.words) and len(letters) >= 4:
        return "the same letters, written apart"
    return "the same name in other letters" if _is_transliterated(one, other) else _inflected(only, there)


def _is_transliterated(one: _NameForm, other: _NameForm) -> bool:
    """True for one name in two scripts, and for a Chinese one in traditional and in simplified characters."""
    crossed = script_of(one.name) != script_of(other.name)
    if sorted(one.sounds) == sorted(other.sounds) or "".join(one.sounds) == "".join(other.sounds):
        return crossed or script_of(one.name) == "han"
    return crossed and not set(pinyin_keys(one.name)).isdisjoint(pinyin_keys(other.name))


def _inflected(only: Sequence[str], there: Sequence[str]) -> str:
    """Russian words that differ in their endings, unless a man and a woman may differ so: «Александр», «Александра»."""
    brief = any(len(word) < 4 for word in (*only, *there))
    if brief or len(only) != len(there) or script_of("".join(only)) != "cyrillic":
        return ""
    pairs = zip(only, there, strict=True)
    same = all(stem_word(a) == stem_word(b) and not _gendered(a, b) for a, b in pairs)
    return "another form of the word" if same else ""


def _gendered(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    if long.startswith(short):
        return long[len(short) :] in words_of("similar", "feminine")
    return any({short[-2:], long[-2:]} == set(pair.split("/")) for pair in words_of("similar", "gendered"))
