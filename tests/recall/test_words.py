"""The channel of words: what a question finds in lines, beside them and above them, and how it explains itself."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from face_helpers import TODAY, ask, memory_on, the_hit, write_pages

from memctl.index.heal import with_index
from memctl.index.index import Index
from memctl.index.open_memory import on_fresh_index
from memctl.index.queries.entries import by_ids
from memctl.index.queries.filters import condition_of
from memctl.index.sync import sync
from memctl.recall.query import read_query
from memctl.recall.rank import Score
from memctl.recall.search_words import search_words
from memctl.recall.surroundings import explain_empty

PAGES = {
    "memory/2025-11-01.md": "# Harbour\n\nWho repaired the winch?\nNobody knows yet.\n\nThe ferry was late.\n\n## Weather\n\nA storm warning.\n",
    "memory/2025-11-02.md": "- W @Петров: Repaired the generator\n- W: Alex Petrov has a chair\n- O(0.9) @Irina: Trusts the generator\n",
    "bank/entities/Alex-Petrov.md": "---\naliases: [Петров, Лёша]\n---\n# Alex Petrov\n",
    "bank/entities/Irina.md": "# Irina\n",
}


@pytest.fixture(scope="module")
def asking(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., dict[str, Score]]:
    """Ask the channel alone: the content's first line of each entry found -> how it was found."""
    workspace = write_pages(tmp_path_factory.mktemp("words"), PAGES)

    def found(words: str, limit: int = 50, **filters: Any) -> dict[str, Score] | None:
        query = read_query(words, TODAY, **filters)

        def job(index: Index) -> dict[str, Score] | None:
            sync(workspace, index)
            found = search_words(index, query, condition_of(query, query.about), limit)
            if found is None:
                return None
            entries = by_ids(index, found)
            return {f"{entries[i].path.split('/')[-1]}#L{entries[i].line}": value for i, value in found.items()}

        return with_index(workspace, job)

    return found


def test_no_question_is_not_the_same_as_words_that_stand_nowhere(asking) -> None:
    """Nothing to look for: None, so that the newest are taken."""
    assert asking("") is None and asking("?!") is None and asking("xyzzy plugh") == {}


def test_relevance_lies_between_0_and_1(asking) -> None:
    """It is a share of what a perfect line would have; ranks count from 1 without gaps."""
    found = asking("who repaired the generator or the winch")
    assert all(0 < value.relevance <= 1 for value in found.values())
    assert sorted(next(iter(value.why.values())) for value in found.values()) == list(range(1, len(found) + 1))


def test_the_parts_say_where_the_words_stand(asking) -> None:
    """`own` in the line itself, `near` beside it, `heading` above it; the channel is named after the best of them."""
    found = asking("storm weather")
    assert found["2025-11-01.md#L10"].parts["own"] == "storm"
    assert found["2025-11-01.md#L10"].parts["heading"] == "weather"
    assert found["2025-11-01.md#L10"].parts["level"] == "all"
    beside = asking("winch").get("2025-11-01.md#L6", None)
    assert beside is None or beside.why == {"near": 2}


def test_a_heading_is_a_wall(asking) -> None:
    """Lines under another heading are no neighbours."""
    assert "2025-11-01.md#L10" not in asking("ferry")


def test_the_limit_keeps_the_best(asking) -> None:
    """Fewer candidates are the first of more."""
    whole, few = asking("generator Irina Petrov chair"), asking("generator Irina Petrov chair", limit=2)
    assert list(few) == list(whole)[:2]


def test_another_name_of_whom_the_question_names_counts_as_that_name(asking) -> None:
    """The line says @Петров and the question Alex Petrov: found, and marked as naming that entity."""
    for name in ("Alex Petrov", "Петров", "Лёша", "Петрову"):
        found = asking(f"{name} repaired")
        assert found["2025-11-02.md#L3"].why.get("entity") == 1, name
        assert "2025-11-02.md#L3" in list(found)[:2], name


@pytest.mark.parametrize("asked", ["Петров", "петров", "Петрова", "петрову", "с Петровым", "о петрове"])
def test_a_surname_finds_all_its_forms(tmp_path: Path, asked: str) -> None:
    """Capital or not, whatever the case; a genitive plural is still one."""
    lines = [
        "Петров чинил лебёдку.", "Лебёдку чинили без Петрова.", "Позвонить Петрову.", "Серверов стало семь.", "Паром опоздал.",
    ]  # fmt: skip
    workspace = write_pages(tmp_path, {"memory/2025-11-01.md": "".join(f"- W: {line}\n" for line in lines)})
    assert {hit.content for hit in ask(workspace, f"где {asked}?").hits} == set(lines[:3])
    assert [hit.content for hit in ask(workspace, "сервер").hits] == [lines[3]]


def test_a_guess_weighs_half(asking) -> None:
    """A word found only as a beginning counts less than the word itself."""
    whole, guessed = asking("generator chair"), asking("genera chair")
    best = "2025-11-02.md#L3"
    assert guessed[best].relevance < whole[best].relevance
    assert guessed[best].parts["own"] == "genera"


def test_filters_hold_within_the_channel(asking) -> None:
    """Only what passes comes out, though the lines beside it still help."""
    assert set(asking("generator", kinds=["opinion"])) == {"2025-11-02.md#L5"}
    assert asking("generator", until="2025-11-01") == {}


def test_a_time_in_the_question_lifts_the_lines_of_that_time(tmp_path: Path) -> None:
    """Of hundreds of lines that say as much, those of that day come first, whatever their place in the index."""
    asked = {
        "2025-03-05": "on 5 March 2025",
        "2025-04-06": "6 апреля 2025",
        "2025-05-07": "2025年5月7日",
        "2025-06-08": "2025-06-08",
    }
    days = [f"2025-10-{n:02}" for n in range(1, 29)] + list(asked)
    letters = "abcdefghijklmnopqrstuvwxyzабвгдежз"
    pages = {}
    for letter, day in zip(letters, days, strict=False):
        pages[f"memory/{day}.md"] = "".join(f"- W: the harvest of sack {letter}{other}q\n" for other in letters[:20])
    workspace = write_pages(tmp_path, pages)
    for day, words in asked.items():
        assert {hit.day for hit in ask(workspace, f"harvest {words}", k=14).hits} == {day}, words


def reasons(folder: Path, words: str, **filters: Any) -> list[str]:
    """What why_empty tells about a question."""
    workspace = write_pages(folder, PAGES)
    query = read_query(words, TODAY, **filters)
    told = on_fresh_index(lambda at: list(explain_empty(at, query, query.about, condition_of(query, query.about))))
    return told(memory_on(workspace))


def test_missing_words_are_named_as_they_were_written(tmp_path: Path) -> None:
    """Not their stems; once each; without the marks around them; words that stand somewhere are not blamed."""
    told = reasons(tmp_path, "Databases, «Рейкьявик», databases and the winch?")
    assert told[1] == "no page holds: Databases, Рейкьявик"


@pytest.mark.parametrize(
    ("words", "missing"),
    [
        ("谁赢了国际象棋比赛？", "赢, 国际象棋比赛"),
        ("请问Kafka做什么？", "Kafka, 做"),
        ("国际象棋 xyzzy", "国际象棋, xyzzy"),
    ],
)
def test_of_a_sentence_without_spaces_the_words_are_named(tmp_path: Path, words: str, missing: str) -> None:
    assert reasons(tmp_path, words)[1] == f"no page holds: {missing}"


def test_a_long_list_and_a_long_word_are_cut(tmp_path: Path) -> None:
    """A pasted document does not come back as its own error message."""
    words = ("zq" + chr(97 + n % 26) + chr(97 + n // 26) + "zq" for n in range(500))
    told = reasons(tmp_path, " ".join(words) + " " + "x" * 5000)
    assert told[1].endswith("and 493 more") and all(len(line) < 700 for line in told)


def test_the_filter_that_empties_is_named(tmp_path: Path) -> None:
    """Alone if it does so alone, else all of them together."""
    assert reasons(tmp_path, "winch", key="db")[1:] == ["no entry passes the filter key:db"]
    assert reasons(tmp_path, "", kinds=["opinion"], until="2025-11-01")[1:] == [
        "no entry passes all the filters kind:opinion until:2025-11-01"
    ]
    assert reasons(tmp_path, "winch", kinds=["opinion"])[1:] == [
        "1 entry passes the filters kind:opinion, and none holds those words"
    ]


def test_a_plain_mention_is_an_entity_of_the_hit(tmp_path: Path) -> None:
    """A known name in the text counts as if it were written with @."""
    hit = the_hit(ask(write_pages(tmp_path, PAGES), "chair"), "Alex Petrov has")
    assert hit.entities == ("Alex Petrov",)


@pytest.mark.parametrize("said", ["albatross contract", "договор альбатроса", "信天翁合同"])
def test_what_is_over_lends_its_words_to_no_line_beside_it(tmp_path: Path, said: str) -> None:
    day = f"- W(ttl=5d): {said}\n- W: Deploys happen on Tuesday\n- W: The hall has a door\n"
    workspace = write_pages(tmp_path, {"memory/2025-01-05.md": day})
    assert not ask(workspace, said).hits
    assert ask(workspace, said, history=True).hits[0].content == said


@pytest.mark.parametrize(
    ("asked", "content"),
    [
        ("what does the sightings store run on?", "Runs on PostgreSQL 16"),
        ("На чём работает база наблюдений?", "Runs on PostgreSQL 16"),
        ("观测库用什么？", "Runs on PostgreSQL 16"),
        ("deployment on tablets", "Plug in the cable, then wait for the green lamp."),
        ("развёртывание", "Сначала включите кабель."),
        ("部署", "先插电缆。"),
    ],
)
def test_other_names_and_headings_are_cues(tmp_path: Path, asked: str, content: str) -> None:
    """Without a model: what a line is about in other words stands in the names of its entity, and above it."""
    names = "---\naliases: [База наблюдений, 观测库, the sightings store]\ntags: [store]\n---\n# Curlew\n"
    steps = ("Deployment on tablets", "Plug in the cable, then wait for the green lamp.", "Развёртывание", "Сначала включите кабель.", "部署", "先插电缆。")  # fmt: skip
    handbook = "# Handbook\n\n" + "\n\n".join(
        f"## {head}\n\n{said}" for head, said in zip(steps[::2], steps[1::2], strict=True)
    )
    log = "## Retain\n\n- W @Curlew: Runs on PostgreSQL 16\n- W @Ada: Likes tea\n"
    pages = {"bank/entities/Curlew.md": names, "memory/2025-11-20.md": log, "notes/handbook.md": handbook}
    first = ask(write_pages(tmp_path, pages), asked).hits[0]
    assert content in (first.content, *(line.content for line in first.passage))
