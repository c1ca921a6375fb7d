"""Reads a question: its words, and the filters given as flags or written inside it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

from ..errors import PageUnreadable, Usage
from ..facts import Kind, Period
from ..index.queries.entries import Query
from ..index.queries.filters import has_phrase, has_tag
from ..language.analyzer import terms
from ..language.dates import parse_when
from ..language.names import AT_NAME, TAG, WIKI_NAME, link_target, read_name
from ..notes.settings import SETTINGS
from ..notes.workspace import Workspace
from .asked import asked_times

if TYPE_CHECKING:
    from typing import Unpack

    from ..index.index import Index

_SHORT = 200  # as in question.py, which most questions need not load

FIELDS = (
    "about", "kind", "key", "since", "until", "on", "as-of", "min-confidence", "min-importance", "tag", "links-to", "path",
    "heading",
)  # fmt: skip
"""Filters that may stand in a question, as `field:value`."""
_FILTER = re.compile(
    rf"(?<!\S)(?:-(?P<without>\"[^\"]+\"|[^\W\d_][\w-]*)(?=[\s,.;:!)]|$)|(?P<literal>\"[^\"]+\"|«[^»]+»|“[^”]+”|「[^」]+」)|(?P<name>{AT_NAME}|@?{WIKI_NAME})(?=[\s,.;:?!)]|$)"
    rf"|(?P<tag>{TAG})(?=[\s,.;:?!)]|$)|(?P<field>{'|'.join(FIELDS)}):(?P<value>\"[^\"]*\"|@?{WIKI_NAME}|\S+))"
)


class QueryFlags(TypedDict, total=False):
    """The filters of a query as flags give them."""

    about: Sequence[str]
    kinds: Sequence[str]
    key: str | None
    since: str | None
    until: str | None
    on: str | None
    as_of: str | None
    min_confidence: float | None
    min_importance: float | None
    tags: Sequence[str]
    links_to: Sequence[str]
    paths: Sequence[str]
    heading: str | None


def read_query(text: str, today: date, **flags: Unpack[QueryFlags]) -> Query:
    """The query that words and flags make together; Usage for a flag that cannot be followed.

    What looks like a filter inside the words but has no meaning as one (`kind:Pod`) stays a word to look for; quotes make
    any a word. Words in quotes must stand together in a line, and `-word` in none, but in a sentence that ends with a
    question mark: there quotes hold a title. Of a long paste only the question is read (question.py).
    """
    given = [("about", name) for name in flags.get("about", ())]
    given += [("kind", word) for word in flags.get("kinds", ())]
    given += [("tag", tag) for tag in flags.get("tags", ())]
    given += [("links-to", page) for page in flags.get("links_to", ())]
    given += [("path", glob) for glob in flags.get("paths", ())]
    single = {name: flags.get(name) for name in _SINGLE}
    given += [(name.replace("_", "-"), str(value)) for name, value in single.items() if value is not None]
    filters = _Filters(today, is_sentence=text.rstrip().endswith(("?", "\uff1f")))
    for name, value in given:
        try:
            filters.set(name, value)
        except ValueError:
            cure = _CURES.get(name, "see `memctl recall --help`")
            raise Usage(f"--{name} {value!r} is not understood", cure) from None
    asked = question_in(text)
    words = " ".join(_FILTER.sub(filters.take, asked).split())
    return filters.query(words, text if asked != text else "")


def question_in(text: str) -> str:
    """The question in a long paste; filters that stand elsewhere in it are not the asker's."""
    if len(text) <= _SHORT:
        return text
    from .question import clean_question

    return clean_question(text)


_TIME = 'write 30d, 2025-11, 2025-11-27 or a phrase such as "last week"'
_CURES = dict.fromkeys(("since", "until", "on", "as-of"), _TIME) | {
    "kind": "kinds are world, experience, opinion, observation, note",
    "min-confidence": "a number from 0 to 1",
    "tag": "write project or project/alpha",
    "links-to": "name a page",
    "min-importance": "a number from 0 to 1",
    "path": "write a page, a folder or a glob: memory/2025-11-*.md, bank/",
    "heading": "write words of a heading",
}
_SINGLE = ("key", "since", "until", "on", "as_of", "min_confidence", "min_importance", "heading")


class _Filters:
    """The filters of one query, from its flags and from inside its words."""

    def __init__(self, today: date, is_sentence: bool = False) -> None:
        self._today, self._is_sentence = today, is_sentence
        self._about: dict[str, None] = {}
        self._kinds: dict[Kind, None] = {}
        self._key: str | None = None
        self._days = Period()
        self._as_of: date | None = None
        self._least: dict[str, float] = {}
        self._tags: dict[str, None] = {}
        self._links_to: dict[str, None] = {}
        self._paths: dict[str, None] = {}
        self._heading: str | None = None
        self._phrases: dict[str, None] = {}
        self._without: dict[str, None] = {}

    def set(self, name: str, value: str) -> None:
        """Set one filter; ValueError if its value means nothing."""
        value = value.strip()
        if name == "kind":
            self._kinds |= dict.fromkeys([Kind.of(word) for word in value.split(",")])
        elif name in ("min-confidence", "min-importance"):
            share = float(value)
            if not 0 <= share <= 1:  # nor nan
                raise ValueError(value)
            self._least[name] = share
        elif name == "tag":
            if not re.fullmatch(TAG, f"#{value.removeprefix('#')}"):
                raise ValueError(value)
            self._tags |= {value: None}
        elif name == "links-to":
            value = link_target(value.removeprefix("[[").removesuffix("]]")).removesuffix(".md").rpartition("/")[2]
            if not value:
                raise ValueError(name)
            self._links_to |= {value: None}
        elif name == "path":
            if not (value := value.removeprefix("./").rstrip("/")):
                raise ValueError(name)
            self._paths |= {value: None}
        elif name == "heading":
            if not terms(value):
                raise ValueError(value)
            self._heading = value
        elif name in ("about", "key"):
            value = value.removeprefix("@").removeprefix("[[").removesuffix("]]") if name == "about" else value
            if not value:
                raise ValueError(name)
            self._about |= {value: None} if name == "about" else {}
            self._key = value if name == "key" else self._key
        else:
            self._set_time(name, value)

    def _set_time(self, name: str, value: str) -> None:
        period = parse_when(value, self._today)
        if period is None:
            raise ValueError(value)
        # "30d" is a span up to today; as an end or a point in time it means the day on which it begins.
        ago = name != "on" and bool(re.fullmatch(r"\d+\s*[^\W\d_]+", value))
        last = period.first if ago else period.last
        if name == "as-of":
            self._as_of = last or period.first
        else:
            since = period.first if name in ("since", "on") else self._days.first
            self._days = Period(since, last if name in ("until", "on") else self._days.last)

    def take(self, match: re.Match[str]) -> str:
        """Set one filter found in the words; what stays in the words is returned."""
        if match["literal"] or match["without"]:
            said = (match["literal"] or match["without"]).strip('"«»“”「」')
            if self._is_sentence:
                return said if match["literal"] else match[0]
            kept = self._phrases if match["literal"] else self._without
            kept |= {said: None} if terms(said) else {}
            return said if match["literal"] else " "
        name, value = ("tag", match["tag"]) if match["tag"] else (match["field"], match["value"])
        if match["name"]:
            named = match["name"].removeprefix("@") if "[[" in match["name"] else match["name"]
            name, value = "about", read_name(named)
        try:
            self.set(name, value.strip('"'))
        except ValueError:
            return match[0]
        return " "

    def query(self, words: str, pasted: str) -> Query:
        """The query with these filters."""
        since, until = self._days
        if since and until and since > until:
            raise Usage(f"since {since} is after until {until}", "swap them")
        query = Query(
            words, tuple(self._about), tuple(self._kinds), self._key, self._days if since or until else None, self._as_of,
            self._least.get("min-confidence"), tuple(self._tags), tuple(self._links_to), pasted=pasted,
            min_importance=self._least.get("min-importance"), paths=tuple(self._paths), heading=self._heading,
            phrases=tuple(self._phrases), without=tuple(self._without),
        )  # fmt: skip
        return with_times(query, self._as_of or self._today)


def with_tags(index: Index, query: Query) -> Query:
    """The query in which a `#word` of the question is a filter where it is a tag, else a word as any: `#include`."""
    words = [tag for tag in query.tags if tag.startswith("#") and not has_tag(index, tag)]
    if not words:
        return query
    tags = tuple(tag for tag in query.tags if tag not in words)
    return replace(query, words=" ".join([query.words, *words]).strip(), tags=tags)


def with_phrases(index: Index, query: Query) -> Query:
    """The query without the phrases that stand nowhere; a warning says that their words are looked for instead."""
    held = tuple(phrase for phrase in query.phrases if has_phrase(index, phrase))
    lost = (
        f'no line holds "{phrase}" as it stands; its words were looked for'
        for phrase in query.phrases
        if phrase not in held
    )
    return replace(query, phrases=held, warnings=(*query.warnings, *lost)) if query.phrases else query


def with_times(query: Query, today: date) -> Query:
    """The query with the times that its words name; where they ask for nothing else, with those days as its filter, and of
    "around" a time with that time.
    """
    asked = asked_times(query.words, today)
    if asked.bare and query.days is None:
        first, last = asked.times[0].first, asked.times[-1].last
        pasted = query.pasted or query.words
        return replace(query, words="", days=Period(first, last), times=asked.middles, pasted=pasted)
    return replace(query, times=asked.times)


class AliasesFault(NamedTuple):
    """Why the file at `path` cannot be followed, and what to do."""

    path: str
    what: str
    cure: str


def with_aliases(workspace: Workspace, query: Query) -> Query:
    """The query with the workspace's own words for one thing, or without them and with a warning that says why."""
    if workspace.settings.aliases is None:
        return query
    found = _read_aliases(workspace)
    if isinstance(found, AliasesFault):
        warning = f"answered without the aliases of {found.path}: {found.what}; {found.cure}"
        return replace(query, warnings=(*query.warnings, warning))
    groups = (
        tuple(" ".join(word.replace(",", " ").split()) for word in (name, *words)) for name, words in found.items()
    )
    return replace(query, aliases=tuple(groups))


def aliases_fault(workspace: Workspace) -> AliasesFault | None:
    """What is wrong with the file, if there is one."""
    found = _read_aliases(workspace)
    return found if isinstance(found, AliasesFault) else None


def _read_aliases(workspace: Workspace) -> dict[str, list[str]] | AliasesFault:
    """Each key is a word, and its value the list of what else is said for it. OutsideWorkspace for a path that leads out."""
    path = workspace.settings.aliases
    if path is None:
        return {}
    import tomllib

    elsewhere = f"correct `aliases` under [recall] in {SETTINGS}, or remove it"
    try:
        file = workspace.root / workspace.contain(path)
        if file.exists() and not file.is_file():
            return AliasesFault(path, "it is a folder" if file.is_dir() else "it is not a regular file", elsewhere)
        return _checked(path, tomllib.loads(file.read_text(encoding="utf-8-sig")))
    except FileNotFoundError:
        return AliasesFault(path, "the file does not exist", elsewhere)
    except PageUnreadable as error:
        return AliasesFault(path, error.reason, elsewhere)
    except OSError as error:
        return AliasesFault(path, f"it cannot be read: {error.strerror or error}", elsewhere)
    except UnicodeDecodeError:
        return AliasesFault(path, "it is not UTF-8", "save it as UTF-8")
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else error
        return AliasesFault(path, f"it is not TOML: {reason}", "correct that line")


def _checked(path: str, read: dict[str, Any]) -> dict[str, list[str]] | AliasesFault:
    for name, words in read.items():
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            return AliasesFault(path, f"{name} is not a list of words", 'write it as in kubernetes = ["k8s", "кубер"]')
    return read
