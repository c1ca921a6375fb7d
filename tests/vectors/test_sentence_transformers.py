"""A real model of sentence-transformers in a folder, made here: a tiny BERT for which two words mean the same.

Needs the extra sentence-transformers; `make extras` has it. What a folder may hold is tried in test_embedders.py without it.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from face_helpers import call

pytest.importorskip("torch")
pytest.importorskip("sentence_transformers")

WORDS = [
    "feline", "cat", "kitten", "ferry", "concert", "budget", "кошка", "кот", "猫", "喵", "sleeps", "drinks",
    "milk", "lisbon", "invoice", "late", "the", "a",
]  # fmt: skip
SAME = [("feline", "cat"), ("кошка", "кот"), ("猫", "喵")]


def make_model(folder: Path) -> Path:
    """A model of 32 dimensions with random weights, in which each pair of SAME has one vector."""
    import torch
    from sentence_transformers import SentenceTransformer
    from transformers import BertConfig, BertModel, BertTokenizerFast

    torch.manual_seed(7)
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]
    base = folder / "bert"
    base.mkdir(parents=True)
    (base / "vocab.txt").write_text("\n".join(words) + "\n", "utf-8")
    BertTokenizerFast(str(base / "vocab.txt"), do_lower_case=True).save_pretrained(base)
    config = BertConfig(
        vocab_size=len(words), hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64
    )
    bert = BertModel(config)
    with torch.no_grad():
        rows = bert.embeddings.word_embeddings.weight
        rows *= 20  # so that which words there are decides, and not where they stand
        for one, other in SAME:
            rows[words.index(other)] = rows[words.index(one)]
    bert.save_pretrained(base)
    made = folder / "model"
    SentenceTransformer(str(base), device="cpu").save(str(made))  # with mean pooling, as for any plain BERT
    return made


def test_a_real_model_answers_by_meaning(tmp_path: Path) -> None:
    """index embeds every line, recall finds a word that means the same in three scripts, status names the model."""
    root = tmp_path / "notes"
    (root / "memory").mkdir(parents=True)
    lines = ["feline sleeps", "ferry late", "concert budget", "кошка drinks", "猫 milk", "lisbon invoice"]
    text = "# 2025-11-28\n\n## Retain\n\n" + "".join(f"- W: {line}\n" for line in lines)
    (root / "memory/2025-11-28.md").write_text(text, "utf-8")
    model = str(
        make_model(tmp_path)
    )  # what `[vectors] model` would name; the environment of tests stands above settings
    assert call(["index"], root, MEMCTL_VECTORS=model).code == 0
    state = json.loads(call(["status", "--json"], root, MEMCTL_VECTORS=model).out)["vectors"]
    assert state["model"] == "model", state
    assert state["embedded"] == len(lines), state
    for asked, meant in (("cat", "feline sleeps"), ("кот", "кошка drinks"), ("喵", "猫 milk")):
        words = json.loads(call(["recall", asked, "--json"], root, MEMCTL_VECTORS="none").out)["hits"]
        assert meant not in [hit["content"] for hit in words]
        found = json.loads(call(["recall", asked, "--json"], root, MEMCTL_VECTORS=model).out)["hits"]
        assert meant in [hit["content"] for hit in found], (asked, found)
