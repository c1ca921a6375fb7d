"""Every kind of question: asked, answered by each option, settled as long as the line of the answer stands, taken back."""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path

import pytest
from face_helpers import fixture_copy, snapshot, write_pages
from review_helpers import DAY, NOW, PAGES, SAID, asked, memory_with
from store_helpers import table

from memctl.errors import MemctlError, NothingFound, Refused, Usage
from memctl.facts import Fact, Kind
from memctl.hits import hit_json
from memctl.ids import question_id
from memctl.markdown.grammar import parse
from memctl.memory import Memory, open_memory
from memctl.review.question import KINDS

LOG = "memory/2025-11-30.md"
EVERY = [(kind, option.key) for kind in PAGES for option in KINDS[kind].options]


@pytest.mark.parametrize(("kind", "key"), EVERY, ids=" ".join)
def test_an_answer_settles_until_its_line_is_deleted(tmp_path: Path, kind: str, key: str) -> None:
    """By one line that the grammar reads, whoever asks again, in a new process too."""
    memory = memory_with(tmp_path, kind)
    question = asked(memory, kind)
    assert asked(memory, kind).id == question.id
    before = snapshot(memory.workspace.root)
    done = memory.answer(question.id, key)
    assert not [each for each in memory.review() if each.id == question.id]
    assert not [finding for finding in memory.check() if finding.rule in ("grammar", "id")]
    with pytest.raises(Refused, match="settled"):
        memory.answer(question.id, key)
    page, line = memory.workspace.root / done.citation.path, f"- {done.line}\n"
    assert page.read_text("utf-8").count(line) == 1 and f"settles={question.id}" in line
    page.write_text(page.read_text("utf-8").replace(line, ""), "utf-8")
    again = [each.id for each in Memory(memory.workspace, lambda: NOW).review()]
    if (kind, key) in (("same", "y"),):
        assert question.id not in again  # the page of the entity says it too
    else:
        assert question.id in again
    assert before.keys() - {str(page.relative_to(memory.workspace.root))} <= snapshot(memory.workspace.root).keys()


def test_check_names_a_question_that_two_machines_answered_in_two_ways(tmp_path: Path) -> None:
    memories = [memory_with(tmp_path / name, "replaced") for name in ("one", "other")]
    first, other = (
        memory.answer(asked(memory, "replaced").id, key) for memory, key in zip(memories, "yb", strict=True)
    )
    log = memories[0].workspace.root / first.citation.path
    known = memories[0].check()
    for line, rules in ((first.line, []), (other.line, ["answer"])):  # the same answer twice is one
        log.write_text(log.read_text("utf-8") + f"- {line}\n", "utf-8")
        assert [found.rule for found in memories[0].check() if found not in known] == rules


@pytest.mark.parametrize("key", ["y", "n"])
@pytest.mark.parametrize(
    "texts", [("Likes tea", "Dislikes tea"), ("Любит чай", "Разлюбил чай"), ("喜欢喝茶", "不再喝茶")]
)
def test_check_names_an_answer_that_quotes_what_turned_private(
    tmp_path: Path, texts: tuple[str, str], key: str
) -> None:
    log = {"memory/2025-11-20.md": f"## Retain\n\n- W @Vera: {texts[0]}\n"}
    with Memory(write_pages(tmp_path, log), lambda: NOW) as memory:
        done = memory.retain(texts[1], about="Vera")
        answered = memory.answer(memory.near(done)[0][0].id, key)
        assert texts[0] in answered.line and not memory.check()
        write_pages(tmp_path, {path: text.replace("- W", "- W(private)") for path, text in log.items()})
        found = [(f.path, f.line, f.rule) for f in memory.check()]
        assert found == [(answered.citation.path, answered.citation.line, "private")]


@pytest.mark.parametrize("words", [None, "memoQ"])
@pytest.mark.parametrize(
    ("key", "head", "texts"),
    [
        ("cat-tool", "W(key=cat-tool)", ("CAT tool is Trados", "Switched from Trados to memoQ")),
        ("ставка", "W(key=ставка)", ("Ставка по кредиту 19%", "Банк снизил ставку по кредиту до 17%")),
        ("db", "W(key=db)", ("我们用的数据库是 PostgreSQL", "数据库换成了 MySQL 8 的集群方案")),
        (
            "address",
            "W",
            ("My home address is 12 Rose Lane, Leeds LS1 4AB", "We moved house to Mill Street 4 in Leeds"),
        ),
    ],
)
def test_what_replaces_the_line_of_a_slot_stands_in_the_slot(
    tmp_path: Path, key: str, head: str, texts: tuple[str, str], words: str | None
) -> None:
    """Also where it was written without the key; what it replaced is shown as what was before, and not the line itself."""
    workspace = write_pages(tmp_path, {DAY: f"## Retain\n\n- {head}: {texts[0]}\n"})
    with Memory(workspace, lambda: datetime(2025, 11, 25)) as memory:
        newer = memory.retain(texts[1])
        question = memory.near(newer)[0][0]
    with Memory(workspace, lambda: NOW) as memory:
        memory.answer(question.id, "y", text=words)
        (now,) = memory.fact(key)
        assert now.content == (words or texts[1]) and str(now.valid.first) == "2025-11-25"
        assert [hit.content for hit in memory.fact_history(key)] == [texts[0], now.content]
        assert now.content in "".join(one.line for one in memory.context().items if one.layer == "known")
        assert memory.recall(key=key).hits[0].content == now.content
        changed = [one.text for one in memory.reflect().digest if one.lead == "changed"]
        assert f"{now.content} (before: {texts[1] if words else texts[0]})" in changed[0] and not memory.review()


_FIRST_DAY, _NEXT_DAY = "2025-11-20", "2025-11-25"


def _yes(memory: Memory, older: Fact, newer: Fact, words: str | None = None) -> Fact:
    """Two lines, the older one in a slot, and the line of a yes that the newer one replaces it."""
    memory.retain([older], day=_FIRST_DAY)
    memory.retain([newer], day=_NEXT_DAY)
    line = parse(memory.answer(asked(memory, "replaced").id, "y", text=words).line)
    assert isinstance(line, Fact)
    return line


@pytest.mark.parametrize("words", [None, "lamotrigine"])
@pytest.mark.parametrize("hidden", [(True, False), (False, True)])
def test_a_yes_about_a_private_line_is_private(tmp_path: Path, hidden: tuple[bool, bool], words: str | None) -> None:
    """Others are answered as if the private line, its slot and its id did not exist."""
    medication, switched = Fact(Kind.WORLD, "Takes lithium", key="medication"), "Switched from lithium to lamotrigine"
    lines = replace(medication, private=hidden[0]), Fact(Kind.WORLD, switched, private=hidden[1])
    workspaces = [write_pages(tmp_path / name, {"memory.md": "# Memory\n"}) for name in ("asked", "alone")]
    with Memory(workspaces[0], lambda: NOW) as memory, Memory(workspaces[1], lambda: NOW) as alone:
        line = _yes(memory, *lines, words)
        assert line.private and memory.fact("medication")[0].content == line.text
        told = zip(lines, (_FIRST_DAY, _NEXT_DAY), strict=True)
        ((public, day),) = [(each, day) for each, day in told if not each.private]
        alone.retain([public], day=day)
        seen = [
            [
                hit_json(replace(hit, score=0.0))
                for hits in (at.facts(), at.recall("lithium medication").hits)
                for hit in hits
            ]
            for at in (memory.public(), alone.public())
        ]
        assert seen[0] == seen[1] != []


def test_what_came_from_outside_beside_a_private_line_is_private_once_it_is_confirmed(tmp_path: Path) -> None:
    page = "- W(key=db,private) @Atlas: The database is PostgreSQL\n- W(key=db,src=web:wiki) @Atlas: The database is MongoDB\n"
    with memory_with(tmp_path, pages={DAY: page}) as memory:
        done = memory.answer(asked(memory, "trust").id, "y")
        assert "supersedes=" in done.line and ",private" in done.line


@pytest.mark.parametrize("words", [None, "memoQ"])
@pytest.mark.parametrize("about", [(), ("Nora Feld",)])
def test_a_yes_ends_when_the_newer_line_does_and_names_what_it_replaces_once(
    tmp_path: Path, about: tuple[str, ...], words: str | None
) -> None:
    """Its `why=` stays too. A slot of the owner stays theirs, also where a line has their name or that of a page."""
    pages = {"bank/entities/Trados.md": "# Trados\n\nA program.\n", DAY: "- W: My name is Nora Feld\n"}
    newer = Fact(Kind.WORLD, "Switched from Trados to memoQ", about, ttl="30d", why="a cheaper licence")
    with Memory(write_pages(tmp_path, pages), lambda: NOW) as memory:
        line = _yes(memory, Fact(Kind.WORLD, "CAT tool is Trados", key="cat-tool"), newer, words)
        assert (line.until, line.why, line.entities) == (date(2025, 12, 25), "a cheaper licence", ())
        assert len(line.supersedes) == len(set(line.supersedes)) == 2
        (held,) = [hit for hit in memory.facts() if hit.key == "cat-tool"]
        assert held.content.endswith(words or newer.text) and not held.whose


@pytest.mark.parametrize(("older", "note"), table("notes-in-a-slot"))
def test_a_yes_to_a_note_fills_the_slot(tmp_path: Path, older: str, note: str) -> None:
    pages = {DAY: f"- W: {older}\n", "memory/2025-11-25.md": f"- {note}\n"}
    with memory_with(tmp_path, pages=pages) as memory:
        memory.answer(asked(memory, "replaced").id, "y")
        assert [hit.content for hit in memory.facts()] == [note]


@pytest.mark.parametrize(("kind", "key"), EVERY, ids=" ".join)
def test_an_answer_can_be_taken_back(tmp_path: Path, kind: str, key: str) -> None:
    """Every page then says what it said before."""
    memory = memory_with(tmp_path, kind, pages={LOG: "# 2025-11-30\n\n## Retain\n\n- W: Rain\n"})
    before, question = snapshot(memory.workspace.root), asked(memory, kind)
    planned = memory.answer(question.id, key, dry_run=True)
    assert snapshot(memory.workspace.root) == before and "+" in planned.diff
    done = memory.answer(question.id, key)
    assert done.line == planned.line and snapshot(memory.workspace.root) != before
    memory.take_back(done)
    after = {path: text for path, text in snapshot(memory.workspace.root).items() if path in before or b"- " in text}
    assert {path: after[path] for path in before if kind != "same"} == {
        p: t for p, t in before.items() if kind != "same"
    }
    assert asked(memory, kind).id == question.id


@pytest.mark.parametrize(("key", "current"), [("y", 1), ("o", 0)])
def test_what_holds_after_an_answer_is_the_fact_and_stands_first(tmp_path: Path, key: str, current: int) -> None:
    memory = memory_with(tmp_path, "replaced")
    sides = asked(memory, "replaced").sides
    memory.answer(asked(memory, "replaced").id, key)
    assert [fact.ref for fact in memory.fact("nets", "Сети")] == [sides[current].ref]
    first, second = memory.recall("сколько сетей на станции").hits[:2]
    assert first.ref == sides[current].ref and (key == "o" or second.superseded_by == first.ref)
    assert key == "o" or [hit.ref for hit in memory.why(first.ref).replaces] == [second.ref]


@pytest.mark.parametrize(("key", "verdict"), [("f", "for"), ("a", "against"), ("n", None)])
def test_evidence_speaks_as_it_was_answered(tmp_path: Path, key: str, verdict: str | None) -> None:
    """By its own line, in the belief's chain."""
    memory = memory_with(tmp_path, "belief")
    question = asked(memory, "belief")
    memory.answer(question.id, key)
    memory.reflect()
    (belief,) = memory.beliefs(about="Anna")
    found = [bullet.verdict for bullet in belief.evidence if bullet.ref == question.sides[1].ref]
    assert found == ([verdict] if verdict else [])


def test_a_plan_that_did_not_happen_is_over(tmp_path: Path) -> None:
    memory = memory_with(tmp_path, "due")
    memory.answer(asked(memory, "due").id, "n")
    assert next(hit for hit in memory.recall("德累斯顿").hits if hit.content == "搬到德累斯顿").superseded_by


def test_two_names_become_one(tmp_path: Path) -> None:
    memory = memory_with(tmp_path, "same")
    memory.answer(asked(memory, "same").id, "y")
    assert memory.entity("Irina").line.path == memory.entity("Ирина").line.path


def test_what_came_from_outside_is_confirmed_with_its_source(tmp_path: Path) -> None:
    memory = memory_with(tmp_path, "trust")
    memory.answer(asked(memory, "trust").id, "y")
    (current,) = memory.fact("db", "Atlas")
    assert current.origin == "user:web:wiki" and current.source.path == LOG


@pytest.mark.parametrize(("key", "current"), [("y", "База — MongoDB."), ("n", "База — PostgreSQL.")])
def test_a_newer_value_from_outside_is_asked_about(tmp_path: Path, key: str, current: str) -> None:
    own, web = "- W(key=db) @Атлас: База — PostgreSQL.\n", "- W(key=db,src=web:wiki) @Атлас: База — MongoDB.\n"
    memory = memory_with(tmp_path, pages={"memory/2025-11-10.md": own, "memory/2025-11-20.md": web})
    question = asked(memory, "trust")
    assert len(memory.conflicts()) == len(question.sides) - 1 == 1
    memory.answer(question.id, key)
    assert [fact.content for fact in memory.fact("db", "Атлас")] == [current]
    assert not memory.review() and not memory.conflicts()


@pytest.mark.parametrize(
    ("own", "web"),
    [("I move to Bremen on 20 December", "I moved to Hamburg"), ("12月20日搬到成都", "二月搬到了武汉"), ("Я живу в Казани", "Я переехал в Тверь")],
)  # fmt: skip
def test_a_line_from_outside_is_asked_about_once(tmp_path: Path, own: str, web: str) -> None:
    """Beside the owner's own, whose end the answer names; what was answered takes no other answer, by whatever question."""
    logs = {"memory/2025-11-10.md": f"- W: {own} ^own\n", "memory/2025-11-20.md": f"- W(src=web): {web} ^web\n"}
    memory = memory_with(tmp_path, pages=logs)
    question = asked(memory, "trust")
    assert [side.ref for side in question.sides] == ["own", "web"] and "replaces yours" in question.options[0].text
    memory.answer(question.id, "n")
    assert not [one for one in memory.review() if one.kind == "trust"]
    with pytest.raises(Refused, match="settled"):
        memory.answer(question_id("trust", "web"), "y")


def test_a_candidate_is_kept_on_the_day_on_which_it_was_said(tmp_path: Path) -> None:
    memory = memory_with(tmp_path, "keep")
    done = memory.answer(asked(memory, "keep").id, "y")
    assert done.citation.path == "memory/2025-11-21.md" and SAID.fact.text in done.line
    assert "Порту" in (memory.workspace.root / "bank/review.md").read_text(
        "utf-8"
    )  # so that the answer goes with its line


def test_other_words_are_kept_as_they_are_written(tmp_path: Path) -> None:
    """Of a candidate they are the line; of a line that stands they replace it and what it replaces."""
    memory = memory_with(tmp_path, "keep", "replaced")
    done = memory.answer(asked(memory, "keep").id, "y", text="Переехал в Порту\nв ноябре")
    assert done.line.endswith(": Переехал в Порту в ноябре")
    question = asked(memory, "replaced")
    memory.answer(question.id, "y", text="Сетей стало двенадцать")
    (current,) = memory.fact("nets", "Сети")
    assert current.content == "Сетей стало двенадцать"


def test_a_line_for_the_core_page(tmp_path: Path) -> None:
    """It is written there, or never proposed again; either can be taken back."""
    memory = open_memory(fixture_copy(tmp_path), now=NOW, resident=False)
    question = asked(memory, "core")
    core = (memory.workspace.root / "memory.md").read_text("utf-8")
    for key, page in (("n", "bank/proposals.md"), ("y", "memory.md")):
        done = memory.answer(question.id, key)
        assert done.added and {path for path, _ in done.added} == {page}
        assert not [each for each in memory.review() if each.kind == "core"]
        memory.take_back(done)
        assert asked(memory, "core").id == question.id
    assert (memory.workspace.root / "memory.md").read_text("utf-8") == core


@pytest.mark.parametrize(
    ("reference", "key", "given", "error"),
    [
        ("q-zzzzzzzz", "y", {}, NothingFound), ("", "y", {}, NothingFound), ("replaced", "x", {}, Usage), ("replaced", "", {}, Usage),
        ("replaced", "b", {"text": "x"}, Usage), ("same", "y", {"text": "x"}, Usage), ("trust", "y", {"said_by": "agent"}, Refused),
        ("keep", "y", {"text": "password: hunter2hunter2 AKIAIOSFODNN7EXAMPLE"}, Refused),
    ],
)  # fmt: skip
def test_a_bad_answer_writes_nothing(tmp_path: Path, reference: str, key: str, given: dict, error: type) -> None:
    memory = memory_with(tmp_path, "replaced", "same", "trust", "keep")
    ids = {question.kind: question.id for question in memory.review()}
    before = snapshot(memory.workspace.root)
    with pytest.raises(error) as caught:
        memory.answer(ids.get(reference, reference), key, **given)
    assert isinstance(caught.value, MemctlError) and "\n" not in caught.value.what + caught.value.cure
    assert snapshot(memory.workspace.root) == before


@pytest.mark.parametrize("change", ["gone", "reworded under its id", "settled by hand"])
def test_a_question_whose_lines_changed_is_not_answered(tmp_path: Path, change: str) -> None:
    pages = {"memory/2025-11-20-x.md": "- W(t=2025-11-25) @Anna: Moves to Dresden ^plan\n"}
    memory = memory_with(tmp_path, pages=pages)
    question = asked(memory, "due")
    page = memory.workspace.root / "memory/2025-11-20-x.md"
    text = page.read_text("utf-8")
    if change == "gone":
        page.write_text("# Nothing\n", "utf-8")
    elif change == "settled by hand":
        page.write_text(text + f"- S(settles={question.id}) @Anna: That was a joke\n", "utf-8")
    else:
        page.write_text(text.replace("Dresden", "Leipzig"), "utf-8")
    before = snapshot(memory.workspace.root)
    with pytest.raises(MemctlError, match=question.id):
        memory.answer(question.id, "y")
    assert snapshot(memory.workspace.root) == before


@pytest.mark.parametrize(
    "plan",
    [
        "Moves to Dresden on 20 November", "20 ноября переезжает в Казань", "11月20日搬家到成都", "Her trip is postponed until 20 November", "Поездку отложили до 20 ноября",
        "The dentist moved her appointment to 20 November", "Врач сдвинул приём на 20 ноября", "牙医把预约改到了11月20日",
    ],
)  # fmt: skip
def test_a_day_without_a_year_that_has_passed_is_asked_about_and_ends_nothing(tmp_path: Path, plan: str) -> None:
    yearly = ["День рождения мамы 20 ноября", "Her wedding anniversary: 20 November", "爸妈的结婚纪念日11月20日"]
    others = ["Moved to Berlin on 1 November", "Sings on 24 December", "Ran 5 km", "Is away on 1 May"]
    others += ["Moved to 20 Rose Lane on 20 November", "Отложил книгу 20 ноября", "Закрыто до 20 ноября"]
    others += ["From next week on works in Lyon", "Со следующей недели работает в Туле", "从下周起在西安上班"]  # begins
    others += ["From 20 November she works less", "С 20 ноября работает меньше", "从11月20日起少上班"]
    facts = "".join(f"- W @Anna: {text}\n" for text in (plan, *others, *yearly))
    memory = memory_with(tmp_path, pages={"memory/2025-11-10.md": f"# A day\n\n## Retain\n\n{facts}"})
    question = asked(memory, "due")
    assert question.sides[0].content == plan and question.why == "it was to be on 2025-11-20"
    assert not next(hit for hit in memory.recall(plan).hits if hit.content == plan).expired
    memory.answer(question.id, "n")
    assert not [one for one in memory.review() if one.kind == "due"]
    assert next(hit for hit in memory.recall(plan).hits if hit.content == plan).retracted


@pytest.mark.parametrize(
    ("plan", "news", "words"),
    [
        ("Granny comes to stay on 15 November", "Granny fell ill and stayed at home", "Is Granny coming?"),
        ("Бабушка приедет к нам 15 ноября на месяц", "Бабушка заболела и осталась дома", "Бабушка приедет?"),
        ("外婆11月15日到家里来住一个月", "外婆不来了，她感冒了", "外婆会来住吗？"),
    ],
)
def test_what_did_not_happen_stands_below_what_is_told_since(tmp_path: Path, plan: str, news: str, words: str) -> None:
    memory = memory_with(tmp_path, pages={"memory/2025-11-03.md": f"- W: {plan}\n", DAY: f"- W: {news}\n"})
    memory.answer(asked(memory, "due").id, "n")
    assert [hit.content for hit in memory.recall(words).hits] == [news, plan]


@pytest.mark.parametrize(
    ("old", "new", "begins"),
    [
        ("Certificate expires on 2 December 2025", "Renewed it, the certificate now expires on 2 December 2026", False),
        ("Полис заканчивается 2 декабря 2025", "Полис продлили, заканчивается 2 декабря 2026", False),
        ("护照2025年12月2日到期", "护照续签了，2035年12月2日到期", False),
        ("Orders moves to Kubernetes in January", "Orders move to Kubernetes postponed to May 2026", False),
        ("体检定在12月3日", "体检推迟到明年2月", False),
        ("The dentist appointment is on 3 December 2025", "The dentist appointment was moved to 8 January 2026", False),
        ("Отпуск 8 декабря 2025", "Отпуск перенесли на февраль 2026", False),
        ("Anna's job is at Acme", "Anna's last day at Acme is 31 January 2026", True),
        ("Живёт в Твери", "Переезжает в Казань 1 марта 2026", True),
        ("住在成都", "2026年3月1日搬到上海", True),
    ],
)
def test_what_only_names_a_day_to_come_replaces_when_it_is_told(
    tmp_path: Path, old: str, new: str, begins: bool
) -> None:
    """A state gives way on the day on which another one begins, or it ends; the day of an end, or a plan, at once."""
    pages = {"memory/2025-11-05.md": f"- W @Anna: {old}\n", DAY: f"- W @Anna: {new}\n"}
    memory = memory_with(tmp_path, pages=pages)
    question = asked(memory, "replaced")
    assert question.options[0].text.startswith("yes, from" if begins else "yes, it")
    memory.answer(question.id, "y")
    hits = {hit.content: hit for hit in memory.recall(old).hits}
    assert (hits[old].superseded_by is None) == begins
    assert (memory.recall(old).hits[0].content == old) == begins


@pytest.mark.parametrize("said", ["Decided not to move Atlas this year", "Решили не переносить Atlas в этом году"])
def test_a_decision_that_is_replaced_held_from_when_it_was_told(tmp_path: Path, said: str) -> None:
    pages = {"memory/2025-11-05.md": f"- W @Atlas: {said} ^aa\n", DAY: "- W(supersedes=aa) @Atlas: We move it\n"}
    hits = memory_with(tmp_path, pages=pages).recall(said).hits
    assert [str(hit.valid) for hit in hits if hit.ref == "aa"] == ["2025-11-05..2025-11-19"]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("Pays 640 euros of rent", "Pays 690 euros of rent from 1 May 2026 on", "rent of Anna"),
        ("Платит за квартиру 640 евро", "С 1 мая 2026 платит за квартиру 690 евро", "сколько платит за квартиру"),
        ("房租是640元", "从2026年5月1日起房租是690元", "房租是多少"),
    ],
)
def test_what_begins_later_replaces_from_then_on(tmp_path: Path, old: str, new: str, words: str) -> None:
    pages = {"memory/2025-10-05.md": f"- W @Anna: {old}\n", LOG: f"## Retain\n\n- W @Anna: {new}\n"}
    memory = memory_with(tmp_path, pages=pages)
    question = asked(memory, "replaced")
    assert question.options[0].text == "yes, from 2026-05-01 on"
    for answered in (False, True):
        first = memory.recall(words).hits[0]
        assert (first.content, first.superseded_by, first.perhaps_superseded_by) == (old, None, None), answered
        if not answered:
            memory.answer(question.id, "y")
    later = {hit.content: hit for hit in open_memory(tmp_path, now="2026-05-01").recall(words).hits}
    assert later[old].superseded_by == later[new].ref and str(later[old].valid) == "2025-10-05..2026-04-30"


def test_of_two_answers_at_once_one_is_written(tmp_path: Path) -> None:
    memory = memory_with(tmp_path, "replaced")
    question, errors = asked(memory, "replaced"), []

    def give(key: str) -> None:
        try:
            Memory(memory.workspace, lambda: NOW).answer(question.id, key)
        except MemctlError as error:
            errors.append(error)

    threads = [threading.Thread(target=give, args=(key,)) for key in "yb"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (error,) = errors
    assert isinstance(error, Refused) and "settled" in error.what
    assert (memory.workspace.root / LOG).read_text("utf-8").count("settles=") == 1


def test_nothing_private_is_asked_of_others(tmp_path: Path) -> None:
    """Nor what lets in the outside; and what an agent answers is marked."""
    pages = {
        "memory/2025-11-20-p.md": "- W(t=2025-11-25,private) @Anna: Sees the doctor\n- W(t=2025-11-25) @Anna: Flies\n"
    }
    memory = memory_with(tmp_path, "trust", pages=pages)
    asked_of_all = {question.id: question for question in memory.review()}
    shown = memory.public().review()
    assert [question.sides[0].content for question in shown] == ["Flies"]
    for ref in asked_of_all.keys() - {question.id for question in shown}:
        with pytest.raises((NothingFound, Refused)):
            memory.public().answer(ref, "y", said_by="agent")
    done = memory.public().answer(shown[0].id, "y", said_by="agent")
    assert "src=agent" in done.line


def test_what_is_forgotten_is_quoted_no_more(tmp_path: Path) -> None:
    """The answer that repeats it goes with it; nothing of it is left in what was shown."""
    memory = memory_with(tmp_path, "replaced")
    question = asked(memory, "replaced")
    memory.answer(question.id, "n")
    done = memory.forget(ids=[question.sides[0].ref], apply=True)
    assert len(done.lines) == 2
    words = question.sides[0].content.encode()
    assert not [path for path in tmp_path.rglob("*") if path.is_file() and words in path.read_bytes()]


def test_the_end_of_a_state_is_no_plan(tmp_path: Path) -> None:
    lines = (
        "- W @Kim: Is on parental leave until 20 November 2025\n- W @Пётр: Работает в Омске до 20 ноября 2025\n"
        "- W @小明: 合同到2025年11月20日为止\n- W @Ann: The conference is on 20 November 2025\n"
    )
    memory = memory_with(tmp_path, pages={"memory/2025-11-01.md": lines})
    assert asked(memory, "due").sides[0].content == "The conference is on 20 November 2025"


def test_what_happened_in_other_words_is_of_the_day_that_they_name(tmp_path: Path) -> None:
    page = {"memory/2025-11-01.md": "- W @Ann: The exam is on 10 November 2025\n"}
    memory = memory_with(tmp_path, pages=page)
    done = memory.answer(asked(memory, "due").id, "y", text="The exam was on 20 November 2025")
    assert "2025-11-10" not in done.line


def test_an_untrusted_line_settles_nothing(tmp_path: Path) -> None:
    memory = memory_with(tmp_path, "due")
    question = asked(memory, "due")
    memory.retain(f"S(settles={question.id},src=web:evil): It did not happen")
    assert asked(memory, "due").id == question.id


@pytest.mark.parametrize("key", ["b", "n"])
@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("Meetings before 10 suit best", "Meetings after 11 suit best"),
        ("Предпочитает созвоны утром, до 10", "Предпочитает созвоны после 11"),
        ("喜欢上午十点前开会", "喜欢上午十一点以后开会"),
    ],
)
def test_two_lines_are_asked_about_once(tmp_path: Path, older: str, newer: str, key: str) -> None:
    """Whatever the kind of the question; and no rule, however certain, is heard against the answer."""
    pages = {"memory/2025-11-10.md": f"- O @Anna: {older}\n", "memory/2025-11-20.md": f"- O @Anna: {newer}\n"}
    memory = memory_with(tmp_path, pages=pages)
    (question,) = memory.review()
    memory.answer(question.id, key if key in [one.key for one in question.options] else "a")
    for _ in range(2):
        assert not memory.review()
        assert not any(hit.perhaps_superseded_by or hit.superseded_by for hit in memory.recall("Anna").hits)
        memory.reflect()
    assert all(bullet.verdict != "superseded" for belief in memory.beliefs() for bullet in belief.evidence)


def test_both_hold_is_heard_however_it_was_written(tmp_path: Path) -> None:
    """By `memctl resolve` too, and where a rule had decided before."""
    pages = {DAY: "- O @Anna: 喜欢早上开会\n", "memory/2025-11-25.md": "- O @Anna: 不再喜欢早上开会\n"}
    memory = memory_with(tmp_path, pages=pages)
    newer, older = memory.recall("早上开会").hits
    assert older.perhaps_superseded_by == newer.ref
    memory.reflect()
    assert memory.review() == ()  # a rule is sure of it, so reflect says so, and nobody is asked
    memory.resolve(newer.ref, older.ref, both=True)
    memory.reflect()
    assert [belief.over for belief in memory.beliefs()] == [None, None]


@pytest.mark.parametrize("source", ["agent", "llm"])
def test_what_a_program_holds_for_both_silences_no_question(tmp_path: Path, source: str) -> None:
    pages = {DAY: "- O @Anna: 喜欢早上开会 ^aa\n", "memory/2025-11-25.md": "- O @Anna: 不再喜欢早上开会 ^bb\n"}
    pages["memory/2025-11-26.md"] = f"- S(src={source},for=aa,for=bb) @Anna: seen both ways\n"
    memory = memory_with(tmp_path, pages=pages)
    memory.reflect()
    before = {belief.ref: belief.over for belief in memory.beliefs()}
    (memory.workspace.root / "memory/2025-11-26.md").unlink()
    memory.reflect()
    assert before == {belief.ref: belief.over for belief in memory.beliefs()} and any(before.values())


def test_what_is_told_again_is_asked_about_once(tmp_path: Path) -> None:
    """A pair of lines of which one was said on three days is one question, and its answer settles the next telling too."""
    told = {
        f"memory/2025-11-{day}.md": "- W @Anna: Is allergic to peanuts, carries an EpiPen\n" for day in (21, 22, 23)
    }
    older = "- W @Anna: Ordered a new EpiPen because of the peanut allergy\n"
    memory = memory_with(tmp_path, pages=told | {"memory/2025-11-20.md": older})
    (question,) = memory.review()
    memory.answer(question.id, "n")
    assert memory.review() == ()
    write_pages(tmp_path, {"memory/2025-11-24.md": told["memory/2025-11-21.md"]})
    assert memory.review() == ()


@pytest.mark.parametrize(
    ("who", "crate", "told"),
    [
        ("Barsik", "A crate of {0} kg {0}", "Barsik weighs 5.4 kg|Vet: Barsik is 5.1 kg, keep the diet|Barsik weighs 4.9 kg|Barsik weighs 4.8 kg"),
        ("Барсик", "Ящик {0} на {0} кг", "Барсик весит 5,4 кг|Взвесили Барсика: 5,1 кг|Барсик весит 4,9 кг|Барсик весит 4,8 кг"),
        ("咪咪", "箱子{0}装了 {0} 公斤", "咪咪重 5.4 公斤|咪咪看医生，体重 5.1 公斤|咪咪重 4.9 公斤|咪咪重 4.8 公斤"),
    ],
)  # fmt: skip
def test_every_value_of_a_series_is_asked_about(tmp_path: Path, who: str, crate: str, told: str) -> None:
    """Whatever its words, and however often its measure is told of other things; only what the newest one says is left."""
    pages = {"memory/2025-11-01.md": "".join(f"- W: {crate.format(number)}\n" for number in range(2, 32))}
    days = ("03", "10", "17", "24")
    pages |= {
        f"memory/2025-11-{day}.md": f"- W @{who}: {said}\n" for day, said in zip(days, told.split("|"), strict=True)
    }
    memory = memory_with(tmp_path, pages=pages)
    while asked := memory.review():
        memory.answer(asked[0].id, "y")
    held = {hit.day for hit in memory.recall(who).hits if hit.fact and who in hit.fact.entities and not hit.valid.last}
    assert held & {f"2025-11-{day}" for day in days} == {"2025-11-24"}


@pytest.mark.parametrize("way", ["one by one", "as an agent", "in an editor"])
@pytest.mark.parametrize("newest_first", [True, False])
@pytest.mark.parametrize(
    ("who", "told"),
    [
        ("Atlas", "The deploy day is {}: Monday, now Tuesday, now Friday, now Sunday"),
        ("Атлас", "День выкладки {}: понедельник, теперь вторник, теперь пятница, теперь воскресенье"),
        ("小王", "{}: 部署日是周一, 部署日改为周二, 部署日改为周五, 部署日改为周日"),
    ],
)
def test_a_chain_is_answered_in_any_order(tmp_path: Path, way: str, newest_first: bool, who: str, told: str) -> None:
    """Each line ends where the next one begins, whichever question was answered first; and so it is asked when one is left."""
    said, _, days = told.partition(": ")
    pages = {
        f"memory/2025-11-{day}.md": f"- W @{who}: {said.format(value)}\n"
        for day, value in zip(("03", "10", "17", "24"), days.split(", "), strict=True)
    }
    memory = memory_with(tmp_path, pages=pages)
    chain = sorted(memory.review(), key=lambda each: each.sides[0].day, reverse=newest_first)
    assert len(chain) == 3 and {each.kind for each in chain} == {"replaced"}
    done = memory.answer(chain[0].id, "y")
    assert {each.id for each in memory.review()} == {each.id for each in chain[1:]}
    memory.take_back(done)
    if way == "in an editor":
        text = memory.review_text(chain).replace("answer:\n", "answer: y\n")
        assert memory.answer_text(chain, text)[1] == []
    for question in chain if way != "in an editor" else ():
        (memory if way == "one by one" else memory.public()).answer(question.id, "y")
    assert memory.review() == ()
    ends = {hit.day: str(hit.valid.last) for hit in memory.recall(who, history=True).hits if hit.kind.letter == "W"}
    assert ends == {
        f"2025-11-{day}": end
        for day, end in (("03", "2025-11-09"), ("10", "2025-11-16"), ("17", "2025-11-23"), ("24", "None"))
    }


@pytest.mark.parametrize(
    ("plan", "news"),
    [
        ("The deploy day is 20 November", "The deploy day is now 2 December"),
        ("День выкладки 20 ноября", "День выкладки теперь 2 декабря"),
        ("部署日是11月20日", "部署日改为12月2日"),
    ],
)
def test_a_plan_that_may_be_replaced_is_asked_about_once(tmp_path: Path, plan: str, news: str) -> None:
    """Whether it happened is asked where nothing replaced it."""
    pages = {f"memory/2025-11-{day}.md": f"- W @Atlas: {said}\n" for day, said in (("05", plan), ("12", news))}
    memory = memory_with(tmp_path, pages=pages)
    question = asked(memory, "replaced")
    assert [each.kind for each in memory.review()] == ["replaced"]
    memory.answer(question.id, "n")
    assert [each.sides[0].content for each in memory.review()] == [plan]


@pytest.mark.parametrize(("older", "newer", "is_reversed"), [
    ("Meetings should be shorter", "Reports should be longer", False),
    ("Кухня должна быть светлее", "Спальня должна быть темнее", False),
    ("厨房应该明亮", "卧室应该柔和", False),
    ("Кухня должна быть светлее", "Кухня должна быть темнее", True),
    ("Replies should be short", "Answers should be detailed", True),
    ("Маша старше Лены", "Лена старше Маши", True),
    ("Маша старше Лены", "Лена младше Маши", False),
    ("Любит чай и кофе больше всего", "Больше всего любит кофе и чай", False),
    ("Проще ехать поездом через Казань", "Через Казань проще ехать поездом", False),
    ("Поездом быстрее ехать через Казань", "Через Казань быстрее ехать поездом", False),
    ("The oak is taller than the birch", "The birch is shorter than the oak", False),
    ("Чай лучше кофе", "Кофе хуже чая", False),
    ("Tea is cheaper than coffee", "Coffee is not more expensive than tea", True),
    ("Чай дешевле кофе", "Кофе не дороже чая", True),
    ("火车比飞机便宜", "飞机不比火车贵", True),
    ("茶比咖啡好", "咖啡比茶差", False),
    ("The oak is taller than the birch", "The oak is shorter than the birch", True),
    ("Чай лучше кофе", "Кофе лучше чая", True),
    ("茶比咖啡好", "咖啡比茶好", True),
])  # fmt: skip
def test_two_ends_of_a_scale_are_a_reversal_of_one_subject(
    tmp_path: Path, older: str, newer: str, is_reversed: bool
) -> None:
    """And of two comparisons the one that holds the same against the same in the other order, or from the other end."""
    pages = {"memory/2025-11-10.md": f"- O @Anna: {older}\n", "memory/2025-11-20.md": f"- O @Anna: {newer}\n"}
    memory = memory_with(tmp_path, pages=pages)
    assert any(each.kind in ("reversed", "replaced") for each in memory.review()) is is_reversed
    assert any(hit.perhaps_superseded_by for hit in memory.recall(older).hits) is is_reversed


@pytest.mark.parametrize(("slot", "plain", "other"), [
    ("PostgreSQL", "We switched to MongoDB", ("Tea is better than coffee", "Coffee is better than tea")),
    ("PostgreSQL", "решили переходить на MongoDB", ("Чай лучше кофе", "Кофе лучше чая")),
    ("PostgreSQL", "我们要换成MongoDB了", ("茶比咖啡好", "咖啡比茶好")),
])  # fmt: skip
def test_what_replaces_the_value_of_a_slot_in_words_is_asked_first(
    tmp_path: Path, slot: str, plain: str, other: tuple[str, str]
) -> None:
    pages = {"memory/2025-11-10.md": f"- W(key=db) @Atlas: {slot}\n- O @Atlas: {other[0]}\n"}
    pages |= {"memory/2025-11-20.md": f"- W @Atlas: {plain}\n", "memory/2025-11-28.md": f"- O @Atlas: {other[1]}\n"}
    first, second = memory_with(tmp_path, pages=pages).review()
    assert [side.content for side in first.sides] == [slot, plain] and second.kind == "reversed"


@pytest.mark.parametrize(("plan", "over"), [
    ("Trip to Porto is planned for 12 November", "The trip to Porto is cancelled"),
    ("Поездка в Порту намечена на 12 ноября", "Поездка в Порту отменена"), ("计划11月12日去波尔图", "波尔图之行取消了"),
])  # fmt: skip
def test_of_a_plan_that_was_called_off_long_ago_is_asked_whether_it_was(tmp_path: Path, plan: str, over: str) -> None:
    pages = {"memory/2025-06-02.md": f"- W @小丹: {plan}\n", "memory/2025-07-01.md": f"- W @小丹: {over}\n"}
    memory = memory_with(tmp_path, pages=pages)
    (question,) = memory.review()
    assert [side.content for side in question.sides] == [plan, over]
    memory.answer(question.id, "n")
    assert [each.kind for each in memory.review()] == ["due"]


@pytest.mark.parametrize(("older", "newer"), [
    ("Likes early meetings", "No longer likes early meetings"), ("Любит ранние встречи", "Больше не любит ранние встречи"),
    ("喜欢早上开会", "不再喜欢早上开会"),
])  # fmt: skip
def test_where_reflect_never_ran_a_certain_reversal_is_asked(tmp_path: Path, older: str, newer: str) -> None:
    """Recall marks it: without a question the mark would stay for ever. The page that `init` makes holds no belief."""
    pages = {DAY: f"- O @Anna: {older}\n", "memory/2025-11-25.md": f"- O @Anna: {newer}\n"}
    memory = memory_with(tmp_path, pages=pages | {"bank/opinions.md": "# Opinions\n\nBeliefs with their evidence.\n"})
    (question,) = memory.review()
    memory.answer(question.id, "n")
    assert not memory.review() and not any(hit.perhaps_superseded_by for hit in memory.recall(older).hits)
    memory.reflect()
    assert [belief.over for belief in memory.beliefs()] == [None, None]


@pytest.mark.parametrize("key", "ybon")
@pytest.mark.parametrize("is_reflected", [True, False])
@pytest.mark.parametrize(("older", "newer"), [
    ("Tabs are better than spaces", "Spaces are better than tabs"), ("Любит джаз", "Больше не любит джаз"),
    ("海报应该更亮", "海报应该更素净"),
])  # fmt: skip
def test_an_answer_about_opinions_holds_for_all_tellings(
    tmp_path: Path, older: str, newer: str, is_reflected: bool, key: str
) -> None:
    """Of nobody else; recall, review and reflect hear it."""
    told = {f"memory/2025-11-{day}.md": f"- O @Anna: {said}\n" for day, said in ((10, older), (12, older), (14, newer))}
    told |= {"memory/2025-11-16.md": f"- O @Anna: {newer}\n- O @Bob: {older}\n"}
    memory = memory_with(tmp_path, pages=told)
    if is_reflected and "джаз" not in older:  # of which reflect is certain
        memory.reflect()
    memory.answer(asked(memory, "reversed" if "джаз" not in older else "replaced").id, key)
    for _ in range(2):
        hits = [hit for hit in memory.recall(older).hits if hit.kind is Kind.OPINION]
        assert not memory.review()
        over = {(hit.entities, hit.content): bool(hit.superseded_by) for hit in hits}
        assert over == {(("Anna",), older): key == "y", (("Anna",), newer): key == "o", (("Bob",), older): False}
        memory.reflect()
    assert not any(belief.questioned for belief in memory.beliefs())


@pytest.mark.parametrize(("older", "newer"), [
    ("Tea is nicer than rum", "Rum is nicer than tea"), ("Чай лучше кофе", "Кофе лучше чая"), ("茶比酒好喝", "酒比茶好喝"),
])  # fmt: skip
def test_after_no_to_all_questions_no_mark_stays(tmp_path: Path, older: str, newer: str) -> None:
    told = (("02", older), ("05", newer), ("09", older), ("12", newer))
    memory = memory_with(tmp_path, pages={f"memory/2025-11-{day}.md": f"- O @Anna: {said}\n" for day, said in told})
    for _ in range(2):  # one for each order of the two
        memory.answer(memory.review()[0].id, "n")
    assert not memory.review() and not any(hit.perhaps_superseded_by for hit in memory.recall(older).hits)


@pytest.mark.parametrize("newer", ["Spaces are better than tabs", "Пробелы лучше табов", "空格比制表符好"])
def test_an_answer_leaves_an_opinion_of_another_time(tmp_path: Path, newer: str) -> None:
    older = {"S": "Tabs are better than spaces", "П": "Табы лучше пробелов", "空": "制表符比空格好"}[newer[0]]
    told = {"05": f"O(t=2020-01..2021-12) @Anna: {newer} ^timed", "10": f"O @Anna: {older}", "12": f"O @Anna: {newer}"}
    memory = memory_with(tmp_path, pages={f"memory/2025-11-{day}.md": f"- {line}\n" for day, line in told.items()})
    memory.answer(asked(memory, "reversed").id, "o")
    logs = {page.name: page.read_text("utf-8") for page in (tmp_path / "memory").glob("*.md")}
    assert sum("corrects=" in text for text in logs.values()) == 1
    assert [name for name, text in logs.items() if "timed" in text] == ["2025-11-05.md"]
