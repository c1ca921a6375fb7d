"""notes/workspace.py: where things are, and that every path stays inside."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from face_helpers import call, memory_on
from store_helpers import DAY, LOG, make_workspace, memctl, rows, synced
from torture import paths

from memctl.errors import BadSettings, MemctlError, NoWorkspace, OutsideWorkspace, PageUnreadable
from memctl.maintenance.check import check
from memctl.notes.files import read_page
from memctl.notes.workspace import Settings, Workspace, find_workspace
from memctl.recall.lookup import show
from memctl.recall.recall import recall

posix = pytest.mark.skipif(os.name == "nt", reason="POSIX names and file kinds")


@pytest.mark.parametrize("sign", ["memory", ".memory", "memctl.toml"])
def test_the_nearest_folder_above_with_a_sign_is_the_workspace(tmp_path: Path, sign: str) -> None:
    deep = tmp_path / "a/b/c"
    deep.mkdir(parents=True)
    (tmp_path / "a" / sign).touch() if sign.endswith("toml") else (tmp_path / "a" / sign).mkdir()
    assert find_workspace(None, {}, deep).root == (tmp_path / "a").resolve()


def test_a_named_workspace_wins_over_the_environment_and_that_over_the_place(tmp_path: Path) -> None:
    for name in ("here", "env", "named"):
        (tmp_path / name / "memory").mkdir(parents=True)
    environ = {"MEMCTL_WORKSPACE": str(tmp_path / "env")}
    assert find_workspace(str(tmp_path / "named"), environ, tmp_path / "here").root.name == "named"
    assert find_workspace(None, environ, tmp_path / "here").root.name == "env"
    assert find_workspace(None, {}, tmp_path / "here").root.name == "here"


@pytest.mark.parametrize("named", ["missing", "a file", "x" * 300, "~nobody-of-this-name/x", "loop"])
def test_a_named_workspace_that_is_no_folder(tmp_path: Path, named: str) -> None:
    (tmp_path / "a file").touch()
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(NoWorkspace) as error:
        find_workspace(named if named.startswith("~") else str(tmp_path / named), {}, tmp_path)
    assert error.value.exit_code == 10
    assert "memctl init" in error.value.cure


def test_no_workspace_anywhere_above(tmp_path: Path) -> None:
    with pytest.raises(NoWorkspace, match="or any folder above it"):
        find_workspace(None, {}, tmp_path)


def test_settings_are_read(tmp_path: Path) -> None:
    (tmp_path / "memctl.toml").write_text(
        '\ufeffignore = ["archive/*"]\n[recall]\nk = 3\nsync_seconds = 0.5\n', encoding="utf-8"
    )
    assert find_workspace(str(tmp_path), {}, tmp_path).settings == Settings(("archive/*",), 0.5, 3)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("colour = 1", "unknown key 'colour'"), ("[recall]\nkk = 1", "unknown key 'recall.kk'"),
        ("[recall]\nk = 0", "from 1 to 1000"), ("[recall]\nk = true", "from 1 to 1000"),
        ("[recall]\nsync_seconds = nan", "from 0 to 3600"), ("recall = 5", "recall must be a table"),
        ('ignore = "archive"', "list of globs"), ("ignore = [1]", "list of globs"), ("k = = 1", "Invalid"),
        (b"\xff\xfe", "utf-8"),
        ('[ttl]\nweb = "30"', "ttl.web must be a span"), ("[ttl]\nweb = 30", "ttl.web must be a span"), ('[ttl]\nblogs = "30d"', "unknown key 'ttl.blogs'"),
        ('[recall]\nrecord = "yes"', "recall.record must be true or false"), ("[vectors]\nmodel = 3", "vectors.model must be"),
        ('[vectors]\nmodel = ""', "vectors.model must be"), ('[vectors]\nmodels = "auto"', "unknown key 'vectors.models'"),
        *((f"[vectors]\nhnsw_from = {each}", "vectors.hnsw_from must be a whole number") for each in ("0", "true", '"many"')),
    ],
)  # fmt: skip
def test_settings_that_memctl_does_not_know_are_errors(tmp_path: Path, text: str | bytes, what: str) -> None:
    (tmp_path / "memctl.toml").write_bytes(text.encode() if isinstance(text, str) else text)
    with pytest.raises(BadSettings, match=what):
        find_workspace(str(tmp_path), {}, tmp_path)


@posix
def test_settings_that_are_no_file_do_not_hang(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "memctl.toml")
    with pytest.raises(BadSettings, match="not a regular file"):
        find_workspace(str(tmp_path), {}, tmp_path)


def listed(workspace: Workspace) -> list[str]:
    return [found.path for found in workspace.scan()]


def test_every_page_is_listed_once_and_sorted(tmp_path: Path) -> None:
    names = ["b.md", "a.md", "bank/z.md", "bank/a/x.md", "bank-2.md", "bank/dir.md/x.md", "кот.md"]
    workspace = make_workspace(
        tmp_path, dict.fromkeys([*names, "x.txt", ".hidden.md", ".git/x.md", "node_modules/x.md", "venv/x.md"], "x")
    )
    assert listed(workspace) == sorted(names)


@pytest.mark.parametrize(
    ("names", "ignored", "expected"),
    [
        (["archive/a.md", "archive/deep/b.md", "drafts/c.md", "d.md", "e.tmp.md"], ("archive/*", "drafts/", "*.tmp.md"), ["d.md"]),
        (["a.md", "inner/b.md", "inner/memctl.toml"], (), ["a.md"]),
        (["a.md", "inner/b.md", "inner/.memory/x"], (), ["a.md", "inner/b.md"]),  # somebody asked in there once
    ],
    ids=["ignored", "a workspace inside", "a derived folder inside"],
)  # fmt: skip
def test_what_is_not_ours_is_not_listed(
    tmp_path: Path, names: list[str], ignored: tuple[str, ...], expected: list[str]
) -> None:
    root = make_workspace(tmp_path, dict.fromkeys(names, "")).root
    assert listed(Workspace(root, Settings(ignored))) == expected


@posix
def test_what_is_no_page_is_named_with_its_reason(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path, {"a.md": "x"})
    (tmp_path / "link.md").symlink_to(tmp_path / "a.md")
    (tmp_path / "folder").symlink_to(tmp_path)
    os.mkfifo(tmp_path / "fifo.md")
    (tmp_path / os.fsdecode(b"bad\xff.md")).touch()
    problems = {found.path: found.problem for found in workspace.scan()}
    assert problems == {
        "a.md": None,
        "folder": "symbolic link to a folder, not followed",
        "link.md": "symbolic link, not followed",
        "fifo.md": "not a regular file",
        "bad\\xff.md": "file name is not UTF-8",
    }
    report = synced(workspace)
    assert set(report.problems) == set(problems) - {"a.md"}
    assert {finding.path for finding in check(memory_on(workspace))} == set(problems) - {"a.md"}


@posix
def test_a_tree_deeper_than_the_stack_is_walked(tmp_path: Path) -> None:
    here = os.open(tmp_path, os.O_RDONLY)
    workspace = make_workspace(tmp_path, {})
    try:
        for _ in range(1500):
            os.mkdir("d", dir_fd=here)
            below = os.open("d", os.O_RDONLY, dir_fd=here)
            os.close(here)
            here = below
        with open(os.open("x.md", os.O_WRONLY | os.O_CREAT, dir_fd=here), "w") as page:
            page.write("deep")
    finally:
        os.close(here)
    try:
        assert listed(workspace) == ["d/" * 1500 + "x.md"]
        synced(workspace)
        assert any("deep" in row for row in rows(workspace))
    finally:
        subprocess.run(["rm", "-rf", str(tmp_path / "d")], check=True)  # shutil.rmtree goes no deeper than the stack


@posix
def test_a_folder_that_cannot_be_listed_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace = make_workspace(tmp_path, {"a.md": "x", "bank/b.md": "x", os.fsdecode(b"bad\xff/c.md"): "x"})
    real = os.scandir

    def scandir(path: object) -> object:
        if Path(str(path)) != workspace.root:
            raise PermissionError(13, "Permission denied")
        return real(path)  # type: ignore[call-overload]

    monkeypatch.setattr(os, "scandir", scandir)
    problems = synced(workspace).problems
    reason = "folder cannot be listed: Permission denied"
    assert problems == {"bank": reason, "memory": reason, "bad\\xff": reason}


def test_a_path_inside_is_spelled_one_way(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path)
    for spelling in (
        LOG,
        f"./{LOG}",
        "memory//2025-11-27.md",
        "bank/../memory/2025-11-27.md",
        str(workspace.root / LOG),
    ):
        assert workspace.contain(spelling) == LOG


@pytest.fixture(scope="module")
def traps(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return Workspace(paths.lay_out(tmp_path_factory.mktemp("traps").resolve()))


@posix
@pytest.mark.parametrize("name", paths.OUT)
def test_no_path_leads_out(traps: Workspace, name: str) -> None:
    """S4."""
    with pytest.raises(OutsideWorkspace) as error:
        traps.contain(name)
    assert error.value.exit_code == 11
    with pytest.raises(MemctlError):
        show(memory_on(traps), f"{name}#L1")


@posix
def test_every_path_ends_in_an_answer_or_an_error_of_ours(traps: Workspace) -> None:
    """S4. A hang would show as a run that does not end."""

    def shown(reference: str) -> str:
        return "".join(line for passage in show(memory_on(traps), reference) for line in passage.lines)

    for name in paths.names():
        for told in (call(["show", "--", said], traps.root) for said in (f"{name}#L1", name)):
            assert paths.SECRET not in told.both and told.code in (0, 1, 2, 11, 13), name
        for act in (lambda name: read_page(traps, traps.contain(name)).text, lambda name: shown(f"{name}#L1"), shown):
            try:
                assert paths.SECRET not in act(name), name
            except MemctlError as error:
                assert error.exit_code in (1, 11, 13), name


@posix
@pytest.mark.parametrize("name", paths.READABLE)
def test_odd_names_of_real_pages_are_read(traps: Workspace, name: str) -> None:
    assert read_page(traps, traps.contain(name)).text == "readable\n"
    if name == name.strip() and "\n" not in name:
        assert show(memory_on(traps), f"{name}#L1")[0].lines == ("readable",)


@posix
@pytest.mark.parametrize("day", paths.DAYS)
def test_a_date_is_no_path(traps: Workspace, day: str) -> None:
    before = sorted(traps.root.parent.rglob("*"))
    done = memctl("retain", "x", "--date", day, "--dry-run", "-w", str(traps.root))
    assert done.returncode in (0, 2)
    assert sorted(traps.root.parent.rglob("*")) == before
    if day in ("2025-11", "..", "2025-02-30"):
        assert done.returncode == 2


@posix
def test_a_name_that_is_too_long_says_so(traps: Workspace) -> None:
    with pytest.raises(PageUnreadable, match="File name too long"):
        traps.contain("memory/" + "a" * 300)


@posix
def test_a_workspace_full_of_traps_is_indexed_and_searched(traps: Workspace) -> None:
    from memctl.recall.query import read_query

    assert not any(paths.SECRET in str(row) for row in rows(traps))
    answer = recall(memory_on(traps, DAY), read_query("readable", DAY), k=50)
    assert {hit.source.path for hit in answer.hits[0:1]} <= set(paths.READABLE)
    assert len(answer.hits[0].also) + len(answer.hits) >= len(paths.READABLE)
