"""What retain offers to whoever writes a line: the earlier ones that it may replace, answered by id and asked of nobody else."""

from __future__ import annotations

import json
import os
import threading
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from calls import http, mcp
from counting import calls
from face_helpers import call, memory_on, write_pages
from store_helpers import table

from memctl.errors import NothingFound, Refused
from memctl.review.question import Question

DAY, TODAY = "memory/2025-11-20.md", date(2025, 11, 27)
MOVED = {
    "en": ("Vera", "Lives in a flat in Berlin", "Packed up her flat and is at home in Hamburg now"),
    "ru": ("Вера", "Живёт в Берлине, снимает квартиру", "Собрала вещи, новая квартира в Гамбурге"),
    "zh": ("小薇", "住在柏林的一套公寓", "收拾好了公寓，现在家在汉堡"),
}
PAIRS = Path(__file__).parents[1] / "data/relations/pairs.jsonl"
OTHERS = (
    "Plays the cello",
    "Рисует акварелью",
    "喜欢喝茶",
    "Takes the tram to work",
    "Is allergic to nuts",
    "Reads a lot",
)


class Place:
    """A memory, as calls of HTTP and MCP ask it."""

    def __init__(self, folder: Path, text: str) -> None:
        self.root = folder
        self.memory = memory_on(write_pages(folder, {DAY: text, "memory.md": "# Memory\n"}), TODAY)

    def near(self, text: str, **given: Any) -> tuple[Question, ...]:
        """What is offered for a fact that is written now."""
        (found,) = self.memory.near(self.memory.retain(text, **given))
        return found

    def older(self, text: str, **given: Any) -> list[str]:
        """The lines that are offered for a fact."""
        return [each.sides[0].content for each in self.near(text, **given)]


def lines(name: str, *texts: str) -> str:
    return "".join(f"- W @{name}: {text}\n" for text in texts)


@pytest.mark.parametrize("lang", MOVED)
def test_the_older_line_is_offered_first_and_waits_for_nobody(tmp_path: Path, lang: str) -> None:
    name, old, new = MOVED[lang]
    place = Place(
        tmp_path, lines(name, *OTHERS, old) + lines("Somebody", "Lives in another flat in Berlin, 公寓, квартира")
    )
    found = place.near(new, about=name)
    assert found[0].sides[0].content == old and found[0].is_telling and len(found) == 3
    assert {each.sides[0].entities for each in found} == {(name,)}
    assert "wait" not in place.memory.context().text
    assert not {each.id for each in place.memory.review()} & {each.id for each in found[1:]}
    place.memory.answer(found[0].id, "y", said_by="agent")
    hits = {hit.content: hit for hit in place.memory.recall(old).hits}
    assert hits[old].superseded_by == hits[new].ref
    assert old not in place.older(f"{new}!", about=name)


NOTES = [
    ("Boat", "The engine is a Yanmar.", "The Yanmar was replaced by a Volvo", "The Yanmar is loud. It smokes."),
    ("Аня", "Не ест мясо.", "Аня снова ест мясо", "Аня ест мясо. Она повар."), ("小林", "住在上海。", "小林搬到杭州了", "喜欢上海的雨。"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "old", "new", "other"), NOTES)
def test_a_sentence_of_the_note_of_that_name_is_offered(
    tmp_path: Path, name: str, old: str, new: str, other: str
) -> None:
    """It stood there before the line; a paragraph of several sentences says more than what is replaced, and is not offered."""
    place = Place(tmp_path, lines("Vera", *OTHERS))
    write_pages(tmp_path, {f"People/{name}.md": f"# {name}\n\n{old}\n\n{other}\n", "Else.md": f"{old} {name}\n"})
    (found,) = place.near(new, about=name)
    assert (found.sides[0].content, found.sides[0].source.path) == (old, f"People/{name}.md")
    place.memory.answer(found.id, "y")
    assert {hit.content: hit for hit in place.memory.recall(old, per_page=0).hits}[old].superseded_by


@pytest.mark.parametrize("key", ["b", "n", "o"])
def test_what_was_answered_is_not_offered_again(tmp_path: Path, key: str) -> None:
    place = Place(tmp_path, lines("Vera", *OTHERS, MOVED["en"][1]))
    done = place.memory.retain(MOVED["en"][2], about="Vera")
    first = place.memory.near(done)[0][0]
    place.memory.answer(first.id, key)
    assert first.id not in {each.id for each in place.memory.near(done)[0]}
    with pytest.raises(Refused, match="settled"):
        place.memory.answer(first.id, "y")


def test_several_facts_in_a_row_can_all_be_answered(tmp_path: Path) -> None:
    """An agent writes three facts, two of them at once, and then answers."""
    place = Place(tmp_path, "".join(lines(name, old) for name, old, _ in MOVED.values()))
    found: list[Question] = []
    jobs = [
        threading.Thread(target=lambda name=name, new=new: found.extend(Place.near(place, new, about=name)))
        for name, _, new in MOVED.values()
    ]
    for job in jobs:
        job.start()
    for job in jobs:
        job.join()
    assert len(found) == 3
    for each in found:
        assert place.memory.answer(each.id, "y").citation


def test_offers_end_with_later_ones(tmp_path: Path) -> None:
    place = Place(tmp_path, lines("Vera", "Sings alto", "Keeps bees"))
    first = place.near("Has a house by the sea", about="Vera")[-1]
    for number in range(11):
        place.near(f"Bought {number} hives", about="Vera")
    with pytest.raises(NothingFound):
        place.memory.answer(first.id, "y")


@pytest.mark.parametrize(
    ("state", "plan", "event"),
    [
        ("Rents a flat in Berlin", "Will look for a flat in Hamburg", "Painted the flat in Berlin"),
        ("Снимает квартиру в Берлине", "Собирается купить квартиру", "Красила квартиру в Берлине"),
        ("在柏林租公寓", "计划去汉堡看公寓", "粉刷了柏林的公寓"),
    ],
)
def test_a_state_stays_beside_a_plan_and_what_happened(tmp_path: Path, state: str, plan: str, event: str) -> None:
    place = Place(tmp_path, lines("Vera", state))
    assert place.older(f"W @Vera: {plan}") == place.older(f"B @Vera: {event}") == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Likes tea", "Likes hills"), ("Insurance runs out in March", "The tickets for March are in the drawer"),
        ("Любит чай", "Любит горы"), ("Кот теперь ест рыбу", "Ключ теперь у сестры"), ("40 стульев в сарае", "Автобус 40 идёт к бассейну"),
        ("喜欢喝茶", "喜欢爬山"), ("现在钥匙在抽屉", "现在猫只吃罐头"), ("40 把椅子在仓库", "40 路车到泳池"),
    ],
)  # fmt: skip
def test_what_is_said_of_anything_is_nothing_shared(tmp_path: Path, one: str, other: str) -> None:
    """That one likes it, that it is so now, a month, a number."""
    place = Place(tmp_path, lines("Vera", "Sings alto", one))
    assert not any(each.is_telling for each in place.near(f"W @Vera: {other}"))


LEFT_OUT = {
    "from outside": "- W(src=web) @Vera: Lives in a flat in Berlin\n",
    "over": "- W(until=2025-11-21) @Vera: Lives in a flat in Berlin\n",
    "sealed": "- W(sealed) @Vera: (sealed)\n",
    "of another": "- W @Anna: Lives in a flat in Berlin\n",
    "of nobody": "- W: Lives in a flat in Berlin\n",
    "the same": "- W @Vera: Packed up her flat, is at home in Hamburg\n",
    "an attempt": "- B(outcome=fail) @Vera: Packed up the flat, Hamburg was cancelled\n",
    "told later": "",
}


@pytest.mark.parametrize("what", LEFT_OUT)
def test_what_cannot_give_way_is_not_offered(tmp_path: Path, what: str) -> None:
    place = Place(tmp_path, LEFT_OUT[what] or "- W @Anna: Sings\n")
    if not LEFT_OUT[what]:
        place.memory.retain("Lives in a flat in Berlin", about="Vera", day="2025-11-28")
    assert place.older("Packed up her flat, is at home in Hamburg", about="Vera") == []


@pytest.mark.parametrize("mark", ["supersedes", "corrects", "supports", "against"])
def test_a_line_that_names_another_is_offered_none(tmp_path: Path, mark: str) -> None:
    place = Place(tmp_path, "- O(0.8) @Vera: Prefers a flat in Berlin ^flat\n")
    assert place.older("A flat in Berlin it is", about="Vera", **{mark: "flat"}) == []
    assert place.older("A flat in Hamburg it is", about="Vera")


def test_a_slot_says_itself_what_it_replaces(tmp_path: Path) -> None:
    place = Place(tmp_path, "- W(key=db) @Atlas: The database is MySQL\n- W @Atlas: Backs the database up at night\n")
    assert place.older("The database is PostgreSQL", about="Atlas", key="db") == []
    assert "Backs the database up at night" in place.older("Moved the backup of the database to noon", about="Atlas")
    two = Place(tmp_path / "two", "- W(key=client) @Atlas: The main client is Nordwind\n")
    assert two.older("The main client now pays 50 euros", about="Atlas", key="rate") == [*two.memory.review()] == []


def test_nobody_named_means_lines_of_nobody_and_who_stands_in_the_text(tmp_path: Path) -> None:
    place = Place(
        tmp_path,
        "- W: Rents a flat by the park\n- W(key=flat) @Peter: Rents a flat\n- W(key=flat) @Olga: Rents a flat\n",
    )
    assert set(place.older("Peter gave the flat back")) == {"Rents a flat by the park", "Rents a flat"}
    assert place.older("The flat went to somebody else")[-1] == "Rents a flat by the park"


def test_what_is_no_fact_of_its_own_offers_nothing(tmp_path: Path) -> None:
    """From outside, a dry run, what stood there already, a settled question, and more facts than anybody reads."""
    place, new = Place(tmp_path, lines("Vera", MOVED["en"][1])), MOVED["en"][2]
    assert place.older(new, about="Vera", source="web") == place.older(new, about="Vera", dry_run=True) == []
    assert place.older(new, about="Vera") and place.older(new, about="Vera") == []
    many = [f"W @Vera: Has flat number {number}" for number in range(11)]
    assert place.memory.near(place.memory.retain(many)) == ((),) * 11
    assert any(place.memory.near(place.memory.retain([f"{each} now" for each in many[:10]])))


@pytest.mark.parametrize("change", ["Lives in a flat in Bonn", ""])
def test_a_line_that_changed_is_not_answered_about(tmp_path: Path, change: str) -> None:
    place = Place(tmp_path, lines("Vera", "Sings", "Lives in a flat in Berlin"))
    (first, *_) = place.near(MOVED["en"][2], about="Vera")
    text = (tmp_path / DAY).read_text()
    (tmp_path / DAY).write_text(
        text.replace("- W @Vera: Lives in a flat in Berlin", f"- W @Vera: {change}" if change else "")
    )
    with pytest.raises(NothingFound):
        place.memory.answer(first.id, "y")


@pytest.mark.parametrize("broken", ["offered.json", "offered.lock"])
def test_trouble_with_offers_is_none_with_the_fact(tmp_path: Path, broken: str) -> None:
    place = Place(tmp_path, lines("Vera", MOVED["en"][1]))
    (tmp_path / ".memory" / broken).mkdir(parents=True)
    done = place.memory.retain(MOVED["en"][2], about="Vera")
    assert place.memory.near(done) == ((),) and done.warnings == ()
    assert MOVED["en"][2] in (tmp_path / done.kept[0].citation.path).read_text()


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_folder_that_only_reads_refuses_the_fact_alone(tmp_path: Path) -> None:
    place = Place(tmp_path, lines("Vera", MOVED["en"][1]))
    (tmp_path / "memory").chmod(0o500)
    done = call(["retain", MOVED["en"][2], "--about", "Vera"], tmp_path)
    (tmp_path / "memory").chmod(0o700)
    assert done.code and "may replace" not in done.both and place.memory.review() == ()


# -- the faces --------------------------------------------------------------------------------------------------------


def test_the_command_line_tells_it_beside_the_answer(tmp_path: Path) -> None:
    Place(tmp_path, lines("Vera", *OTHERS[:4], MOVED["en"][1]))
    told = call(["retain", MOVED["en"][2], "--about", "Vera"], tmp_path)
    assert len(told.out.splitlines()) == 1 and told.err.count("may replace") == 1 and "Berlin" in told.err
    ref = told.err.partition("memctl review ")[2].split()[0]
    assert call(["review", ref, "y"], tmp_path).code == 0
    assert "perhaps" not in call(["recall", "Lives in a flat"], tmp_path).out
    assert call(["undo"], tmp_path).code == 0 and "perhaps" in call(["recall", "Lives in a flat"], tmp_path).out


def test_who_is_quiet_or_writes_many_lines_hears_nothing(tmp_path: Path) -> None:
    Place(tmp_path, lines("Vera", MOVED["en"][1]))
    many = "".join(f"W @Vera: Has flat number {number}\n" for number in range(11))
    assert "may replace" not in call(["-q", "retain", "Left her flat", "--about", "Vera"], tmp_path).err
    assert "may replace" not in call(["retain", "-"], tmp_path, stdin=many).err
    told = call(["retain", "-"], tmp_path, stdin="W @Vera: Her flat is sold\nW @Vera: Her flat is empty\n").err
    assert "may replace" in told and "sold" not in told  # what is written at once is not offered


def test_json_says_all_three(tmp_path: Path) -> None:
    Place(tmp_path, lines("Vera", *OTHERS[:4], MOVED["en"][1]))
    told = json.loads(call(["retain", MOVED["en"][2], "--about", "Vera", "--json"], tmp_path).out)
    assert told["near"][0]["content"] == MOVED["en"][1] and len(told["near"]) == 3
    assert told["near"][0]["newer"] == told["kept"][0]["id"]
    assert told["near"][0]["reason"] and not told["near"][2]["reason"]
    answered = json.loads(call(["review", told["near"][0]["question"], "b", "--json"], tmp_path).out)
    assert answered["option"] == "b"


@pytest.mark.parametrize("lang", MOVED)
def test_servers_offer_it_and_take_the_answer(tmp_path: Path, lang: str) -> None:
    name, old, new = MOVED[lang]
    place = Place(tmp_path, lines(name, *OTHERS, old))
    told = mcp("retain", text=new, about=[name])(place)
    first = told.structured["near"][0]
    assert first["content"] == old and f"may replace {first['question']} 2025-11-20 “{old}”" in told.text
    assert (
        told.text.index("<memory-") < told.text.index("may replace") and mcp("review")(place).structured["waiting"] <= 1
    )
    assert mcp("answer", id=first["question"], option="y")(place).structured["option"] == "y"
    sent = http("/v1/retain", text=f"{OTHERS[0]} no more, {OTHERS[1]}, {OTHERS[2]}", about=[name])(place)
    assert http("/v1/answer", id=sent["near"][0]["question"], option="b")(place)["option"] == "b"
    assert "near" not in http("/store", text=f"W @{name}: {new}?")(place)


def test_offers_that_were_damaged_are_none(tmp_path: Path) -> None:
    place = Place(tmp_path, lines("Vera", MOVED["en"][1]))
    (first,) = place.near(MOVED["en"][2], about="Vera")
    (tmp_path / ".memory/offered.json").write_text(f'[["{first.id}", "replaced", [1, 2], "x", true]]')
    with pytest.raises(NothingFound):
        place.memory.answer(first.id, "y")


def test_ordinary_lines_that_name_nobody_are_offered_little(tmp_path: Path) -> None:
    text = "- W: Bought bread on the way home\n- W: Rents two rooms by the park\n- W: Keeps bees\n"
    place = Place(tmp_path, text * 2)
    assert not any(each.is_telling for each in place.near("The office moved to Kiel"))
    assert any(each.is_telling for each in place.near("The bees are sold"))


def test_others_are_offered_nothing_private(tmp_path: Path) -> None:
    """Nor can they answer what the owner was offered about a private line."""
    text = "- W(private) @Vera: Lives in a flat in Berlin\n- W @Vera: Sings in a flat\n"
    place = Place(tmp_path, text)
    told = mcp("retain", text="Gave up her flat in Berlin", about=["Vera"])(place)
    sent = http("/v1/retain", text="Gave back the flat in Berlin", about=["Vera"])(place)
    assert "Lives" not in told.text + json.dumps([told.structured, sent]) and "Sings" in told.text
    own = next(each for each in place.near("Sold the flat in Berlin", about="Vera") if each.sides[0].private)
    with pytest.raises(NothingFound):
        http("/v1/answer", id=own.id, option="y")(place)
    assert "private" in place.memory.answer(own.id, "y").line


def test_a_name_on_many_lines_costs_no_more(tmp_path: Path) -> None:
    def work(count: int) -> int:
        folder = tmp_path / str(count)
        place = Place(folder, lines("Vera", *(f"Carried box {number} to the flat" for number in range(count))))
        done = place.memory.retain("Left the flat", about="Vera")
        place.memory.near(done)
        return calls(lambda: place.memory.near(done))

    assert work(3_000) < 1.2 * work(1_000)


@pytest.mark.parametrize("pair", [*map(json.loads, PAIRS.read_text("utf-8").splitlines())])
def test_a_wider_wording_closes_nothing_and_asks(tmp_path: Path, pair: dict[str, str]) -> None:
    """The slot keeps its value, marked; the line is offered it, and review asks; an answer lets the other fill the slot."""
    place = Place(tmp_path, f"- W: {pair['older']}\n")
    (offer,) = place.near(pair["newer"], kind=pair.get("kind", "W"))
    assert offer.sides[0].content == pair["older"]
    (held,) = place.memory.facts()
    assert (held.content, held.key, held.perhaps_superseded_by) == (pair["older"], pair["key"], offer.sides[1].ref)
    assert [each.id for each in place.memory.review() if each.kind == "replaced"] == [offer.id]
    place.memory.answer(offer.id, "y")
    assert [hit.content for hit in place.memory.facts()] == [pair["newer"]]
    assert not [each for each in place.memory.review() if each.kind == "replaced"]


@pytest.mark.parametrize(("older", "newer"), table("of-another-time"))
def test_what_was_long_ago_or_is_so_at_times_is_no_other_value(tmp_path: Path, older: str, newer: str) -> None:
    place = Place(tmp_path, f"- W: {newer}\n")
    assert not place.memory.facts()
    (tmp_path / DAY).rename(tmp_path / "memory/2025-11-27.md")
    write_pages(tmp_path, {DAY: f"- W: {older}\n"})
    assert [(hit.content, hit.perhaps_superseded_by) for hit in place.memory.facts()] == [(older, None)]
    assert not place.memory.review()


def test_the_owner_by_name_is_whom_lines_without_one_are_about(tmp_path: Path) -> None:
    place = Place(tmp_path, "- W: My name is Nora Feld\n- W: I go to choir on Wednesdays ^old\n")
    place.near("The choir has moved to Thursdays", kind="W", about="Nora")
    assert [each.about[0] for each in place.memory.review() if each.kind == "replaced"] == ["old"]


@pytest.mark.parametrize(("older", "newer"), table("past-in-a-side-clause"))
def test_a_time_in_another_clause_is_not_that_of_the_slot(tmp_path: Path, older: str, newer: str) -> None:
    """A state with an old event beside it fills its slot; a change with one is still asked about."""
    place = Place(tmp_path, f"- W: {older}\n")
    assert [hit.content for hit in place.memory.facts()] == [older]
    assert not newer or place.near(newer)
