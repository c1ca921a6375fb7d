"""A note of a log and the fact that was kept from it are one statement: in recall, in a context, in review and in forget."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from face_helpers import write_pages
from review_helpers import NOW

from memctl.memory import Memory

OLD, NEW = "memory/2025-11-24.md", "memory/2025-11-28.md"
SAID = {
    "en": ("I share my loft with Pieter Claes in Ledeberg, 250 a month", "loft"),
    "ru": ("Моя мастерская стоит 410 евро в месяц", "евро"),
    "zh": ("我每周三下午去游泳", "游泳"),
}
CHANGED = {
    "en": ("My day rate is 650 euro", "Raised my day rate to 720 euro", "day rate"),
    "ru": ("Касса открывается в 8:00", "Касса с сегодняшнего дня работает с 7:30", "касса"),
    "zh": ("我的日费是650欧元", "我的日费现在是720欧元", "日费"),
}


def _memory(folder: Path, *notes: str) -> Memory:
    pages = {path: f"# Log\n\n- {note}\n" for path, note in zip((OLD, NEW), notes, strict=False)}
    memory = Memory(write_pages(folder, {"memory.md": "# Memory\n"} | pages), lambda: NOW)
    memory.reflect()
    return memory


def _asked(memory: Memory, kind: str) -> list[str]:
    return [question.id for question in memory.review() if question.kind == kind]


def _keep(memory: Memory) -> list[str]:
    return [line for asked in _asked(memory, "keep") for _, line in memory.answer(asked, "y").added]


def _replace(memory: Memory, old: str, new: str) -> None:
    page = memory.workspace.root / OLD
    text = page.read_text("utf-8")
    assert old in text
    page.write_text(text.replace(old, new, 1), "utf-8")


def _hits(memory: Memory, words: str) -> list[tuple[int, list[int]]]:
    return [(hit.source.line, [also.line for also in hit.also]) for hit in memory.recall(words).hits]


@pytest.mark.parametrize("language", SAID)
def test_a_note_and_what_was_kept_of_it_are_one_hit(tmp_path: Path, language: str) -> None:
    """Wherever the note stands on its day, until one of the two is worded anew."""
    note, word = SAID[language]
    memory = _memory(tmp_path, note)
    (line,) = _keep(memory)
    assert _hits(memory, word) == [(7, [3])]
    assert memory.context(word, budget=800).text.count(word) == 1 == memory.session_start(800).text.count(word)
    _replace(memory, f"- {note}", f"\n\n- {note}")
    assert _hits(memory, word) == [(9, [5])]
    _replace(memory, f"- {note}", f"- {note}, 99")
    assert sorted(_hits(memory, word)) == [(5, []), (9, [])]
    _replace(memory, f"- {note}, 99", f"- {note}")
    _replace(memory, f"{line}\n", f"{line}, 99\n")
    assert sorted(_hits(memory, word)) == [(5, []), (9, [])]
    _replace(memory, f"{line}, 99\n", "")
    assert _hits(memory, word) == [(5, [])]


@pytest.mark.parametrize("language", CHANGED)
@pytest.mark.parametrize("order", ["keep y", "keep n", "keep b", "y keep", "n keep"])
def test_a_pair_is_asked_once_and_answered_for_all_copies(tmp_path: Path, language: str, order: str) -> None:
    old, new, words = CHANGED[language]
    memory = _memory(tmp_path, old, new)
    for answer in order.split():
        if answer == "keep":
            assert len(_keep(memory)) == 2
        else:
            memory.answer(*_asked(memory, "replaced"), answer)
    assert not _asked(memory, "replaced")
    hits = memory.recall(words).hits
    assert [(hit.source.path, len(hit.also)) for hit in hits] == [(NEW, 1), (OLD, 1)] or "y" not in order.split()
    assert [bool(hit.superseded_by) for hit in sorted(hits, key=lambda hit: hit.source)] == [
        "y" in order.split(),
        False,
    ]
    assert not any(hit.perhaps_superseded_by for hit in hits)


@pytest.mark.parametrize("language", SAID)
@pytest.mark.parametrize("is_kept", [True, False])
def test_forget_takes_what_was_made_of_a_note(tmp_path: Path, language: str, is_kept: bool) -> None:
    """The fact and the candidate, answered or not; who forgets the fact is told of the note."""
    note, word = SAID[language]
    memory = _memory(tmp_path, note)
    (note_ref,) = [hit.ref for hit in memory.recall(word).hits]
    if is_kept:
        _keep(memory)
        (fact_ref,) = [hit.ref for hit in memory.recall(word).hits]
        assert [note_ref in left for left in memory.forget(ids=[fact_ref]).left] == [True]
    assert len(memory.forget(ids=[note_ref]).lines) == 1 + is_kept
    memory.forget(ids=[note_ref], apply=True)
    assert not memory.recall(word).hits and not memory.review()
    pages = [page for page in tmp_path.rglob("*") if page.is_file()]
    assert not [page for page in pages if word.encode() in page.read_bytes()]


def test_an_undone_answer_and_a_line_that_claims_to_be_kept_leave_the_note(tmp_path: Path) -> None:
    """What stands on a page from outside vouches for nothing, and goes with no note of the owner's."""
    memory = _memory(tmp_path, SAID["en"][0])
    done = memory.answer(*_asked(memory, "keep"), "y")
    ((_, line),) = done.added
    memory.take_back(done)
    assert _hits(memory, "loft") == [(3, [])] and _asked(memory, "keep")
    (tmp_path / "memory/2025-11-24-web.md").write_text(f"---\nsrc: web:x\n---\n{line}\n", "utf-8")
    assert sorted(_hits(memory, "loft")) == [(3, []), (4, [])]
    (note,) = [hit.ref for hit in memory.recall("loft").hits if hit.source.line == 3]
    assert [one.citation.line for one in memory.forget(ids=[note]).lines] == [3]


@pytest.mark.parametrize("language", SAID)
@pytest.mark.parametrize("given", ["i=1", "i=0.35,key=birthday"])
def test_forget_in_bulk_spares_a_kept_fact_that_is_exempt(tmp_path: Path, language: str, given: str) -> None:
    """Pinned after it was kept, or of an exempt class: its note goes alone."""
    memory = _memory(tmp_path, SAID[language][0])
    (line,) = _keep(memory)
    _replace(memory, line, re.sub(r"i=[\d.]+", given, line))
    done = memory.forget(before="2025-11-29")
    assert [one.citation.line for one in done.lines] == [3] and len(done.spared) == 1


def test_a_page_from_outside_in_the_words_of_a_note_takes_nothing_along(tmp_path: Path) -> None:
    memory = _memory(tmp_path, SAID["en"][0])
    _keep(memory)
    (tmp_path / "memory/2025-11-24-web.md").write_text(f"---\nsrc: web:x\n---\n- {SAID['en'][0]}\n", "utf-8")
    done = memory.forget(source="web", before="2025-11-29")
    assert [one.citation.path for one in done.lines] == ["memory/2025-11-24-web.md"]


@pytest.mark.parametrize(
    "note", ["I share my loft with Pieter. The rent is 250 a month.", "我和彼得合用工作室。房租是每月250。"]
)
def test_forget_of_one_part_of_a_note_leaves_the_question_about_the_other(tmp_path: Path, note: str) -> None:
    memory = _memory(tmp_path, note)
    asked, other = _asked(memory, "keep")
    memory.answer(asked, "y")
    (fact,) = [hit.ref for hit in memory.recall(note).hits if hit.fact]
    memory.forget(ids=[fact], apply=True)
    assert _asked(memory, "keep") == [other]


@pytest.mark.parametrize("ended", ["until=2025-11-25", "ttl=2d"])
@pytest.mark.parametrize("first", [True, False])
def test_a_fact_that_two_machines_kept_and_one_ended_still_holds(tmp_path: Path, ended: str, first: bool) -> None:
    memory = _memory(tmp_path, SAID["en"][0])
    (line,) = _keep(memory)
    over = line.replace("W(", f"W({ended},")
    _replace(memory, line, f"{over}\n{line}" if first else f"{line}\n{over}")
    assert [place for place, _ in _hits(memory, "loft")] == [8 if first else 7]


@pytest.mark.parametrize("language", SAID)
def test_forget_of_a_note_that_was_edited_names_the_fact_that_it_leaves(tmp_path: Path, language: str) -> None:
    note, word = SAID[language]
    memory = _memory(tmp_path, note)
    _keep(memory)
    _replace(memory, f"- {note}", f"- {note}, 99")
    (ref,) = [hit.ref for hit in memory.recall(word).hits if not hit.fact]
    done = memory.forget(ids=[ref])
    assert [one.citation.line for one in done.lines] == [3] and done.left == [f"{OLD}#L7 cites ^{ref}"]
