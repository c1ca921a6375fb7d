"""Names of entities: how they are spelled in text, and when two spellings are the same name."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from .terms import terms

__all__ = ["AT_NAME", "WIKI_NAME", "entity_key", "mentions", "slug", "spell", "stem_key"]

# A dot belongs to the name only between word characters, so that "ask @Peter." names Peter.
AT_NAME = r"@(?:\w[\w\-/&+]*(?:\.[\w\-/&+]+)*)"
WIKI_NAME = r"\[\[[^\[\]\n]+\]\]"
_CODE = re.compile(r"(`+)(?!`)[^`]*(?<!`)\1(?!`)")
_MENTION = re.compile(rf"(?<![\w@./])(?P<at>{AT_NAME})|(?P<wiki>{WIKI_NAME})")


@lru_cache(maxsize=50_000)
def entity_key(name: str) -> str:
    """The form under which spellings of one name meet: case, ё/е, accents, `-`, `_` and spaces do not matter."""
    folded = unicodedata.normalize("NFKD", name.replace("й", "и\ue000").replace("Й", "и\ue000")).casefold()
    letters = "".join(c for c in folded if not unicodedata.combining(c)).replace("и\ue000", "й")
    return " ".join(re.split(r"[\s_\-]+", letters)).strip() or name


@lru_cache(maxsize=50_000)
def stem_key(name: str) -> str:
    """The form under which an inflected name meets its own: the first term of each word («Ирину» is «Ирина»)."""
    return " ".join(found[0] for word in entity_key(name).split() if (found := terms(word)))


def link_target(inside: str) -> str:
    """What `[[inside]]` points at: `Page#Heading|shown` is Page."""
    return " ".join(re.split(r"[|#]", inside, maxsplit=1)[0].split())


def read_name(spelled: str) -> str:
    """The name in `@Name` or `[[Name]]`; empty when a wiki link points only inside its own page."""
    return link_target(spelled[2:-2]) if spelled.startswith("[[") else spelled[1:]


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
