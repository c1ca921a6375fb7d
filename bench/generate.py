"""Makes a realistic, seeded workspace of any size for benchmarks: `python bench/generate.py DIR --facts 100000`.

Words are Zipf-distributed pseudo-words around the commonest real ones, because an index behaves by its posting lists:
a few very long ones (stop words), a long tail of short ones. Same arguments, same bytes.
"""

from __future__ import annotations

import argparse
import math
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from itertools import accumulate, islice
from pathlib import Path
from random import Random

__all__ = ["init_workspace", "make_queries", "make_workspace"]

LAST_DAY = date(2025, 11, 30)
DAYS = 3650  # ten years of logs; more pages than that share a day and carry a slug
ENTITY_PAGES = 100
QUERY_ENTITIES = 100  # the most mentioned ones: they occur in every workspace of 5,000 facts and more


def _words(text: str) -> list[str]:
    """The words of `text`, each once."""
    return list(dict.fromkeys(text.split()))


# The commonest English words, most frequent first: function words, then the others.
STOP_WORDS = _words(
    """
    the of and to in a is that for it was on with as be at by this had not are but from or have an they which one you
    were all her she there would their we him been has when who will no more if out so up said what its about than
    into them can only other time new some could these two may first then do any like my now over such our man me even
    most made after also did many off before must well back through where much your way down should because each just
    those how too good very make here being both between under never same another while last might us still own
    against once why upon around every again does got per until since without however during within though whether yet
    """
)
COMMON_WORDS = _words(
    """
    year work day people world life state school house system place part number water point home hand high great small
    large long little right left old young early late next few open full clear possible important public whole need
    take come see know get give find think look use tell ask try call feel become leave put mean keep let begin seem
    help talk turn start show hear play run move live believe hold bring happen write provide sit stand lose pay meet
    include continue set learn change lead understand watch follow stop create speak read allow add spend grow win
    offer remember love consider appear buy wait serve die send expect build stay fall cut reach kill remain suggest
    raise pass sell require report decide pull group problem fact company case week question program
    """
)
RU_STOP = _words(
    """
    и в не на что с я как по это но из у за от о к для все так же бы он она мы вы они был была было если или когда уже
    еще только чтобы где при до после над под между нет есть
    """
)
ZH_STOP = _words("的 了 在 是 和 有 我 不 这 他 就 也 都 要 会 说 对 上 到 为")

SLOTS = _words(
    """
    db editor city timezone role team language framework budget deadline owner status version region phone manager
    diet hobby car laptop os shell branch license vendor plan priority channel style theme
    """
)
TYPES = ("person", "project", "tool", "place", "company")


@dataclass(frozen=True)
class Lexicon:
    """Words by falling frequency, with cumulative weights for `Random.choices`; `stops` of them are stop words."""

    words: list[str]
    cum_weights: list[float]
    stops: int
    gap: str = " "

    def draw(self, rng: Random, count: int) -> list[str]:
        """`count` independent words."""
        return rng.choices(self.words, cum_weights=self.cum_weights, k=count)

    def sentence(self, rng: Random, count: int) -> str:
        """`count` words, capitalised, with a full stop."""
        text = self.gap.join(self.draw(rng, count))
        return text[0].upper() + text[1:] + ("." if self.gap else "。")


@dataclass(frozen=True)
class Vocabulary:
    """Everything that depends on the seed alone."""

    english: Lexicon
    russian: Lexicon
    chinese: Lexicon

    def pick(self, rng: Random) -> Lexicon:
        """85 % English, 10 % Russian, 5 % Chinese."""
        dice = rng.random()
        return self.english if dice < 0.85 else self.russian if dice < 0.95 else self.chinese


@dataclass(frozen=True)
class Cast:
    """The entities of a workspace, by falling number of mentions."""

    names: list[str]
    cum_weights: list[float]


def _zipf(count: int, mass: float, shift: float = 2.7) -> Iterator[float]:
    """Weights of `count` ranks that add up to `mass` (Zipf-Mandelbrot: 1 / (rank + shift))."""
    raw = [1 / (rank + shift) for rank in range(count)]
    scale = mass / sum(raw)
    return (weight * scale for weight in raw)


def _lexicon(stops: list[str], others: list[str], mass: float, gap: str = " ") -> Lexicon:
    """A lexicon whose stop words make up `mass` of the tokens; the others fall off from there, not from rank 1."""
    weights = [*_zipf(len(stops), mass), *_zipf(len(others), 1 - mass, shift=30)]
    return Lexicon(stops + others, list(accumulate(weights)), len(stops), gap)


def _distinct(make: Callable[[], str], taken: set[str]) -> Iterator[str]:
    """What `make` returns, without repetitions and without what is taken."""
    while True:
        word = make()
        if word not in taken:
            taken.add(word)
            yield word


def _speller(rng: Random, onsets: str, vowels: str, codas: str, endings: str) -> Callable[[], str]:
    """A maker of pronounceable words of one to three syllables, a third of them with an ending of the language."""
    on, vow, cod, end = (part.split() for part in (onsets, vowels, codas, endings))

    def syllable() -> str:
        return rng.choice(on) + rng.choice(vow) + (rng.choice(cod) if rng.random() < 0.35 else "")

    def word() -> str:
        body = "".join(syllable() for _ in range(rng.choices((1, 2, 3), (1, 6, 3))[0]))
        return body + (rng.choice(end) if rng.random() < 0.35 else "")

    return word


def _english(rng: Random) -> Callable[[], str]:
    onsets = "b c d f g h l m n p r s t v w b d l m n p r s t br cl dr gr pl st sh ch th tr"
    return _speller(rng, onsets, "a e i o u a e i o ai ea oo", "n r l s t m nd st ck", "s ed ing er tion ment ly al")


def _russian(rng: Random) -> Callable[[], str]:
    onsets = "б в г д ж з к л м н п р с т ф х ц ч ш в д к л м н п р с т ст пр кр тр"
    return _speller(rng, onsets, "а е и о у я ы о а е", "н р л с т м к ст", "ов ам ой ом ами ость ение ать ил ный ного")


def _by_length(rng: Random, words: list[str]) -> list[str]:
    """Short words tend to be the frequent ones, in every language (Zipf's law of abbreviation)."""
    return sorted(words, key=lambda word: len(word) + 6 * rng.random())


def _identifier(rng: Random, spell: Callable[[], str]) -> str:
    """What only stands in notes about software: names, versions, tickets, paths."""
    a, b, number = spell(), spell(), rng.randrange(1, 9999)
    return rng.choice(
        (f"{a}_{b}", f"v{number % 9}.{number % 31}.{number % 7}", f"{a.upper()[:4]}-{number}", f"{a}/{b}.py")
    )


@cache
def vocabulary(seed: int) -> Vocabulary:
    """30,000 English-like words (3 % of them identifiers), 8,000 Russian-like, 4,000 Chinese of two characters."""
    rng = Random(f"vocabulary {seed}")
    spell = _english(rng)
    real = {*STOP_WORDS, *COMMON_WORDS}
    made = _distinct(lambda: _identifier(rng, spell) if rng.random() < 0.03 else spell(), real)
    missing = 30_000 - len(real)
    english = _lexicon(STOP_WORDS, COMMON_WORDS + _by_length(rng, list(islice(made, missing))), 0.45)
    russian = _lexicon(RU_STOP, _by_length(rng, list(islice(_distinct(_russian(rng), set(RU_STOP)), 8_000))), 0.35)
    characters = [chr(0x4E00 + n) for n in rng.sample(range(0x5000), 1_200)]
    pairs = _distinct(lambda: "".join(rng.choices(characters, k=2)), set())
    chinese = _lexicon(ZH_STOP, list(islice(pairs, 4_000)), 0.25, gap="")
    return Vocabulary(english, russian, chinese)


def _names(seed: int) -> Iterator[str]:
    """Names for ever, the same ones for every size of workspace: 85 % Latin, 10 % Cyrillic, 5 % Chinese."""
    rng = Random(f"names {seed}")
    latin, cyrillic = _english(rng), _russian(rng)

    def name() -> str:
        dice = rng.random()
        if dice > 0.95:
            return "".join(chr(0x4E00 + rng.randrange(0x5000)) for _ in range(3))
        return (latin if dice < 0.85 else cyrillic)().title()

    reserved = {"Con", "Prn", "Aux", "Nul"}  # no file names on Windows
    return (name for name in _distinct(name, reserved) if len(name) > 2)


def cast_of(seed: int, facts: int) -> Cast:
    """One entity for 50 facts, mentions Zipf-distributed."""
    names = list(islice(_names(seed), max(1, facts // 50)))
    return Cast(names, list(accumulate(_zipf(len(names), 1.0))))


# --- Lines ------------------------------------------------------------------------------------------------------------


def _length(rng: Random) -> int:
    """Words of a line: lognormal around 18, from 4 to 80."""
    return min(80, max(4, round(math.exp(rng.gauss(math.log(18), 0.4)))))


def _attributes(rng: Random, kind: str, day: date) -> str:
    """The bracket after the kind; on 55 % of W and O lines a slot, which is 30 % of all lines."""
    parts = []
    if kind == "O":
        parts.append(f"c={rng.randint(30, 98) / 100}")
    if kind in "WO" and rng.random() < 0.55:
        parts.append(f"key={SLOTS[int(len(SLOTS) * rng.random() ** 2)]}")
    if kind == "B" and rng.random() < 0.4:
        parts.append(f"outcome={'ok' if rng.random() < 0.7 else 'fail'}")
    if rng.random() < 0.1:
        start = day - timedelta(days=rng.randrange(60))
        parts.append(f"t={rng.choice((f'{start}', f'{start}..{day}', f'{start:%Y-%m}', f'{start}..'))}")
    if rng.random() < 0.15:
        parts.append(f"i={rng.randint(1, 10) / 10}")
    return f"({', '.join(parts)})" if parts else ""


def _fact(rng: Random, words: Vocabulary, cast: Cast, day: date) -> str:
    """One line of the grammar: mostly one entity, now and then none or two; some mention another in their text."""
    kind = rng.choices("WBOS", cum_weights=(35, 70, 90, 100))[0]
    count = rng.choices((1, 2, 0), cum_weights=(75, 90, 100))[0]
    heads = dict.fromkeys(rng.choices(cast.names, cum_weights=cast.cum_weights, k=count))
    lexicon = words.pick(rng)
    text = lexicon.sentence(rng, _length(rng))
    if rng.random() < 0.1:
        text = f"{rng.choices(cast.names, cum_weights=cast.cum_weights)[0]} {text[0].lower()}{text[1:]}"
    return f"- {kind}{_attributes(rng, kind, day)}{''.join(f' @{name}' for name in heads)}: {text}"


def page_of(rng: Random, words: Vocabulary, cast: Cast, day: date, facts: int) -> str:
    """A log: a few lines of narrative, then the facts."""
    notes = [words.pick(rng).sentence(rng, _length(rng)) for _ in range(rng.randint(2, 5))]
    lines = [_fact(rng, words, cast, day) for _ in range(facts)]
    return "\n".join([f"# {day}", "", *(f"{note}\n" for note in notes), "## Retain", "", *lines, ""])


def _entity_page(rng: Random, words: Vocabulary, name: str, aliases: list[str]) -> str:
    """Front matter with aliases and type, a heading, a paragraph."""
    quoted = ", ".join(f'"{alias}"' for alias in aliases)
    head = ["---", f"aliases: [{quoted}]", f"type: {rng.choice(TYPES)}", "---", f"# {name}", ""]
    return "\n".join([*head, words.pick(rng).sentence(rng, 25), ""])


def _days(pages: int, words: Lexicon) -> Iterator[tuple[date, str]]:
    """Day and file name of each page, newest first; a second and later round over the days adds a slug."""
    plain = [word for word in words.words[words.stops :] if word.isalpha()]
    for number in range(pages):
        day = LAST_DAY - timedelta(days=number % DAYS)
        slug = f"-{plain[number // DAYS]}" if number >= DAYS else ""
        yield day, f"{day}{slug}.md"


def _write(path: Path, text: str) -> None:
    """UTF-8 with LF on every system, so that the bytes are the same."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write(text)


def make_workspace(root: Path, facts: int, seed: int = 1, facts_per_page: int = 50) -> None:
    """Write `facts` facts into `root`/memory and the pages of the 100 most mentioned entities into `root`/bank."""
    words, cast = vocabulary(seed), cast_of(seed, facts)
    for folder in ("memory", "bank/entities"):
        (root / folder).mkdir(parents=True, exist_ok=True)
    pages = -(-facts // facts_per_page)
    for number, (day, file) in enumerate(_days(pages, words.english)):
        count = min(facts_per_page, facts - number * facts_per_page)
        _write(root / "memory" / file, page_of(Random(f"page {seed} {number}"), words, cast, day, count))
    rng = Random(f"entities {seed}")
    others = _distinct(lambda: _english(rng)().title(), set(cast.names))
    for name in cast.names[:ENTITY_PAGES]:
        text = _entity_page(rng, words, name, list(islice(others, rng.randint(1, 3))))
        _write(root / "bank" / "entities" / f"{name}.md", text)


def init_workspace(root: Path, *options: str) -> None:
    """`memctl init`, as a user runs it."""
    subprocess.run([sys.executable, "-m", "memctl", "init", str(root), *options], check=True, capture_output=True)


def make_queries(count: int, seed: int = 1) -> list[str]:
    """Questions of 4 to 10 words for a workspace of the same seed: stop words, one entity, 2 to 4 mid-frequency words.

    The words have ranks 100 to 2,000 and the entities 1 to 100, so that they occur in any workspace of 10,000 facts.
    """
    rng, words, cast = Random(f"queries {seed}"), vocabulary(seed), cast_of(seed, 50 * QUERY_ENTITIES)
    return [_query(rng, words.pick(rng), cast) for _ in range(count)]


def _query(rng: Random, lexicon: Lexicon, cast: Cast) -> str:
    """One question; Chinese ones are written without spaces around their words."""
    topic = rng.sample(lexicon.words[lexicon.stops + 100 : lexicon.stops + 2_000], rng.randint(2, 4))
    small = rng.choices(lexicon.words[:30], k=rng.randint(1, 5))
    name = rng.choices(cast.names, cum_weights=cast.cum_weights)[0]
    asked = [name, *topic, *small]
    rng.shuffle(asked)
    return lexicon.gap.join(asked) + rng.choice(("?", ""))


def main() -> None:
    """Parse the arguments, make the workspace, print one line of counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dir", type=Path)
    parser.add_argument("--facts", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--facts-per-page", type=int, default=50)
    options = parser.parse_args()
    begin = time.perf_counter()
    make_workspace(options.dir, options.facts, options.seed, options.facts_per_page)
    seconds = time.perf_counter() - begin
    sizes = [path.stat().st_size for path in options.dir.rglob("*.md")]
    print(
        f"{options.facts:,} facts · {len(sizes):,} pages · {sum(sizes):,} bytes · {seconds:.1f} s · seed {options.seed}"
    )


if __name__ == "__main__":
    main()
