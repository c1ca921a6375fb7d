"""What a person sees: lines wrapped in three languages, matched words marked, links, days as spans, and the pager."""

from __future__ import annotations

import json
import re
from datetime import date
from pathlib import Path
from types import SimpleNamespace

import pytest
from face_helpers import call, fixture_copy, on_terminal, write_pages
from rich.cells import cell_len

from memctl.cli.output import Output
from memctl.cli.render_hits import ago, kind_of
from memctl.cli.terminal import wrapped
from memctl.errors import BadSettings
from memctl.facts import Kind
from memctl.language.analyzer import matches
from memctl.notes.settings import LINKS, read_settings

SEQUENCE = re.compile(r"\x1b\[[\d;]*m|\x1b\]8;;[^\x1b]*\x1b\\")
LINES = [
    "   The gateway forgets its queue when it loses power; replay it from the card before the night is gone.",
    " > Ирина переслушала свои сентябрьские голосовые, чтобы найти один номер кольца. Сорок минут ветра.",
    "12. 网关断电以后会忘记队列；在下一个周期开始之前，请从SD卡重放（否则整晚的数据包都会永远丢失）。",
    "- mixed 网关 and \x1b[1mbold words\x1b[0m, a \x1b]8;;file:///x\x1b\\link to a place\x1b]8;;\x1b\\, «кавычки» and 引号「这样」 at the end",
]


@pytest.mark.parametrize("width", [30, 60, 80, 160])
@pytest.mark.parametrize("line", LINES, ids=["en", "ru", "zh", "mixed"])
def test_lines_are_wrapped_and_lose_nothing(line: str, width: int) -> None:
    """No line is wider, what follows hangs below the text, and joined again it is what it was."""
    made = wrapped(line, width)
    shown = [SEQUENCE.sub("", part) for part in made]
    assert max(map(cell_len, shown)) <= width
    hanging = {len(part) - len(part.lstrip()) for part in shown[1:]}
    assert hanging <= {4 if line.startswith("12.") else 2 if line.startswith("-") else 3}
    assert "".join("".join(made).split()) == "".join(line.split())
    assert not any(part.lstrip()[:1] in "，。；）」" for part in shown[1:])
    assert not any(part.endswith(("（", "「")) for part in shown)


def test_what_cannot_be_broken_stays_whole() -> None:
    """A path or id that is longer than a line can still be copied, and a tab keeps its columns."""
    path = "memory/" + "x" * 80
    assert path in wrapped(f"see {path} for more", 40)
    assert wrapped("a\tb" * 40, 40) == ["a\tb" * 40] and wrapped("a b " * 40, 10) == ["a b " * 40]


@pytest.mark.parametrize(
    ("question", "text", "marked"),
    [
        ("why do gateways reboot?", "The gateway rebooted; a new gateway-config.", ["gateway", "rebooted", "gateway"]),
        ("голосовые сообщения", "Много голосовых и сообщений, ёлка", ["голосовых", "сообщений"]),
        ("丢了什么录音", "今天丢了两段录音。", ["丢了", "录音"]),
        ("錄音", "录音文件", ["录音"]),
        ("`nightjar-gw` flags", "run nightjar-gw replay", ["nightjar", "gw"]),
        ("naïve café", "a NAIVE cafe", ["NAIVE", "cafe"]),
        ("", "anything", []),
        ("the of and", "nothing to mark here", []),
    ],
)
def test_words_that_were_asked_for(question: str, text: str, marked: list[str]) -> None:
    """By their stems, in three languages; function words are not."""
    assert [text[start:end] for start, end in matches(question, text)] == marked


@pytest.mark.parametrize(
    ("day", "told"),
    [
        ("2025-11-30", "today"), ("2025-11-29", "yesterday"), ("2025-12-01", "tomorrow"), ("2025-11-17", "13 days ago"), ("2025-11-09", "3 weeks ago"),
        ("2025-09-30", "2 months ago"), ("2025-10-01", "8 weeks ago"), ("2023-12-01", "2 years ago"), ("2024-01-01", "23 months ago"), ("2022-01-01", "3 years ago"), ("2026-01-30", "in 2 months"),
    ],
)  # fmt: skip
def test_days_as_spans(day: str, told: str) -> None:
    """Counted in the unit that a person would take."""
    assert ago(date.fromisoformat(day), date(2025, 11, 30)) == told


def test_confidence_as_a_bar() -> None:
    """Five cells."""
    hits = [SimpleNamespace(kind=Kind.OPINION, confidence=share) for share in (0, 0.5, 0.84, 1)]
    assert [kind_of(hit, True)[8:13] for hit in hits] == ["▯▯▯▯▯", "▮▮▯▯▯", "▮▮▮▮▯", "▮▮▮▮▮"]


def test_recall_on_a_terminal_and_in_a_pipe(tmp_path: Path) -> None:
    """Marks, a span beside the day, a bar, the headings on a line of their own; in a pipe nothing of these."""
    root = write_pages(tmp_path / "w", {
        "memory/2025-11-09.md": "- O(0.84) @Peter: Prefers replies that are concise",
        "docs/handbook.md": "# Handbook\n\n## Replies\n\nConcise replies are preferred.\n",
    }).root  # fmt: skip
    text = on_terminal(["recall", "concise reply?"], root)
    assert "\x1b[1;36mreplies\x1b[0m" in text and "\x1b[1;36mconcise\x1b[0m" in text
    plain = SEQUENCE.sub("", text)
    assert "memory/2025-11-09.md:3 · 2025-11-09 (3 weeks ago) · opinion ▮▮▮▮▯ 0.84 · Peter" in plain
    assert "\n   Handbook › Replies" in plain
    piped = call(["recall", "concise reply?"], root).out
    assert "ago" not in piped and "▮" not in piped and "memory/2025-11-09.md#L" in piped
    bare = on_terminal(["recall", "concise reply?"], root, NO_COLOR="1")
    assert "\x1b" not in bare and "(3 weeks ago)" in bare


def test_links_open_at_the_line(tmp_path: Path) -> None:
    """By the name of an editor or by a template; nothing that a click would send over the network."""
    out, page = Output(), tmp_path / "с пробелом.md"
    out_styled = type("Styled", (Output,), {"styled": True})()
    assert out.link("x", page) == "x"
    quoted = page.as_uri().removeprefix("file://")
    for name, url in (
        ("file", f"file://{quoted}"), ("vscode", f"vscode://file{quoted}:7"), ("idea", f"idea://open?file={quoted}&line=7"),
        ("txmt", f"txmt://open?url=file://{quoted}&line=7"), ("obsidian", f"obsidian://open?path={quoted}"),
    ):  # fmt: skip
        (tmp_path / "memctl.toml").write_text(f'[editor]\nlink = "{name}"\n')
        assert read_settings(tmp_path / "memctl.toml").link == LINKS[name]
        assert out_styled.link("x", page, LINKS[name], 7) == f"\x1b]8;;{url}\x1b\\x\x1b]8;;\x1b\\"
    (tmp_path / "memctl.toml").write_text('[editor]\nlink = "my-ed:{path}+{line}"\n')
    assert read_settings(tmp_path / "memctl.toml").link == "my-ed:{path}+{line}"
    for bad in ("https://evil.example/{path}", "javascript:{path}", "vscode://file/", "x y:{path}", "a:{path}\\u001b"):
        (tmp_path / "memctl.toml").write_text(f'[editor]\nlink = "{bad}"\n')
        with pytest.raises(BadSettings):
            read_settings(tmp_path / "memctl.toml")


@pytest.mark.parametrize("words", ["why pg-choice", "belief show o-n3wk7vfa", "log 2025-11-18"])
def test_where_evidence_and_history_stand_is_a_link_too(words: str, tmp_path: Path) -> None:
    """As a hit's own line is."""
    shown = on_terminal(words.split(), fixture_copy(tmp_path))
    assert len(re.findall(r"8;;file://\S+\\memory/[\d-]+\.md:\d+\x1b", shown)) > 2 and "#L" not in shown


@pytest.mark.parametrize("width", [40, 60])
def test_notes_and_errors_are_wrapped_and_commands_stay_whole(width: int, tmp_path: Path) -> None:
    """What may be copied is not broken: neither `a command` in a sentence nor one that has a line of its own."""
    root, plain = fixture_copy(tmp_path), {"TERM": "dumb", "COLUMNS": str(width)}  # no bar, however slow the machine
    shown = on_terminal(["conflicts"], root, **plain)
    settled = "\n  memctl resolve nets-11 --over nets-12\n  memctl resolve nets-11 nets-12 --both\n"
    assert settled in shown
    shown = on_terminal(["lessons", "--task", "нет 没有"], root, **plain)
    command = "`memctl retain --kind experience --task T --outcome ok|fail`"
    assert f"  {command}" in shown and all(cell_len(line) <= width for line in shown.split("\n") if command not in line)
    lines = on_terminal(["import", str(tmp_path)], root, **plain).splitlines()
    assert len(lines) > 2 and all(line.startswith(" ") for line in lines[1:])


def test_hits_of_a_page_stand_below_its_name(tmp_path: Path) -> None:
    """A blank line parts pages and what is related, and none parts a page from its first hit."""
    shown = on_terminal(["recall", "rings", "--by", "page", "-k", "3"], fixture_copy(tmp_path), TERM="dumb")
    assert len(re.findall(r"\n\n\S+\.md\n[23]\. ", shown)) == 2 and shown.startswith("memory/")
    words = ["recall", "why did Curlew move?", "--hops", "2", "-k", "2"]
    assert "\n\nrelated, by the names" in on_terminal(words, fixture_copy(tmp_path / "b"), TERM="dumb")


@pytest.mark.parametrize("pager", ["", "/no/such/pager", "sh -c 'head -1; exit 3'", "sh -c 'kill -9 $$'", "'unclosed"])
def test_a_pager_that_dies_loses_nothing(pager: str, tmp_path: Path) -> None:
    """Missing, killed, ending with an error, misspelt: the answer stands on the terminal, whole, without a traceback."""
    root = fixture_copy(tmp_path)
    text = on_terminal(["recall", "-k", "30"], root, MEMCTL_PAGER=pager, LINES="24")
    assert "\x1b[1m30.\x1b[0m" in text and "\x1b[1m1.\x1b[0m" in text and "Traceback" not in text


def test_a_pager_gets_what_is_longer_than_the_screen(tmp_path: Path) -> None:
    """$MEMCTL_PAGER goes before $PAGER; a short answer, and JSON, go straight to the terminal."""
    root = fixture_copy(tmp_path)
    pager = {"MEMCTL_PAGER": "sed s/^/PAGED/", "PAGER": "false", "LINES": "24"}
    assert "PAGED\x1b[1m1." in on_terminal(["recall", "-k", "30"], root, **pager)
    assert "PAGED" not in on_terminal(["recall", "-k", "2"], root, **pager)
    assert "PAGED" not in on_terminal(["recall", "-k", "30", "--json"], root, **pager)


@pytest.mark.parametrize(
    ("words", "code", "kind"),
    [
        (["show", "xyzzy"], 1, "NothingFound"), (["recall", "--no-such-flag"], 2, "Usage"), (["recall", "x", "-w", "nowhere"], 10, "NoWorkspace"),
        (["show", "/etc/passwd:1"], 11, "OutsideWorkspace"), (["retain", "\x01"], 15, "Refused"), (["nonsense"], 2, "Usage"),
    ],
)  # fmt: skip
def test_errors_are_json_where_json_was_asked_for(words: list[str], code: int, kind: str, tmp_path: Path) -> None:
    """One line on stderr; nothing on stdout, and the exit code is the same."""
    done = call([*words, "--json"], fixture_copy(tmp_path))
    (line,) = done.err.splitlines()
    told = json.loads(line)
    assert done.code == code and done.out == "" and told["schema"] == 1
    error = told["error"]
    assert (error["kind"], error["exit_code"]) == (kind, code) and error["what"] and error["do"]


def test_a_fact_that_says_json_is_no_option(tmp_path: Path) -> None:
    """Behind `--` words are words."""
    assert call(["show", "--", "--json"], fixture_copy(tmp_path)).err.startswith("memctl: ")
