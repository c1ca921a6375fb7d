"""The command line: options that every command shares, exit codes, the clock, the workspace, and how errors end."""

from __future__ import annotations

import inspect
import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from face_helpers import TODAY, Done, all_commands, bare_copy, call, fixture_copy, snapshot, write_pages

from memctl import __version__, errors
from memctl.cli.call import load, run
from memctl.errors import MemctlError
from memctl.facts import Kind


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A copy of the fixture workspace."""
    return fixture_copy(tmp_path)


@pytest.mark.parametrize("words", list(all_commands()), ids=" ".join)
def test_every_command_has_help_with_an_example(words: list[str], tmp_path: Path) -> None:
    """--help and -h: what it does, an example that names it, and the options that all commands share; before it, all commands."""
    for flag in ("--help", "-h"):
        done = call([*words, flag], tmp_path)
        assert done.code == 0 and done.err == "" and call([flag, *words], tmp_path).out == call([flag], tmp_path).out
        assert f"Example: memctl {' '.join(words)}" in " ".join(done.out.split())
        for option in ("--workspace", "--json", "--quiet", "--now", "--debug"):
            assert option in done.out
    if words[0] in ("retain",) or words == ["fact", "set"]:
        assert "--dry-run" in done.out


def test_without_a_command_the_help_is_shown(tmp_path: Path) -> None:
    """`memctl fact` alone shows its help, and exits as a usage error."""
    for words, listed in ((["fact"], "history"), (["entity"], "list")):
        done = call(words, tmp_path)
        assert done.code == 2 and done.out == "" and f"\n  {listed} " in done.err


def test_help_lists_every_command_by_what_people_do(tmp_path: Path) -> None:
    """Each once, none cut short, no line wider than the terminal."""
    for width in (60, 80, 160):
        done = call(["--help"], tmp_path, COLUMNS=str(width))
        lines = done.out.splitlines()
        assert done.code == 0 and max(map(len, lines)) < width and "..." not in done.out.replace("[ARGS]...", "")
        groups = ["Write:", "Ask:", "Look:", "Tend:"]
        assert [line for line in lines if line in groups] == groups
        for name in {words[0] for words in all_commands()}:
            assert sum(line.startswith(f"  {name} ") for line in lines) == 1, name


def test_the_version(tmp_path: Path) -> None:
    """`memctl --version`."""
    assert call(["--version"], tmp_path) == Done(0, f"memctl {__version__}\n", "")


CODES = {
    "MemctlError": 70, "NothingFound": 1, "Usage": 2, "BadSettings": 2, "OverBudget": 2, "NoWorkspace": 10, "OutsideWorkspace": 11, "PageChanged": 12,
    "PageUnreadable": 13, "CannotWrite": 13, "CannotAnswer": 13, "LockBusy": 14, "PortBusy": 14, "Refused": 15, "ExtraMissing": 16, "ExtraBroken": 16,
    "ServerFailed": 17,
}  # fmt: skip


def classes() -> dict[str, type[MemctlError]]:
    """Every class of errors.py."""
    return {
        name: value for name, value in vars(errors).items() if inspect.isclass(value) and issubclass(value, MemctlError)
    }


def test_every_error_has_its_exit_code() -> None:
    """The table of exit codes, the tree in the docstring of errors.py and the classes agree."""
    assert {name: cls.exit_code for name, cls in classes().items()} == CODES
    for name, code in CODES.items():
        assert any(name in line and str(code) in line for line in (errors.__doc__ or "").splitlines()), name


def raised(name: str) -> MemctlError:
    """An error of that class with whatever it takes."""
    cls = classes()[name]
    given = {"path": "memory/x.md", "start": Path("x"), "seconds": 1.0}
    needed = [p.name for p in inspect.signature(cls).parameters.values() if p.default is p.empty]
    return cls(*(Path("x") if cls is errors.BadSettings and n == "path" else given.get(n, f"the {n}") for n in needed))


@pytest.mark.parametrize("name", list(CODES))
def test_every_error_ends_in_two_lines_and_its_code(name: str, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What happened, what to do; nothing on stdout, no traceback."""
    error = raised(name)

    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("memctl.maintenance.status.status", fail)
    done = call(["status"], root)
    assert done == Done(CODES[name], "", f"memctl: {error.what}\n  {error.cure}\n")


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["recall", "xyzzy"], 1), (["check"], 1), (["recall", "x", "--k", "many"], 2), (["show"], 2), (["retain", "W(c=x): y"], 2),
        (["retain", "x", "--about", "a|b"], 2), (["retain", "x", "--date", "last month"], 2),
        (["fact", "get", "city", "--as-of", "whenever"], 2), (["show", "../workspace2/x.md:1"], 11), (["show", "memory/0000.md:1"], 13),
        (["retain", "password is hunter2hunter2", "api key sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789ABCD"], 15),
        (["retain", "\x01"], 15),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else str(value),
)  # fmt: skip
def test_exit_codes(words: list[str], code: int, root: Path) -> None:
    """Through the real commands; tests/scenarios/08-errors.md has others."""
    done = call(words, root)
    assert done.code == code, done
    assert len(done.err.splitlines()) == 2 or code < 2


def test_a_bug_says_how_to_report_it(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """70, two lines, no traceback; with --debug the traceback."""
    monkeypatch.setattr("memctl.maintenance.status.status", lambda *_: 1 / 0)
    done = call(["status"], root)
    assert done.code == 70 and "unexpected ZeroDivisionError" in done.err
    assert "--debug" in done.err and "Traceback" not in done.err
    with pytest.raises(ZeroDivisionError):
        call(["status", "--debug"], root)


def test_the_clock_is_now_or_memctl_now(root: Path) -> None:
    """--now wins over MEMCTL_NOW; both set the day of retain and of relative times."""
    assert call(["retain", "W: x"], root).out.startswith("memory/2025-11-30.md#L")
    assert call(["retain", "W: x"], root, MEMCTL_NOW="2024-02-29T23:59").out.startswith("memory/2024-02-29.md#L5 ")
    assert call(["retain", "W: x", "--now", "2023-01-01"], root).out.startswith("memory/2023-01-01.md#L5 ")
    assert call(
        ["recall", "--since", "1d", "--now", "2025-07-14", "--until", "2025-07-14", "-k", "1"], root
    ).out.startswith("1. memory/2025-07-14.md")
    assert call(["status", "--now", "noonish"], root).code == 2


def test_the_workspace_is_found_from_below(root: Path, tmp_path: Path) -> None:
    """Named, else in MEMCTL_WORKSPACE, else the nearest folder above that looks like one."""
    (root / "bank" / "deep").mkdir()
    other = write_pages(tmp_path / "other", {"memory/2025-01-01.md": "- W: otherwise\n"}).root
    for words, cwd, env in (
        (["status", "--json"], root / "bank" / "deep", {}),
        (["status", "--json", "-w", str(root)], other, {}),
        (["status", "--json"], other, {"MEMCTL_WORKSPACE": str(root)}),
        (["status", "--json", "--workspace", str(root)], tmp_path, {"MEMCTL_WORKSPACE": str(other)}),
    ):
        assert json.loads(call(words, cwd, **env).out)["workspace"] == str(root.resolve())


def test_flags_make_the_line(root: Path) -> None:
    """Each flag of retain is an attribute of the line, and the line is read back with it."""
    words = ["retain", "The", "shed", "is", "dry", "--about", "Gull Spit", "--key", "shed", "--when", "2025-11..2026-03", "--importance", "0.8", "--private",
             "--source", "agent", "--ttl", "90d", "--supersedes", "nets-11"]  # fmt: skip
    done = call(words, root)
    line = (root / "memory/2025-11-30.md").read_text("utf-8").splitlines()[-1]
    assert done.code == 0 and line.startswith("- W(") and line.endswith("[[Gull Spit]]: The shed is dry")
    (hit,) = json.loads(call(["recall", "shed dry", "-k", "1", "--json"], root).out)["hits"]
    assert (hit["importance"], hit["origin"], hit["private"]) == (0.8, "agent", True)
    assert hit["valid"] == {"from": "2025-11-01", "to": "2026-02-28"} and hit["entities"] == ["Gull Spit"]


def test_kinds_follow_from_what_is_said(root: Path) -> None:
    """A confidence makes an opinion, an outcome an experience, --kind whatever it says."""
    for flags, kind in (
        (["--confidence", "0.8"], Kind.OPINION),
        (["--outcome", "fail"], Kind.EXPERIENCE),
        (["--kind", "S"], Kind.OBSERVATION),
        ([], Kind.WORLD),
    ):
        call(["retain", f"zyx {kind.value}", *flags], root)
        (hit,) = json.loads(call(["recall", f"zyx {kind.value}", "-k", "1", "--json"], root).out)["hits"]
        assert hit["kind"] == kind.value


def test_a_fact_pasted_with_its_bullet_is_no_option(root: Path) -> None:
    """`memctl retain "- W: x"` is a fact."""
    assert call(["retain", "- W: x"], root).code == 0


def test_a_dry_run_prints_the_diff_and_writes_nothing(root: Path) -> None:
    """The unified diff on stdout; as JSON too; the day's log is not made."""
    before = snapshot(root)
    done = call(["retain", "W: x", "--date", "2030-01-01", "--dry-run"], root)
    lines = done.out.splitlines()
    assert lines[:2] == ["--- /dev/null", "+++ b/memory/2030-01-01.md"] and "+- W: x" in lines
    assert json.loads(call(["retain", "W: x", "-n", "--json"], root).out)["diff"].endswith("+- W: x\n")
    assert snapshot(root) == before


def test_a_slot_that_is_set_again(root: Path) -> None:
    """The old value becomes history; a repetition changes nothing; any name of the entity will do."""
    assert call(["fact", "set", "city", "Lives", "in", "Porto", "--about", "老陈"], root).code == 0
    versions = json.loads(call(["fact", "history", "city", "--about", "@陈立", "--json"], root).out)["versions"]
    assert [v["valid"]["to"] for v in versions] == ["2025-09-17", "2025-11-29", None]
    again = call(["fact", "set", "city", "Lives in Porto", "--about", "老陈"], root)
    assert again.code == 0 and "already there" in again.err


def test_a_slot_that_begins_later_holds_later(root: Path) -> None:
    """`--when` in the future: get still gives the old value, and the new one from that day on."""
    call(["fact", "set", "db", "PostgreSQL 17", "--about", "Curlew", "--when", "2026-02.."], root)
    assert "16.4" in call(["fact", "get", "db", "--about", "Curlew"], root).out
    assert "PostgreSQL 17" in call(["fact", "get", "db", "--about", "Curlew"], root, MEMCTL_NOW="2026-02-01").out


def test_entities_as_json(root: Path) -> None:
    """Names, aliases, pages, counts; slots and newest lines of one; Toaster is only ever mentioned, and has no page."""
    listed = json.loads(call(["entity", "list", "--json"], root).out)["entities"]
    chen = next(e for e in listed if e["name"] == "Alex Chen")
    assert (chen["aliases"], chen["path"]) == (["Чэнь Ли", "老陈", "陈立"], "bank/entities/Alex-Chen.md")
    shown = json.loads(call(["entity", "show", "@老陈", "--json"], root).out)
    assert shown["entity"] == chen and shown["slots"]["city"]["timestamp"] == "2025-09-18" and chen["mentions"] > 10
    days = [hit["timestamp"] for hit in shown["newest"]]
    assert days == sorted(days, reverse=True)
    shown = json.loads(call(["entity", "show", "Toaster", "--json"], root).out)
    assert shown["entity"]["path"] is None and shown["newest"]


def test_init_is_idempotent_and_overwrites_nothing(tmp_path: Path) -> None:
    """Twice the same; what was there stays; --git adds its two files, by which logs are merged and the index is ignored."""
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "memory.md").write_text("mine\n")
    made = json.loads(call(["init", "new", "--git", "--json"], tmp_path).out)["made"]
    assert "memory.md" not in made and {".gitignore", ".gitattributes", "memctl.toml"} <= set(made)
    before = snapshot(tmp_path / "new")
    assert json.loads(call(["init", "new", "--git", "--json"], tmp_path).out)["made"] == []
    assert snapshot(tmp_path / "new") == before and before["memory.md"] == b"mine\n"
    assert (before[".gitattributes"], b".memory/" in before[".gitignore"]) == (b"memory/*.md text merge=union\n", True)
    assert (tmp_path / "new/.memory/.gitignore").read_text().endswith("*\n")
    assert ".gitattributes" not in json.loads(call(["init", "plain", "--json"], tmp_path).out)["made"]


def test_index_reports(tmp_path: Path) -> None:
    """Pages read, dropped, unchanged; --verify compares with a rebuild."""
    root = bare_copy(tmp_path)
    assert call(["index"], root).out.startswith(f"{len(list(root.rglob('*.md')))} read, 0 dropped")
    (root / "memory/2025-07-01.md").unlink()
    assert json.loads(call(["index", "--json"], root).out)["dropped"] == 1
    assert call(["index", "--verify"], root).out.endswith("all as a rebuild makes them\n")
    assert call(["index", "--rebuild"], root).code == 0


def test_real_streams_are_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`run` is all of the program: arguments in, exit code out."""
    out = io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.chdir(tmp_path)
    assert run(load(["init"]), ["init"]) == 0 and "memory.md" in out.getvalue()
    assert os.path.exists("memory.md") and TODAY


def test_every_reading_command_says_when_the_index_lags(tmp_path: Path) -> None:
    """With no time to read what changed, an answer may be old: it says so, whichever command gives it."""
    (tmp_path / "memory").mkdir()
    (tmp_path / "memctl.toml").write_text("[recall]\nsync_seconds = 0\n")

    def write(what: str) -> None:
        for day in range(1, 9):
            text = f"## Retain\n\n- W(key=city) @Ann: {what} {day} ^c{day}\n"
            (tmp_path / f"memory/2025-11-0{day}.md").write_text(text)

    for words in (["context", "Lives"], ["recall", "Lives"]):  # tests/cli/test_stale.py has the others
        write("Lives in")
        asked = [sys.executable, "-m", "memctl", *words, "-w", str(tmp_path)]
        first = subprocess.run(asked, capture_output=True, text=True, check=False)
        assert first.returncode == 0 and "stale: " not in first.stderr, (words, first.stderr)
        write("Lives at")
        done = subprocess.run(asked, capture_output=True, text=True, check=False)
        assert "stale: " in done.stderr, (words, done.stderr)
        shutil.rmtree(tmp_path / ".memory")


@pytest.mark.parametrize("name", ["memctl.toml", "chat.json"])
def test_a_number_of_ten_thousand_digits_is_a_usage_error(tmp_path: Path, name: str) -> None:
    """Python refuses to read it with an error of its own."""
    (tmp_path / "memory").mkdir()
    digits = "9" * 10_000
    text = f"[context]\nbudget = {digits}\n" if name == "memctl.toml" else f'[{{"role": "user", "content": {digits}}}]'
    (tmp_path / name).write_text(text)
    done = call(["context", "--messages", "chat.json"] if name == "chat.json" else ["recall", "x"], tmp_path)
    assert done.code == 2 and done.err.count("\n") == 2
