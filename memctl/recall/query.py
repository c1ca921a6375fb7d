"""Reads a question: its words, and the filters given as flags or written inside it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date
from typing import Any, TypedDict

from ..errors import PageUnreadable, Usage
from ..facts import Kind, Period, several
from ..index.index import Index
from ..index.queries.entries import Query
from ..index.queries.filters import has_phrase, has_tag
from ..language.analyzer import terms
from ..language.dates import parse_when
from ..language.names import AT_NAME, TAG, WIKI_NAME, bare_name, link_target, read_name
from ..markdown.attributes import FILTERS, QueryFilter
from ..notes.settings import SETTINGS
from ..notes.workspace import Workspace
from .wording import question_times

_SHORT = 200  # as in question.py, which most questions need not load


def _fitting(value: str, fits: object = True) -> str:
    """A word as it is; ValueError for an empty one, and where it does not fit."""
    if not (value and fits):
        raise ValueError(value)
    return value


def _share(value: str) -> float:
    if not 0 <= (share := float(value)) <= 1:  # nor nan
        raise ValueError(value)
    return share


_HELP = "see `memctl recall --help`"
_READERS: dict[str, tuple[Callable[[str], Any] | None, str]] = {
    "time": (None, 'write 30d, 2025-11, 2025-11-27 or a phrase such as "last week"'),
    "text": (_fitting, _HELP),
    "words": (lambda value: _fitting(value, terms(value)), "write words of a heading"),
    "share": (_share, "a number from 0 to 1"),
    "name": (lambda value: [_fitting(bare_name(value))], _HELP),
    "kind": (lambda value: list(map(Kind.of, value.split(","))), "kinds are world, experience, opinion, observation, note"),
    "tag": (lambda value: [_fitting(value, re.fullmatch(TAG, f"#{value.removeprefix('#')}"))], "write project or project/alpha"),
    "page": (lambda value: [_fitting(link_target(bare_name(value)).removesuffix(".md").rpartition("/")[2])], "name a page"),
    "path": (lambda value: [_fitting(value.removeprefix("./").rstrip("/"))], "write a page, a folder or a glob: memory/2025-11-*.md, bank/"),
}  # fmt: skip
"""What reads each `value` of `FILTERS`, a list where it may stand again, and how to write what it refuses with ValueError."""
_Texts = str | Sequence[str] | None


class QueryFilters(TypedDict, total=False):
    """The same as the methods of `Memory` take them."""

    since: str | None
    until: str | None
    on: str | None
    as_of: str | None
    about: _Texts
    kind: _Texts | Kind | Sequence[Kind]
    kinds: _Texts | Kind | Sequence[Kind]
    key: str | None
    min_confidence: float | str | None
    min_importance: float | str | None
    tag: _Texts
    tags: _Texts
    links_to: _Texts
    path: _Texts
    paths: _Texts
    heading: str | None


_BY_NAME = {each.name: each for each in FILTERS}
_GIVEN = {each.parameter: each for each in FILTERS} | {each.field: each for each in FILTERS if each.many}
_FILTER = re.compile(
    rf"(?<!\S)(?:-(?P<without>\"[^\"]+\"|[^\W\d_][\w-]*)(?=[\s,.;:!)]|$)|(?P<literal>\"[^\"]+\"|«[^»]+»|“[^”]+”|「[^」]+」)|(?P<name>{AT_NAME}|@?{WIKI_NAME})(?=[\s,.;:?!)]|$)"
    rf"|(?P<tag>{TAG})(?=[\s,.;:?!)]|$)|(?P<field>{'|'.join(_BY_NAME)}):(?P<value>\"[^\"]*\"|@?{WIKI_NAME}|\S+))"
)


def read_query(text: str, today: date, **given: Any) -> Query:
    """The query that words and filters make together; Usage for a filter that cannot be followed.

    What looks like a filter inside the words but has no meaning as one (`kind:Pod`) stays a word to look for; quotes make
    any a word. Words in quotes must stand together in a line, and `-word` in none, but in a sentence that ends with a
    question mark: there quotes hold a title. Of a long paste only the question is read (question.py).
    """
    if unknown := given.keys() - _GIVEN.keys():
        raise Usage(f"no filter is named {min(unknown)!r}", ", ".join(_GIVEN))
    filters = _Filters(today, is_sentence=text.rstrip().endswith(("?", "\uff1f")))
    for name, each in _GIVEN.items():
        values = given.get(name)
        for value in several(values or None) if each.many or values is None else [values]:
            try:
                filters.set(each, value.value if isinstance(value, Kind) else str(value))
            except ValueError:
                raise Usage(f"--{each.name} {value!r} is not understood", _READERS[each.value][1]) from None
    asked = question_in(text)
    words = " ".join(_FILTER.sub(filters.take, asked).split())
    return filters.query(words, text if asked != text else "")


def question_in(text: str) -> str:
    """The question in a long paste; filters that stand elsewhere in it are not the asker's."""
    if len(text) <= _SHORT:
        return text
    from .question_in_paste import clean_question

    return clean_question(text)


class _Filters:
    """The filters of one query, from its flags and from inside its words."""

    def __init__(self, today: date, is_sentence: bool) -> None:
        self._today, self._is_sentence = today, is_sentence
        self._days = Period()
        self._single: dict[str, Any] = {}
        self._many: dict[str, dict[Any, Any]] = {"phrases": {}, "without": {}, "columns": {}}

    def set(self, which: QueryFilter, value: str) -> None:
        """Set one filter; ValueError if its value means nothing."""
        value, read = value.strip(), _READERS[which.value][0]
        if read is None:
            self._set_time(which.name, value)
        elif which.column:
            self._many["columns"][which.column] = read(value)
        elif which.many:
            self._many.setdefault(which.field, {}).update(dict.fromkeys(read(value)))
        else:
            self._single[which.field] = read(value)

    def _set_time(self, name: str, value: str) -> None:
        period = parse_when(value, self._today)
        if period is None:
            raise ValueError(value)
        # "30d" is a span up to today; as an end or a point in time it means the day on which it begins.
        ago = name != "on" and bool(re.fullmatch(r"\d+\s*[^\W\d_]+", value))
        last = period.first if ago else period.last
        if name == "as-of":
            self._single["as_of"] = last or period.first
        else:
            since, until = self._days
            firsts = [since, period.first if name != "until" else None]
            lasts = [until, last if name != "since" else None]
            self._days = Period(max(filter(None, firsts), default=None), min(filter(None, lasts), default=None))

    def take(self, match: re.Match[str]) -> str:
        """Set one filter found in the words; what stays in the words is returned."""
        if match["literal"] or match["without"]:
            said = (match["literal"] or match["without"]).strip('"«»“”「」')
            if self._is_sentence:
                return said if match["literal"] else match[0]
            self._many["phrases" if match["literal"] else "without"] |= {said: None} if terms(said) else {}
            return said if match["literal"] else " "
        name, value = ("tag", match["tag"]) if match["tag"] else (match["field"], match["value"])
        if match["name"]:
            named = match["name"].removeprefix("@") if "[[" in match["name"] else match["name"]
            name, value = "about", read_name(named)
        try:
            self.set(_BY_NAME[name], value.strip('"'))
        except ValueError:
            return match[0]
        return " "

    def query(self, words: str, pasted: str) -> Query:
        """The query with these filters."""
        since, until = self._days
        if since and until and since > until:
            raise Usage(f"since {since} is after until {until}", "swap them, or leave one out")
        held = {name: tuple(values) for name, values in self._many.items()} | self._single
        held["columns"] = tuple(self._many["columns"].items())
        query = Query(words, days=self._days if since or until else None, pasted=pasted, **held)
        return with_times(query, query.as_of or self._today)


def with_tags(index: Index, query: Query) -> Query:
    """The query in which a `#word` of the question is a filter where it is a tag, else a word as any: `#include`."""
    words = [tag for tag in query.tags if tag.startswith("#") and not has_tag(index, tag)]
    if not words:
        return query
    tags = tuple(tag for tag in query.tags if tag not in words)
    return replace(query, words=" ".join([query.words, *words]).strip(), tags=tags)


def with_phrases(index: Index, query: Query) -> Query:
    """The query without the phrases that stand nowhere; a warning says that their words are looked for instead."""
    lost = [phrase for phrase in query.phrases if not has_phrase(index, phrase)]
    told = (f'no line holds "{phrase}" word for word; its words were looked for' for phrase in lost)
    held = tuple(phrase for phrase in query.phrases if phrase not in lost)
    return replace(query, phrases=held, warnings=(*query.warnings, *told)) if lost else query


def with_times(query: Query, today: date) -> Query:
    """The query with the times that its words name; where they ask for nothing else, these days are its filter."""
    times, is_bare, middles = question_times(query.words, today)
    if is_bare and query.days is None:
        days, pasted = Period(times[0].first, times[-1].last), query.pasted or query.words
        return replace(query, words="", days=days, times=middles, pasted=pasted)
    return replace(query, times=times)


def with_aliases(workspace: Workspace, query: Query) -> Query:
    """The query with the workspace's own words for one thing, or without them and with a warning that says why."""
    try:
        found = read_aliases(workspace)
    except PageUnreadable as error:
        return replace(query, warnings=(*query.warnings, f"answered without the aliases of {error.what}; {error.cure}"))
    groups = [[" ".join(word.replace(",", " ").split()) for word in (name, *words)] for name, words in found.items()]
    return replace(query, aliases=tuple(map(tuple, groups))) if groups else query


def read_aliases(workspace: Workspace) -> dict[str, list[str]]:
    """What else is said for each word; PageUnreadable for a file that tells none, OutsideWorkspace for a path that leads out."""
    path = workspace.settings.aliases
    if path is None:
        return {}
    import tomllib

    cure = f"correct `aliases` under [recall] in {SETTINGS}, or remove it"
    try:
        file = workspace.root / workspace.contain(path)
        if file.exists() and not file.is_file():
            raise PageUnreadable(path, "it is a folder" if file.is_dir() else "it is not a regular file", cure)
        read = tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise PageUnreadable(path, "the file does not exist", cure) from None
    except PageUnreadable as error:
        raise PageUnreadable(path, error.reason, cure) from None
    except OSError as error:
        raise PageUnreadable(path, f"it cannot be read: {error.strerror or error}", cure) from None
    except UnicodeDecodeError:
        raise PageUnreadable(path, "it is not UTF-8", "save it as UTF-8") from None
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else error
        raise PageUnreadable(path, f"it is not TOML: {reason}", "correct that line") from None
    for name, words in read.items():
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            raise PageUnreadable(path, f"{name} is not a list of words", 'write it as in kubernetes = ["k8s", "кубер"]')
    return read
