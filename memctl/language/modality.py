"""How a line is meant: as the correction of another one, a change, a plan, something past; by `modality.txt` of its languages."""

from __future__ import annotations

import re
from functools import cache

from .detect import languages_of
from .words import pattern

__all__ = ["is_change", "is_correction", "is_past", "is_plan"]


@cache
def _compiled(section: str, chosen: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(pattern(chosen, "modality", section), re.IGNORECASE)


def _says(section: str, text: str) -> bool:
    return bool(_compiled(section, languages_of(text)).search(text))


def is_correction(text: str) -> bool:
    """True for a line that says of another that it was never true: "actually …", "not X but Y", «не X, а Y», 其实."""
    return _says("correction", text) and not is_change(text)


def is_change(text: str) -> bool:
    """True for a line that says of itself that things are no longer as they were: "now", "moved", «теперь», 改为."""
    return _says("change", text)


def is_past(text: str) -> bool:
    """True for what happened at some time: another day may have seen the opposite."""
    return _says("past", text)


def is_plan(text: str) -> bool:
    """True for a line about what is to come: "is planned for", "will", «собирается», 计划. Its day ends it."""
    return _says("plan", text)
