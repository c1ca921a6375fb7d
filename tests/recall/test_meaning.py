"""The search by vectors through recall: it adds to words, obeys every filter, explains itself, and never stands in the way."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from face_helpers import ask, call, contents, sources, write_pages
from hash_embedder import HashEmbedder, hashed, use

from memctl.errors import ExtraBroken
from memctl.hits import Vectored, answer_json
from memctl.index.open_memory import OpenMemory
from memctl.index.sync import build_index as index
from memctl.language.analyzer import terms
from memctl.notes.workspace import Workspace
from memctl.vectors import models as embedders
from memctl.vectors.embed import embed
from memctl.vectors.text_to_embed import Piece, embedded_texts

CONCEPTS = {
    "cat": "feline", "cats": "feline", "мурлыка": "feline", "кошка": "feline", "猫": "feline", "sofa": "couch", "диване": "couch",
    "沙发": "couch", "salary": "pay", "wages": "pay", "зарплата": "pay", "工资": "pay",
}  # fmt: skip


class Concepts(HashEmbedder):
    """Knows a few words of three languages by their meaning, and no other words at all."""

    name = "concepts"

    def __init__(self) -> None:
        super().__init__("concepts")

    def passages(self, texts: Sequence[str]) -> list[Sequence[float]]:
        """A vector for each text."""
        return [self.query(text) for text in texts]

    def query(self, text: str) -> Sequence[float]:
        """The vector of a question."""
        words = [*text.casefold().replace("?", " ").replace(".", " ").split(), *text]
        known = sorted(
            {meant for word in words for meant in [CONCEPTS.get(word, "")] if meant or word in CONCEPTS.values()}
        )
        known += [word for word in words if word in CONCEPTS.values()]
        return hashed(" ".join(known)) if known else hashed(f"noise {len(text)} {text[:1]}")


PAGES = {
    f"memory/2025-11-{day}.md": f"- W: {line}\n"
    for day, line in {
        "10": "The cat sleeps on the sofa", "11": "Кошка спит на диване", "12": "猫 在 沙发 上 睡觉", "13": "Wages rise in March",
        "14": "The kettle is in the Fjord room", "15": "Чайник стоит в комнате", "16": "水壶在房间里",
        "17": "Deploys go out on Tuesday", "18": "Релиз выходит во вторник", "19": "部署在星期二",
    }.items()
}  # fmt: skip


def embedded(folder: Path, pages: dict[str, str], model: HashEmbedder) -> Workspace:
    """A workspace with these pages, indexed and embedded."""
    workspace = write_pages(folder, pages)
    index(workspace)
    assert OpenMemory(workspace).run(lambda opened: embed(opened, model)).missing == 0
    return workspace


@pytest.fixture
def concepts(monkeypatch: pytest.MonkeyPatch) -> Concepts:
    """A model of meaning for every workspace of this process."""
    model = Concepts()
    use(monkeypatch, model)
    return model


@pytest.mark.parametrize("asked", ["feline couch", "мурлыка", "工资"], ids=["english", "russian", "chinese"])
def test_meaning_finds_what_words_miss(tmp_path: Path, concepts: Concepts, asked: str) -> None:
    """In the language of the question and in others."""
    workspace = embedded(tmp_path, PAGES, concepts)
    found = contents(ask(workspace, asked))
    wanted = {"Wages rise in March"} if asked == "工资" else {"The cat sleeps on the sofa", "Кошка спит на диване"}
    assert wanted <= set(found[:3])
    assert not wanted & set(contents(ask(workspace.without_model(), asked)))


def test_mongo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Slang with a model that does not know it: what words find stays found."""
    line = "Выбрали PostgreSQL вместо MongoDB, потому что нужны транзакции"
    model = use(monkeypatch)
    workspace = embedded(tmp_path, PAGES | {"memory/2025-11-20.md": f"- W: {line}\n"}, model)
    assert contents(ask(workspace, "почему не взяли монгу?"))[0] == line


def test_a_hit_explains_itself(tmp_path: Path, concepts: Concepts) -> None:
    """Its rank in each channel, the parts of its score, and what the vectors know."""
    workspace = embedded(tmp_path, PAGES, concepts)
    answer = ask(workspace, "feline on the sofa")
    first = answer.hits[0]
    assert first.content == "The cat sleeps on the sofa"
    assert first.why == {"lexical": 1, "vector": 1}
    assert {"words", "cosine", "near_by"} <= first.parts.keys() and first.parts["near_by"] > 1
    assert answer.vectors == Vectored("concepts", 10, 0)
    assert answer_json(answer)["vectors"] == {"model": "concepts", "embedded": 10, "missing": 0}
    done = call(["recall", "feline", "--explain"], workspace.root, MEMCTL_VECTORS="auto")
    assert "by meaning" in done.out and "vector #" in done.out
    assert done.err.startswith("no page holds a word of the question")


NOTES = {
    "en": ("# Sofa for cats\n\nHow it was built.\n\n## Second\n\nWhat it cost then.\n", "feline couch"),
    "ru": ("# Кошка на диване\n\nКак это было сделано.\n\n## Second\n\nСколько стоило это.\n", "мурлыка sofa"),
    "zh": ("# 猫 和 沙发\n\n木头 的 做法 如下.\n\n## Second\n\n价格 以及 时间.\n", "猫 沙发"),
}


@pytest.mark.parametrize("language", NOTES)
def test_a_document_is_found_by_what_it_is_about(tmp_path: Path, concepts: Concepts, language: str) -> None:
    """Its title and beginning are a vector of the whole: the first line that passes a filter stands for it, though it says
    nothing of that itself, until the page begins otherwise; a filter that none of them passes leaves it out."""
    page, asked = NOTES[language]
    others = {f"bank/note-{n}.md": f"# Note {n}\n\n{text}\n" for n, text in enumerate(PAGES.values()) if n > 2}
    workspace = embedded(tmp_path, others | {"bank/wanted.md": page}, concepts)
    assert sources(ask(workspace, asked))[0] == "bank/wanted.md#L3"
    assert "bank/wanted.md#L3" not in sources(ask(workspace, asked, paths=["bank/note-*.md"]))
    assert sources(ask(workspace, asked, heading="second"))[:1] == ["bank/wanted.md#L7"]
    (tmp_path / "bank/wanted.md").write_text("# Kettles\n\nAnother thing altogether.\n")
    assert "bank/wanted.md#L3" not in sources(ask(workspace, "feline couch"))


def test_the_same_answer_every_time(tmp_path: Path, concepts: Concepts) -> None:
    """Ties are broken by place, not by chance."""
    pages = {f"memory/2025-11-1{n}.md": "".join(f"- W: cat number {n}{m}\n" for m in range(6)) for n in range(3)}
    workspace = embedded(tmp_path, pages, concepts)
    assert sources(ask(workspace, "feline")) == sources(ask(workspace, "feline")) != []


def test_words_alone_are_as_before(tmp_path: Path, concepts: Concepts) -> None:
    """Nothing embedded, a weight of 0, no model: the same hits with the same scores; only the first says what is missing."""
    workspace = write_pages(tmp_path, PAGES)
    index(workspace)
    plain = ask(workspace.without_model(), "cat in the Fjord room")
    waiting = ask(workspace, "cat in the Fjord room")
    assert waiting.hits == plain.hits and waiting.vectors == Vectored("concepts", 0, 10) and plain.vectors is None
    OpenMemory(workspace).run(lambda opened: embed(opened, concepts))
    weightless = workspace._replace(settings=workspace.settings._replace(vector_weight=0.0))
    assert ask(weightless, "cat in the Fjord room").hits == plain.hits
    assert "vectors" not in answer_json(plain)


def test_what_is_not_embedded_yet_is_found_by_words(tmp_path: Path, concepts: Concepts) -> None:
    """At once, not punished for it, and said."""
    workspace = embedded(tmp_path, PAGES, concepts)
    (tmp_path / "memory/2025-11-25.md").write_text("## Retain\n\n- W: The cat moved to the Fjord room\n")
    answer = ask(workspace, "cat Fjord room")
    assert answer.hits[0].content == "The cat moved to the Fjord room"
    assert answer.vectors == Vectored("concepts", 10, 1)
    done = call(["recall", "cat Fjord room"], workspace.root, MEMCTL_VECTORS="auto")
    assert "1 line is found by words only until `memctl index`" in done.err


def test_a_line_that_says_something_else_now(tmp_path: Path, concepts: Concepts) -> None:
    """Its old vector is not asked."""
    workspace = embedded(tmp_path, PAGES, concepts)
    page = tmp_path / "memory/2025-11-10.md"
    page.write_text(page.read_text().replace("The cat sleeps on the sofa", "Nobody sits there any more"))
    assert "Nobody sits there any more" not in contents(ask(workspace, "feline"))


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"kinds": ["opinion"]}, {"cats are quiet"}),
        ({"about": ["Anna"]}, {"Anna has a cat"}),
        ({"on": "2025-11-21"}, {"The cat of that day"}),
        ({"as_of": "2025-11-10"}, {"The cat sleeps on the sofa"}),
    ],
)
def test_filters_hold_for_meaning_too(
    tmp_path: Path, concepts: Concepts, filters: dict[str, object], expected: set[str]
) -> None:
    """What is near and does not pass is no hit."""
    more = {
        "memory/2025-11-21.md": "- W: The cat of that day\n",
        "memory/2025-11-22.md": "- O(0.8): cats are quiet\n- W @Anna: Anna has a cat\n",
    }
    workspace = embedded(tmp_path, PAGES | more, concepts)
    assert set(contents(ask(workspace, "feline", **filters))) == expected


def test_an_identifier_is_not_drowned(tmp_path: Path, concepts: Concepts) -> None:
    """One line holds the token, and a hundred are nearer in meaning."""
    lines = "".join(f"- W: cats sleep on sofa number {n}\n" for n in range(100))
    pages = {"memory/2025-11-01.md": lines, "memory/2025-11-02.md": "- W: ERR-4711 stands in the log of the gateway\n"}
    workspace = embedded(tmp_path, pages, concepts)
    assert "ERR-4711" in ask(workspace, "ERR-4711").hits[0].content
    for asked in ("feline couch ERR-4711", "which cat wrote ERR-4711?"):
        assert any("ERR-4711" in content for content in contents(ask(workspace, asked))[:5])


class _Failing(Concepts):
    def __init__(self, error: Exception | None, dim: int = 64) -> None:
        super().__init__()
        self._error, self._dim = error, dim

    def query(self, text: str) -> Sequence[float]:
        if self._error:
            raise self._error
        return [1.0] * self._dim


@pytest.mark.parametrize(
    "model", [_Failing(ExtraBroken("the model is out of luck")), _Failing(RuntimeError("boom")), _Failing(None, 65)]
)
def test_a_model_that_fails(
    tmp_path: Path, concepts: Concepts, monkeypatch: pytest.MonkeyPatch, model: HashEmbedder
) -> None:
    """Words answer, with a warning."""
    workspace = embedded(tmp_path, PAGES, concepts)
    plain = ask(workspace.without_model(), "cat sofa")
    use(monkeypatch, model)
    monkeypatch.setattr(embedders, "_LOADED", {})
    answer = ask(workspace, "cat sofa")
    assert answer.hits == plain.hits != ()
    assert [w for w in answer.warnings if w.startswith("answered by words only: the model")]


def test_a_model_that_is_gone(tmp_path: Path, concepts: Concepts, monkeypatch: pytest.MonkeyPatch) -> None:
    """Or another one than that of the vectors."""
    workspace = embedded(tmp_path, PAGES, concepts)
    plain = ask(workspace.without_model(), "cat sofa")
    monkeypatch.setattr(embedders, "choose", lambda workspace: None)
    answer = ask(workspace, "cat sofa")
    assert answer.hits == plain.hits and "not installed" in answer.warnings[0]
    use(monkeypatch, HashEmbedder("other"))
    answer = ask(workspace, "cat sofa")
    assert answer.hits == plain.hits and "not of hash" in answer.warnings[0]


def test_a_file_that_is_damaged(tmp_path: Path, concepts: Concepts) -> None:
    """Answers by words, exit code 0, and says what to do."""
    workspace = embedded(tmp_path, PAGES, concepts)
    file = workspace.memory / "vectors.sqlite"
    file.with_name("vectors.sqlite-wal").unlink(missing_ok=True)
    file.write_bytes(b"no database" * 1000)
    done = call(["recall", "cat sofa", "--format", "json"], workspace.root, MEMCTL_VECTORS="auto")
    made = json.loads(done.out)
    assert done.code == 0 and made["hits"] and any("memctl index" in warning for warning in made["warnings"])


@pytest.mark.parametrize("kind", ["folder", "unreadable"])
def test_a_file_that_index_cannot_replace(
    tmp_path: Path, concepts: Concepts, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """One note, with a cure that works: remove it."""
    workspace = embedded(tmp_path, PAGES, concepts)
    file = workspace.memory / "vectors.sqlite"
    for each in workspace.memory.glob("vectors.sqlite*"):
        each.unlink()
    if kind == "folder":
        file.mkdir()
        (file / "mine.txt").write_text("x")
    else:
        file.write_bytes(b"no database" * 1000)
        monkeypatch.setattr("os.access", lambda path, mode: False)
    done = call(["recall", "cat sofa"], workspace.root, MEMCTL_VECTORS="auto")
    assert (
        done.code == 0 and done.err.count("\n") == 1 and "removed" in done.err and "`memctl index` has run" in done.err
    )
    if kind == "folder":
        done = call(["index"], workspace.root, MEMCTL_VECTORS="auto")
        assert done.code == 13 and f"remove {file}" in done.err


@pytest.mark.parametrize("asked", ["", "???", "\0", "\ud800 cat", "cat " * 30_000])
def test_any_question(tmp_path: Path, concepts: Concepts, asked: str) -> None:
    """Of nothing, of what is no text, of 100 KB; and of an empty workspace."""
    ask(embedded(tmp_path / "full", PAGES, concepts), asked)
    ask(embedded(tmp_path / "one", {"memory/2025-11-01.md": "- W: the only cat\n"}, concepts), asked)
    ask(embedded(tmp_path / "none", {}, concepts), asked)


def test_the_end_of_the_line_above() -> None:
    """Goes before a short note, not before a fact, a long note, or over a heading; Chinese counts three times."""
    question = "word " * 40 + "What is your favourite season?"
    notes = [
        Piece(10, "note", (), question), Piece(11, "note", (), "Autumn!"), Piece(12, "fact", (), "Alone"),
        Piece(13, "note", (), "x" * 500), Piece(20, "note", (), "Under a heading"),
        Piece(21, "item", (), "水" * 150),
    ]  # fmt: skip
    texts = [text for _, text in embedded_texts(notes)]
    assert texts[1].endswith("What is your favourite season? Autumn!") and len(texts[1]) <= 120 + 8
    assert texts[1].startswith("word ")
    assert texts[2:] == ["Alone", "x" * 500, "Under a heading", "水" * 150]


def test_the_test_model_has_no_word_in_common() -> None:
    """Else the tests above prove nothing."""
    assert not set(terms("feline couch")) & set(terms(" ".join(PAGES.values())))


def test_what_stands_to_the_letter_stays_above(tmp_path: Path, concepts: Concepts) -> None:
    """Identifiers, and all words of a question of one or two: no nearness in meaning puts other lines before them."""
    pages = PAGES | {
        "memory/2025-11-14.md": "- W: The cat, the sofa and again the cat\n- W: See ring_store.py for feline matters\n",
        "memory/2025-11-15.md": "- W: The word is tabby and nothing else is said here\n",
    }
    workspace = embedded(tmp_path, pages, concepts)
    assert contents(ask(workspace, "feline cat ring_store.py"))[0] == "See ring_store.py for feline matters"
    assert contents(ask(workspace, "tabby"))[0] == "The word is tabby and nothing else is said here"
