"""Conflicts and resolve: both sides cited, the rule named, settled by a line that survives the index."""

from __future__ import annotations

import itertools
import json
import shutil
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from face_helpers import TODAY, ask, call, fixture_copy, memory_on, snapshot, write_pages
from store_helpers import refusal, table

from memctl.conflicts.listing import Conflict, conflicts, resolve
from memctl.facts import Period
from memctl.ids import question_id
from memctl.index.index import Index
from memctl.notes.workspace import Workspace
from memctl.recall.lookup import get_fact


def told(root: Path, *lines: str) -> Workspace:
    """A workspace of logs: `11-03 W @X: text` is a line of 2025-11-03, `bank/x.md W: …` one of that page."""
    pages: dict[str, str] = {}
    for line in lines:
        place, _, fact = line.partition(" ")
        path = place if "/" in place or place.endswith(".md") else f"memory/2025-{place}.md"
        pages[path] = pages.get(path, "") + f"- {fact}\n"
    return write_pages(root, pages)


@pytest.fixture
def fish(tmp_path: Path) -> Workspace:
    """Two lines that disagree."""
    return told(tmp_path, "10-30 W @A: Eats fish. ^aa", "11-16 W @A: Does not eat fish. ^bb")


def found(workspace: Workspace, about: str | None = None) -> list[Conflict]:
    """What disagrees today, however long the index takes."""
    memory = memory_on(workspace, TODAY)
    memory.sync()
    return list(conflicts(memory, about))


def pairs(workspace: Workspace) -> set[frozenset[str]]:
    """The ids of every pair that disagrees."""
    return {frozenset(hit.ref for hit in conflict.sides) for conflict in found(workspace)}


AB = {frozenset(("aa", "bb"))}


# -- the fixture ------------------------------------------------------------------------------------------------------


def test_the_fixture_has_its_two_conflicts_and_no_other(tmp_path: Path) -> None:
    workspace = Workspace(fixture_copy(tmp_path))
    nets, sex = found(workspace)
    places = "memory/2025-11-18.md#L14 and memory/2025-11-18.md#L15"
    assert str(nets) == f"conflict: number: 11 nets against 12 nets: {places}"
    assert str(replace(nets, reason="")) == f"conflict: number: {places}"
    assert sex.about == ("Dumpling",)
    assert found(workspace, "K-417") == [sex]
    assert found(workspace, "Curlew") == []


# -- slots ------------------------------------------------------------------------------------------------------------

SAME_DAY = [
    ("11-03 W(key=city) @A: Lives in Berlin. ^aa", "11-03 W(key=city) @A: Lives in Leipzig. ^bb"),
    ("11-03 W @A: Lives in Berlin. ^aa", "11-03 W @A: A lives in Leipzig. ^bb"),
    ("11-03 W(key=город) @А: Живёт в Твери. ^aa", "11-03 W(key=город) @А: Живёт в Туле. ^bb"),
    ("11-03 W @А: Живёт в Твери. ^aa", "11-03 W @А: Живёт в Туле. ^bb"),
    ("11-03 W(key=城市) @晓: 住在南京。 ^aa", "11-03 W(key=城市) @晓: 住在无锡。 ^bb"),
    ("11-03 W @晓: 住在南京。 ^aa", "11-03 W @晓: 住在无锡。 ^bb"),
    ("11-03 W(key=phone) @A: Extension 311. ^aa", "11-03 W(key=phone) @A: Extension 402. ^bb"),
    ("11-03 W @A: Lives in Berlin. ^aa", "memory/2025-11-03-evening.md W @A: Lives in Leipzig. ^bb"),
]


@pytest.mark.parametrize("lines", SAME_DAY)
def test_two_values_on_one_day_disagree(tmp_path: Path, lines: tuple[str, str]) -> None:
    (conflict,) = found(told(tmp_path, *lines))
    assert {hit.ref for hit in conflict.sides} == {"aa", "bb"}
    assert (conflict.kind, conflict.rule) == ("conflict", "same slot, same day, other value")


@pytest.mark.parametrize("lines", table("versions-in-order"))
def test_what_time_or_words_put_in_order_does_not(tmp_path: Path, lines: list[str]) -> None:
    assert found(told(tmp_path, *lines)) == []


@pytest.mark.parametrize("name", ["Anna-Lee-Hill", "Анна-Ли", "安娜"])
def test_of_several_who_are_named_each_is_asked_for(tmp_path: Path, name: str) -> None:
    workspace = told(tmp_path, f"11-03 W @Otter @{name}: Has 11 nets ^aa", f"11-03 W @Otter @{name}: Has 12 nets ^bb")
    for about in (name, name.replace("-", " "), "Otter"):
        assert [{hit.ref for hit in each.sides} for each in found(workspace, about)] == [{"aa", "bb"}]
    assert found(workspace, "Hill") == found(workspace, "Lee") == found(workspace, "nobody") == []


@pytest.mark.parametrize("said", ["Opens at {} now", "Теперь открывается в {} часов", "现在{}点开门"])
def test_of_a_change_to_and_fro_the_newest_is_listed(tmp_path: Path, said: str) -> None:
    lines = (f"11-0{day} W @A: {said.format(9 + day % 2)} ^day{day}" for day in range(1, 5))
    assert pairs(told(tmp_path, *lines)) == {frozenset(("day3", "day4"))}


def test_aliases_are_one_bearer(tmp_path: Path) -> None:
    workspace = told(tmp_path, "11-03 W @Alice: Lives in Berlin. ^aa", "11-03 W @爱丽丝: Lives in Rome. ^bb")
    assert pairs(workspace) == set()
    workspace = write_pages(tmp_path, {"bank/entities/Alice.md": "---\naliases: [爱丽丝]\n---\n# Alice\n"})
    assert pairs(workspace) == AB


def test_a_pinned_line_and_a_newer_one_disagree(tmp_path: Path) -> None:
    (conflict,) = found(told(tmp_path, "11-03 W(i=1.0) @A: Lives in Berlin. ^aa", "11-05 W @A: Lives in Rome. ^bb"))
    assert conflict.rule == "pinned against newer"
    root = tmp_path / "root"
    workspace = told(root, "memory.md W @A: Lives in Berlin. ^aa", "11-05 W @A: Lives in Rome. ^bb")
    assert pairs(workspace) == AB


def test_what_comes_from_outside_stands_second_and_never_wins(tmp_path: Path) -> None:
    lines = "11-05 W(src=web) @A: Lives in Rome. ^bb", "11-03 W @A: Lives in Berlin. ^aa"
    workspace = told(tmp_path, *lines)
    (conflict,) = found(workspace)
    assert [(hit.ref, hit.origin) for hit in conflict.sides] == [("aa", "owner"), ("bb", "web")]
    assert [hit.ref for hit in get_fact(memory_on(workspace, TODAY), "city", "A")] == ["aa"]
    lines = "11-03 W(src=web) @A: Eats fish. ^bb", "11-05 W @A: Does not eat fish. ^aa"
    assert [[hit.ref for hit in each.sides] for each in found(told(tmp_path / "words", *lines))] == [["aa", "bb"]]


def test_two_voices_from_outside_are_nobodys_conflict(tmp_path: Path) -> None:
    assert not pairs(
        told(tmp_path, "11-03 W(src=web) @A: Eats fish. ^aa", "11-05 W(src=tool) @A: Does not eat fish. ^bb")
    )


# -- words ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("one", "other", "rule"), table("words-that-disagree"))
def test_words_that_disagree(tmp_path: Path, one: str, other: str, rule: str) -> None:
    (conflict,) = found(told(tmp_path, one, other, "11-21 W @A @flat @oak: Something else was said. ^cc"))
    assert [hit.ref for hit in conflict.sides] == ["aa", "bb"]
    assert conflict.rule == rule
    assert conflict.reason


@pytest.mark.parametrize(("why", "one", "other"), table("facts-that-agree"))
def test_words_that_only_seem_to(tmp_path: Path, why: str, one: str, other: str) -> None:
    assert [str(conflict) for conflict in found(told(tmp_path, one, other))] == [], why


@pytest.mark.parametrize(("why", "one", "other"), table("of-one-day-that-agree"))
def test_two_doings_or_two_things_of_one_day_agree(tmp_path: Path, why: str, one: str, other: str) -> None:
    worlds, doings = ([f"11-14 {kind} @{who}: {one}", f"11-14 W @{who}: {other}"] for kind, who in ("WA", "BZ"))
    assert [str(conflict) for conflict in found(told(tmp_path, *worlds, *doings))] == [], why


@pytest.mark.parametrize(("one", "other", "reason"), table("amounts-that-disagree"))
def test_two_amounts_of_one_thing_on_one_day_disagree(tmp_path: Path, one: str, other: str, reason: str) -> None:
    (conflict,) = found(told(tmp_path, f"11-14 W @A: {one}", f"11-14 W @A: {other}"))
    assert (conflict.rule, conflict.reason) == ("conflict: number", reason)


def test_one_thing_with_a_number_in_its_name_still_disagrees(tmp_path: Path) -> None:
    english, russian = ("Sensor A1 is open.", "Sensor A1 is closed."), ("Датчик А1 тихий.", "Датчик А1 шумный.")
    for number, (one, other) in enumerate((english, russian, ("传感器A1很安静。", "传感器A1很吵。"))):
        assert pairs(told(tmp_path / str(number), f"11-14 W @A: {one} ^aa", f"11-14 W @A: {other} ^bb")) == AB


def test_what_no_longer_stands_disagrees_with_nothing(tmp_path: Path) -> None:
    fish, none = "10-30 W{} @A: Eats fish. ^aa", "11-16 W{} @A: Does not eat fish. ^bb"
    assert pairs(told(tmp_path / "0", fish.format(""), none.format(""))) == AB
    heads = (
        ("", "(supersedes=aa)"),
        ("", "(corrects=aa)"),
        ("(until=2025-11-10)", ""),
        ("", "(ttl=3d)"),
        ("(t=2026..)", ""),
    )
    for number, (one, other) in enumerate(heads, 1):
        assert not pairs(told(tmp_path / str(number), fish.format(one), none.format(other)))


def test_copies_observations_and_belief_heads_are_no_sides(tmp_path: Path) -> None:
    block = "<!-- memctl:begin x sha=00000000 -->\n- W @A: Does not eat fish.\n<!-- memctl:end x -->\n"
    workspace = write_pages(
        tmp_path,
        {
            "memory/2025-10-30.md": "- W @A: Eats fish.\n- S @A: Does not eat fish.\n",
            "bank/world.md": f"# World\n\n{block}",
            "bank/opinions.md": "# Opinions\n\n- O(c=0.9) @A: Does not eat fish. ^o-1\n",
        },
    )
    assert found(workspace) == []


def test_private_lines_and_the_index_make_no_difference(tmp_path: Path) -> None:
    workspace = told(tmp_path, "10-30 W(private) @A: Eats fish. ^aa", "11-16 W @A: Does not eat fish. ^bb")
    before = [str(c) for c in found(workspace)]
    shutil.rmtree(workspace.memory)
    assert [str(c) for c in found(workspace)] == before != []


def test_a_line_that_moved_is_cited_where_it_stands(fish: Workspace, tmp_path: Path) -> None:
    page = tmp_path / "memory/2025-10-30.md"
    page.write_text("# A day\n\nMuch was said.\n\n" + page.read_text())
    (conflict,) = found(fish)
    assert str(conflict.sides[0].source) == "memory/2025-10-30.md#L7"


# -- resolve ----------------------------------------------------------------------------------------------------------


def current(workspace: Workspace, words: str) -> list[str]:
    """What recall says, current truth first."""
    return [hit.content for hit in ask(workspace, words).hits if not (hit.superseded_by or hit.retracted)]


@pytest.mark.parametrize(
    ("pair", "chosen"),
    [
        *zip(
            [*SAME_DAY[:7], *(entry[:2] for entry in table("words-that-disagree"))],
            itertools.cycle(["aa", "bb"]),
            strict=False,
        )
    ],
)
def test_what_is_resolved_is_never_listed_again(tmp_path: Path, pair: tuple[str, str], chosen: str) -> None:
    workspace = told(tmp_path, *pair)
    assert pairs(workspace) == AB
    before = snapshot(tmp_path)
    resolve(memory_on(workspace, TODAY), chosen, "bb" if chosen == "aa" else "aa", because="asked again")
    after = snapshot(tmp_path)
    assert {path: after[path] for path in before} == before
    assert set(after) - set(before) == {"memory/2025-11-30.md"}
    shutil.rmtree(workspace.memory)
    assert found(workspace) == []


def test_recall_follows_what_was_resolved(fish: Workspace, tmp_path: Path) -> None:
    resolve(memory_on(fish, TODAY), "bb", "aa", because="she said so")
    hits = ask(fish, "fish").hits
    assert hits[0].content == "Does not eat fish."
    (lost,) = (hit for hit in hits if hit.content == "Eats fish.")
    assert lost.retracted
    assert "why=she said so" in (tmp_path / "memory/2025-11-30.md").read_text()


def test_the_slot_holds_what_was_resolved_and_its_history_stays(tmp_path: Path) -> None:
    lines = "11-03 W @A: Lives in Berlin. ^aa", "11-03 W @A: Lives in Leipzig. ^bb"
    workspace = told(tmp_path, *lines)
    assert [hit.ref for hit in get_fact(memory_on(workspace, TODAY), "city", "A")] == ["bb"]
    resolve(memory_on(workspace, TODAY), "aa", "bb")
    (now,) = get_fact(memory_on(workspace, TODAY), "city", "A")
    assert now.content == "Lives in Berlin."
    assert str(now.valid.first) == "2025-11-03"  # it was true all the time
    workspace = told(tmp_path / "later", *lines, "11-20 W @A: Lives in Porto. ^cc")
    resolve(memory_on(workspace, TODAY), "aa", "bb")
    assert [hit.ref for hit in get_fact(memory_on(workspace, TODAY), "city", "A")] == ["cc"]


def test_the_loser_was_true_until_then(fish: Workspace) -> None:
    resolve(memory_on(fish, TODAY), "bb", "aa", since=date(2025, 11, 10))
    assert found(fish) == []
    (lost,) = (hit for hit in ask(fish, "fish").hits if hit.content == "Eats fish.")
    assert not lost.retracted
    assert str(lost.valid) == "2025-10-30..2025-11-09"


@pytest.mark.parametrize(
    "cities", [("Berlin", "Leipzig", "Bonn"), ("Берлине", "Лейпциге", "Бонне"), ("柏林", "里斯本", "汉堡")]
)
def test_a_hit_has_every_version_of_its_slot(tmp_path: Path, cities: tuple[str, str, str]) -> None:
    """Whichever of them the words found."""
    lives = "住在{}" if cities[0] == "柏林" else "Живёт в {}" if cities[0] == "Берлине" else "Lives in {}"
    lines = (f"11-0{day} W @Vera: {lives.format(city)} ^x{day}" for day, city in enumerate(cities, 1))
    memory = memory_on(told(tmp_path, *lines), TODAY)
    for city in cities:
        hits = memory.recall(city, history=True).hits
        assert hits and all([version.ref for version in hit.history] == ["x1", "x2", "x3"] for hit in hits)


@pytest.mark.parametrize(("older", "newer"), table("values-side-by-side"))
def test_two_lines_hold_side_by_side_from_the_day_that_says_so(tmp_path: Path, older: str, newer: str) -> None:
    memory = memory_on(told(tmp_path, f"11-01 W @Vera: {older} ^aa", f"11-20 W @Vera: {newer} ^bb"), TODAY)
    memory.resolve("bb", "aa", both=True)
    shutil.rmtree(memory.workspace.memory)
    held = [
        [hit.ref for hit in memory_on(memory.workspace, day).facts(as_of=str(day))]
        for day in (date(2025, 11, 29), TODAY)
    ]
    assert held == [["aa"], ["aa", "bb"]]


def test_choosing_what_came_from_outside_makes_it_the_owners(tmp_path: Path) -> None:
    workspace = Workspace(fixture_copy(tmp_path))
    resolve(memory_on(workspace, TODAY), "sex-dna", "sex-bill")
    line = next(hit for hit in ask(workspace, "bird male DNA").hits if hit.content.startswith("The bird is a male"))
    assert line.day == "2025-11-30"
    assert line.origin == "owner"
    assert line.content.startswith("The bird is a male")
    assert not [text for text in current(workspace, "is the bird a female") if "judging by the bill" in text]


def test_what_the_chosen_line_replaced_is_not_replaced_once_more(tmp_path: Path) -> None:
    """The line that decides names the loser alone; what the winner said of others and of itself stays its own."""
    lines = ("10-02 W @A: Eats soup. ^cc", "10-30 W @A: Eats fish. ^aa")
    head = "W(t=..2025-12-24,supersedes=cc,corrects=cc,for=cc,against=cc,src=tool,ttl=9y)"
    workspace = told(tmp_path, *lines, f"11-16 {head} @A: Does not eat fish. ^bb")
    day = date(2025, 11, 20)
    for since, names, valid in ((None, ((), ("aa",)), None), (day, (("aa",), ()), day)):
        (done,) = resolve(memory_on(workspace, TODAY), "bb", "aa", since=since, dry_run=True).kept
        assert (done.fact.supersedes, done.fact.corrects, done.fact.supports, done.fact.refutes) == (*names, (), ())
        assert (done.fact.source, done.fact.ttl, done.fact.block_id) == (None, None, None)
        assert done.fact.valid == Period(valid, date(2025, 12, 24))


def test_resolving_twice_adds_one_line(fish: Workspace, tmp_path: Path) -> None:
    first = resolve(memory_on(fish, TODAY), "bb", "aa")
    once = snapshot(tmp_path)
    again = resolve(memory_on(fish, TODAY), "bb", "aa")
    assert snapshot(tmp_path) == once
    assert again.kept[0].already and again.kept[0].citation == first.kept[0].citation


@pytest.mark.parametrize(
    ("because", "why"),
    [
        ("counted\nagain", "counted again"),
        ("посчитали\r\nснова", "посчитали снова"),
        ("数\n过", "数 过"),
        (" \n ", None),
    ],
)
def test_a_reason_is_kept_as_one_line(fish: Workspace, because: str, why: str | None) -> None:
    done = resolve(memory_on(fish, TODAY), "bb", "aa", because=because)
    assert done.kept[0].fact.why == why
    assert found(fish) == []


@pytest.mark.parametrize("options", [{}, {"both": True}, {"since": date(2025, 11, 20)}])
def test_a_pair_settled_before_is_said_to_be(fish: Workspace, options: dict[str, object]) -> None:
    heard: list[str] = []
    first = resolve(memory_on(fish, TODAY, heard.append), "bb", "aa", **options).kept[0]  # type: ignore[arg-type]
    resolve(memory_on(fish, TODAY, heard.append), "bb", "aa", **options)  # type: ignore[arg-type]
    assert heard == []  # the same line again is no second one, and said to be there already
    resolve(memory_on(fish, TODAY, heard.append), "aa", "bb", because="she eats it again")
    assert heard == [f"settled before: {first.citation} ^{first.ref}"]


def test_a_dry_run_writes_nothing_and_says_what_it_would(fish: Workspace, tmp_path: Path) -> None:
    before = snapshot(tmp_path)
    done = resolve(memory_on(fish, TODAY), "^bb", "memory/2025-10-30.md#L3", dry_run=True)
    assert snapshot(tmp_path) == before
    assert "+- W(t=2025-11-16..,corrects=aa) @A: Does not eat fish." in done.diff


NAME_ONE = "name an id or a citation as `memctl conflicts` prints it"
SAME = "Usage: ^aa and ^aa say the same; name the two lines that disagree"


@pytest.mark.parametrize(
    ("chosen", "other", "options", "expected"),
    [
        ("aa", "zz", {}, f"NothingFound: no fact matches 'zz'; {NAME_ONE}"),
        (" ^zz ", "aa", {}, f"NothingFound: no fact matches ' ^zz '; {NAME_ONE}"),
        ("aa", "aa", {}, SAME),
        ("aa", "memory/2025-10-30.md#L3", {}, SAME),
        ("aa", "memory/2025-10-30.md#L99", {}, f"NothingFound: no fact matches 'memory/2025-10-30.md#L99'; {NAME_ONE}"),
        ("aa", "../secret.md#L1", {}, "OutsideWorkspace: "),
        ("aa", "bb", {"both": True, "since": TODAY}, "Usage: --both and --from together; leave one of them out: --both keeps both lines, --from ends the other"),
        ("bb", "aa", {"since": date(2025, 10, 29)}, "Usage: --from 2025-10-29 is before ^aa began, on 2025-10-30; a later day, or no --from: the other line was then never true"),
        ("aa", "bb", {"because": "key sk-ant-api03-" + "Ab1" * 30}, "Refused: "),
    ],
)  # fmt: skip
def test_what_cannot_be_resolved(
    fish: Workspace, tmp_path: Path, chosen: str, other: str, options: dict[str, object], expected: str
) -> None:
    before = snapshot(tmp_path)
    said = refusal(lambda: resolve(memory_on(fish, TODAY), chosen, other, **options))  # type: ignore[arg-type]
    assert said == expected or (expected.endswith(": ") and said.startswith(expected))
    assert snapshot(tmp_path) == before


# -- the commands -----------------------------------------------------------------------------------------------------


def test_the_command_lists_both_sides_as_json(tmp_path: Path) -> None:
    listed = json.loads(call(["conflicts", "--json"], fixture_copy(tmp_path)).out)["conflicts"]
    assert [side["id"] for side in listed[0]["sides"]] == ["nets-11", "nets-12"]
    assert listed[1]["sides"][1]["trusted"] is False


def test_the_command_resolves_two_from_a_day_that_is_understood(tmp_path: Path) -> None:
    root = fixture_copy(tmp_path)
    assert call(["resolve", "nets-11", "nets-12"], root).code == 2
    assert call(["resolve", "nets-11", "--over", "nets-12", "--from", "whenever"], root).code == 2


@pytest.mark.parametrize(
    ("first", "second", "kind"),
    [
        ("11-03", "11-03", "conflict"),
        ("11-03", "11-04", "replacement"),
        ("bank/otter.md", "11-04", "conflict"),
        ("bank/nets.md", "bank/otter.md", "conflict"),
    ],
)
def test_two_numbers_disagree_on_one_day_and_replace_each_other_on_two(
    tmp_path: Path, first: str, second: str, kind: str
) -> None:
    """A page that is no log gives its lines no day."""
    workspace = told(tmp_path, f"{first} W @Otter: Has 11 nets", f"{second} W @Otter: Has 12 nets")
    assert [(c.kind, c.reason) for c in found(workspace)] == [(kind, "11 nets against 12 nets")]


@pytest.mark.parametrize(("rule", "one", "other"), table("facts-replaced"))
def test_what_a_newer_line_may_have_replaced_is_listed_until_it_is_settled(
    tmp_path: Path, rule: str, one: str, other: str
) -> None:
    workspace = told(tmp_path, f"10-30 W @A: {one} ^aa", f"11-16 W @A: {other} ^bb")
    assert [(c.kind, c.rule) for c in found(workspace)] == [("replacement", rule)]
    assert call(["check"], tmp_path).code == 0  # a question is no fault of the pages
    resolve(memory_on(workspace, TODAY), "bb", "aa", since=date(2025, 11, 16))
    assert found(workspace) == []


@pytest.mark.parametrize(
    ("one", "other", "reason"),
    [
        ("The rent of the flat is high", "The landlord now wants more rent", "rent"),
        ("Снимает комнату у вокзала", "Переехала в общежитие", "Снимает комнату against Переехала общежитие"),
        ("租了一间房", "搬到宿舍了", "租了 against 搬到宿舍"),
    ],
)  # fmt: skip
def test_a_reason_is_words_of_the_lines(tmp_path: Path, one: str, other: str, reason: str) -> None:
    """A question names what stands in its two lines, not the topic that a rule found in them."""
    told(tmp_path, f"10-30 W @A: {one} ^aa", f"11-16 W @A: {other} ^bb")
    (question,) = memory_on(Workspace(tmp_path), TODAY).review()
    assert question.why.partition(": ")[2] == reason


@pytest.mark.parametrize("attribute", ["settles={}", "for=aa,for=bb"])
def test_an_answer_settles_the_pair_for_good(tmp_path: Path, attribute: str) -> None:
    """`settles=` alone: the two have nothing to do with each other."""
    question = question_id("replaced", "aa", "bb")
    lines = "10-30 W @A: Has 11 nets. ^aa", "11-16 W @A: Has 12 nets. ^bb"
    assert len(found(told(tmp_path, *lines))) == 1
    assert found(told(tmp_path, *lines, f"11-20 S({attribute.format(question)}) @A: Two stations.")) == []
    assert len(found(told(tmp_path, *lines, f"11-20 S(src=web,{attribute.format(question)}) @A: Two stations."))) == 1


@pytest.mark.parametrize("line", ["The hall is at {} degrees", "В зале {} градусов", "大厅温度是{}度"])
def test_many_lines_of_one_wording_are_ranked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    ranked, ask = [], Index.rows
    monkeypatch.setattr(
        Index, "rows", lambda index, sql, *given: ranked.append("bm25" in sql) or ask(index, sql, *given)
    )
    days = [f"11-{day:02} W @Hall: " for day in range(1, 25)]
    assert found(told(tmp_path, *(day + line.format(20 + n % 7) for n, day in enumerate(3 * days))))
    assert sum(ranked) <= 3, ranked
