"""What a newer line replaces in words: the judge of two statements, and what recall, context and servers make of a pair."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest
from face_helpers import TODAY, ask, call, memory_on, write_pages

from memctl.context.context import ContextOptions, context
from memctl.facts import Kind
from memctl.index.index import Index
from memctl.judgement import RULES, Tier
from memctl.language.analyzer import terms
from memctl.notes.workspace import Workspace
from memctl.recall.query import read_query
from memctl.recall.recall import recall
from memctl.truth.change import Statement, judge_change
from memctl.truth.replaced import orders, replaced_since

DAYS = date(2025, 10, 1), date(2025, 11, 1)


def judged(one: str, other: str, kind: Kind = Kind.NOTE, names: str = "", together: bool = False) -> str:
    """The rule by which the newer of two lines replaces the older; empty for none."""
    about = frozenset(terms(names))
    days = (DAYS[0], DAYS[0]) if together else DAYS
    found = judge_change(*(Statement(text, about, kind, day) for text, day in zip((one, other), days, strict=True)))
    return found.judgement.rule if found else ""


CHANGED = """
I live in Hull.                        | I moved to Bath in May.                         | replaced: topic
I have a red canoe.                    | Sold the canoe to Pete.                         | replaced: change
My rent is 700 euros a month.          | My rent is 760 euros a month.                   | replaced: value
The choir meets on Mondays.            | The choir meets on Thursdays.                   | replaced: value
I play squash with Ruth.               | I no longer play squash with Ruth.              | replaced: ended
We fly to Malta in April.              | We cancelled the flight to Malta.               | replaced: ended
Я живу в Перми.                        | Переехал в Тверь.                               | replaced: topic
Езжу на старой Ниве.                   | Ниву продал.                                    | replaced: change
Плачу за гараж 3000 рублей.            | Плачу за гараж 3500 рублей.                     | replaced: value
Хор собирается по понедельникам.       | Хор собирается по четвергам.                    | replaced: value
我住在苏州。                           | 搬到了合肥。                                    | replaced: topic
我用的是佳能相机。                     | 佳能相机卖了。                                  | replaced: ended
车位每月三百。                         | 车位每月四百。                                  | replaced: value
合唱团周一排练。                       | 合唱团周四排练。                                | replaced: value
"""

FACTS = """
Needs two coffees before work.         | No coffee at all since the operation.
The spare key is with Mrs Hill.        | Mrs Hill moved out; the key hangs by the gate.
Depot: nine crates of lamps.           | Depot: eleven crates of lamps.
Запасной ключ лежит у Равиля.          | Равиль уехал, комплект у сторожа.
Аренда гаража 2500 рублей.             | Хозяин поднял аренду до 3200 рублей.
午饭在食堂吃。                         | 食堂太油，自己带饭。
咖啡豆放在后厨。                       | 咖啡豆挪到了地下室。
"""

ENDED_OR_ARRANGED = """
The tiller key is with Graham.         | Graham stood down; Yusra was elected.
Takes 5 mg of ramipril.                | The dose of ramipril was raised to 10 mg.
Builds run on Jenkins.                 | Ported the builds to Buildkite.
Rents a room above the bakery.         | Has moved in with her sister.
Ключ от эллинга у Геннадия.            | Геннадий умер, эллинг открывает Юля.
Принимает 5 мг рамиприла.              | Врач поднял рамиприл до 10 мг.
Муку берут у Нестерова.                | Договор на муку подписали с комбинатом.
Снимает комнату у вокзала.             | Переехала к сестре.
钥匙在老葛那里。                       | 老葛退休了，钥匙归于莎。
每天吃5毫克雷米普利。                  | 雷米普利加到10毫克。
构建跑在Jenkins上。                    | 构建切到GitLab了。
住在面包店楼上。                       | 搬去和姐姐合租。
"""

BOTH_HOLD = """
a detail         | Sings in a choir.                | Sings in the choir Miras.
подробность      | Поёт в хоре.                     | Поёт в хоре «Мирас».
细节             | 住在绍兴。                       | 住在绍兴柯桥。
an event         | Ran 5 km.                        | Ran 10 km.
an event         | Paid 30 euros for lunch.         | Paid 45 euros for lunch.
one of many      | Likes jazz.                      | Likes tea.
one more         | I have a kayak.                  | I also have a canoe now.
somebody else    | I live in Hull.                  | My sister now lives in Bath.
somebody else    | Lives in Hull.                   | Her sister moved to Bath.
somebody else    | Живёт в Перми.                   | Сестра переехала в Тверь.
somebody else    | 住在苏州。                       | 姐姐搬到了合肥。
another thing    | The left lamp is green.          | The right lamp is now red.
another thing    | Sensor T1 reports every hour.    | Sensor T2 now reports every minute.
a question       | I drink coffee.                  | Do I still drink coffee now?
a condition      | I smoke a pipe.                  | If the doctor insists, I no longer smoke a pipe.
nothing given up | I play the harp.                 | I will never stop the harp.
событие          | Пробежал 5 км.                   | Пробежал 10 км.
одно из многих   | Люблю джаз.                      | Люблю чай.
кто-то другой    | Я живу в Перми.                  | Сестра теперь живёт в Твери.
другое           | Левая лампа зелёная.             | Правая лампа теперь красная.
事件             | 跑了五公里。                     | 跑了十公里。
其中之一         | 喜欢爵士乐。                     | 喜欢喝茶。
别人             | 我住在苏州。                     | 我姐姐现在住在合肥。
"""


def table(text: str) -> list[list[str]]:
    """The cells of a table, a list a row."""
    return [[cell.strip() for cell in line.split("|")] for line in text.strip().split("\n")]


@pytest.mark.parametrize(("one", "other", "rule"), table(CHANGED))
def test_a_change_is_seen_in_plain_words(one: str, other: str, rule: str) -> None:
    assert judged(one, other) == rule
    assert judged(one, one) == ""


@pytest.mark.parametrize(("why", "one", "other"), table(BOTH_HOLD))
def test_lines_that_both_hold_are_left_alone(why: str, one: str, other: str) -> None:
    assert judged(one, other) == "", why
    assert judged(one, other, Kind.WORLD, "Anna") == "", why


@pytest.mark.parametrize(("one", "other"), table(FACTS))
def test_facts_that_share_a_telling_word_are_asked_about(one: str, other: str) -> None:
    """Of one entity, in other words: how the old state ended, another value, another place."""
    rule = judged(one, other, Kind.WORLD, "Anna")
    assert rule and RULES[rule].tier_from() is Tier.ASKED
    assert judged(one, one, Kind.WORLD, "Anna") == ""


@pytest.mark.parametrize(("one", "other"), table(ENDED_OR_ARRANGED))
def test_what_became_of_the_old_tells_of_a_change(one: str, other: str) -> None:
    """It stopped, was raised, was agreed anew; and whom one moves in with is not who moves."""
    assert judged(one, other, Kind.WORLD, "Anna") in ("replaced: change", "replaced: topic", "replaced: value")


NEW_PARTS = """
NJ-01 hangs at the winch, NJ-02 on the beacon. | A new battery in NJ-02: four cells.       | A new beacon for NJ-02.
Ящик NJ-02 висит на маячке.                    | Новый блок питания NJ-02 из четырёх элементов. | Новый маячок для NJ-02.
NJ-02 挂在灯塔上。                              | NJ-02 用了新电池。                         | NJ-02 换了新灯塔。
"""


@pytest.mark.parametrize(("one", "other", "replacing"), table(NEW_PARTS))
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


PAIRS = [
    ("10-03 I live in Hull. ^aa", "11-04 Unpacked the last box. Bath is home now. ^bb", "where do I live"),
    ("10-03 Я живу в Перми. ^aa", "11-04 Переехал в Тверь. ^bb", "где я живу"),
    ("10-03 我住在苏州。 ^aa", "11-04 上周搬到了合肥。 ^bb", "我住在哪里"),
    ("10-03 W @Anna: Has three dogs. ^aa", "11-04 W @Anna: Has four dogs. ^bb", "how many dogs has Anna"),
    ("10-03 W @A: Teresa does the books. ^aa", "11-04 W @A: Teresa retired, Jo does the books. ^bb", "who does books"),
    ("10-03 По утрам пью чёрный чай. ^aa", "11-04 Чёрный чай бросил, по утрам кофе. ^bb", "что я пью утром"),
    ("10-03 W @Wes: Rents a room above a shop. ^aa", "11-04 W @Wes: Has a flat by the canal. ^bb", "Wes shop"),
    ("10-03 W @Глеб: Ездит на автобусе. ^aa", "11-04 W @Глеб: Ходит пешком вдоль реки. ^bb", "Глеб автобус"),
    ("10-03 W @小范: 坐公交来店里 ^aa", "11-04 W @小范: 骑自行车上下班 ^bb", "小范公交"),
    ("10-03 W @Cafe: Beans come from Harper. ^aa", "11-04 W @Cafe: Beans come by post, a shop closed. ^bb", "Harper"),
    ("10-03 W @Кафе: Зёрна привозит Ольга. ^aa", "11-04 W @Кафе: Зёрна идут почтой, магазин закрылся. ^bb", "Ольга"),
    ("10-03 W @店: 咖啡豆由老周的店里送来。 ^aa", "11-04 W @店: 咖啡豆全部走快递送来，老店关门了。 ^bb", "老周"),
    ("10-03 W(key=db): PostgreSQL ^aa", "11-04 Решили переходить на MongoDB. ^bb", "which postgresql"),
    ("10-03 W(key=db): PostgreSQL ^aa", "11-04 We decided to move the database to MongoDB. ^bb", "which postgresql"),
]


@pytest.mark.parametrize(("older", "newer", "question"), PAIRS)
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


ANSWERED_AGAIN = """
bb | W @Anna: The boat is moored at the quay. | W @Anna: The boat lies on a trailer.        | Where is Anna's boat?
aa | W @Wes: Drives a white van.              | W @Wes: Guitar lessons are on Thursdays.    | What does Wes drive?
aa | W @Лёва: Боится собак.                   | W @Лёва: Ходит в кружок лепки.              | Чего боится Лёва?
aa | W @大刚: 对花粉过敏                       | W @大刚: 爱看川剧                            | 大刚对什么过敏？
aa | W @Wes: Learning the guitar.             | W @Wes: Guitar lessons are on Thursdays.    | What is Wes learning?
"""


@pytest.mark.parametrize(("first", "older", "newer", "question"), table(ANSWERED_AGAIN))
def test_a_newer_line_stands_first_where_it_meets_half_of_what_the_older_meets_names_apart(
    tmp_path: Path, first: str, older: str, newer: str, question: str
) -> None:
    hits = ask(told(tmp_path, f"10-03 {older} ^aa", f"11-04 {newer} ^bb", "10-20 Rain."), question).hits
    assert hits[0].ref == first
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_faces_say_it_in_a_plain_word(tmp_path: Path) -> None:
    told(tmp_path, "10-03 W @Anna: Has three dogs. ^aa", "11-04 W @Anna: Has four dogs. ^bb")
    assert "[perhaps replaced by ^bb]" in call(["recall", "dogs"], tmp_path).out
    hits = json.loads(call(["recall", "dogs", "--json"], tmp_path).out)["hits"]
    assert [hit.get("perhaps_superseded_by") for hit in hits] == [None, "bb"]


@pytest.mark.parametrize(("line", "later", "said"), [
    ("W(key=city) @Anna: Lives in Hull ^aa", "W(key=city) @Anna: Lives in Bath ^bb", "until 2025-11-03, replaced by ^bb"),
    ("W @Анна: Живёт в Перми ^aa", "W(corrects=aa) @Анна: Живёт в Твери ^bb", "never true, corrected by ^bb"),
    ("W(until=2025-10-09) @安娜: 住在苏州 ^aa", "W @Else: Rain ^bb", "ended 2025-10-09"),
    ("W(src=web:example.com) @Anna: Lives in Hull ^aa", "W @Else: Rain ^bb", "untrusted: web:example.com"),
])  # fmt: skip
def test_every_face_says_the_same_of_what_does_not_hold(tmp_path: Path, line: str, later: str, said: str) -> None:
    told(tmp_path, f"10-03 {line}", f"11-04 {later}")
    (hit,) = (
        hit for hit in ask(Workspace(tmp_path), line.split(": ")[-1].removesuffix(" ^aa")).hits if hit.ref == "aa"
    )
    assert hit.marks == [said]
    assert f"[{said}]" in call(["recall", hit.content], tmp_path).out
    assert hit.standing in call(["act"], tmp_path, stdin=f'[SEARCH_MEMORY query="{hit.content}"]').out


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
