"""A stand-in for the rules of extraction that takes every sentence of every message: what is refused then, intake refused."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from types import ModuleType

import pytest

from memctl.facts import Fact, Kind
from memctl.ingest.extract import CandidateFact
from memctl.ingest.turns import Turn
from memctl.judgement import Judgement, Tier


def candidates(turns: Iterable[Turn], *, owner: str | None = None) -> Iterator[CandidateFact]:
    """Every sentence of three letters and more, about the owner if there is one."""
    about = (owner,) if owner else ()
    for turn in turns:
        for part in re.split(r"(?<=[.!?])\s+|(?<=[。！？])|\n", turn.text):
            said = part.strip()
            if len(said) > 2:
                judgement = Judgement("keep", "fact", Tier.TOLD, "every sentence")
                yield CandidateFact(Fact(Kind.WORLD, said, about, importance=0.5), turn.number, "fact", judgement, said)


@pytest.fixture
def greedy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ingest takes every sentence."""
    module = ModuleType("memctl.ingest.extract")
    module.candidates, module.CandidateFact = candidates, CandidateFact  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "memctl.ingest.extract", module)
