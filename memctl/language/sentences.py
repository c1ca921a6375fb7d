"""Where a sentence ends, what it quotes, who says it, which lines a machine wrote, and how it is meant (modality.txt)."""

import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from .names import has_han
from .words import HAN_CHARS, pattern, search, spoken_in, words_of

_READ = 500  # characters of a line that tell whether a machine wrote it
_QUOTED = r"“[^”\n]{0,400}”|«[^»\n]{0,400}»|「[^」\n]{0,400}」|『[^』\n]{0,400}』|„[^“”\n]{0,400}[“”]|(?<!\w)\"[^\"\n]{0,400}\"(?!\w)"
BRACKETED = r"\([^()\n]{1,300}\)|（[^（）\n]{1,300}）"


@cache
def quotations(*beside: str) -> re.Pattern[str]:
    """A quotation in any marks, or what one of the patterns `beside` it finds."""
    return re.compile("|".join((_QUOTED, *beside)))


@cache
def _end(beside: str) -> re.Pattern[str]:
    return re.compile(rf"[.!?…]+[\"')\]»”’]*(?=$|[\s{beside}])|[。！？；]+[”」』’）\")]*|\n|(?<=[)\s]):\)")


def sentence_ends(masked: str) -> Iterator[int]:
    """Where the sentences of a text end in which quotations are masked; the dot of an abbreviation ends none."""
    for match in _end(HAN_CHARS if has_han(masked) else "").finditer(masked):
        if match[0] != "." or not _is_abbreviation(masked, match.start()):
            yield match.end()


def _is_abbreviation(text: str, dot: int) -> bool:
    word = text[max(0, dot - 12) : dot].rpartition(" ")[2].strip("(\"'«").casefold()
    if len(word) == 1 and word.isalpha() and text[dot - 1].isupper():
        return True
    if word in words_of("modality", "abbreviations at the end"):  # the sentence may end with it
        after = text[dot + 1 : dot + 3].strip()
        return after[:1].islower() or (after[:1].isdigit() and word not in words_of("modality", "halves of a day"))
    return word in words_of("modality", "abbreviations")


def split_sentences(text: str) -> Iterator[str]:
    """The sentences of running text, each without blanks around it. Marks within quotations and parentheses end none."""
    masked = quotations(BRACKETED).sub(lambda apart: apart[0][0] + "x" * (len(apart[0]) - 2) + apart[0][-1], text)
    ends = (0, *sentence_ends(masked), len(text))
    return filter(None, (text[first:last].strip() for first, last in pairwise(ends)))


@cache
def _label() -> re.Pattern[str]:
    time = r"(?:\d{4}[-/]\d\d[-/]\d\d[T ,]\s?)?\d{1,2}:\d\d(?::\d\d)?"
    name = r"[^\W\d_][\w.'’-]{0,20}(?: [^\W\d_][\w.'’-]{0,20}){0,2}"
    bold = r"\*\*(?P<bold>[^*\n]{1,40}?)(?:[:：]\*\*|\*\*(?: \([^()\n]{1,20}\))?\s?[:：])"
    plain = rf"(?P<plain>{name})(?: \([^()\n]{{1,20}}\))?\s?[:：](?!//)"
    return re.compile(
        rf"\s*(?P<time>[\[(]{time}[\])]\s*|{time}\s+)?(?:[-*]?\s*(?:{bold}|{plain})\s*(?:{time}\s+)?(?=\S))?"
    )


class Speaker(NamedTuple):
    """Who speaks on a line of a talk, empty for nobody; `begins` is where what is said does, `after_time` behind a clock."""

    name: str
    is_bold: bool
    after_time: int
    begins: int


def speaker_on(line: str) -> Speaker:
    """Whom a line names before what is said: "**Anna:** yes", "10:02 Anna: yes", "小林：好"."""
    match = _label().match(line)
    assert match  # it may be empty
    name = match["bold"] or match["plain"] or ""
    return Speaker(name, match["bold"] is not None, max(match.end("time"), 0), match.end())


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


def says(section: str, text: str) -> bool:
    """True where a text holds a pattern of this section of modality.txt."""
    return any(search(pattern((each,), "modality", section), text) for each in spoken_in(text))


def is_correction(text: str) -> bool:
    """True for a line that says of another that it was never true: "actually …", "not X but Y", «не X, а Y», 其实."""
    return says("correction", text) and not is_change(text)


def is_change(text: str) -> bool:
    """True for a line that says of itself that things are no longer as they were: "now", "moved", «теперь», 改为."""
    return says("change", text)


def is_past(text: str) -> bool:
    """True for what happened at some time: another day may have seen the opposite."""
    return says("past", text)


def is_plan(text: str) -> bool:
    """True for a line about what is to come: "is planned for", "will", «собирается», 计划. Its day ends it."""
    return says("plan", text)
