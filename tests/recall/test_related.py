"""Recall over more than one hop: what is found, with which way, under which filters, in every format."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from face_helpers import TODAY, ask, call, fixture_copy, memory_on, write_pages

from memctl.hits import Answer, answer_json
from memctl.index.sync import build_index
from memctl.notes.workspace import Workspace
from memctl.recall.query import read_query
from memctl.recall.recall import recall
from memctl.recall.surroundings import cost

# The question names Alice and shares words with her line alone; Globex and Port Sorrel are the bridges.
CHAIN = {
    "memory/2025-11-01.md": "- W @Alice: joined @Globex as chief botanist\n",
    "memory/2025-11-02.md": "- W @Globex: keeps its seed bank in [[Port Sorrel]]\n",
    "memory/2025-11-03.md": "- W [[Port Sorrel]]: floods every spring, says @Mira\n",
    "memory/2025-11-04.md": "- W @Bystander: paints lighthouses\n",
}
QUESTION = "what does the botanist Alice do"


def further(workspace: Workspace, words: str = QUESTION, hops: int = 3, k: int = 10, **more: Any) -> Answer:
    """Recall with its related lines."""
    options = {name: more.pop(name) for name in ("history", "budget") if name in more}
    today = more.pop("today", TODAY)
    return recall(memory_on(workspace, today), read_query(words, today, **more), hops=hops, k=k, **options)


def related(answer: Answer) -> list[str]:
    """The text of every related line."""
    assert answer.related is not None
    return [hit.content for hit in answer.related]


def ways(answer: Answer) -> list[tuple[str, ...]]:
    """The names on the way to every related line."""
    return [hit.via[1::2] for hit in answer.related or ()]


def without_time(answer: Answer) -> dict[str, Any]:
    """An answer as JSON, without what differs from run to run and without what is related."""
    return answer_json(answer._replace(took_ms=0, related=None))


def test_two_hops_and_three(tmp_path: Path) -> None:
    """One bridge for two hops, two for three, each way from a hit to the line, and nothing of what shares no name."""
    workspace = write_pages(tmp_path, CHAIN)
    two, three = further(workspace, hops=2), further(workspace)
    assert related(two) == ["keeps its seed bank in [[Port Sorrel]]"]
    assert related(three) == [*related(two), "floods every spring, says @Mira"]
    assert ways(three) == [("Globex",), ("Globex", "Port Sorrel")]
    last = (three.related or ())[1]
    assert (
        last.via[0] == three.hits[0].ref and last.via[-1] == last.ref and str(last.source) == "memory/2025-11-03.md#L3"
    )


def test_the_hits_are_those_of_recall(tmp_path: Path) -> None:
    """Nothing about the hits changes, and none of them is related to itself."""
    for words in ("why is the curlew api slow", "饺子 在哪里", "Пельмень", "NJ-03", "nets @Irina", ""):
        workspace = Workspace(fixture_copy(tmp_path / (words or "empty")).resolve())
        build_index(workspace)
        plain = ask(workspace, words, per_page=0)
        for hops in (2, 3):
            answer = further(workspace, words, hops)
            assert without_time(answer) == without_time(plain)
            assert not {hit.ref for hit in answer.related or ()} & {hit.ref for hit in plain.hits}
            assert "related" not in answer_json(plain) and "related" in answer_json(answer)
            assert len(answer.related or ()) <= 10


def test_equal_runs_give_equal_answers(tmp_path: Path) -> None:
    """Also with an index made again."""
    root = fixture_copy(tmp_path)
    first = call(["recall", "gateway battery", "--hops", "3", "-f", "jsonl"], root).out
    call(["index", "--rebuild", "--no-vectors"], root)
    assert call(["recall", "gateway battery", "--hops", "3", "-f", "jsonl"], root).out == first


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("joined Globex as chief botanist", "@Globex: keeps seeds"),  # unmarked in the hit, marked on the other line
        ("joined @Globex as chief botanist", ": At Globex they keep seeds"),  # the other way round
        ("joined @Atlas as chief botanist", ": At Atlas they keep seeds"),  # a name that the stemmer cuts
        ("joined @Глобекс as chief botanist", ": В Глобексе хранят семена"),
        ("работает в Глобексе as botanist", "@Глобекс: хранит семена"),
        ("joined @环球公司 as chief botanist", ": 种子保存在环球公司的仓库"),
        ("joined the botanist team of 环球公司", "@环球公司: 保存种子"),
        ("joined [[Deep Water Trust]] as botanist", ": The Deep Water Trust keeps seeds"),
        ("a botanist of the Deep Water Trust", "[[Deep Water Trust]]: keeps seeds"),
        ("is the botanist of Entity_12 here", "@Entity_12: keeps seeds"),
        ("is the botanist of @node-7", ": At Node-7 they keep seeds"),
        ("was a botanist in Mercury", "@Mercury: keeps seeds"),
        ("is the botanist of person A", "[[Person A]]: keeps seeds"),
        ("joined OpenSeeds Labs as botanist", "[[OpenSeeds Labs]]: keeps seeds"),
        ("met @王小明 the botanist", ": 昨天王小明保存了种子"),
    ],
)
def test_bridges_without_a_mark_or_a_page(tmp_path: Path, first: str, second: str) -> None:
    """A bridge that is marked anywhere is known wherever it stands, inflected or in Chinese characters."""
    others = "".join(f"- W {name}: something else\n" for name in ("@Entity_1", "@Entity_123", "@Merc", "[[Person B]]"))
    lines = {"memory/2025-11-01.md": f"- W @Alice: {first}\n", "memory/2025-11-02.md": f"- W {second}\n"}
    lines["memory/2025-11-03.md"] = others
    answer = further(write_pages(tmp_path, lines), "the botanist Alice", 2)
    assert len(answer.hits) == 1 and len(answer.related or ()) == 1, second


PAGE = {
    "bank/entities/Irina-Volkova.md": "---\naliases: [Ирина, 伊琳娜]\n---\n\n# Irina Volkova\n\nKeeper of the nets.\n",
    "memory/2025-11-01.md": "- W @Alice: is a botanist and drinks tea with @Ирина\n",
}


@pytest.mark.parametrize(
    "line",
    [
        "- W [[Irina Volkova]]: has a boat\n", "- W: Вчера с Ириной чинили лодку\n", "- W: Лодку Ирины унесло\n",
        "- W: 昨天伊琳娜修好了船\n", "# A day\n\nThe boat of Irina Volkova sank.\n",
        "| who | what |\n|---|---|\n| Irina Volkova | boat |\n", "# A day\n\n* the boat belongs to @Irina-Volkova\n",
    ],
)  # fmt: skip
def test_one_entity_of_many_names(tmp_path: Path, line: str) -> None:
    """Aliases, inflected and in other scripts, lead to one and the same entity; notes and tables take part."""
    answer = further(write_pages(tmp_path, PAGE | {"memory/2025-11-02.md": line}), "the botanist Alice", 2)
    found = {str(hit.source).partition("#")[0]: hit.via[1] for hit in answer.related or ()}
    assert found == {"memory/2025-11-02.md": "Irina Volkova", "bank/entities/Irina-Volkova.md": "Irina Volkova"}


def test_a_word_is_not_a_name(tmp_path: Path) -> None:
    """`will` is not Will, code names nobody, and a first name of two people is neither's."""
    pages = {
        "memory/2025-11-01.md": "- W @Alice: the botanist met @Will, @Alex and @property\n",
        "memory/2025-11-02.md": "- W: It will rain on the hill\n- W [[Alex Chen]]: swims\n- W [[Alex Petrov]]: sings\n",
        "bank/entities/Alex-Chen.md": "# Alex Chen\n",
        "bank/entities/Alex-Petrov.md": "# Alex Petrov\n",
        "bank/code.md": "```python\n@property\ndef x(self): ...\n```\n",
    }
    assert related(further(write_pages(tmp_path, pages), "the botanist Alice")) == []


def test_hubs_lead_nowhere(tmp_path: Path) -> None:
    """A name on more than 50 lines is walked through by nobody; with a rarer one beside it, that one leads on."""
    crowd = "".join(f"- W @Everyone: said {n} things\n" for n in range(60))
    pages = {
        "memory/2025-11-01.md": "- W @Alice: the botanist of @Everyone and @Globex\n",
        "memory/2025-11-02.md": crowd,
        "memory/2025-11-03.md": "- W @Globex: keeps seeds\n",
    }
    assert related(further(write_pages(tmp_path, pages), "the botanist Alice")) == ["keeps seeds"]


def test_what_was_replaced_ranks_below_and_says_so(tmp_path: Path) -> None:
    """Both versions of a slot are related; the current one stands first, the old one carries its mark."""
    pages = CHAIN | {
        "memory/2025-10-01.md": "- W(key=city) @Globex: Sits in Lisbon\n",
        "memory/2025-11-05.md": "- W(key=city) @Globex: Sits in Porto\n",
    }
    answer = further(write_pages(tmp_path, pages), hops=2)
    texts = related(answer)
    assert texts.index("Sits in Porto") < texts.index("Sits in Lisbon")
    old = (answer.related or ())[texts.index("Sits in Lisbon")]
    assert old.superseded_by == (answer.related or ())[texts.index("Sits in Porto")].ref


def test_what_was_never_true_is_no_bridge(tmp_path: Path) -> None:
    """A corrected line leads nowhere, neither as a hit nor on the way."""
    pages = {
        "memory/2025-11-01.md": "- W @Alice: the botanist of @Globex\n",
        "memory/2025-11-02.md": "- W @Globex: belongs to @Initech ^wrong\n- W @Initech: sells staplers\n",
        "memory/2025-11-03.md": "- W(corrects=wrong) @Globex: belongs to nobody\n",
    }
    answer = further(write_pages(tmp_path, pages), "botanist Alice")
    assert "sells staplers" not in related(answer)
    retracted = next(hit for hit in answer.related or () if hit.ref == "wrong")
    assert retracted.retracted


def test_as_of(tmp_path: Path) -> None:
    """What was told later is neither shown nor on the way."""
    workspace = write_pages(tmp_path, CHAIN)
    assert related(further(workspace, as_of="2025-11-02")) == ["keeps its seed bank in [[Port Sorrel]]"]
    assert related(further(workspace, as_of="2025-11-01")) == []


def test_copies_and_twins(tmp_path: Path) -> None:
    """A copy in a managed block is never related; twins are one line, and a twin of a hit is none."""
    line = "keeps its seed bank in [[Port Sorrel]]"
    pages = CHAIN | {
        "memory/2025-11-06.md": f"- W @Globex: {line}\n",
        "memory/2025-11-07.md": "- W @Alice: joined @Globex as chief botanist\n",
        "bank/entities/Globex.md": f"# Globex\n\n<!-- memctl:begin facts sha=0 -->\n- {line}\n<!-- memctl:end facts -->\n",
    }
    answer = further(write_pages(tmp_path, pages), hops=2)
    assert related(answer) == [line]
    assert len((answer.related or ())[0].also) == 1


def test_lines_that_are_gone(tmp_path: Path) -> None:
    """The files are read again: a bridge that was edited away carries nothing, whatever the index remembers."""
    from memctl.recall.related import related_to

    workspace = write_pages(tmp_path, CHAIN)
    query = read_query(QUESTION, TODAY)
    answer = recall(memory_on(workspace, TODAY), query)
    (tmp_path / "memory/2025-11-02.md").write_text("## Retain\n\n- W @Other: something else\n", encoding="utf-8")
    again = memory_on(workspace).run(lambda memory: related_to(memory, query, answer, k=10, hops=3))
    assert again.related == ()


def test_a_walk_that_takes_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The hits stay; a warning says that what is related was not found out."""
    from memctl.index.index import TimeUp
    from memctl.recall.related import Web

    def slow(*_: object) -> None:
        raise TimeUp

    monkeypatch.setattr(Web, "grow", slow)
    answer = further(write_pages(tmp_path, CHAIN))
    assert answer.related == () and answer.hits and "took too long" in answer.warnings[0]


def test_filters_hold_for_what_is_shown(tmp_path: Path) -> None:
    """Kind and time hold for what is shown, not for the way; `about` says where the walk begins."""
    pages = CHAIN | {"memory/2025-11-20.md": "- O(0.6) @Mira: dislikes floods\n- B [[Port Sorrel]]: saw it flood\n"}
    workspace = write_pages(tmp_path, pages)
    assert related(further(workspace, QUESTION + " kind:world")) == [
        "keeps its seed bank in [[Port Sorrel]]",
        "floods every spring, says @Mira",
    ]
    late = further(workspace, "@Globex", hops=2, since="2025-11-01", until="2025-11-02")
    assert related(late) == [] and len(late.hits) == 2
    assert related(further(workspace, "seed bank", hops=2, kinds=["world"], about=["Globex"])) == [
        "floods every spring, says @Mira",
        "joined @Globex as chief botanist",
    ]


def test_k_and_budget(tmp_path: Path) -> None:
    """`k` holds for each list; the budget for both together, and the hits come first."""
    workspace = Workspace(fixture_copy(tmp_path).resolve())
    answer = further(workspace, "gateway", hops=3, k=3)
    assert len(answer.hits) == 3 and len(answer.related or ()) == 3
    for budget in (1, 60, 150, 400, 4000):
        small = further(workspace, "gateway", hops=3, budget=budget)
        assert sum(map(cost, (*small.hits, *(small.related or ())))) <= budget
        assert small.hits == ask(workspace, "gateway", budget=budget).hits


def test_no_room_is_not_nothing(tmp_path: Path) -> None:
    """Where the hits use the budget up, the answer says that, and what would be enough."""
    workspace = write_pages(tmp_path, CHAIN)
    plain = further(workspace, QUESTION)
    spent = sum(map(cost, plain.hits))
    told = call(["recall", QUESTION, "--hops", "3", "--budget", str(spent)], workspace.root)
    assert told.code == 0 and f"the budget of {spent} tokens leaves room for none; the shortest" in told.err
    assert "are related to these" in told.err and "nothing else" not in told.err


def test_nothing_to_go_on(tmp_path: Path) -> None:
    """No hits, no names, an empty workspace: no related lines, no error."""
    workspace = write_pages(tmp_path, {"memory/2025-11-01.md": "- W: It rained\n- W: It rained again\n"})
    for words in ("zzz", "rained", "", "a\x00b \ud800", "@Nobody"):
        assert further(workspace, words).related == ()
    assert further(write_pages(tmp_path / "empty", {}), "anything").related == ()


def test_a_far_day(tmp_path: Path) -> None:
    """`today` decides what has ended, for related lines too."""
    pages = CHAIN | {"memory/2025-11-05.md": "- W(until=2025-11-10) @Globex: hires\n"}
    workspace = write_pages(tmp_path, pages)
    hired = {hit.content: hit.expired for hit in further(workspace, hops=2).related or ()}
    assert hired["hires"]
    before = further(workspace, hops=2, today=date(2025, 11, 8)).related or ()
    assert not any(hit.expired for hit in before)


def test_formats(tmp_path: Path) -> None:
    """Text has a heading and the way below each line, JSON `related` with `via`, the other formats one list after the other."""
    root = write_pages(tmp_path, CHAIN).root
    words = ["recall", QUESTION, "--hops", "3"]
    text = call(words, root).out
    first, second = text.split("related, by the names that lines share:\n")
    assert "–[" not in first and "–[Globex]– f-" in second and "–[Port Sorrel]– f-" in second
    made = json.loads(call([*words, "--json"], root).out)
    assert [set(hit) - set(made["hits"][0]) for hit in made["related"]] == [{"via"}, {"via"}]
    assert made["related"][0]["path"] == "memory/2025-11-02.md"
    assert made["related"][1]["via"][1::2] == ["Globex", "Port Sorrel"]
    assert made["related"][1]["via"][-1] == made["related"][1]["id"] and made["related"][1]["why"] == {"related": 2}
    lines = [json.loads(line) for line in call([*words, "-f", "jsonl"], root).out.splitlines()]
    assert [line["id"] for line in lines] == [hit["id"] for hit in (*made["hits"], *made["related"])]
    assert call([*words, "-f", "paths"], root).out.split() == [f"memory/2025-11-0{n}.md" for n in (1, 2, 3)]
    markdown = call([*words, "-f", "md"], root).out
    assert markdown.count("\n- ") == 2 and "Related:" in markdown and "–[Globex]–" in markdown


def test_without_hops_nothing_is_different(tmp_path: Path) -> None:
    """`--hops 1` is recall as it was, to the byte, and so are the hits of `--hops 2`."""
    root = fixture_copy(tmp_path)
    for format in ("text", "md", "jsonl", "paths"):
        words = ["recall", "gateway", "-f", format]
        plain = call(words, root)
        assert call([*words, "--hops", "1"], root) == plain
        if format != "paths":
            assert call([*words, "--hops", "2"], root).out.startswith(plain.out)
    assert "related" not in json.loads(call(["recall", "gateway", "--json"], root).out)


def test_exit_codes_and_notes(tmp_path: Path) -> None:
    """Nothing found stays 1; found without anything related is 0 and says so; four hops are too many."""
    root = write_pages(tmp_path, CHAIN).root
    assert call(["recall", "zzz", "--hops", "2"], root).code == 1
    alone = call(["recall", "lighthouses", "--hops", "2"], root)
    assert alone.code == 0 and "nothing else is related" in alone.err
    assert call(["recall", "x", "--hops", "4"], root).code == 2
    explained = call(["recall", QUESTION, "--hops", "2", "--explain"], root).out
    assert "related #1" in explained and "hops 2" in explained
