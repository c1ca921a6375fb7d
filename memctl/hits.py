"""An answer of recall: what was found, with its proof; and its JSON, whose keys are only ever added to.

A key with its type (`?` may be null, `*` is a list) and value is a row of `HIT`, or of `SOMETIMES` where it is left out for None: JSON, HTTP,
MCP and their schemas follow; text by a row of `TEXT`. What does not follow from the fields of `Hit` is one more, with a default, filled by
`_hit` in recall/entry_hits.py; the hit of a candidate (review/collect.py) has no row of the index, so its type is `?` or it has a default. No page of
docs lists the keys: CHANGELOG.md alone tells. Its test is a line of tests/data/recall.jsonl; `make recorded` writes the answers that tests keep.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

from .facts import Citation, Fact, Kind, Period, fields, is_trusted


class Version(NamedTuple):
    """One version of a slot in the chain that `--history` shows."""

    ref: str
    source: Citation
    valid: Period
    content: str
    private: bool = False


class PassageLine(NamedTuple):
    """One entry of a passage of a document; `best` is one that was found."""

    line: int
    end_line: int
    content: str
    best: bool


@dataclass(frozen=True, slots=True)
class Hit:
    """One found entry as its author wrote it, read again from disk just now."""

    ref: str
    kind: Kind
    day: str | None
    valid: Period
    entities: tuple[str, ...]
    content: str
    source: Citation
    heading: str
    confidence: float | None  # of a line that stated a belief, the current one
    importance: float | None
    origin: str
    private: bool
    superseded_by: str | None = None
    perhaps_superseded_by: str | None = None  # by its words a newer line, above it, may have: nobody has said so yet
    expired: bool = False
    retracted: bool = False
    score: float = 0.0  # only comparable within one answer
    why: dict[str, int] = field(default_factory=dict)  # its rank in each channel that found it
    parts: dict[str, Any] = field(default_factory=dict)  # the factors that made the score
    also: tuple[Citation, ...] = ()
    history: tuple[Version, ...] = ()
    fact: Fact | None = None
    belief: Citation | None = None  # that the line stated: its place in bank/opinions.md
    evidence: tuple[Citation, ...] = ()  # the newest lines for or against that belief
    via: tuple[str, ...] = ()  # to a related line: ids of lines and names in turn, from a hit to the line itself
    key: str | None = None  # the slot that it fills
    heading_path: tuple[str, ...] = ()  # on a document, the headings above it
    passage: tuple[PassageLine, ...] = ()  # on a document, what stands around it
    more: int = 0  # on a document, how many lines of its page were found besides
    workspace: str = ""  # named where several were asked: paths begin with it then
    whose: str = ""  # whom a fact is told of: the first @Name or [[Name]]; empty for the owner

    @property
    def under(self) -> str:
        """The headings above it, the widest first."""
        return " › ".join(self.heading_path) or self.heading

    @property
    def standing(self) -> str:
        """What keeps it from holding, in words: that it was never true, is over or may be, since when and by whom; else empty."""
        if self.retracted:
            return "never true" + (f", corrected by ^{self.superseded_by}" if self.superseded_by else "")
        if self.superseded_by:
            return f"until {self.valid.last or 'then'}, replaced by ^{self.superseded_by}"
        if self.expired:
            return f"ended {self.valid.last}"
        return f"perhaps replaced by ^{self.perhaps_superseded_by}" if self.perhaps_superseded_by else ""

    @property
    def marks(self) -> list[str]:
        """What a reader must know before believing it: how it stands, and that it came from outside."""
        return [*filter(None, [self.standing]), *([] if is_trusted(self.origin) else [f"untrusted: {self.origin}"])]


class Vectored(NamedTuple):
    """What the vectors know of the workspace: the name of the model, how many there are, how many entries lack one."""

    model: str
    embedded: int
    missing: int


class Answer(NamedTuple):
    """What recall answers."""

    query: str
    as_of: str | None
    hits: tuple[Hit, ...]
    warnings: tuple[str, ...] = ()
    stale: str | None = None  # why the index may lag behind the files
    empty: tuple[str, ...] = ()  # why there are no hits
    took_ms: float = 0.0
    related: tuple[Hit, ...] | None = None  # lines that share names with the hits; None where they were not asked for
    vectors: Vectored | None = None  # None where no model takes part
    crowded: bool = False  # the budget leaves room for none of the related
    answerable: float | None = None  # how likely memory holds an answer at all; None where nothing was asked
    signs: tuple[float, ...] | None = None  # what that was made from: `Signs` in recall/surroundings.py
    more: tuple[str, ...] = ()  # where the list goes on: the day of each line, of a document the path


BY_WORDS = ("answered by words only", "vectors.sqlite:")  # how warnings begin that say why vectors take no part
_LOOKED_AT = 40  # lines that a search looks at (recall/recall.py): behind these there may be others


def more_line(more: Sequence[str], shown: Iterable[str]) -> str:
    """`3 more lines in 2 other days`; empty where the list ends."""
    if not more:
        return ""
    held = list(shown)
    others = set(more) - set(held)
    noun = "page" if any(place.endswith(".md") for place in others) else "day"
    where = f" in {len(others)} other {noun}{'s' * (len(others) > 1)}" if others else ""
    least = "at least " if len(more) + len(held) >= _LOOKED_AT else ""
    return f"{least}{len(more)} more line{'s' * (len(more) > 1)}{where}"


def in_folder(workspace: str, citation: Citation) -> Citation:
    """A citation as it is spelled from outside of its workspace."""
    return citation._replace(path=f"{workspace.rstrip('/')}/{citation.path}")


def merge_answers(
    answers: Sequence[tuple[str, Answer]], k: int, cited: Callable[[str, Citation], Citation] = in_folder
) -> Answer:
    """One answer out of those of several workspaces: the best of each first, then the second of each; `cited` spells where."""
    found = sorted(((rank, at) for at, (_, one) in enumerate(answers) for rank in range(len(one.hits))))
    hits = [_placed(answers[at][0], answers[at][1].hits[rank], cited) for rank, at in found]
    warnings = dict.fromkeys(f"{name}: {told}" for name, one in answers for told in one.warnings)
    stale = [f"{name}: {one.stale}" for name, one in answers if one.stale]
    empty = () if hits else tuple(f"{name}: {why}" for name, one in answers for why in one.empty)
    related = [_placed(name, hit, cited) for name, one in answers for hit in one.related or ()]
    likely = [one.answerable for _, one in answers if one.answerable is not None]
    more = [hit.day or hit.source.path for hit in hits[k:]] + [place for _, one in answers for place in one.more]
    first = answers[0][1]
    return Answer(
        first.query, first.as_of, tuple(hits[:k]), tuple(warnings), "; ".join(stale) or None, empty, sum(one.took_ms for _, one in answers),
        None if first.related is None else tuple(related), answerable=max(likely, default=None), more=tuple(more),
    )  # fmt: skip


def _placed(name: str, hit: Hit, cited: Callable[[str, Citation], Citation]) -> Hit:
    """A hit whose citations say in which workspace they are."""
    there = partial(cited, name)
    return replace(
        hit, workspace=name, source=there(hit.source), also=tuple(map(there, hit.also)), evidence=tuple(map(there, hit.evidence)),
        belief=there(hit.belief) if hit.belief else None, history=tuple(each._replace(source=there(each.source)) for each in hit.history),
    )  # fmt: skip


def by_page(answer: Answer) -> Answer:
    """The answer with the hits of each page together, the page with the best hit first."""
    pages = list(dict.fromkeys(hit.source.path for hit in answer.hits))
    return answer._replace(hits=tuple(sorted(answer.hits, key=lambda hit: pages.index(hit.source.path))))


HIT: dict[str, tuple[str, Callable[[Hit], Any]]] = {
    "id": ("string", lambda hit: hit.ref),
    "kind": ("string", lambda hit: hit.kind.value),
    "timestamp": ("string?", lambda hit: hit.day),
    "valid": ("period", lambda hit: _period(hit.valid)),
    "entities": ("string*", lambda hit: list(hit.entities)),
    "content": ("string", lambda hit: hit.content),
    "source": ("string", lambda hit: str(hit.source)),
    "path": ("string", lambda hit: hit.source.path),
    "line": ("integer", lambda hit: hit.source.line),
    "end_line": ("integer", lambda hit: hit.source.end_line),
    "heading": ("string", lambda hit: hit.heading),
    "confidence": ("number?", lambda hit: hit.confidence),
    "importance": ("number?", lambda hit: hit.importance),
    "origin": ("string", lambda hit: hit.origin),
    "trusted": ("boolean", lambda hit: is_trusted(hit.origin)),
    "superseded_by": ("string?", lambda hit: hit.superseded_by),
    "score": ("number", lambda hit: round(hit.score, 4)),
    "why": ("object", lambda hit: hit.why),
}

SOMETIMES: dict[str, Callable[[Hit], Any]] = {
    "expired": lambda hit: hit.expired or None,
    "retracted": lambda hit: hit.retracted or None,
    "private": lambda hit: hit.private or None,
    "workspace": lambda hit: hit.workspace or None,
    "key": lambda hit: hit.key,
    "because": lambda hit: hit.fact.why if hit.fact else None,
    "perhaps_superseded_by": lambda hit: hit.perhaps_superseded_by,
    "also": lambda hit: list(map(str, hit.also)) or None,
    "belief": lambda hit: str(hit.belief) if hit.belief else None,
    "evidence": lambda hit: list(map(str, hit.evidence)) if hit.belief else None,
    "heading_path": lambda hit: list(hit.heading_path) if hit.passage else None,
    "passage": lambda hit: [line._asdict() for line in hit.passage] or None,
    "more": lambda hit: (hit.more if hit.passage else 0) or None,
    "via": lambda hit: list(hit.via) or None,
    "history": lambda hit: list(map(_version, hit.history)) or None,
}

TEXT = {"why": SOMETIMES["because"]}
"""What text has too, below the lines of a hit: `why: …`."""


def hit_json(hit: Hit, explain: bool = False) -> dict[str, Any]:
    """The JSON object of one hit."""
    made = {key: value(hit) for key, (_, value) in HIT.items()}
    made |= {key: told for key, value in SOMETIMES.items() if (told := value(hit)) is not None}
    return made | ({"explain": hit.parts} if explain else {})


def answer_json(answer: Answer, explain: bool = False) -> dict[str, Any]:
    """The JSON object of a whole answer."""
    warnings = [*answer.warnings, *([answer.stale] if answer.stale else ()), *answer.empty]
    made = {"schema": 1} | fields(answer, "query as_of") | {"stale": answer.stale is not None, "warnings": warnings}
    made |= {"took_ms": round(answer.took_ms, 1), "hits": [hit_json(hit, explain) for hit in answer.hits]}
    made |= {"answerable": round(answer.answerable, 3)} if answer.answerable is not None else {}
    made |= {"more": {"lines": len(answer.more), "places": len(set(answer.more))}} if answer.more else {}
    made |= {"vectors": answer.vectors._asdict()} if answer.vectors else {}
    return made if answer.related is None else made | {"related": [hit_json(hit, explain) for hit in answer.related]}


def _period(period: Period) -> dict[str, str | None]:
    return fields(period, "from=first to=last")


def _version(version: Version) -> dict[str, Any]:
    return fields(version, "id=ref source") | {"valid": _period(version.valid), "content": version.content}
