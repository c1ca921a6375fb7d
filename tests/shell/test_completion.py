"""What a shell is told at TAB, and the scripts by which bash, zsh and fish ask."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from face_helpers import all_commands, call, fixture_copy, memory_on, snapshot, write_pages
from hypothesis import given, strategies as st

from memctl.index import completion
from memctl.notes import workspace
from memctl.shell.complete import FILES, SIGNS, bash_quoted, complete, read_table, split_line


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the fixture workspace with a fresh index, entered."""
    found = fixture_copy(tmp_path)
    assert call(["index", "--no-vectors"], found).code == 0
    monkeypatch.chdir(found)
    monkeypatch.delenv("MEMCTL_WORKSPACE", raising=False)
    return found


def words(*line: str, locale: str = "en_US.UTF-8") -> list[str]:
    """The candidates for the last word of a line."""
    return [word for word, _ in complete(line, {"LANG": locale})]


def test_commands_and_groups() -> None:
    """Commands at the first word, those of a group at the second; each with what it does."""
    assert set(words("re")) == {"retain", "recall", "reflect", "resolve", "review"}
    assert words("fact", "") == ["list", "get", "history", "set"]
    assert words("nosuch", "") == []
    assert dict(complete(["ret"], {}))["retain"] == "Write a fact down in today's log"
    assert {" ".join(each) for each in all_commands()} <= set(read_table())


def test_options_of_the_command_once_each() -> None:
    """Long and short names; one that is there already only where it may be given again; none behind `--`."""
    assert words("recall", "--ab") == ["--about"]
    assert {"-a", "-k", "-h", "--help", "-w"} <= set(words("recall", "-"))
    assert "--about" in words("recall", "--about", "Alice", "--")
    assert not {"--since", "--key"} & set(words("recall", "--since", "30d", "--key=db", "--"))
    assert words("recall", "--", "--ab") == []
    assert "--no-llm" in words("ingest", "--no")


def test_words_that_an_option_or_argument_takes() -> None:
    """The words that the help names, also behind `=`; files are the shell's own matter."""
    assert words("recall", "--kind", "o") == ["opinion", "observation"]
    assert words("recall", "--kind=o") == ["--kind=opinion", "--kind=observation"]
    assert words("recall", "-f", "js") == ["json", "jsonl"]
    assert words("export", "") == ["facts", "beliefs"] and words("export", "facts", "") == []
    assert words("completion", "z") == ["zsh"]
    assert words("ingest", "") == words("status", "-w", "/t") == [FILES]
    assert words("recall", "-k", "") == []


@pytest.mark.parametrize(
    "given", ["retain --kind", "recall --kind", "recall --format", "context --format", "export --format"]
)
def test_what_is_offered_is_taken(given: str, root: Path) -> None:
    """No word of the table is refused by the option that it is offered for."""
    command, option = given.split()
    for word in words(command, option, ""):
        done = call([command, *(["x"] if command == "retain" else []), option, word, "--quiet"], root)
        assert "is unknown" not in done.err and "is not known" not in done.err


def test_names_in_three_scripts_as_the_owner_writes_them(root: Path) -> None:
    """Names with a page and aliases, names that only stand on lines, case and ё aside; `@Name` in a question or a fact."""
    assert {"Alex Chen", "Alice", "Gull Spit"} <= set(words("recall", "--about", ""))
    assert words("recall", "--about", "ирина в") == ["Ирина Волкова"]
    assert words("recall", "-a", "夜") == ["夜鹰"]
    assert words("recall", "@gull") == words("retain", "met", "@gull") == ["@Gull-Spit"]
    assert words("entity", "show", "alex c") == ["Alex Chen"]
    write_pages(root, {"memory/2025-11-30.md": "- W @Lena: Came by.\n- W [[Zoë Ångström|Zoe]]: Came too.\n"})
    assert call(["index", "--no-vectors"], root).code == 0
    assert words("recall", "--about", "len") == ["Lena"] and words("recall", "--about", "zoe") == ["Zoë Ångström"]


def test_what_was_typed_is_never_taken_back(root: Path) -> None:
    """A shell inserts what all candidates begin with: of Curlew and curlew-api that is nothing, so they are spelled as typed."""
    assert words("recall", "--about", "@Cur") == ["@Curlew", "@Curlew-api"]
    assert words("recall", "--about", "cur") == ["curlew", "curlew-api"]
    assert words("recall", "--about", "@dump") == ["@Dumpling"]
    assert words("open", "to") == ["today"] and words("open", "TO") == ["today", "Toaster"]
    assert set(words("open", "2025-11-2")) == {"2025-11-21", "2025-11-25", "2025-11-28"}


@pytest.mark.parametrize("begun", ["20", "pg", "2025-1", "f-", ""])
def test_ids_cost_no_walk_through_the_facts(begun: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps of SQLite, by the hundred: `open 20` went past every fact, for no id begins so."""
    lines = "".join(f"- W: Kettle number {number}\n" for number in range(2000))
    memory = memory_on(write_pages(tmp_path, {"memory/2025-11-28.md": lines}))
    memory.recall("kettle", k=1)
    steps: list[int] = []
    opened = completion.connect

    def connect(*given: Any, **more: Any) -> Any:
        db = opened(*given, **more)
        db.set_progress_handler(lambda: steps.append(1), 100)
        return db

    monkeypatch.setattr(completion, "connect", connect)
    found = completion.typeable(str(tmp_path), "ids", begun)
    assert len(found) == (20 if begun in ("f-", "") else 0)
    assert len(steps) < 20


def test_keys_ids_pages_and_filters(root: Path) -> None:
    """Slots; facts by id, newest first, told by their line; pages; `field:` in a question takes what its option takes."""
    assert words("fact", "get", "") == ["city", "db", "deadline", "role", "version"]
    assert words("recall", "key:d") == ["key:db", "key:deadline"] and words("recall", "kin") == ["kind:"]
    assert words("recall", "kind:op") == ["kind:opinion"] and words("recall", "about:alic") == ["about:Alice"]
    known = complete(["why", ""], {})
    assert len(known) == 20 and all(told for _, told in known)
    one = next(word for word, _ in known if word.startswith("f-"))
    assert words("retain", "--for", one[:6]) == [one] and words("show", f"^{one[:6]}") == [f"^{one}"]
    assert "bank/opinions.md" in words("show", "bank/o")


def test_days_by_month_and_the_words_of_the_shells_language(root: Path) -> None:
    """Months where a beginning fits several, else days; today, сегодня, 今天."""
    assert words("recall", "--since", "2025") == ["2025-11", "2025-10", "2025-09", "2025-08", "2025-07"]
    assert words("recall", "--since", "2025-11-3") == ["2025-11-30"]
    assert words("recall", "--since", "y") == ["yesterday"] and words("recall", "--since", "сег") == ["сегодня"]
    for locale, today in (("en_US", "today"), ("ru_RU.UTF-8", "сегодня"), ("zh_CN", "今天"), ("C", "today")):
        assert today in words("recall", "--since", "", locale=locale)


def test_the_workspace_of_the_line_and_of_the_environment(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`-w` and MEMCTL_WORKSPACE; a folder below; nothing is known outside of one, and nothing is built."""
    monkeypatch.chdir("/")
    assert words("fact", "get", "d") == []
    for named in (["-w", str(root)], [f"--workspace={root}"]):
        assert words("fact", "get", *named, "d") == ["db", "deadline"]
    assert [word for word, _ in complete(["fact", "get", "d"], {"MEMCTL_WORKSPACE": str(root)})] == ["db", "deadline"]
    monkeypatch.chdir(root / "bank")
    assert words("fact", "get", "d") == ["db", "deadline"]
    assert set(SIGNS) == set(workspace.SIGNS)


def test_nothing_is_built_or_left_behind(root: Path) -> None:
    """An index that is gone, of another version or damaged answers nothing; no file is made, none is changed."""
    before = snapshot(root)
    assert words("fact", "get", "") and words("show", "f-") and words("recall", "@")
    assert snapshot(root) == before
    (root / ".memory/index.sqlite").write_bytes(b"no database at all" * 100)
    assert words("fact", "get", "") == [] and "--about" in words("recall", "--")
    shutil.rmtree(root / ".memory")
    assert words("fact", "get", "") == [] and not (root / ".memory").exists()


def test_a_page_that_changed_tells_no_wrong_line(root: Path) -> None:
    """Lines are read where the index saw them: not from a page that is another one now."""
    assert complete(["why", ""], {})[0][1]
    for page in (root / "memory").glob("*.md"):
        page.write_text("one line more\n" + page.read_text("utf-8"), "utf-8")
    assert not any(told for _, told in complete(["why", ""], {}))


def test_it_loads_next_to_nothing(root: Path) -> None:
    """No parser of the command line, no typing, re, datetime or pathlib: what a TAB would wait for."""
    script = (
        "import sys; before = set(sys.modules); from memctl.shell.complete import complete; complete(['recall', '--about', 'A']);"
        "print(*sorted(set(sys.modules) - before))"
    )
    loaded = set(subprocess.check_output([sys.executable, "-S", "-c", script], text=True, env=_environ()).split())
    assert not loaded & {"typer", "typing", "re", "datetime", "pathlib", "json", "memctl.cli", "memctl.notes"}
    assert len([each for each in loaded if each.startswith("memctl")]) <= 7


def _environ() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(Path(__file__).parents[2]), "LC_ALL": "C.UTF-8"}


def test_lines_of_bash() -> None:
    """Quotes, backslashes and blanks as bash reads them, up to the cursor."""
    assert split_line("memctl recall") == (["memctl", "recall"], "recall", "")
    assert split_line("memctl  recall ") == (["memctl", "recall", ""], "", "")
    assert split_line('memctl -a "Alex C') == (["memctl", "-a", "Alex C"], '"Alex C', '"')
    assert split_line(r"memctl -a Alex\ C") == (["memctl", "-a", "Alex C"], r"Alex\ C", "")
    assert split_line("memctl '' 'a\\") == (["memctl", "", "a\\"], "'a\\", "'")


@given(
    st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]) | st.just(" "), max_size=12),
    st.sampled_from(["", '"', "'"]),
)
def test_no_name_is_run(name: str, quote: str) -> None:
    """What is put into a line of bash is read back as the same word, in and out of quotes."""
    assert split_line(f"{quote}{bash_quoted(name, quote)}{quote} x")[0][:-1] == ([name] if name or quote else [])
    shell = shutil.which("bash")
    if shell and "!" not in name:
        line = f"printf %s {quote}{bash_quoted(name, quote)}{quote}"
        assert subprocess.run([shell, "-c", line], capture_output=True, check=True).stdout.decode() == name


def _hostile(root: Path) -> None:
    names = ["'$(touch ran)'", "'`touch ran`'", "'a;touch ran'", '"Pe\'ter P O&Co"', '"Zed\\e[2J"']
    aliases = "".join(f"  - {name}\n" for name in names)
    write_pages(root, {"bank/entities/Zed.md": f"---\naliases:\n{aliases}---\n# Zed\n"})
    assert call(["index", "--no-vectors"], root).code == 0


def _in_shell(shell: str, script: str, root: Path) -> str:
    found = shutil.which(shell)
    if not found:
        pytest.skip(f"no {shell}")
    (root / "bin").mkdir(exist_ok=True)
    (root / "bin/memctl").write_text(f'#!/bin/sh\nexec {sys.executable} -m memctl "$@"\n')
    (root / "bin/memctl").chmod(0o755)
    (root / f"memctl.{shell}").write_text(call(["completion", shell], root).out)
    options = {"bash": ["--norc"], "zsh": ["-f"], "fish": ["--no-config"]}[shell]
    environ = _environ() | {"PATH": f"{root / 'bin'}:{os.environ['PATH']}", "HOME": str(root)}
    done = subprocess.run([found, *options, "-c", script], capture_output=True, text=True, cwd=root, env=environ)
    assert done.stderr == ""
    assert not (root / "ran").exists()
    return done.stdout


def test_bash(root: Path) -> None:
    """What bash puts in place of the word at the cursor, which it breaks at `@`, `=` and `:`."""
    _hostile(root)
    script = """
compopt() { :; }; source memctl.bash
at() { COMP_LINE=$1 COMP_POINT=${#1}; _memctl memctl "$2"; (IFS='|'; echo "${COMPREPLY[*]}"); }
at 'memctl rec' rec
at 'memctl recall --about=Alex' Alex
at 'memctl recall @Gull' Gull
at 'memctl recall --about "Alex C' 'Alex C'
at 'memctl recall key:d' d
at 'memctl recall --about $' '$'
at 'memctl recall --about "`' '`'
"""
    assert _in_shell("bash", script, root).splitlines() == [
        "recall", r"Alex\ Chen|Alex\ Petrov", "Gull-Spit", "Alex Chen", "db|deadline", r"\$\(touch\ ran\)", r"\`touch ran\`",
    ]  # fmt: skip


def test_fish(root: Path) -> None:
    """Fish asks with `complete -C`."""
    _hostile(root)
    script = "source memctl.fish; for line in 'memctl rec' 'memctl recall --about Gu' 'memctl recall @Gull' 'memctl recall key:d' 'memctl show memctl.t'; complete -C $line; end"
    told = [line.split("\t")[0] for line in _in_shell("fish", script, root).splitlines()]
    assert told == ["recall", "Gull Spit", "@Gull-Spit", "key:db", "key:deadline"]


def test_zsh(root: Path) -> None:
    """What zsh is given to choose from, by its own `compadd`."""
    _hostile(root)
    script = """
compdef() { :; }; compadd() { print -r -- "${(P@)@[-1]}" }; _files() { print files }; source memctl.zsh
at() { words=("${(@)@}"); CURRENT=$#words; PREFIX=$words[-1]; _memctl }
at memctl rec; at memctl recall --about 'Alex\\ C'; at memctl recall '@Gull'; at memctl recall key:d; at memctl ingest ''
"""
    assert _in_shell("zsh", script, root).splitlines() == [
        "recall", "Alex Chen", "@Gull-Spit", "key:db key:deadline", "files",
    ]  # fmt: skip


def test_the_man_page_is_sound() -> None:
    """Every command stands in it, and no reader of man pages finds fault with it; `make check` holds it to the code."""
    page = Path(__file__).parents[2] / "docs/memctl.1"
    text = page.read_text("ascii").replace("\\-", "-")
    assert all(f'.SS "memctl {" ".join(each)}' in text for each in all_commands())
    if not (mandoc := shutil.which("mandoc")):
        pytest.skip("no mandoc")
    done = subprocess.run([mandoc, "-Tlint", "-Wwarning", page], capture_output=True, text=True)
    found = [line for line in done.stdout.splitlines() if "missing date" not in line]  # one would differ by the day
    assert not found
