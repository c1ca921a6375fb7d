"""Lessons: which tellings are of one strategy, how often it worked, and what the counts allow to say."""

from __future__ import annotations

import random
from collections import Counter
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st
from strategies import examples, fact_texts, names, texts

import memctl.reflect.lessons
from memctl.facts import Citation
from memctl.markdown.page import parse_page
from memctl.reflect.lessons import RECURRING, RELIABLE, Strategy, TaskOutcome, first_clause, labels, lessons

FIXTURE = Path(__file__).parents[2] / "fixtures" / "workspace"


def outcome(text: str, task: str = "unstick the gateway", ok: bool = True, at: int = 1, **more: object) -> TaskOutcome:
    made = TaskOutcome(task, ok, text, None, (), "2025-11-27", Citation("memory/2025-11-27.md", at, at), f"f-{at}")
    return made._replace(**more)


def together(one: str, other: str, task: str = "unstick the gateway") -> bool:
    """True when two texts are told as one strategy."""
    found = lessons([outcome(one, task), outcome(other, task, at=2)])
    return len(found) == 1 and len(found[0].strategies) == 1


def fixture() -> list[TaskOutcome]:
    """Every outcome of the fixture workspace, from its logs."""
    found = []
    for path in sorted(FIXTURE.glob("memory/*.md")):
        for entry in parse_page(path.read_text("utf-8")).entries:
            if (fact := entry.fact) and fact.outcome:
                cited = Citation(f"memory/{path.name}", *entry.span)
                told = outcome(fact.text, fact.task or "", fact.outcome == "ok", len(found), day=path.stem[:10])
                found.append(told._replace(why=fact.why, entities=fact.entities, citation=cited))
    return found


def test_the_fixture_teaches_to_replay_and_not_to_pull_the_plug() -> None:
    tasks = {task.name or task.entity: task.strategies for task in lessons(fixture())}
    replay, plug = tasks["unstick the gateway, losing nothing"]
    assert replay[:4] == ("Replayed the queue from the SD card", 6, 0, ("reliable",))
    assert any("Прочитал очередь" in one.text for one in replay.outcomes)
    assert plug[:4] == ("Power-cycled the gateway", 0, 2, ("recurring failure",))
    assert [one.why for one in plug.outcomes] == ["a restart empties the send list", "the fault was not in the power"]
    assert "import the paper archive" not in tasks  # somebody did it once: that is no lesson
    assert len(tasks["move Curlew to PostgreSQL"]) == 3
    assert all(one.labels == ("tentative",) for name, found in tasks.items() if "unstick" not in name for one in found)


SAME = [
    ("Replayed the queue from the SD card at 02:50; 39 packets, none lost.", "Replayed the queue from the SD card after the power cut."),
    ("Restarted the service with `systemctl restart gw`.", "Restarted the service (`systemctl restart gw`), 3 s."),
    ("Then restarted the router from the phone.", "Restarted the router from a phone; it worked"),
    ("Wrote the dump to `/mnt/backup` by rsync.", "Wrote a dump to `/mnt/backup` with rsync"),
    ("Upgraded nightjar to v0.9.3.", "Upgraded nightjar to v0.9.4."),
    ("Прочитал очередь с карты; 44 пакета.", "Прочитали очередь с карты после обрыва, 12 пакетов."),
    ("Перезапустил роутер с телефона.", "Перезапустила роутер по телефону; помогло."),
    ("从 SD 卡重放队列；39 个包。", "从 SD 卡重放了队列，没有丢失。"),
    ("用手机重启路由器。", "再次用手机重启路由器；有效。"),
    ("Replayed the SD card with `nightjar-gw replay`.", "Прочитал карту SD (`nightjar-gw replay`)."),
    ("用 `import_sheets.py --dry-run` 检查。", "Checked with `import_sheets.py --dry-run`."),
    ("Replayed the queue.", "Replayed the queue from the SD card."),
    ("Did not touch the router.", "Did not touch the router; it came back."),
    ("Deployed Payments 1.9 without draining the queue, 300 double charges", "Deployed Payments 2.0 without draining the queue, 12 double charges"),
    ("Drained the queue first, then deployed Payments 1.9", "Drained the queue first and then deployed Payments 2.0"),
    ("Сначала слил очередь, потом обновил оплату.", "Сначала слили очередь, потом обновили оплату; без потерь."),
    ("先清空队列再部署支付", "先清空队列，再部署支付；没有重复扣款"),
    ("12:00", "13:00"),
]  # fmt: skip
OTHER = [
    ("Power-cycled the gateway; it came back up.", "Replayed the queue after the power cut."),
    ("Restarted the gateway.", "Repaired the gateway."),
    ("Restarted the gateway.", "Restarted the router."),
    ("Restarted `nightjar-gw`.", "Stopped `nightjar-gw`."),
    ("Copied the queue from the SD card by hand.", "Deleted the queue from the SD card by hand."),
    ("Restarted the router.", "Did not restart the router."),
    ("Mended the fence near the shed for Irina.", "Mended the winch near the shed for Petrov."),
    ("Перезапустил роутер с телефона.", "Не перезапустил роутер с телефона."),
    ("Прочитал очередь с карты.", "Очистил очередь с карты."),
    ("打开阀门。", "关闭阀门。"),
    ("重启网关。", "更换网关。"),
    ("重启路由器。", "没有重启路由器。"),
    ("Restarted `nightjar-gw`.", "Перезапустил `nightjar-gw`."),  # one shared identifier is no strategy
    ("Deployed Payments without draining the queue, 300 double charges", "Drained the queue first, then deployed Payments, no double charges"),
    ("Deployed Payments without draining the queue", "Drained the queue and deployed Payments, no double charges"),
    ("Deployed without draining the queue", "Deployed, draining the queue"),
    ("Drained the queue before deploying", "Drained the queue after deploying"),
    ("Drained the queue first, then deployed", "First deployed, then drained the queue"),
    ("Drained the queue instead of deploying", "Drained the queue, deploying"),
    ("Skipped draining the queue and deployed", "Drained the queue and deployed"),
    ("Обновил оплату без слива очереди.", "Обновил оплату, слив очередь."),
    ("Сначала слил очередь, потом обновил оплату.", "Обновил оплату, потом слил очередь."),
    ("Обновил оплату и слил очередь.", "Обновил оплату вместо того, чтобы слить очередь."),
    ("没有清空队列就部署支付", "先清空队列再部署支付"),
    ("先部署支付再清空队列", "先清空队列再部署支付"),
    ("跳过清空队列部署支付", "清空队列部署支付"),
    ("Waited.", "Called Petrov."),
    ("12:00", "Waited."),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other"), SAME)
def test_one_strategy_in_other_words(one: str, other: str) -> None:
    assert together(one, other) and together(other, one)


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_two_strategies(one: str, other: str) -> None:
    assert not together(one, other) and not together(other, one)


def test_a_chain_of_likeness_joins_its_ends() -> None:
    first = "Replayed the queue from the SD card"
    middle = "Replayed the queue from the SD card with `nightjar-gw replay`"
    last = "Прочитал очередь с карты (`nightjar-gw replay`)"
    assert not together(first, last)
    found = lessons([outcome(text, at=at) for at, text in enumerate((first, last, middle))])
    assert [len(task.strategies) for task in found] == [1]


def test_words_of_the_task_tell_no_strategies_apart_from_each_other() -> None:
    pair = ("Moved Curlew to PostgreSQL with pgloader.", "Moved Curlew to PostgreSQL by hand.")
    assert together(*pair, task="the big day") and not together(*pair, task="move Curlew to PostgreSQL")


def test_a_task_in_other_words_is_the_same_task() -> None:
    spelled = [
        "Unstick the gateway", "unstick gateway", "unstick  the gateway", "unstick the gateways!", "unstick the gateway",
    ]  # fmt: skip
    found = lessons([outcome("Waited.", task, at=at) for at, task in enumerate(spelled)])
    assert [(task.name, task.strategies[0].ok) for task in found] == [("unstick the gateway", 5)]
    found = lessons(
        [outcome("Ждал.", task) for task in ("Сделать копию базы", "сделать копии базы")]
        + [outcome("等。", "恢复备份", at=at) for at in (1, 2)]
    )
    assert [task.name for task in found] == ["Сделать копию базы", "恢复备份"]


def test_without_a_task_strategies_stand_under_their_entity() -> None:
    outcomes = [
        outcome("Waited.", "", entities=()),
        outcome("Released it.", " ", at=2, entities=("Curlew", "Alice")),
        outcome("Released it.", "", at=3, entities=("curlew",)),
        outcome("Released it.", "release", at=4, entities=("Curlew",)),  # once, without a reason: no lesson
    ]
    found = lessons(outcomes)
    assert [(task.name, task.entity, sum(len(one.outcomes) for one in task.strategies)) for task in found] == [
        ("", "Curlew", 2),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("worked", "failed"),
    [
        ("Deployed the site.", "Lock timeout at the first step."), ("Выложил сайт.", "Отказ на первом шаге."), ("部署了网站。", "第一步就锁超时。"),
    ],
)  # fmt: skip
def test_a_way_is_not_reliable_where_its_task_only_failed_lately(worked: str, failed: str) -> None:
    """The failures are told in other words than the successes: "5 ok, then 10 failed" is not reliable."""
    before = [outcome(worked, at=n) for n in range(1, 6)]
    after = [outcome(failed, ok=False, at=n) for n in range(6, 11)]

    def told(*outcomes: TaskOutcome) -> set[str]:
        return {label for task in lessons(outcomes) for strategy in task.strategies for label in strategy.labels}

    assert told(*before, *after) == {"tentative", "recurring failure"}
    assert told(*before, *after[:4]) == {"reliable", "recurring failure"}


@pytest.mark.parametrize(
    ("outcomes", "told"),
    [
        ("++++", ("tentative",)), ("+++++", ("reliable",)), ("-+++++", ("reliable",)), ("+++++-", ("reliable",)),
        ("+-", ("tentative",)), ("--", ("recurring failure",)), ("++++--", ("recurring failure",)),
        ("+++++----------", ("recurring failure",)), ("--+++++", ("reliable",)), ("+++++-+++++-", ("reliable", "recurring failure")),
    ],
)  # fmt: skip
def test_labels_by_what_worked_lately(outcomes: str, told: tuple[str, ...]) -> None:
    """Reliable from five successes, a failure from two, as far as the newest five bear it out."""
    assert labels([each == "+" for each in outcomes]) == told
    days = [
        outcome("Restarted the router.", ok=each == "+", at=at, day=f"2025-11-{at + 1:02}")
        for at, each in enumerate(outcomes)
    ]
    (task,) = lessons(days)
    (strategy,) = task.strategies
    assert (strategy.ok, strategy.failed, strategy.labels) == (outcomes.count("+"), outcomes.count("-"), told)
    assert (RELIABLE, RECURRING) == (5, 2)


@pytest.mark.parametrize(
    ("why", "importance", "task", "is_lesson"),
    [("lock timeout", None, "deploy", True), (None, 0.8, "обновить базу", True), (None, None, "部署", False), ("lock timeout", 0.9, "", False)],
)  # fmt: skip
def test_one_outcome_is_a_lesson_if_its_author_says_so(
    why: str | None, importance: float | None, task: str, is_lesson: bool
) -> None:
    told = outcome("Ran it.", task, ok=False)._replace(why=why, importance=importance)
    assert bool(lessons([told])) == is_lesson


def test_reliable_strategies_come_first_then_failures() -> None:
    outcomes = [outcome("Waited.", at=1), *(outcome("Kicked the box.", ok=False, at=2 + at) for at in range(2))]
    outcomes += [outcome("Replayed the queue.", at=10 + at) for at in range(5)]
    (task,) = lessons(outcomes)
    assert [one.name for one in task.strategies] == ["Replayed the queue", "Kicked the box", "Waited"]


def test_a_strategy_is_named_by_its_most_typical_telling() -> None:
    told = [
        "After supper replayed the queue from the SD card in great haste",
        "Replayed the queue from the SD card",
        "Replayed the queue from SD card 2",
    ]
    (task,) = lessons([outcome(f"{text}; fine.", at=at) for at, text in enumerate(told)])
    assert [one.name for one in task.strategies] == ["Replayed the queue from the SD card"]
    (task,) = lessons(
        [outcome(text, at=at, day=f"2025-11-0{9 - at}") for at, text in enumerate(["Waited!", "waited", "Waited;"])]
    )
    assert task.strategies[0].name == "Waited"  # all equally typical: the oldest


@pytest.mark.parametrize(
    ("text", "clause"),
    [
        ("Replayed the queue; 61 packets.", "Replayed the queue"), ("Ran `a; b` twice; fine", "Ran `a; b` twice"), ("Waited.", "Waited"),
        ("Deleted logs, caches and tiles. Then slept.", "Deleted logs, caches and tiles"), ("Used v0.9.3 on it", "Used v0.9.3 on it"),
        ("Отправили анкету, на одной странице. Успели.", "Отправили анкету, на одной странице"), ("Ждал — и дождался", "Ждал"),
        ("用脚本导入环志表，共 41,280 行", "用脚本导入环志表"), ("首先，重启路由器。", "首先，重启路由器"), ("重启；好了", "重启"),
        ("e.g. restarted it", "e.g. restarted it"), ("; what", "; what"), (".", "."), ("Did it!", "Did it!"),
    ],
)  # fmt: skip
def test_the_first_clause(text: str, clause: str) -> None:
    assert first_clause(text) == clause


WORDS = [
    "restarted", "replayed", "queue", "card", "router", "the", "a", "`gw", "replay`", "SD", "v1.2", "NJ-04", "not", "by", "hand;",
    "44", "очередь", "карты", "прочитал", "не", "重放", "队列", "从卡", "，",
]  # fmt: skip
TEXTS = st.one_of(st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join), fact_texts())
OUTCOMES = st.builds(
    TaskOutcome, st.sampled_from(["", "unstick it", "Unstick it", "重启", "restart the router"]) | texts(2), st.booleans(), TEXTS,
    st.none() | texts(2), st.lists(names(), max_size=2).map(tuple), st.none() | st.dates().map(str),
    st.builds(lambda at: Citation("memory/x.md", at, at), st.integers(1, 99)), st.sampled_from(["f-1", "f-2", "f-3"]),
)  # fmt: skip


@given(st.lists(OUTCOMES, max_size=14), st.randoms(use_true_random=False))
@settings(max_examples=examples(200), deadline=None)
def test_lessons_are_a_function_of_the_set_and_count_nothing_twice(
    outcomes: list[TaskOutcome], rng: random.Random
) -> None:
    found = lessons(outcomes)
    assert lessons(rng.sample(outcomes, len(outcomes))) == found
    told = [one for task in found for strategy in task.strategies for one in strategy.outcomes]
    assert Counter(told) <= Counter(outcomes)
    for task in found:
        for strategy in task.strategies:
            check(strategy)


def check(strategy: Strategy) -> None:
    assert strategy.ok == sum(one.ok for one in strategy.outcomes)
    assert strategy.ok + strategy.failed == len(strategy.outcomes)
    outcomes = [one.ok for one in strategy.outcomes]
    assert strategy.labels in (labels(outcomes), labels(outcomes, lately_failed=True))
    assert strategy.name in {first_clause(one.text) for one in strategy.outcomes}
    days = [one.day or "" for one in strategy.outcomes]
    assert days == sorted(days)


@given(st.lists(TEXTS, min_size=2, max_size=9, unique=True))
@settings(max_examples=examples(150), deadline=None)
def test_what_is_alike_in_a_pair_is_together_in_the_task(told: list[str]) -> None:
    """Blocking by rare words misses no pair: what joins two texts alone joins them among others (identifiers aside)."""
    plain = [text for text in (text.replace("`", "").lower() for text in told) if text.strip()]
    (task,) = lessons([outcome(text, "x", at=at) for at, text in enumerate(plain)]) if len(plain) > 1 else [None]
    home = {one.text: at for at, strategy in enumerate(task.strategies if task else ()) for one in strategy.outcomes}
    for one, other in combinations(plain, 2):
        if together(one, other, "x"):
            assert home[one] == home[other]


def test_many_outcomes_of_one_task_need_few_comparisons(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of all pairs only those that share a rare word are compared."""
    count = examples(2000, part=3)
    rng = random.Random(1)
    vocabulary = ["".join(rng.choices("bdgklmnprst", k=3)) + "a" * (at % 3) for at in range(3000)]
    kinds = {
        "all alike": [f"Replayed the queue from the SD card after {rng.choice(vocabulary)} {rng.choice(vocabulary)}" for _ in range(count)],
        "all other": [f"Mended {rng.choice(vocabulary)} near {rng.choice(vocabulary)} for {rng.choice(vocabulary)}" for _ in range(count)],
        "mixed": [" ".join(rng.choices(vocabulary[:60], k=5)) for _ in range(count)],
        "一样": [f"从卡{rng.choice('一二三四五六七八九')}重放队列{rng.choice('甲乙丙丁')}第{at}次" for at in range(count)],
    }  # fmt: skip
    compared: list[int] = []
    alike = memctl.reflect.lessons._Likeness._alike
    monkeypatch.setattr(memctl.reflect.lessons._Likeness, "_alike", lambda *pair: compared.append(1) or alike(*pair))
    for kind, told in kinds.items():
        compared.clear()
        (task,) = lessons([outcome(text, at=at) for at, text in enumerate(told)])
        assert sum(len(one.outcomes) for one in task.strategies) == count
        print(f"{kind}: {len(task.strategies)} strategies, {len(compared)} comparisons of {count}")
        assert len(compared) < (count * count * 0.15 if kind == "mixed" else 25 * count), kind  # mixed: 60 words in all
