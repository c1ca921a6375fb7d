"""What a shell asks at TAB: `memctl __complete SHELL WORD…` prints what may stand in place of the last word.

A candidate a line, and behind a tab what it is; `:files` leaves it to the shell. Bash hands over its line and what of it
would be replaced, and is given no more than that. An answer is due in 50 ms: this imports as little as it can do with,
takes the commands from a table that `make docs` writes and all else from the index as it is, and builds nothing.
"""

from __future__ import annotations

import os
import sys

from ..language.entity_key import entity_key

TYPE_CHECKING = False  # as in typing, which is not loaded either
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    Candidate = tuple[str, str]  # a word, and what it is
    Table = Mapping[str, Sequence[tuple[str, str, str]]]
    """Of each command its options and arguments: names, kind of value, help, as in commands.tsv."""

FILES = ":files"
SIGNS = ("memctl.toml", ".memory", "memory")  # of a workspace, as in notes/workspace.py, which costs too much to load
_SPECIAL = frozenset(" \t\\'\"$`!&*?[](){}<>|;#~^")
_TOLD = 60  # characters of a line that tell what an id stands for


def main(arguments: Sequence[str]) -> None:
    """Print the candidates."""
    shell, *words = arguments
    lines = _for_bash(*words) if shell == "bash" else ["\t".join(filter(None, each)) for each in complete(words)]
    sys.stdout.write("".join(f"{line}\n" for line in lines if line.replace("\t", "").isprintable()))


def _for_bash(line: str, replaced: str) -> list[str]:
    """Candidates as they are to be written in the line; without what stands before the part that bash replaces."""
    (_, *words), typed, quote = split_line(line)
    kept = len(split_line(typed[: len(typed) - len(replaced)])[0][-1]) if typed.endswith(replaced) else 0
    found = [word for word, _ in complete(words)]
    return found if found == [FILES] else [bash_quoted(word[kept:], quote) for word in found]


def split_line(line: str) -> tuple[list[str], str, str]:
    """The words of a line, the last one as it was typed, and the quote in which that ends."""
    words, word, start, quote, at = [], "", 0, "", 0
    while at < len(line):
        char = line[at]
        if char == quote or (not quote and char in "'\""):
            quote = "" if quote else char
        elif char == "\\" and quote != "'":
            at += 1
            word += line[at : at + 1]
        elif quote or not char.isspace():
            word += char
        else:
            words += [word] if at > start else []
            word, start = "", at + 1
        at += 1
    return [*words, word], line[start:], quote


def bash_quoted(word: str, quote: str) -> str:
    """A word as bash reads it back: names may be the words of strangers, and none of them is to be run."""
    if quote == "'":
        return word.replace("'", "'\\''")
    special = '\\"$`' if quote else _SPECIAL
    return "".join(f"\\{char}" if char in special else char for char in word)


def complete(words: Sequence[str], environ: Mapping[str, str] = os.environ) -> list[Candidate]:
    """What may stand in place of the last of `words`, which are those behind `memctl`."""
    *before, word = words
    place = _Cursor(read_table(), before, environ)
    if word.startswith("-") and not place.expects and not place.is_plain:
        option, equals, begun = word.partition("=")
        if not equals:
            return _begun(word, place.options())
        expects, option = place.value(option), option + equals
    else:
        expects, option, begun = place.expects or place.argument(), "", word
    found = [] if place.expects or option else _begun(word, place.commands())
    found += place.values(expects, begun)
    exact = [each for each in found if each[0].startswith(begun)]
    found = exact or found  # a shell takes back what was typed, where some begin in another way (today, Toaster)
    return [(option + each if each != FILES else each, told) for each, told in found]


def read_table() -> Table:
    """The commands."""
    table: dict[str, list[tuple[str, str, str]]] = {}
    with open(os.path.join(os.path.dirname(__file__), "commands.tsv"), encoding="utf-8") as file:
        for line in filter(None, file.read().split("\n")):
            command, names, value, told = line.split("\t")
            table.setdefault(command, []).append((names, value, told))
    return table


def _begun(word: str, candidates: Iterable[Candidate]) -> list[Candidate]:
    begun = word.casefold()
    return [each for each in candidates if each[0].casefold().startswith(begun)]


class _Cursor:
    """Where a line stands after some words: in which command, after which option, at which argument; and its workspace."""

    def __init__(self, table: Table, before: Sequence[str], environ: Mapping[str, str]) -> None:
        self.table, self.command, self.expects, self.is_plain = table, "", "", False
        self.given: dict[str, str] = {}
        arguments, option = 0, ""
        for word in before:
            if self.expects:
                self.expects, self.given[option] = "", word
            elif word == "--":
                self.is_plain = True
            elif word.startswith("-") and not self.is_plain:
                option, equals, value = word.partition("=")
                self.given[option], self.expects = value, "" if equals else self.value(option)
            elif f"{self.command} {word}".strip() in table:
                self.command = f"{self.command} {word}".strip()
            else:
                arguments += 1
        self._arguments, self._environ = arguments, environ

    @property
    def _root(self) -> str:
        named = self.given.get("-w") or self.given.get("--workspace") or self._environ.get("MEMCTL_WORKSPACE")
        return os.path.expanduser(named) if named else _nearest(os.getcwd())

    def value(self, option: str) -> str:
        """What kind of value an option takes; empty for none."""
        return next((value for names, value, _ in self.table[self.command] if option in names.split()), "")

    def options(self) -> Iterator[Candidate]:
        """Names of options, but of those that stand in the line already."""
        for names, value, told in self.table[self.command]:
            if names and (value.endswith("…") or self.given.keys().isdisjoint(names.split())):
                yield from ((name, told) for name in names.split())

    def argument(self) -> str:
        """What kind of argument may follow."""
        kinds = [value for names, value, _ in self.table[self.command] if value and not names]
        last = kinds[-1] if kinds and kinds[-1].endswith("…") else ""
        return kinds[self._arguments] if self._arguments < len(kinds) else last

    def commands(self) -> Iterator[Candidate]:
        """Commands, or those of a group."""
        for command, rows in self.table.items():
            group, _, name = command.rpartition(" ")
            if group == self.command and name and not self._arguments:
                yield name, rows[0][2]

    def values(self, kind: str, begun: str) -> list[Candidate]:
        """Values of a kind: some words with a `|` between, or what its maker finds in the workspace."""
        kind = kind.removesuffix("…")
        if "|" in kind:
            return _begun(begun, [(word, "") for word in kind.split("|")])
        if kind in ("FILE", "DIR", "SOURCE", "FOLDER"):
            return [(FILES, "")]
        maker = _MAKERS.get(kind)
        return [each for each in maker(self, begun) if not each[0].startswith("-")] if maker else []

    def _known(self, what: str, begun: str) -> list[tuple[Any, ...]]:
        from ..index.completion import typeable

        return typeable(self._root, what, begun)

    def _names(self, begun: str) -> Iterator[Candidate]:
        """Names; those that begin in several ways (Curlew, curlew-api) as it was typed, as each of them is meant."""
        at = "@" if begun.startswith("@") else ""
        typed = begun[len(at) :]
        found = self._known("names", entity_key(typed) if typed else "")
        names = [name or _spelled(self._line(path, line), key) for key, name, path, line in found]
        if len({name[: len(typed)] for name in names}) > 1:
            names = [typed + name[len(typed) :] for name in names]
        return ((at + (name.replace(" ", "-") if at else name), "") for name in names)

    def _ids(self, begun: str) -> Iterator[Candidate]:
        caret = "^" if begun.startswith("^") else ""
        for ref, path, line, *fingerprint in self._known("ids", begun[len(caret) :]):
            yield caret + ref, self._line(path, line, fingerprint).removeprefix("- ")

    def _references(self, begun: str) -> Iterator[Candidate]:
        if self.command == "open":
            days = self._known("days", begun) if begun else ()
            yield from _begun(begun, [("today", ""), *((day, "") for (day,) in days)])
        yield from self._ids(begun)
        yield from self._names(begun)
        yield from self._known("pages", begun)

    def _days(self, begun: str) -> Iterator[Candidate]:
        """Days that have a log, by months where those are several; before them words of the language of the shell."""
        locale = next(filter(None, map(self._environ.get, ("LC_ALL", "LC_MESSAGES", "LANG"))), "")[:2]
        own = f"@when {locale}" if f"@when {locale}" in self.table else "@when en"
        for language in [own] if not begun else [each for each in self.table if each.startswith("@when ")]:
            yield from _begun(begun, [(word, "") for word in self.table[language][0][1].split("|")])
        days = [day for (day,) in self._known("days", begun)]
        months = list(dict.fromkeys(day[:7] for day in days))
        yield from ((day, "") for day in (months if len(months) > 1 else days))

    def _query(self, begun: str) -> Iterator[Candidate]:
        """Names, and the filters of a question: the options of the same name."""
        field, colon, value = begun.partition(":")
        if colon:
            yield from ((f"{field}:{word}", told) for word, told in self.values(self.value(f"--{field}"), value))
        elif begun.startswith("@"):
            yield from self._names(begun)
        elif begun:
            yield from _begun(begun, [(f"{word}:", "") for word in self.table["@query filters"][0][1].split("|")])

    def _line(self, path: str, line: int, fingerprint: Sequence[int] = ()) -> str:
        """The line of a page; empty where the page changed since its fingerprint was taken."""
        try:
            with open(os.path.join(self._root, path), encoding="utf-8", errors="replace") as file:
                status = os.fstat(file.fileno())
                if fingerprint and [status.st_size, status.st_mtime_ns] != list(fingerprint):
                    return ""
                text = next((text for number, text in enumerate(file, 1) if number == line), "").strip()
        except OSError:
            return ""
        return "".join(char if char.isprintable() else " " for char in (text[:_TOLD] if fingerprint else text))


_MAKERS: Mapping[str, Callable[[_Cursor, str], Iterable[Candidate]]] = {
    "NAME": _Cursor._names, "ALIAS": _Cursor._names, "INTO": _Cursor._names, "ID": _Cursor._ids, "REF": _Cursor._references,
    "DAY": _Cursor._days, "WHEN": _Cursor._days, "TIME": _Cursor._days, "QUERY": _Cursor._query,
    "KEY": lambda at, begun: ((key, "") for (key,) in at._known("keys", begun)),
    "TEXT": lambda at, begun: at._names(begun) if begun.startswith("@") else (),
}  # fmt: skip


def _nearest(here: str) -> str:
    """The nearest folder at or above that is a workspace."""
    while os.path.dirname(here) != here and not any(os.path.exists(os.path.join(here, sign)) for sign in SIGNS):
        here = os.path.dirname(here)
    return here


def _spelled(line: str, key: str) -> str:
    """How a line writes the name of a key, behind `@` or `[[`; else the key."""
    for mark in ("@", "[["):
        for piece in line.split(mark)[1:]:
            for end in (len(key), *range(len(piece), 0, -1)):  # nearly always as long as its key
                if entity_key(piece[:end].partition("|")[0]) == key:
                    return " ".join(piece[:end].rstrip("-_ ").partition("|")[0].split())
    return key
