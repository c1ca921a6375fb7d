"""What kind of question this is, by its wording, and which lines never answer one: politeness and the skeleton of a page.

The words lie in language/data/*/asked.txt. Pure.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from datetime import date, timedelta
from functools import cache
from typing import NamedTuple

from ..facts import Period
from ..language.analyzer import query_terms, stop_terms, terms
from ..language.dates import find_times
from ..language.names import entity_key, has_han
from ..language.sentences import speaker_on, split_sentences
from ..language.words import languages, lines, pattern, search, without_yo, words_of

AROUND = 3  # days that "around" a time takes in on each side
_FEW_MORE = 3  # words that may follow in a sentence of politeness


@cache
def _wording(section: str) -> re.Pattern[str]:
    return re.compile(pattern(languages(), "asked", section), re.IGNORECASE)


class QuestionTimes(NamedTuple):
    """The times that a question names, "around" one with the days beside it; a `bare` one asks for nothing else: what happened
    then? `middles` are the times that were named, where one is an "around".
    """

    times: tuple[Period, ...]
    bare: bool
    middles: tuple[Period, ...] = ()


def question_times(words: str, today: date) -> QuestionTimes:
    """The times in the words of a question: "around 27 November" takes in three days to each side."""
    times, middles = [], []
    rest, end = "", 0
    for mention in find_times(words, today):
        before, after = words[end : mention.start], words[mention.end :]
        near, so = _wording("around").search(before), _wording("or so").search(after)
        middles.append(mention.period)
        times.append(widened(mention.period, AROUND) if near or so else mention.period)
        rest += before[: near.start()] if near else before
        end = mention.end + (so.end() if so else 0)
    if not times:
        return QuestionTimes((), False)
    anything, unspaced = _anything()
    left = set(terms(unspaced.sub(" ", rest + " " + words[end:]))) - anything - stop_terms()
    # 2025-11-27 is a word of lines, too.
    token = words.isascii() and len(words.split()) == 1 and any(map(str.isdigit, words))
    around = middles if times != middles else ()
    return QuestionTimes(tuple(times), not left and not token, tuple(around))


def widened(period: Period, days: int) -> Period:
    """A time with so many days more on each side."""
    more = timedelta(days=days)
    return Period(period.first and period.first - more, period.last and period.last + more)


@cache
def _anything() -> tuple[frozenset[str], re.Pattern[str]]:
    """The terms of the words that ask for anything, and those words that stand without spaces around, the longest first."""
    said = [word for name in languages() for line in lines(name, "asked").get("anything", ()) for word in line.split()]
    unspaced = sorted(filter(has_han, said), key=len, reverse=True)
    return frozenset(term for word in said for term in terms(word)), re.compile("|".join(unspaced))


def has_wording(section: str, text: str) -> bool:
    """True for a text that a section of asked.txt fits: a question ("why", "when"), or a line that answers one ("because")."""
    return bool(search(pattern(languages(), "asked", section), without_yo(text)))


def without_value_asked(words: str) -> str:
    """A question without the words that ask for a time or a number: "what time is the standup" is one about the standup."""
    return _wording("asks for a value").sub(" ", words)


def question_name(words: str) -> str:
    """The name in a question that only asks who or what that is; empty for any other."""
    name = _wording("who is").sub("", words)
    return name.strip(" ?？!.。@[]") if name != words else ""


def names_somebody(words: str) -> bool:
    """True where a question may be about somebody by name: a capital inside it, in Chinese anywhere."""
    if has_han(words):
        return bool(re.search(r"[A-Z@]", words))
    return "@" in words or "[[" in words or bool(capitals(words))


def capitals(words: str) -> list[str]:
    """The words inside a question that begin with a capital and may name somebody: not "I"."""
    nobody = words_of("asked", "capitals of nobody")
    return [word for word in words.split()[1:] if word[:1].isupper() and word.rstrip(".,;:?!") not in nobody]


def _by_form(words: str, known: Collection[str]) -> set[str]:
    """Of the known keys of slots, those that a question asks for by its form."""
    rows = (line.split(" = ", 1) for name in languages() for line in lines(name, "asked").get("slots", ()))
    return {key for key, said in rows if key in known and search(said, without_yo(words))}


def question_keys(words: str, known: Collection[str]) -> list[str]:
    """Of the known keys of slots, those that answer a question: by how it is asked, or by the words of the key itself."""
    asked = set(query_terms(words))
    return sorted(_by_form(words, known) | {key for key in known if (own := set(query_terms(key))) and own <= asked})


def keys_of_owner(keys: Sequence[str], words: str) -> list[str]:
    """Of keys that a question asks for, those that it asks of the owner: of "my wife's birthday" none, of "my wife" who that is."""
    by_form = {*words_of("asked", "by form alone")}.intersection(keys)
    keys = [key for key in keys if key not in by_form - _by_form(words, by_form)]
    is_of_others = bool(keys) and has_wording("others", words) and not has_wording("as subject", words)
    return [] if is_of_others and any(not has_wording("others", key) for key in keys) else keys


def as_words(name: str) -> str:
    """The pattern of a name as whole words, where words have spaces between."""
    return re.escape(name) if has_han(name) else rf"(?<!\w){re.escape(name)}(?!\w)"


def names_mentioned(names: Iterable[str], words: str) -> list[str]:
    """Those of some keys of names that stand in a question."""
    folded = entity_key(words)
    return [name for name in names if name and name in folded and re.search(as_words(name), folded)]


_CLOCK = re.compile(r"\d{1,2}:\d\d")


def is_polite(text: str) -> bool:
    """True for a line that says nothing but a greeting, thanks or a nod."""
    said = text[speaker_on(text).begins :].strip() or text.strip()
    if not said or len(said) > 200:
        return not said
    return all(
        map(_is_polite_one, filter(None, (part.strip(" *_") for part in split_sentences(said.replace("~", "!")))))
    )


def is_courtesy(text: str) -> bool:
    """True for thanks, a greeting or a farewell with nothing beside it: a "yes" goes on with what was said before."""
    rests = [_wording("courtesies").sub("", part, count=1) for part in split_sentences(text.replace("~", "!"))]
    return bool(rests) and all(set(terms(rest)) <= stop_terms() for rest in rests)


def _is_polite_one(sentence: str) -> bool:
    match = _wording("courtesies").match(sentence) or _wording("pleasantries").match(sentence)
    if not match:
        return not any(map(str.isalnum, sentence))
    rest = sentence[match.end() :]
    return len(terms(rest)) <= _FEW_MORE if not has_han(rest) else len(rest) <= 2 * _FEW_MORE


def is_mere_date(heading: str, today: date) -> bool:
    """True for a heading that says when and nothing else, as the logs have them."""
    if _CLOCK.search(heading):
        return True
    for mention in reversed(find_times(heading, today)):
        heading = heading[: mention.start] + heading[mention.end :]
    return not any(char.isalpha() for char in heading)


def points_back(text: str) -> bool:
    """True for a line that begins with a pronoun: whom or what it means, the line before says."""
    return bool(_wording("pointing back").match(without_yo(text[speaker_on(text).begins :])))
