"""init, show, status, check, fact, entity, by verb and by command line; exit codes where the world is in the way."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from face_helpers import memory_on, snapshot, write_pages
from store_helpers import AS_ANYBODY, DAY, LOG, PAGES, is_two_lines, make_workspace, memctl, synced

from memctl.errors import MemctlError, NothingFound, OutsideWorkspace, Usage
from memctl.maintenance.init import init
from memctl.memory import Memory
from memctl.notes.files import MAX_PAGE
from memctl.notes.workspace import Workspace, find_workspace

posix = pytest.mark.skipif(os.name == "nt", reason="POSIX modes and links")


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return make_workspace(tmp_path)


def fails(code: int, *words: str, **where: Any) -> str:
    """What a command that ends with this code says: two lines."""
    done = memctl(*words, **where)
    assert done.returncode == code, (words, done.stderr)
    assert is_two_lines(done.stderr)
    return done.stderr


@pytest.fixture
def memory(workspace: Workspace) -> Memory:
    """The workspace on the day of its newest log."""
    return memory_on(workspace, DAY)


def test_init_makes_a_workspace_that_checks_clean(tmp_path: Path) -> None:
    made, paths, *_ = init(tmp_path / "new/notes")
    assert {"memory/", "memory.md", "memctl.toml", "bank/opinions.md"} <= set(paths)
    assert all((made / path).exists() for path in paths)
    found = find_workspace(None, {}, made / "bank/entities")
    assert found.root == made and memory_on(found, DAY).check() == ()


@pytest.mark.parametrize(
    ("there", "lacks"),
    [("*.txt text\n", True), ("# memory/*.md merge=union\n\n", True), ("memory/*.md text\n", True),
     ("/memory/*.md text merge=union\n", False), ("*.md merge=union\n", False), (None, False)],
)  # fmt: skip
def test_init_says_that_git_will_not_merge_logs(tmp_path: Path, there: str | None, lacks: bool) -> None:
    """A .gitattributes that was there stays; that it lacks the line is said, each time."""
    if there is not None:
        (tmp_path / ".gitattributes").write_text(there)
    for _ in range(2):
        told = memctl("init", "--git", ".", cwd=tmp_path).stderr.splitlines()
        assert sum("merge=union" in line and "stays as it is" in line for line in told) == lacks
    assert there is None or (tmp_path / ".gitattributes").read_text() == there
    assert "merge=union" not in memctl("init", ".", cwd=tmp_path).stderr


def test_init_where_a_file_stands(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(Usage, match="is a file"):
        init(tmp_path / "file")
    fails(13, "init", str(tmp_path / "file/below"))


@pytest.mark.parametrize(
    ("reference", "first", "last"),
    [
        (f"{LOG}#L7-L8", 6, 9), (f"{LOG}:7", 7, 7), (f"{LOG}:7-8", 7, 8), (f"./memory/../{LOG}#L7", 7, 7), (f"{LOG}#L3 ^f-nothing1", 3, 3),
        (f"{LOG}#L3 ^f-atlas-db", 7, 7), ("^f-atlas-db", 7, 7), ("f-atlas-db", 7, 7),
    ],
)  # fmt: skip
def test_a_citation_with_lines_around_it(memory: Memory, reference: str, first: int, last: int) -> None:
    """As links and as rg spell it, or by its id, which wins: the line may have moved. One whose id is gone shows its line."""
    (passage,) = memory.show(reference, context=int(reference.endswith("-L8")))
    assert passage.citation.path == LOG
    assert (passage.first, passage.lines) == (first, tuple(PAGES[LOG].split("\n")[first - 1 : last]))


@pytest.mark.parametrize(
    "name", ["Peter", "@Peter", "[[Pete]]", "Пётр", "bank/entities/Peter.md", "bank/entities/Peter"]
)
def test_an_entity_and_a_page_are_shown_whole(memory: Memory, name: str) -> None:
    (passage,) = memory.show(name)
    assert passage.citation.path == "bank/entities/Peter.md"
    assert passage.lines == tuple(PAGES["bank/entities/Peter.md"].split("\n")[:-1])


@pytest.mark.parametrize(
    ("words", "error", "told"),
    [
        (["nothing"], NothingFound, ""), ([f"{LOG}#L99"], NothingFound, ""), (["memory/none"], NothingFound, ""),
        (["f-00000000"], NothingFound, ""), (["\udcff"], NothingFound, ""), ([""], NothingFound, ""),
        (["Peter", "f-nothere"], NothingFound, "nothing is named 'f-nothere'"),
        (["f-nothere", "Peter"], NothingFound, "nothing is named 'f-nothere'"), ([f"{LOG}:8-7"], Usage, "ends before"),
        (["../x.md"], OutsideWorkspace, ""), (["../x.md#L1"], OutsideWorkspace, ""), (["/etc/passwd#L1"], OutsideWorkspace, ""),
    ],
)  # fmt: skip
def test_what_cannot_be_shown(memory: Memory, words: list[str], error: type[MemctlError], told: str) -> None:
    with memory, pytest.raises(error, match=told or None):
        memory.show(words)


def test_lessons_of_a_task_without_words(memory: Memory) -> None:
    with memory, pytest.raises(Usage, match="names no task"):
        memory.lessons(" ")


def test_status_counts_what_is_there(workspace: Workspace, memory: Memory) -> None:
    found = memory.status()
    assert (found.pages, found.entities, found.first_day, found.last_day) == (len(PAGES), 2, "2025-11-26", "2025-11-27")
    assert (found.kinds["opinion"], found.kinds["world"], found.fresh) == (1, 3, True)
    assert found.markdown_bytes == sum(len(text.encode()) for text in PAGES.values())
    (workspace.root / "bad.md").write_bytes(b"\0\1\2")
    assert memory.status().problems == {"bad.md": "binary, not text"}


def test_status_says_that_it_is_stale(workspace: Workspace, memory: Memory) -> None:
    synced(workspace)
    (workspace.root / LOG).write_text("# Else\n")
    with closing(sqlite3.connect(workspace.memory / "index.sqlite", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        found = memory.status()
    assert not found.fresh and "another memctl is writing" in (found.stale or "")


@pytest.mark.parametrize(
    ("text", "rule", "line"),
    [
        ("## Retain\n\n- no kind\n", "grammar", 3),
        ("## Notes\n\n- W(key=db) @Atlas: Uses PostgreSQL\n", "grammar", 3),
        ("## Заметки\n\n- O @Пётр: Любит чай\n", "grammar", 3),
        ("## Retain\n\n- W(colour=red): One\n", "attribute", 3),
        ("## Retain\n\n- W(c=0.5): One\n", "attribute", 3),
        ("## Retain\n\n- W(for=f-nothing1): One\n", "id", 3),
        ("See memory/2025-11-27.md#L99.\n", "citation", 1),
        ("See memory/2020-01-01.md#L1.\n", "citation", 1),
        ("See [[Nobody At All]].\n", "link", 1),
        ("---\n[ not yaml\n---\nText\n", "grammar", 1),
        ("One ^twice\n\nTwo ^twice\n", "id", 3),
        ("The key is ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8\n", "secret", 1),
        ("caf\udce9\n", "encoding", 1),
        ("# A\n\n<<<<<<< HEAD\nмоё\n=======\n他的\n>>>>>>> b\n", "merge", 3),
        ("\0\1\2", "unreadable", 1),
    ],
)
def test_check_names_what_is_to_mend(workspace: Workspace, memory: Memory, text: str, rule: str, line: int) -> None:
    known = set(memory.check())
    (workspace.root / "2020-02-02.md").write_bytes(text.encode("utf-8", "surrogateescape"))
    new = [finding for finding in memory.check() if finding not in known]
    assert [(f.path, f.line, f.rule) for f in new] == [("2020-02-02.md", line, rule)]
    assert all(f.message and f.cure for f in new)


@pytest.mark.parametrize(
    "text",
    [
        "See memory/2025-11-27.md#L3, `[[Nobody]]` and ![[picture.png]].\n",
        "```\n[[Nobody]] memory/2020-01-01.md#L1\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> b\n```\n",
        "- W: West\n- O(1): lookup\n- S(ome) dots\n- `W(key=db) @Atlas: how a fact looks`\n",
        "[[Peter]] [[Atlas|the project]] [[bank/decisions/why-postgres]] [[why-postgres#Why]]\n",
    ],
)
def test_check_is_silent_about_what_is_right(workspace: Workspace, memory: Memory, text: str) -> None:
    known = memory.check()
    (workspace.root / "2020-02-02.md").write_text(text)
    before = snapshot(workspace.root)
    assert memory.check() == known and snapshot(workspace.root) == before


def test_check_finds_a_name_on_two_pages(workspace: Workspace, memory: Memory) -> None:
    (workspace.root / "bank/entities/Petra.md").write_text("---\naliases: [Pete]\n---\n# Petra\n")
    assert [f.rule for f in memory.check() if f.path == "bank/entities/Petra.md"] == ["alias"]


def test_a_slot_has_a_value_and_a_history(memory: Memory) -> None:
    for day, town in ((1, "Porto"), (5, "Lisbon"), (9, "Faro")):
        memory.retain(f"W(key=base) @Peter: Lives in {town}", day=f"2025-11-{day:02}")
    for about in ("Peter", "@Pete", None):
        assert [hit.content for hit in memory.fact("base", about)] == ["Lives in Faro"]
    assert [hit.content for hit in memory.fact("base", "Peter", as_of="2025-11-06")] == ["Lives in Lisbon"]
    assert [hit.content[9:] for hit in memory.fact_history("base", "Peter")] == ["Porto", "Lisbon", "Faro"]


@pytest.mark.parametrize("about", [None, "Peter", "Nobody", "Atlas"])
def test_a_slot_that_nobody_fills(memory: Memory, about: str | None) -> None:
    with pytest.raises(NothingFound, match="no fact has key=size") as error:
        memory.fact("size", about)
    assert error.value.exit_code == 1 and ("known keys: db" in error.value.cure or about != "Atlas")


def test_a_slot_that_ended(memory: Memory) -> None:
    memory.retain("W(key=car,until=2025-11-20) @Peter: Drives a Saab", day="2025-11-01")
    with pytest.raises(NothingFound, match="nothing holds for 'car' now"):
        memory.fact("car", "Peter")
    assert len(memory.fact_history("car", "Peter")) == 1


def test_entities_are_listed_by_mentions(memory: Memory) -> None:
    lines = {line.name: line for line in memory.entities()}
    peter = lines["Peter"]
    assert (lines["Atlas"].mentions, lines["Atlas"].path) == (3, "bank/entities/Atlas.md")
    assert (peter.type, set(peter.aliases), peter.mentions) == ("person", {"Pete", "Пётр"}, 2)
    assert [line.path for line in lines.values() if "blue green" in line.name.casefold()] == [None]


def test_what_reflect_writes_is_no_mention(tmp_path: Path) -> None:
    """Neither blocks, nor evidence, nor the head of a belief that a line stated; one that a person wrote is."""
    told = (
        "- O(0.8) @Pat @HiddenName: Likes @bob ^likes\n- B(for=likes) @Pat: Met [[Bob]] and @Bob again\n"
        "- W(i=0.9) @HiddenName: Plays chess with @Pat\n- W @hiddenname: Sails\n"
    )
    own = "# Opinions\n\n- O(c=0.6) @Own: Is mine ^o-own\n"
    space = write_pages(tmp_path, {"memory/2025-11-20.md": told, "bank/opinions.md": own})
    before = [(line.name, line.mentions) for line in memory_on(space).entities()]
    assert before == [("HiddenName", 3), ("Pat", 3), ("Bob", 2), ("Own", 1)]
    assert memory_on(space, DAY).reflect().pages
    assert [(line.name, line.mentions) for line in memory_on(space).entities()] == before


def test_an_entity_with_its_slots_and_newest_lines(memory: Memory) -> None:
    view = memory.entity("Atlas")
    assert [(hit.key, hit.content) for hit in view.slots] == [("db", "The database is PostgreSQL 17 since 2025-11-27")]
    assert {hit.source.path for hit in view.newest} >= {LOG}
    assert all("Atlas" in hit.entities for hit in view.newest)


def test_an_entity_that_nobody_is_or_that_two_are(workspace: Workspace, memory: Memory) -> None:
    with pytest.raises(NothingFound):
        memory.entity("Zoltan")
    for name in ("Alex Chen", "Alex Stone"):
        (workspace.root / f"bank/entities/{name.replace(' ', '-')}.md").write_text(f"# {name}\n")
    with pytest.raises(Usage, match="Alex Chen or Alex Stone"):
        memory.entity("Alex")


READS = (("recall", "PostgreSQL"), ("show", f"{LOG}#L3"), ("status",), ("entity", "list"), ("fact", "get", "db"))


def test_no_workspace(tmp_path: Path) -> None:
    for words in (*READS, ("retain", "One"), ("index",), ("check",)):
        fails(10, *words, cwd=tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_workspace_with_blanks_and_other_letters_in_its_name(tmp_path: Path) -> None:
    root = tmp_path / "мои заметки #1?%20" / "爱丽丝's notes"
    assert memctl("init", str(root)).returncode == 0
    make_workspace(root)
    assert memctl("retain", "The kettle", cwd=root).stdout.startswith(f"{LOG}#L")
    assert memctl("recall", "kettle", cwd=root / "bank").returncode == 0
    assert memctl("index", "--verify", "-w", str(root)).returncode == 0
    for path in (root / ".memory").iterdir():
        path.chmod(0o444)
    (root / ".memory").chmod(0o555)
    done = memctl("recall", "PostgreSQL", cwd=root, before=AS_ANYBODY)
    (root / ".memory").chmod(0o755)
    assert (done.returncode, "PostgreSQL" in done.stdout) == (0, True)


@posix
@pytest.mark.skipif(bool(AS_ANYBODY) and not os.path.exists("/usr/bin/setpriv"), reason="root may write everywhere")
@pytest.mark.parametrize("indexed", [True, False])
def test_a_read_only_workspace_still_answers(workspace: Workspace, indexed: bool) -> None:
    if indexed:
        synced(workspace)
    folders = [workspace.root, *(path for path in workspace.root.rglob("*") if path.is_dir())]
    files = [path for path in workspace.root.rglob("*") if path.is_file()]
    before = {path: path.read_bytes() for path in files}
    for path, mode in (*((f, 0o444) for f in files), *((f, 0o555) for f in folders)):
        path.chmod(mode)
    try:
        for words in READS:
            done = memctl(*words, cwd=workspace.root, before=AS_ANYBODY)
            assert done.returncode == 0, (words, done.stderr)
            assert "stale" not in done.stderr
        for words in (("retain", "One"), ("init",)):
            assert "Permission denied" in fails(13, *words, cwd=workspace.root, before=AS_ANYBODY)
    finally:
        for path in folders:
            path.chmod(0o755)
    assert {path: path.read_bytes() for path in workspace.root.rglob("*") if path.is_file()} == before


@posix
@pytest.mark.skipif(bool(AS_ANYBODY) and not os.path.exists("/usr/bin/setpriv"), reason="root may read everything")
def test_pages_and_folders_that_may_not_be_read(workspace: Workspace) -> None:
    (workspace.root / LOG).chmod(0)
    (workspace.root / "bank/decisions").chmod(0)
    try:
        found = memctl("recall", "Lisbon Лиссабоне", cwd=workspace.root, before=AS_ANYBODY)
        assert found.returncode == 0, found.stderr
        assert f"{LOG}: Permission denied" in found.stderr
        assert "bank/decisions: folder cannot be listed: Permission denied" in found.stderr
        for words in (("show", f"{LOG}#L1"), ("retain", "One"), ("show", "bank/decisions/why-postgres.md#L1")):
            fails(13, *words, cwd=workspace.root, before=AS_ANYBODY)
        listed = memctl("check", cwd=workspace.root, before=AS_ANYBODY)
        assert listed.returncode == 1
        assert "Permission denied" in listed.stdout + listed.stderr
    finally:
        (workspace.root / LOG).chmod(0o644)
        (workspace.root / "bank/decisions").chmod(0o755)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0", "binary"),
        (b"x" * (MAX_PAGE + 1), "over 8 MiB"),
        ("- W: 一\n".encode("utf-16"), "UTF-16, not UTF-8"),
    ],
    ids=["binary", "too long", "utf-16"],
)
def test_a_page_that_is_none(workspace: Workspace, data: bytes, reason: str) -> None:
    (workspace.root / LOG).write_bytes(data)
    for words in (("show", f"{LOG}#L1"), ("retain", "One")):
        assert reason in fails(13, *words, cwd=workspace.root)
    assert (workspace.root / LOG).read_bytes() == data
    found = memctl("recall", "Fjord Лиссабоне", cwd=workspace.root)
    assert found.returncode == 0
    assert reason in found.stderr


def test_a_page_that_is_not_utf8(workspace: Workspace) -> None:
    data = b"# Caf\xe9\n\n## Retain\n\n- W: Na\xefve kettle\n"
    (workspace.root / LOG).write_bytes(data)
    assert memctl("retain", "One", cwd=workspace.root).stdout.startswith(f"{LOG}#L6")
    assert (workspace.root / LOG).read_bytes() == data + b"- W: One\n"
    done = memctl("recall", "kettle", cwd=workspace.root)
    assert done.returncode == 0
    assert "line 1 is not UTF-8" in done.stderr


@posix
def test_a_link_out(workspace: Workspace, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside") / "secret.md"
    outside.write_text("The moon is made of cheese\n")
    (workspace.root / LOG).unlink()
    (workspace.root / LOG).symlink_to(outside)
    for words in (("show", f"{LOG}#L1"), ("retain", "One")):
        fails(11, *words, cwd=workspace.root)
    assert memctl("recall", "cheese", cwd=workspace.root).returncode == 1
    assert outside.read_text() == "The moon is made of cheese\n"


@pytest.mark.parametrize(
    "text", ["Brandt GmbH", "Наш клиент Brandt", "客户是 Brandt 公司", "Brandt, a@brandt.org, `[[x]]`"]
)
def test_a_slot_of_the_owner_is_not_that_of_whom_its_line_names(tmp_path: Path, text: str) -> None:
    pages = {"bank/entities/Brandt.md": "# Brandt\n", "memory/2025-11-20.md": f"- W(key=client): {text}\n"}
    root = write_pages(tmp_path, pages | {"memory/2025-11-21.md": "- W(key=lead): @Brandt: Is Ann\n"}).root
    for words in (["fact", "history", "client"], ["fact", "list"], ["timeline"]):
        done = memctl(*words, cwd=root)
        assert "client" in words or "client: " in done.stdout
        assert "Brandt client" not in done.stdout and "Brandt: " + text not in done.stdout
        assert "client" in words or "Brandt lead" in done.stdout


def test_what_is_not_understood_has_the_name_under_which_it_was_given(tmp_path: Path) -> None:
    (tmp_path / "memory").mkdir()
    assert "the day 'foo' is not understood" in fails(2, "log", "foo", cwd=tmp_path)
    assert "--on 'foo' is not understood" in fails(2, "log", "--on", "foo", cwd=tmp_path)
    assert "no two outcomes of one task are known" in memctl("lessons", cwd=tmp_path).stderr
