"""Names of entities: how they are spelled in text, and when two spellings are the same name."""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from ..facts import grouped
from .analyzer import ends_as_surname, terms
from .entity_key import entity_key as entity_key

# A dot belongs to the name only between word characters, so that "ask @Peter." names Peter.
AT_NAME = r"@(?:\w[\w\-/&+]*(?:\.[\w\-/&+]+)*)"
WIKI_NAME = r"\[\[[^\[\]\n]+\]\]"
TAG = r"#(?=[\d/\-]*[^\W\d])[\w\-/]+"
"""A tag: a letter somewhere behind `#`, then letters and digits of any script, `_`, `-` and `/`."""
_CODE = re.compile(r"(?<!`)(`++)[^`]*+\1(?!`)")
_MENTION = re.compile(rf"(?<![\w@./])(?P<at>{AT_NAME})|(?P<wiki>{WIKI_NAME})")
_NAME_WORD = re.compile(r"\w+(?:[-'’.+]\w+)*(?:\+\+|#)?")


def is_han(char: str) -> bool:
    """True for a Chinese character. A pattern for them would take 3 ms to compile, at every start."""
    return "\u3400" <= char <= "\u9fff" or "\uf900" <= char <= "\ufaff"


def has_han(text: str) -> bool:
    """True for a text with a Chinese character in it; most texts have none, and their highest character tells so at once."""
    return max(text, default="") >= "\u3400" and any(map(is_han, text))


@cache
def letter_script(char: str) -> str:
    """The script of a letter, as `language.txt` names it; empty for what is no letter."""
    if not char.isalpha():
        return ""
    return "han" if is_han(char) else unicodedata.name(char, "").partition(" ")[0].casefold()


def han_value(numeral: str, digits: Mapping[str, float], places: Mapping[str, float]) -> float:
    """The number that Chinese characters spell: 一百零五 is 105, 一百五 150."""
    total, digit, last = 0.0, 0.0, 1.0
    for char in numeral:
        if place := places.get(char):
            total, digit, last = total + (digit or 1) * place, 0, place
        else:
            digit = digits[char]
            last = last if digit else 1
    return total + digit * (last / 10 if last > 10 else 1)


def script_of(text: str) -> str:
    """The script of a text: `han` where it has such a character, else that of its first letter that is not Latin, else `latin`."""
    if text.isascii() or has_han(text):
        return "latin" if text.isascii() else "han"
    return next((found for found in map(letter_script, text) if found not in ("", "latin")), "latin")


@lru_cache(maxsize=50_000)
def stem_word(word: str) -> str:
    """The form under which an inflected word meets its own («Ирину» is «Ирина»); Han characters stay as they are."""
    key = entity_key(word)
    if ends_as_surname(key):
        return key
    found = () if has_han(key) else terms(key)
    return found[0] if found else key


def stem_key(name: str) -> str:
    """`stem_word` of each word of a name."""
    return " ".join(stem_word(word) for word in entity_key(name).split())


def stem_head(name: str) -> str:
    """What a name is looked up by in running text: its first stem, or its first Han character."""
    first = stem_key(name).partition(" ")[0]
    return first[:1] if is_han(first[:1]) else first


def name_terms(keys: Iterable[str]) -> frozenset[str]:
    """The search terms of names by their keys, those of an identifier (`billing-api`, `billing_api`) too."""
    return frozenset().union(*map(_terms_of_key, keys))


@lru_cache(maxsize=4096)
def _terms_of_key(key: str) -> frozenset[str]:
    return frozenset(term for spelled in {key.replace(" ", joint) for joint in " -_"} for term in terms(spelled))


def link_target(inside: str) -> str:
    """What `[[inside]]` points at: `Page#Heading|shown` is Page."""
    return " ".join(re.split(r"[|#]", inside, maxsplit=1)[0].split())


def read_name(spelled: str) -> str:
    """The name in `@Name`, `[[Name]]` or, of a page by its path, `[[Folder/Name]]`; empty for a link inside its own page."""
    bare = spelled.removeprefix("@")
    if not bare.startswith("[["):
        return bare
    target = link_target(bare[2:-2])
    return (re.split(r"(?<!\\)/", target)[-1].strip() or target).replace("\\/", "/")


def bare_name(written: str) -> str:
    """A name as somebody gives it, without the `@` or the brackets that it may have."""
    bare = written.strip().removeprefix("@")
    return read_name(bare) if re.fullmatch(WIKI_NAME, bare) else bare.strip("[] ")


def spell(name: str) -> str:
    """How the grammar writes a name: `@Name` where that reads back as the same, else `[[Name]]`, with a slash in it as `\\/`."""
    return f"@{name}" if re.fullmatch(AT_NAME, f"@{name}") else "[[" + name.replace("/", "\\/") + "]]"


def without_code(text: str) -> str:
    """`text` without what stands between backticks: names and links are not meant there."""
    return _CODE.sub(" ", text) if "`" in text else text


def mentions(text: str) -> tuple[str, ...]:
    """Names written as `@Name` or `[[Name]]` in running text, in order, once each; inline code is left out."""
    if "@" not in text and "[[" not in text:
        return ()
    found = (read_name(match[0]) for match in _MENTION.finditer(without_code(text)))
    return tuple(dict.fromkeys(name for name in found if name))


def tag_key(tag: str) -> str:
    """The form in which spellings of one tag meet: without `#`, in one case."""
    return unicodedata.normalize("NFC", tag.strip().lstrip("#")).strip("/").casefold()


def slug(name: str) -> str:
    """The file name (without .md) of an entity's page: letters and digits of any script, joined by `-`."""
    words = re.findall(r"[^\W_]+(?:[.+'’][^\W_]+)*\+*", unicodedata.normalize("NFC", name))
    return "-".join(words)[:80] or "unnamed"


class Listed(NamedTuple):
    """A name as its entity's page lists it: its stems (`stem_key`), its spelling, the entity's own name."""

    stem: str
    name: str
    entity: str


def heads(text: str) -> set[str]:
    """What a listed name may begin with to stand in `text`: the stem of each word, and each Han character."""
    found = set(map(stem_word, _NAME_WORD.findall(text)))
    return found if text.isascii() else found.union(filter(is_han, set(text)))


def find_names(text: str, known: Mapping[str, Sequence[Listed]]) -> tuple[str, ...]:
    """The entities that `text` names, in order; `known` maps a head (`stem_head`) to the names that begin so.

    A listed name with a capital wants one in the text ("Will" is not "will"), but for a phrase that only begins with one
    ("База наблюдений"); a name of several entities is left out.
    """
    if not known:
        return ()
    found: list[tuple[int, int, Listed]] = []
    words = [(match.start(), match.end(), stem_word(match[0])) for match in _NAME_WORD.finditer(text)]
    for at, (start, _, stem) in enumerate(words):
        for listed in known.get(stem, ()):
            wanted = listed.stem.split(" ")
            if [word[2] for word in words[at : at + len(wanted)]] == wanted:
                found.append((start, words[at + len(wanted) - 1][1], listed))
    for at, char in enumerate(text) if not text.isascii() else ():
        names = known[char] if char in known and is_han(char) else ()
        found += ((at, at + len(listed.name), listed) for listed in names if text.startswith(listed.name, at))
    places: dict[tuple[int, int], set[str]] = {}
    for start, end, listed in found:
        is_phrase = any(word[:1].islower() for word in listed.name.split()[1:])
        if is_phrase or not listed.name[:1].isupper() or not text[start:end][:1].islower():
            places.setdefault((start, end), set()).add(listed.entity)
    named: list[tuple[int, str]] = []
    taken: list[tuple[int, int]] = []  # in order, none over another: only the neighbours can be in the way
    for start, end in sorted(places, key=lambda span: (span[0] - span[1], span[0])):
        at = bisect_left(taken, (start, end))
        if (at and start < taken[at - 1][1]) or (at < len(taken) and taken[at][0] < end):
            continue
        taken.insert(at, (start, end))
        if len(places[start, end]) == 1:
            named.append((start, next(iter(places[start, end]))))
    return tuple(dict.fromkeys(name for _, name in sorted(named)))


def as_listed(names: Iterable[str]) -> dict[str, list[Listed]]:
    """Plain names, each of which stands for itself, as `find_names` wants them; spellings of one stem are one."""
    of_stem = {stem_key(name): name for name in names}
    return grouped((stem_head(name), Listed(stem, name, name)) for stem, name in of_stem.items())
