"""Scripts of texts, and vectors as numbers of eight bits: what these keep of a cosine."""

from __future__ import annotations

import math
import random

import pytest
from hash_embedder import cosine
from hypothesis import given, settings, strategies as st
from strategies import examples

from memctl.ids import text_key
from memctl.vectors.matrix import encode, mean_of
from memctl.vectors.tables import Code
from memctl.vectors.text_to_embed import CYRILLIC, HAN, LATIN, SCRIPTS, vector_script

DIMS = st.sampled_from([64, 100, 384, 512, 1024])
SEEDS = st.integers(0, 10_000)


def gauss(seed: int, dim: int) -> list[float]:
    """A vector of any length in any direction."""
    numbers = random.Random(seed)
    return [numbers.gauss(0, 1) for _ in range(dim)]


def exact(a: list[float], b: list[float], mean: list[float]) -> float:
    """The cosine of two centred vectors in floats."""
    one, other = ([x / math.hypot(*v) - m for x, m in zip(v, mean, strict=True)] for v in (a, b))
    return sum(x * y for x, y in zip(one, other, strict=True)) / math.hypot(*one) / math.hypot(*other)


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("", LATIN), ("chose the cheaper supplier", LATIN), ("naïve café — 12 %", LATIN), ("Ελληνικά", CYRILLIC), ("12:30 🙂", LATIN),
        ("Выбрали PostgreSQL", CYRILLIC), ("деплой nginx в k8s упал", CYRILLIC), ("ёж", CYRILLIC), ("Київ", CYRILLIC),
        ("The word «да» once in an English line", LATIN), ("部署在中午失败", HAN), ("我们用 PostgreSQL 了", HAN), ("用 nginx 做 reverse proxy", HAN), ("ひらがな", HAN),
        ("한국어 문장", HAN), ("\U00020000\U00020001", HAN), ("\ud800 lone", LATIN), ("a\0b", LATIN),
    ],
)  # fmt: skip
def test_script(text: str, script: int) -> None:
    """A few letters of another script decide; digits and signs say nothing."""
    assert vector_script(text) == script


@given(st.text(max_size=600))
def test_every_text_has_a_script_and_a_key(text: str) -> None:
    """Whatever it holds."""
    assert vector_script(text) in SCRIPTS
    assert -(1 << 63) <= text_key(text) < 1 << 63


@given(SEEDS, SEEDS, DIMS, st.floats(0, 0.9))
@settings(max_examples=examples(200))
def test_codes_keep_the_cosine(one: int, other: int, dim: int, common: float) -> None:
    """Within .02 of floats for any two vectors, whatever part all of them share."""
    mean = [common * x / math.sqrt(dim) for x in gauss(77, dim)]
    a, b = gauss(one, dim), gauss(other, dim)
    assert cosine(encode(a, mean), encode(b, mean)) == pytest.approx(exact(a, b, mean), abs=0.02)


@pytest.mark.parametrize("value", [0.0, math.nan, math.inf, 1e-320, 1e300])
def test_what_has_no_direction_is_like_nothing(value: float) -> None:
    """Zeros, NaN and infinities give zeros, never an exception; what is only small or large is as any other."""
    code = encode([value] * 64, gauss(1, 64))
    assert len(code.codes) == 64
    if not 0 < value < math.inf:
        assert code == Code(LATIN, bytes(64))
        assert cosine(code, encode(gauss(2, 64), [0.0] * 64)) == 0.0
        assert cosine(code, code) == 0.0


def test_the_mean_is_that_of_unit_vectors() -> None:
    """A long vector counts no more than a short one."""
    assert mean_of([[2.0, 0.0], [0.0, 8.0]]) == [0.5, 0.5]
