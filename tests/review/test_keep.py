"""The block of candidates: what is put in is read back, whatever it says, and a person's edit is left alone."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given, settings, strategies as st
from store_helpers import make_workspace
from strategies import examples, line_facts, texts

from memctl.errors import Refused
from memctl.facts import Fact, Kind
from memctl.ids import question_id
from memctl.markdown.blocks import splice
from memctl.markdown.grammar import printable_line
from memctl.review import keep
from memctl.review.keep import Uncertain

DAY = date(2025, 11, 27)
SAID = [
    Uncertain(Fact(Kind.WORLD, "Moved to Lisbon", ("Anna",), source="user:chat.md#L3"), DAY, "she may be joking"),
    Uncertain(Fact(Kind.OPINION, "Любит короткие ответы", ("Пётр",), confidence=0.6), DAY, ""),
    Uncertain(Fact(Kind.EXPERIENCE, "部署失败了", ("爱丽丝",), outcome="fail"), date(2025, 1, 2), "没有说是哪次"),
]


@st.composite
def candidates(draw: st.DrawFn) -> Uncertain:
    fact = draw(line_facts())
    return Uncertain(Fact(**{**_fields(fact), "block_id": None}), draw(st.dates()), printable_line(draw(texts())))


def _fields(fact: Fact) -> dict[str, object]:
    return {name: getattr(fact, name) for name in Fact.__dataclass_fields__}


@given(st.lists(candidates(), max_size=4))
@settings(max_examples=examples(100))
def test_what_is_put_in_is_read_back(made: list[Uncertain]) -> None:
    page = splice("# Review\n\nMy own words.\n", keep.BLOCK, keep.candidates_body(made))
    assert [kept._replace(line=0) for kept in keep.candidates_in(page)] == made


@given(st.text(), st.text(), st.text())
def test_an_id_depends_on_what_it_is_about_and_not_on_the_order(kind: str, one: str, other: str) -> None:
    assert question_id(kind, one, other) == question_id(kind, other, one)
    assert question_id(kind, one, other) != question_id(kind + "x", one, other)
    assert len(question_id(kind, one)) == 10


def test_candidates_come_once_and_go_by_their_id(tmp_path) -> None:
    workspace = make_workspace(tmp_path, {"memory.md": "# Memory\n"})
    assert keep.change_candidates(workspace, SAID[:2]) == 2
    assert keep.change_candidates(workspace, SAID) == 1
    assert [kept._replace(line=0) for kept in keep.kept_candidates(workspace)] == SAID
    first = (workspace.root / keep.PAGE).read_text("utf-8").split("\n")
    for kept in keep.kept_candidates(workspace):
        assert f"^{kept.id}" in first[kept.line - 1]
    assert keep.change_candidates(workspace, gone=[SAID[1].id, "q-unknown0"]) == -1
    assert [kept._replace(line=0) for kept in keep.kept_candidates(workspace)] == [SAID[0], SAID[2]]
    assert keep.change_candidates(workspace, gone=[SAID[0].id, SAID[2].id]) == -2
    assert keep.kept_candidates(workspace) == ()


def test_what_a_person_changed_is_read_and_not_overwritten(tmp_path) -> None:
    workspace = make_workspace(tmp_path, {"memory.md": "# Memory\n"})
    keep.change_candidates(workspace, SAID)
    page = workspace.root / keep.PAGE
    edited = page.read_text("utf-8").replace("Lisbon", "Porto").replace("2025-01-02", "2025-01-32")
    page.write_text(edited, "utf-8")
    assert [kept.fact.text for kept in keep.kept_candidates(workspace)] == ["Moved to Porto", "Любит короткие ответы"]
    with pytest.raises(Refused):
        keep.change_candidates(workspace, gone=[SAID[1].id])
    assert page.read_text("utf-8") == edited
