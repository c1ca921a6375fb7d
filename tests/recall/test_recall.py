"""Recall as the contract promises it (section 5), through the public verb, in three languages."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from face_helpers import FIXTURES, TODAY, ask, call, contents, fixture_copy, sources, the_hit, write_pages
from hypothesis import given, settings, strategies as st
from strategies import examples

from memctl.facts import Citation
from memctl.hits import answer_json
from memctl.index import sync as sync_module
from memctl.index.open_memory import OpenMemory
from memctl.index.queries.entries import Query
from memctl.index.sync import SyncReport, build_index as index
from memctl.markdown.lines import split_lines
from memctl.notes.workspace import Settings, Workspace
from memctl.recall import recall as recall_module
from memctl.recall.recall import recall
from memctl.recall.surroundings import cost

LOG = "memory/2025-11-27.md"


@pytest.fixture(scope="module")
def station(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """A copy of the fixture workspace that no test writes to."""
    workspace = Workspace(fixture_copy(tmp_path_factory.mktemp("station")).resolve())
    index(workspace)  # however long it takes: recall has two seconds for it
    return workspace


def of(folder: Path, *lines: str, **pages: str) -> Workspace:
    """A workspace with one log of these lines, and more pages by path."""
    log = {LOG: "".join(f"{line}\n" for line in lines)} if lines else {}
    return write_pages(folder, log | pages)


CORPUS = [*map(json.loads, (Path(__file__).parent.parent / "data/recall.jsonl").read_text("utf-8").splitlines())]


@pytest.mark.parametrize("row", CORPUS, ids=lambda row: str(row["ask"] or row["why"]))
def test_corpus(row: dict[str, Any], tmp_path: Path) -> None:
    """tests/data/recall.jsonl: lines of a log and pages, questions with their flags, and what the hits are, in order."""
    flags = dict(row.get("flags", {}))
    today = date.fromisoformat(flags.pop("today", str(TODAY)))
    workspace = of(tmp_path, *row.get("lines", ()), **row.get("pages", {}))
    for words in row["ask"] if isinstance(row["ask"], list) else [row["ask"]]:
        answer = ask(workspace, words, today=today, **flags)
        found = answer_json(answer)["hits"]
        shown = [{key: hit.get(key) for key in wanted} for hit, wanted in zip(found, row["hits"], strict=False)]
        assert shown == row["hits"] and len(found) == len(row["hits"]), (row["why"], words)
        assert row.get("warning", "") in " ".join(answer.warnings)


# -- words ------------------------------------------------------------------------------------------------------------


LETTERS = st.sampled_from("abcdexyzABZ019éßобщийЁЖ饺子里斯本")
TOKENS = st.one_of(
    st.text(LETTERS, min_size=1, max_size=10),
    st.builds(
        "{}{}{}".format,
        st.text(LETTERS, min_size=1, max_size=6),
        st.sampled_from("_-./:@#+="),
        st.text(LETTERS, min_size=1, max_size=6),
    ),
    st.sampled_from(
        [
            "the", "и", "的", "kind:opinion", "since:30d", "@Peter", "[[Peter]]", "key:db", "AND", "NEAR", "c++", "2025-11", "上周",
            "v1.2",
        ]
    ),
)  # fmt: skip


@settings(max_examples=examples(130))
@given(lines=st.lists(st.lists(TOKENS, min_size=1, max_size=5).map(" ".join), min_size=1, max_size=6), data=st.data())
def test_any_token_of_a_file_finds_it(
    lines: list[str], data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Any token that stands in a file is retrievable by that token, as a quoted word if it looks like a filter."""
    folder = tmp_path_factory.mktemp("any")
    pages = {f"bank/p{n}.md": f"Page: {line}\n" for n, line in enumerate(lines)}
    workspace = write_pages(folder, pages)
    path, text = data.draw(st.sampled_from(sorted(pages.items())))
    token = data.draw(st.sampled_from(text.split()))
    found = {hit.source.path for hit in ask(workspace, f'"{token}"', k=1000).hits}
    found |= {str(c).partition("#")[0] for hit in ask(workspace, f'"{token}"', k=1000).hits for c in hit.also}
    shutil.rmtree(folder)
    assert path in found, token


def test_k_hits_are_found_where_there_are_k(tmp_path: Path) -> None:
    """A common word finds as many lines as are asked for."""
    pages = {f"bank/p{n}.md": f"Otter number {n} was seen.\n" for n in range(300)}
    assert len(ask(write_pages(tmp_path, pages), "otter", k=250).hits) == 250


# -- filters ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """6,000 lines in the same common words; one day, one kind, one name and one slot are rare among them."""
    pages = {}
    for n in range(60):
        day = date(2025, 1, 1) + timedelta(days=n)
        pages[f"memory/{day}.md"] = "".join(
            f"- W: the gateway sent packets {n * 100 + i} to the queue again\n" for i in range(100)
        )
    pages["memory/2025-06-01.md"] = "- W: another day, and the queue was long and also rather quiet after lunch\n"
    pages["memory/2025-02-01-x.md"] = (
        "- O(0.9): one may doubt that the gateway is to blame for any of this\n- W(key=mode) @Zoë: packets, if at all, by post\n"
    )
    workspace = write_pages(tmp_path_factory.mktemp("crowd"), pages)
    index(workspace)  # however long it takes: recall has two seconds for it
    return workspace


@pytest.mark.parametrize(
    ("words", "filters", "expected"),
    [
        ("gateway sent packets to the queue", {"since": "2025-06"}, "another day"),
        ("gateway sent packets to the queue", {"kinds": ["opinion"]}, "one may doubt"),
        ("gateway sent packets to the queue", {"about": ["Zoë"]}, "packets, if at all"),
        ("gateway sent packets to the queue", {"key": "mode"}, "packets, if at all"),
        ("queue", {"on": "2025-06-01"}, "another day"),
        ("the", {"since": "2025-06"}, "another day"),
    ],
)
def test_no_floor_hides_a_match_under_a_filter(
    crowd: Workspace, words: str, filters: dict[str, object], expected: str
) -> None:
    """What passes a selective filter and holds one of the words is found, however common the words are elsewhere."""
    assert contents(ask(crowd, words, today=date(2025, 7, 1), **filters))[0].startswith(expected)


def test_filters_in_the_question_are_the_flags(station: Workspace) -> None:
    """`@X kind: since: until: key: min-confidence: as-of:` inside the question do what the flags do."""
    for written, flags in [
        ("@Irina", {"about": ["Irina"]}),
        ("kind:opinion", {"kinds": ["opinion"]}),
        ("kind:W,B", {"kinds": ["world", "experience"]}),
        ("since:2025-11 until:2025-11-20", {"since": "2025-11", "until": "2025-11-20"}),
        ("on:2025-10-14", {"on": "2025-10-14"}),
        ("key:city", {"key": "city"}),
        ("min-confidence:0.8 kind:O", {"min_confidence": 0.8, "kinds": ["opinion"]}),
        ("as-of:2025-08-01", {"as_of": "2025-08-01"}),
    ]:
        inside, outside = ask(station, written), ask(station, "", **flags)
        assert sources(inside) == sources(outside) != [], written


def test_every_hit_passes_the_filters(station: Workspace) -> None:
    """Kind, time and confidence are hard filters, with words and without."""
    for words in ("", "gateway", "сети"):
        for hit in ask(station, words, kinds=["opinion"], min_confidence=0.8, since="2025-08", k=50).hits:
            assert hit.kind.value == "opinion" and (hit.confidence or 0) >= 0.8
            assert max(filter(None, (hit.day, str(hit.valid.last or "")))) >= "2025-08-01"


def test_without_words_the_newest_come_first(station: Workspace) -> None:
    """No question: the newest within the filters, facts before notes of a day."""
    days = [hit.day for hit in ask(station, "", k=30).hits]
    assert days[0] == "2025-11-30" and days == sorted(days, reverse=True)


def test_a_question_without_words_says_so(station: Workspace) -> None:
    """Marks alone are nothing to look for: the newest are given, and the answer says why."""
    answer = ask(station, "?!", k=2)
    assert answer.hits[0].day == "2025-11-30" and "no words to look for" in answer.warnings[0]
    assert ask(station, "", k=2).warnings == () and ask(station, "the", k=2).warnings == ()


def test_a_search_that_takes_too_long_is_cut_off_and_says_so(crowd: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """A statement is interrupted at its deadline; the answer is a warning, not an error."""
    ask(crowd, "gateway")
    monkeypatch.setattr(recall_module, "SECONDS", -1.0)
    answer = ask(crowd, "the gateway sent packets to the queue again")
    assert answer.hits == () and "took too long" in answer.warnings[0]


# -- truth ------------------------------------------------------------------------------------------------------------


def test_history_shows_every_version(station: Workspace) -> None:
    """`--history` gives the chain of a slot, first to last, and of a supersession without a slot."""
    (hit,) = ask(station, "deadline of 1.0", key="deadline", k=1, history=True).hits
    assert [version.ref for version in hit.history] == ["deadline-1", "deadline-2", "deadline-3"]
    assert [str(v.valid.last) for v in hit.history] == ["2025-09-08", "2025-11-02", "None"]
    (hit,) = ask(station, "tag weighs 9.5", k=1, history=True).hits
    assert [version.ref for version in hit.history] == ["tag-light", "tag-heavy"]


def test_as_of_hides_what_was_written_later(station: Workspace) -> None:
    """`--as-of` answers from what was known by then, and judges it on that day."""
    then = ask(station, "where does Alex Chen live", kinds=["world"], as_of="2025-08-01", k=50)
    assert max(hit.day for hit in then.hits if hit.day) <= "2025-08-01"
    berlin = the_hit(then, "Lives in Berlin")
    assert berlin.superseded_by is None and not berlin.expired
    now = the_hit(ask(station, "where does Alex Chen live", kinds=["world"], k=50), "Lives in Berlin")
    assert now.superseded_by and str(now.valid.last) == "2025-09-17"


# -- proof ------------------------------------------------------------------------------------------------------------


def test_every_item_has_its_provenance(station: Workspace) -> None:
    """S6: every hit of every question cites lines that stand on disk as they were given, and says where it came from."""
    questions = [
        json.loads(line)["question"] for line in (FIXTURES / "questions.jsonl").read_text("utf-8").splitlines()
    ]
    items = 0
    for question in questions:
        for hit in ask(station, question, history=True).hits:
            items += 1
            assert hit.origin
            for citation in (hit.source, *hit.also, *(version.source for version in hit.history)):
                lines = split_lines((station.root / citation.path).read_text("utf-8-sig"))
                assert 1 <= citation.line <= citation.end_line <= len(lines)
            lines = split_lines((station.root / hit.source.path).read_text("utf-8-sig"))
            raw = " ".join(" ".join(lines[hit.source.line - 1 : hit.source.end_line]).split())
            assert all(word in raw for word in hit.content.split()), (hit.content, raw)
    print(f"S6 {items} items, 100 % with provenance")
    assert items > 200


# -- read again just now ----------------------------------------------------------------------------------------------


@pytest.fixture
def blind(monkeypatch: pytest.MonkeyPatch) -> None:
    """Recall without its sync: the files change after the index was brought up to date, before the answer."""
    monkeypatch.setattr("memctl.index.sync.sync", lambda *_, **__: SyncReport())


def test_a_line_that_moved_is_cited_where_it_stands(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """Re-anchored by content: lines were put above it since the index looked."""
    workspace = of(tmp_path, "- W: The kettle is in the shed")
    assert sources(ask(workspace, "kettle")) == [f"{LOG}#L3"]
    request.getfixturevalue("blind")
    path = workspace.root / LOG
    path.write_text("# New\n\nMore text.\n\n" + path.read_text())
    assert sources(ask(workspace, "kettle")) == [f"{LOG}#L7"]


def test_a_line_that_is_gone_is_not_shown(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """Edited or deleted since: not an answer any more; the next place takes its rank."""
    workspace = of(tmp_path, "- W: The kettle is in the shed", "- W: The kettle is red")
    ask(workspace, "kettle")
    request.getfixturevalue("blind")
    (workspace.root / LOG).write_text("## Retain\n\n- W: The kettle is in the sea\n- W: The kettle is red\n")
    assert contents(ask(workspace, "kettle")) == ["The kettle is red"]
    (workspace.root / LOG).unlink()
    answer = ask(workspace, "kettle")
    assert not answer.hits and answer.empty


def test_twins_are_read_again_too(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """A twin that is gone is not listed; when the newest is gone, the next stands for all."""
    pages = {f"memory/2025-11-0{n}.md": "- W: Each box runs on two cells\n" for n in (1, 2, 3)}
    workspace = write_pages(tmp_path, pages)
    ask(workspace, "cells")
    request.getfixturevalue("blind")
    (workspace.root / "memory/2025-11-01.md").unlink()
    (workspace.root / "memory/2025-11-03.md").write_text("nothing\n")
    (hit,) = ask(workspace, "cells").hits
    assert str(hit.source) == "memory/2025-11-02.md#L3" and hit.also == ()


def test_versions_are_read_again_too(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """The chain of --history drops what no longer stands."""
    pages = {f"memory/2025-11-0{n}.md": f"- W(key=db) @Atlas: version {n}\n" for n in (1, 2, 3)}
    workspace = write_pages(tmp_path, pages)
    ask(workspace, "version")
    request.getfixturevalue("blind")
    (workspace.root / "memory/2025-11-02.md").unlink()
    assert [v.content for v in ask(workspace, "version 3", history=True).hits[0].history] == ["version 1", "version 3"]


def test_an_edit_is_seen_by_the_next_question(tmp_path: Path) -> None:
    """Nobody has to run anything after saving a file."""
    workspace = of(tmp_path, "- W: The kettle is in the shed")
    assert contents(ask(workspace, "kettle")) == ["The kettle is in the shed"]
    (workspace.root / LOG).write_text("## Retain\n\n- W: The kettle is at the pond\n")
    assert contents(ask(workspace, "kettle")) == ["The kettle is at the pond"]


# -- freshness --------------------------------------------------------------------------------------------------------


def test_an_answer_does_not_wait_for_a_writer_and_says_that_it_is_stale(tmp_path: Path) -> None:
    """Another connection holds the write lock: answered at once, from before, `stale` with the reason."""
    workspace = of(tmp_path, "- W: The kettle is in the shed")
    ask(workspace, "kettle")
    (workspace.root / "memory/2025-11-28.md").write_text("## Retain\n\n- W: The kettle is hot\n")
    other = sqlite3.connect(workspace.memory / "index.sqlite", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    answer = ask(workspace, "kettle")
    other.execute("ROLLBACK")
    other.close()
    assert contents(answer) == ["The kettle is in the shed"]
    assert answer.stale and "another memctl is writing" in answer.stale
    made = answer_json(answer)
    assert made["stale"] is True and answer.stale in made["warnings"]
    assert ask(workspace, "kettle").stale is None


def test_the_first_index_is_built_to_its_end_and_later_changes_have_a_time_cap(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`sync_seconds = 0`: an interrupted first index is finished by the next answer; of later changes one page is read."""
    pages = {f"memory/2025-{m:02}-{d:02}.md": f"- W: Kettle {m} {d}\n" for m in range(1, 11) for d in range(1, 7)}
    hasty = Workspace(write_pages(tmp_path, pages).root, Settings(sync_seconds=0.0))
    for path in pages:  # of long ago: a page saved within the last two seconds is read again each time
        os.utime(tmp_path / path, (1_700_000_000, 1_700_000_000))
    monkeypatch.setattr(sync_module, "BATCH_SECONDS", 0.0)
    told: list[tuple[int, int]] = []

    def interrupt(done: int, total: int, what: str) -> None:
        told.append((done, total))
        if len(told) == 10:
            raise KeyboardInterrupt

    memory = OpenMemory(hasty, lambda: datetime(2025, 11, 30), progress=interrupt)
    with pytest.raises(KeyboardInterrupt):
        recall(memory, Query("kettle"))
    answer = recall(memory, Query("kettle"), k=100)
    assert (len(answer.hits), answer.stale) == (60, None)
    assert (told[0], told[9], told[10], told[-1]) == ((0, 60), (9, 60), (0, 51), (51, 51))
    for path in list(pages)[:5]:
        (tmp_path / path).write_text("- W: Teapot\n")
    later = answer_json(recall(memory, Query("teapot")))
    assert later["stale"] and "4 of 5 changed pages are not read yet" in later["warnings"][0]


def _answers(root: Path) -> list[str]:
    """The --json of a handful of questions, without the time that they took."""
    questions = [["gateway"], ["Ирина голосовые", "--history"], ["饺子", "-k", "30"], ["@Alex"], ["--kind", "opinion"], ["xyzzy"],
                 ["database of Curlew", "--as-of", "2025-09-10"], ["boxes cells", "--explain"]]  # fmt: skip
    made = []
    for words in questions:
        read = json.loads(call(["recall", *words, "--json"], root).out)
        assert isinstance(read.pop("took_ms"), float)
        made.append(json.dumps(read))
    return made


def test_the_answers_do_not_depend_on_how_the_index_came_about(tmp_path: Path) -> None:
    """R2/R7: byte-equal JSON from the kept index, and from a copy that never saw the edits."""
    root = fixture_copy(tmp_path)
    edits = [
        lambda: call(["retain", "W(key=city) @老陈: 搬到了波尔图"], root),
        lambda: (root / "memory/2025-07-08.md").unlink(),
        lambda: (root / "bank/entities/Alex-Chen.md").rename(root / "bank/entities/Alex-Cheng.md"),
        lambda: (root / "memory/2025-11-18.md").write_text(
            (root / "memory/2025-11-18.md").read_text("utf-8").replace("52 packets", "53 packets"), "utf-8"
        ),
    ]
    before = _answers(root)
    for number, edit in enumerate(edits):
        edit()
        kept = _answers(root)
        fresh = Path(shutil.copytree(root, tmp_path / f"fresh{number}", ignore=shutil.ignore_patterns(".memory")))
        assert _answers(fresh) == kept, f"after edit {number}"
        assert kept != before, f"edit {number} shows nowhere"
        before = kept


# -- form -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("budget", [1, 30, 60, 100, 250, 1000, 100_000])
def test_a_budget_is_never_exceeded(station: Workspace, budget: int) -> None:
    """`--budget N`: the hits cost at most N, and as many are given as fit; one that repeats another makes room."""
    whole = ask(station, "PostgreSQL MongoDB migration", k=30)
    answer = ask(station, "PostgreSQL MongoDB migration", k=30, budget=budget)
    assert sum(map(cost, answer.hits)) <= budget
    left = budget - sum(map(cost, answer.hits))
    assert answer.hits or answer.empty
    if budget >= 250:
        assert all(cost(hit) > left for hit in whole.hits if hit not in answer.hits) or budget == 100_000


ANSWER_KEYS = {"schema", "query", "as_of", "stale", "warnings", "took_ms", "hits"}
TYPES = {
    "id": str, "kind": str, "timestamp": (str, type(None)), "valid": dict, "entities": list, "content": str, "source": str, "path": str,
    "line": int, "end_line": int, "heading": str, "confidence": (float, type(None)), "importance": (float, type(None)), "origin": str,
    "trusted": bool, "superseded_by": (str, type(None)), "score": float, "why": dict,
}  # fmt: skip


@pytest.mark.parametrize(
    "words", [[], ["gateway", "--history"], ["Ирина", "--explain"], ["nest winch"], ["18650 cells"], ["tag weighs"]]
)
def test_json_has_the_keys_of_the_contract(station: Workspace, words: list[str]) -> None:
    """Section 5: every key, of its type. Keys are only ever added, so there may be others."""
    made = json.loads(call(["recall", *words, "--json"], station.root).out)
    assert set(made) - {"answerable", "more"} == ANSWER_KEYS and made["schema"] == 1 and made["hits"]
    for hit in made["hits"]:
        assert TYPES.keys() <= set(hit)
        assert all(isinstance(hit[key], kind) for key, kind in TYPES.items()), hit
        assert hit["kind"] in ("world", "experience", "opinion", "observation", "note")
        assert set(hit["valid"]) == {"from", "to"} and hit["why"] and all(rank >= 1 for rank in hit["why"].values())
        assert Citation.parse(hit["source"]) == Citation(hit["path"], hit["line"], hit["end_line"])


def test_several_lines_are_cited_as_a_span(station: Workspace) -> None:
    """A multi-line hit cites `#L20-L22`, and is given whole."""
    (hit,) = ask(station, "joining rings to sightings took 47 s because", k=1, key="db", until="2025-09-30").hits
    assert str(hit.source) == "memory/2025-09-05.md#L20-L22" and hit.content.endswith("47 s.")


def test_jsonl_is_the_hits_of_json(station: Workspace) -> None:
    """One hit a line, the same objects."""
    whole = json.loads(call(["recall", "gateway", "--json"], station.root).out)["hits"]
    lines = call(["recall", "gateway", "-f", "jsonl"], station.root).out.splitlines()
    assert [json.loads(line) for line in lines] == whole


@pytest.mark.parametrize(
    ("words", "reasons"),
    [
        (["xyzzy"], ["nothing found in", "no page holds: xyzzy"]),
        (["gateway", "--key", "nokey"], ["no entry passes the filter key:nokey"]),
        (["gateway", "--since", "2031"], ["no entry passes the filter since:2031-01-01"]),
        (["gateway", "--about", "Bartholomew"], ["no entry passes the filter about:Bartholomew"]),
        (["gateway", "--about", "Irena"], ["no entry passes the filter about:Irena; did you mean Irina?"]),
        (["about:Ирена"], ["no entry passes the filter about:Ирена; did you mean Ирина?"]),
        (["gateway", "--path", "bank/zz*"], ["no entry passes the filter path:bank/zz*; a glob fits a whole path"]),
        (["--kind", "observation", "--key", "city"], ["no entry passes all the filters kind:observation key:city"]),
        (["xyzzy", "--kind", "opinion"], ["entries pass the filters kind:opinion, and none holds those words"]),
        (["gateway", "--budget", "3"], ["none fits into 3 tokens"]),
        (["gateway", "--as-of", "2000"], ["no entry passes the filter as-of:2000-12-31"]),
    ],
)
def test_an_empty_answer_says_why(station: Workspace, words: list[str], reasons: list[str]) -> None:
    """Never silently empty: on stderr, and in the warnings of --json; the exit code is 1."""
    done = call(["recall", *words], station.root)
    made = json.loads(call(["recall", *words, "--json"], station.root).out)
    assert done.code == 1 and done.out == "" and made["hits"] == []
    for reason in reasons:
        assert reason in done.err and any(reason in warning for warning in made["warnings"]), done.err


def test_a_page_that_cannot_be_read_is_a_warning(tmp_path: Path) -> None:
    """The others still answer."""
    workspace = of(tmp_path, "- W: The kettle is in the shed")
    (workspace.root / "bad.md").write_bytes(b"\0\1\2\3kettle")
    answer = ask(workspace, "kettle")
    assert contents(answer) == ["The kettle is in the shed"] and "bad.md: binary" in answer.warnings[0]


def test_an_empty_workspace_answers(tmp_path: Path) -> None:
    """Nothing there yet is no error."""
    answer = ask(of(tmp_path), "anything")
    assert not answer.hits and answer.empty[0] == "nothing found in 0 entries of 0 pages"


@pytest.mark.parametrize(
    ("question", "reason", "value", "other"),
    [
        ("why did Atlas move to PostgreSQL?", "Moves to PostgreSQL because joins took 47 s", "Runs on PostgreSQL 17", "The move to PostgreSQL, part"),
        ("почему Atlas перешёл на PostgreSQL?", "Переходит на PostgreSQL, потому что соединения шли 47 с", "Работает на PostgreSQL 17", "Переход на PostgreSQL, часть"),
        ("Atlas 为什么换成 PostgreSQL？", "换成 PostgreSQL，因为联接要 47 秒", "在 PostgreSQL 17 上运行", "换成 PostgreSQL，部分"),
    ],
)  # fmt: skip
def test_why_is_answered_by_a_reason(tmp_path: Path, question: str, reason: str, value: str, other: str) -> None:
    """Also where the line was replaced since, and twelve others hold as many words of the question."""
    noise = [f"- W @Atlas: {other} {number}" for number in range(12)]
    told = {"memory/2025-10-01.md": [f"- W(key=db) @Atlas: {reason}", *noise], LOG: [f"- W(key=db) @Atlas: {value}"]}
    workspace = write_pages(tmp_path, {page: "\n".join(["## Retain", *lines, ""]) for page, lines in told.items()})
    assert contents(ask(workspace, question, k=1)) == [reason]


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("Deploy of 4.1.1 failed", "the disk was full"),
        ("Выкладка 4.1.1 не удалась", "кончилось место"),
        ("部署4.1.1失败了", "磁盘满了"),
    ],
)
def test_a_hit_says_why_it_came_out_so(tmp_path: Path, said: str, why: str) -> None:
    """In text and in JSON; a line without a reason says nothing of one."""
    log = f'- B(outcome=fail,why="{why}") @Atlas: {said}\n- B @Atlas: {said}, 2\n'
    root = write_pages(tmp_path, {"memory/2025-11-20.md": log}).root
    assert call(["recall", said], root).out.count(f"why: {why}") == 1
    hits = json.loads(call(["recall", said, "--json"], root).out)["hits"]
    assert sorted(hit.get("because", "") for hit in hits) == ["", why]
