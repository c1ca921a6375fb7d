"""Sentences that mean something only with an earlier turn: "yes, do that", "no, it's Friday", "that fixed it", "van then".

`Dialogue` remembers what the next sentence may speak of: what was proposed and asked, what was stated, who was named. It is
bounded. What the earlier turn says is told along; what no earlier turn explains is nothing.
"""

import re
from collections import deque
from collections.abc import Iterable
from typing import NamedTuple

from ..facts import Kind
from ..language.analyzer import terms
from ..language.words import HAN_CHARS
from .own_words import Sentence, each, phrases, rx
from .statements import FoundStatement, own_part, value_kinds, values
from .turns import Turn

_STATEMENTS, _NAMES, _TOLD = 60, 100, 400  # how much is remembered
_HEARD = 12  # sentences to which a reply may belong
_SHORT = 60  # characters of a yes, a choice or an answer; a longer one says what it means itself
_PROPOSALS = 4  # sentences of one turn that propose; more are a list of advice, to which a yes is thanks
_CLEAR = 2  # terms from which a question says what it asks
_NO_REPORT = ("problem_not", "correct_pair", "correct_strong")  # patterns of sentences that report no fault
_REPLY = 200  # characters of a message that replies or reports, and of what it replies to
_NO_REPLY = ("unsure", "reported", "praise")  # no reply that says something
_INNER_QUOTES = str.maketrans("“”", "‘’")
_NEAR = 4  # turns over which a pronoun may reach back
_EXACT = 3  # terms from which an assistant says what it did or found
_CORRECTABLE = 6  # turns over which a correction without the old value may reach back


class EarlierStatement(NamedTuple):
    """A sentence that stated something, as it will be told, and its turn."""

    turn: int
    text: str


class Utterance(NamedTuple):
    """A sentence of an earlier turn, and who said it."""

    turn: int
    who: str
    sentence: Sentence


class Dialogue:
    """The state of a conversation, of bounded size."""

    def __init__(self) -> None:
        self.statements: deque[EarlierStatement] = deque(maxlen=_STATEMENTS)
        self.names: dict[str, None] = {}
        self.person: tuple[int, str] | None = None
        self.utterances: deque[Utterance] = deque(maxlen=_HEARD)
        self._people: set[str] = set()
        self._assistant = False
        self.game_turns = 0  # further turns of a game; -1 until it is ended
        self._told: deque[frozenset[str]] = deque(maxlen=_TOLD)

    def add_speaker(self, role: str, name: str | None) -> None:
        """Note who speaks."""
        self._assistant = self._assistant or role == "assistant"
        if role == "user" and name and len(self._people) < _NAMES:
            self._people.add(name)

    def utterance(self, turn: Turn, sentence: Sentence) -> Utterance:
        """A sentence with the name of who said it, or with what a user and an assistant are called in its language."""
        usual = phrases(sentence.language, "speaker")[turn.role == "assistant"].split(", ")[0]
        return Utterance(turn.number, turn.name or usual, sentence)

    def reported(self, turn: Turn, is_found: bool = False) -> Utterance | None:
        """The sentence, said to the assistant just before its turn, that says or asks what is wrong; None where none does.

        Where the assistant says that it found the cause (`is_found`), whatever was stated is a report.
        """
        said = [each for each in self.utterances if each.turn == turn.number - 1 and len(each.sentence.said) <= _REPLY]
        said = [each for each in said if not any(map(each.sentence.has, _NO_REPORT))]
        wrong = [each for each in said if each.sentence.has("problem")]
        stated = [each for each in said if is_found and not each.sentence.is_question]
        return next(iter([*wrong, *stated]), None)

    @property
    def between_people(self) -> bool:
        """True where persons talk with each other: what one asks for is not an order to an agent."""
        return not self._assistant and len(self._people) > 1

    def name(self, turn: int, names: tuple[str, ...]) -> None:
        """Keep names for later mentions, the newest ones, and the person of whom "she" may be said: one, or nobody."""
        for one in names:
            self.names.pop(one, None)
            self.names[one] = None
        while len(self.names) > _NAMES:
            del self.names[next(iter(self.names))]
        if names:
            self.person = (turn, names[0]) if len(names) == 1 else None

    def is_new(self, text: str) -> bool:
        """False for a text whose words all stood in one candidate before: said twice is kept once."""
        said = frozenset(terms(text)) or frozenset((text,))
        if any(said <= told for told in self._told):
            return False
        self._told.append(said)
        return True

    def meant(self, turn: Turn, chosen: set[str]) -> list[Utterance]:
        """What a reply belongs to: the newest sentence with a word of what is chosen, else the last question or sentence.

        A question that says little itself ("And?") comes with what was said before it.
        """
        near = [each for each in reversed(self.utterances) if 0 < turn.number - each.turn <= _NEAR]
        if said := [each for each in near if chosen & set(each.sentence.words)]:
            return [next((each for each in said if not each.sentence.is_question), said[0])]
        last = [each for each in near if each.turn == turn.number - 1]
        last = [each for each in last if each.sentence.is_question][:1] or last[:1]
        if not last or len(last[0].sentence.words) >= _CLEAR:
            return last
        earlier = (each for each in near[near.index(last[0]) + 1 :] if len(each.sentence.words) >= _CLEAR)
        return [*list(earlier)[:1], *last]

    def tried(self, turn: int) -> Utterance | None:
        """What was tried or proposed last, in this turn or the one before."""
        near = (each for each in reversed(self.utterances) if turn - each.turn <= 1)
        return next((each for each in near if _proposes(each.sentence) or each.sentence.opens("tried")), None)

    def resolved(self, turn: int, sentence: Sentence) -> Sentence:
        """The sentence with "she" at its beginning as the one who was named a little before."""
        match = sentence.opens("she")
        if not match or self.person is None or turn - self.person[0] > _NEAR:
            return sentence
        rest = sentence.cut(match.end())
        return Sentence(self.person[1] + rest.said, self.person[1] + rest.plain, sentence.language)


def _proposes(said: Sentence) -> bool:
    """True for a sentence that proposes or says to do something; not for an offer of work on the answer."""
    asks = said.opens("ask") and not said.is_question
    return bool((said.has("proposal") or asks) and not said.has("offer") and len(said.words) >= 2)


def _told(heard: Iterable[Utterance]) -> str:
    """What was said, each behind its speaker and between quotation marks, so that "you" and "it" mean what they meant."""
    return " — ".join(f"{each.who}: “{each.sentence.said.translate(_INNER_QUOTES)}”" for each in heard)


def agreed(turn: Turn, sentence: Sentence, before: Dialogue) -> FoundStatement | None:
    """A bare yes to what was proposed in the turn before; one of many proposals is advice, to which a yes is thanks."""
    plain = sentence.plain.strip()
    lead = sentence.opens("agree")
    if not lead or len(plain) > _SHORT or sentence.is_question:
        return None
    rest = rx(sentence.language, "agree_rest").sub("", plain[lead.end() :]).strip(" ,.!;:，。！、～~)👍-–—")
    last = [each for each in before.utterances if each.turn == turn.number - 1]
    found = [each for each in last if _proposes(each.sentence)]
    if rest or not 0 < len(found) <= _PROPOSALS or any(each.sentence.is_question for each in last if each != found[-1]):
        return None
    said = _told((found[-1], before.utterance(turn, sentence)))
    reason = f"agreed to what turn {turn.number - 1} proposed"
    return FoundStatement("agreed", Kind.EXPERIENCE, said, reason, 0.7, told=said)


def joined(turn: Turn, sentence: Sentence, before: Dialogue) -> FoundStatement | None:
    """A short reply with what it replies to: "Van then." says something beside "Kees lends us the van"."""
    part, people = own_part(sentence), before.between_people
    own = set(part.words)
    if len(turn.text) > _REPLY or not own or _says_nothing(part) or (part.opens("agree") and not people):
        return None
    meant = before.meant(turn, own & {*terms(_side(part.opens("chosen"), "what"))})
    if not meant or sum(len(each.sentence.said) for each in meant) > _REPLY:
        return None
    last = meant[-1].sentence
    rule = "chosen" if _chooses(part, last, own) or (people and _another_value(last, part)) else "answered"
    first = all(each.turn < turn.number or len(each.sentence.words) < _CLEAR for each in before.utterances)
    fits = not part.has("dangling") if rule == "chosen" else _answers(part, last, own, first, people)
    if not fits or any(each.sentence.has("reported") for each in meant):
        return None
    said = _told((*meant, before.utterance(turn, sentence)))
    return FoundStatement(rule, Kind.WORLD, said, f"a reply to turn {meant[-1].turn}", 0.5, told=said)


def continued(turn: Turn, sentence: Sentence, before: Dialogue) -> FoundStatement | None:
    """An exact sentence about "him" or "it", or that is not whole, with the one that its speaker said before."""
    part, now = own_part(sentence), before.utterance(turn, sentence)
    points_back = part.opens("dangling_it") or part.has("fragment")
    if not points_back or not values(part) or _says_nothing(part):
        return None
    last = next((each for each in reversed(before.utterances) if each.who == now.who), None)
    if not last or turn.number - last.turn > 2 or len(last.sentence.words) < _CLEAR or _says_nothing(last.sentence):
        return None
    said = _told((last, now))
    return FoundStatement("continued", Kind.WORLD, said, "goes on with what was said before", 0.4, told=said)


def _says_nothing(part: Sentence) -> bool:
    """True for a question, a doubt, hearsay, praise, and "Thanks, Mel!"."""
    lead = part.opens("lead")
    return part.is_question or any(map(part.has, _NO_REPLY)) or bool(lead and lead.end() == len(part.plain))


def _chooses(part: Sentence, last: Sentence, own: set[str]) -> bool:
    """True for a reply to "this or that", and for "make it thirty" where something fits it."""
    shared = own & set(last.words)
    fits = shared or last.is_question or (last.opens("value") and part.opens("value"))
    return bool(last.has("either_or") or (part.opens("chosen") and fits) or (shared and part.has("decision")))


def _answers(part: Sentence, last: Sentence, own: set[str], first: bool, people: bool) -> bool:
    """True for a value as the answer to a question, for what takes up a proposal, and for any answer to an assistant.

    Behind the `first` sentence of a reply only a value still answers.
    """
    valued = part.opens("value")
    if part.opens("ask") or part.opens("condition") or not (first or valued):
        return False
    plain = first and not people and not any(map(part.has, ("passing", "dangling_start", "dangling")))
    takes_up = own & set(last.words) and last.has("proposal") and not part.has("passing")
    return bool(((values(part) or valued or plain) and last.is_question) or takes_up)


def _another_value(last: Sentence, part: Sentence) -> bool:
    """True where a few words name another value of a kind that was named before: "25, as agreed" after "30 percent"."""
    was, now = _values(last.plain), _values(part.plain)
    return len(part.plain) <= _SHORT and any(was[kind] != now[kind] for kind in was.keys() & now.keys() - {"name"})


def corrected(number: int, whole: Sentence, before: Dialogue) -> FoundStatement | None:
    """A correction; in the words of what it corrects, where it has too few of its own."""
    rest = whole.without_leads("correct_start", most=4)
    denies = rest is not whole
    part = own_part(rest)
    pair = part.has("correct_pair")
    strong = bool(whole.has("correct_strong"))
    if not (strong or denies or pair) or part.is_question or part.opens("ask") or (part.has("you") and not pair):
        return None
    new, old = _side(pair, "new"), _side(pair, "old")
    alike = _values(new).keys() & _values(old).keys()
    if not (strong or denies or alike):
        return None
    beside = f"{part.plain[: pair.start()]} {old} {new} {part.plain[pair.end() :]}" if pair else part.plain
    earlier = _earlier(number, before, old, beside)
    if not earlier and not (pair and (alike or strong)):
        return None
    if denies and not strong and not pair and not (earlier and _values(part.plain).keys() - {"name"}):
        return None
    stated, was, becomes = earlier or (None, "", "")
    becomes = becomes or _value_for(new, old)
    told = stated.text.replace(was, becomes) if stated and was and becomes else None  # "it is 14 nets" for "12" is 14
    short = part.has("dangling_start") or len(terms(part.plain)) < 4 or all(map(str.isdigit, terms(beside)))
    if short and told is None and not (pair and alike):
        return None
    which = f", corrects turn {earlier[0].turn}: {earlier[0].text[:80]!r}" if earlier else ""
    mark = "not this but that" if pair else "it was otherwise"
    return FoundStatement(
        "correction", Kind.WORLD, part.said, f"a correction, {mark}{which}", 0.8,
        told=(told or whole.said) if short else None, corrects=earlier[0].text if earlier else _with_old_value(part, new, old),
        instead=(old, _value_for(new, old)) if alike and not earlier else None,
    )  # fmt: skip


def _earlier(turn: int, before: Dialogue, old: str, said: str) -> tuple[EarlierStatement, str, str] | None:
    """The newest earlier statement that a correction is about, its value, and the value that takes its place."""
    new = _values(said)
    about = {term for term in terms(said) if not term.isdigit()}
    for one in reversed(before.statements):
        if old and (found := whole_value(old, one.text)):
            if re.search(r"[^\W\d]", old) or not about or about & set(terms(one.text)):
                return one, found, ""
        elif not old and one.turn < turn and turn - one.turn <= _CORRECTABLE:
            was = value_kinds(one.text)
            kind = next((kind for kind in new if kind in was and was[kind] != new[kind]), None)
            if kind:
                return one, was[kind], new[kind]
    return None


def whole_value(value: str, text: str) -> str | None:
    """A value as it stands in a text, as whole words and in no name of code: `queue_12` does not say 12."""
    letter = rf"[^\W{HAN_CHARS}]"  # words stand apart, characters do not
    found = re.search(rf"(?<!{letter})(?<![`.]){re.escape(value)}(?!{letter}|`|\.\d)", text, re.IGNORECASE)
    return found[0] if found else None


def _value_for(new: str, old: str) -> str:
    """The value of the same kind that takes the place of an old one; all of the new side where the old is not a bare value."""
    values, olds = _values(new), _values(old)
    kind = next((kind for kind in olds if kind in values), None)
    return values[kind] if kind and olds[kind] == old else new


def _with_old_value(part: Sentence, new: str, old: str) -> str | None:
    """What a correction denies, in its own words: "The deposit is 3,450" of "The deposit is 3,540, not 3,450"."""
    at = part.plain.find(_value_for(new, old)) if new and old else -1
    return part.said[:at] + old if at > 0 else None


def _values(said: str) -> dict[str, str]:
    """The values in a part of a sentence, whose first word may be a name."""
    return value_kinds(" " + said)


def _side(pair: re.Match[str] | None, side: str) -> str:
    groups = pair.groupdict() if pair else {}
    return next((value.strip() for name, value in groups.items() if value and name.startswith(side)), "")


def outcome(turn: Turn, sentence: Sentence, before: Dialogue) -> FoundStatement | None:
    """An attempt and what came of it. What was tried is named, here or in one of the turns before; else it is nothing."""
    part = own_part(sentence)
    good, bad = part.has("worked"), part.has("failed")
    sign = bad or good
    if not sign or part.is_question or part.has("outcome_not") or part.has("decision"):
        return None
    matches = (shape.search(part.plain) for shape in each(part.language, "tried"))
    named = next((match["what"].strip() for match in matches if match), "")
    if good and bad and good.start() > bad.end() and not named:  # what was proposed did it in the end
        sign = good
    came = "fail" if sign is bad else "ok"
    reason = f"an attempt that {'failed' if sign is bad else 'worked'}: {sign[0].strip()!r}"
    if named:
        return FoundStatement("outcome", Kind.EXPERIENCE, part.said, reason, 0.6, outcome=came, task=named)
    tried = before.tried(turn.number)
    if tried is None or len(part.plain) > _SHORT or part.has("relative"):
        return None
    task, told = tried.sentence.said.strip(" .!。！"), _told((tried, before.utterance(turn, sentence)))
    return FoundStatement("outcome, thin", Kind.EXPERIENCE, part.said, reason, 0.5, outcome=came, task=task, told=told)


def finding(heard: Utterance, report: Utterance | None = None, after: Sentence | None = None) -> FoundStatement | None:
    """What the assistant did in the world or found out; not what it wrote, advises or explains.

    Where somebody just reported that something is wrong, what it looked up or gives as the cause is a diagnosis, also in the
    sentence `after` which it says "Found it.". It is told with the report where it shares no word with it.
    """
    part = own_part(heard.sentence)
    looked = part.opens("looked")
    part = part.cut(looked.end()) if looked else part
    found_it = after.opens("found_it") if after and report else None
    cause = (looked or part.has("diagnosis") or found_it) if report else None
    if report and cause and not (part.is_question or part.has("diagnosis_not")) and len(part.words) >= _EXACT:
        alone = bool(set(part.words) & set(report.sentence.words)) and not part.has("dangling_start")
        reason = f"the assistant's diagnosis: {cause[0].strip()[:60]!r}"
        told = None if alone else _told((report, heard._replace(sentence=part)))
        rule = "diagnosis" if report.sentence.has("problem") else "finding"
        return FoundStatement(rule, Kind.WORLD, part.said, reason, 0.55, told=told)
    if part.is_question or part.has("found_not") or part.has("dangling_start"):
        return None
    did, found = None if looked else part.has("report"), looked or part.has("found")
    sign = did or found
    if not sign or len(part.words) < _EXACT:
        return None
    came = ("fail" if part.has("failed") else "ok") if did else None
    reason = f"the assistant {'says what it did' if did else 'found out'}: {sign[0].strip()!r}"
    kind = Kind.EXPERIENCE if did else Kind.WORLD
    return FoundStatement("report" if did else "finding", kind, part.said, reason, 0.5, outcome=came)
