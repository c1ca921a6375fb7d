"""Who may write and ask learns nothing of private lines: no guess of one is confirmed by what becomes of what they write."""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path

import pytest
from calls import Call, http, mcp
from face_helpers import TODAY, memory_on, snapshot, write_pages

from memctl.agents.act import act
from memctl.errors import MemctlError
from memctl.facts import Kind
from memctl.ids import fact_id
from memctl.markdown.private import without_private_lines
from memctl.memory import Memory
from memctl.notes.files import read_page

DAY = "2025-11-08"
LOG = f"memory/{DAY}.md"
SECRETS = {"Peter": "The PIN is 7391", "Ирина": "Код от сейфа 7391", "爱丽丝": "密码是7391"}
OPEN = "- W @Peter: likes bread\n- W @Peter: likes tea\n- W @Peter: plays chess\n"


class On:
    """A workspace as the calls of test_as_if_absent take it."""

    def __init__(self, memory: Memory) -> None:
        self.memory = self.fresh = memory


def said(call: Call, memory: Memory) -> str:
    """An answer or a refusal, as text."""
    try:
        text = json.dumps(call(On(memory)), default=str, ensure_ascii=False)
        return re.sub(r'"took_ms": [\d.]+', "", text)
    except MemctlError as error:
        return f"{error.what}; {error.cure}"


def told(pages: dict[str, str], *calls: Call) -> list[str]:
    """What some calls answer one after the other, and the pages as others see them then."""
    with tempfile.TemporaryDirectory() as folder:
        memory = memory_on(write_pages(Path(folder), pages))
        answers = [said(call, memory) for call in calls]
        view = memory.public().workspace
        shown = [f"{path}\n{read_page(view, path).text}" for path in snapshot(Path(folder)) if path.endswith(".md")]
        return [*answers, *shown]


def alike(pages: dict[str, str], *calls: Call) -> list[str]:
    """The same, which must be told of the pages without their private lines too."""
    whole = told(pages, *calls)
    assert whole == told({path: without_private_lines(text) for path, text in pages.items()}, *calls)
    return whole


CITED = {
    "Peter": ("x ^{ref}", "c !:{ref}"), "Ирина": ('y "{ref}" z', "a +{ref}"), "爱丽丝": ('[x](y.md#L3 "{ref}")', "b -{ref} ^{ref}"),
}  # fmt: skip


@pytest.mark.parametrize("name", SECRETS)
def test_an_id_that_is_cited_confirms_no_guess(name: str) -> None:
    """The id of a line is made of its words. In B no line has it, so what cites it must be shown in A too."""
    ref = fact_id(Kind.WORLD, [name], SECRETS[name], TODAY.replace(day=8))
    pages = {LOG: f"## Retain\n\n- W(private) @{name}: {SECRETS[name]}\n{OPEN}"}
    with tempfile.TemporaryDirectory() as folder:
        assert [ref] == [hit.ref for hit in memory_on(write_pages(Path(folder), pages)).recall("7391", k=1).hits]
    for text in (form.format(ref=ref) for form in CITED[name]):
        writes = (
            http("/store", text=text),
            http("/v1/retain", text=f'W(why="{ref}", task="t {ref}", cue="{ref}") @Peter: crane {text}'),
            http("/v1/ingest", user_msg=f"Remember: the harbour is called {text}.", assistant_msg="Noted."),
            lambda on, text=text: act(on.fresh, f'[SAVE_DOC name="d" content="crane {text}\n\nharbour ^{ref}"]').results,
            mcp("reflect"), http("/v1/recall", query="crane harbour", k=9), http("/v1/show", ref="@Peter"),
        )  # fmt: skip
        assert "crane" in "".join(line for line in alike(pages, *writes)[7:] if "memory/2025-11-30" in line)


@pytest.mark.parametrize("attributes", ["key=pin", "", "key=pin,corrects=f-guess01"])
@pytest.mark.parametrize("day", ["2025-11-05", "2025-11-25"])
def test_a_value_of_a_slot_confirms_no_guess(attributes: str, day: str) -> None:
    """What reflect writes is the same but for the guess itself: one that was right stayed on a page, another went."""
    shown = []
    for guess in ("7391", "7392"):
        pages = {
            "memory/2025-11-20.md": f"## Retain\n\n- W({attributes and attributes + ','}private) @Peter: Lives in 7391\n{OPEN}"
        }
        write = http("/v1/retain", text=f"W{'(key=pin)' * bool(attributes)} @Peter: Lives in {guess}", date=day)
        shown.append(told(pages, write, mcp("reflect"), mcp("reflect", since="30d"), http("/v1/show", ref="@Peter")))
    right, wrong = ("\n".join(each) for each in shown)
    assert _unsigned(right) == _unsigned(wrong.replace("7392", "7391"))


def _unsigned(text: str) -> str:
    return re.sub(r"[fq]-[0-9a-z]{8}|sha=[0-9a-f]+", "", text)


@pytest.mark.parametrize("mark", ["O(c=0.7", "W(for=f-op000001"])
def test_a_belief_that_was_made_private_is_shown_nowhere(tmp_path: Path, mark: str) -> None:
    """Not in the pages that reflect wrote before, nor in what it says when it takes them back."""
    log = "- O(c=0.7) @Peter: zanzibarite holds ^f-op000001\n- W(for=f-op000001) @Peter: the audit passed ^f-ev000001\n"
    memory = memory_on(write_pages(tmp_path, {LOG: log + OPEN}))
    memory.reflect()
    (tmp_path / LOG).write_text((tmp_path / LOG).read_text().replace(mark, f"{mark},private"))
    gone = ("zanzibarite", "o-op000001") if mark[0] == "O" else ("ev000001", "audit")
    for _ in range(2):
        view = memory.public().workspace
        shown = [read_page(view, path).text for path in snapshot(tmp_path)]
        assert not [text for text in shown if any(word in text for word in gone)]
        answer = mcp("reflect")(On(memory))
        assert not any(word in json.dumps(answer) for word in gone)


def test_a_private_belief_is_told_by_no_page_and_no_answer(tmp_path: Path) -> None:
    """One that its owner marked on bank/opinions.md moves there and nowhere else: page of its name, week, answer of MCP."""
    head = "# Opinions\n\n- O(c=0.6, private) @Peter: zanzibarite holds ^o-9\n  - 2025-11-01 · stated 0.60 ^f-none\n"
    log = "".join(f"- W(for=o-9) @Peter: the audit number {n} passed\n" for n in range(8))
    memory = memory_on(write_pages(tmp_path, {"bank/opinions.md": head, "memory/2025-11-20.md": log}))
    assert "zanzibarite" not in json.dumps(mcp("reflect")(On(memory)))
    pages = snapshot(tmp_path)
    assert [path for path, data in pages.items() if b"zanzibarite" in data] == ["bank/opinions.md"]
    assert b"O(c=0.6," not in pages["bank/opinions.md"]


def test_sizes_tell_nothing() -> None:
    """Of the pages as they are shown; the index, which grows with private lines, has none for others."""
    pages = {LOG: f"## Retain\n\n- W(private) @Peter: {SECRETS['Peter']}\n{OPEN}"}
    (answer, status, _) = alike(pages, lambda on: http("/stats")(on)["markdown_bytes"], mcp("status"))
    assert int(answer) > 50 and "KiB for" not in status


def test_a_refusal_tells_nothing_of_private_lines() -> None:
    """A document of a model is compared with what came from outside, as far as the model may see it."""
    pages = {LOG: f"## Retain\n\n- W(private, src=web) @Peter: the crane of {SECRETS['Peter']} creaks\n{OPEN}"}
    reply = f'[SAVE_DOC folder="notes" name="n" content="the crane of {SECRETS["Peter"]} creaks"]'
    assert '"ok": true' in alike(pages, lambda on: [r.as_json() for r in act(on.fresh, reply).results])[0]
