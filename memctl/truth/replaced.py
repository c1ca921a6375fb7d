"""What was replaced in words: pairs of lines, an older and a newer one, that no mark relates and that cannot both hold today.

Three rooms ask: recall and reflect for what they are about to show (`replacements_of`, `folded`), review and conflicts for
what was told lately (`replaced_since`). All get the same pairs, judged by truth/change.py; an owner's answer ends them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date
from typing import NamedTuple

from ..index.open_memory import OpenMemory
from ..index.row import Row
from ..judgement import Judgement
from .judge import Validities


class Replaced(NamedTuple):
    """Two lines about one thing: the newer one replaces the older, cancels it, or cannot hold beside it.

    `judgement.kind` is "replacement" (verdicts "replaces", "cancels") or "conflict" (verdict "disagrees"); its tier says
    whether that is certain or to be asked.
    """

    older: Row
    newer: Row
    judgement: Judgement


def replaced_since(memory: OpenMemory, since: date | None = None) -> tuple[Replaced, ...]:
    """Every such pair whose newer line was told from `since` on (None: ever) until today, the newest first.

    Reads from the open index. The work grows with the lines told since then, not with the store. Pairs that a trusted
    line settles, relates or says to hold side by side are left out, and so is what holds no longer.
    """
    return ()


def replacements_of(memory: OpenMemory, entries: Iterable[Row]) -> dict[int, Replaced]:
    """For those of some entries that a newer line replaces in words, or may replace: the pair, by the older one's id.

    Reads from the open index, with a bounded number of statements for each entry. Lines told after today do not count.
    """
    return {}


def folded(verdict: Validities, found: Mapping[int, Replaced]) -> Validities:
    """The verdict on entries, in which what was certainly replaced in words is replaced; what is asked changes nothing."""
    return verdict
