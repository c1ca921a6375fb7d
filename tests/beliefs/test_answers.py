"""What is certain is written, what is not is asked; an answer speaks for the line that it names, and can be taken back."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from face_helpers import memory_on, write_pages

from memctl.beliefs import view as view_module
from memctl.beliefs.opinions_page import read_entries
from memctl.beliefs.replay import UncertainPair
from memctl.beliefs.view import BeliefView, beliefs, why
from memctl.conflicts.listing import conflicts
from memctl.notes.workspace import Workspace
from memctl.reflect.plan import Planner
from memctl.reflect.reflect import reflect
from memctl.review.collect import questions

TODAY = date(2025, 11, 30)
HELD = "O(0.8) @Anna: Prefers morning meetings, before 10. ^held"
NEWER = "O @Anna: Prefers meetings after 11. ^newer"


def told(root: Path, **logs: str) -> Workspace:
    """A workspace whose log of each day of November (`d03`) holds some lines, reflected upon."""
    pages = {f"memory/2025-11-{day[1:]}.md": f"## Retain\n\n{text}\n" for day, text in logs.items()}
    workspace = write_pages(root / "notes", pages)
    reflect(memory_on(workspace, TODAY))
    return workspace


def asked(workspace: Workspace) -> list[UncertainPair]:
    """What is left to be asked."""
    return list(memory_on(workspace, TODAY).run(lambda at: Planner(at, whole=True).replay_for_review().open_questions))


def view(workspace: Workspace, ref: str) -> BeliefView:
    """A belief as its page tells it."""
    return next(view for view in beliefs(memory_on(workspace, TODAY)) if view.ref == ref)


def chain(workspace: Workspace, ref: str) -> list[str]:
    """The pieces of evidence of a belief: day, verdict and id."""
    return [f"{b.day.day} {b.verdict} {b.strength:g} {b.ref}" for b in view(workspace, ref).evidence]


@pytest.mark.parametrize(
    ("held", "newer"),
    [
        ("Prefers morning meetings, before 10.", "Prefers meetings after 11, mornings are for quiet work."),
        ("The page needs brighter colours.", "The page should be calmer, with muted colours."),
        ("Предпочитает встречи до 10.", "Теперь предпочитает встречи после 11."),
        ("喜欢早上开会。", "现在更喜欢晚上开会。"),
        ("Needs brighter colours.", "Should be calmer."),
        ("Афише нужны краски поярче.", "Афиша должна быть поспокойнее."),
        ("海报的颜色要更亮。", "海报的颜色要更素净。"),
        ("喜欢上午十点前开会。", "喜欢十一点以后开会。"),
        ("Любит встречи утром, до 10.", "Любит встречи после 11, утром тихая работа."),
        ("Tabs are better than spaces.", "Spaces are better than tabs."),
        ("Табы лучше пробелов.", "Пробелы лучше табов."),
        ("空格比制表符好。", "制表符比空格好。"),
    ],
)
def test_what_its_holder_may_have_reversed_is_questioned(tmp_path: Path, held: str, newer: str) -> None:
    """Both stand on the page, only the newer counts as current, and no number moves until somebody answers. It is one question,
    and recall says so too."""
    workspace = told(tmp_path, d03=f"- O(0.8) @Anna: {held} ^held", d10=f"- O(0.8) @Anna: {newer} ^newer")
    (pair,) = asked(workspace)
    assert (pair.belief, pair.fact, pair.judgement.kind) == ("o-held", "newer", "reversal")
    assert view(workspace, "o-held").questioned == date(2025, 11, 10)
    assert view(workspace, "o-held").ledger.confidence == 0.8
    assert chain(workspace, "o-newer") == ["10 stated 1 newer"]
    assert held not in (workspace.root / "bank/entities/Anna.md").read_text("utf-8").partition("## Timeline")[0]
    (question,) = questions(memory_on(workspace, TODAY))
    assert (question.kind, question.id) == ("reversed", pair.question)
    made = question.as_json()
    assert (made["rule"], made["tier"], made["precision"]) in {
        ("another view", "asked", 0.83),
        ("replaced: value", "asked", 0.0),
    }
    named = made["why"].partition(": ")[2].replace(" against ", ", ").replace(" ", ", ").split(", ")
    assert all(word.strip(",") in f"{held} {newer}".replace(".", "").split() or not word.isascii() for word in named), (
        made["why"]
    )
    hits = memory_on(workspace, TODAY).owner.recall(held).hits
    assert [(hit.ref, hit.perhaps_superseded_by) for hit in hits[:2]] == [("newer", None), ("held", "newer")]


def test_a_superseded_belief_looks_superseded(tmp_path: Path) -> None:
    """To a reader, and to grep: its head says until when. Where what ended it goes, the head is as it was."""
    workspace = told(tmp_path, d03=f"- {HELD}", d10="- O @Anna: No longer prefers morning meetings, before 10. ^over")
    page, log = workspace.root / "bank/opinions.md", workspace.root / "memory/2025-11-10.md"
    assert "- O(c=0.80,until=2025-11-10) @Anna: Prefers morning" in page.read_text("utf-8")
    assert view(workspace, "o-held").over == date(2025, 11, 10)
    log.write_text("# nothing\n", "utf-8")
    reflect(memory_on(workspace, TODAY))
    assert "- O(c=0.80) @Anna: Prefers morning" in page.read_text("utf-8")


def test_what_ended_a_belief_is_asked_no_more(tmp_path: Path) -> None:
    """It is no conflict either, and a second reflect changes nothing."""
    workspace = told(tmp_path, d03="- O(0.6) @Ирина: Любит чай. ^held", d10="- O @Ирина: Больше не любит чай. ^over")
    assert not reflect(memory_on(workspace, TODAY)).pages
    assert view(workspace, "o-held").over == date(2025, 11, 10)
    assert conflicts(memory_on(workspace, TODAY)) == () and questions(memory_on(workspace, TODAY)) == ()


@pytest.mark.parametrize(("source", "strength"), [("", "1"), (",src=agent", "1"), (",src=llm:qwen", "0.5")])
def test_an_answer_makes_a_line_evidence(tmp_path: Path, source: str, strength: str) -> None:
    """Of its own day and with its own citation; half where a local model said so. Taken back, it counts no more."""
    workspace = told(
        tmp_path, d03="- O(0.8) @Anna: Loves pottery. ^held", d10="- B @Anna: Signed up for a pottery class. ^class"
    )
    (pair,) = asked(workspace)
    assert pair.judgement.verdict == "for"
    assert chain(workspace, "o-held") == ["3 stated 1 held"]
    log = workspace.root / "memory/2025-11-20.md"
    answer = (
        f"- S(for=o-held,by=class,settles={pair.question}{source}) @Anna: “Signed up …” speaks for “Loves pottery”."
    )
    log.write_text(f"## Retain\n\n{answer}\n", "utf-8")
    reflect(memory_on(workspace, TODAY))
    assert chain(workspace, "o-held") == ["3 stated 1 held", f"10 for {strength} class"]
    assert view(workspace, "o-held").evidence[1].citation.path == "memory/2025-11-10.md"  # type: ignore[union-attr]
    assert asked(workspace) == []
    log.write_text("# taken back\n", "utf-8")
    reflect(memory_on(workspace, TODAY))
    assert chain(workspace, "o-held") == ["3 stated 1 held"]
    assert [each.fact for each in asked(workspace)] == ["class"]


@pytest.mark.parametrize(("held", "hedge"), [
    ("Likes quiet rooms", "Maybe likes quiet rooms"), ("Любит чай", "Возможно, любит чай"), ("喜欢茶", "可能喜欢茶"),
])  # fmt: skip
def test_what_is_hedged_weighs_nothing_until_somebody_answers(tmp_path: Path, held: str, hedge: str) -> None:
    """It is asked; with `for=` it is told and weighs 1, as an answer does; without the hedge a rule counts it half."""
    workspace = told(tmp_path, d03=f"- O(0.6) @Anna: {held} ^held", d10=f"- W @Anna: {hedge} ^f-1a2b3c4d")
    (pair,) = asked(workspace)
    assert (pair.fact, pair.judgement.kind, pair.judgement.is_certain) == ("f-1a2b3c4d", "evidence", False)
    assert chain(workspace, "o-held") == ["3 stated 1 held"]
    log = workspace.root / "memory/2025-11-10.md"
    for line, strength in ((f"W(for=o-held) @Anna: {hedge}", "1"), (f"W @Anna: {held}", "0.5")):
        log.write_text(f"## Retain\n\n- {line} ^f-1a2b3c4d\n", "utf-8")
        reflect(memory_on(workspace, TODAY))
        assert chain(workspace, "o-held") == ["3 stated 1 held", f"10 for {strength} f-1a2b3c4d"]


def test_answers_to_a_reversal(tmp_path: Path) -> None:
    """That the newer one replaces the older ends it on the newer one's day; that both hold leaves both."""
    logs = {"d03": f"- {HELD}", "d10": f"- {NEWER}"}
    ended = told(tmp_path / "1", **logs, d20="- S(supersedes=o-held,by=newer) @Anna: “After 11” replaces “before 10”.")
    assert view(ended, "o-held").over == date(2025, 11, 10)
    (pair,) = asked(told(tmp_path / "2", **logs))
    both = told(tmp_path / "3", **logs, d20=f"- S(for=held,for=newer,settles={pair.question}) @Anna: Both hold.")
    assert view(both, "o-held").over is view(both, "o-held").questioned is None
    assert chain(both, "o-held") == ["3 stated 1 held"] and asked(both) == []


@pytest.mark.parametrize("source", ["web:example.com", "tool"])
def test_an_untrusted_answer_says_nothing(tmp_path: Path, source: str) -> None:
    """Nor does one that speaks for a line from outside."""
    answer = f"- S(supersedes=o-held,by=newer,src={source}) @Anna: Replaced."
    assert view(told(tmp_path / "1", d03=f"- {HELD}", d10=f"- {NEWER}", d20=answer), "o-held").over is None
    outside = NEWER.replace("O @", f"O(src={source}) @")
    workspace = told(tmp_path / "2", d03=f"- {HELD}", d10=f"- {outside}", d20=answer.replace(f",src={source}", ""))
    assert view(workspace, "o-held").over is None


def test_a_question_that_a_person_took_out_is_not_asked_again(tmp_path: Path) -> None:
    """The line below the belief deleted by hand: it stays away."""
    workspace = told(tmp_path, d03=f"- {HELD}", d10=f"- {NEWER}")
    page = workspace.root / "bank/opinions.md"
    lines = page.read_text("utf-8").splitlines(keepends=True)
    page.write_text("".join(line for line in lines if "questioned" not in line), "utf-8")
    reflect(memory_on(workspace, TODAY))
    assert "questioned" not in page.read_text("utf-8") and asked(workspace) == []


BELIEFS = """# Opinions\r
\r
- O(c=0.87) @Irina: Prefers a short report. ^o-short\r
  - 2025-11-01 · stated 0.80 · [memory/2025-11-01.md#L3](../memory/2025-11-01.md#L3) ^short\r
<!-- a comment at the left edge -->\r
  - 2025-11-02 · for → 0.87 · [memory/2025-11-02.md#L3](../memory/2025-11-02.md#L3) ^again\r
- O(c=0.40) @Ирина: Без номера. \r
  - 2025-11-02 · stated 0.40 · [memory/2025-11-02.md#L3](../memory/2025-11-02.md#L3) ^again\r
\r
## Others\r
\r
- O(c=0.60) @王伟: 喜欢早上开会。 ^o-short\r
- O(c=0.55) @Ira @Boris: Written by hand
  in two lines. ^mine
"""


def test_one_belief_is_read_without_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By an id, by the id of its evidence, by any name of its entity: the same as among all, and not all is parsed."""
    pages = {"bank/opinions.md": BELIEFS, "bank/entities/irina.md": "---\naliases: [Ирина, Ira]\n---\n# Irina\n"}
    memory = memory_on(write_pages(tmp_path / "notes", pages), TODAY)
    every, texts = beliefs(memory), list[str]()
    monkeypatch.setattr(view_module, "read_entries", lambda text: texts.append(text) or read_entries(text))
    for ref in ("o-short", "again", "mine", next(view.ref for view in every if "Без" in view.text)):
        found = [view for view in every if ref in (view.ref, *(bullet.ref for bullet in view.evidence))]
        assert sorted(map(repr, found)) == sorted(map(repr, why(memory, ref).beliefs)) and found
    for name in ("Irina", "Ira", "Ирина", "王伟", "Boris"):
        among = {"Boris": {"Boris"}, "王伟": {"王伟"}}.get(name, {"Irina", "Ира", "Ирина", "Ira"})
        assert beliefs(memory, about=name) == tuple(view for view in every if among & {*view.entities})
    assert BELIEFS not in texts and sum(map(len, texts)) < 10 * len(BELIEFS)
    page = memory.workspace.root / "bank/opinions.md"
    page.write_text(BELIEFS.replace("O(c=0.60)", "O(c=0.61)"), "utf-8")
    assert why(memory, "o-short").beliefs[1].ledger.confidence == 0.61
    nested = "\n  - W: said so twice\n  - 2025-11-03 · against · on the phone\n"
    page.write_text(BELIEFS.replace("\r\n<!--", f"{nested}<!--"), "utf-8")
    assert [view for view in beliefs(memory) if view.ref == "o-short"] == list(why(memory, "o-short").beliefs)
    assert {"against", "for"} <= {bullet.verdict for bullet in why(memory, "again").beliefs[0].evidence}
