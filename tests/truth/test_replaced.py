"""What a newer line replaces in words: the judge of two statements, and what recall, context and servers make of a pair."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from face_helpers import TODAY, ask, call, memory_on, write_pages
from store_helpers import recorded, table

from memctl.context.context import ContextOptions, context
from memctl.facts import Kind
from memctl.index.index import Index
from memctl.index.open_memory import OpenMemory
from memctl.index.queries.entries import by_refs
from memctl.judgement import RULES, Tier
from memctl.language.analyzer import terms
from memctl.notes.workspace import Workspace
from memctl.recall.query import read_query
from memctl.recall.recall import recall
from memctl.truth.change import Statement, judge_change
from memctl.truth.judge import judge
from memctl.truth.replaced import may_replace, orders, replaced_since

DAYS = date(2025, 10, 1), date(2025, 11, 1)


def judged(one: str, other: str, kind: Kind = Kind.NOTE, names: str = "", later: Kind | None = None) -> str:
    """The rule by which the newer of two lines (of another kind where `later` is given) replaces the older; empty for none."""
    about = frozenset(terms(names))
    sides = (one, kind, DAYS[0]), (other, later or kind, DAYS[1])
    found = judge_change(*(Statement(text, about, its, day) for text, its, day in sides))
    return found.judgement.rule if found else ""


@pytest.mark.parametrize(("one", "other", "rule"), table("lines-replaced"))
def test_a_change_is_seen_in_plain_words(one: str, other: str, rule: str) -> None:
    assert judged(one, other) == rule
    assert judged(one, one) == ""


PAIRED = Path(__file__).parents[1] / "data/judged/changes.txt"
HOW = {
    "notes": (Kind.NOTE, "", DAYS), "facts": (Kind.WORLD, "", DAYS), "of Anna": (Kind.WORLD, "anna", DAYS),
    "of one day": (Kind.WORLD, "anna", (DAYS[0], DAYS[0])),
}  # fmt: skip


def test_what_is_made_of_two_lines(update_corpus: bool) -> None:
    """As notes, as facts, told on one day or two, and with words that tell little: the rule, its reason, and how near they are."""
    found = ""
    for one, other in table("../judged/changes"):
        found += f"{one} | {other}\n"
        for how, (kind, name, days) in HOW.items():
            sides = (
                Statement(text, frozenset(name.split()), kind, day)
                for text, day in zip((one, other), days, strict=True)
            )
            older, newer = sides
            judged_at: dict[str, list[float]] = {}
            for weight in (1.0, 0.55, 0.375, 0.275, 0.25, 0.1875):
                if made := judge_change(older, newer, lambda _: weight):  # noqa: B023
                    said = made.judgement
                    how_near = f"{said.rule}, {said.reason}: {said.verdict} {made.nearness:.4f}"
                    judged_at.setdefault(how_near, []).append(weight)
            found += "".join(f"  {how} {' '.join(map(str, at))}: {each}\n" for each, at in judged_at.items())
    assert found == recorded(PAIRED, found, update_corpus)


@pytest.mark.parametrize(("why", "one", "other"), table("lines-that-both-hold"))
def test_lines_that_both_hold_are_left_alone(why: str, one: str, other: str) -> None:
    assert judged(one, other) == "", why
    assert judged(one, other, Kind.WORLD, "Anna") == "", why


@pytest.mark.parametrize(("one", "other"), table("done-once"))
def test_what_was_done_once_changes_no_number(one: str, other: str) -> None:
    """In a conversation, and where it is told as what happened; told as a fact, it does."""
    kinds = (Kind.NOTE, None), (Kind.WORLD, Kind.EXPERIENCE), (Kind.WORLD, Kind.WORLD)
    assert [judged(one, other, kind, "Anna", later) for kind, later in kinds] == ["", "", "replaced: value"]


@pytest.mark.parametrize(("one", "other"), table("told-by-a-chat"))
def test_a_move_that_a_chat_tells_is_asked_about(one: str, other: str) -> None:
    assert judged(one, other, Kind.WORLD, "", Kind.EXPERIENCE) == "replaced: change"


@pytest.mark.parametrize(("little", "much", "newer"), table("brief-notes-that-change"))
def test_a_word_of_change_beside_one_shared_word_is_enough_in_brief_notes(little: str, much: str, newer: str) -> None:
    assert [judged(older, newer) for older in (little, much)] == ["replaced: change", ""]


@pytest.mark.parametrize(("who", "older", "of_owner", "of_them"), table("lines-without-a-name"))
def test_a_line_without_a_name_is_the_owners_unless_its_text_says_whose(
    tmp_path: Path, who: str, older: str, of_owner: str, of_them: str
) -> None:
    for newer, by in ((of_owner, None), (of_them, "new")):
        logs = {"memory/2025-11-01.md": f"- W @{who}: {older} ^old\n", "memory/2025-11-20.md": f"- W: {newer} ^new\n"}
        (held,) = memory_on(write_pages(tmp_path / str(by), logs), TODAY).facts()
        assert held.perhaps_superseded_by == by


@pytest.mark.parametrize(("one", "other"), table("opinions-guessed"))
def test_an_opinion_is_changed_by_a_guess_and_a_fact_is_not(one: str, other: str) -> None:
    rules = [judged(one, other, kind, "Anna") for kind in (Kind.OPINION, Kind.WORLD)]
    assert rules == ["replaced: change", "replaced: hearsay"]


@pytest.mark.parametrize("line", ["The plaster takes 1:{} litres.", "В раствор идёт 1:{} литра.", "灰浆是1:{}升。"])
def test_a_ratio_is_a_number(line: str) -> None:
    assert judged(line.format(3), line.format(4)) == "replaced: value"


@pytest.mark.parametrize(("one", "other"), table("facts-asked-about"))
def test_facts_that_share_a_telling_word_are_asked_about(one: str, other: str) -> None:
    """Of one entity, in other words: how the old state ended, another value, another place."""
    rule = judged(one, other, Kind.WORLD, "Anna")
    assert rule and RULES[rule].tier_from() is Tier.ASKED
    assert judged(one, one, Kind.WORLD, "Anna") == ""


@pytest.mark.parametrize(("asked", "one", "other"), table("one-shared-word"))
def test_one_shared_word_asks_where_both_begin_with_it_or_say_little_else(
    tmp_path: Path, asked: str, one: str, other: str
) -> None:
    told = {"2025-11-01": f"W @Studio: {one}", "2025-11-02": "W @Studio: Rain.", "2025-11-20": f"W @Studio: {other}"}
    memory = memory_on(write_pages(tmp_path, {f"memory/{day}.md": f"- {said}\n" for day, said in told.items()}), TODAY)
    assert [question.kind for question in memory.review()] == ["replaced"] * (asked == "yes")


@pytest.mark.parametrize(("one", "other"), table("facts-ended-or-arranged"))
def test_what_became_of_the_old_tells_of_a_change(one: str, other: str) -> None:
    """It stopped, was raised, was agreed anew; and whom one moves in with is not who moves."""
    assert judged(one, other, Kind.WORLD, "Anna") in ("replaced: change", "replaced: topic", "replaced: value")


@pytest.mark.parametrize(("one", "other", "replacing"), table("new-parts"))
def test_what_is_new_in_a_thing_is_not_the_thing(one: str, other: str, replacing: str) -> None:
    """A shared name with a digit says whom both are about, as any name does; what is new must be what the older one tells of."""
    assert judged(one, other, Kind.WORLD, "Nightjar") == ""
    assert judged(one, replacing, Kind.WORLD, "Nightjar") == "replaced: change"


def test_hearsay_asks_and_never_decides() -> None:
    rule = judged("Works at the mill.", "Somebody said Anna no longer works at the mill.", Kind.WORLD, "Anna")
    assert rule == "replaced: hearsay"
    assert RULES[rule].tier_from() is Tier.ASKED


def test_what_a_machine_explains_is_no_state() -> None:
    lines = ("**Assistant**: I drive an old Golf.", "**Assistant**: I sold the Golf.")
    assert judged(*lines) == ""
    assert judged(*(line.replace("Assistant", "Anna") for line in lines)) == "replaced: change"
    assert judged("**Anna**: I drive an old Golf.", "**Ben**: I sold the Golf.") == ""


# -- recall -----------------------------------------------------------------------------------------------------------


def told(root: Path, *lines: str) -> Workspace:
    """A workspace of logs: `10-03 text` is a line of 2025-10-03; facts (`W …`) stand under their own heading."""
    pages: dict[str, str] = {}
    for line in lines:
        day, _, said = line.partition(" ")
        head = "" if said[:2] not in ("W ", "W(", "S(") else "## Retain\n\n"
        pages[f"memory/2025-{day}.md"] = pages.get(f"memory/2025-{day}.md", f"# Log\n\n{head}") + f"- {said}\n"
    return write_pages(root, pages)


@pytest.mark.parametrize(("older", "newer", "question"), table("newer-first"))
def test_recall_shows_the_newer_line_first_and_marks_the_older(
    tmp_path: Path, older: str, newer: str, question: str
) -> None:
    """The newer one comes even where none of its words is asked for."""
    workspace = told(tmp_path, older, newer, "10-20 Watered the plants.", "10-21 Читал роман.", "10-22 下雨了。")
    one, other, *_ = ask(workspace, question).hits
    assert (one.ref, other.ref, other.perhaps_superseded_by) == ("bb", "aa", "bb")
    assert one.perhaps_superseded_by is None and other.superseded_by is None
    before = recall(memory_on(workspace), read_query(f"{question} as-of:2025-10-30", TODAY)).hits
    assert [(hit.ref, hit.perhaps_superseded_by) for hit in before if hit.ref == "aa"] == [("aa", None)]


@pytest.mark.parametrize(("first", "older", "newer", "question"), table("answered-again"))
def test_a_newer_line_stands_first_where_it_meets_half_of_what_the_older_meets_names_apart(
    tmp_path: Path, first: str, older: str, newer: str, question: str
) -> None:
    workspace = told(tmp_path, f"10-03 {older} ^aa", f"11-04 {newer} ^bb", "10-20 Rain.")
    write_pages(tmp_path, {f"bank/entities/{name}.md": f"# {name}\n" for name in ("Tom", "Таня", "小谭")})
    hits = ask(workspace, question).hits
    assert hits[0].ref == first
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    for page in (tmp_path / "memory").iterdir():  # the same in daily notes
        page.rename(tmp_path / "{2}.{1}.{0}.md".format(*page.stem.split("-")))
    assert ask(workspace, question).hits[0].ref == first


def test_of_one_day_the_line_that_tells_of_the_change_is_first(tmp_path: Path) -> None:
    lines = "11-04 W @Box: The box weighs 12 kilos ^aa", "11-04 W @Box: The box weighs 14 kilos now ^bb"
    hits = ask(told(tmp_path, *lines), "how many kilos does the box weigh: 12?").hits
    assert [(hit.ref, hit.perhaps_superseded_by) for hit in hits] == [("bb", None), ("aa", "bb")]


@pytest.mark.parametrize(("line", "later", "said"), table("what-does-not-hold"))
def test_every_face_says_the_same_of_what_does_not_hold(tmp_path: Path, line: str, later: str, said: str) -> None:
    told(tmp_path, f"10-03 {line}", f"11-04 {later}")
    (hit,) = (
        hit for hit in ask(Workspace(tmp_path), line.split(": ")[-1].removesuffix(" ^aa")).hits if hit.ref == "aa"
    )
    assert hit.marks == [said]
    assert f"[{said}]" in call(["recall", hit.content], tmp_path).out
    assert hit.standing in call(["act"], tmp_path, stdin=f'[SEARCH_MEMORY query="{hit.content}"]').out


@pytest.mark.parametrize(("line", "ends"), table("times-that-end"))
def test_only_a_time_that_is_an_end_ends_a_line(tmp_path: Path, line: str, ends: str) -> None:
    (hit,) = ask(told(tmp_path, f"10-03 {line}"), line.split(": ")[-1].removesuffix(" ^aa")).hits
    assert hit.standing == ends


def test_what_nobody_may_see_replaces_nothing_in_public(tmp_path: Path) -> None:
    workspace = told(tmp_path, "10-03 W @Anna: Has three dogs. ^aa", "11-04 W(private) @Anna: Has four dogs. ^bb")
    query = read_query("dogs", TODAY)
    hits = recall(memory_on(workspace).public(), type(query)(words=query.words)).hits
    assert [(hit.ref, hit.perhaps_superseded_by) for hit in hits] == [("aa", None)]


def test_a_context_never_shows_the_older_line_alone(tmp_path: Path) -> None:
    long = " ".join(f"word{n}" for n in range(400))
    workspace = told(tmp_path, "10-03 I drive an old Golf.", f"11-04 Sold the Golf. {long}", "11-05 It rained.")
    for budget in (300, 4_000):
        text = context(memory_on(workspace), "which Golf do I drive", ContextOptions(budget=budget)).recalled
        assert "an old Golf" not in text or "Sold the Golf" in text


@pytest.mark.parametrize("mark", ["src=web", "src=import:x"])
def test_a_line_from_outside_asks_and_orders_nothing(tmp_path: Path, mark: str) -> None:
    workspace = told(tmp_path, "10-03 W @Anna: Has three dogs. ^aa", f"11-04 W({mark}) @Anna: Has four dogs. ^bb")
    memory = memory_on(workspace)
    memory.run(lambda opened: opened.sync_for_read())
    (pair,) = memory.run(replaced_since)
    assert pair.judgement.tier is Tier.ASKED and not orders(pair)
    assert all(hit.perhaps_superseded_by is None for hit in ask(workspace, "dogs").hits)


@pytest.mark.parametrize("name", ["", "@Anna", "@Анна", "@安娜"])
def test_others_learn_nothing_from_a_value_that_they_guess(tmp_path: Path, name: str) -> None:
    """What pages show of a line before a private one is the same whether that repeats it or not."""
    for value, apart in ((value, apart) for value in ("Hull", "Bath") for apart in (True, False)):
        lines = f"10-03 W(key=city) {name}: Hull ^aa", f"11-04 W(private,key=city) {name}: {value} ^bb"
        memory = memory_on(told(tmp_path / f"{value}{apart}", *lines))
        memory.run(lambda opened: opened.sync_for_read())
        for whole in (True, False):
            rows, found = memory.run(
                lambda at: (rows := by_refs(at.index, ["aa"]), judge(at, rows, whole=whole, public=apart))  # noqa: B023
            )
            assert (found.validity[rows[0].id].replaced_by is not None) is (apart or value == "Bath")


@pytest.mark.parametrize(
    ("older", "newer"), [("Uses PostgreSQL", "Uses MongoDB now"), ("Взял PostgreSQL", "Взял MongoDB"), ("用 PostgreSQL", "不再用 PostgreSQL")]
)  # fmt: skip
def test_the_first_line_of_a_slot_may_replace_one_in_plain_words(tmp_path: Path, older: str, newer: str) -> None:
    """Its slot knows of no other version."""
    assert offered(told(tmp_path, f"10-03 W @Atlas: {older} ^aa", f"11-04 W(key=store) @Atlas: {newer} ^bb"))


def offered(workspace: Workspace) -> list[str]:
    """Why each earlier line is offered to the one with the id bb."""
    memory = memory_on(workspace)
    memory.run(lambda opened: opened.sync_for_read())
    found = memory.run(lambda at: may_replace(at, by_refs(at.index, ["bb"])[0]))
    return [pair.judgement.reason for pair in found]


@pytest.mark.parametrize(("state", "done", "best"), table("records-that-beat-a-state"))
def test_what_happened_takes_the_place_of_a_state_by_one_word_where_it_is_a_record(
    tmp_path: Path, state: str, done: str, best: str
) -> None:
    for newer, why in ((done, "one of few"), (best, "shared words")):
        assert offered(told(tmp_path / why, f"10-03 W @Vera: {state}", f"11-04 W @Vera: {newer} ^bb")) == [why]


@pytest.mark.parametrize("lines", table("alike-but-for-days-to-come"))
def test_lines_that_are_alike_but_for_days_to_come_both_hold(tmp_path: Path, lines: list[str]) -> None:
    for (one, other), rules in ((lines[:2], ["replaced: alike"]), (lines[2:], [])):
        memory = memory_on(told(tmp_path / str(rules), f"11-03 W @Vera: {one}", f"11-20 W @Vera: {other}"))
        memory.run(lambda opened: opened.sync_for_read())
        assert [pair.judgement.rule for pair in memory.run(replaced_since)] == rules


def test_a_line_may_name_several(tmp_path: Path) -> None:
    """All that it replaces and corrects are over; from each of them the others are found."""
    lines = [f"10-0{n} W @Anna: Bowl number {n} stands here ^b{n}" for n in range(1, 6)]
    lines += ["10-20 W(supersedes=b1,supersedes=b2,corrects=b3,corrects=b4) @Anna: One bowl is left ^bb"]
    lines += ["10-21 S(supersedes=b5,by=bb): The last bowl went too ^ss", "10-22 W(supersedes=bb) @Anna: None ^cc"]
    memory = memory_on(told(tmp_path, *lines))
    memory.run(lambda opened: opened.sync_for_read())

    def judged_from(ref: str) -> dict[str, tuple[str | None, bool]]:
        def job(opened: OpenMemory) -> dict[str, tuple[str | None, bool]]:
            found = judge(opened, by_refs(opened.index, [ref]))
            by = {
                i: found.entries[each.replaced_by].ref if each.replaced_by else None
                for i, each in found.validity.items()
            }
            return {found.entries[i].ref: (by[i], each.retracted) for i, each in found.validity.items()}

        return memory.run(job)

    expected = {"b1": ("bb", False), "b2": ("bb", False), "b3": ("bb", True), "b4": ("bb", True), "b5": ("bb", False)}
    expected |= {"bb": ("cc", False), "cc": (None, False), "ss": (None, False)}
    for ref in expected:
        found = judged_from(ref)
        assert found.items() <= expected.items() and found.keys() >= {ref, "b1", "b2", "b3", "b4", "bb", "cc"}


@pytest.mark.parametrize("begins", ["", "t=2026-02-01..,"])
def test_what_replaces_another_may_speak_of_a_day_to_come(tmp_path: Path, begins: str) -> None:
    """It has been told; what only disagrees must hold already."""
    for number, (kind, day) in enumerate((("replacement", "11-04"), ("conflict", "10-03"))):
        lines = "10-03 W @Anna: Has three dogs ^aa", f"{day} W({begins}c=1) @Anna: Has four dogs ^bb"
        memory = memory_on(told(tmp_path / str(number), *lines))
        memory.run(lambda opened: opened.sync_for_read())
        found = [pair.judgement.kind for pair in memory.run(replaced_since)]
        assert found == ([kind] if not begins or kind == "replacement" else [])


@pytest.mark.parametrize(("one", "other"), table("of-a-conversation"))
def test_of_a_conversation_each_kind_of_change_is_found(tmp_path: Path, one: str, other: str) -> None:
    memory = memory_on(told(tmp_path, f"10-03 **Anna**: {one}", f"11-04 **Anna**: {other}", "10-20 **Anna**: Rain."))
    memory.run(lambda opened: opened.sync_for_read())
    (pair,) = memory.run(replaced_since)
    assert (pair.older.day, pair.newer.day) == ("2025-10-03", "2025-11-04")


@pytest.mark.parametrize(("question", "stated", "near"), table("times-of-something-done"))
def test_a_time_of_something_done_for_it_is_not_when_it_is(
    tmp_path: Path, question: str, stated: str, near: str
) -> None:
    workspace = told(tmp_path, f"10-01 W {stated}", f"10-10 W {near}")
    first = ask(workspace, question).hits[0]
    assert first.content == stated.partition(": ")[2]
    assert first.perhaps_superseded_by is None


def test_the_work_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many lines tell of changes, recall asks the index a few times more, and reads a few lines."""
    asked: list[str] = []
    rows = Index.rows

    def counted(index: Index, sql: str, values: object = ()) -> object:
        asked.append(sql)
        return rows(index, sql, values)  # type: ignore[arg-type]

    counts = []
    for number in (100, 400):
        lines = [f"10-{1 + n % 28:02} I keep box{n} with lamps." for n in range(number)]
        lines += [f"11-{1 + n % 28:02} Moved box{n} with lamps to the attic." for n in range(number)]
        workspace = told(tmp_path / str(number), *lines)
        ask(workspace, "lamps")
        with monkeypatch.context() as patch:
            patch.setattr(Index, "rows", counted)
            asked.clear()
            ask(workspace, "box3 lamps")
            counts.append(len(asked))
    assert counts[1] <= counts[0] + 4


@pytest.mark.parametrize(
    ("older", "newer", "question"),
    [
        (
            "@Payments: is owned by Jonas Weber",
            "@Payments: Jonas Weber handed it over to Priya Nair",
            "Who owns Payments?",
        ),
        ("@小明: 住在杭州", "@小明: 搬家了，现在在苏州", "小明住在哪里？"),
    ],
)
def test_a_slot_never_stands_alone_where_a_line_without_one_tells_of_its_change(
    tmp_path: Path, older: str, newer: str, question: str
) -> None:
    workspace = told(tmp_path, f"10-05 W {older}", f"10-20 W {newer}")
    assert newer.partition(": ")[2] in memory_on(workspace).beside_prompt(question, 500, 3)
    first = ask(workspace, question).hits[0]
    assert newer.endswith(first.content)


@pytest.mark.parametrize(("plan", "over", "question"), [
    ("Trip to Porto is planned for 12 May", "The trip to Porto is cancelled", "when is the trip to Porto?"),
    ("Поездка в Порту намечена на 12 мая", "Поездка в Порту отменилась", "когда поездка в Порту?"),
    ("计划5月12日去波尔图", "波尔图之行取消了", "小丹什么时候去波尔图？"),
])  # fmt: skip
def test_what_cancels_a_plan_stands_above_it_though_the_plan_says_when(
    tmp_path: Path, plan: str, over: str, question: str
) -> None:
    pages = {"memory/2025-11-02.md": f"- W @小丹: {plan} ^aa\n", "memory/2025-11-10.md": f"- W @小丹: {over} ^bb\n"}
    first, second = memory_on(write_pages(tmp_path, pages)).recall(question).hits
    assert (first.ref, second.ref, second.perhaps_superseded_by) == ("bb", "aa", "bb")
