"""Whether something that recall found belongs to a prompt: recall always answers, but a hook should be silent by default.

Recall ranks; it does not say that nothing fits. A prompt such as "run the tests again" finds some line with a test in it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from ..language.analyzer import is_identifier, query_terms, terms
from .assembly import Item

__all__ = ["belonging"]

_WORDS = 2  # of the prompt that a line shares, unless one of them is a name or an identifier
_SHARE = 0.3  # of the prompt's words


def belonging(items: Iterable[Item], words: str, names: Collection[str], most: int) -> list[Item]:
    """The first `most` of the items that share with a prompt a name that is known, an identifier, or enough of its words.

    Items that were found by meaning alone, in other words or in another language, do not pass unless a name is in both.
    """
    asked = [term for term in query_terms(words) if len(term) > 1]  # single characters of Chinese stand in many words
    known = [frozenset(terms(name)) for name in names]
    return [item for item in items if _belongs(item, asked, known)][:most]


def _belongs(item: Item, asked: Sequence[str], known: Iterable[frozenset[str]]) -> bool:
    said = frozenset(terms(item.line.partition("]")[2]))
    shared = [term for term in asked if term in said]
    if any(name and name <= said for name in known) or any(map(is_identifier, shared)):
        return True
    return len(shared) >= max(_WORDS, _SHARE * len(asked))
