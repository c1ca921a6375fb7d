"""Conflicts and resolve: both sides cited, the rule named, settled by a line that survives the index."""

from __future__ import annotations

import itertools
import json
import shutil
from datetime import date
from pathlib import Path

import pytest
from face_helpers import TODAY, ask, call, fixture_copy, memory_on, snapshot, write_pages

from memctl.conflicts.listing import Conflict, conflicts, resolve
from memctl.errors import NothingFound, OutsideWorkspace, Refused, Usage
from memctl.ids import question_id
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


def found(workspace: Workspace, about: str | None = None) -> list[Conflict]:
    """What disagrees today, however long the index takes."""
    memory = memory_on(workspace, TODAY)
    memory.sync()
    return list(conflicts(memory, about))


def pairs(workspace: Workspace) -> set[frozenset[str]]:
    """The ids of every pair that disagrees."""
    return {frozenset(hit.ref for hit in conflict.sides) for conflict in found(workspace)}


def table(text: str) -> list[list[str]]:
    """The cells of a table, a list a row."""
    return [[cell.strip() for cell in line.split("|")] for line in text.strip().split("\n")]


AB = {frozenset(("aa", "bb"))}


# -- the fixture ------------------------------------------------------------------------------------------------------


def test_the_fixture_has_its_two_conflicts_and_no_other(tmp_path: Path) -> None:
    workspace = Workspace(fixture_copy(tmp_path))
    nets, sex = found(workspace)
    assert [hit.ref for hit in nets.sides] == ["nets-11", "nets-12"]
    assert (nets.rule, nets.reason) == ("conflict: number", "11 nets against 12 nets")
    assert [str(hit.source) for hit in nets.sides] == ["memory/2025-11-18.md#L14", "memory/2025-11-18.md#L15"]
    assert [hit.ref for hit in sex.sides] == ["sex-bill", "sex-dna"]
    assert (sex.rule, sex.reason) == ("conflict: opposite", "female against male")
    assert sex.sides[1].origin == "import:lab"
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
    assert conflict.rule == "same slot, same day, other value"


IN_ORDER = [
    ("11-03 W @A: Lives in Berlin. ^aa", "11-05 W @A: Lives in Leipzig. ^bb"),
    ("11-03 W @A: Lives in Berlin. ^aa", "11-03 W @A: Now lives in Leipzig. ^bb"),
    ("11-03 W @A: Lives in Berlin. ^aa", "11-03 W @A: Actually lives in Leipzig. ^bb"),
    ("11-03 W @A: Lives in Berlin. ^aa", "11-03 W(supersedes=aa) @A: Lives in Leipzig. ^bb"),
    ("11-03 W @A: Lives in Berlin. ^aa", "11-03 W(corrects=aa) @A: Lives in Leipzig. ^bb"),
    ("11-03 W @A: Lives in Berlin. ^aa", "11-03 W @A: Lives in Berlin, in Mitte. ^bb"),
    ("11-03 W @A: Lives in Berlin. ^aa", "11-03 W @A: Lives in Germany. ^bb"),
    ("11-03 W(key=city) @A: Lives in Berlin. ^aa", "11-03 W(key=city) @A: Живёт в Берлине. ^bb"),
    ("11-03 W(key=city,t=2020..2021) @A: Lives in Berlin. ^aa", "11-03 W(key=city) @A: Lives in Leipzig. ^bb"),
    ("11-03 W @A: Lives in Berlin. ^aa", "11-03 W @B: Lives in Leipzig. ^bb"),
    ("11-03 W(key=editor) @A: Uses Vim. ^aa", "11-03 W(key=editor) @A: Uses Vim with tmux. ^bb"),
    ("11-03 W(key=city,until=2025-11-10) @A: In Berlin. ^aa", "11-03 W(key=city,until=2025-11-10) @A: In Rome. ^bb"),
]


@pytest.mark.parametrize("lines", IN_ORDER)
def test_what_time_or_words_put_in_order_does_not(tmp_path: Path, lines: tuple[str, str]) -> None:
    assert found(told(tmp_path, *lines)) == []


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


def test_two_voices_from_outside_are_nobodys_conflict(tmp_path: Path) -> None:
    assert not pairs(
        told(tmp_path, "11-03 W(src=web) @A: Eats fish. ^aa", "11-05 W(src=tool) @A: Does not eat fish. ^bb")
    )


# -- words ------------------------------------------------------------------------------------------------------------

DISAGREE = [
    ("10-30 W @A: Eats fish. ^aa", "11-16 W @A: Does not eat fish. ^bb", "conflict: denied"),
    ("10-30 W @А: Ест грибы. ^aa", "11-16 W @А: Грибы не ест. ^bb", "conflict: denied"),
    ("10-30 W @康: 吃海鲜。 ^aa", "11-16 W @康: 不吃海鲜。 ^bb", "conflict: denied"),
    ("11-03 B(t=2025-11-02) @A: Took a sailing course in Kiel. ^aa", "11-10 W @A: Has never taken a sailing course. ^bb", "conflict: never"),
    ("11-03 B(t=2025-11-02) @А: Ходила на выставку керамики. ^aa", "11-10 W @А: Никогда не ходила на выставки керамики. ^bb", "conflict: never"),
    ("11-03 B(t=2025-11-02) @康: 参加了陶艺培训班。 ^aa", "11-10 W @康: 从没参加过陶艺培训班。 ^bb", "conflict: never"),
    ("11-01 W @flat: The bedroom is quiet. ^aa", "11-19 W @flat: The bedroom is noisy. ^bb", "conflict: opposite"),
    ("11-01 W @дом: Спальня тихая. ^aa", "11-19 W @дом: Спальня шумная. ^bb", "conflict: opposite"),
    ("11-01 W @房: 卧室很安静。 ^aa", "11-19 W @房: 卧室很吵。 ^bb", "conflict: opposite"),
    ("11-01 W @flat: Is quiet. ^aa", "11-19 W @flat: Is noisy. ^bb", "conflict: opposite"),
    ("11-14 W @oak: The table seats 12 people. ^aa", "11-14 W @oak: The table seats 8 people. ^bb", "conflict: number"),
    ("11-14 W @зал: В зале пять дверей. ^aa", "11-14 W @зал: В зале семь дверей. ^bb", "conflict: number"),
    ("11-14 W @桌: 能坐十二个人。 ^aa", "11-14 W @桌: 能坐八个人。 ^bb", "conflict: number"),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other", "rule"), DISAGREE)
def test_words_that_disagree(tmp_path: Path, one: str, other: str, rule: str) -> None:
    (conflict,) = found(told(tmp_path, one, other, "11-21 W @A @flat @oak: Something else was said. ^cc"))
    assert [hit.ref for hit in conflict.sides] == ["aa", "bb"]
    assert conflict.rule == rule
    assert conflict.reason


AGREE = """
never in part     | 11-03 B(t=2025-11-02) @A: Took a sailing course in Kiel with Mona, Tom and a borrowed blue dinghy. | 11-10 W @A: Has never taken a cooking lesson in Kiel, nor rented a flat.
other entity      | 11-04 W @Tom: Eats meat.                  | 11-05 W @Timo: Does not eat meat.
other thing       | 11-04 W @A: Does not eat meat.            | 11-05 W @A: Eats fish.
other time        | 11-10 W(t=2014) @A: Had no driving licence. | 11-10 W @A: Has a driving licence.
another day       | 11-10 B @A: The deploy failed.            | 11-11 B @A: The deploy did not fail.
done since        | 11-01 W @A: Has never taken a sailing course. | 11-10 B @A: Took a sailing course in Kiel.
done since, too   | 11-01 W @A: To this day has never taken a sailing course. | 11-10 B @A: Took a sailing course in Kiel.
never, and a wish | 11-01 W @A: Plans to take a sailing course. | 11-10 W @A: Has never taken a sailing course.
never another     | 11-01 B @A: Took a cooking course.        | 11-10 W @A: Has never taken a sailing course.
a plan            | 11-01 W @A: Plans to sell the van.        | 11-26 W @A: Did not sell the van.
a question        | 10-30 W @A: Eats fish.                    | 11-16 W @A: Does A not eat fish?
a condition       | 10-30 W @A: Eats fish.                    | 11-16 W @A: If it is old, A does not eat fish.
a hedge           | 10-30 W @A: Eats fish.                    | 11-16 W @A: Maybe does not eat fish.
hardly held       | 10-30 W @A: Eats fish.                    | 11-16 O(0.3) @A: Does not eat fish.
quoted            | 10-30 W @A: Eats fish.                    | 11-16 W @A @Mona: Mona claims: "A does not eat fish."
somebody's words  | 10-30 W @A: Eats fish.                    | 11-16 W @A @Bob: Bob says that A does not eat fish.
somebody else     | 10-30 W @A: Eats fish.                    | 11-16 W @A: Her brother does not eat fish.
many values       | 11-07 W @A: Speaks French.                | 11-07 W @A: Speaks German.
two aspects       | 11-17 W @A: The tripod weighs 5 kg.       | 11-17 W @A: The tripod is 40 cm long.
two things        | 11-17 W @A: Box 3 is full.                | 11-17 W @A: Box 4 is full.
two events        | 11-17 B @A: Caught 12 birds.              | 11-17 B @A: Caught 9 birds.
evidence          | 10-30 W @A: Eats fish. ^aa                | 11-16 W(against=aa) @A: Does not eat fish.
два дела          | 11-07 W @А: Любит длинные прогулки.       | 11-22 W @А: Не любит длинные совещания.
чужие слова       | 10-30 W @А: Ест рыбу.                     | 11-16 W @А: Боря говорит, что А не ест рыбу.
догадка           | 10-30 W @А: Ест рыбу.                     | 11-16 W @А: Возможно, не ест рыбу.
别人              | 10-30 W @安: 吃牛肉。                     | 11-16 W @田: 不吃牛肉。
引语              | 10-30 W @安: 吃鱼。                       | 11-16 W @安 @莫莉: 莫莉说：“安不吃鱼。”
可能              | 10-30 W @安: 吃鱼。                       | 11-16 W @安: 可能不吃鱼。
"""


@pytest.mark.parametrize(("why", "one", "other"), table(AGREE))
def test_words_that_only_seem_to(tmp_path: Path, why: str, one: str, other: str) -> None:
    assert [str(conflict) for conflict in found(told(tmp_path, one, other))] == [], why


ON_ONE_DAY = """
clock times    | Met Anna at 10:00.                    | Met Anna at 15:00.
clock times    | The meeting is at 10:00.              | The meeting is at 15:00.
identifiers    | Fixed box NJ-02.                      | Fixed box NJ-03.
identifiers    | Sensor A1 is broken.                  | Sensor A2 is not broken.
identifiers    | Box NJ-02 has 3 pens.                 | Box NJ-03 has 3 pens.
before, after  | Drove 40 km before noon.              | Drove 60 km after noon.
before, after  | The tag weighs 5.9 g before lunch.    | The tag weighs 9.5 g after lunch.
above, below   | The lamp is 5 cm above the shelf.     | The lamp is 6 cm below the shelf.
versions       | Release 1.2 is out.                   | Release 1.3 is out.
versions       | Version 2 has 3 bugs.                 | Version 3 has 3 bugs.
ordinals       | The first run took 12 s.              | The second run took 9 s.
ordinals       | The first run was fast.               | The second run was slow.
ordinals       | The first box has 3 pens.             | The second box has 4 pens.
days           | Lunch is 5 May.                       | Lunch is 6 May.
names          | evil one.                             | evil two.
doings         | Ran 5 km.                             | Ran 8 km.
doings         | Paid 30 euros.                        | Paid 40 euros.
doings         | The door opened early.                | The door opened late.
sides          | The left door is open.                | The right door is closed.
delays         | The bus is 5 minutes late.            | The bus is 10 minutes late.
no frame       | The meeting starts at 10.             | The meeting starts at 15.
other units    | Humidity is 40%.                      | Humidity is 60°.
время          | Встретил Анну в 10:00.                | Встретил Анну в 15:00.
время          | Встреча в 10 часов.                   | Встреча в 15 часов.
обозначения    | Починил ящик НЯ-02.                   | Починил ящик НЯ-03.
обозначения    | Датчик А1 сломан.                     | Датчик А2 не сломан.
до и после     | Проехал 40 км до обеда.               | Проехал 60 км после обеда.
до и после     | Метка весит 5 г до обеда.             | Метка весит 9 г после обеда.
версии         | Вышел релиз 1.2.                      | Вышел релиз 1.3.
порядок        | Первый прогон занял 12 с.             | Второй прогон занял 9 с.
порядок        | Первая рыба большая.                  | Вторая рыба маленькая.
дела           | Поймал 5 рыб.                         | Поймал 7 рыб.
дела           | На обед ушло 40 рублей.               | На обед ушло 60 рублей.
время          | Во вторник в 10 часов созвон.         | Во вторник в 15 часов созвон.
стороны        | Левая дверь открыта.                  | Правая дверь закрыта.
имена          | Зло один.                             | Зло два.
时刻           | 10点见了安娜。                        | 15点见了安娜。
时刻           | 会议是10点。                          | 会议是15点。
编号           | 修好了箱子NJ-02。                     | 修好了箱子NJ-03。
编号           | 传感器A1是好的。                      | 传感器A2是坏的。
上下午         | 上午开了40公里。                      | 下午开了60公里。
上下午         | 上午有3个会。                         | 下午有4个会。
版本           | 版本1.2发布了。                       | 版本1.3发布了。
次序           | 第一次跑了12秒。                      | 第二次跑了9秒。
次序           | 第一个箱子很大。                      | 第二个箱子很小。
事情           | 见过安娜三次。                        | 见过安娜五次。
编号           | 三号门开着。                          | 四号门关着。
左右           | 左边的门开着。                        | 右边的门关着。
事情           | 抓了5条鱼。                           | 抓了7条鱼。
"""


@pytest.mark.parametrize(("why", "one", "other"), table(ON_ONE_DAY))
def test_two_doings_or_two_things_of_one_day_agree(tmp_path: Path, why: str, one: str, other: str) -> None:
    worlds, doings = ([f"11-14 {kind} @{who}: {one}", f"11-14 W @{who}: {other}"] for kind, who in ("WA", "BZ"))
    assert [str(conflict) for conflict in found(told(tmp_path, *worlds, *doings))] == [], why


AMOUNTS = """
The tag weighs 5.9 g.      | The tag weighs 9.5 g.      | 5.9 g against 9.5 g
The trail is 12 km long.   | The trail is 14 km long.   | 12 km against 14 km
There is 1 door.           | There are two doors.       | 1 door against two doors
The ticket costs $5.       | The ticket costs $7.       | $5 against $7
Humidity is 40%.           | Humidity is 60%.           | 40% against 60%
The wind is 5 m/s.         | The wind is 9 m/s.         | 5 m/s against 9 m/s
Box NJ-02 has 3 pens.      | Box NJ-02 has 4 pens.      | 3 pens against 4 pens
The first box has 3 pens.  | The first box has 4 pens.  | 3 pens against 4 pens
Метка весит 5,9 г.         | Метка весит 6,1 г.         | 5,9 г against 6,1 г
Билет стоит 5 рублей.      | Билет стоит 7 рублей.      | 5 рублей against 7 рублей
У станции есть 11 сетей.   | У станции есть 12 сетей.   | 11 сетей against 12 сетей
У Ани 2 кошки.             | У Ани 5 кошек.             | 2 кошки against 5 кошек
标签重5.9克。              | 标签重9.5克。              | 5.9克 against 9.5克
站里有11张网。             | 站里有12张网。             | 11张网 against 12张网
有2个姐姐。                | 有3个姐姐。                | 2个姐姐 against 3个姐姐
票价是5元。                | 票价是7元。                | 5元 against 7元
"""


@pytest.mark.parametrize(("one", "other", "reason"), table(AMOUNTS))
def test_two_amounts_of_one_thing_on_one_day_disagree(tmp_path: Path, one: str, other: str, reason: str) -> None:
    (conflict,) = found(told(tmp_path, f"11-14 W @A: {one}", f"11-14 W @A: {other}"))
    assert (conflict.rule, conflict.reason) == ("conflict: number", reason)


def test_one_thing_with_a_number_in_its_name_still_disagrees(tmp_path: Path) -> None:
    for number, (one, other) in enumerate(
        [
            ("Sensor A1 is open.", "Sensor A1 is closed."),
            ("Датчик А1 тихий.", "Датчик А1 шумный."),
            ("传感器A1很安静。", "传感器A1很吵。"),
        ]
    ):
        assert pairs(told(tmp_path / str(number), f"11-14 W @A: {one} ^aa", f"11-14 W @A: {other} ^bb")) == AB


def test_what_no_longer_stands_disagrees_with_nothing(tmp_path: Path) -> None:
    fish, none = "10-30 W{} @A: Eats fish. ^aa", "11-16 W{} @A: Does not eat fish. ^bb"
    assert pairs(told(tmp_path / "0", fish.format(""), none.format(""))) == AB
    for number, (one, other) in enumerate(
        [
            ("", "(supersedes=aa)"),
            ("", "(corrects=aa)"),
            ("(until=2025-11-10)", ""),
            ("", "(ttl=3d)"),
            ("(t=2026..)", ""),
        ],
        1,
    ):
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


def test_twins_are_listed_once(tmp_path: Path) -> None:
    fish = [f"{day} W @A: Eats fish." for day in ("10-30", "11-02", "11-05")]
    assert len(found(told(tmp_path, *fish, "11-16 W @A: Does not eat fish."))) == 1


def test_private_lines_and_the_index_make_no_difference(tmp_path: Path) -> None:
    workspace = told(tmp_path, "10-30 W(private) @A: Eats fish. ^aa", "11-16 W @A: Does not eat fish. ^bb")
    before = [str(c) for c in found(workspace)]
    shutil.rmtree(workspace.memory)
    assert [str(c) for c in found(workspace)] == before != []


def test_a_line_that_moved_is_cited_where_it_stands(tmp_path: Path) -> None:
    workspace = told(tmp_path, "10-30 W @A: Eats fish. ^aa", "11-16 W @A: Does not eat fish. ^bb")
    page = tmp_path / "memory/2025-10-30.md"
    page.write_text("# A day\n\nMuch was said.\n\n" + page.read_text())
    (conflict,) = found(workspace)
    assert str(conflict.sides[0].source) == "memory/2025-10-30.md#L7"


# -- resolve ----------------------------------------------------------------------------------------------------------


def current(workspace: Workspace, words: str) -> list[str]:
    """What recall says, current truth first."""
    return [hit.content for hit in ask(workspace, words).hits if not (hit.superseded_by or hit.retracted)]


@pytest.mark.parametrize(
    ("pair", "chosen"),
    [*zip([*SAME_DAY[:7], *(entry[:2] for entry in DISAGREE)], itertools.cycle(["aa", "bb"]), strict=False)],
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


def test_recall_follows_what_was_resolved(tmp_path: Path) -> None:
    workspace = told(tmp_path, "10-30 W @A: Eats fish. ^aa", "11-16 W @A: Does not eat fish. ^bb")
    resolve(memory_on(workspace, TODAY), "bb", "aa", because="she said so")
    hits = ask(workspace, "fish").hits
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


def test_the_loser_was_true_until_then(tmp_path: Path) -> None:
    workspace = told(tmp_path, "10-30 W @A: Eats fish. ^aa", "11-16 W @A: Does not eat fish. ^bb")
    resolve(memory_on(workspace, TODAY), "bb", "aa", since=date(2025, 11, 10))
    assert found(workspace) == []
    (lost,) = (hit for hit in ask(workspace, "fish").hits if hit.content == "Eats fish.")
    assert not lost.retracted
    assert str(lost.valid) == "2025-10-30..2025-11-09"


def test_two_lines_may_hold_side_by_side(tmp_path: Path) -> None:
    workspace = Workspace(fixture_copy(tmp_path))
    resolve(memory_on(workspace, TODAY), "nets-11", "memory/2025-11-18.md#L15", both=True, because="one is Bosun's")
    assert [conflict.sides[0].ref for conflict in found(workspace)] == ["sex-bill"]
    shutil.rmtree(workspace.memory)
    assert [conflict.sides[0].ref for conflict in found(workspace)] == ["sex-bill"]
    hits = {hit.ref: hit for hit in ask(workspace, "how many nets has the station").hits}
    assert not hits["nets-11"].superseded_by and not hits["nets-12"].superseded_by


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
    workspace = told(tmp_path, *lines, "11-16 W(supersedes=cc,src=tool,ttl=9y) @A: Does not eat fish. ^bb")
    (done,) = resolve(memory_on(workspace, TODAY), "bb", "aa").kept
    assert (done.fact.supersedes, done.fact.corrects) == ((), ("aa",))
    assert (done.fact.source, done.fact.ttl, done.fact.block_id) == (None, None, None)


def test_resolving_twice_adds_one_line(tmp_path: Path) -> None:
    workspace = told(tmp_path, "10-30 W @A: Eats fish. ^aa", "11-16 W @A: Does not eat fish. ^bb")
    first = resolve(memory_on(workspace, TODAY), "bb", "aa")
    once = snapshot(tmp_path)
    again = resolve(memory_on(workspace, TODAY), "bb", "aa")
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
def test_a_reason_is_kept_as_one_line(tmp_path: Path, because: str, why: str | None) -> None:
    workspace = told(tmp_path, "10-30 W @A: Eats fish. ^aa", "11-16 W @A: Does not eat fish. ^bb")
    done = resolve(memory_on(workspace, TODAY), "bb", "aa", because=because)
    assert done.kept[0].fact.why == why
    assert found(workspace) == []


@pytest.mark.parametrize("options", [{}, {"both": True}, {"since": date(2025, 11, 20)}])
def test_a_pair_settled_before_is_said_to_be(tmp_path: Path, options: dict[str, object]) -> None:
    workspace = told(tmp_path, "10-30 W @A: Eats fish. ^aa", "11-16 W @A: Does not eat fish. ^bb")
    heard: list[str] = []
    first = resolve(memory_on(workspace, TODAY, heard.append), "bb", "aa", **options).kept[0]  # type: ignore[arg-type]
    resolve(memory_on(workspace, TODAY, heard.append), "bb", "aa", **options)  # type: ignore[arg-type]
    assert heard == []  # the same line again is no second one, and said to be there already
    resolve(memory_on(workspace, TODAY, heard.append), "aa", "bb", because="she eats it again")
    assert heard == [f"settled before: {first.citation} ^{first.ref}"]


def test_a_dry_run_writes_nothing_and_says_what_it_would(tmp_path: Path) -> None:
    workspace = told(tmp_path, "10-30 W @A: Eats fish. ^aa", "11-16 W @A: Does not eat fish. ^bb")
    before = snapshot(tmp_path)
    done = resolve(memory_on(workspace, TODAY), "^bb", "memory/2025-10-30.md#L3", dry_run=True)
    assert snapshot(tmp_path) == before
    assert "+- W(t=2025-11-16..,corrects=aa) @A: Does not eat fish." in done.diff


@pytest.mark.parametrize(
    ("chosen", "other", "options", "error"),
    [
        ("aa", "zz", {}, NothingFound),
        ("zz", "aa", {}, NothingFound),
        ("aa", "aa", {}, Usage),
        ("aa", "memory/2025-10-30.md#L3", {}, Usage),
        ("aa", "memory/2025-10-30.md#L99", {}, NothingFound),
        ("aa", "../secret.md#L1", {}, OutsideWorkspace),
        ("aa", "bb", {"both": True, "since": TODAY}, Usage),
        ("bb", "aa", {"since": date(2025, 10, 29)}, Usage),
        ("aa", "bb", {"because": "key sk-ant-api03-" + "Ab1" * 30}, Refused),
    ],
)
def test_what_cannot_be_resolved(
    tmp_path: Path, chosen: str, other: str, options: dict[str, object], error: type[Exception]
) -> None:
    workspace = told(tmp_path, "10-30 W @A: Eats fish. ^aa", "11-16 W @A: Does not eat fish. ^bb")
    before = snapshot(tmp_path)
    with pytest.raises(error):
        resolve(memory_on(workspace, TODAY), chosen, other, **options)  # type: ignore[arg-type]
    assert snapshot(tmp_path) == before


# -- the commands -----------------------------------------------------------------------------------------------------


def test_the_command_lists_both_sides_with_their_citations(tmp_path: Path) -> None:
    root = fixture_copy(tmp_path)
    done = call(["conflicts"], root)
    assert done.code == 0
    assert done.out == (
        "1. conflict: number: 11 nets against 12 nets\n"
        "   memory/2025-11-18.md#L14 · 2025-11-18 · world · Gull Spit, Irina Volkova ^nets-11\n"
        "      The station has 11 nets; Irina has run them since 2009.\n"
        "   memory/2025-11-18.md#L15 · 2025-11-18 · world · Gull Spit, Alex Petrov ^nets-12\n"
        "      The station has 12 nets; Petrov counted them with a clicker.\n"
        "2. conflict: opposite: female against male\n"
        "   memory/2025-07-08.md#L19 · 2025-07-08 · world · Dumpling, Irina Volkova ^sex-bill\n"
        "      The bird is a female, judging by the bill of 92 mm; Irina is sure.\n"
        "   memory/2025-11-14.md#L11 · 2025-11-14 · world · Dumpling [untrusted: import:lab] ^sex-dna\n"
        "      The bird is a male, by DNA from one feather; report 25-1190.\n"
    )
    assert "memctl resolve nets-11 --over nets-12" in done.err
    assert call(["conflicts", "--about", "Curlew"], root).code == 1
    listed = json.loads(call(["conflicts", "--json"], root).out)["conflicts"]
    assert [side["id"] for side in listed[0]["sides"]] == ["nets-11", "nets-12"]
    assert listed[1]["sides"][1]["trusted"] is False


def test_the_command_resolves(tmp_path: Path) -> None:
    root = fixture_copy(tmp_path)
    dry = call(["resolve", "nets-11", "--over", "nets-12", "--because", "hooks", "--dry-run"], root)
    assert dry.code == 0
    assert (
        "+- W(t=2009-01-01..,why=hooks,corrects=nets-12) @Gull-Spit @Irina-Volkova: The station has 11 nets" in dry.out
    )
    done = call(["resolve", "nets-11", "--over", "nets-12", "--because", "hooks"], root)
    assert done.out.startswith("memory/2025-11-30.md#L")
    assert call(["resolve", "sex-bill", "sex-dna", "--both"], root).code == 0
    gone = call(["conflicts"], root)
    assert (gone.code, gone.out, gone.err) == (1, "", "nothing disagrees\n")
    assert call(["resolve", "nets-11"], root).code == 2
    assert call(["resolve", "nets-11", "nets-12"], root).code == 2
    assert call(["resolve", "nets-11", "--over", "nets-12", "--from", "2025-11-20", "-n"], root).code == 0
    assert call(["resolve", "nets-11", "--over", "nets-12", "--from", "whenever"], root).code == 2
    assert call(["resolve", "nets-11", "--over", "f-nowhere1"], root).code == 1


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


CHANGED = """
replaced: ended  | Eats fish.                    | No longer eats fish.
replaced: value | The water is 24 degrees warm. | The water is 27 degrees warm.
replaced: ended  | Ест рыбу.                     | Больше не ест рыбу.
replaced: ended  | 吃鱼。                        | 不再吃鱼。
"""


@pytest.mark.parametrize(("rule", "one", "other"), table(CHANGED))
def test_what_a_newer_line_may_have_replaced_is_listed_until_it_is_settled(
    tmp_path: Path, rule: str, one: str, other: str
) -> None:
    workspace = told(tmp_path, f"10-30 W @A: {one} ^aa", f"11-16 W @A: {other} ^bb")
    assert [(c.kind, c.rule) for c in found(workspace)] == [("replacement", rule)]
    assert call(["check"], tmp_path).code == 0  # a question is no fault of the pages
    resolve(memory_on(workspace, TODAY), "bb", "aa", since=date(2025, 11, 16))
    assert found(workspace) == []


@pytest.mark.parametrize("attribute", ["settles={}", "for=aa,for=bb"])
def test_an_answer_settles_the_pair_for_good(tmp_path: Path, attribute: str) -> None:
    """`settles=` alone: the two have nothing to do with each other."""
    question = question_id("replaced", "aa", "bb")
    lines = "10-30 W @A: Has 11 nets. ^aa", "11-16 W @A: Has 12 nets. ^bb"
    assert len(found(told(tmp_path, *lines))) == 1
    assert found(told(tmp_path, *lines, f"11-20 S({attribute.format(question)}) @A: Two stations.")) == []
    assert len(found(told(tmp_path, *lines, f"11-20 S(src=web,{attribute.format(question)}) @A: Two stations."))) == 1
