"""Told, certain, or asked: the tiers of every judgement, and what each rule's precision was measured to be.

What the owner marked is told, and always followed. What a rule says is certain where the rule was right at least 95 times
of 100 on text that nobody wrote it for; then it is written, with its reason. Everything else is a question of
`memctl review`: it changes no number and no page until the owner or their agent answers. Only recall
shows the newer of two lines first, and marks the older one.
"""

from enum import Enum
from typing import NamedTuple

CERTAIN_FROM = 0.95  # precision
KEEP_FROM = 0.80
"""Precision, of ingest: its line quotes what somebody said, and replaces nothing; what is at stake is a line too many."""
_FEWEST = 20  # cases below which a precision says nothing


class Tier(Enum):
    """On what a judgement rests: a mark of the owner, a rule that was measured, or an answer still to come."""

    TOLD = "told"
    CERTAIN = "certain"
    ASKED = "asked"


class Measured(NamedTuple):
    """How often a rule was right on text that it was not written for."""

    right: int
    of: int

    def tier_from(self, needed: float = CERTAIN_FROM) -> Tier:
        """Certain from a precision on, or asked."""
        return Tier.CERTAIN if self.of >= _FEWEST and self.right / self.of >= needed else Tier.ASKED


RULES: dict[str, Measured] = {
    # evidence and reversal (stance/stance.py): pairs that no rule was written for, `python bench/stance.py`
    "no longer": Measured(39, 40),
    "another instead": Measured(23, 23),
    "opposite attitude": Measured(23, 23),
    "the same again": Measured(39, 39),
    "denied": Measured(16, 22),
    "another view": Measured(10, 12),
    "same topic": Measured(97, 187),
    "same topic, hedged": Measured(7, 7),
    "near in meaning": Measured(32, 52),
    # replacement and conflict: what was found in LoCoMo and BEAM, `python bench/replacement.py --real WORKSPACE…`, and in
    # fixtures/workspace; where nothing was found, nothing is known, and all of them ask. ("value" between facts was right 28
    # times of 29 in tests/data/unseen and unseen2, "ended" 14 of 17. tests/data/README.md says why both ask all the same.)
    "replaced: ended": Measured(0, 3),
    "replaced: value": Measured(0, 1),
    "replaced: alike": Measured(2, 6),
    "replaced: change": Measured(3, 30),
    "replaced: hearsay": Measured(0, 1),
    "conflict: never": Measured(15, 18),
    # what of a conversation is kept: `python bench/ingest.py --logs FOLDER --part held`, worth keeping, true and readable alone;
    # a person, a thing and a preference on tests/data/ingest/held.jsonl too
    "keep decision": Measured(22, 25),
    "keep decision, thin": Measured(2, 4),
    "keep preference": Measured(14, 16),
    "keep preference, thin": Measured(35, 48),
    "keep person": Measured(17, 20),
    "keep person, between people": Measured(6, 9),
    "keep person, thin": Measured(1, 4),
    "keep named_person": Measured(3, 4),
    "keep named_person, thin": Measured(2, 3),
    "keep plan": Measured(14, 14),
    "keep plan, thin": Measured(0, 1),
    "keep did": Measured(75, 84),
    "keep did, thin": Measured(19, 41),
    "keep state": Measured(42, 44),
    "keep state, between people": Measured(17, 26),
    "keep state, thin": Measured(17, 24),
    "keep mine": Measured(5, 9),
    "keep thing": Measured(16, 18),
    "keep goal": Measured(13, 25),
    "keep exact": Measured(19, 55),
    "keep correction": Measured(4, 4),
    "keep outcome": Measured(3, 3),
    "keep report": Measured(0, 1),
    "keep diagnosis": Measured(23, 26),
    # of which labelled text had no case
    **dict.fromkeys((
        "model", "replaced: topic", "replaced: kind", "replaced: slot", "conflict: number", "conflict: denied",
        "conflict: opposite", "keep thing, thin", "keep outcome, thin", "keep agreed", "keep chosen",
        "keep answered", "keep continued", "keep finding", "keep model",
    ), Measured(0, 0)),
}  # fmt: skip
"""Every rule that judges, with what `make judge` measured for it on labelled text by another hand."""


def standing_of(rule: str, is_asked: bool) -> dict[str, str | float | None]:
    """What stands behind a judgement, as JSON tells it: the row of `RULES`, its tier, and how often it was right of how many."""
    right, of = RULES.get(rule, (0, 0))
    tier = Tier.ASKED if is_asked else Tier.CERTAIN if rule in RULES else Tier.TOLD
    told = {"rule": rule if rule in RULES else None, "tier": tier.value}
    return told | {"precision": round(right / of, 2) if of else None, "cases": of or None}


class Judgement(NamedTuple):
    """What is thought of one line or of two, and who stands for it.

    `kind` is what was judged: evidence, reversal, replacement, conflict, sameness, lesson, keep. `verdict` is its answer
    ("for", "replaces"), `reason` a short phrase with the words found, `rule` the row of `RULES`; empty for what is told.
    """

    kind: str
    verdict: str
    tier: Tier
    reason: str = ""
    rule: str = ""

    @property
    def is_certain(self) -> bool:
        """True for what is told too: it may be written."""
        return self.tier is not Tier.ASKED


def judged(kind: str, verdict: str, rule: str, reason: str = "") -> Judgement:
    """The judgement of a rule; its tier follows from the rule's measured precision. KeyError for a rule that is not in `RULES`."""
    needed = KEEP_FROM if kind == "keep" else CERTAIN_FROM
    return Judgement(kind, verdict, RULES[rule].tier_from(needed), reason, rule)
