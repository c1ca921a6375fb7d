"""Vectors in plain Python: scripts, codes, cosines, and the search by signs against a search by brute force."""

from __future__ import annotations

import math
import random

import pytest
from hash_embedder import cosine
from hypothesis import given, settings, strategies as st
from strategies import examples

from memctl.ids import text_key
from memctl.vectors.quantized import (
    CYRILLIC,
    HAN,
    LATIN,
    SCRIPTS,
    Code,
    CodeQuery,
    codes_of,
    distances,
    encode,
    mean_of,
    nearest,
    planes_of,
    refine,
    spread,
    total_of,
    vector_script,
)

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


@given(SEEDS, DIMS)
@settings(max_examples=examples(130))
def test_planes_say_what_the_codes_say(seed: int, dim: int) -> None:
    """Both ways; their product is that of the whole numbers, to the last bit."""
    a, b = (encode(gauss(seed + more, dim), [0.0] * dim) for more in (0, 1))
    ours, theirs = ([x - 256 * (x > 127) for x in code.codes] for code in (a, b))
    assert codes_of(planes_of(a.codes), dim) == a.codes
    assert total_of(a.codes) == sum(ours)
    product = sum(x * y for x, y in zip(ours, theirs, strict=True))
    assert cosine(a, b) == product / (a.norm * b.norm)
    assert int.from_bytes(CodeQuery(a).signs) == int("".join("01"[x >= 0] for x in ours), 2)


@pytest.mark.parametrize("value", [0.0, math.nan, math.inf, 1e-320, 1e300])
def test_what_has_no_direction_is_like_nothing(value: float) -> None:
    """Zeros, NaN and infinities give zeros, never an exception; what is only small or large is as any other."""
    code = encode([value] * 64, gauss(1, 64))
    assert len(code.codes) == 64
    if not 0 < value < math.inf:
        assert code == Code(LATIN, 0.0, bytes(64))
        assert cosine(code, encode(gauss(2, 64), [0.0] * 64)) == 0.0
        assert cosine(code, code) == 0.0


def test_the_mean_is_that_of_unit_vectors() -> None:
    """A long vector counts no more than a short one."""
    assert mean_of([[2.0, 0.0], [0.0, 8.0]]) == [0.5, 0.5]


def clustered(seed: int, count: int, dim: int) -> list[Code]:
    """Lines around topics, as sentences lie."""
    numbers = random.Random(seed)
    topics = [gauss(seed + place, dim) for place in range(12)]
    return [encode([t + 0.9 * numbers.gauss(0, 1) for t in numbers.choice(topics)], [0.0] * dim) for _ in range(count)]


@given(SEEDS, st.integers(0, 3000), st.sampled_from([1, 8, 13, 48]))
@settings(max_examples=examples(80))
def test_distances_count_differing_bits(seed: int, count: int, width: int) -> None:
    """Of each row, whatever their number."""
    numbers = random.Random(seed)
    rows, asked = numbers.randbytes(count * width), numbers.randbytes(width)
    expected = [
        sum((x ^ y).bit_count() for x, y in zip(rows[at : at + width], asked, strict=True))
        for at in range(0, len(rows), width)
    ]
    assert distances(rows, asked) == expected


@given(st.lists(st.integers(0, 40), max_size=300), st.integers(1, 60))
def test_the_nearest_are_the_smallest(found: list[int], limit: int) -> None:
    """Exactly so many, in the order of places; at the edge the first of equal ones."""
    places = nearest(found, limit)
    assert places == sorted(sorted(range(len(found)), key=lambda place: (found[place], place))[:limit])


@given(SEEDS, st.sampled_from([0, 1, 40]))
@settings(max_examples=20, deadline=None)
def test_the_nearest_of_many_are_nearly_so_many(seed: int, width: int) -> None:
    """A sample finds the edge; rows that are all alike do not make it thousands."""
    numbers = random.Random(seed)
    found = [150 + numbers.randrange(width + 1) for _ in range(20_000)]
    places = nearest(found, 2000)
    assert 1200 <= len(places) <= 3000
    edge = max(found[place] for place in places)
    assert {place for place, distance in enumerate(found) if distance < edge} <= set(places)


@pytest.mark.parametrize("dim", [64, 384])
def test_signs_then_weights_find_what_brute_force_finds(dim: int) -> None:
    """Nearly all of the true ten are among the few that are compared in full, of rows around topics."""
    codes = clustered(3, 3000, dim)
    signs = b"".join(CodeQuery(code).signs for code in codes)
    kept = [(code.norm, total_of(code.codes), planes_of(code.codes)) for code in codes]
    hits = 0
    for number in range(4):
        asked = CodeQuery(codes[number * 700])
        every = [asked.cosine(*row) for row in kept]
        true = sorted(range(len(codes)), key=lambda place: -every[place])[:10]
        places = refine(signs, nearest(distances(signs, asked.signs), 1200), asked, 500)
        hits += len(set(true) & set(places))
    assert hits >= (39 if dim > 64 else 36)


@pytest.mark.parametrize("seed", range(5))  # a property of most seeds, not of all
def test_the_spread_of_all_is_known_from_a_sample(seed: int) -> None:
    """The mean within .25 deviations, the deviation within a fifth."""
    codes = clustered(seed, 1500, 64)
    asked = CodeQuery(codes[0])
    every = [asked.cosine(code.norm, total_of(code.codes), planes_of(code.codes)) for code in codes]
    found = distances(b"".join(CodeQuery(code).signs for code in codes), asked.signs)
    mean = sum(every) / len(every)
    sd = math.sqrt(sum((x - mean) ** 2 for x in every) / len(every))
    about, width = spread(every[:200], found[:200], found, 64)
    assert abs(about - mean) < 0.25 * sd
    assert width == pytest.approx(sd, rel=0.2)
    assert spread(every, found, found, 64) == pytest.approx((mean, sd))
    assert spread([], [], [], 64) == (0.0, 0.0)
    assert spread([0.5], [3], found, 64)[1] >= 0


@pytest.mark.parametrize("outlier", [0.0, 40.0, 1000.0])
def test_refine_keeps_the_nearest_of_equals(outlier: float) -> None:
    """A question of which one component says nearly all has equal weights: of hundreds at the edge only some are left out."""
    asked = encode([*gauss(1, 63), outlier], [0.0] * 64)
    rows = [CodeQuery(code).signs for code in (*(encode(gauss(place, 64), [0.0] * 64) for place in range(2000)), asked)]
    places = refine(b"".join(rows), range(2001), CodeQuery(asked), 100)
    assert len(places) == 100 and places == sorted(places) and 2000 in places
