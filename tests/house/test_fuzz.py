"""S1: no question, however odd, breaks recall; it is answered, or refused as a usage error, within two seconds.

30 questions by default; MEMCTL_TORTURE=1 asks 50,000.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from pathlib import Path

import pytest
from face_helpers import TODAY, call, fixture_copy, memory_on

from memctl.errors import Usage
from memctl.index.heal import with_index
from memctl.index.index import Index
from memctl.index.sync import sync
from memctl.notes.workspace import Workspace
from memctl.recall.query import read_query
from memctl.recall.recall import recall_in

TORTURE = bool(os.environ.get("MEMCTL_TORTURE"))
COUNT = 50_000 if TORTURE else 30
ROWS = 120_000  # and statements that a question of 100 KB may cost the index of the fixture

FTS5 = [
    '"', '""', '"""', "'", "*", "a*", "^a", "a AND", "OR b", "NOT", "NEAR(", "NEAR(a b, 5)", "{own}:a", "own:a", "own:",
    "- a", "a + b", "a -b", "(", ")", "()", "(a OR", "a:b:c", "rowid:1", "words MATCH", "; DROP TABLE entry;--", "%", "_",
    "?", "?1", ":x", "$x", "a\\", "\\", "`x`", "[x]", "x'00'", "NULL", "1=1", "/* */", "--",
]  # fmt: skip
FILTERS = [
    "@", "@@", "@Alex", "@Nobody", "@[[", "@[[Alex Chen]]", "[[", "[[]]", "[[Curlew|x]]", "[[#h]]", "about:", 'about:"', "about:Alex",
    'about:"Alex Chen"', "about:[[x", "kind:", "kind:opinion", "kind:W,B", "kind:,", "kind:Pod", "key:", "key:db", 'key:""', "since:",
    "since:30d", "since:99999999999999y", "since:0d", "since:2025-13", "since:9999-12-31", "since:0001-01-01", "until:1d", "until:",
    "on:2025-02-30", "on:2025-11", "as-of:", "as-of:2025-11-01", "as-of:1000000d", "min-confidence:", "min-confidence:nan",
    "min-confidence:2", "min-confidence:0.9", "min-confidence:-0", "last week", "в прошлом месяце", "上周", "27 ноября", "in 9999",
]  # fmt: skip
TEXT = [
    "Curlew", "database", "ринг", "Ирина живёт", "老陈", "饺子在哪里", "ECONNRESET", "nightjar/gw/queue.py", "0.9.3", "c++", "C#", ".NET",
    "SQLSTATE 53100", "the", "и", "的", "עברית", "العربية", "\u202ertl", "👩‍👩‍👧‍👦", "🏳️‍🌈", "e\u0301", "ﬁ", "Ⅷ", "ǆ", "ß", "İ", "\u0130", "\u0300" * 5,
]  # fmt: skip
NOISE = [
    "\0", "\x01", "\x1b[31m", "\x7f", "\x85", "\u2028", "\u200b", "\ufeff", "\ud800", "\udfff", "\udcff", "\U000e0041", "\U0010ffff",
    "\n", "\r\n", "\t", "\u3000", " " * 50, "a" * 300, "字" * 300, "." * 100, "(" * 200, '"' * 101, "-" * 100, "@" * 100, "9" * 400,
]  # fmt: skip


def question(random_: random.Random) -> str:
    """One odd question: pieces of syntax, filters, text and noise, joined or not, whole or cut."""
    pieces = [random_.choice(random_.choice((FTS5, FILTERS, TEXT, NOISE))) for _ in range(random_.randint(1, 7))]
    if random_.random() < 0.2:
        pieces.append(
            "".join(chr(random_.choice((random_.randrange(0x250), random_.randrange(0x110000)))) for _ in range(9))
        )
    text = random_.choice(("", " ", " ", " ")).join(pieces)
    return text[: random_.randint(1, len(text))] if random_.random() < 0.3 else text


def giants() -> list[str]:
    """Questions of 10 KB (100 in `make torture`), each hard for another part."""
    words = " ".join(f"w{i}" for i in range(15_000))
    seeds = [
        '"', "a ", "@A ", "[[", '"a" ', "字", "\u0300", "a-", "since:1d ", "a/b", "9,999,", "9" * 9 + " ", "last ", "Ы", "\ud800", "kind:", "W ", "(",
        "2025-11-27 ",
    ]  # fmt: skip
    size = 100_000 if TORTURE else 10_000
    return [words, *((seed * (size // len(seed)))[:size] for seed in seeds)]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the fixture workspace for this module; nothing here writes to it."""
    return fixture_copy(tmp_path_factory.mktemp("fuzz"))


def test_no_question_breaks_recall(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Answered, or refused as Usage; never another exception, never a long walk through the index."""
    workspace = Workspace(root.resolve())
    random_ = random.Random(20251130)
    outcomes: Counter[str] = Counter()
    rows_read = 0
    most = (0, "")

    real = Index.rows

    def counted(index, sql, values=()):
        nonlocal rows_read
        found = real(index, sql, values)
        rows_read += 1 + len(found)
        return found

    monkeypatch.setattr(Index, "rows", counted)

    def job(index):
        nonlocal rows_read, most
        sync(workspace, index)
        for text in [*giants(), *(question(random_) for _ in range(COUNT))]:
            rows_read = 0
            try:
                recall_in(memory_on(workspace, TODAY).bound(index), read_query(text, TODAY), k=10)
                outcomes["answered"] += 1
            except Usage:
                outcomes["refused"] += 1
            except Exception as error:
                raise AssertionError(f"{type(error).__name__}: {error} for {text[:200]!r}") from error
            most = max(most, (rows_read, text[:60]))

    with_index(workspace, job)
    print(
        f"S1 {sum(outcomes.values()):,} queries, 0 exceptions, {outcomes['refused']} refused, most rows {most[0]} ({most[1]!r})"
    )
    assert 0 < most[0] < ROWS, most


COMMANDS = [
    ["recall"], ["recall", "--json", "--explain"], ["recall", "--history", "-f", "md"], ["recall", "--budget", "200"], ["recall", "--about"],
    ["recall", "--key"], ["recall", "x", "--since"], ["show"], ["entity", "show"], ["fact", "get"], ["fact", "history", "city", "--about"],
    ["retain", "--dry-run"], ["retain", "--dry-run", "x", "--key"], ["fact", "set", "k", "--dry-run"],
]  # fmt: skip


def test_no_argument_breaks_a_command(root: Path) -> None:
    """Every command that takes text ends with an exit code of the contract and, if it is an error, two lines."""
    random_ = random.Random(7)
    for number in range(2_000 if TORTURE else 56):
        command, text = COMMANDS[number % len(COMMANDS)], question(random_)
        done = call([*command, text], root)
        assert done.code in {0, 1, 2, 11, 13, 15}, (done.code, command, text, done.err)
        if done.code > 1:
            assert len(done.err.splitlines()) == 2 and done.err.startswith("memctl: "), (command, text, done.err)


@pytest.mark.parametrize(
    "text", ["a" * 100_000, "字" * 30_000, '"' * 100_000, "@A " * 30_000], ids=["a", "han", "quotes", "names"]
)
def test_a_hundred_kilobytes_are_one_more_question(root: Path, text: str) -> None:
    """A question of 100 KB is answered or finds nothing."""
    assert call(["recall", text], root).code in {0, 1}
