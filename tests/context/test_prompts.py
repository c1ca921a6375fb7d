"""A hook speaks where memory has the answer and keeps silent elsewhere: tests/data/prompts, in three languages."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))
import hooks


@pytest.mark.parametrize("language", ["en", "ru", "zh"])
def test_a_hook_speaks_and_keeps_silent_at_the_right_prompts(language: str) -> None:
    for half in (False, True):
        precision, answered, chatter, wrong = hooks.measure(hooks.DATA / f"{language}.txt", half)
        assert precision >= 0.9 and answered >= 0.8 and chatter <= 0.05, wrong
