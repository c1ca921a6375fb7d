"""Context: what an agent is given before it answers, within a budget, each recalled line with its citation."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, TypeVar

from ..entities.names_of_lines import KnownNames
from ..errors import MemctlError, OverBudget
from ..index.heal import with_index
from ..index.index import Index
from ..index.open_memory import OpenMemory
from ..language.tokens import Counter
from ..notes.files import read_page
from ..notes.workspace import Workspace
from ..recall.query import read_query
from ..recall.question import SHORT, clean_question
from .assembly import SHARES, Item, Pack, made_pack, recalled_block, stable_part
from .counters import counter_of
from .layers import CORE_PAGE, Layers, core_page
from .relevance import belonging

if TYPE_CHECKING:
    from ..index.resident import Resident

__all__ = [
    "PROMPT_BUDGET",
    "beside_prompt",
    "context",
    "core_of",
    "for_prompt",
    "room_beside",
    "run",
    "session_start",
    "standing",
]

PROMPT_BUDGET = 2000
"""Tokens that `for_prompt` may take where nobody says."""

T = TypeVar("T")


def context(
    workspace: Workspace, message: str = "", *, today: date, budget: int | None = None, about: Sequence[str] = (),
    since: str | None = None, private: bool = False, count: Counter | None = None, through: Resident | None = None,
) -> Pack:  # fmt: skip
    """The four layers for a message, within `budget` tokens by `count`.

    Untrusted lines never enter it, private ones only with `private`, for a model on this machine. OverBudget where the
    core alone is more than the budget: it is never cut.
    """
    return _packed(workspace, message, today, budget, about, since, private, count, through, stable=True, recalled=True)


def session_start(
    workspace: Workspace, *, today: date, budget: int | None = None, private: bool = False, count: Counter | None = None,
    through: Resident | None = None,
) -> Pack:  # fmt: skip
    """What a session begins with: core, lessons and recent lines, nothing that depends on a message."""
    return _packed(workspace, "", today, budget, (), None, private, count, through, stable=True, recalled=False)


def for_prompt(
    workspace: Workspace, message: str, *, today: date, budget: int = PROMPT_BUDGET, private: bool = False,
    count: Counter | None = None, through: Resident | None = None,
) -> Pack:  # fmt: skip
    """What belongs to one message and does not stand in the core; empty where nothing does."""
    return _packed(workspace, message, today, budget, (), None, private, count, through, stable=False, recalled=True)


def beside_prompt(workspace: Workspace, prompt: str, *, today: date, budget: int, most: int) -> str:
    """The fenced block of at most `most` lines that belong to a prompt by its words; mostly empty."""
    pack = for_prompt(workspace, prompt, today=today, budget=budget)
    if not pack.items:
        return ""
    words = clean_question(prompt) if len(prompt) > SHORT else prompt
    names = with_index(workspace, lambda index: KnownNames(index).in_text(words))
    return recalled_block(belonging(pack.items, words, names, most))


def _packed(
    workspace: Workspace, message: str, today: date, budget: int | None, about: Sequence[str], since: str | None,
    private: bool, count: Counter | None, through: Resident | None, *, stable: bool, recalled: bool,
) -> Pack:  # fmt: skip
    most = workspace.settings.budget if budget is None else budget
    counted = count or counter_of(workspace)
    filters = replace(read_query("", today, about=about, since=since), public=not private)

    def job(index: Index) -> Pack:
        core, warnings = core_of(workspace, private, index)
        warnings += standing(workspace, index, through)
        shown = core if stable else ""
        left = room_beside(shown, most, counted)
        layers = Layers(workspace, index, today, counted, filters, core)
        lessons, recent = _stable(layers, left) if stable else ([], [])
        left -= sum(counted(item.line) + 1 for item in (*lessons, *recent)) + 2 * _MARKS * stable
        found = layers.recalled(message, left, (*lessons, *recent)) if recalled else []
        return made_pack(shown, lessons, recent, found, most, counted, [*warnings, *layers.warnings])

    return run(workspace, through, job)


_MARKS = 50  # tokens of the marks and the head of one block


def _stable(layers: Layers, left: int) -> tuple[list[Item], list[Item]]:
    """Lessons and recent lines, each within its share; what the lessons leave flows on."""
    share = int(left * SHARES["lessons"])
    lessons = layers.lessons(share)
    taken = layers.cost(lessons)
    return lessons, layers.recent(int(left * SHARES["recent"]) + share - taken, lessons)


def room_beside(core: str, budget: int, count: Counter) -> int:
    """What the core leaves of the budget."""
    needed = count(stable_part(core, (), ())) if core else 0
    if needed > budget:
        raise OverBudget(
            f"the core ({CORE_PAGE} and pinned pages) takes {needed:,} tokens, the budget is {budget:,}; the core is never cut",
            f"give --budget {needed} or more, shorten {CORE_PAGE}, or unpin pages in memctl.toml",
            needed,
        )
    return budget - needed


def run(workspace: Workspace, through: Resident | None, job: Callable[[Index], T]) -> T:
    """What `job` makes of the index: through one that is held open, if there is one."""
    return through.run(job) if through else with_index(workspace, job)


def standing(workspace: Workspace, index: Index, through: Resident | None) -> list[str]:
    """Bring the index up to date, where something changed; why it may lag, if it does."""
    report = OpenMemory(workspace, resident=through).bound(index).synced()
    return [report.stale] if report.stale else []


# -- core -------------------------------------------------------------------------------------------------------------


def core_of(workspace: Workspace, private: bool, index: Index) -> tuple[str, list[str]]:
    """memory.md and the pinned pages, whole but for lines that are untrusted or private; and what could not be read."""
    parts: list[str] = []
    warnings: list[str] = []
    for path in dict.fromkeys((core_page(workspace), *workspace.settings.pinned)):
        try:
            text = read_page(workspace, workspace.contain(path)).text
        except MemctlError as error:
            if path != CORE_PAGE or (workspace.root / path).exists():
                warnings.append(f"pinned page {path} is left out: {error.what}")
            continue
        if source := _from_outside(text):
            warnings.append(f"{path} is left out: it came from outside ({source}); take `src` out if you stand for it")
            continue
        kept = _shareable(text, private, index).strip()
        if kept:
            parts.append(f"<!-- {path} -->\n{kept}")
    return "\n\n".join(parts), warnings


def _from_outside(text: str) -> str | None:
    """The `src` in the front matter of a page that came from outside: no line of it can vouch for itself."""
    if not text.removeprefix("\ufeff").startswith("---"):
        return None
    from ..facts import is_trusted
    from ..markdown.front_matter import front_values

    try:
        source = front_values(text).get("src")
    except ValueError:
        return None
    return source if isinstance(source, str) and not is_trusted(source) else None


def _shareable(text: str, private: bool, index: Index) -> str:
    """A page without lines that came from outside, and without private ones."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    if not private:
        from ..index.public import private_entries, without_private_lines

        text = without_private_lines(text, private_entries(index).refs)
    if not re.search(r"\bsrc\s*=", text):
        return text
    from ..facts import is_trusted
    from ..markdown.page import parse_page

    page = parse_page(text, facts_everywhere=True)
    lines = list(page.lines)
    for entry in page.entries:
        if entry.fact and not is_trusted(entry.fact.source):
            lines[entry.span.line - 1 : entry.span.end_line] = [""] * (entry.span.end_line - entry.span.line + 1)
    return "\n".join(lines)
