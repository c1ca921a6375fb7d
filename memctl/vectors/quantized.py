"""Vectors as numbers of eight bits, and their signs as single bits. Plain Python: numpy costs 75 ms before its first sum.

A vector is brought to length 1, loses the mean of its script (else lines of one language stand nearer to each other than
to their meaning in another), and is kept as int8 components with their length. What it is near to is looked for in three
steps: by signs alone (one exclusive or and one count of bits a row), the best of that by signs that weigh as much as the
question's components, and the few hundred best of that in full.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import repeat
from operator import mul, xor
from struct import unpack
from typing import NamedTuple

LATIN, CYRILLIC, HAN = SCRIPTS = range(3)
_LOOKED = 400  # characters that decide the script of a text
# A few letters of another script move a vector: «用 nginx 做 reverse proxy» lies with Chinese, «закрыл PR в memctl» with
# Russian (multilingual-e5-small). Kana and hangul lie nearest to Han, Greek to Cyrillic.
_CYRILLIC_WEIGHT, _HAN_WEIGHT = 4, 10
_ROWS = 1024  # rows of signs in one go
# An int8 plus 128, bit by bit, the highest first: a bit of each component is then one long number, and a product of two
# vectors is a few exclusive counts of bits: 4 µs, where number by number it would be 17.
_PLANES = [bytes(48 + ((x + 128 & 255) >> bit & 1) for x in range(256)) for bit in range(7, -1, -1)]
_CLIPPED = 2.1  # times the usual component: the few beyond it count as much
_LEVELS = [bytes(48 + (level >> bit & 1) for level in range(256)) for bit in range(3)]
_SAMPLED = 8192  # rows that stand for all


class Code(NamedTuple):
    """A centred vector: int8 components, their Euclidean length, and the script whose mean was taken away."""

    script: int
    norm: float
    codes: bytes


def vector_script(text: str) -> int:
    """The script whose mean a text is nearest to: LATIN (and most others), CYRILLIC (and Greek) or HAN (and kana, hangul)."""
    if text.isascii():
        return LATIN
    letters = [ord(c) for c in text[:_LOOKED] if c.isalpha()]
    cyrillic = sum(0x370 <= c < 0x530 for c in letters)
    han = sum(_is_han(c) for c in letters)
    counts = (len(letters) - cyrillic - han, _CYRILLIC_WEIGHT * cyrillic, _HAN_WEIGHT * han)
    return counts.index(max(counts))


def _is_han(c: int) -> bool:
    return 0x3040 <= c < 0xA000 or 0xAC00 <= c < 0xD7B0 or 0xF900 <= c < 0xFB00 or 0x20000 <= c < 0x32000


def _unit(vector: Iterable[float]) -> list[float]:
    """At length 1; all zeros for what has no direction."""
    values = [float(x) for x in vector]
    length = math.hypot(*values)
    return [x / length for x in values] if 0 < length < math.inf else [0.0] * len(values)


def mean_of(vectors: Iterable[Sequence[float]]) -> list[float]:
    """The mean of vectors, each at length 1 first: what `encode` takes away."""
    units = [_unit(vector) for vector in vectors]
    return [math.fsum(column) / len(units) for column in zip(*units, strict=True)]


def encode(vector: Sequence[float], mean: Sequence[float], script: int = LATIN) -> Code:
    """Length 1, minus the mean, as int8. ValueError for another number of components.

    What has no direction (zeros, NaN) becomes zeros, which are like nothing else.
    """
    unit = _unit(vector)
    centred = [x - m for x, m in zip(unit, mean, strict=True)]
    most = max(map(abs, centred), default=0.0)
    if not any(unit) or not 0 < most < math.inf:
        return Code(script, 0.0, bytes(len(mean)))
    scale = 127 / most
    return code_from(bytes(round(x * scale) & 255 for x in centred), script)


def code_from(codes: bytes, script: int) -> Code:
    """The code with these components."""
    whole = memoryview(codes).cast("b").tolist()
    return Code(script, math.sqrt(sum(map(mul, whole, whole))), codes)


def planes_of(codes: bytes) -> bytes:
    """Codes as planes of bits, the highest first: that holds the signs."""
    width = len(codes) + 7 >> 3
    return b"".join([int(codes.translate(plane), 2).to_bytes(width) for plane in _PLANES])


def codes_of(planes: bytes, dim: int) -> bytes:
    """The codes again."""
    width = len(planes) >> 3
    digits = [f"{int.from_bytes(planes[at : at + width]):0{dim}b}" for at in range(0, len(planes), width)]
    return bytes(int("".join(column), 2) + 128 & 255 for column in zip(*digits, strict=True))


def total_of(codes: bytes) -> int:
    """The sum of the components."""
    return sum(codes) - 256 * sum(map((127).__lt__, codes))


class CodeQuery:
    """A code that many others are compared with."""

    def __init__(self, code: Code) -> None:
        self.code = code
        planes = planes_of(code.codes)
        width = len(planes) >> 3
        self.signs = planes[:width]
        bits = [int.from_bytes(planes[(7 - bit) * width : (8 - bit) * width]) for bit in range(8)]
        # For each power of two the planes of the question, each beside the plane of a row with which it makes that power.
        self._masks = [
            (power, sum(bits[power - bit] << 8 * width * bit for bit in range(8) if 0 <= power - bit < 8))
            for power in range(15)
        ]
        self._rest = 128 * total_of(code.codes) + (len(code.codes) << 14)

    def cosine(self, norm: float, total: int, planes: bytes) -> float:
        """How alike, from -1 to 1; 0 beside a vector without direction. `total` is the sum of its components."""
        length = self.code.norm * norm
        if not length > 0:
            return 0.0
        row = int.from_bytes(planes)
        product = sum([(row & mask).bit_count() << power for power, mask in self._masks])
        return (product - 128 * total - self._rest) / length


def distances(signs: bytes, asked: bytes) -> list[int]:
    """In how many bits each row of `signs` differs from `asked`."""
    width = len(asked)
    wanted = int.from_bytes(asked)
    found: list[int] = []
    for start in range(0, len(signs), width * _ROWS):
        piece = signs[start : start + width * _ROWS]
        rows = unpack(f"{width}s" * (len(piece) // width), piece)
        found += map(int.bit_count, map(xor, map(int.from_bytes, rows), repeat(wanted)))
    return found


def nearest(found: Sequence[int], limit: int) -> list[int]:
    """The places of the `limit` smallest distances, in the order of places; of equal ones at the edge the first.

    Among many rows a sample says where the edge is, so there come a few more or less.
    """
    if len(found) <= limit:
        return list(range(len(found)))
    step = max(1, min(8, limit // 250))
    edge = sorted(found[::step])[-(-limit // step) - 1]
    places = [place for place, distance in enumerate(found) if distance <= edge]
    exactly = step == 1 or len(places) > 1.5 * limit  # the latter where many rows are alike
    return _smallest(found, places, limit) if exactly else places


def refine(signs: bytes, places: Sequence[int], asked: CodeQuery, limit: int) -> list[int]:
    """Those `limit` of some rows whose signs differ least, each component by its weight in the question.

    Weights are 1, 3, 5 … 15 in units of a half: a component that says much of the question differs by more.
    """
    if len(places) <= limit:
        return list(places)
    width = len(asked.signs)
    number = int.from_bytes
    sizes = [min(x, 256 - x) for x in asked.code.codes]
    most = _CLIPPED * asked.code.norm / math.sqrt(len(sizes))
    levels = bytes(min(7, int(size / most * 8)) if most else 0 for size in sizes)
    low, middle, high = (int(levels.translate(level), 2) for level in _LEVELS)
    wanted = number(asked.signs)
    weighed = {}
    for place in places:
        d = number(signs[place * width : place * width + width]) ^ wanted
        weighed[place] = (
            d.bit_count() + 2 * (d & low).bit_count() + 4 * (d & middle).bit_count() + 8 * (d & high).bit_count()
        )
    return _smallest(weighed, places, limit)


def _smallest(values: Sequence[int] | Mapping[int, int], places: Sequence[int], limit: int) -> list[int]:
    """The `limit` of these places with the smallest values, in their order; of equal ones at the edge the first."""
    return sorted(sorted(places, key=values.__getitem__)[:limit])


def spread(cosines: Sequence[float], near: Sequence[int], found: Sequence[int], dim: int) -> tuple[float, float]:
    """Mean and standard deviation of the cosines of all rows, from those of a sample.

    `near` are the distances of the sample, `found` those of all rows: they say how far the sample is off. Signs alone
    would be off by .3 deviations, the sample alone by .06, both together by .04; the deviation is right within 5%.
    """
    mean, sd = moments(cosines)
    table = [math.cos(math.pi * h / dim) for h in range(dim + 1)]
    beside = [table[h] for h in near]
    beside_mean, beside_sd = moments(beside)
    if len(cosines) >= len(found) or not beside_sd:
        return mean, sd
    together = sum((x - mean) * (y - beside_mean) for x, y in zip(cosines, beside, strict=True)) / len(beside)
    slope = together / beside_sd**2
    counts = Counter(found[:: max(1, len(found) // _SAMPLED)])
    all_mean = sum(table[h] * count for h, count in counts.items()) / counts.total()
    all_variance = sum((table[h] - all_mean) ** 2 * count for h, count in counts.items()) / counts.total()
    left = max(0.0, sd**2 - slope * together)
    return mean + slope * (all_mean - beside_mean), math.sqrt(slope * slope * all_variance + left)


def moments(values: Sequence[float]) -> tuple[float, float]:
    """Mean and standard deviation; zeros for no values."""
    if not values:
        return 0.0, 0.0
    mean = sum(values) / len(values)
    return mean, math.sqrt(sum((x - mean) ** 2 for x in values) / len(values))
