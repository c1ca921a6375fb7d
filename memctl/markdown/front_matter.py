"""The YAML front matter of a page: what it says, and edits of one key that leave every other line as it is."""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ..language.names import entity_key

if TYPE_CHECKING:
    from yaml import Node

MAX_FRONT_MATTER = 32 * 1024  # characters; YAML takes 7 s/MB


def read_front_matter(source: str) -> dict[str, str | list[str]] | None:
    """The scalars and lists of scalars in YAML front matter, all as strings; None if it is not a mapping, or too long.

    Nothing is guessed: `1.10` and `no` stay the words they are.
    """
    if not source.strip():
        return {}
    if len(source) > MAX_FRONT_MATTER:
        return None
    import yaml

    try:
        read = yaml.load(source, Loader=yaml.BaseLoader)
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError):
        return None
    return {str(key): _plain(value) for key, value in read.items()} if isinstance(read, dict) else None


def _plain(value: Any) -> str | list[str]:
    if isinstance(value, list):
        return [str(item) for item in value if isinstance(item, str)]
    return value if isinstance(value, str) else ""


_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_SURROGATE = re.compile("[\ud800-\udfff]")
# In double quotes these can be written out; as they are, YAML folds or refuses them.
_ESCAPED = re.compile("[\x7f-\xa0\u2028\u2029\ufeff\ufffe\uffff]")
# Some readers of YAML take these for numbers, dates, truth values or nothing; others do not.
_AMBIGUOUS = re.compile(r"[-+.\d][\w.:+-]*|~|null|true|false|yes|no|on|off|y|n|=|<<", re.IGNORECASE)
_PLAIN = re.compile(r"[^\s\-?:,\[\]{}#&*!|>'\"%@`](?:[^,\[\]{}:?#\x00-\x1f]|(?<!\s)#)*(?<!\s)")
_BAD = "front matter that is not a YAML mapping, or over 32 KiB"


def front_values(text: str) -> dict[str, str | list[str]]:
    """What the front matter of a page says, as `read_front_matter` gives it; ValueError if that cannot be read."""
    return _values(_front(text))


def with_names(text: str, *, add: Iterable[str] = (), remove: Iterable[str] = (), key: str = "aliases") -> str:
    """The page with names taken from, then added to a list in its front matter; names are compared by `entity_key`.

    A list keeps its form, `[a, b]` or `- a` lines; a single name becomes `[a, b]`. A missing key is added at the end,
    as `- a` lines; missing front matter is made above the page. Removing what was added gives the old bytes again,
    except that a single name stays a list and that front matter that held nothing at all goes. ValueError with the
    reason if the front matter is not a YAML mapping or would not be read back as intended.
    """
    before, wanted = _front(text), list(_listed(_values(_front(text)).get(key, [])))
    for name in remove:
        text = _without_name(_front(text), key, name)
        wanted = [other for other in wanted if entity_key(other) != entity_key(name)]
    for name in add:
        if not name.strip() or re.search(r"[\x00-\x1f\ud800-\udfff]", name):
            raise ValueError(f"{name!r} is not a name")
        text = _with_name(_front(text), key, name)
        wanted += [] if entity_key(name) in map(entity_key, wanted) else [name]
    return _checked(before, text, key, wanted)


def with_value(text: str, key: str, value: str | None) -> str:
    """The page with `key: value` in its front matter: in the place of the old value, else as its last line.

    None takes the key out with its lines, and with it front matter that held nothing else. ValueError as above.
    """
    if value is not None and re.search(r"[\x00-\x1f\ud800-\udfff]", value):
        raise ValueError(f"{value!r} is not a value of one line")
    front = _front(text)
    _values(front)
    return _checked(front, _valued(front, key, value), key, [] if value is None else [value])


def _listed(value: str | list[str]) -> list[str]:
    return [name for name in ([value] if isinstance(value, str) else value) if name.strip()]


# -- where things stand -----------------------------------------------------------------------------------------------


class _Front(NamedTuple):
    """The front matter of a page: its source with LF line ends, and where each line of it stands in the page.

    The last place is that of the closing fence; without front matter there are none.
    """

    text: str
    source: str
    places: tuple[int, ...]
    newline: str

    def spliced(self, start: int, end: int, new: str) -> str:
        """The page with `source[start:end]` replaced by `new`, in the line endings of the page."""
        return self.text[: self._place(start)] + new.replace("\n", self.newline) + self.text[self._place(end) :]

    def _place(self, index: int) -> int:
        starts = [0, *(match.end() for match in re.finditer("\n", self.source))]
        line = bisect_right(starts, index) - 1
        return self.places[line] + index - starts[line]


def _front(text: str) -> _Front:
    """Finds the fences as markdown/page.py does."""
    at = len(text) - len(text.removeprefix("\ufeff"))
    inner: list[str] = []
    places: list[int] = []
    for match in _LINE.finditer(text, at):
        if not places and match[0].rstrip() != "---":
            break
        if places:
            if match[0].rstrip() in ("---", "..."):
                first = text[at : places[0]]
                return _Front(text, "".join(inner), tuple(places), first[len(first.rstrip("\r\n")) :])
            inner.append(match[0].rstrip("\r\n") + "\n")
        places.append(match.end())
    crlf, lf, cr = text.count("\r\n"), text.count("\n"), text.count("\r")
    return _Front(text, "", (), "\r\n" if crlf * 2 > lf else "\r" if cr and not lf else "\n")


def _readable(source: str) -> str:
    """The source for a YAML reader, at the same places: it takes no lone surrogates, which stand for bytes here."""
    return _SURROGATE.sub("\ufffd", source)


def _values(front: _Front) -> dict[str, str | list[str]]:
    read = {} if _says_nothing(front.source) else read_front_matter(_readable(front.source))
    if read is None:
        raise ValueError(_BAD)
    return read


def _says_nothing(source: str) -> bool:
    return all(not line.strip() or line.lstrip().startswith("#") for line in source.split("\n"))


def _others(front: _Front, key: str) -> dict[Any, Any]:
    """All that the front matter says under other keys, nested values too."""
    import yaml

    read: dict[Any, Any] = yaml.load(_readable(front.source), Loader=yaml.BaseLoader) or {}
    return {name: value for name, value in read.items() if name != key}


def _alike(one: Any, other: Any, met: set[tuple[int, int]]) -> bool:
    """one == other; each pair of what YAML's anchors repeat is looked at once, or a few lines could ask for years."""
    if not isinstance(one, list | dict):
        return bool(one == other)
    if (id(one), id(other)) in met:
        return True
    met.add((id(one), id(other)))
    if type(one) is not type(other) or len(one) != len(other):
        return False
    if isinstance(one, dict):
        return all(name in other and _alike(value, other[name], met) for name, value in one.items())
    return all(_alike(*pair, met) for pair in zip(one, other, strict=True))


def _checked(before: _Front, text: str, key: str, wanted: Sequence[str]) -> str:
    """`text`, if it reads back with `wanted` under the key, everything else unchanged; else ValueError."""
    after = _front(text)
    if len(after.source) > MAX_FRONT_MATTER:
        raise ValueError("front matter that would be over 32 KiB")
    try:
        same = _listed(_values(after).get(key, [])) == list(wanted) and _alike(
            _others(before, key), _others(after, key), set()
        )
    except ValueError:
        same = False
    if not same:
        raise ValueError(f"front matter in which `{key}` is written in a way that cannot be edited")
    return text


class _KeyValue(NamedTuple):
    """A key of the front matter and its value: YAML nodes, whose marks are indexes of the source."""

    key: Node
    value: Any

    @property
    def column(self) -> int:
        return int(self.key.start_mark.column)

    @property
    def is_list(self) -> bool:
        return isinstance(self.value.value, list) and self.value.id == "sequence"

    @property
    def is_text(self) -> bool:
        """A scalar that is not a block of text behind `|` or `>`."""
        return self.value.id == "scalar" and self.value.style not in ("|", ">")


def _pairs(front: _Front) -> list[_KeyValue]:
    import yaml

    try:
        root: Any = yaml.compose(_readable(front.source), Loader=yaml.BaseLoader)
    except yaml.YAMLError as error:
        raise ValueError(_BAD) from error
    if root is None:
        return []
    if root.id != "mapping" or root.flow_style:
        raise ValueError("front matter in braces; write `key: value` lines" if root.id == "mapping" else _BAD)
    return [_KeyValue(key, value) for key, value in root.value]


def _find(front: _Front, key: str) -> _KeyValue | None:
    """The pair of a key; of several, the last, which is the one that counts."""
    return next((pair for pair in reversed(_pairs(front)) if pair.key.value == key), None)


def _line_start(source: str, index: int) -> int:
    return source.rfind("\n", 0, index) + 1


def _next_line(source: str, index: int) -> int:
    return source.find("\n", index) + 1 or len(source)


def _end(source: str, node: Any) -> int:
    """The start of the line behind a value."""
    if node.id == "scalar" and node.style in ("|", ">"):
        return int(node.end_mark.index)
    if node.id == "scalar" or node.flow_style:
        return _next_line(source, node.end_mark.index)
    last = node.value[-1]
    return _end(source, last if node.id == "sequence" else last[1])


# -- spelling ---------------------------------------------------------------------------------------------------------


def _spelled(value: str, beside: Sequence[str] = ()) -> str:
    """A scalar as YAML needs it, anywhere; in the quotes that all of its neighbours wear."""
    quotes = {raw[:1] for raw in beside}
    if quotes == {"'"} and not _ESCAPED.search(value):
        return "'" + value.replace("'", "''") + "'"
    plain = _PLAIN.fullmatch(value) and not _ESCAPED.search(value) and not _AMBIGUOUS.fullmatch(value)
    if plain and quotes != {'"'}:
        return value
    return _ESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", json.dumps(value, ensure_ascii=False))


def _raw(front: _Front, node: Node) -> str:
    return front.source[node.start_mark.index : node.end_mark.index]


# -- edits ------------------------------------------------------------------------------------------------------------


def _added(front: _Front, lines: str) -> str:
    """The page with more lines at the end of its front matter, which is made if there is none."""
    if front.places:
        return front.spliced(len(front.source), len(front.source), lines)
    bom = "\ufeff" if front.text.startswith("\ufeff") else ""
    body = front.text.removeprefix(bom)
    made = f"---\n{lines}---\n" + ("\n" if body else "")
    return bom + made.replace("\n", front.newline) + body


def _cut(front: _Front, start: int, end: int) -> str:
    """The page without `source[start:end]`; without fences, and the empty line below, if nothing is left in them."""
    text = front.spliced(start, end, "")
    left = _front(text)
    if left.source:
        return text
    bom = "\ufeff" if text.startswith("\ufeff") else ""
    below = re.sub(r"\A(?:\r\n|\r|\n)", "", _LINE.sub("", text[left.places[0] :], count=1))
    return text if _front(bom + below).places else bom + below


def _indent(front: _Front) -> str:
    pairs = _pairs(front)
    return " " * pairs[0].column if pairs else ""


def _with_name(front: _Front, key: str, name: str) -> str:
    pair = _find(front, key)
    if pair is None:
        indent = _indent(front)
        return _added(front, f"{indent}{_spelled(key)}:\n{indent}  - {_spelled(name)}\n")
    if not pair.is_list:
        return _scalar_with(front, pair, name)
    if entity_key(name) in (entity_key(item.value) for item in pair.value.value if item.id == "scalar"):
        return front.text
    return (_flow_with if pair.value.flow_style else _block_with)(front, pair.value, name)


def _scalar_with(front: _Front, pair: _KeyValue, name: str) -> str:
    """A key with one name or none. What stood there stays as it is written, if that means the same inside brackets."""
    value, raw = pair.value, _raw(front, pair.value)
    if not pair.is_text:
        raise ValueError(f"{pair.key.value}: is not a list of names")
    if not raw:
        at = _next_line(front.source, value.end_mark.index)
        return front.spliced(at, at, f"{' ' * pair.column}- {_spelled(name)}\n")
    if entity_key(value.value) == entity_key(name):
        return front.text
    whole = raw[0] in "\"'" or _PLAIN.fullmatch(raw)
    if not whole and _SURROGATE.search(raw):
        raise ValueError(f"{pair.key.value}: has bytes that are not UTF-8")
    safe = raw if whole else _spelled(value.value)
    names = [safe] if value.value.strip() else []
    made = ", ".join([*names, _spelled(name, names)])
    return front.spliced(value.start_mark.index, value.end_mark.index, f"[{made}]")


def _flow_with(front: _Front, value: Any, name: str) -> str:
    items = value.value
    if items:
        at = items[-1].end_mark.index
        return front.spliced(at, at, ", " + _spelled(name, [_raw(front, item) for item in items]))
    at = front.source.index("[", value.start_mark.index) + 1
    return front.spliced(at, at, _spelled(name) + (" " if front.source[at] == "#" else ""))


def _block_with(front: _Front, value: Any, name: str) -> str:
    items, source = value.value, front.source
    start = items[-1].start_mark.index
    dash = re.match(r" *-", source[_line_start(source, start) :])
    if dash is None or any(item.id != "scalar" for item in items):
        raise ValueError("a list of names that holds more than names")
    blank = re.match(r" *", source[_line_start(source, start) + dash.end() :])
    gap = blank[0] if blank and _raw(front, items[-1]) else ""
    at = _end(source, items[-1])
    return front.spliced(at, at, f"{dash[0]}{gap or ' '}{_spelled(name, [_raw(front, item) for item in items])}\n")


def _without_name(front: _Front, key: str, name: str) -> str:
    pair = _find(front, key)
    if pair is None:
        return front.text
    if not pair.is_list:
        same = pair.is_text and entity_key(pair.value.value) == entity_key(name)
        start, end = pair.value.start_mark.index, pair.value.end_mark.index
        return front.spliced(len(front.source[:start].rstrip(" ")), end, "") if same else front.text
    for at, item in enumerate(pair.value.value):
        if item.id == "scalar" and entity_key(item.value) == entity_key(name):
            text = (_flow_without if pair.value.flow_style else _block_without)(front, pair, at)
            return _without_name(_front(text), key, name)
    return front.text


def _flow_without(front: _Front, pair: _KeyValue, at: int) -> str:
    """Without an item and one comma; a comment beside it stays."""
    items, source = pair.value.value, front.source
    start, end = items[at].start_mark.index, items[at].end_mark.index
    before = source[items[at - 1].end_mark.index : start] if at else "#"
    if "#" not in before:
        return front.spliced(items[at - 1].end_mark.index, end, "")
    comma = re.compile(r"\s*,[ \t]*").match(source, end)
    if comma or not at:
        return front.spliced(start, comma.end() if comma else end, "")
    text = front.spliced(start, end, "")
    gap = source.index(",", items[at - 1].end_mark.index)
    return _front(text).spliced(gap, gap + 1, "")


def _block_without(front: _Front, pair: _KeyValue, at: int) -> str:
    """Without the lines of an item. A list indented below its key takes the key along when it ends."""
    items, source = pair.value.value, front.source
    start = _line_start(source, items[at].start_mark.index)
    dash = re.match(r" *-", source[start:])
    if dash is None:
        raise ValueError("a list of names that is not written one a line")
    if len(items) == 1 and dash.end() - 1 > pair.column:
        return _cut(front, _line_start(source, pair.key.start_mark.index), _end(source, items[at]))
    return front.spliced(start, _end(source, items[at]), "")


def _valued(front: _Front, key: str, value: str | None) -> str:
    pair, source = _find(front, key), front.source
    if pair is None:
        return front.text if value is None else _added(front, f"{_indent(front)}{_spelled(key)}: {_spelled(value)}\n")
    if value is None:
        return _cut(front, _line_start(source, pair.key.start_mark.index), _end(source, pair.value))
    raw = _raw(front, pair.value)
    start, end = pair.value.start_mark.index, pair.value.end_mark.index
    if pair.is_text:
        quotes = [raw] if raw[:1] in ("'", '"') else []
        return front.spliced(start, end, ("" if raw else " ") + _spelled(value, quotes))
    colon = source.index(":", pair.key.end_mark.index) + 1
    return front.spliced(colon, _end(source, pair.value), f" {_spelled(value)}\n")
