"""Proposals for memory.md: which facts are due, what the diff says, and that a person alone applies one."""

from __future__ import annotations

import json
import random
from datetime import date, timedelta
from pathlib import Path

import pytest
from face_helpers import TODAY, call, fixture_copy, memory_on, snapshot, write_pages
from hypothesis import given, strategies as st

from memctl.errors import NothingFound, PageChanged, Refused
from memctl.facts import Citation
from memctl.index.rows import rows_of
from memctl.markdown.blocks import splice
from memctl.notes import edits
from memctl.notes.workspace import Workspace
from memctl.reflect.proposals import (
    AT_ONCE,
    BLOCK,
    CoreCandidate,
    CoreProposal,
    is_due,
    proposals,
    proposals_body,
    read_proposals,
    refused_in,
    with_line,
    with_refusal,
)

CORE = """# Core

I keep the log.

## People

- [[Irina Volkova]] runs the station. Decides about birds.
  - since 2009
- [[Alex Chen]] writes Curlew.

Nobody is ever just "Alex".

## Rules

1. Nest locations never leave this machine.
"""


def candidate(text: str = "Prefers tea.", ref: str = "f-1a2b3c4d", **more: object) -> CoreCandidate:
    """One that is due, unless said otherwise."""
    usual = CoreCandidate(
        text, ref, Citation("memory/2025-07-04.md", 12, 12), ("Irina Volkova",), date(2025, 7, 4), 0.9, days=4,
        citations=3,
    )  # fmt: skip
    return usual._replace(**more)


def propose(*items: CoreCandidate, core: str = CORE, refused: set[str] = frozenset()) -> tuple[CoreProposal, ...]:
    """The proposals of today."""
    return proposals(items, core, refused, TODAY)


# -- the rule ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("more", "due"),
    [
        ({}, True),
        ({"importance": 0.79}, False),
        ({"importance": 0, "confidence": 0.85, "evidence": 3}, True),
        ({"importance": 0, "confidence": 0.99, "evidence": 2}, False),
        ({"importance": 0, "confidence": 0.84, "evidence": 9}, False),
        ({"importance": 0, "confidence": 0.9, "evidence": 5, "lesson": True}, True),
        ({"importance": 0}, False),
        ({"days": 2}, False),
        ({"days": 3}, True),
        ({"first_day": TODAY - timedelta(days=29)}, False),
        ({"first_day": TODAY - timedelta(days=30)}, True),
    ],
)
def test_what_is_due(more: dict[str, object], due: bool) -> None:
    """True, important or firmly held, told again and again, for a month: each of them is needed."""
    assert is_due(candidate(**more), TODAY) == due
    assert bool(propose(candidate(**more))) == due


@pytest.mark.parametrize(
    ("core", "text", "subject", "already"),
    [
        ("- [[Irina Volkova]] prefers tea.\n", "Prefers tea.", "Irina Volkova", True),
        ("- Irina Volkova prefers black tea, and says so.\n", "Prefers tea.", "Irina Volkova", True),
        ("- see `memory/2025-07-04.md#L12` ^f-1a2b3c4d\n", "Prefers tea.", "Irina Volkova", True),
        ("- Irina Volkova does not prefer tea.\n", "Prefers tea.", "Irina Volkova", False),
        ("- Alex Chen prefers tea.\n", "Prefers tea.", "Irina Volkova", False),
        ("- Irina Volkova.\n- Somebody prefers tea.\n", "Prefers tea.", "Irina Volkova", False),
        ("- f-1a2b3c4dd\n", "Prefers tea.", "Irina Volkova", False),
        ("", "Prefers tea.", "Irina Volkova", False),
        ("- Ирина Волкова предпочитает чай с лимоном.\n", "Предпочла бы чай с лимонами", "", False),
        ("- У Ирины любимый чай с лимоном\n", "Любимый чай: с лимоном", "Ирина", True),
        ("- Ирина не любит чай с лимоном\n", "Любит чай с лимоном", "Ирина", False),
        ("- 伊琳娜喜欢喝红茶。\n", "喜欢喝红茶", "伊琳娜", True),
        ("- 伊琳娜不喜欢喝红茶。\n", "喜欢喝红茶", "伊琳娜", False),
        ("- Irina Volkova gets 14 stations.\n", "Gets 15 stations.", "Irina Volkova", False),
    ],
)
def test_what_memory_md_says_already(core: str, text: str, subject: str, already: bool) -> None:
    """The same words about the same entity, inflected or not, or the id; a denial or another number is not the same."""
    assert bool(propose(candidate(text, entities=(subject,) if subject else ()), core=core)) != already


def test_what_is_refused_is_never_proposed_again() -> None:
    """Nor what another proposal says."""
    one, twin, other = (
        candidate(),
        candidate(ref="f-twin0000", text="Prefers tea"),
        candidate("Hates rain.", "o-other000"),
    )
    assert [p.ref for p in propose(one, twin, other)] == ["f-1a2b3c4d", "o-other000"]
    assert [p.ref for p in propose(one, other, refused={"f-1a2b3c4d"})] == ["o-other000"]


def test_the_order_of_arrival_does_not_matter() -> None:
    """The oldest comes first; no more than a page can show."""
    found = [
        candidate(
            f"Owns boat number {n}.",
            f"f-{n:08}",
            first_day=date(2025, 7, 1) + timedelta(days=n % 5),
            importance=0.8 + n % 3 / 10,
        )
        for n in range(30)
    ]
    first = propose(*found)
    assert len(first) == AT_ONCE and [p.number for p in first] == list(range(1, AT_ONCE + 1))
    assert all("importance 1;" in p.reason for p in first)
    for seed in range(20):
        random.Random(seed).shuffle(found)
        assert propose(*found) == first


# -- the line ---------------------------------------------------------------------------------------------------------


def added(core: str, **more: object) -> str:
    """What a proposal adds to memory.md, with its link made short."""
    (proposal,) = propose(candidate(**more), core=core)
    after = with_line(core, proposal)
    assert with_line(after, proposal) == after
    return after.replace('[2025-07-04#L12](memory/2025-07-04.md#L12 "f-1a2b3c4d")', "[*]")


def test_where_a_line_goes() -> None:
    """Below the last bullet about its subject; under a heading of theirs; under "People"; at the end."""
    assert added(CORE) == CORE.replace("2009\n", "2009\n- [[Irina Volkova]]: Prefers tea. [*]\n")
    own = "# Core\n\n## irina volkova\n\nRuns it.\n\n## Rules\n"
    assert added(own) == own.replace("it.\n", "it.\n\n- [[Irina Volkova]]: Prefers tea. [*]\n")
    assert added(CORE, entities=("Ann",), person=True) == CORE.replace(
        "Curlew.\n", "Curlew.\n- [[Ann]]: Prefers tea. [*]\n"
    )
    assert added(CORE, entities=("Ann",)) == CORE + "\n## From the logs\n\n- [[Ann]]: Prefers tea. [*]\n"
    logs = CORE + "\n## Из журналов\n\n* a\n  * b\n\n## More\n"
    assert added(logs, entities=("Ann",)) == logs.replace("  * b\n", "  * b\n* [[Ann]]: Prefers tea. [*]\n")
    assert added("", entities=()) == "## From the logs\n\n- Prefers tea. [*]\n"
    assert added("\ufeff", entities=()) == "\ufeff## From the logs\n\n- Prefers tea. [*]\n"


def test_a_second_line_goes_below_the_first() -> None:
    """Both in the section that the first one made."""
    first, second = propose(candidate(entities=("Ann",)), candidate("Hates rain.", "f-2ther000", entities=("Bob",)))
    both = with_line(with_line(CORE, first), second)
    assert both.endswith(
        '"f-1a2b3c4d")\n- [[Bob]]: Hates rain. [2025-07-04#L12](memory/2025-07-04.md#L12 "f-2ther000")\n'
    )


@pytest.mark.parametrize(
    ("text", "entities", "line"),
    [
        ("Ann prefers tea.", ("Ann",), "Ann prefers tea. "),
        ("Annual report is due.", ("Ann",), "[[Ann]]: Annual report is due. "),
        ("喜欢爱丽丝的茶", ("爱丽丝",), "喜欢爱丽丝的茶 "),
        ("Any\nline <b> ~~x", (), r"Any line \<b> \~\~x "),
        ("# not a heading", (), r"\# not a heading "),
        ("x", ("a|b",), "a|b: x "),
    ],
)
def test_the_text_stays_one_line_of_text(text: str, entities: tuple[str, ...], line: str) -> None:
    """Its subject in front unless it is named; nothing in it opens a block."""
    (proposal,) = propose(candidate(text, entities=entities))
    assert proposal.line.startswith(line)
    assert "\n" not in proposal.line


BODIES = st.text(st.sampled_from("# \n-*\tabc`1.>[]|\r\ufeff\udc80"), max_size=60)


@given(core=BODIES, subject=st.sampled_from(["", "a", "b", "Ann"]), person=st.booleans())
def test_every_other_byte_of_memory_md_stays(core: str, subject: str, person: bool) -> None:
    """Whatever it holds: the line stands there once, and what was before is before and behind it."""
    found = propose(candidate("Zeta theta.", entities=(subject,) if subject else (), person=person), core=core)
    after = with_line(core, found[0])
    start = after.index("Zeta theta.")
    begin = next(at for at in range(start + 1) if core.startswith(after[:at]) and not core.startswith(after[: at + 1]))
    kept = core[begin:]
    assert after[:begin] + kept == core and after.endswith(kept)
    assert len(after) - len(core) < 140
    assert with_line(after, found[0]) == after


# -- the page ---------------------------------------------------------------------------------------------------------


def page(*items: CoreCandidate, core: str = CORE, around: str = "# Proposals\n") -> str:
    """bank/proposals.md as reflect writes it."""
    return splice(around, BLOCK, proposals_body(propose(*items, core=core), core))


def test_a_lesson_says_how_often_it_worked() -> None:
    """In whole outcomes, and what the page says is read back."""
    for share, count, said in ((1.0, 6, "Worked 6 times out of 6"), (6 / 7, 7, "Worked 6 times out of 7")):
        shown = page(candidate(lesson=True, importance=0, confidence=share, evidence=count))
        assert f"\n{said}; told or cited on 4 days; true since 2025-07-04. Goes under" in shown
        assert [proposal.reason for proposal in read_proposals(shown)] == [
            f"{said}; told or cited on 4 days; true since 2025-07-04"
        ]


def test_the_page_shows_reason_and_diff() -> None:
    """A diff that `patch` would take, and from which the proposal can be read back."""
    items = [
        candidate(),
        candidate(
            "Use ````x```` fences.",
            "o-fence000",
            entities=("Ann",),
            importance=0,
            confidence=0.91,
            evidence=5,
            first_day=date(2025, 8, 1),
        ),
    ]
    shown = page(*items)
    assert (
        "### 1. Irina Volkova\n\nImportance 0.9; told or cited on 4 days; true since 2025-07-04. Goes under “People”. `^f-1a2b3c4d`\n\n```diff\n--- a/memory.md\n+++ b/memory.md\n@@ -6,6 +6,7 @@\n"
        in shown
    )
    assert '+- [[Irina Volkova]]: Prefers tea. [2025-07-04#L12](memory/2025-07-04.md#L12 "f-1a2b3c4d")\n' in shown
    assert (
        "Held at 0.91 by 5 pieces of evidence; told or cited on 4 days; true since 2025-08-01. `^o-fence000`\n\n`````diff\n"
        in shown
    )
    back = read_proposals(shown)
    for made, read in zip(propose(*items), back, strict=True):
        assert read[:5] == made[:5]
        assert with_line(CORE, read) == with_line(CORE, made)
    assert proposals_body((), CORE) == ""
    assert read_proposals("# Proposals\n") == ()


def test_the_page_holds_no_copies_for_recall() -> None:
    """All of it stands in the managed block, and no line bears the id of a fact."""
    rows = rows_of("bank/proposals.md", page(candidate()))
    assert all(row.block == BLOCK for row in rows.rows if row.role != "heading" or row.line > 1)
    assert "f-1a2b3c4d" not in {row.ref for row in rows.rows}


def test_an_id_below_the_block_is_refused_for_good() -> None:
    """However a person writes it; ids within the block refuse nothing."""
    shown = page(candidate())
    assert refused_in(shown) == set()
    assert refused_in(shown + "\nnever ^tag-light, nor f-0123abcd!\n") == {"tag-light", "f-0123abcd"}
    (proposal,) = read_proposals(shown)
    done = with_refusal(shown, proposal, TODAY)
    assert done == shown + "\n## Refused\n\n- ^f-1a2b3c4d · refused 2025-11-30 · Irina Volkova\n"
    assert refused_in(done) == {"f-1a2b3c4d"} and with_refusal(done, proposal, TODAY) == done
    more = with_refusal(done, proposal._replace(ref="o-other000", subject=""), TODAY)
    assert more == done + "- ^o-other000 · refused 2025-11-30\n"
    assert page(candidate(), around=done) == done
    assert splice(done, BLOCK, "").startswith("# Proposals\n\n## Refused")


@pytest.mark.parametrize(
    ("head", "later", "due"),
    [
        ("W(i=0.9)", "", True),
        ("W(i=0.9,private=yes)", "", False),
        ("W(i=0.9,src=web)", "", False),
        ("B(i=0.9)", "", False),
        ("W(i=0.9,until=2025-11-01)", "", False),
        ("W(i=0.9)", "- W(supersedes=tea) @Irina: Prefers rooibos.\n", False),
        ("W(i=0.9)", "- W(corrects=tea) @Irina: Prefers rooibos.\n", False),
    ],
)
def test_only_what_holds_and_others_may_read_is_proposed(tmp_path: Path, head: str, later: str, due: bool) -> None:
    """Of facts that are important, and named on further days."""
    pages = {f"memory/2025-0{month}-04.md": "- B(for=tea): Drank tea.\n" for month in (8, 9)}
    told = f"- {head} @Irina: Prefers tea. ^tea\n"
    space = write_pages(tmp_path, pages | {"memory/2025-07-04.md": told, "memory/2025-10-04.md": later})
    memory_on(space, TODAY).reflect(propose=True)
    page = tmp_path / "bank/proposals.md"
    assert ("`^tea`" in page.read_text("utf-8") if page.exists() else False) == due


def test_what_is_told_again_with_its_importance_is_one_proposal(tmp_path: Path) -> None:
    """Each telling is a further day of the first, and memory.md may say it in a sentence of its own."""
    told = {f"memory/2025-0{month}-04.md": "- W(i=0.9) @Irina: Is allergic to nuts.\n" for month in (7, 8, 9)}
    memory = memory_on(write_pages(tmp_path, told), TODAY)
    memory.reflect(propose=True)
    shown = (tmp_path / "bank/proposals.md").read_text("utf-8")
    assert shown.count("told or cited on 3 days") == shown.count("### ") == 1
    write_pages(tmp_path, {"memory.md": "- Irina is allergic to nuts.\n"})
    memory_on(memory.workspace, TODAY).reflect(propose=True)
    assert "### " not in (tmp_path / "bank/proposals.md").read_text("utf-8")


# -- accepting and refusing -------------------------------------------------------------------------------------------


def workspace(root: Path, log: str = "", **pages: str) -> tuple[Workspace, str]:
    """A workspace with one fact that is proposed; and the id of it."""
    log = log or "# d\n\n## Retain\n\n- W(i=0.9) @Irina-Volkova: Prefers tea.\n- W @Irina-Volkova: Hates rain.\n"
    row = next(row for row in rows_of("memory/2025-07-04.md", log).rows if row.role == "fact")
    other = next(
        (r.ref for r in rows_of("memory/2025-07-04.md", log).rows if r.role == "fact" and r.ref != row.ref),
        "f-00000000",
    )
    cited = Citation("memory/2025-07-04.md", row.line, row.line)
    shown = page(
        candidate(ref=row.ref, citation=cited),
        candidate("Hates rain.", other, citation=cited._replace(line=6, end_line=6)),
    )
    files = {"memory/2025-07-04.md": log, "memory.md": CORE, "bank/proposals.md": shown} | pages
    return write_pages(root, {path: text for path, text in files.items() if text}), row.ref


def test_accepting_writes_what_was_shown(tmp_path: Path) -> None:
    """Once; and the second proposal can follow without another reflect."""
    space, ref = workspace(tmp_path)
    before = snapshot(tmp_path)
    shown = memory_on(space).accept_proposal(1, dry_run=True)
    assert shown in before["bank/proposals.md"].decode()
    assert snapshot(tmp_path) == before and not (tmp_path / ".memory/reflect.lock").exists()
    assert memory_on(space).accept_proposal(1) == shown
    assert f'Prefers tea. [2025-07-04#L5](memory/2025-07-04.md#L5 "{ref}")\n' in (tmp_path / "memory.md").read_text(
        "utf-8"
    )
    assert memory_on(space).accept_proposal(1) == ""
    assert "Hates rain." in memory_on(space).accept_proposal(2)
    assert {path for path, data in snapshot(tmp_path).items() if data != before[path]} == {"memory.md"}


def test_a_missing_memory_md_is_made(tmp_path: Path) -> None:
    """With what was accepted and nothing else; the heading that the page names is not invented."""
    space, _ = workspace(tmp_path, **{"memory.md": ""})
    memory_on(space).accept_proposal(1)
    assert (
        (tmp_path / "memory.md")
        .read_text("utf-8")
        .startswith("## From the logs\n\n- [[Irina Volkova]]: Prefers tea. [")
    )


def test_accepting_again_says_that_nothing_changed(tmp_path: Path) -> None:
    """Page names on stdout are pages that were written; so too for what is refused again."""
    workspace(tmp_path)
    for words, page_name in ((["--accept", "1"], "memory.md"), (["--refuse", "2"], "bank/proposals.md")):
        assert call(["reflect", *words], tmp_path).out == f"{page_name}\n"
        again = call(["reflect", *words], tmp_path)
        assert (again.code, again.out, again.err) == (0, "", f"{page_name} says so already; nothing changed\n")
        assert call(["reflect", *words, "--dry-run"], tmp_path).out == ""
        assert json.loads(call(["reflect", *words, "--json"], tmp_path).out)["diff"] == ""


def test_a_person_may_reword_what_they_accept(tmp_path: Path) -> None:
    """What stands in the diff is what is written."""
    space, ref = workspace(tmp_path)
    path = tmp_path / "bank/proposals.md"
    path.write_text(
        path.read_text("utf-8").replace("+- [[Irina Volkova]]: Prefers tea.", "+- [[Irina Volkova]] drinks tea only."),
        "utf-8",
    )
    memory_on(space).accept_proposal(1)
    assert f'\n- [[Irina Volkova]] drinks tea only. [2025-07-04#L5](memory/2025-07-04.md#L5 "{ref}")\n' in (
        tmp_path / "memory.md"
    ).read_text("utf-8")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (("Prefers tea.", "Prefers cocoa."), "is gone"),
        (("i=0.9", "i=0.9, private"), "is private"),
        (("i=0.9", "i=0.9, src=web"), "comes from web"),
        (("i=0.9", "i=0.9, until=2025-09-01"), "does not hold any more"),
    ],
)
def test_what_no_longer_holds_is_not_accepted(tmp_path: Path, change: tuple[str, str], reason: str) -> None:
    """The page is a proposal of yesterday: the fact is looked at again."""
    space, ref = workspace(tmp_path)
    log = tmp_path / "memory/2025-07-04.md"
    log.write_text(log.read_text("utf-8").replace(*change), "utf-8")
    before = snapshot(tmp_path)
    with pytest.raises(Refused, match=rf"out of date: \^{ref} {reason}"):
        memory_on(space).accept_proposal(1)
    assert snapshot(tmp_path) == before


def test_what_was_replaced_is_not_accepted(tmp_path: Path) -> None:
    """A newer version of the slot, in another log."""
    log = "## Retain\n\n- W(key=drink, i=0.9) @Irina-Volkova: Prefers tea.\n"
    newer = "## Retain\n\n- W(key=drink) @Irina-Volkova: Prefers cocoa.\n"
    space, _ = workspace(tmp_path, log, **{"memory/2025-11-01.md": newer})
    with pytest.raises(Refused, match="does not hold"):
        memory_on(space).accept_proposal(1)


def test_a_belief_that_fell_is_not_accepted(tmp_path: Path) -> None:
    """Its number stands in bank/opinions.md."""
    space, _ = workspace(
        tmp_path,
        **{
            "bank/opinions.md": "# Opinions\n\n- O(c=0.31) @Irina-Volkova: Prefers tea. ^o-7k3dq2ma\n",
            "bank/proposals.md": page(candidate(ref="o-7k3dq2ma")),
        },
    )
    with pytest.raises(Refused, match=r"is held at 0\.31 only"):
        memory_on(space).accept_proposal(1)


def test_refusing_is_for_good(tmp_path: Path) -> None:
    """It stands in the page, and the proposal cannot be accepted before it is taken out again."""
    space, ref = workspace(tmp_path)
    before = snapshot(tmp_path)
    assert f"+- ^{ref} · refused 2025-11-30" in memory_on(space).refuse_proposal(1, dry_run=True)
    assert snapshot(tmp_path) == before
    memory_on(space).refuse_proposal(1)
    assert memory_on(space).refuse_proposal(1) == ""
    with pytest.raises(Refused, match="refused before"):
        memory_on(space).accept_proposal(1)
    assert (tmp_path / "memory.md").read_text("utf-8") == CORE
    assert refused_in((tmp_path / "bank/proposals.md").read_text("utf-8")) == {ref}


def test_only_what_is_shown_can_be_accepted(tmp_path: Path) -> None:
    """Another number, and a workspace that never proposed anything."""
    space, _ = workspace(tmp_path)
    for job in (memory_on(space).accept_proposal, memory_on(space).refuse_proposal):
        with pytest.raises(NothingFound, match="shows no proposal 3") as error:
            job(3)
        assert error.value.cure.startswith("it shows 1, 2; ")
    bare = Workspace(fixture_copy(tmp_path).resolve())
    with pytest.raises(NothingFound, match="shows no proposal 1"):
        memory_on(bare).accept_proposal(1)


def test_an_edit_of_memory_md_meanwhile_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of it is overwritten."""
    space, _ = workspace(tmp_path)
    real = edits.replace

    def late(space: Workspace, path: str, expected: bytes | None, data: bytes) -> None:
        (tmp_path / "memory.md").write_text("# Mine\n", "utf-8")
        real(space, path, expected, data)

    monkeypatch.setattr(edits, "replace", late)
    with pytest.raises(PageChanged):
        memory_on(space).accept_proposal(1)
    assert (tmp_path / "memory.md").read_text("utf-8") == "# Mine\n"


def test_bytes_that_are_no_utf_8_survive(tmp_path: Path) -> None:
    """And line ends of Windows."""
    space, _ = workspace(tmp_path)
    core = CORE.replace("\n", "\r\n").encode() + b"\xff\xfe"
    (tmp_path / "memory.md").write_bytes(core)
    memory_on(space).accept_proposal(1)
    after = (tmp_path / "memory.md").read_bytes()
    (line,) = [line for line in after.split(b"\r\n") if b"Prefers tea" in line]
    assert after.replace(line + b"\r\n", b"") == core
