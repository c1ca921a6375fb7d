"""What "this" in a question means, where it was pasted beside it: the identifiers of a short paste stay with the question."""

from __future__ import annotations

import re
from functools import cache

from ..language.analyzer import is_identifier, query_terms

__all__ = ["with_things"]

_SHORT = 1_000  # characters of a paste; a longer one has too many things in it
_MOST = 12
_FEW = 2  # words that a question says itself besides pointing; of Chinese, pairs and characters
_FEW_CHINESE = 6


def with_things(question: str, text: str) -> str:
    """`question`, which was found in `text`, with the identifiers of the text if it says little but "this"."""
    said = query_terms(question)
    few = _FEW if question.isascii() or not any("\u4e00" <= char <= "\u9fff" for char in question) else _FEW_CHINESE
    if len(text) > _SHORT or len(said) > few or not _points_back().search(question):
        return question
    return " ".join([question, *(thing for thing in _things(text) if thing not in question)])


@cache
def _points_back() -> re.Pattern[str]:
    """Words by which a question means what stands beside it."""
    return re.compile(
        r"\b(?:this|that|these|those|it|they|which one|above|below|эт[оаиу]\w{0,2}|он[аио]?|их|выше|ниже|какой из|какая из)\b"
        r"|[这那它]|哪个|以上|上面",
        re.IGNORECASE,
    )


def _things(text: str) -> list[str]:
    """Identifiers and words in capitals, in order; no times."""
    words = re.findall(r"[\w$#./:-]*\w", text)
    named = (word for word in words if len(word) <= 40 and not re.match(r"\d+[-:T.]", word))
    found = (word for word in named if is_identifier(word) or re.fullmatch(r"[A-Z]{5,}", word))
    return list(dict.fromkeys(found))[:_MOST]
