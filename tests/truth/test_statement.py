"""What a sentence says as far as a change of it can be told: its amounts, its times."""

from __future__ import annotations

from pathlib import Path

from store_helpers import recorded

from memctl.language.analyzer import terms
from memctl.truth.statement import READ, is_of_others, is_of_owner, read_sentences, speaker_of

SENTENCES = Path(__file__).parents[1] / "data/judged/sentences.txt"


def test_what_is_read_in_a_line(update_corpus: bool) -> None:
    """Marks, numbers with their units, times, topics and the rest, of sentences in three languages; not what is empty."""
    found = ""
    for line in SENTENCES.read_text("utf-8").splitlines():
        for read in read_sentences.__wrapped__(line, frozenset({"anna"})):
            assert read.is_long or READ.keys().isdisjoint(vars(read))  # read when it is asked for
            fields = sorted({"words", "kin", *READ} - {"is_unsure", "found"})
            told = (f"{name} {said}" for name in fields if (said := " ".join(sorted(map(str, getattr(read, name))))))
            found += f"{read.text.strip()}\n  {'; '.join(told)}\n"
        found += f"{line}: {speaker_of(line)!r} {is_of_owner(line)} {is_of_others(' '.join(terms(line)))}\n"
    assert found == recorded(SENTENCES, found, update_corpus)
