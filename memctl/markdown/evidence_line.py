"""One piece of evidence: the sub-bullet under a belief with its day, verdict, resulting confidence, citation and id."""

from __future__ import annotations

import re
from datetime import date
from functools import cache
from posixpath import relpath
from typing import NamedTuple

from ..facts import Citation
from ..language.words import languages, pattern
from .grammar import printable_line

QUOTED = 240  # characters of a line that the answer to a question quotes at most
OPINIONS = "bank/opinions.md"
_STRENGTHS = {"weakly ": 0.5, "faintly ": 0.25, "": 1.0}
_DASH = "·"


class Bullet(NamedTuple):
    """One piece of evidence. `number` is what was stated or set, `after` the confidence shown behind it.

    `strength` is 1 for explicit evidence, less for what was found by its words; `gone` names the page of a source
    line that is no more: such a bullet stays as a trace and counts for nothing.
    """

    day: date
    verdict: str
    strength: float = 1.0
    number: float | None = None
    guessed: bool = False
    after: float | None = None
    citation: Citation | None = None
    reason: str = ""
    ref: str | None = None
    gone: str | None = None

    @property
    def text(self) -> str:
        """The bullet without its citation and id."""
        return render_bullet(self._replace(citation=None, ref=None))

    @property
    def shown(self) -> float | None:
        """The confidence as of this piece; None where it shows none."""
        return self.number if self.after is None else self.after


_NUMBER = r"[01]?\.\d+|[01]"
_LINK = r"\[(?P<shown>(?:[^\]\\]|\\.)+)\]\([^)]*\)(?:\s*·\s*)?"


@cache
def _bullet() -> re.Pattern[str]:
    """A sub-bullet. reflect writes a verdict in English, a person in any language."""
    sides = {side: pattern(languages(), "language", side) for side in ("for", "against")}
    return re.compile(
        r"(?is)(?P<day>\d{4}-\d{1,2}-\d{1,2})(?:\s*[·|:,;–—-]\s+|\s+|[:：]\s*)"
        rf"(?:(?P<plain>superseded|questioned|stated(?:\s+(?P<guess>~)?(?P<stated>{_NUMBER})(?!\w))?|set\s+(?P<set>{_NUMBER})(?!\w))(?![\w-])"
        rf"|(?P<how>weakly |faintly )?(?:(?P<for>{sides['for']})|(?P<against>{sides['against']})))"
        rf"(?:\s*(?:→|->)\s*(?P<after>{_NUMBER})(?!\w))?"
        r"[\s:：]*(?:[·|–—-]\s+)?(?P<rest>.*?)(?:(?:(?<!\s)\s+|(?<=\s))\^(?P<ref>[A-Za-z0-9][A-Za-z0-9-]{0,63}))?"
    )


def parse_bullet(content: str) -> Bullet | None:
    """The evidence that the text of a sub-bullet spells, None if it is something else.

    What a person types is understood too: `2025-12-05 against: said so on the phone`.
    """
    content = printable_line(content)  # before, not after: what stands last on the line is the id
    match = _bullet().fullmatch(content) if content[:4].isdigit() else None
    if not match:
        return None
    try:
        day = date(*map(int, match["day"].split("-")))
    except ValueError:
        return None
    rest, citation, gone = match["rest"].strip(), None, None
    if link := re.match(_LINK, rest):
        citation = Citation.parse(re.sub(r"\\(.)", r"\1", link["shown"]))
        rest = rest[link.end() :] if citation else rest
    elif rest.startswith("gone from "):
        gone, _, rest = rest.removeprefix("gone from ").partition(f" {_DASH} ")
    side = "for" if match["for"] else "against"
    number = match["stated"] or match["set"]
    return Bullet(
        day,
        match["plain"].split()[0].lower() if match["plain"] else side,
        _STRENGTHS[(match["how"] or "").lower()],
        _share(number),
        bool(match["guess"]),
        _share(match["after"]),
        citation,
        rest.strip(),
        match["ref"],
        gone,
    )


def _share(written: str | None) -> float | None:
    return min(1.0, float(written)) if written else None


def render_bullet(bullet: Bullet, page: str = OPINIONS) -> str:
    """The text of a sub-bullet on `page`, whose folder links are relative to."""
    how = next(word for word, strength in _STRENGTHS.items() if strength == bullet.strength)
    head = (how if bullet.verdict in ("for", "against") else "") + bullet.verdict
    if bullet.number is not None:
        head += f" {'~' if bullet.guessed else ''}{bullet.number:.2f}"
    if bullet.after is not None:
        head += f" → {bullet.after:.2f}"
    parts = [str(bullet.day), head]
    if bullet.citation:
        # A file may be called anything; on this line it opens nothing and breaks nothing.
        path = relpath(bullet.citation.path, page.rpartition("/")[0] or ".")
        percent = re.sub(
            r"[\s\x00-\x1f\x7f#%?()<>\\]", lambda m: "".join(f"%{byte:02X}" for byte in m[0].encode()), path
        )
        lines = str(bullet.citation)[len(bullet.citation.path) :]
        shown = re.sub(r"[\[\]\\]", r"\\\g<0>", printable_line(str(bullet.citation)))
        parts.append(f"[{shown}]({percent}{lines})")
    elif bullet.gone:
        parts.append(f"gone from {printable_line(bullet.gone)}")
    if reason := printable_line(bullet.reason.replace(_DASH, ",")):
        parts.append(reason)
    return f" {_DASH} ".join(parts) + (f" ^{bullet.ref}" if bullet.ref else "")


def code_of(bullet: Bullet) -> str:
    """How a mark spells a piece of evidence."""
    if bullet.verdict in ("for", "against"):
        return f"{'+' if bullet.verdict == 'for' else '-'}{round(bullet.strength * 4)}"
    if bullet.verdict == "stated":
        return "s" if bullet.number is None else f"s{bullet.number:.2f}"
    return {"superseded": "x", "questioned": "?"}.get(bullet.verdict, "=")
