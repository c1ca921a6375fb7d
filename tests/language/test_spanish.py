"""Spanish is data alone: these pages are read, dated, searched and superseded by what lies in language/data/es."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest
from face_helpers import TODAY, memory_on

from memctl.language import words as module
from memctl.language.analyzer import query_terms, terms
from memctl.language.dates import find_times, parse_when
from memctl.language.relations import relation
from memctl.language.sentences import is_change, is_correction, is_past, is_plan
from memctl.language.words import default_languages, languages, languages_of, lines, rivals
from memctl.memory import Memory
from memctl.notes.workspace import Workspace

PAGES = Path(__file__).parents[1] / "data" / "spanish"


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    root = Path(shutil.copytree(PAGES, tmp_path_factory.mktemp("es") / "notas"))
    yield memory_on(Workspace(root.resolve()))


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("¿Dónde vive Lucía?", "Ahora vive en Ávila"),
        ("¿Qué organización firmó contratos?", "Las organizaciones del puerto firmaron"),
        ("¿Por qué se cayeron los servidores?", "El servidor se cayó ayer"),
        ("¿Cuándo es la reunión de los vecinos?", "La reunión con los vecinos"),
        ("¿Qué base de datos usa Faro?", "La base de datos de Faro es PostgreSQL"),
        ("retrasos del ferry", "El ferry llegó con dos horas de retraso"),
    ],
)
def test_a_question_finds_its_line(memory: Memory, question: str, found: str) -> None:
    """Other forms of the same words, with or without accents."""
    assert memory.recall(question).hits[0].content.startswith(found)


def test_what_is_true_now_supersedes_what_was(memory: Memory) -> None:
    """Both lines fill the slot `city`: the later one closes the earlier one."""
    hits = {hit.content: hit for hit in memory.recall("Lucía vive").hits if "ive en" in hit.content}
    assert hits["Vive en Cádiz"].superseded_by and not hits["Ahora vive en Ávila"].superseded_by
    assert str(hits["Vive en Cádiz"].valid) == "2025-11-18..2025-11-25"


def test_filters_understand_spanish_days(memory: Memory) -> None:
    """--since and --until name days in any language."""
    days = {hit.day for hit in memory.recall("Faro", since="la semana pasada", until="ayer").hits}
    assert days <= {"2025-11-18", "2025-11-26"} and days


WHEN = """
ayer | 2025-11-29
anteayer | 2025-11-28
hoy | 2025-11-30
mañana | 2025-12-01
pasado mañana | 2025-12-02
la semana pasada | 2025-11-17 2025-11-23
el mes pasado | 2025-10-01 2025-10-31
el próximo mes | 2025-12-01 2025-12-31
el año pasado | 2024-01-01 2024-12-31
el lunes pasado | 2025-11-24
en noviembre de 2025 | 2025-11-01 2025-11-30
27 de noviembre de 2025 | 2025-11-27
el 5 de mayo | 2025-05-05
el jueves 27 de noviembre de 2025 | 2025-11-27
hace 3 días | 2025-11-27
hace una semana | 2025-11-17 2025-11-23
los últimos 30 días | 2025-10-31 2025-11-30
en verano de 2025 | 2025-06-01 2025-08-31
el verano pasado | 2025-06-01 2025-08-31
el primer trimestre de 2025 | 2025-01-01 2025-03-31
a mediados de mayo | 2025-05-11 2025-05-20
"""


@pytest.mark.parametrize("row", WHEN.strip().splitlines())
def test_days(row: str) -> None:
    """As a whole string and within a sentence; in a sentence "mañana" may be the morning, and names no day."""
    text, _, expected = row.partition(" | ")
    first, _, last = expected.partition(" ")
    days = date.fromisoformat(first), date.fromisoformat(last or first)
    found = find_times(f"La reunión con los vecinos del puerto fue {text}, según ellos.", TODAY)
    assert [(m.period.first, m.period.last) for m in found] == ([] if text == "mañana" else [days])
    if not text.startswith("a "):
        period = parse_when(text, TODAY)
        assert period is not None and (period.first, period.last) == days


@pytest.mark.parametrize(
    "text", ["Trabaja por la mañana con los otros.", "No hace nada en la oficina.", "Son 3 de los 5 que hay."]
)
def test_no_days(text: str) -> None:
    """Ordinary words that are words of time too."""
    assert find_times(text, TODAY) == []


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("Vive en Lisboa", "city", "lisboa"), ("Ahora vive en Ávila", "city", "avila"), ("Vive en España", "country", "espana"),
        ("Trabaja para Iberia desde mayo", "employer", "iberia"), ("La base de datos de Atlas es PostgreSQL", "db", "postgresql"),
        ("Su jefa es Marta", "manager", "marta"), ("No vive en Lisboa", None, None), ("Quizás vive en Lisboa", None, None),
        ("Trabaja en Madrid", None, None),
    ],
)  # fmt: skip
def test_relations(text: str, key: str | None, value: str | None) -> None:
    found = relation(text, ("Atlas",))
    assert (found.key, found.value) == (key, value) if key else found is None


def test_how_a_line_is_meant() -> None:
    assert is_plan("El lanzamiento está previsto para el lunes")
    assert is_past("El servidor se cayó en la oficina")
    assert is_change("Ana ya no trabaja en el puerto")
    assert is_correction("En realidad el servidor está en la otra sala")
    assert not is_plan("Ana vive en la ciudad de los otros")


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("¿Qué pasó?", "es"), ("La reunión con los vecinos", "es"), ("What did José say at the café?", "en"),
        ("The Paso de la Patria office is in the north", "en"), ("PostgreSQL 16", "en"), ("for e in entries if e", "en"),
        ("", "en"),
    ],
)  # fmt: skip
def test_the_language_of_a_text(text: str, language: str) -> None:
    """By function words and signs; a text in Latin letters without either is taken for English."""
    found = languages_of(text)
    assert language in found and not set(rivals(language)) & set(found)
    assert set(default_languages()) <= {"en", "ru", "zh"}


def test_a_word_alone_finds_what_a_sentence_holds() -> None:
    """A sentence keeps the default stems beside its own ones, because a word tells no language."""
    held = set(terms("Las organizaciones de la ciudad decidieron"))
    assert set(terms("organizaciones")) | set(query_terms("¿Qué organización de la ciudad decidió?")) <= held


NEEDED = {"language": ["script"], "stopwords": ["words"], "dates": ["words"], "modality": ["plan"]}


@pytest.mark.parametrize("language", languages())
def test_what_every_language_has(language: str) -> None:
    """The sections that none goes without; and none that no complete language has, such as a misspelt one."""
    wrong = [
        f"{topic}.txt lacks [{name}]"
        for topic in NEEDED
        for name in NEEDED[topic]
        if name not in lines(language, topic)
    ]
    for topic in (path.stem for path in (Path(module.__file__).parent / "data" / language).glob("*.txt")):
        known = {"signs", "stemmer"}.union(*(lines(each, topic) for each in default_languages()))
        wrong += [f"{topic}.txt has [{name}], which nothing reads" for name in {*lines(language, topic)} - known]
    assert not wrong, f"language/data/{language}: {'; '.join(wrong)} (docs/languages.md)"
