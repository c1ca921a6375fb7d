"""Analysis for search, the same for text and query: folding, stems, CJK bigrams, identifiers whole and split."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from itertools import pairwise

from .words import default_languages, languages_of, lines, rival_of, words, words_of

LONGEST = 64  # characters kept of one token; both sides cut at the same place
CACHE_CHUNKS = 100_000  # some 20 MB
_SLICE = 256
_CACHE_CHARS = 64  # a longer chunk (a Chinese paragraph, a blob) hardly comes twice
# After folding, every non-ASCII character left belongs to a word. Said as "no other ASCII": a class that names the
# upper planes costs 4 ms to compile, each time.
_WORD = r"[^\x00-/:-@\[-`{-\x7f]"
_WHOLE = re.compile(rf"[#$.]?{_WORD}+(?:[-._/\\:@=&?+#%~$']{{1,3}}{_WORD}+)*(?:\+\+?|#|%)?")
_WORDS = re.compile(rf"{_WORD}+(?:'{_WORD}+)*")
_PIECES = re.compile(r"[A-Z]{2,}(?=s(?![a-z]))|[A-Z]+(?![a-z])|[A-Z]?[^\x00-`{-\x7f]+|[0-9]+")  # IDs: ID, s
_JOINED = re.compile(r"[-._/\\:@=&?+#%~$]")
_OUTER = re.compile(r"[:=&?@~]+")
_INNER = re.compile(r"[/\\]+")
_VERSION = re.compile(r"v(?=\d+\.\d)")
_THOUSANDS = re.compile(r"(?<![\d,])\d{1,3}(?:,\d{3})+(?![\d,])")
_OPERATOR = re.compile(r"[-+=<>&|%^~/\\:!?]*[+=<>&|%^~/\\][-+=<>&|%^~/\\:!?]*")
# «список, списка», «ошибка, ошибок»: Snowball keeps the fleeting vowel. Every stem loses it, so the forms meet.
_FLEETING = re.compile("(?<=[бвгджзклмнпрстфхцчшщ])[ое](?=[кц]$)")
SURNAME_ENDS = ("ов", "ев")
"""Snowball takes «Петров» for many of «Пётр», and its other forms («Петрова») keep the ending: a name stands with and without it."""
_PLAIN = re.compile("[A-Za-z][a-z]+|[А-Яа-я][а-я]*[а-бг-я]")  # of one token, unlike surnames; ё takes folding
_BEFORE_WORD, _AFTER_WORD = '(["*', '.,;:!?)]"*'  # marks that are no part of a word
_MARKS = re.compile("(?<![иИ])[\u0300-\u036f]+|(?<=[иИ])[\u0300-\u0305\u0307-\u036f]+")
_LETTERS = {
    "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "đ": "d", "Đ": "D", "ı": "i",
    "’": "'", "‘": "'", "ʼ": "'", "‐": "-", "‑": "-", "‒": "-", "–": "-", "−": "-", "\u200b": " ",
}  # fmt: skip
_STOPS = (".", "!", "?", ":", "…")
_CLITICS = frozenset(("s", "ll", "re", "ve", "d", "m"))
_STEMMERS = (  # by the first letter: the last row whose code point is not above it
    (0x0000, "english"), (0x0370, "greek"), (0x0400, "russian"), (0x0530, "armenian"), (0x0590, ""), (0x0600, "arabic"),
    (0x0700, ""), (0x0900, "hindi"), (0x0980, ""), (0x0B80, "tamil"), (0x0C00, ""),
)  # fmt: skip
LATIN = str.maketrans("абвгдезийклмнопрстуфхцыэ", "abvgdeziiklmnoprstufhcye") | str.maketrans(
    {"ж": "zh", "ч": "ch", "ш": "sh", "щ": "sch", "ъ": "", "ь": "", "ю": "yu", "я": "ya"}
)
"""Cyrillic letters, folded, in Latin ones."""


def terms(text: str) -> list[str]:
    """The search tokens of `text` in order, for an FTS5 column and for a query alike.

    A token has at most 64 characters and no space, quote, control character or lone surrogate. Each
    whitespace-delimited chunk is analysed by itself, so `terms(chunk)` is contained in `terms(text)`. In a language that is
    not the default of its script each word has its own stem beside the default one, as a word alone tells no language.
    """
    return joined_terms(text).split()


def joined_terms(text: str) -> str:
    """The same with a space between each two."""
    chunks, rival = text.split(), rival_of(text)
    if rival:
        return " ".join(w for c in chunks for w in (*_ANALYSED[c].split(), *own_stems(c, rival).values()))
    return " ".join(filter(None, map(_ANALYSED.__getitem__, chunks)))


def query_terms(text: str) -> list[str]:
    """The distinct tokens of a question in order, without stop words, unless nothing else remains.

    A capitalised word inside a question ("what does Will like", "the IT budget") is a name, not a stop word.
    """
    chunks = text.split()
    inside = (chunk for before, chunk in pairwise(chunks) if not before.endswith(_STOPS))
    names = {chunk for chunk in inside if chunk.lstrip("([{@\"'«“")[:1].isupper()}
    if 2 * len(names) > len(chunks):  # as in a title
        names = set()
    rival = rival_of(text)
    spoken = languages_of(text)
    stops = stop_terms(spoken)
    found = [
        (token, chunk in names or (len(own) == 1 and own[0] in stops and _is_telling(chunk, spoken)))
        for chunk in chunks
        for own in [(_asked_briefly if len(chunk) <= _CACHE_CHARS else _asked)(chunk, "" if chunk in names else rival)]
        for token in own
    ]
    kept = [token for token, named in found if (named and len(token) > 1) or token not in stops]
    return list(dict.fromkeys(kept or [token for token, _ in found]))


def _is_telling(chunk: str, spoken: tuple[str, ...]) -> bool:
    """True for a word that only shares its stem with a function word, as "owns" does with "own", «тема» with «тем»."""
    word = chunk.strip(_BEFORE_WORD + _AFTER_WORD).casefold()
    return word.isalpha() and {word, fold(word)}.isdisjoint(words_of("stopwords", "words", spoken))


def _asked(chunk: str, rival: str) -> tuple[str, ...]:
    """The tokens of a chunk of a question: of a surname in -ов the name, or its one word would be two; own stems alone."""
    found = terms(chunk)
    if rival:
        own = own_stems(chunk, rival)
        found = [own.get(token, token) for token in found]
    named = {_stem(token) for token in found if token.endswith(SURNAME_ENDS) and _stem(token) in found}
    return tuple(token for token in found if token not in named)


_asked_briefly = lru_cache(maxsize=20_000)(_asked)


def ends_as_surname(word: str) -> bool:
    """True for a word that ends as a Russian surname; «Лев» is too short to be one."""
    return len(word) > 3 and word.endswith(SURNAME_ENDS) and word.isalpha()


def is_identifier(term: str) -> bool:
    """True for a token that means itself alone: a path, an error code, a version, `K-417`; not a day, a number, a word."""
    if not term.isascii() or (term.isalnum() and (term.isalpha() or term.isdigit())):
        return False
    letters = any(char.isalpha() for char in term)
    digits = any(char.isdigit() for char in term)
    joined = any(char in "$_/\\.:=#" for char in term.rstrip("."))
    return (digits or joined) if letters else term.count(".") > 1


def prefixes(term: str) -> list[str]:
    """What to try as a prefix, best first, when `term` itself matches nothing; the first that matches is enough.

    As it is, in Latin letters (slang often writes a Latin name in Cyrillic: «монгу» finds MongoDB by `mong`), then cut
    by one letter at a time to four fifths: an ending that the stemmer left, or a slip of the pen near the end.
    """
    shorter = [term[:end] for end in range(len(term) - 1, max(4, len(term) * 4 // 5) - 1, -1)] if term.isalpha() else []
    tried = dict.fromkeys([term, term.translate(LATIN), *shorter])
    return [prefix for prefix in tried if len(prefix) >= 3]


def is_cyrillic(term: str) -> bool:
    """True for a term that begins with a Cyrillic letter."""
    return "\u0400" <= term[:1] <= "\u052f"


class _Analysed(dict[str, str]):
    """The tokens of each chunk with spaces between, found when it is first met: nearly all come again."""

    def __missing__(self, chunk: str) -> str:
        word = chunk.lstrip(_BEFORE_WORD).rstrip(_AFTER_WORD)
        found = _stem(word) if _PLAIN.fullmatch(word) else " ".join(_analyse(chunk))
        if len(chunk) <= _CACHE_CHARS:
            if len(self) >= CACHE_CHUNKS:
                self.clear()
            self[chunk] = found
        return found


_ANALYSED = _Analysed()


def _analyse(chunk: str) -> tuple[str, ...]:
    if chunk.isascii():
        # Without letters it is a token if it is an operator (`&&`, `!=`, `->`), not if it is a rule or a fence.
        is_operator = 2 <= len(chunk) <= 4 and _OPERATOR.fullmatch(chunk)
        return tuple(_spaced(chunk)) or ((chunk,) if is_operator else ())
    found: list[str] = []
    folded = fold(chunk)
    runs = unspaced().split(folded) if max(folded, default="") >= "\u0e00" else [folded]
    for place, run in enumerate(runs):
        if place % 2:
            found += [*run, *map("".join, pairwise(run))]
        else:
            found += (token for part in run.split() for token in _spaced(part))
    if found:
        return tuple(found)
    # Where folding leaves nothing, such as of a lone modifier letter: its letters, digits and symbols.
    kept = "".join(char for char in chunk if (kind := unicodedata.category(char))[0] in "LN" or kind == "So")
    return (kept.casefold()[:LONGEST],) if kept else ()


def fold(chunk: str) -> str:
    """NFKC without diacritics (but й stays: Russian endings need it); separators are spaces, symbols stand apart.

    In slices, because CPython orders a run of combining marks in quadratic time: 40,000 of them take over a second.
    """
    folded = ""
    for start in range(0, len(chunk), _SLICE):
        apart = unicodedata.normalize("NFD", unicodedata.normalize("NFKC", chunk[start : start + _SLICE]))
        folded += unicodedata.normalize("NFC", _MARKS.sub("", apart)).translate(_FOLDS)
    return folded


class _Folds(dict[int, str]):
    """A table for `str.translate` that classifies a code point when it is first met: nothing to build at import."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        self[code] = char if code < 128 else _LETTERS.get(char) or _classify(char, code)
        return self[code]


def _classify(char: str, code: int) -> str:
    category = unicodedata.category(char)
    # Vowel points of Hebrew and Arabic, which are usually not written, and the tatweel; selectors of variants.
    is_point = 0x0591 <= code <= 0x05C7 or 0x064B <= code <= 0x0652 or code in (0x0640, 0x0670)
    if category in ("Cf", "Me") or is_point or 0xFE00 <= code <= 0xFE0F or 0xE0100 <= code <= 0xE01EF:
        return ""
    if category[0] in "LNM":
        return simplified().get(code, char) if 0x3400 <= code <= 0x9FFF else char
    # Unassigned here may be a letter or an emoji of a newer Unicode than this Python's.
    return f" {char} " if category in ("So", "Sc", "Sm", "Co", "Cn") else " "


_FOLDS = _Folds()


@cache
def unspaced() -> re.Pattern[str]:
    """Runs of scripts without spaces: Thai, Lao, Myanmar, Khmer, Kana, Han; and Hangul, which glues particles on.

    Compiled when first needed: it takes 1.5 ms.
    """
    return re.compile(
        "([\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff"
        "\U0001b000-\U0001b16f\U00020000-\U0003ffff]+)"
    )


def _spaced(part: str) -> Iterator[str]:
    """The tokens of folded text without spaces: each identifier whole, then its words."""
    for match in _WHOLE.finditer(part):
        whole = match[0]
        if _JOINED.search(whole):
            yield from _wholes(whole.replace("'", "").casefold())
        for word in _WORDS.findall(whole):
            yield from _tokens_of(word) if len(word) <= LONGEST else _word(word)
    if "," in part:
        yield from (number.replace(",", "")[:LONGEST] for number in _THOUSANDS.findall(part))


def _wholes(whole: str) -> Iterator[str]:
    """`a/b.py:7` as it is, and the parts of it that are compound too (`a/b.py`, `b.py`); `v1.2` also as `1.2`."""
    parts = [_VERSION.sub("", whole, count=1)]
    for outer in _OUTER.split(whole):
        parts += [outer, *_INNER.split(outer)]
    inner = (part.strip("-._+~/\\") for part in parts)
    yield from dict.fromkeys([whole[:LONGEST], *(part[:LONGEST] for part in inner if _JOINED.search(part))])


def _word(word: str) -> Iterator[str]:
    """One word without its clitic, stemmed; then what camelCase, digits or an apostrophe join in it."""
    if "'" in word:
        head, _, tail = word.rpartition("'")
        if tail.casefold() not in _CLITICS:
            yield _stem(word.replace("'", ""))
            yield from (_stem(piece) for piece in word.split("'") if len(piece) > 2)
            return
        word = head.replace("'", "")
    yield _stem(word)
    if word[-1:] == "в" and word.istitle() and ends_as_surname(word):
        yield word.casefold()[:LONGEST]
    pieces = _PIECES.findall(word[:LONGEST])
    if 1 < len(pieces) <= 6:  # more is a hash or a blob, not a name
        yield from (_stem(piece) for piece in pieces if len(piece) > 1 or piece.isdigit())


_tokens_of = lru_cache(maxsize=20_000)(lambda word: tuple(_word(word)))  # those of identifiers and links are few


def _stem(word: str) -> str:
    folded = word.casefold()[:LONGEST]
    if len(folded) < 3 or not folded.isalpha():
        return folded
    folded = _irregular().get(folded, folded)
    if folded.isascii():
        return _stemmer("english")(folded)
    stemmer = next(name for start, name in reversed(_STEMMERS) if ord(folded[0]) >= start)
    return _FLEETING.sub("", _stemmer(stemmer)(folded))


@cache
def irregular_forms(language: str) -> dict[str, str]:
    """Each irregular form of a language -> its base, both folded and unstemmed."""
    groups = (line.split() for line in lines(language, "irregular").get("", ()))
    return {form: group[0] for group in groups for form in group[1:]}


@cache
def _irregular() -> dict[str, str]:
    return {form: base for language in default_languages() for form, base in irregular_forms(language).items()}


@cache
def simplified() -> dict[int, str]:
    """Traditional Chinese characters -> simplified, as `str.translate` takes them; read when the first one is met."""
    held = words("zh", "characters")
    pairs = "".join(held["unihan"] + held["added"])
    return str.maketrans(dict(zip(pairs[::2], pairs[1::2], strict=True)))


@lru_cache(maxsize=20_000)
def own_stems(chunk: str, language: str) -> dict[str, str]:
    """Default token -> stem in `language`, for the words of a chunk where the two differ.

    The stemmer sees the accents, on which endings depend; they are folded afterwards, as everywhere.
    """
    stemmer = _stemmer(" ".join(words(language, "language").get("stemmer", ())))
    found: dict[str, str] = {}
    for word in _WORDS.findall(unicodedata.normalize("NFC", chunk)):
        if word.isalpha() and 2 < len(word) <= LONGEST:
            folded = fold(word).casefold()
            base = irregular_forms(language).get(folded, word.casefold())
            default, own = _stem(fold(word)), fold(stemmer(base)).casefold()
            if own != default:
                found[default] = own
    return found


@cache
def _stemmer(language: str) -> Callable[[str], str]:
    """The Snowball stemmer of a language, made when first needed (5 ms for the import); identity without one."""
    if not language:
        return str
    import Stemmer  # type: ignore[import-not-found, unused-ignore]

    stem: Callable[[str], str] = Stemmer.Stemmer(language, 0).stemWord
    return stem


@cache
def stop_terms(chosen: tuple[str, ...] = ()) -> frozenset[str]:
    """The search tokens of function words: of the chosen languages (`languages_of`), else of those that are the default."""
    chosen = chosen or default_languages()
    return frozenset(term for name in chosen for term in words(name, "stopwords").get("terms", ()))


# -- which words of a text a question asks for ------------------------------------------------------------------------


def matches(question: str, text: str) -> list[tuple[int, int]]:
    """Where words of `text` stand that `question` asks for: start and end of each, in order, none touching the next."""
    wanted = frozenset(query_terms(question))
    rival = rival_of(text)
    found = []
    for chunk in re.finditer(r"\S+", text) if wanted else ():
        for run in unspaced().finditer(chunk[0]):
            pairs = pairwise(map(fold, run[0]))
            start = chunk.start() + run.start()
            found += [(start + at, start + at + 2) for at, pair in enumerate(pairs) if "".join(pair) in wanted]
        for word in re.finditer(r"[^\W_]+(?:['’][^\W_]+)*", chunk[0]):
            held = {*terms(word[0]), *(own_stems(word[0], rival).values() if rival else ())}
            if not unspaced().search(word[0]) and held & wanted:
                found.append((chunk.start() + word.start(), chunk.start() + word.end()))
    joined: list[tuple[int, int]] = []
    for start, end in sorted(found):
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(joined[-1][1], end)
        else:
            joined.append((start, end))
    return joined
