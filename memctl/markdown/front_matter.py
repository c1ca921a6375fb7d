"""The YAML front matter of a page: what it says, and edits of one key that leave every other line as it is."""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from ..language.names import entity_key
from .lines import LineText, common_start
from .page import front_matter_end

MAX_FRONT_MATTER = 32 * 1024  # characters; YAML takes 7 s/MB

_NESTED = re.compile(r"(?:[\[{]\s*){64}")  # nobody writes so, and PyYAML takes quadratic time for it


def read_front_matter(source: str) -> dict[str, str | list[str]] | None:
    """The scalars and lists of scalars in YAML front matter, all as strings; None if it is not a mapping, or too long.

    Nothing is guessed: `1.10` and `no` stay the words they are.
    """
    if not source.strip():
        return {}
    if len(source) > MAX_FRONT_MATTER or _NESTED.search(source):
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


_SURROGATE = re.compile("[\ud800-\udfff]")
# In double quotes these can be written out; as they are, YAML folds or refuses them.
_ESCAPED = re.compile("[\x7f-\xa0\u2028\u2029\ufeff\ufffe\uffff]")
# Some readers of YAML take these for numbers, dates, truth values or nothing; others do not.
_AMBIGUOUS = re.compile(r"[-+.\d][\w.:+-]*|~|null|true|false|yes|no|on|off|y|n|=|<<", re.IGNORECASE)
_PLAIN = re.compile(r"[^\s\-?:,\[\]{}#&*!|>'\"%@`](?:[^,\[\]{}:?#\x00-\x1f]|(?<!\s)#)*(?<!\s)")
_NAMES = "aliases"
_BAD = "front matter that is not a YAML mapping, or over 32 KiB"


def front_values(text: str) -> dict[str, str | list[str]]:
    """What the front matter of a page says, as `read_front_matter` gives it; ValueError if that cannot be read."""
    return _values(_source(text))


def source_of(text: str) -> str | None:
    """Where a page says that all of it comes from (`src`); None where it says nothing that can be read."""
    with suppress(ValueError):
        source = front_values(text).get("src")
        return source if isinstance(source, str) and source else None
    return None


def with_names(text: str, *, add: Iterable[str] = (), remove: Iterable[str] = ()) -> str:
    """The page with names taken from, then added to the `aliases` of its front matter; names are compared by `entity_key`.

    A list keeps its form, `[a, b]` or `- a` lines; a single name becomes `[a, b]`. A missing key is added at the end,
    as `- a` lines; missing front matter is made above the page. Removing what was added gives the old bytes again,
    except that a single name stays a list and that front matter that held nothing at all goes. ValueError with the
    reason if the front matter is not a YAML mapping or would not be read back as intended.
    """
    source = before = _source(text)
    wanted = _listed(_values(before).get(_NAMES, []))
    for name in remove:
        source = _without_name(source, entity_key(name))
        wanted = [other for other in wanted if entity_key(other) != entity_key(name)]
    for name in add:
        if not name.strip() or re.search(r"[\x00-\x1f\ud800-\udfff]", name):
            raise ValueError(f"{name!r} is not a name")
        source = _with_name(source, name)
        wanted += [] if entity_key(name) in map(entity_key, wanted) else [name]
    return _put(text, before, source, _NAMES, wanted)


def with_value(text: str, key: str, value: str | None) -> str:
    """The page with `key: value` in its front matter: in the place of the old value, else as its last line.

    None takes the key out with its lines, and with it front matter that held nothing else. ValueError as above.
    """
    if value is not None and re.search(r"[\x00-\x1f\ud800-\udfff]", value):
        raise ValueError(f"{value!r} is not a value of one line")
    before = _source(text)
    _values(before)
    source = _with_value(before, key, value)
    return _put(text, before, source, key, [] if value is None else [value])


def _listed(value: str | list[str]) -> list[str]:
    return [name for name in ([value] if isinstance(value, str) else value) if name.strip()]


# -- the source in its page -------------------------------------------------------------------------------------------


def _source(text: str) -> str:
    """The front matter of a page between its fences, with LF line ends; empty without one."""
    lines = LineText(text).lines
    return "".join(f"{line}\n" for line in lines[1 : max(1, front_matter_end(lines) - 1)])


def _put(text: str, before: str, after: str, key: str, wanted: list[str]) -> str:
    """The page with another source in its front matter; every line that both have keeps its bytes.

    ValueError unless it reads back with `wanted` under the key, everything else unchanged.
    """
    if len(after) > MAX_FRONT_MATTER:
        raise ValueError("front matter that would be over 32 KiB")
    try:
        same = _listed(_values(after).get(key, [])) == wanted and _others(before, key) == _others(after, key)
    except ValueError:
        same = False
    if not same:
        raise ValueError(f"front matter in which `{key}` is written in a way that cannot be edited")
    if before == after:
        return text
    page = LineText(text)
    end = front_matter_end(page.lines)
    old, new = before.split("\n")[:-1], after.split("\n")[:-1]
    if not end:
        page.insert(0, ["---", *new, "---", *([""] if page.lines else [])])
        return str(page)
    start = common_start(old, new)
    kept = common_start(old[start:][::-1], new[start:][::-1])
    page.replace(start + 2, end - 1 - kept, new[start : len(new) - kept])
    if not new:  # without fences, and the empty line below, unless what comes then would be taken for front matter
        rest = LineText(str(page))
        rest.replace(1, 3 if rest.lines[2:3] == [""] else 2, [])
        return str(page if front_matter_end(rest.lines) else rest)
    return str(page)


def _readable(source: str) -> str:
    """The source for a YAML reader, at the same places: it takes no lone surrogates, which stand for bytes here."""
    return _SURROGATE.sub("\ufffd", source)


def _values(source: str) -> dict[str, str | list[str]]:
    says_nothing = all(not line.strip() or line.lstrip().startswith("#") for line in source.split("\n"))
    read = {} if says_nothing else read_front_matter(_readable(source))
    if read is None:
        raise ValueError(_BAD)
    return read


def _others(source: str, key: str) -> bytes:
    """All that the front matter says under other keys. What YAML's anchors repeat is in it once: they may nest for ever."""
    import pickle

    import yaml

    read: dict[Any, Any] = yaml.load(_readable(source), Loader=yaml.BaseLoader) or {}
    return pickle.dumps({name: value for name, value in read.items() if name != key})


class _KeyValue(NamedTuple):
    """A key of the front matter and its value: YAML nodes, whose marks are indexes of the source."""

    key: Any
    value: Any

    @property
    def column(self) -> int:
        """Where the key stands in its line."""
        return int(self.key.start_mark.column)

    @property
    def is_text(self) -> bool:
        """True for a scalar that is not a block of text behind `|` or `>`."""
        return self.value.id == "scalar" and self.value.style not in ("|", ">")


def _pairs(source: str) -> list[_KeyValue]:
    import yaml

    try:
        root: Any = yaml.compose(_readable(source), Loader=yaml.BaseLoader)
    except yaml.YAMLError as error:
        raise ValueError(_BAD) from error
    if root is None:
        return []
    if root.id != "mapping" or root.flow_style:
        raise ValueError("front matter in braces; write `key: value` lines" if root.id == "mapping" else _BAD)
    return [_KeyValue(key, value) for key, value in root.value]


def _find(source: str, key: str) -> _KeyValue | None:
    """The pair of a key; of several, the last, which is the one that counts."""
    return next((pair for pair in reversed(_pairs(source)) if pair.key.value == key), None)


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


def _spelled(value: str, beside: Sequence[str] = ()) -> str:
    """A scalar as YAML needs it, anywhere; in the quotes that all of its neighbours wear."""
    quotes = {raw[:1] for raw in beside}
    if quotes == {"'"} and not _ESCAPED.search(value):
        return "'" + value.replace("'", "''") + "'"
    plain = _PLAIN.fullmatch(value) and not _ESCAPED.search(value) and not _AMBIGUOUS.fullmatch(value)
    if plain and quotes != {'"'}:
        return value
    return _ESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", json.dumps(value, ensure_ascii=False))


def _raw(source: str, node: Any) -> str:
    return source[node.start_mark.index : node.end_mark.index]


def _with_key(source: str, key: str, value: Callable[[str], str]) -> str:
    """With a key as the last line; `value` tells what follows its colon where keys are indented so far."""
    indent = " " * next((pair.column for pair in _pairs(source)), 0)
    return f"{source}{indent}{_spelled(key)}:{value(indent)}\n"


def _with_name(source: str, name: str) -> str:
    pair = _find(source, _NAMES)
    if pair is None:
        return _with_key(source, _NAMES, lambda indent: f"\n{indent}  - {_spelled(name)}")
    if pair.value.id != "sequence":
        return _scalar_with(source, pair, name)
    if entity_key(name) in (entity_key(item.value) for item in pair.value.value if item.id == "scalar"):
        return source
    return (_flow_with if pair.value.flow_style else _block_with)(source, pair.value, name)


def _scalar_with(source: str, pair: _KeyValue, name: str) -> str:
    """A key with one name or none. What stood there stays as it is written, if that means the same inside brackets."""
    value, raw = pair.value, _raw(source, pair.value)
    start, end = value.start_mark.index, value.end_mark.index
    if not pair.is_text:
        raise ValueError(f"{_NAMES}: is not a list of names")
    if not raw:
        at = _next_line(source, end)
        return f"{source[:at]}{' ' * pair.column}- {_spelled(name)}\n{source[at:]}"
    if entity_key(value.value) == entity_key(name):
        return source
    whole = raw[0] in "\"'" or _PLAIN.fullmatch(raw)
    if not whole and _SURROGATE.search(raw):
        raise ValueError(f"{_NAMES}: has bytes that are not UTF-8")
    names = [raw if whole else _spelled(value.value)] if value.value.strip() else []
    return f"{source[:start]}[{', '.join([*names, _spelled(name, names)])}]{source[end:]}"


def _flow_with(source: str, value: Any, name: str) -> str:
    if value.value:
        at = value.value[-1].end_mark.index
        return f"{source[:at]}, {_spelled(name, [_raw(source, item) for item in value.value])}{source[at:]}"
    at = source.index("[", value.start_mark.index) + 1
    return source[:at] + _spelled(name) + (" " if source[at] == "#" else "") + source[at:]


def _block_with(source: str, value: Any, name: str) -> str:
    items = value.value
    start = _line_start(source, items[-1].start_mark.index)
    dash = re.match(r"( *-)( *)", source[start:])
    if dash is None or any(item.id != "scalar" for item in items):
        raise ValueError("a list of names that holds more than names")
    gap = dash[2] if _raw(source, items[-1]) else ""
    at = _end(source, items[-1])
    return f"{source[:at]}{dash[1]}{gap or ' '}{_spelled(name, [_raw(source, item) for item in items])}\n{source[at:]}"


def _without_name(source: str, key: str) -> str:
    """Without the names of that `entity_key`."""
    pair = _find(source, _NAMES)
    if pair is None:
        return source
    if pair.value.id != "sequence":
        same = pair.is_text and entity_key(pair.value.value) == key
        before = source[: pair.value.start_mark.index].rstrip(" ")
        return before + source[pair.value.end_mark.index :] if same else source
    for at, item in enumerate(pair.value.value):
        if item.id == "scalar" and entity_key(item.value) == key:
            left = (_flow_without if pair.value.flow_style else _block_without)(source, pair, at)
            return _without_name(left, key)
    return source


def _flow_without(source: str, pair: _KeyValue, at: int) -> str:
    """Without an item and one comma; a comment beside it stays."""
    items = pair.value.value
    start, end = items[at].start_mark.index, items[at].end_mark.index
    behind = items[at - 1].end_mark.index if at else start
    if at and "#" not in source[behind:start]:
        return source[:behind] + source[end:]
    comma = re.compile(r"\s*,[ \t]*").match(source, end)
    if comma or not at:
        return source[:start] + source[comma.end() if comma else end :]
    gap = source.index(",", behind)
    return source[:gap] + source[gap + 1 : start] + source[end:]


def _block_without(source: str, pair: _KeyValue, at: int) -> str:
    """Without the lines of an item. A list indented below its key takes the key along when it ends."""
    items = pair.value.value
    start, end = _line_start(source, items[at].start_mark.index), _end(source, items[at])
    dash = re.match(r" *-", source[start:])
    if dash is None:
        raise ValueError("a list of names that is not written one a line")
    if len(items) == 1 and dash.end() - 1 > pair.column:
        start = _line_start(source, pair.key.start_mark.index)
    return source[:start] + source[end:]


def _with_value(source: str, key: str, value: str | None) -> str:
    pair = _find(source, key)
    if pair is None:
        return source if value is None else _with_key(source, key, lambda _: f" {_spelled(value)}")
    start, end = pair.value.start_mark.index, pair.value.end_mark.index
    if value is None:
        return source[: _line_start(source, pair.key.start_mark.index)] + source[_end(source, pair.value) :]
    if pair.is_text:
        raw = source[start:end]
        quotes = [raw] if raw[:1] in ("'", '"') else []
        return source[:start] + ("" if raw else " ") + _spelled(value, quotes) + source[end:]
    colon = source.index(":", pair.key.end_mark.index) + 1
    return f"{source[:colon]} {_spelled(value)}\n{source[_end(source, pair.value) :]}"
