"""Everyday moves: open, undo, log, the picker."""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from face_helpers import call, fixture_copy, memory_on, write_pages
from rich.cells import cell_len

from memctl.cli.moves import _Picker, editor_command, pick
from memctl.errors import ExtraMissing


@pytest.mark.parametrize(
    ("editor", "words"),
    [
        ("vim", ["vim", "+7", "/n o/a.md"]), ("/usr/bin/nvim -p", ["/usr/bin/nvim", "-p", "+7", "/n o/a.md"]),
        ("emacsclient -nw", ["emacsclient", "-nw", "+7", "/n o/a.md"]),
        ("code --wait", ["code", "--wait", "--goto", "/n o/a.md:7"]), ("hx", ["hx", "/n o/a.md:7"]),
        ("pycharm", ["pycharm", "--line", "7", "/n o/a.md"]), ("Notepad++.exe", ["Notepad++.exe", "-n7", "/n o/a.md"]),
        ("strange", ["strange", "/n o/a.md"]), ("strange --at={line} {path}", ["strange", "--at=7", "/n o/a.md"]),
    ],
)  # fmt: skip
def test_an_editor_is_told_the_line(editor: str, words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Each in its own way, and a path with a space stays one word."""
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", editor)
    assert editor_command(Path("/n o/a.md"), 7) == words


def test_an_id_opens_where_its_line_moved(tmp_path: Path) -> None:
    """The line of an id is looked up, not remembered."""
    root = fixture_copy(tmp_path)
    place, ref = call(["retain", "The kettle is blue"], root).out.split()
    path, line = place.split("#L")
    page = root / path
    page.write_text("one more line\n" + page.read_text("utf-8"), "utf-8")
    assert call(["open", "--print", ref], root).out == f"{page}:{int(line) + 1}\n"


@pytest.mark.parametrize("editor", ["'", "", "/no/such/thing"])
def test_no_editor_is_two_lines_and_the_place(editor: str, tmp_path: Path) -> None:
    """What happened, what to do, exit code 2; the place is on stdout."""
    root = fixture_copy(tmp_path)
    done = call(["open", "Alice"], root, EDITOR=editor, VISUAL="", PATH="")
    assert (done.code, done.out) == (2, f"{root}/bank/entities/Alice.md:1\n")
    assert len(done.err.splitlines()) == 2 and "export EDITOR" in done.err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["x", "--about", "Alise"], "'Alise' is a new name; did you mean Alice?"),
        (["x", "--about", "ALICE"], ""),
        (["x", "--about", "Элис"], ""),
        (["x", "--about", "爱丽丝"], ""),
        (["x", "--about", "Irina Volkowa"], "did you mean Irina Volkova?"),
        (["x", "--about", "Toastr"], "did you mean Toaster?"),  # which has no page
        (["x", "--about", "Zebulon"], ""),
        (["W @Alex: x"], "'Alex' may be Alex Chen or Alex Petrov"),
        (["x", "--for", "o-nonono12"], "no line has the id ^o-nonono12: `memctl undo`"),
    ],
)
def test_a_slip_is_kept_and_named(words: list[str], told: str, tmp_path: Path) -> None:
    """The fact is on disk whatever is said beside it; once it is written, a name is known."""
    root = fixture_copy(tmp_path)
    call(["index"], root)
    done = call(["retain", *words], root)
    assert done.code == 0 and "^f-" in done.out
    assert told in done.err and bool(told) == ("warning" in done.err)
    again = call(["retain", "another", *words[1:]], root).err if "--about" in words else ""
    assert "warning" not in again


@pytest.mark.parametrize(
    ("prefix", "words"),
    [
        ("/home/quill/.local/share/pipx/venvs/memctl-workspace", "pipx runpip memctl-workspace install"),
        ("/home/quill/.local/share/uv/tools/memctl-workspace", "uv pip install --python '/home/quill/"),
        ("/home/quill/venv", "pip install"),
    ],
)
def test_an_extra_goes_beside_memctl(prefix: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Plain pip finds no memctl-workspace to extend where pipx or uv keeps it apart."""
    monkeypatch.setattr("sys.prefix", prefix)
    cure = ExtraMissing("view", "pygal").cure
    assert cure.startswith(words) and cure.endswith("'memctl-workspace[view]'")
    monkeypatch.setitem(sys.modules, "prompt_toolkit", None)
    assert f"optional\tnot installed; {words}" in call(["status"], fixture_copy(tmp_path)).out


@pytest.mark.parametrize("words", [["recall", "x", "--k"], ["fact", "get", "--about"]])
def test_an_option_without_its_value_leads_to_the_help_of_the_command(words: list[str], tmp_path: Path) -> None:
    """Of a group's command too."""
    done = call(words, fixture_copy(tmp_path))
    assert done.code == 2 and done.err.endswith(f"see `memctl {' '.join(words[:-1]).removesuffix(' x')} --help`\n")


@pytest.mark.parametrize("flag", ["--confidence", "--importance", "--when"])
def test_an_error_names_the_flag_that_was_typed(flag: str, tmp_path: Path) -> None:
    """Not its name in the grammar."""
    assert call(["retain", "x", flag, "much"], fixture_copy(tmp_path)).err.startswith(f"memctl: {flag}: 'much'")


def test_the_log_has_what_was_told_not_what_happened(tmp_path: Path) -> None:
    """By the day of the line, in the order of the page, with the moves of beliefs; --json has both."""
    root = fixture_copy(tmp_path)
    call(["retain", "Saw a walrus", "--when", "2025-07-03", "--date", "2025-11-29"], root)
    call(["retain", "Likes fog", "--about", "Alice", "--confidence", "0.8", "--date", "2025-11-29"], root)
    call(["reflect"], root)
    made = json.loads(call(["log", "--on", "2025-11-29", "--json"], root).out)
    assert [hit["content"] for hit in made["hits"]] == ["Saw a walrus", "Likes fog"]
    assert [(each["from"], each["to"], each["content"]) for each in made["beliefs"]] == [(None, 0.8, "Likes fog")]
    assert "walrus" not in call(["log", "--on", "2025-07-03"], root).out
    assert call(["log", "2025-11-29"], root).out == call(["log", "--on", "2025-11-29"], root).out
    twice = call(["log", "2025-11-29", "--on", "2025-11-28"], root)
    assert (twice.code, twice.out) == (2, "") and "give one" in twice.err


@contextmanager
def typed(keys: str, screen: io.StringIO | None = None, rows: int = 24, columns: int = 80) -> Iterator[None]:
    """What the picker finds typed when it asks; it draws on `screen`."""
    pytest.importorskip("prompt_toolkit")
    from prompt_toolkit.application import create_app_session
    from prompt_toolkit.data_structures import Size
    from prompt_toolkit.input import create_pipe_input
    from prompt_toolkit.output.vt100 import Vt100_Output

    output = Vt100_Output(screen or io.StringIO(), lambda: Size(rows=rows, columns=columns), term="xterm")
    with create_pipe_input() as pipe, create_app_session(input=pipe, output=output):
        pipe.send_text(keys)
        yield


@pytest.mark.parametrize(
    ("keys", "opened"),
    [
        ("kettle\r", "Found the kettle"), ("чайн\r", "Чайник нашли"), ("茶壶\r", "找到了茶壶"),
        ("since:\x15kettle\r", "Found the kettle"),  # a filter half typed, then another question
        ("kettle\x0e\x0e\x10\x10\r", "Found the kettle"),  # down and up, past the ends
        ("zzqx\rxx\x1b", None),  # Enter on nothing does nothing
        ("\x03", None),
    ],
)  # fmt: skip
def test_the_picker_asks_as_one_types(keys: str, opened: str | None, tmp_path: Path) -> None:
    """Enter gives the hit that is chosen; Esc and Ctrl-C nothing."""
    told = "- W: Found the kettle\n- W: Чайник нашли\n- W: 找到了茶壶\n"
    with typed(keys):
        found = pick(memory_on(write_pages(tmp_path, {"memory/2025-11-28.md": told})), "", {})
    assert (found.content if found else None) == opened


@pytest.mark.parametrize(("rows", "columns"), [(24, 80), (12, 30), (7, 20)])
def test_the_picker_shows_list_and_hit_on_any_screen(rows: int, columns: int, tmp_path: Path) -> None:
    """On a low one too: hits above, and below them the line of the one that is chosen, with its citation where there is room."""
    lines = "".join(f"- W: 茶壶 {n}\n" for n in range(9))
    memory = memory_on(write_pages(tmp_path, {"memory/2025-11-28.md": f"{lines}- W: Kettle found\n- W: more\n"}))
    screen = io.StringIO()
    with typed("\x1b", screen, rows, columns):
        pick(memory, "kettle", {})
    shown = re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", screen.getvalue())
    assert "2025-11-28  Kettle" in shown and ">   12 - W:" in shown
    assert ("memory/2025-11-28.md#L12" in shown.split("─")[-1]) == (rows > 7)


@pytest.mark.parametrize("columns", [60, 160])
@pytest.mark.parametrize("word", ["kettle boils", "чайник кипит", "水壶开了"])
def test_the_picker_cuts_no_word(columns: int, word: str, tmp_path: Path) -> None:
    """A hit that is longer than the screen ends with an ellipsis, and with its place where there is room; the page below is wrapped."""
    text = f"- W(src=tool): {' '.join([word] * 60)}\n"
    memory = memory_on(write_pages(tmp_path, {"memory/2025-11-28.md": text}))
    picker = _Picker(memory, {}, lambda: columns)
    picker.ask(word)
    ((_, row, *_),) = picker.rows()
    below = picker.below()
    assert row.startswith(f"2025-11-28  {word}") and "…" in row
    assert (row.rstrip().endswith("memory/2025-11-28.md#L3")) == (columns > 100)
    assert below[0] == "memory/2025-11-28.md#L3 [untrusted: tool]"
    assert below[3].startswith(">    3 - W(src=tool):") and all(line[:7].isspace() for line in below[4:])
    assert len(below) > 6 and max(map(cell_len, [row.rstrip("\n"), *below])) <= columns
    assert picker.marked() == 3


def test_the_picker_says_what_no_longer_holds(tmp_path: Path) -> None:
    told = "- W(key=db) @Atlas: Uses PostgreSQL\n- W(key=вес) @Чай: 3 кг\n- W(t=2025-11-01..2025-11-02) @茶: PostgreSQL 茶会\n"
    now = "- W(key=db) @Atlas: Uses MongoDB, no PostgreSQL\n- W(key=вес) @Чай: 4 кг\n"
    memory = memory_on(write_pages(tmp_path, {"memory/2025-11-20.md": told, "memory/2025-11-28.md": now}))
    picker = _Picker(memory, {}, lambda: 40)
    for word, rows in {
        "PostgreSQL Atlas": ["2025-11-28  Uses MongoDB", "2025-11-20  [replaced] Uses PostgreSQL"],
        "кг чай": ["2025-11-28  4 кг", "2025-11-20  [replaced] 3 кг"],
        "茶会": ["2025-11-20  [ended 2025-11-02] Postgre"],
    }.items():
        picker.ask(word)
        shown = [text for _, text, *_ in picker.rows()]
        assert len(shown) >= len(rows) and all(map(str.startswith, shown, rows)), shown


def test_the_picker_is_for_a_person(tmp_path: Path) -> None:
    """With --json, and without a terminal, it says what prints."""
    for more, told in (["--json"], "takes no --json"), ([], "needs a terminal"):
        done = call(["recall", "-i", "kettle", *more], fixture_copy(tmp_path / told))
        assert done.code == 2 and told in done.err and "memctl recall WORDS" in done.err


def test_the_picker_needs_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error says how to install it."""
    monkeypatch.setitem(sys.modules, "prompt_toolkit", None)
    with pytest.raises(ExtraMissing, match="prompt_toolkit") as raised:
        pick(memory_on(write_pages(tmp_path, {})), "", {})
    assert "[tui]" in raised.value.cure
