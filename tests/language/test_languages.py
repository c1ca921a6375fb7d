"""Languages that are data alone: each file of tests/data/languages says what is read of one, and every language has what it needs."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from face_helpers import TODAY, memory_on, write_pages

from memctl.language import words as module
from memctl.language.analyzer import query_terms, terms
from memctl.language.dates import find_times, parse_when
from memctl.language.relations import relation
from memctl.language.sentences import is_change, is_correction, is_past, is_plan
from memctl.language.words import default_languages, languages, languages_of, lines, rivals
from memctl.memory import Memory

FILES = sorted((Path(__file__).parents[1] / "data/languages").glob("*.toml"))
TOLD = {path.stem: tomllib.loads(path.read_text("utf-8")) for path in FILES}
MEANT = {"plan": is_plan, "past": is_past, "change": is_change, "correction": is_correction}


@pytest.fixture(scope="module", params=TOLD)
def told(request: pytest.FixtureRequest) -> dict[str, Any]:
    """What a file says of its language."""
    return TOLD[request.param]


@pytest.fixture(scope="module")
def memory(told: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Memory:
    """The pages of the file."""
    return memory_on(
        write_pages(tmp_path_factory.mktemp("told"), {path: text.lstrip() for path, text in told["pages"].items()})
    )


def rows(table: str) -> list[tuple[str, str, str]]:
    """The rows of a table of all files, each behind its language."""
    return [(language, *row) for language, told in TOLD.items() for row in told.get(table, {}).items()]


def test_a_question_finds_its_line(memory: Memory, told: dict[str, Any]) -> None:
    found = {question: memory.recall(question).hits[0].content for question in told["first_hits"]}
    assert not {question: line for question, line in found.items() if not line.startswith(told["first_hits"][question])}


def test_what_is_true_now_supersedes_what_was(memory: Memory, told: dict[str, Any]) -> None:
    """Both lines fill a slot: the later one closes the earlier one."""
    for case in told.get("replaced", ()):
        hits = {hit.content: hit for hit in memory.recall(case["question"]).hits}
        older, newer = hits[case["older"]], hits[case["newer"]]
        assert (older.superseded_by, newer.superseded_by, str(older.valid)) == (newer.ref, None, case["held"])


def test_filters_understand_its_days(memory: Memory, told: dict[str, Any]) -> None:
    """--since and --until name days in any language."""
    case = told["filters"]
    assert {hit.day for hit in memory.recall(case["word"], **case["flags"]).hits} == set(case["days"])


@pytest.mark.parametrize(("language", "text", "days"), [*rows("days"), *rows("days_alone"), *rows("days_within")])
def test_days(language: str, text: str, days: str) -> None:
    """As a whole string and within a sentence."""
    within = [str(found.period) for found in find_times(TOLD[language]["says_when"].format(text), TODAY)]
    assert within == ([] if text in TOLD[language].get("days_alone", ()) else [days])
    assert text in TOLD[language].get("days_within", ()) or str(parse_when(text, TODAY)) == days


@pytest.mark.parametrize(("language", "text", "slot"), rows("relations"))
def test_relations(language: str, text: str, slot: str) -> None:
    found = relation(text, ("Atlas",))
    assert (f"{found.key} {found.value}" if found else "") == slot


@pytest.mark.parametrize(("language", "text", "meant"), rows("meant"))
def test_how_a_line_is_meant(language: str, text: str, meant: str) -> None:
    assert MEANT[meant](text) if meant else not any(asked(text) for asked in MEANT.values())


PLAIN = [
    ("en", "PostgreSQL 16", "en"),
    ("en", "for e in entries if e", "en"),
    *((each, "", each) for each in ("en", "ru", "zh")),
]


@pytest.mark.parametrize(("language", "text", "spoken"), [*rows("texts"), *PLAIN])
def test_the_language_of_a_text(language: str, text: str, spoken: str) -> None:
    found = languages_of(text)
    assert spoken in found and not set(rivals(spoken)) & set(found)
    assert find_times(text, TODAY) == ()


def test_a_word_alone_finds_what_a_sentence_holds(told: dict[str, Any]) -> None:
    """A sentence keeps the default stems beside its own ones, because a word tells no language."""
    case = told["stems"]
    assert {*terms(case["word"]), *query_terms(case["question"])} <= set(terms(case["sentence"]))


NEEDED = {"language": {"script"}, "stopwords": {"words"}, "dates": {"words"}, "modality": {"plan"}}


@pytest.mark.parametrize("language", languages())
def test_what_every_language_has(language: str) -> None:
    """The sections that none goes without; and none that no complete language has, such as a misspelt one."""
    wrong = [
        f"{topic}.txt lacks [{each}]" for topic in NEEDED for each in NEEDED[topic] - lines(language, topic).keys()
    ]
    for topic in (path.stem for path in (Path(module.__file__).parent / "data" / language).glob("*.txt")):
        known = {"signs", "stemmer"}.union(*(lines(each, topic) for each in default_languages()))
        wrong += [f"{topic}.txt has [{name}], which nothing reads" for name in {*lines(language, topic)} - known]
    if language not in (*default_languages(), *TOLD):
        wrong.append(f"nothing is told of it in tests/data/languages/{language}.toml")
    assert not wrong, f"language/data/{language}: {'; '.join(wrong)} (docs/languages.md)"
