"""A week of an agent, in short: what was told on the first day is there on the last, cited, and no prompt is too long."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
from face_helpers import call

sys.path.insert(0, str(Path(__file__).parents[2] / "bench"))
import hooks
import week
import week_life
from week_chat import QUESTIONS, UNKNOWN
from week_model import UNKNOWN_REPLY, answer

FIRST = ("name", "project", "why")


def memctl(folder: Path, now: str, *words: str, given: str | None = None) -> str:
    """The command line of the week, in this process."""
    done = call([*words, "-w", str(folder), "--now", now], folder, stdin=given or "")
    assert done.code in (0, 1), done.err
    return done.out


@pytest.fixture(scope="module")
def counts() -> dict[str, week_life.Count]:
    """What counts tokens here: the estimate, and what is installed."""
    return week_life.counters()


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory, counts: dict[str, week_life.Count]) -> week_life.Lived:
    """The week with memctl."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(week_life, "memctl", memctl)
        return week_life.live(tmp_path_factory.mktemp("with") / "w", week_life.SHORT, counts)


@pytest.fixture(scope="module")
def plain(counts: dict[str, week_life.Count]) -> week_life.Lived:
    """The same week, cut to the window."""
    return week_life.live(None, week_life.SHORT, counts)


def told_on_day_7(lived: week_life.Lived) -> dict[str, str]:
    return {name: turn.reply for name, turn in week.asked_on_day_7(lived)}


def test_the_first_day_comes_back_on_the_last_in_its_words_and_cited(lived: week_life.Lived) -> None:
    assert lived.workspace
    for replies in (told_on_day_7(lived), lived.later):
        for name in FIRST:
            assert week.is_right(QUESTIONS[name], replies[name]), replies[name]
            assert week.is_proven(lived.workspace, QUESTIONS[name], replies[name]), replies[name]


def test_without_memctl_it_is_gone(plain: week_life.Lived) -> None:
    replies = told_on_day_7(plain)
    assert {replies[name] for name in FIRST} == {UNKNOWN_REPLY}


def test_no_prompt_is_above_the_budget(lived: week_life.Lived) -> None:
    assert lived.told > 4 * lived.scale.window
    assert max(turn.tokens for turn in lived.turns) <= lived.scale.budget
    assert max(turn.real for turn in lived.turns) <= lived.scale.budget


@pytest.mark.parametrize("name", ["release", "nets"])
def test_a_revised_decision_and_a_correction_stand_instead_of_what_they_replace(
    lived: week_life.Lived, name: str
) -> None:
    assert week.is_right(QUESTIONS[name], lived.later[name]), lived.later[name]


def test_what_nobody_said_stays_unknown(lived: week_life.Lived) -> None:
    for name, asked in QUESTIONS.items():
        if asked.words == (UNKNOWN,):
            assert lived.later[name] == told_on_day_7(lived)[name] == UNKNOWN_REPLY


def test_most_answers_are_right_and_most_lines_worth_keeping(lived: week_life.Lived, plain: week_life.Lived) -> None:
    right, bare = (sum(week.is_right(QUESTIONS[n], r) for n, r in told_on_day_7(w).items()) for w in (lived, plain))
    assert right >= 0.9 * len(QUESTIONS) > 0.5 * len(QUESTIONS) > bare
    kept = list(week.kept_lines(lived))
    assert sum(one.tells is None for one in kept) <= len(kept) / 4, [one.line for one in kept if one.tells is None]


def test_the_command_makes_the_prompt_that_the_library_makes(lived: week_life.Lived) -> None:
    assert lived.alike


@pytest.mark.slow
def test_nothing_changes_when_the_index_is_deleted_on_day_4(
    lived: week_life.Lived, counts: dict[str, week_life.Count], tmp_path: Path
) -> None:
    forgot = week_life.live(tmp_path / "w", week_life.SHORT, counts, delete_on=4)
    assert [week_life.digest(t.prompt) for t in forgot.turns] == [week_life.digest(t.prompt) for t in lived.turns]
    assert forgot.later == lived.later


def test_the_model_knows_its_prompt_and_nothing_else() -> None:
    asked = {"role": "user", "content": "What is my name?"}
    assert answer([asked])["content"] == UNKNOWN_REPLY
    told = {"role": "user", "content": "My name is Ada."}
    assert answer([told, asked])["content"] == "My name is Ada."
    fenced = "<memory-x1>\n- [memory/2025-11-03.md#L5] 2025-11-03 world: My name is Ada.\n</memory-x1>"
    assert (
        answer([{"role": "user", "content": f"What is my name?\n\n{fenced}"}])["content"]
        == "2025-11-03 world: My name is Ada. [memory/2025-11-03.md#L5]"
    )


@pytest.mark.parametrize("language", ["en", "ru", "zh"])
def test_a_hook_speaks_and_keeps_silent_at_the_right_prompts(language: str) -> None:
    """It speaks where memory has the answer and keeps silent elsewhere: tests/data/prompts, in three languages."""
    for half in (False, True):
        precision, answered, chatter, wrong = hooks.measure(hooks.DATA / f"{language}.txt", half)
        assert precision >= 0.9 and answered >= 0.8 and chatter <= 0.05, wrong


ASKED = {
    "L5 L6": "What happened on 3 November?|что мы делали 3 ноября?|11月3日发生了什么？",
    "L5": "What did Anna do on 3 November?|Что делала Anna 3 ноября?|Anna11月3日做了什么？",
    "": "What did Carl do on 3 November?|3 November|Deploy it on 3 November|What happened on 4 November?|Good morning|Привет|Thanks|what's up",
}


def test_a_hook_answers_what_is_asked_of_a_time_alone_and_no_small_talk(tmp_path: Path) -> None:
    chat = "# 2025-10-10\n\n## Good morning\n\n**Anna**: Thanks!\n\n## Привет\n\n**Bob**: Спасибо!\n"
    told = "# 2025-11-03\n\n## Retain\n\n- B @Anna: Walked by the river\n- B @Bob: Painted the boat\n"
    memctl(tmp_path, "2025-11-27", "init")
    (tmp_path / "memory/2025-10-10.md").write_text(chat, "utf-8")
    (tmp_path / "memory/2025-11-03.md").write_text(told, "utf-8")
    for lines, prompt in ((lines, prompt) for lines, prompts in ASKED.items() for prompt in prompts.split("|")):
        given = json.dumps({"prompt": prompt, "cwd": str(tmp_path)})
        said = memctl(tmp_path, "2025-11-27", "hook", "prompt", given=given)
        assert " ".join(re.findall(r"#(L\d+)\]", said)) == lines, prompt
