"""What the workspace knows already of what a conversation says: duplicates, and recalled memory that comes back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from ..facts import Citation, Fact, Kind, is_trusted
from ..ids import part_id, value_key
from ..index.open_memory import OpenMemory
from ..index.queries.entity_names import keys_of
from ..index.queries.entries import entries_at, holding, in_slots, own_and_entry, saying
from ..index.reread import reread, text_of
from ..index.row import Row
from ..language.analyzer import is_identifier, query_terms, terms
from ..language.dates import log_day
from ..language.names import entity_key
from ..language.relations import slot_of
from ..recall.entry_hits import hits_of
from .conversation import whole_value
from .extract import CandidateFact
from .filter import Refusal, is_boot_file, key_of, names_of, slot_key
from .own_words import vocabulary

_ECHO = 0.8  # the share of a model's words that one line holds from which they are that line coming back
_PREFACE = 2  # words of its own that a model may put around: "From memory: …"
_FEWEST = 3  # terms below which a statement that stands inside a longer line may mean another thing there


class Duplicates:
    """Asked about one candidate after the other; lines with the same words are looked up for all at once.

    `transcript` is the path of the transcript, which may be a page of the workspace: its prose is not known by that, its facts are.
    """

    def __init__(self, memory: OpenMemory, found: Sequence[CandidateFact], transcript: str) -> None:
        self._memory, self._index = memory, memory.index
        self._transcript = transcript
        self._said = saying(self._index, {key_of(each.fact) for each in found})
        self._turns = Counter(each.turn for each in found)

    def refusal(self, fact: Fact, day: date, spoken_by: str) -> Refusal | None:
        """Why a fact said on `day` is nothing new: known, or a known line said by a model."""
        known = self._known(fact, day)
        if known is not None:
            where = f"{known.path}#L{known.line}"
            if is_boot_file(known.path) and known.role != "fact":
                return Refusal("boot", f"it stands in {where}, which the agent is started with")
            if spoken_by != "user" and known.origin != fact.source:
                return Refusal("recalled", f"recalled from {where}")
            return Refusal("duplicate", f"known already: {where}")
        if spoken_by != "user":
            echo = self._echo(fact)
            return Refusal("recalled", f"recalled from {echo.path}#L{echo.line} in other words") if echo else None
        alike = self.line_that_says(fact.text, fact) if slot_key(fact) is None else None
        return Refusal("duplicate", f"known already: {alike.path}#L{alike.line}") if alike else None

    def line_that_says(self, text: str, fact: Fact, more: int = 0) -> Row | None:
        """A trusted fact of the same entities in whose words `text` is told, little words aside; it comes from elsewhere.

        "not" is no little word; what a line adds ("on Mondays") makes it another one, but for `more` words.
        """
        said, content = set(terms(text)), list(dict.fromkeys(query_terms(text)))
        if len(content) < min(_FEWEST, 3 - more):
            return None
        wanted = self._keys(fact)
        names = {term for name in names_of(fact) for term in terms(name)}
        lines = [line for _, line in own_and_entry(self._index, content[:24])]
        lines = [line for line in lines if line.role == "fact" and is_trusted(line.origin)]
        seen = reread(self._memory.workspace, lines, self._index)
        for line in (each for each in lines if each.id in seen):
            own = set(terms(text_of(line, seen[line.id]).content))
            other = (said ^ own) - names
            loses, adds = query_terms(" ".join(other & said)), query_terms(" ".join(other & own))
            same = all(keys.intersection(line.named) for keys in wanted) and (
                bool(wanted) or not line.named or more > 0
            )
            if same and not loses and len(adds) <= more and not other & vocabulary("negation"):
                return line
        return None

    def with_note(self, fact: Fact, each: CandidateFact, question: str) -> Fact:
        """The fact that settles a question and the note of this log that it is from: by the id of that where it tells
        all of that and nothing else is taken from it, else by one made of that id. Without such a note, as it is."""
        place = Citation(self._transcript, each.line, each.line)
        rows = entries_at(self._index, place) if log_day(self._transcript) else []
        for note in hits_of(self._memory, [row for row in rows if row.notes and row.is_in_log]).values():
            if note.ref.startswith("f-") and f"^{note.ref}" not in note.content:  # else its id does not tell its words
                is_all = self._turns[each.turn] == 1 and note.content.split() == each.quote.split()
                is_told = is_all and len(terms(note.content)) <= len(terms(fact.text))
                return replace(fact, settles=(question, note.ref if is_told else part_id(note.ref)))
        return fact

    def in_its_place(self, fact: Fact, old: str, new: str) -> Fact | None:
        """A correction in the words of what it corrects: the newest trusted fact with the old value and without the new one.

        It has most other words of the correction. None where there is none.
        """
        about = [term for term in query_terms(fact.text) if term.isalpha()]
        found: list[tuple[str, Fact]] = []
        for own, line in own_and_entry(self._index, about[:24]) if about else ():
            if line.role != "fact" or not is_trusted(line.origin) or 2 * len(own & {*about}) < len(about):
                continue
            for entry in reread(self._memory.workspace, [line], self._index).values():
                text = text_of(line, entry).content
                if (at := whole_value(old, text)) and not whole_value(new, text):
                    made = replace(fact, text=text.replace(at, new), corrects=(line.ref,))
                    found.append((line.day or "", made))
        return max(found, key=lambda each: each[0], default=("", None))[1]

    def _known(self, fact: Fact, day: date) -> Row | None:
        """The line that says it; of a slot only one that still holds, or that this very message made."""
        lines = self._lines_with(fact)
        slot, filled = slot_key(fact), slot_of(fact)
        if slot is None or filled is None:
            return lines[0] if lines else None
        versions = in_slots(self._index, slot[0], slot[1:])
        told = [line for line in versions if is_trusted(line.origin) and (line.day or "") <= str(day)]
        current = max(told, key=lambda line: (line.day or "", line.id), default=None)
        if current and filled.value and current.same == value_key(filled.key, filled.value):
            return current  # in other words

        def holds(line: Row) -> bool:
            ours = line.day == str(day) or line.origin == fact.source or line.slot != slot[0]
            return ours or current is None or line.id == current.id or line.same == current.same

        return next(filter(holds, lines), None)

    def _lines_with(self, fact: Fact) -> list[Row]:
        """The lines that say the words of a fact about the same, as trusted as it is, apart from the transcript's own."""
        phrase = terms(fact.text)
        lines = list(self._said.get(key_of(fact), ()))
        if len(phrase) >= 2:
            keys = self._keys(fact)
            lines += [line for line in holding(self._index, phrase) if _is_about(line, phrase, keys)]
        # The transcript's own prose does not count; a fact that was kept into the same page does.
        lines = [line for line in lines if line.path != self._transcript or line.role == "fact"]
        return lines if not is_trusted(fact.source) else [line for line in lines if is_trusted(line.origin)]

    def _keys(self, fact: Fact) -> list[frozenset[str]]:
        return [frozenset((entity_key(name), *keys_of(self._index, name))) for name in names_of(fact)]

    def _echo(self, fact: Fact) -> Row | None:
        """The line that holds nearly all words of what a model says, and every number and name of it.

        What it did is told from what it did before by a single word ("restarted" for "stopped"): there all must stand in it.
        """
        said = set(query_terms(fact.text))
        if len(said) < _FEWEST:
            return None
        wanted = dict.fromkeys([term for name in fact.entities for term in terms(name)] + query_terms(fact.text))
        exact = {term for term in said if is_identifier(term) or any(map(str.isdigit, term))}
        for own, line in own_and_entry(self._index, list(wanted)[:24]):
            new = len(said - own)
            few_new = new <= (1 - _ECHO) * len(said) or new <= _PREFACE < len(said) - new
            echoed = new == 0 or (fact.kind is not Kind.EXPERIENCE and few_new)
            if exact <= own and echoed and line.path != self._transcript:
                return line
        return None


def _is_about(line: Row, phrase: Sequence[str], keys: Sequence[frozenset[str]]) -> bool:
    """True when a line that holds a statement says it of the same: of all it names, or at such length that it is clear.

    `keys` are, for each name of the statement, all keys that its entity has.
    """
    if keys:
        return all(own.intersection(line.named) for own in keys)
    return len(phrase) > _FEWEST or (not line.named and len(phrase) == line.length)
