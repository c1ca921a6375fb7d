"""retain/retain.py: facts go to the log of a day under `## Retain`, and what is reported as kept is there."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from unittest.mock import patch

import pytest
from face_helpers import memory_on
from hypothesis import given, settings, strategies as st
from store_helpers import DAY, LOG, is_two_lines, make_workspace, memctl, synced
from strategies import examples

from memctl.errors import MemctlError, OutsideWorkspace, PageUnreadable, Refused, Usage
from memctl.facts import Citation, Fact, Kind
from memctl.index.open_memory import OpenMemory
from memctl.index.queries.entity_names import mentioned
from memctl.index.rows import valid
from memctl.index.sync import verify
from memctl.markdown.page import parse_page, split_lines
from memctl.notes.files import MAX_PAGE
from memctl.notes.workspace import Workspace
from memctl.retain.retain import Retained, read_fact, retain

HEAD = "# 2025-11-27\n\n## Retain\n\n"


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return make_workspace(tmp_path, {})


def log_of(workspace: Workspace, before: str | bytes) -> Path:
    page = workspace.root / LOG
    page.write_bytes(before if isinstance(before, bytes) else before.encode())
    return page


def keep(workspace: Workspace, *texts: str, **more: bool) -> Retained:
    return retain(memory_on(workspace), [read_fact(text) for text in texts], DAY, **more)


def cited(workspace: Workspace, at: Citation) -> str:
    return split_lines((workspace.root / at.path).read_bytes().decode("utf-8", "replace"))[at.line - 1]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", HEAD + "- W: One\n"), (HEAD + "- W: Zero\n", HEAD + "- W: Zero\n- W: One\n"),
        ("# D\n\n## Retain", "# D\n\n## Retain\n\n- W: One\n"),
        (HEAD + "- W: Zero\n\n### Of\n\n- W: Half\n", HEAD + "- W: Zero\n\n### Of\n\n- W: Half\n- W: One\n"),
        ("### 保留\n\n- W: 零\n", "### 保留\n\n- W: 零\n- W: One\n"),
        (HEAD.replace("\n", "\r\n") + "- W: Zero\r\n", HEAD.replace("\n", "\r\n") + "- W: Zero\r\n- W: One\r\n"),
        (HEAD.replace("\n", "\r\n") + "- W: half", HEAD.replace("\n", "\r\n") + "- W: half\r\n- W: One\r\n"),
        ("\ufeff" + HEAD + "- W: Zero\n", "\ufeff" + HEAD + "- W: Zero\n- W: One\n"),
    ],
    ids=["new", "section at the end", "bare torn heading", "subsection", "chinese", "crlf", "crlf torn", "bom"],
)  # fmt: skip
def test_a_fact_goes_under_retain_at_the_end(workspace: Workspace, before: str, after: str) -> None:
    """tests/retain/test_additions.py has what else a page may end in."""
    page = log_of(workspace, before)
    done = keep(workspace, "One")
    assert page.read_bytes().decode() == after
    assert cited(workspace, done.kept[0].citation) == "- W: One"
    assert not done.kept[0].already


def test_the_log_of_any_day(workspace: Workspace) -> None:
    keep(workspace, "One")
    done = retain(memory_on(workspace), [read_fact("One")], DAY.replace(year=987, month=1, day=2))
    assert str(done.kept[0].citation) == "memory/0987-01-02.md#L5" and not done.kept[0].already


def test_many_facts_are_one_write(workspace: Workspace) -> None:
    done = keep(workspace, "One", "Two", "One", "Three")
    assert (workspace.root / LOG).read_text() == HEAD + "- W: One\n- W: Two\n- W: Three\n"
    assert [k.citation.line for k in done.kept] == [5, 6, 5, 7]


PIECES = (
    b"# D\n", b"## Retain\n", b"- W: Zero\n", b"text", b"\r\n", b"```\n", b"\xff", b"\xef\xbb\xbf", b"> q\n", b"<!-- ",
    b"    x\n", b"- [ ] t\n", b"|a|\n", b"---\n", b"\t- n\n",
)  # fmt: skip
BYTES = st.lists(st.sampled_from(PIECES), max_size=10).map(b"".join)


@given(before=BYTES, text=st.text(min_size=1, max_size=60))
@settings(max_examples=examples(250), deadline=None)
def test_what_is_kept_is_read_back_from_its_citation_and_nothing_else_changes(
    tmp_path_factory: pytest.TempPathFactory, before: bytes, text: str
) -> None:
    workspace = make_workspace(tmp_path_factory.mktemp("w"), {})
    page = log_of(workspace, before)
    try:
        fact = read_fact(text)
        done = retain(memory_on(workspace), [fact], DAY)
    except (Refused, Usage):
        assert page.read_bytes() == before
        return
    now = page.read_bytes()
    assert now.startswith(before)
    (kept,) = done.kept
    facts = {entry.span.line: entry.fact for entry in parse_page(now.decode("utf-8", "replace")).entries}
    assert facts[kept.citation.line] == kept.fact
    again = retain(memory_on(workspace), [fact], DAY)
    assert again.kept[0].already
    assert again.kept[0].citation == kept.citation
    assert page.read_bytes() == now


def test_the_same_line_again_says_where_it_stands(workspace: Workspace) -> None:
    first, page = keep(workspace, "One").kept[0], workspace.root / LOG
    page.write_text("A new first line.\n" + page.read_text())
    again = keep(workspace, "One").kept[0]
    assert again.already and again.ref == first.ref
    assert cited(workspace, again.citation) == "- W: One"
    assert page.read_text().count("One") == 1


def test_the_same_line_on_another_page_of_the_day(workspace: Workspace) -> None:
    (workspace.root / "memory/2025-11-27-standup.md").write_text("## Retain\n\n- W: One ^abc\n")
    done = keep(workspace, "One", "Two")
    assert [(str(k.citation), k.already) for k in done.kept] == [
        ("memory/2025-11-27-standup.md#L3", True),
        (f"{LOG}#L5", False),
    ]
    assert keep(workspace, "One").kept[0].already


def test_a_page_of_the_day_that_cannot_be_read_is_passed_over(workspace: Workspace) -> None:
    (workspace.root / "memory/2025-11-27-picture.md").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR")
    assert not keep(workspace, "One").kept[0].already


@pytest.mark.parametrize(
    ("text", "flags", "fact"),
    [
        ("One", {}, Fact(Kind.WORLD, "One")),
        ("- O(0.9) @Peter: Brief", {}, Fact(Kind.OPINION, "Brief", ("Peter",), confidence=0.9)),
        ("W @A: One", {"about": ["@B", "[[C D]]", "A"]}, Fact(Kind.WORLD, "One", ("A", "B", "C D"))),
        ("One", {"values": {"c": ["0.5"]}}, Fact(Kind.OPINION, "One", confidence=0.5)),
        ("One", {"values": {"outcome": ["ok"]}}, Fact(Kind.EXPERIENCE, "One", outcome="ok")),
        ("One", {"kind": "S", "values": {"key": ["k"]}}, Fact(Kind.OBSERVATION, "One", key="k")),
        ("Wow: a colon", {}, Fact(Kind.WORLD, "Wow: a colon")),
        ("two\nlines\x1b[31m", {}, Fact(Kind.WORLD, "two lines [31m")),
        ("ends in ^abc", {}, Fact(Kind.WORLD, "ends in ^abc")),
    ],
)
def test_text_and_flags_make_a_fact(text: str, flags: dict[str, object], fact: Fact) -> None:
    assert read_fact(text, **flags) == fact  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "flags"),
    [
        ("O(c=7): Too sure", {}), ("W(key: One", {}), ("One", {"kind": "note"}), ("One", {"kind": "fact"}),
        ("One", {"about": ["a]b"]}), ("One", {"about": ["@"]}), ("One", {"values": {"c": ["2"]}}),
        ("One", {"values": {"t": ["yesterday-ish"]}}),
    ],
)  # fmt: skip
def test_words_that_mean_nothing_are_usage(text: str, flags: dict[str, object]) -> None:
    with pytest.raises(Usage):
        read_fact(text, **flags)  # type: ignore[arg-type]


def test_nothing_left_and_too_long_are_refused() -> None:
    for text in ("\x00\x01", "x" * 20_000):
        with pytest.raises(Refused):
            read_fact(text)


SECRET = "The key is ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def test_a_secret_is_refused_and_nothing_is_written(workspace: Workspace) -> None:
    with pytest.raises(Refused) as error:
        keep(workspace, "One", SECRET)
    assert error.value.exit_code == 15
    assert not (workspace.root / LOG).exists()
    assert keep(workspace, SECRET, allow_secrets=True).kept


@pytest.mark.parametrize("room", [-1, 0, 8])
def test_a_page_never_grows_beyond_what_is_read(workspace: Workspace, room: int) -> None:
    page = log_of(workspace, (b"x" * 99 + b"\n") * (MAX_PAGE // 100) + b"x" * (MAX_PAGE % 100 - room - 1) + b"\n")
    size = page.stat().st_size
    with pytest.raises(PageUnreadable) as error:
        keep(workspace, "One")
    assert "8 MiB" in error.value.what
    assert page.stat().st_size == size


@pytest.mark.skipif(not hasattr(__import__("os"), "mkfifo"), reason="POSIX links")
def test_a_log_behind_a_link_is_outside(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (workspace.root / "memory").rmdir()
    (workspace.root / "memory").symlink_to(tmp_path / "out")
    with pytest.raises(OutsideWorkspace):
        keep(workspace, "One")
    assert not list((tmp_path / "out").iterdir())


def test_trouble_with_the_index_is_a_warning(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    for error in (
        sqlite3.OperationalError("database or disk is full"),
        PermissionError(13, "no"),
        MemctlError("no", "yes"),
    ):

        def fail(*args: object, error: Exception = error) -> None:
            raise error

        monkeypatch.setattr(OpenMemory, "run", fail)
        done = keep(workspace, f"One {error}")
        assert done.warnings[0].startswith("kept, but not indexed yet: ")
        assert f"One {error}" in (workspace.root / LOG).read_text()


def test_a_fact_is_indexed_at_once(workspace: Workspace) -> None:
    keep(workspace, "One")
    assert synced(workspace).read == 0


def test_lines_beside_many_cost_what_is_new(workspace: Workspace) -> None:
    """Told here, or put between them by a merge: no line that was read is read again, and names are asked for once."""
    memory, page = memory_on(workspace, DAY), workspace.root / LOG
    memory.retain([f"W @Name{number}: On {number} May" for number in range(1, 30)])
    names, rows = "memctl.index.queries.entity_names.mentioned", "memctl.index.rows.valid"
    with patch(names, wraps=mentioned) as asked, patch(rows, wraps=valid) as read:
        memory.retain(["W @Zed: One", "W @Yak: Two", "W @Xen: Three"])
        page.write_text(page.read_text().replace("- W @Name9", "- W @Bob: Four\n- W @Name9"))
        assert memory.recall("four").hits and (asked.call_count, read.call_count) == (1, 4)
    assert not verify(workspace).differences


@pytest.mark.parametrize("before", [None, "", HEAD + "- W: half", "# D\r\n\r\nText"])
def test_a_dry_run_prints_what_would_come_and_writes_nothing(tmp_path: Path, before: str | None) -> None:
    workspace = Workspace(tmp_path.resolve())
    if before is not None:
        (tmp_path / "memory").mkdir()
        log_of(workspace, before)
    listed = sorted(tmp_path.rglob("*"))
    dry = keep(workspace, "One", "Two", dry_run=True)
    assert sorted(tmp_path.rglob("*")) == listed
    added = [
        line[1:] for line in dry.diff.splitlines(keepends=True) if line.startswith("+") and not line.startswith("+++")
    ]
    wet = keep(workspace, "One", "Two")
    assert wet.kept == dry.kept
    now = (tmp_path / LOG).read_bytes().decode()
    assert now.replace("\r\n", "\n").endswith("".join(added).replace("\r\n", "\n"))


def test_json(workspace: Workspace) -> None:
    done = json.loads(memctl("retain", "One", "--json", cwd=workspace.root).stdout)
    assert done["schema"] == 1
    assert done["kept"][0] | {"id": ""} == {"id": "", "source": f"{LOG}#L5", "already": False}
    assert done["warnings"] == []


@pytest.mark.parametrize("between", ["\u2028", "\x85", "\x0c", "\x1e"])
@pytest.mark.parametrize("words", [("Tea", "milk"), ("Чай", "молоко"), ("茶", "奶")])
def test_a_line_of_stdin_ends_where_the_line_ends(workspace: Workspace, words: tuple[str, str], between: str) -> None:
    done = memctl("retain", "-", cwd=workspace.root, stdin=f"{words[0]}{between}{words[1]}\nTwo\r\n")
    assert len(done.stdout.splitlines()) == 2
    assert f"- W: {words[0]} {words[1]}\n- W: Two\n" in (workspace.root / LOG).read_text("utf-8")


@pytest.mark.parametrize(
    ("stdin", "code", "told"),
    [
        ("\n \n", 2, ""),
        ("One\nO(c=9): two\n", 2, "'O(c=9): two', column 3"),
        ("One\npassword: hN7dk2Lq\n", 15, "fact 2 of 2"),
    ],
)
def test_stdin_that_holds_nothing_or_a_bad_line_keeps_nothing(
    workspace: Workspace, stdin: str, code: int, told: str
) -> None:
    done = memctl("retain", "-", cwd=workspace.root, stdin=stdin)
    assert done.returncode == code
    assert is_two_lines(done.stderr) and told in done.stderr
    assert not (workspace.root / LOG).exists()
