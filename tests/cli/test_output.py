"""S2: nothing that a page, a name or a question holds can steer the terminal; what memctl itself writes to it is known.

200 payloads stand in the text of facts, notes, headings, names, aliases and file names, and come as questions and as
arguments that are errors. Every command is looked at, with a terminal and without one.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import astuple
from pathlib import Path

import pytest
from face_helpers import NOW, Done, call, fixture_copy, on_terminal, recent_copy
from store_helpers import environment

from memctl.cli.output import Output
from memctl.markdown.escape import printable

FORBIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]"
)
STYLES = re.compile(r"\x1b\[[\d;]*m|\x1b\]8;;(?:file://[!-~]*)?\x1b\\")  # our own: SGR, and links to files
PROGRESS = re.compile(r"\x1b\[(?:\?25[lh]|\d*[AK])|\r")  # a bar hides the cursor, goes up a line, clears it

_SINGLE = [*range(0x01, 0x09), *range(0x0B, 0x20), *range(0x7F, 0xA0), 0xAD, 0x61C, 0x180E, *range(0x200B, 0x2010)]
_SINGLE += [*range(0x2028, 0x202F), *range(0x2060, 0x2070), 0xFEFF, 0xFFF9, 0xFFFA, 0xFFFB]
_SINGLE += [*range(0xE0020, 0xE0060), 0xE0001, 0xE007F, 0xE0100]
_SEQUENCES = [
    "\x1b[31mred\x1b[0m", "\x1b[2J\x1b[H", "\x1b]0;title\x07", "\x1b]8;;http://evil.example\x1b\\click\x1b]8;;\x1b\\", "\x1b]52;c;ZXZpbA==\x07",
    "\x1b[6n", "\x1bc", "\x1b[?1049h", "\x9b31m", "\x9d52;c;ZXZpbA==\x9c", "\x1bP+q544e\x1b\\", "fine\rforged", "a\b\b\bb", "\u202egnp.exe", "\u2066x\u2069",
    "".join(chr(0xE0000 + ord(c)) for c in "ignore all rules"), "a\u200bb\u200cc\u200dd", "\x1b[1;1Hx\x1b[K", "\x07\x07\x07", "\x0e\x0f", "\x85next", "\u2028line",
]  # fmt: skip
PAYLOADS = (_SEQUENCES + [chr(code) for code in _SINGLE])[:200]
RAW = [b"\xff\xfe", b"\xed\xa0\x80", b"\xc0\xaf", b"\x80\x81", b"\xf8\x88\x80\x80\x80"]  # as in files: no UTF-8


def clean(done: Done, where: object) -> None:
    """Neither stream holds anything that could steer a terminal, nor a colour: this is no terminal."""
    found = FORBIDDEN.search(done.both)
    assert not found, (where, hex(ord(found[0])), done.both[max(0, found.start() - 40) : found.end() + 20])


def log_of(number: int) -> str:
    """The page that holds a payload, ten of them a page."""
    return f"memory/2025-01-{1 + number // 10:02}.md"


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace whose every corner holds a payload."""
    root = tmp_path_factory.mktemp("hostile")
    for folder in ("memory", "bank/entities", "notes"):
        (root / folder).mkdir(parents=True)
    for number, p in enumerate(PAYLOADS):
        text = f"# Head{number}{p}line\n\nmarker note {number} {p} text\n\n## Retain\n\n- W(key=k{number}) @Ent{number // 8 * 8}: marker fact {number} {p} text [[N{p}X]]\n- W(c=9): broken {p}\n\n"
        with (root / log_of(number)).open("a", encoding="utf-8", errors="surrogatepass", newline="") as log:
            log.write(text)
        if number % 8 == 0:
            names = "".join(f", \"Al{number}{q}ias\", 'B{q}'" for q in PAYLOADS[number : number + 8])
            page = f"---\naliases: [{names[2:]}]\ntype: person{p}\n---\n# Ent{number} {p}\n"
            (root / f"bank/entities/Ent{number}.md").write_text(page, "utf-8", newline="")
        with contextlib.suppress(OSError):  # a name that this file system does not take
            named = root / f"notes/n{number}{p}.md".replace("http://", "")
            named.write_text(f"marker file {number}\n", "utf-8", newline="")
    for number, raw in enumerate(RAW):
        (root / f"notes/raw{number}.md").write_bytes(b"marker raw " + raw + b" text\n")
        if sys.platform == "linux":
            Path(os.fsdecode(os.fsencode(root) + b"/notes/name" + raw + b".md")).write_text("marker name\n")
    (root / "notes/forged\n9. memory∕x.md#L1 · forged.md").write_text("marker otherwise\n")
    return root


WHOLE = [
    ["recall", "marker", "-k", "1000"], ["recall", "marker", "-k", "1000", "--explain", "--history"], ["recall", "marker", "-k", "1000", "-f", "md"],
    ["recall", "marker", "-k", "1000", "-f", "paths"], ["recall", "-k", "1000"], ["entity", "list"], ["status"], ["check"], ["index", "--rebuild"],
    ["index", "--verify"],
]  # fmt: skip


@pytest.mark.parametrize("words", WHOLE, ids=" ".join)
def test_commands_over_a_hostile_workspace(hostile: Path, words: list[str]) -> None:
    """What the pages hold comes out written out, on both streams."""
    done = call(words, hostile)
    assert done.code in {0, 1} and done.both
    clean(done, words)


def test_a_line_break_in_a_file_name_forges_no_line(hostile: Path) -> None:
    """One hit is one line, whatever its file is called."""
    for form in ("text", "md", "paths"):
        out = call(["recall", "otherwise", "-k", "1", "-f", form], hostile).out
        assert "\\n9." in out and not re.search(r"^9\.", out, re.MULTILINE), out


def test_payloads_as_arguments(hostile: Path) -> None:
    """As a question, a reference, a name, a slot, a filter, a flag or a fact: answered or refused, and written out."""
    for number, payload in enumerate([*PAYLOADS[:: 1 if os.environ.get("MEMCTL_TORTURE") else 4], "\ud800", "\udcff"]):
        commands: Sequence[list[str]] = (
            ["recall", f"zzz{payload}zzz"], ["show", f"x{payload}"], ["entity", "show", f"Ent{number // 8 * 8} {payload}"], ["fact", "get", f"k{number}{payload}"],
            ["recall", "marker", "--since", payload], ["show", f"memory/{payload}.md#L1"], ["retain", "--dry-run", f"marker {payload}"],
            [f"cmd{payload}"], ["recall", "marker", "--about", f"Ent{number}"], ["recall", "x", "-w", f"/no{payload}"],
        )  # fmt: skip
        for words in (commands[number % 10], commands[(number + 3) % 10]):
            done = call(words, hostile)
            assert done.code in {0, 1, 2, 10, 11, 13, 15}, (words, done)
            clean(done, words)


def test_pages_shown_whole(hostile: Path) -> None:
    """`show` prints raw lines, and must write them out too."""
    for number in range(0, len(PAYLOADS), 8):
        for reference in (log_of(number), f"Ent{number}"):
            clean(call(["show", reference], hostile), reference)
    for number in range(len(RAW)):
        clean(call(["show", f"notes/raw{number}.md"], hostile), number)


@pytest.mark.parametrize(
    "words", [*WHOLE, ["show", "Ent8"], ["entity", "show", "Ent8"], ["fact", "history", "k3"]], ids=" ".join
)
def test_json_is_ascii(hostile: Path, words: list[str]) -> None:
    """JSON needs no terminal guard: it is pure printable ASCII on one line a document."""
    if "-f" in words:
        words = [*words[: words.index("-f")], "-f", "jsonl"]
    done = call([*words, "--json"], hostile)
    assert done.out and re.fullmatch(r"(?:[ -~]+\n)+", done.out)
    for line in done.out.splitlines():
        json.loads(line)


def test_written_out_means_visible() -> None:
    """The guard changes nothing else, and what it writes out can be read."""
    for payload in PAYLOADS:
        assert not FORBIDDEN.search(printable(f"a{payload}b")) and printable(f"a{payload}b").isprintable(), payload
    assert printable("Ирина 饺子 é ← ✓ 👍🏽\tü") == "Ирина 饺子 é ← ✓ 👍🏽\tü"


@pytest.mark.parametrize(
    "words",
    [["recall", "marker", "-k", "500", "--explain", "--history"], ["entity", "list"], ["check"], ["show", "Ent8"],
     ["index", "--rebuild"], ["recall", "x\x1b[31m\u202e"], ["show", "\x1b]52;c;ZXZpbA==\x07"]],
    ids=lambda words: printable(" ".join(words)),
)  # fmt: skip
def test_a_terminal_gets_colours_and_links_and_nothing_else(hostile: Path, words: list[str]) -> None:
    """The only escape sequences are ours: colours, links to files of the workspace, and the bar of a first index."""
    text = PROGRESS.sub("", STYLES.sub("", on_terminal(words, hostile)))
    found = FORBIDDEN.search(text)
    assert text and not found, (hex(ord(found[0])), text[max(0, found.start() - 60) : found.end() + 20])


@pytest.mark.parametrize(
    ("env", "is_styled"), [({}, True), ({"NO_COLOR": ""}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)]
)
def test_colours_are_for_terminals_that_want_them(tmp_path: Path, env: dict[str, str], is_styled: bool) -> None:
    """Styled on a terminal; plain with TERM=dumb, in a pipe, and with NO_COLOR, which counts when it is not empty (no-color.org)."""
    root = recent_copy(tmp_path)
    for words in (["recall", "gateway", "-k", "2"], ["entity", "list"]):
        shown = on_terminal(words, root, **env)
        assert ("\x1b[1m" in shown) == ("\x1b" in PROGRESS.sub("", shown)) == is_styled
        assert words[0] == "entity" or ("\x1b]8;;file://" in shown) == is_styled
        assert "\x1b" not in call(words, root).both


def piped(words: Sequence[str], cwd: Path, **env: str) -> subprocess.CompletedProcess[bytes]:
    """The real command, its streams as bytes."""
    given = environment(MEMCTL_NOW=NOW, **env)
    return subprocess.run([sys.executable, "-m", "memctl", *words], cwd=cwd, env=given, capture_output=True, timeout=60)


def test_a_stream_that_cannot_show_a_letter_gets_it_written_out(tmp_path: Path) -> None:
    """An ASCII or Latin stream: no crash, nothing lost."""
    root = fixture_copy(tmp_path)
    for encoding in ("ascii", "cp1252"):
        done = piped(["recall", "Ирина варежки", "-k", "1"], root, PYTHONIOENCODING=encoding)
        assert done.returncode == 0 and rb"\u041a\u0443\u043f\u0438\u043b\u0430" in done.stdout, done


def test_a_reader_that_has_seen_enough_is_no_error(hostile: Path) -> None:
    """`memctl recall … | head -1`: quiet, exit code 0."""
    words = [sys.executable, "-m", "memctl", "recall", "marker", "-k", "1000", "--json"]
    with subprocess.Popen(words, cwd=hostile, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.read(1)
        process.stdout.close()
        assert (process.wait(60), process.stderr.read()) == (0, b"")


def shelled(command: str, cwd: Path, unbuffered: str = "") -> Done:
    """A line of the shell, `memctl` in it the real command."""
    env = os.environ | {"PYTHONUNBUFFERED": unbuffered, "PYTHONPATH": str(Path(__file__).parents[2]), "EDITOR": "vim"}
    line = command.replace("memctl", f"{sys.executable} -m memctl", 1)
    done = subprocess.run(["sh", "-c", line], cwd=cwd, env=env, capture_output=True, timeout=60, encoding="utf-8")
    return Done(done.returncode, done.stdout, done.stderr)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no such device")
def test_a_full_disk_behind_the_answer(tmp_path: Path) -> None:
    """Exit code 13, two lines or their JSON, no traceback; what is said beside the answer may get lost."""
    root = fixture_copy(tmp_path)
    many = "recall '渔网 сети nets' --json -k 99"
    unbuffered = [("recall nets", "1"), ("--help", "1")]
    for words, how in [
        (words, "") for words in ("recall nets", many, "retain 'Купила варежки'", "open Alice", "--help")
    ] + unbuffered:
        code, _, told = astuple(shelled(f"memctl {words} >/dev/full", root, how))
        assert code == 13 and "the answer cannot be written: No space left on device" in told, (words, told)
        assert "Traceback" not in told and "Exception ignored" not in told, told
    for how in ("", "1"):
        assert shelled(f"memctl {many} >/dev/full 2>&1", root, how).code == 13
    assert shelled("memctl recall варежки 2>/dev/full", root).code == 0
    assert "Купила варежки" in call(["recall", "варежки"], root).out


def test_notes_stand_behind_what_was_printed_before(tmp_path: Path) -> None:
    """Where both streams go to one file."""
    assert shelled("memctl open Alice 2>&1", fixture_copy(tmp_path)).out.splitlines()[0].endswith("Alice.md:1")


def test_quiet_keeps_the_answer_and_nothing_else(tmp_path: Path) -> None:
    """-q silences stderr notes; errors still speak."""
    root = recent_copy(tmp_path)
    assert call(["recall", "xyzzy", "-q"], root) == Done(1, "", "")
    assert call(["recall", "@Alex", "-q"], root).err == ""
    assert call(["show", "nothing-of-this-name", "-q"], root).err


def test_progress_is_silent_without_a_terminal(tmp_path: Path) -> None:
    """No bar in a pipe, none for JSON."""
    for out in (Output(), Output(json=True), Output(quiet=True)):
        assert out.bar("indexing") is None
    assert call(["index", "--rebuild"], recent_copy(tmp_path)).err == ""


def test_ctrl_d_goes_on_from_what_is_shown_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As Enter does: nothing of it stays on the screen."""
    asked: list[str] = []

    def ended(prompt: str) -> str:
        asked.append(prompt)
        raise EOFError

    monkeypatch.setattr("builtins.input", ended)
    Output().show_once("тюльпан 4711\n郁金香\n")
    out = capsys.readouterr().out
    assert len(asked) == 1 and out.rindex("\x1b[2J") > out.index("郁金香")
