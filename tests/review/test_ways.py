"""The ways to answer beside one call: a screen with keys, a text in an editor, a local model; and the line in a context."""

from __future__ import annotations

import json
import os
import pty
import select
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import pytest
from face_helpers import call, snapshot
from hypothesis import given, settings, strategies as st
from model_server import saying, server
from review_helpers import PAGES, asked, memory_with
from store_helpers import environment
from strategies import examples, line_facts

from memctl.facts import Citation, Kind, Period
from memctl.hits import Hit
from memctl.memory import Memory
from memctl.notes.workspace import Settings, Workspace
from memctl.review.answer import SheetAnswer, questions_text, replies_in
from memctl.review.question import KINDS, Question

LOG = "memory/2025-11-30.md"


def _hit(ref: str, content: str) -> Hit:
    place = Citation("memory/x.md", 1, 1)
    return Hit(ref, Kind.WORLD, None, Period(), (), content, place, "", None, None, "owner", False)


@st.composite
def questions(draw: st.DrawFn) -> list[Question]:
    made = []
    for number in range(draw(st.integers(0, 4))):
        kind = draw(st.sampled_from(sorted(KINDS)))
        sides = tuple(_hit(f"f-{number}{at}", draw(line_facts()).text) for at in range(len(KINDS[kind].roles)))
        made.append(Question(kind, (str(number), "x"), sides, ("Anna", "Анна")))
    return made


@given(questions())
@settings(max_examples=examples(100))
def test_what_is_left_as_it_is_answers_nothing(made: list[Question]) -> None:
    assert replies_in(questions_text(made), made) == ([], [])


@given(questions(), st.data())
@settings(max_examples=examples(100))
def test_what_is_written_is_read(made: list[Question], data: st.DataObject) -> None:
    """A key in each block that stays."""
    keys = {question.id: data.draw(st.sampled_from(["", *(one.key for one in question.options)])) for question in made}
    blocks = questions_text(made).split("\n[")
    gone = data.draw(st.sets(st.sampled_from([question.id for question in made]))) if made else set()
    kept = [block for block in blocks[1:] if block[:10] not in gone]
    text = "\n[".join([blocks[0], *(block.replace("\nanswer:\n", f"\nanswer: {keys[block[:10]]}\n") for block in kept)])
    expected = [SheetAnswer(q.id, keys[q.id]) for q in made if keys[q.id] and q.id not in gone]
    assert replies_in(text, made) == (expected, [])


@given(questions(), st.text())
@settings(max_examples=examples(100))
def test_any_text_is_read_without_an_error(made: list[Question], text: str) -> None:
    replies_in(text, made)
    replies_in(questions_text(made)[: len(text) * 7] + text, made)


def editor(folder: Path, change: str) -> str:
    """An editor that runs a line of Python on the text."""
    script = folder / "edit.py"
    script.write_text(
        f"import sys\npath = sys.argv[1]\ntext = open(path, encoding='utf-8').read()\n{change}\nopen(path, 'w', encoding='utf-8').write(text)\n"
        "import os, time\nos.utime(path, (time.time() + 5, time.time() + 5))\n"
    )
    return f"{sys.executable} {script}"


def test_all_questions_in_one_text(tmp_path: Path) -> None:
    """An answer, a block that is gone, a line that is reworded."""
    memory = memory_with(tmp_path / "ws", "replaced", "due", "keep")
    ids = {question.kind: question.id for question in memory.review()}
    change = (
        "blocks = text.split('\\n[')\n"
        f"blocks = [b.replace('answer:', 'answer: b') if '{ids['replaced']}' in b else b for b in blocks if '{ids['due']}' not in b]\n"
        "text = '\\n['.join(blocks).replace('Переехал в Порту', 'Переехал в Порту навсегда')"
    )
    done = call(["review", "--edit"], memory.workspace.root, EDITOR=editor(tmp_path, change))
    assert done.code == 0, done.both
    assert "Both hold" in (memory.workspace.root / LOG).read_text("utf-8")
    assert "Переехал в Порту навсегда" in (memory.workspace.root / "memory/2025-11-21.md").read_text("utf-8")
    assert [question.kind for question in memory.review()] == ["due"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("text = text.replace('answer:', 'answer: maybe')", "no answer 'maybe'; one of y, n, s"),
        ("text = text.replace('said:', 'sayd:')", "is neither a line of it nor its answer"),
        ("text = text.replace('[q-', '[q-zzzzzzzz] x\\n[q-')", "q-zzzzzzzz: no such question"),
        ("text = 'hello\\n' + text", "'hello' is outside of every block"),
    ],
)
def test_a_bad_edit_is_one_line_and_loses_nothing(tmp_path: Path, change: str, said: str) -> None:
    memory = memory_with(tmp_path / "ws", "due")
    before = snapshot(memory.workspace.root)
    done = call(["review", "--edit"], memory.workspace.root, EDITOR=editor(tmp_path, change))
    assert done.code == 1 and said in done.err and "what you wrote is kept in .memory/review.txt" in done.err
    assert len(done.err.splitlines()) == 2 and snapshot(memory.workspace.root) == before
    assert (memory.workspace.root / ".memory/review.txt").exists()


def test_a_text_that_was_not_saved_answers_nothing(tmp_path: Path) -> None:
    memory = memory_with(tmp_path, "due")
    done = call(["review", "--edit"], memory.workspace.root, EDITOR="true")
    assert (done.code, done.err) == (1, "not saved; nothing was answered\n")


def on_terminal(root: Path, keys: str) -> str:
    """`memctl review` on a real terminal, each key given when the screen waits for it."""
    pid, fd = pty.fork()
    if pid == 0:  # the child: nothing of this process goes on in it
        os.chdir(root)
        told = environment(MEMCTL_NOW="2025-11-30", TERM="xterm")
        os.execve(sys.executable, [sys.executable, "-m", "memctl", "review"], told)
    shown, given_keys, silent = b"", 0, 0
    with open(fd, "rb+", buffering=0) as screen:
        while silent < 60:
            if select.select([screen], [], [], 1)[0]:
                try:
                    piece = screen.read(65536)
                except OSError:  # Linux says so when the program is gone
                    break
                if not piece:
                    break
                shown, silent = shown + piece, 0
            else:
                silent += 1
            # What is typed before the screen reads keys is lost: a key is given once more where nothing came of it.
            if given_keys < min(shown.count(b"[q] quit"), len(keys)):
                time.sleep(0.3)
                screen.write(keys[given_keys].encode())
                given_keys += 1
            elif silent % 5 == 4 and given_keys:
                screen.write(keys[given_keys - 1].encode())
    os.waitpid(pid, 0)
    return shown.decode("utf-8", "replace").replace("\r\n", "\n")


def test_one_key_a_question(tmp_path: Path) -> None:
    """A key that means nothing asks again, l leaves one for later, u takes the last answer back."""
    memory = memory_with(tmp_path, "replaced", "due")
    first, second = memory.review()
    shown = on_terminal(memory.workspace.root, "?nuln")
    assert "2 questions · 1 of 2" in shown and "2 questions · 2 of 2" in shown and first.text in shown
    assert "[u] undo" in shown and "1 answer; 1 question waits" in shown and "Traceback" not in shown
    assert all(f"[{option.key}] {option.text}" in shown for option in first.options), "no label is broken in two"
    assert [question.id for question in memory.review()] == [first.id] != [second.id]


def by_model(memory: Memory, url: str, seconds: float = 2.0) -> tuple[list[object], list[str]]:
    """What a model at this URL answers."""
    told = Memory(
        Workspace(memory.workspace.root, Settings(model="none", llm=url, llm_seconds=seconds, llm_model="tiny")),
        lambda: memory.now,
    )
    return told.answer_by_model(told.review())


def test_a_local_model_answers_in_its_own_name(tmp_path: Path) -> None:
    """What it may; not what lets in the outside."""
    memory = memory_with(tmp_path, "replaced", "due", "trust")
    ids = {question.kind: question.id for question in memory.review()}
    answers = {"answers": [{"id": ids["replaced"], "option": "y"}, {"id": ids["due"], "option": "later"}]}
    with server(saying(answers)) as (url, seen):
        done, problems = by_model(memory, url)
    assert len(done) == 1 and not problems
    assert "src=llm:tiny" in (memory.workspace.root / LOG).read_text("utf-8")
    assert ids["trust"] not in json.dumps(seen) and ids["due"] in json.dumps(seen)
    assert {question.kind for question in memory.review()} == {"due", "trust"}


RUBBISH: dict[str, Callable[[str], object]] = {
    "not JSON": lambda ref: "I think so",
    "no list": lambda ref: {"answers": "y"},
    "another question": lambda ref: {"answers": [{"id": "q-zzzzzzzz", "option": "y"}]},
    "no such option": lambda ref: {"answers": [{"id": ref, "option": "yes!"}]},
    "twice": lambda ref: {"answers": [{"id": ref, "option": "y"}] * 2},
    "numbers": lambda ref: {"answers": [{"id": 1, "option": None}, 2]},
}


@pytest.mark.parametrize("content", RUBBISH.values(), ids=RUBBISH)
def test_a_model_that_answers_rubbish_writes_nothing(tmp_path: Path, content: Callable[[str], object]) -> None:
    memory = memory_with(tmp_path, "due")
    before, question = snapshot(memory.workspace.root), asked(memory, "due")
    with server(saying(content(question.id))) as (url, _):
        done, problems = by_model(memory, url)
    assert not done and len(problems) == 1 and "nothing was written" in problems[0] and "\n" not in problems[0]
    assert "did not answer" not in problems[0] and "`memctl review` asks you" in problems[0]
    assert snapshot(memory.workspace.root) == before


def test_what_a_model_answers_beside_rubbish_is_kept(tmp_path: Path) -> None:
    memory = memory_with(tmp_path, "due", "replaced")
    ids = [question.id for question in memory.review()]
    answers = [{"id": ids[0], "option": "n"}, {"id": ids[1], "option": "yes!"}, {"id": "q-zzzzzzzz", "option": "y"}]
    with server(saying({"answers": answers})) as (url, _):
        done, (problem,) = by_model(memory, url)
    assert len(done) == 1 and [question.id for question in memory.review()] == ids[1:]
    assert f"'{ids[1]}' 'yes!', 'q-zzzzzzzz' 'y'" in problem and "the other answers were kept" in problem


def test_a_model_that_is_late_or_not_there_writes_nothing(tmp_path: Path) -> None:
    memory = memory_with(tmp_path, "due")
    before = snapshot(memory.workspace.root)
    is_over = threading.Event()
    with server(lambda handler, _: is_over.wait()) as (url, _):
        assert "took too long" in by_model(memory, url, seconds=0.2)[1][0]
        is_over.set()
    for url in ("http://127.0.0.1:9/v1", "http://example.com/v1"):
        done, (problem,) = by_model(memory, url)
        assert not done and "nothing was written" in problem
    assert snapshot(memory.workspace.root) == before
    done = call(["review", "--by", "llm"], memory.workspace.root)
    assert done.code == 2 and "no local model is set" in done.err


def test_a_context_says_how_many_wait(tmp_path: Path) -> None:
    """By two statements, whatever there is; silent when nothing waits; without what is not for others."""
    memory = memory_with(tmp_path, *PAGES)
    assert "1 question waits" in memory.context().text  # the candidate of an ingest: nobody has looked for others yet
    found = memory.review()
    line = f"{len([q for q in found if not q.is_for_owner])} questions wait for an answer: memctl review"
    assert memory.context().text.endswith(line) and memory.session_start(4000).text.endswith(line)
    assert _statements(memory) <= 2
    for question in found:
        memory.answer(question.id, question.options[-1].key)
    assert "wait" not in memory.context().text.splitlines()[-1]


def test_a_context_knows_what_reflect_left(tmp_path: Path) -> None:
    """Nobody has looked at a question yet."""
    memory = memory_with(tmp_path, "belief", "replaced")
    assert memory.reflect().pages and "1 question waits" in memory.context().text  # belief: only review looks so far
    memory.review()
    memory.retain("B @Anna: Slept")
    assert memory.reflect().pages and "2 questions wait" in memory.context().text


def _statements(memory: Memory) -> int:
    """How many reads the line costs."""
    from memctl.review.question import waiting

    def job(at: Memory) -> int:
        with patch.object(at.index, "rows", wraps=at.index.rows) as rows:
            waiting(at)
        return rows.call_count

    return memory.run(job)
