"""Belief entries as text: heads, evidence and marks are read and written without touching a byte that is a person's.

The histories here need no files: facts are told in any order, in any number of runs, and the page must come out the same.
What a fact says of a belief is written in front of its text: `+` for, `-` against, `?` perhaps for, `~` perhaps no longer, `!` no longer.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import assume, example, given, settings, strategies as st
from page_checks import WHOLE, is_subsequence, outside
from strategies import IDS, facts, growth, pages, texts

from memctl.beliefs.confidence import BeliefEntry, LastWritten, Place
from memctl.beliefs.opinions_page import (
    LEDGER,
    edit_lines,
    head_with,
    last_written_body,
    merged_page,
    read_entries,
    read_last_written,
    write_opinions,
)
from memctl.beliefs.replay import Replayed, ReplayInput, TrustedFact, is_ours, replay_beliefs
from memctl.facts import Citation, Fact, Kind
from memctl.judgement import Judgement, Tier
from memctl.markdown.blocks import splice
from memctl.markdown.grammar import parse, render
from memctl.markdown.lines import split_lines
from memctl.markdown.page import parse_page

MANY = 2_000 if os.environ.get("MEMCTL_TORTURE") else 30
TODAY = date(2025, 11, 30)

# -- heads ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("- O: Tea", "- O(c=0.42): Tea"), ("- O @Peter: Tea", "- O(c=0.42) @Peter: Tea"),
        ("- O(0.8) @Peter: Tea", "- O(0.42) @Peter: Tea"), ("* O(c=0.8): Tea", "* O(c=0.42): Tea"),
        ("+  O ( c = 0.8 , i=0.5 ): Tea", "+  O ( c = 0.42 , i=0.5 ): Tea"), ("- O(i=0.5, .8): Tea", "- O(i=0.5, 0.42): Tea"),
        ("- O(i=0.5): Tea", "- O(c=0.42,i=0.5): Tea"), ("- O(): Tea", "- O(c=0.42): Tea"),
        ("- O（0.8，i=0.5）@爱丽丝：喝茶", "- O（0.42，i=0.5）@爱丽丝：喝茶"), ('- O(task="a, 0.5, b"): Tea', '- O(c=0.42,task="a, 0.5, b"): Tea'),
        ('- O(task="c=0.5", 1): Tea', '- O(task="c=0.5", 0.42): Tea'), ('- O(c="0.8"): Tea', "- O(c=0.42): Tea"),
        ('- O(why="(0.9)", 0.8): Tea (0.9)', '- O(why="(0.9)", 0.42): Tea (0.9)'), ("    - O(0.8): Tea", "    - O(0.42): Tea"),
        ("- - O(0.8): Tea", "- - O(0.42): Tea"), ("-\tO(0.8): Tea", "-\tO(0.42): Tea"), ("no head at all", "no head at all"),
    ],
)  # fmt: skip
def test_a_head_gets_another_number(line: str, expected: str) -> None:
    """In its place, in the spelling of its author."""
    assert head_with(line, "0.42") == expected


@given(facts(), st.sampled_from(["- ", "* ", "+   ", "  - ", "- - ", "-\t"]), st.sampled_from(["0.02", "0.5", "0.98"]))
@settings(max_examples=MANY)
def test_only_the_number_of_a_head_changes(fact: Fact, marker: str, number: str) -> None:
    """Whatever attributes it has, quoted or not: read again, it is the same belief with that confidence."""
    fact = replace(fact, kind=Kind.OPINION, text=" ".join(fact.text.split()) or "x")
    assume(parse(render(fact)) == fact)
    changed = head_with(marker + render(fact), number)
    assert parse(changed[len(marker) :]) == replace(fact, confidence=float(number))


@given(st.lists(texts(2), max_size=3), texts(), st.sampled_from(["- ", "* - ", "  + "]))
def test_the_number_is_found_again_on_any_line(attributes: list[str], text: str, marker: str) -> None:
    """Every line that is read as a belief takes the number that is written into it."""
    line = " ".join(f"{marker}O({', '.join(attributes)}): {text} x".splitlines())
    found = read_entries(line)[0]
    if found:
        (head,) = read_entries(head_with(line, "0.42"))[0]
        assert head.fact == replace(found[0].fact, confidence=0.42)


# -- lines ------------------------------------------------------------------------------------------------------------


@st.composite
def edited_pages(draw: st.DrawFn) -> tuple[str, list[tuple[int, int, list[str]]]]:
    """Any page, and edits of lines that do not touch each other."""
    text = draw(pages() | st.text(st.sampled_from("a\r\n \udcff"), max_size=12)).removeprefix("\ufeff")
    count = len(WHOLE.findall(text))
    edits, at = [], 1
    while at <= count + 1 and draw(st.booleans()):
        first = draw(st.integers(at, count + 1))
        last = draw(st.integers(first - 1, min(count, first + 2)))
        new = ["- x", "ы"] if last == count else ["- x", "", "ы"]  # an empty line at the very end is none
        least = int("\r" in text.replace("\r\n", ""))  # with lines taken out, a CR might meet an LF
        edits.append((first, last, draw(st.lists(st.sampled_from(new), min_size=least, max_size=2))))
        at = last + 2
    return text, edits


@given(edited_pages())
@settings(max_examples=MANY)
@example(("a", [(2, 1, ["x"])]))
@example(("a\rb\n\n", [(2, 2, [])]))
@example(("a\r", [(2, 1, ["", "x"])]))
@example(("\n\na", [(3, 3, ["x"])]))
def test_lines_are_replaced_and_no_other_byte(case: tuple[str, list[tuple[int, int, list[str]]]]) -> None:
    """Each other line keeps its text and its end; new ones take the page's."""
    text, edits = case
    old = WHOLE.findall(text)
    model = split_lines(text)
    for first, last, new in reversed(edits):
        model[first - 1 : last] = new
    made = edit_lines(text, edits)
    assert split_lines(made) == model
    gone = {n for first, last, _ in edits for n in range(first, last + 1)}
    left = iter(WHOLE.findall(made if not old or old[-1].endswith(("\r", "\n")) else made + "\n"))
    old = [line if line.endswith(("\r", "\n")) else line + "\n" for line in old]
    for number, line in enumerate(old, 1):
        if number not in gone:
            # An empty line that comes to stand behind a bare CR gets one too: the two would be a single line end.
            may = {line, "\r\n"} if line == "\n" else {line}
            last = number == max(
                set(range(1, len(old) + 1)) - gone
            )  # of a page without a final newline it may lose its own
            assert any(found in may or (last and found.rstrip("\r\n") == line.rstrip("\r\n")) for found in left), line
    ends = {line[len(line.rstrip("\r\n")) :] for line in old} - {""}
    assert {line[len(line.rstrip("\r\n")) :] for line in WHOLE.findall(made)} <= ends | {"", "\n"} | (
        {"\r\n"} if "\r" in ends else set()
    )


# -- marks ------------------------------------------------------------------------------------------------------------

CODES = st.sampled_from(["s", "s0.80", "s1.00", "+4", "+2", "-1", "-4", "x", "!"])
MARKS = st.dictionaries(
    IDS,
    st.builds(LastWritten, st.none() | st.sampled_from(["0.02", "0.86"]), st.dictionaries(IDS, CODES, max_size=5)),
    max_size=5,
)


@given(MARKS, pages(max_lines=6))
def test_marks_are_read_back(marks: dict[str, LastWritten], text: str) -> None:
    """From any page that takes a block, and they do not show on a rendered one."""
    try:
        page = splice(text, LEDGER, last_written_body(marks))
    except ValueError:
        assume(False)
        return
    assert read_last_written(page) == marks
    shown = [entry for entry in parse_page(page, True).entries if entry.block == LEDGER and entry.fact]
    assert shown == []


@given(texts(20))
def test_a_damaged_ledger_is_no_error(text: str) -> None:
    """What is not a mark is passed over."""
    read_last_written(f"<!-- memctl:begin evidence sha=0 -->\n{text}\n<!-- memctl:end evidence -->\n")


# -- entries ----------------------------------------------------------------------------------------------------------


def test_an_entry_goes_as_far_as_its_indentation() -> None:
    """Evidence and remarks below a head belong to it; a paragraph, a heading and the next bullet do not."""
    text = """# Opinions
- O(c=0.8) @Peter: Tea,
  in the morning ^o-1
  - 2025-11-01 · stated 0.80 ^f-1
  - a remark, no evidence
    - 2025-11-02 · for → 0.84 ^f-2
  a paragraph of the item

  - 2025-11-03 against: on the phone
* O: Coffee
Prose.
- a plain item
## More
+ O(0.5) @爱丽丝: 茶
\t- 2025-11-04 за: в письме ^f-3
> - O: quoted
1. O: numbered
"""
    entries, _ = read_entries(text)
    assert [(e.span.line, e.span.end_line, e.end, e.ref) for e in entries] == [
        (2, 3, 9, "o-1"),
        (10, 10, 10, None),
        (14, 14, 15, None),
    ]
    assert [[(span.line, b.verdict, b.ref) for span, b in e.bullets] for e in entries] == [
        [(4, "stated", "f-1"), (6, "for", "f-2"), (9, "against", None)],
        [],
        [(15, "for", "f-3")],
    ]


def test_what_stands_in_a_block_or_a_fence_is_no_entry() -> None:
    """It is a copy, or an example."""
    text = (
        "```\n- O: fenced\n```\n<!-- memctl:begin x -->\n- O: managed\n<!-- memctl:end x -->\n<!--\n- O: comment\n-->\n"
    )
    assert read_entries(text)[0] == []


# -- histories without files ------------------------------------------------------------------------------------------


def judge(belief: Fact, fact: Fact) -> Judgement | None:
    """What the sign in front of the fact says about every belief with the same last word."""
    if belief.text.split()[-1] != fact.text.split()[-1]:
        return None
    return {
        "+": Judgement("evidence", "for", Tier.CERTAIN, "plainly"),
        "-": Judgement("evidence", "against", Tier.CERTAIN, "plainly"),
        "?": Judgement("evidence", "for", Tier.ASKED, "perhaps"),
        "~": Judgement("reversal", "ended", Tier.ASKED, "perhaps not now"),
        "!": Judgement("reversal", "ended", Tier.CERTAIN, "no longer"),
    }.get(fact.text[0])


def told(number: int, day: int, line: str) -> TrustedFact:
    """A fact of the log, as reflect is given it."""
    fact = parse(line)
    assert isinstance(fact, Fact), line
    when = date(2025, 11, 1) + timedelta(day)
    place = Citation(f"memory/{when}.md", number + 3, number + 3)
    return TrustedFact(f"f-{number:08}", fact, when, place, frozenset(name.casefold() for name in fact.entities))


def run(
    text: str, facts: Iterable[TrustedFact], since: int | None = None, everything: Iterable[TrustedFact] = ()
) -> str:
    """One reflect over bank/opinions.md; `everything` are the lines that exist, where more do than are told."""
    given = list(facts)
    entries, _ = read_entries(text)
    return write_opinions(text, replay(text, given, since, everything)).text if given or entries else text


def replay(
    text: str, facts: Sequence[TrustedFact], since: int | None = None, everything: Iterable[TrustedFact] = ()
) -> Replayed:
    """What one reflect makes of the page and the facts."""
    window = [t for t in facts if since is None or t.day >= date(2025, 11, 1) + timedelta(since)]
    places = {t.ref: Place(t.citation, t.fact.source or "owner") for t in (*facts, *everything)}
    given = ReplayInput(window, places, frozenset(), names_of, judge, TODAY)
    return replay_beliefs(read_entries(text)[0], read_last_written(text), given)


def names_of(fact: Fact) -> frozenset[str]:
    """The keys of those a fact names."""
    return frozenset(name.casefold() for name in fact.entities)


@st.composite
def tellings(draw: st.DrawFn, backwards: bool = False) -> list[TrustedFact]:
    """A history: up to twelve facts of five days about two names, speaking for, against and about each other's ids.

    With `backwards` no link points at a day to come.
    """
    made = []
    days = draw(st.lists(st.integers(0, 4), min_size=1, max_size=12))
    for number, day in enumerate(sorted(days) if backwards else days):
        kind = draw(st.sampled_from(["O", "O(0.9)", "O(c=0.333)", "W", "B"]))
        link = draw(st.sampled_from(["", "", "", "", "for", "against", "supersedes"]))
        source = draw(st.sampled_from(["", "", "src=agent"]))
        target = f"{link}=f-{draw(st.integers(0, number if backwards else 11)):08}" if link else ""
        attributes = ",".join(filter(None, [kind[2:-1], target, source]))
        names = draw(st.sampled_from([" @Peter", " @Ирина", " @Peter @Ирина", ""]))
        sign = draw(st.sampled_from(["", "", "+ ", "- ", "? ", "~ ", "! "]))
        about = draw(st.sampled_from(["tea", "чай", "喝茶"]))
        line = f"{kind[0]}{f'({attributes})' if attributes else ''}{names}: {sign}{about}"
        made.append(told(number, day, line))
    return made


@given(tellings(), st.randoms(use_true_random=False))
@settings(max_examples=MANY)
def test_facts_in_any_order_in_any_number_of_runs(history: list[TrustedFact], random) -> None:  # type: ignore[no-untyped-def]
    """The page is that of one run over all of them, to the byte; a further run changes nothing."""
    expected = run("", history)
    assert run(expected, history) == expected
    arriving = random.sample(history, len(history))
    text, known = "", []
    for fact in arriving:
        known.append(fact)
        if random.random() < 0.6:
            text = run(text, known)
    text = run(text, known)
    assert text == expected or (not expected and text.strip() in ("", "# Opinions"))


@given(tellings(backwards=True))
@settings(max_examples=MANY)
def test_a_window_for_every_day_is_the_whole(history: list[TrustedFact]) -> None:
    """Where links point to what was there, and every day is reflected upon when it is over."""
    text = ""
    for day in range(5):
        known = [t for t in history if t.day <= date(2025, 11, 1) + timedelta(day)]
        text = run(text, known, since=day)
    assert text == run("", history)


@given(tellings(), tellings(), pages(max_lines=8))
@settings(max_examples=MANY)
def test_bytes_outside_the_entries_stay(history: list[TrustedFact], more: list[TrustedFact], text: str) -> None:
    """On any page: each line that is in no entry keeps every byte, and what cannot be written is not."""
    before = run(text, history)
    kept = outside(text)
    assert is_subsequence(kept, outside(before))
    assert run(before, history) == before
    later = [replace_ref(t, n) for n, t in enumerate(more)]
    after = run(before, [*history, *later])
    assert is_subsequence(kept, outside(after))


def replace_ref(fact: TrustedFact, number: int) -> TrustedFact:
    """The same fact as another line."""
    return fact._replace(ref=f"f-9{number:07}")


# -- edits by hand ----------------------------------------------------------------------------------------------------


class Edit(NamedTuple):
    """A page as a person left it, and what must be true of every later one."""

    text: str
    holds: Callable[[str], bool]


def entry_of(text: str, ref: str) -> BeliefEntry | None:
    """The belief with this id."""
    return next((entry for entry in read_entries(text)[0] if entry.ref == ref), None)


def evidence(text: str, ref: str) -> list[tuple[str, str | None]]:
    """Verdict and id of each piece of evidence under a belief."""
    entry = entry_of(text, ref)
    return [(b.verdict, b.ref) for _, b in entry.bullets] if entry else []


def by_hand(draw: st.DrawFn, text: str) -> Edit:
    """One of the things that a person does to a belief."""
    entry = draw(st.sampled_from(read_entries(text)[0]))
    lines, ref = text.split("\n"), entry.ref or ""
    what = draw(
        st.sampled_from(["set", "add", "remove", "take out", "reword", "remark", "new", "move", "turn", "copy"])
    )
    first, bullets = entry.span.line - 1, entry.bullets
    span, bullet = draw(st.sampled_from(bullets))
    at = span.line - 1
    if what == "set":
        lines[first] = head_with(lines[first], "0.37" if entry.fact.confidence != 0.37 else "0.38")
        return Edit("\n".join(lines), lambda page: [v for v, _ in evidence(page, ref)].count("set") == 1)
    if what == "add":
        lines.insert(entry.end, "  - 2025-11-03 against: said so on the phone")
        return Edit("\n".join(lines), lambda page: ("against", None) in evidence(page, ref))
    if what == "take out":
        del lines[first : entry.end]
        return Edit("\n".join(lines), lambda page: entry_of(page, ref) is None)
    if what == "reword":
        lines[first] = lines[first].replace(f" ^{ref}", f", or so I think ^{ref}")
        return Edit("\n".join(lines), lambda page: "or so I think" in entry_of(page, ref).fact.text)  # type: ignore[union-attr]
    if what == "remark":
        lines.insert(at + 1, "    Ask again in spring!")
        return Edit("\n".join(lines), lambda page: f"{bullet.ref}\n    Ask again in spring!\n" in page)
    if what == "copy":
        lines.insert(at, lines[at])
        return Edit("\n".join(lines), lambda page: evidence(page, ref).count((bullet.verdict, bullet.ref)) <= 1)
    if what == "new":
        lines.insert(first, "- O @Peter: Mine, all mine")
        return Edit("\n".join(lines), lambda page: page.count("Mine, all mine ^o-") == 1)
    if bullet.verdict not in ("for", "against") or what == "remove":
        del lines[at]
        return Edit("\n".join(lines), lambda page: bullet.ref not in dict(map(reversed, evidence(page, ref))))  # type: ignore[arg-type]
    if what == "turn":
        other = {"for": "against", "against": "for"}[bullet.verdict]
        lines[at] = lines[at].replace(f" {bullet.verdict} ", f" {other} ", 1)
        return Edit("\n".join(lines), lambda page: (other, bullet.ref) in evidence(page, ref))
    line = lines.pop(at)
    lines.insert(first, f"- O @Peter: Elsewhere ^o-other\n{line}")
    moved = bullet.verdict, bullet.ref
    return Edit("\n".join(lines), lambda page: moved in evidence(page, "o-other") and moved not in evidence(page, ref))


@given(st.data(), tellings(), tellings(), st.booleans())
@settings(max_examples=MANY)
def test_an_edit_by_hand_is_respected(
    data: st.DataObject, history: list[TrustedFact], more: list[TrustedFact], windowed: bool
) -> None:
    """On the next run and on all others, whatever is told meanwhile; and a run that has nothing to do does nothing."""
    text = run("", history)
    assume(read_entries(text)[0])
    edit = by_hand(data.draw, text)
    later = [replace_ref(t, n) for n, t in enumerate(more)]
    pages = [run(edit.text, history)]
    pages.append(run(pages[-1], history))
    assert pages[0] == pages[1]
    if windowed:
        pages.append(run(pages[-1], [*history, *later], since=2, everything=history))
    pages.append(run(pages[-1], [*history, *later]))
    pages.append(run(pages[-1], [*history, *later]))
    assert pages[-2] == pages[-1]
    assert all(map(edit.holds, pages))


# -- merges -----------------------------------------------------------------------------------------------------------


def git_merged(base: str, ours: str, theirs: str) -> str:
    """What git makes of the page, with its conflict markers."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / name for name in ("ours", "base", "theirs")]
        for path, text in zip(paths, (ours, base, theirs), strict=True):
            path.write_bytes(text.encode())
        done = subprocess.run(["git", "merge-file", "-p", *map(str, paths)], capture_output=True, cwd=folder)
    return done.stdout.decode()


def settle(merged: str, ours: str, theirs: str, facts: Sequence[TrustedFact]) -> str | None:
    """The page without its conflicts, given all facts; None where a person has a part in them."""
    by_ref = {fact.ref: fact for fact in facts}
    places = {fact.ref: Place(fact.citation, "owner") for fact in facts}
    return merged_page(merged, (ours, theirs), lambda entry, mark: is_ours(entry, mark, by_ref, places, set()))


git_wanted = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


@git_wanted
@given(st.data(), tellings(), tellings(), tellings())
@settings(max_examples=max(15, MANY // 4), deadline=None)
def test_two_machines_and_a_person(
    data: st.DataObject, common: list[TrustedFact], here: list[TrustedFact], there: list[TrustedFact]
) -> None:
    """What was edited by hand on one of them before it reflected holds after the merge, or the conflict stays."""
    here, there = ([replace_ref(t, 100 * n + k) for k, t in enumerate(more)] for n, more in ((1, here), (2, there)))
    base = run("", common)
    assume(read_entries(base)[0])
    edit = by_hand(data.draw, base)
    edited, plain = run(edit.text, [*common, *here]), run(base, [*common, *there])
    ours, theirs = (edited, plain) if data.draw(st.booleans()) else (plain, edited)
    merged = git_merged(base, ours, theirs)
    everything = [*common, *here, *there]
    if "<<<<<<<" in merged:
        done = settle(merged, ours, theirs, everything)
        if done is None:
            return
        merged = done
    assert edit.holds(run(merged, everything))


@pytest.mark.parametrize("text", ["", "# Opinions\n", "<<<<<<< HEAD\na\n", "<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x\n"])
def test_what_is_no_conflict_of_ours(text: str) -> None:
    """A person's words, or nothing that git would write."""
    assert settle(text, text, text, []) in (None, text)


# -- where a new belief stands ----------------------------------------------------------------------------------------


def heads(text: str) -> list[str]:
    """The text of each belief in the order of the page."""
    return [entry.fact.text for entry in read_entries(text)[0]]


def test_a_new_page_has_a_title() -> None:
    """And one blank line, and the oldest belief first."""
    made = run("", [told(2, 3, "O @Peter: late tea"), told(1, 1, "O @Peter: early coffee")])
    assert made.startswith(
        "# Opinions\n\n- O(c=0.70) @Peter: early coffee ^o-00000001\n  - 2025-11-02 · stated ~0.70 · "
    )
    assert heads(made) == ["early coffee", "late tea"]
    for empty in ("\ufeff", "\n", "  \r\n"):
        assert run(empty, [told(1, 1, "O: tea")]).startswith(
            ("\ufeff" if empty == "\ufeff" else "") + "# Opinions\n\n- O"
        )


def test_beliefs_stand_in_the_order_of_their_days() -> None:
    """Behind the last that was stated before, above those that were stated later; what a person moved stays there."""
    first = run("# Mine\n\nWords.\n", [told(2, 2, "O: two")])
    assert first.startswith("# Mine\n\nWords.\n\n- O(c=0.70): two")
    all_three = [told(1, 1, "O: one"), told(2, 2, "O: two"), told(3, 3, "O: three")]
    assert heads(run(first, all_three)) == ["one", "two", "three"]
    by_hand = run("# Mine\n- O(0.5): mine\n\nWords.\n", all_three)
    assert heads(by_hand) == ["mine", "one", "two", "three"]


def test_the_last_belief_takes_its_blank_line_with_it() -> None:
    """When a correction leaves none, the page is what it was."""
    for page in ("# Mine\n\nWords.\n", "# Mine\n\nWords.\n\n\n", "\ufeff# Mine\r\n", "# Mine"):
        text = run(page, [told(1, 1, "O: one"), told(2, 2, "O: two")])
        assert text != page
        gone = ReplayInput((), {}, frozenset({"f-00000001", "f-00000002"}), names_of, judge, TODAY)
        done = write_opinions(text, replay_beliefs(read_entries(text)[0], read_last_written(text), gone)).text
        assert done in (page, page + "\n")


def test_a_belief_in_crlf() -> None:
    """New lines end as the page's do."""
    made = run("# Opinions\r\n\r\n", [told(1, 1, "O: tea")])
    assert "\n" not in made.replace("\r\n", "")
    assert "\n" not in run("# Opinions\r", [told(1, 1, "O: tea")])


def test_a_long_page_takes_time_in_proportion() -> None:
    """S9: lines, entries and marks."""
    assert growth(lambda text: edit_lines(text, [(1, 0, ["x"])]), lambda n: "- O: x\n" * (n // 7)) < 3
    assert growth(lambda text: head_with(f"- O({text}): x", "0.5"), lambda n: "a," * (n // 2)) < 3
    assert growth(lambda text: head_with(f"- O({text}): x", "0.5"), lambda n: " " * n) < 3
    assert growth(lambda text: head_with(f"- O({text}: x", "0.5"), lambda n: '"\\' * (n // 2)) < 3
