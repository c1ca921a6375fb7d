"""Where a sentence ends, which lines a machine wrote, and how a sentence is meant (modality.txt of its languages)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from .words import pattern, spoken_in

_READ = 500  # characters of a line that tell whether a machine wrote it
_END = re.compile(r"(?<=[.!?…])\s+|(?<=[.!?…]['\"»”’)])\s+|(?<=[。！？])(?![”」』）])|(?<=[。！？][”」』）])")
QUOTED = re.compile(r"\"[^\"\n]{1,300}\"|“[^”\n]{1,300}”|«[^»\n]{1,300}»|「[^」\n]{1,300}」|\([^()\n]{1,300}\)")


def split_sentences(text: str) -> Iterator[str]:
    """The sentences of running text, each without blanks around it. Marks within quotations and parentheses end none."""
    masked = QUOTED.sub(lambda quoted: quoted[0][0] + "x" * (len(quoted[0]) - 2) + quoted[0][-1], text)
    ends = (0, *(mark.end() for mark in _END.finditer(masked)), len(text))
    return filter(None, (text[first:last].strip() for first, last in pairwise(ends)))


def opens_fence(line: str) -> str:
    """The backticks or tildes that open or close a block of code on this line; empty for any other line."""
    match = re.match(r"\s{0,3}(```+|~~~+)", line)
    return match[1] if match else ""


_SIGNS = frozenset("{};=).&x:X")  # one of these is in whatever _MACHINE_HOLDS finds


_LEVEL = "ERROR|ERR!|WARN|WARNING|INFO|DEBUG|FATAL|CRITICAL|TRACE"
_MACHINE_BEGINS = (
    r"\s*(?:\$ \S|>>> |#!|//|/\*|\*/|at\s+[\w$.<>/]+\s?\(|File \"|Traceback|\.\.\. \d+ more|\|.*\||[-=*_]{4,}\s*$|[+-]{3} \S|@@ |diff --git"
    r"|\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[?\d\d:\d\d:\d\d|\[\w+\]\s|(?:\w+\.)*\w*(?:Error|Exception|Warning)\b\s*:"
    rf"|(?:{_LEVEL}|npm ERR!|fatal|error|warning|panic|Caused by|stderr|stdout)\b\s?[:!\[(|]|npm ERR!"
    r"|(?:import|from) [\w.]+(?: import\b.*)?\s*$|(?:def|class|function|func|fn)\s+\w+\s*[({:]"
    r"|(?:const|let|var)\s+\w+\s*=|(?:public|private|protected)\s+\w+\s+\w+\s*[({;=]"
    r"|<[/!?]?\w[^>]*>\s*$|\}|\{|[\w.-]+\s*=\s*\S+\s*$|[\w-]+:\s*[\w./\"'-]*\s*$(?<=:)"
    r"|(?:SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|DROP)\b.*(?:\bFROM\b|\bINTO\b|\bTABLE\b|;|\bSET\b))"
)
_MACHINE_HOLDS = r"[{}]\s*$|[(=\[][^;]*;\s*$|=>|\)\s*\{|\bself\.\w|\(\w{0,40}\)\.\w|&&\s|\b0x[0-9a-f]{4}|:\d+:\d+\b"


def is_machine_line(line: str) -> bool:
    """True for a line that a machine wrote, not a person: code, a log, a shell, a frame of a stack, a row of a table."""
    line = line[:_READ]
    return bool(re.match(_MACHINE_BEGINS, line) or (not _SIGNS.isdisjoint(line) and re.search(_MACHINE_HOLDS, line)))


def _says(section: str, text: str) -> bool:
    return bool(re.search(pattern(spoken_in(text), "modality", section), text, re.IGNORECASE))


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
