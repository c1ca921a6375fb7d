"""Names of entities: how they are spelled in text, and when two spellings are the same name."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from .analyzer import terms

__all__ = [
    "AT_NAME",
    "WIKI_NAME",
    "entity_key",
    "is_han",
    "link_target",
    "mentions",
    "read_name",
    "slug",
    "spell",
    "stem_head",
    "stem_key",
    "stem_word",
]

# A dot belongs to the name only between word characters, so that "ask @Peter." names Peter.
AT_NAME = r"@(?:\w[\w\-/&+]*(?:\.[\w\-/&+]+)*)"
WIKI_NAME = r"\[\[[^\[\]\n]+\]\]"
_CODE = re.compile(r"(?<!`)(`++)[^`]*+\1(?!`)")
_MENTION = re.compile(rf"(?<![\w@./])(?P<at>{AT_NAME})|(?P<wiki>{WIKI_NAME})")


@lru_cache(maxsize=50_000)
def entity_key(name: str) -> str:
    """The form under which spellings of one name meet: case, ё/е, accents, `-`, `_` and spaces do not matter."""
    composed = unicodedata.normalize("NFC", name).replace("й", "и\ue000").replace("Й", "и\ue000")
    folded = unicodedata.normalize("NFKD", composed).casefold()
    letters = "".join(c for c in folded if not unicodedata.combining(c)).replace("и\ue000", "й")
    return " ".join(re.split(r"[\s_\-]+", letters)).strip() or name


def is_han(char: str) -> bool:
    """True for a Chinese character. A pattern for them would take 3 ms to compile, at every start."""
    return "\u3400" <= char <= "\u9fff" or "\uf900" <= char <= "\ufaff"


@lru_cache(maxsize=50_000)
def stem_word(word: str) -> str:
    """The form under which an inflected word meets its own («Ирину» is «Ирина»); Han characters stay as they are."""
    key = entity_key(word)
    if _SURNAME.fullmatch(key):
        return key
    found = () if any(map(is_han, key)) else terms(key)
    return found[0] if found else key


# Snowball takes «Петров» for many of «Пётр»; its other forms («Петрова», «Петровым») keep the ending.
_SURNAME = re.compile("[а-я]{2,}[ое]в")


def stem_key(name: str) -> str:
    """`stem_word` of each word of a name."""
    return " ".join(stem_word(word) for word in entity_key(name).split())


def stem_head(name: str) -> str:
    """What a name is looked up by in running text: its first stem, or its first Han character."""
    first = stem_key(name).partition(" ")[0]
    return first[:1] if is_han(first[:1]) else first


def link_target(inside: str) -> str:
    """What `[[inside]]` points at: `Page#Heading|shown` is Page."""
    return " ".join(re.split(r"[|#]", inside, maxsplit=1)[0].split())


def read_name(spelled: str) -> str:
    """The name in `@Name` or `[[Name]]`; empty when a wiki link points only inside its own page."""
    bare = spelled.removeprefix("@")
    return link_target(bare[2:-2]) if bare.startswith("[[") else bare


def spell(name: str) -> str:
    """How the grammar writes a name: `@Name` where that reads back as the same, else `[[Name]]`."""
    return f"@{name}" if re.fullmatch(AT_NAME, f"@{name}") else f"[[{name}]]"


def mentions(text: str) -> tuple[str, ...]:
    """Names written as `@Name` or `[[Name]]` in running text, in order, once each; inline code names nobody."""
    if "@" not in text and "[[" not in text:
        return ()
    prose = _CODE.sub(" ", text) if "`" in text else text
    found = (read_name(match[0]) for match in _MENTION.finditer(prose))
    return tuple(dict.fromkeys(name for name in found if name))


def slug(name: str) -> str:
    """The file name (without .md) of an entity's page: letters and digits of any script, joined by `-`."""
    words = re.findall(r"[^\W_]+(?:[.+'’][^\W_]+)*\+*", unicodedata.normalize("NFC", name))
    return "-".join(words)[:80] or "unnamed"
