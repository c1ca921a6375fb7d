"""The fixture workspace is what the manual speaks of: its questions find their gold lines, and nothing writes to it."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from face_helpers import FIXTURES, TODAY, ask, call, fixture_copy, memory_on, reflected_copy, snapshot

from memctl.facts import Citation
from memctl.maintenance.check import check
from memctl.markdown.lines import split_lines
from memctl.notes.workspace import Workspace

QUESTIONS = [json.loads(line) for line in (FIXTURES / "questions.jsonl").read_text("utf-8").splitlines()]
WANTED = 26  # of the 29 questions with gold


@pytest.fixture(scope="module")
def station(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """A copy of the fixture workspace."""
    return Workspace(fixture_copy(tmp_path_factory.mktemp("fixture")).resolve())


def test_gold_lines_stand(station: Workspace) -> None:
    """Every gold citation points at text."""
    for question in QUESTIONS:
        for gold in question["gold"]:
            cited = Citation.parse(gold)
            lines = split_lines((station.root / cited.path).read_text("utf-8-sig"))
            assert "".join(lines[cited.line - 1 : cited.end_line]).strip(), gold


def test_questions_find_their_gold(station: Workspace) -> None:
    """At least 26 of 29 have a gold line among the first ten; what is missed is printed."""
    missed, first = [], 0
    for question in (q for q in QUESTIONS if q["gold"]):
        found = [
            str(citation) for hit in ask(station, question["question"]).hits for citation in (hit.source, *hit.also)
        ]
        first += found[0] in question["gold"]
        if not set(found) & set(question["gold"]):
            missed.append(f"{question['id']} {question['question']} -> {question['gold']}, first {found[0]}")
    asked = sum(1 for q in QUESTIONS if q["gold"])
    print(f"fixture recall@10 {asked - len(missed)}/{asked}, first hit {first}/{asked}", *missed, sep="\n  ")
    assert asked == 29 and asked - len(missed) >= WANTED, missed


def test_what_nobody_wrote_down_is_not_found(station: Workspace) -> None:
    """The question without gold finds nothing, and says so."""
    (question,) = (q for q in QUESTIONS if not q["gold"])
    answer = ask(station, question["question"])
    assert answer.hits == () and answer.empty


def test_the_workspace_is_in_order(station: Workspace) -> None:
    """`memctl check` finds what was planted and nothing else."""
    assert [f.rule for f in check(memory_on(station, TODAY))] == ["conflict", "conflict"]  # the two that were planted


SESSION = [
    ["status"], ["check"], ["recall", "gateway"], ["recall", "--json", "饺子", "--history"], ["show", "@Irina"], ["entity", "list"],
    ["entity", "show", "Curlew"], ["fact", "get", "city"], ["fact", "history", "db"], ["index"], ["index", "--rebuild"], ["index", "--verify"],
    ["init"], ["retain", "--dry-run", "W: not written"], ["fact", "set", "city", "Nowhere", "--about", "Irina", "-n"],
    ["reflect", "--dry-run"], ["belief", "list"], ["why", "nj04-nine"], ["conflicts"], ["resolve", "nets-11", "--over", "nets-12", "-n"],
    ["forget", "--id", "nets-12"], ["forget", "--suggest"], ["entity", "alias", "Curlew", "c-api", "-n"],
]  # fmt: skip


def test_reading_changes_no_byte(tmp_path: Path) -> None:
    """Promise 2: a session of commands that only read, or only pretend to write, leaves every file as it was."""
    root = reflected_copy(tmp_path)
    call(["init"], root)  # makes what the fixture does not have
    before = snapshot(root)
    for words in SESSION:
        assert call(words, root).code == (words == ["check"]), words  # which finds two conflicts
    assert snapshot(root) == before


def test_retain_changes_one_file_at_its_end(tmp_path: Path) -> None:
    """A log with CRLF, a BOM and no retain heading at its end keeps every byte that it had."""
    root = fixture_copy(tmp_path)
    before = snapshot(root)
    assert call(["retain", "W: added", "--date", "2025-08-12"], root).code == 0
    after = snapshot(root)
    assert [path for path in after if after[path] != before.get(path)] == ["memory/2025-08-12.md"]
    assert after["memory/2025-08-12.md"].startswith(before["memory/2025-08-12.md"])


def test_the_fixture_itself_is_never_written() -> None:
    """The tree under fixtures/ has no derived folder, and is the one that the questions were written for."""
    assert not (FIXTURES / "workspace" / ".memory").exists()
    files = snapshot(FIXTURES / "workspace")
    assert len(files) == 65 and len(QUESTIONS) == 30
    digest = hashlib.sha256(b"".join(path.encode() + b"\0" + data for path, data in files.items())).hexdigest()
    assert digest == DIGEST, (
        "the fixture changed: check questions.jsonl and the scenarios, then write down its new digest"
    )


DIGEST = "2392a6bcd7915b7021fc0ebb90e2518077097078824a8b2fb46fc5f3bf9767ff"
