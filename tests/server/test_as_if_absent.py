"""A caller who is not the owner is answered byte for byte as if the private lines did not exist.

Workspaces of random lines in three languages, A, and the same with their private lines taken out, B: the same calls of
HTTP, MCP, hooks, contexts, exports and replies. Private lines share words, prefixes, names, slots, aliases and evidence
with the others, and some are spelled wrong.
"""

from __future__ import annotations

import json
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime, time
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import pytest
from calls import Call, http, mcp
from face_helpers import TODAY, call, memory_on, write_pages
from hash_embedder import HashEmbedder
from hypothesis import given, settings, strategies as st
from strategies import examples

from memctl.agents.act import act
from memctl.agents.hooks import answer_hook
from memctl.errors import MemctlError
from memctl.index.resident import Resident
from memctl.markdown.private import without_private_lines
from memctl.memory import Memory
from memctl.notes.workspace import Workspace
from memctl.server.mcp_tools import TOOLS, Session, Tool, list_resources, prompted, read_resource
from memctl.vectors import models

NAMES = ("Peter", "Pete", "Irina", "Ирина", "Ира", "爱丽丝", "Atlas", "Port Sorrel")
WORDS = (
    *[
        "likes", "moved", "harbour", "harbor", "harbours", "crane", "creaks", "bakes", "bread", "Berlin", "Lisbon", "PIN", "7391",
        "73915", "code", "deploys", "PostgreSQL",
    ],
    *["варит", "кофе", "кофейня", "переехала", "переезд", "город", "Москва", "код", "7391", "любит", "чай", "секрет"],
    *["喜欢", "短信", "短回复", "搬到", "北京", "密码", "数据库", "秘藏", "鲸鱼", "咖啡"],
)  # fmt: skip
KEYS = ("city", "db", "pin", "город")
SECRET = ("zanzibarite", "harbourmaster", "тайнослов", "кофеман", "秘藏鲸鱼", "7391")
SPELLINGS = (
    "- W(private) {}: {}", "- W(private, c=zz: {}: {}", "- W(Private) {}: {}", "* O(c=0.9, private) {}: {}",
    "+ B（private） {}： {}", "- [ ] W(private) {}: {}", "- W(private) {}:\n  {}", "- W(private) {}: x\n  - below: {}",
    "1. S(private) {}: {}", "- W(key=city, private) {}: {}", "- W(key=db,private) {}: {}",
)  # fmt: skip


class Maker:
    """Draws the lines of a workspace; the ids of those that were written are for the next ones to name."""

    def __init__(self, random: Random) -> None:
        self.random, self.refs, self.count = random, ["f-nowhere1"], 0

    def words(self, *more: str) -> str:
        """Some words, with these among them now and then."""
        chosen = self.random.choices(WORDS, k=self.random.randint(1, 5))
        return " ".join([*chosen, *more[: self.random.randint(0, len(more))]])

    def line(self, private: bool) -> str:
        """One line of a log."""
        pick = self.random.choice
        name = pick(("", "", *(f"@{name}" if " " not in name else f"[[{name}]]" for name in NAMES)))
        said = self.words(pick(SECRET)) if private else self.words()
        if private and self.random.random() < 0.4:
            return pick(SPELLINGS).format(name, said)
        head = pick(("W", "W", "B", "O", "S"))
        given = [f"c={pick((0.3, 0.6, 0.9))}"] if head == "O" else []
        given += [f"key={pick(KEYS)}"] if self.random.random() < 0.3 else []
        given += (
            [f"{pick(('for', 'against', 'supersedes', 'corrects'))}={pick(self.refs)}"]
            if self.random.random() < 0.4
            else []
        )
        given += (
            [pick(("src=web", "until=2025-11-20", "ttl=10d", 'cue="where is it"'))]
            if self.random.random() < 0.2
            else []
        )
        given += ["private"] if private else []
        self.random.shuffle(given)
        self.count += 1
        self.refs.append(f"f-made{self.count}")
        return f"- {head}{'(' + ', '.join(given) + ')' if given else ''} {name}: {said} ^{self.refs[-1]}"

    def log(self) -> str:
        """A page of lines, a twin among them now and then."""
        lines = [self.line(self.random.random() < 0.35) for _ in range(self.random.randint(1, 6))]
        if self.random.random() < 0.3:
            lines += ["- W @Peter: likes bread", "- W(private) @Peter: likes bread"][:: self.random.choice((1, -1))]
        return "## Retain\n\n" + "\n".join(lines) + self.random.choice(("\n", "\n", ""))

    def pages(self) -> dict[str, str]:
        """All pages: logs, those of entities with aliases, beliefs with evidence, prose that cites lines, the core."""
        pages = {
            f"memory/2025-11-{day:02}.md": self.log()
            for day in self.random.sample(range(1, 30), self.random.randint(1, 4))
        }
        pick = self.random.choice
        pages["bank/entities/Peter.md"] = (
            f"---\naliases: [Pete, Petrov]\n---\n# Peter\n\n{self.line(False)}\n{self.line(True)}\n"
        )
        pages["bank/entities/Irina.md"] = "---\naliases: [Ирина, Ира]\n---\n# Irina\n\n" + self.words() + "\n"
        pages["bank/opinions.md"] = "# Opinions\n\n" + "".join(
            f"- O(c=0.8) @{pick(NAMES[:6])}: {self.words()} ^o-{n}\n"
            + "".join(
                f"  - 2025-11-0{k} · {pick(('stated 0.80', 'for → 0.84', 'against → 0.40'))} · [x](../memory.md#L{k}) ^{pick(self.refs)}\n"
                for k in range(1, self.random.randint(2, 4))
            )
            for n in range(self.random.randint(0, 3))
        )
        copies = "\n".join(f'- {self.words()} · [x](../memory/x.md#L3 "{pick(self.refs)}")' for _ in range(2))
        pages["bank/prose.md"] = (
            f"# {self.words()}\n\n{self.words()}.\n\n## W(private): {self.words(*SECRET)}\n\n{copies}\n\n{self.words()}\n"
        )
        pages["memory.md"] = f"# Memory\n\n{self.line(False)}\n{self.line(True)}\n"
        return pages


def pair(random: Random, folder: Path) -> tuple[Workspace, Workspace]:
    """A workspace with private lines, and the same without them; what reflect writes is in both where it ran."""
    first = write_pages(folder / "a", Maker(random).pages())
    if random.random() < 0.5:
        memory_on(first).reflect()
    view = memory_on(first).public().workspace
    # Without private lines there would be no page of a name that they alone have.
    texts = {page.path: (first.root / page.path).read_bytes().decode() for page in view.scan()}
    shutil.rmtree(first.root / ".memory")  # what reflect remembers to ask about
    return first, write_pages(
        folder / "b", {path: _Text(without_private_lines(text, view.hides or ())) for path, text in texts.items()}
    )


class _Text(str):
    """A page that is written as it stands."""

    def startswith(self, *_: Any) -> bool:
        return False


class Asked:
    """A workspace as the callers have it: a process that stays, and those that are new each time."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.resident = Resident(workspace)
        self.memory = Memory(workspace, lambda: datetime.combine(TODAY, time(9)), resident=self.resident)
        self.fresh = memory_on(workspace)
        self.memory.embed()

    @classmethod
    def all_said(cls, workspace: Workspace, calls: Iterable[Call]) -> list[str]:
        """What is said to some calls, and closed: the system gives few watches."""
        asked = cls(workspace)
        with asked.memory:
            return [asked.said(call) for call in calls]

    def said(self, call: Call) -> str:
        """An answer or a refusal as text, but for where the workspace lies and how large its files are."""
        try:
            said = call(self)
        except MemctlError as error:
            said = [type(error).__name__, error.what, error.cure]
        text = json.dumps(said, ensure_ascii=False, default=str).replace(str(self.workspace.root), "ROOT")
        text = re.sub(r'"(?:took_ms|uptime_seconds)": [\d.]+, ', "", text)
        return re.sub(r'("(?:markdown_bytes|index_bytes)"): \d+|\d[\d.,]* [KM]iB', r"\1", text)


def arguments(tool: Tool, random: Random, named: Mapping[str, Callable[[], str]]) -> dict[str, Any]:
    """What a tool may be asked: all that its example has and what it needs, the rest now and then; `named` says some texts by name."""
    said = {
        "boolean": (True, False),
        "number": (0.3, 0.6, 0.9),
        "string": (*NAMES, *KEYS, "400d", "f-made1", "f-made2"),
    }

    def drawn(name: str, field: Mapping[str, Any]) -> Any:
        if field.get("type") == "array":
            return [drawn(name, field["items"])]
        if field.get("type") == "integer":
            return random.randint(field.get("minimum", 0), min(field.get("maximum", 50), 3000))
        return named[name]() if name in named else random.choice(field.get("enum") or said[field["type"]])

    schema = tool.input_schema
    always = {*tool.example, *schema.get("required", ())}
    asked = (name for name in schema["properties"] if name in always or random.random() < 0.1)
    return {name: drawn(name, schema["properties"][name]) for name in asked}


def questions(random: Random) -> Iterator[Call]:
    """Calls that only look, from every door."""
    pick = random.choice

    def words() -> str:
        said = " ".join(random.choices((*WORDS, *SECRET, *NAMES), k=random.randint(1, 3)))
        return said[: -random.randint(1, 3)] if random.random() < 0.3 and len(said) > 4 else said

    def place() -> str:
        bank = [f"bank/{name}.md" for name in ("prose", "opinions", "entities/Peter")]
        path = pick(("memory.md", *bank, f"memory/2025-11-{random.randint(1, 29):02}.md"))
        return pick((path, f"{path}#L{random.randint(1, 12)}", f"f-made{random.randint(1, 20)}", f"@{pick(NAMES)}"))

    named = {"query": words, "message": words, "ref": place}
    named |= dict.fromkeys(("since", "until", "on", "as_of"), lambda: pick(("400d", "2025-11", "last week")))
    where = {"about": [pick(NAMES)]} if random.random() < 0.3 else {"key": pick(KEYS)} if random.random() < 0.3 else {}
    yield http("/recall", text=words())
    yield http("/v1/recall", query=words(), explain=True, k=pick((1, 3, 10)), **where)
    yield http("/v1/recall", query=f"{words()} @{pick(NAMES)}", explain=True, hops=3, history=True)
    yield http("/v1/recall", query=pick(("", "last week", words())), explain=True, per_page=0)
    yield http("/v1/show", ref=place(), context=pick((0, 3)))
    yield http("/v1/context", message=words(), budget=2000)
    yield http("/v1/review")
    yield http("/v1/status")
    yield http(
        "/v1/ingest", user_msg=f"Remember: {words()} {words()} is {words()}.", assistant_msg="Noted.", dry_run=True
    )
    yield http("/v1/retain", text=words(), dry_run=True, date="2025-11-02")
    for tool in (each for each in TOOLS for _ in range(2) if not each.writes):
        yield mcp(tool.name, **arguments(tool, random, named))
    yield mcp("forget", ids=[f"f-made{random.randint(1, 20)}"])
    yield lambda on: list_resources(Session(on.memory))
    path = pick(("entity/Peter", "entity/Irina", "page/memory.md", f"log/2025-11-{random.randint(1, 29):02}"))
    yield lambda on: read_resource(Session(on.memory), f"memctl://{path}")
    now, prompt = datetime.combine(TODAY, time(9)), words()
    named, given = pick((("recall", {"question": prompt}), ("week", {"since": "400d"}), ("review", {})))
    yield lambda on: prompted(Session(on.memory), named, given)[1]
    yield lambda on: answer_hook(on.workspace, "session-start", {}, now)
    yield lambda on: answer_hook(on.workspace, "prompt", {"prompt": f"What about {prompt}?"}, now)
    yield lambda on: on.fresh.context(prompt, budget=3000).as_json()
    yield lambda on: on.fresh.chat([{"role": "user", "content": prompt}], budget=4000).as_json()
    what = pick(("facts", "beliefs"))
    yield lambda on: call(["export", what, "--public"], on.workspace.root).both
    reply = f"[SEARCH_MEMORY: query={prompt}]\n[GET_FACT: key={pick(KEYS)}]\n[READ_DOC: name=prose]\n"
    yield lambda on: act(on.fresh, reply, read_only=True)


def by_name(random: Random) -> Iterator[Call]:
    """What the library tells a public caller."""
    pick = random.choice
    name, key, ref = pick(NAMES), pick(KEYS), pick(("o-0", "o-1", f"f-made{random.randint(1, 20)}"))
    yield lambda on: on.memory.public().entities()
    yield lambda on: on.memory.public().entity(name)
    yield lambda on: on.memory.public().facts()
    yield lambda on: on.memory.public().fact(key)
    yield lambda on: on.memory.public().fact_history(key)
    yield lambda on: on.memory.public().beliefs()
    yield lambda on: on.memory.public().belief(ref)
    yield lambda on: on.memory.public().why(ref)
    yield lambda on: on.memory.public().conflicts()
    yield lambda on: on.memory.public().status().as_json()


def writes(random: Random) -> Iterator[Call]:
    """Calls that write, the same in both."""
    said = " ".join(random.choices((*WORDS, *NAMES, *SECRET), k=3))
    day = f"2025-11-{random.randint(1, 29):02}"
    yield http(
        "/v1/retain", text=random.choice((said, "W @Peter: likes bread", f"W(key=city) @Peter: {said}")), date=day
    )
    yield http("/store", text=said)
    yield http("/v1/ingest", user_msg=f"Please remember that {said} is 7391.", assistant_msg="I will.")


@given(st.randoms(use_true_random=False))
@settings(max_examples=examples(60, 3, 20))
def test_private_lines_are_as_if_absent(random: Random) -> None:
    """S13: no answer differs, nor a refusal; of some ninety on each pair of workspaces."""
    chosen = HashEmbedder() if random.random() < 0.5 else None
    with tempfile.TemporaryDirectory() as folder, patch.object(models, "choose", lambda workspace: chosen):
        first, second = map(Asked, pair(random, Path(folder)))
        calls = [*questions(random), *by_name(random), *writes(random), *questions(random)]
        told = [(first.said(each), second.said(each)) for each in calls]
        first.memory.close(), second.memory.close()
    differing = [f"{number}: {a}\n   {b}" for number, (a, b) in enumerate(told) if a != b]
    assert not differing, "\n".join(differing)


@given(st.permutations(("W @Peter: likes bread", "W(private) @Peter: likes bread", "W(i=0.9) @Peter: likes bread")))
@settings(max_examples=6)
def test_a_private_twin_changes_no_id(lines: list[str]) -> None:
    """What stands beside a private line of the same words is told under the same id as without it."""
    path, told = "memory/2025-11-08.md", list[list[str]]()
    with tempfile.TemporaryDirectory() as folder:
        for name, said in (("a", lines), ("b", [line for line in lines if "private" not in line])):
            memory = memory_on(write_pages(Path(folder) / name, {path: "".join(f"- {line}\n" for line in said)}))
            done = memory.public().retain("W @Peter: likes bread", day="2025-11-08", said_by="agent")
            told.append([done.kept[0].ref, *sorted(hit.ref for hit in memory.public().recall("bread", k=9).hits)])
    assert told[0] == told[1]


@pytest.mark.parametrize("now", ["{}", "{}, still", "{}: {}", "elsewhere"])
@pytest.mark.parametrize("said", ["Likes zanzibarite", "Любит тайнослов", "喜欢秘藏鲸鱼"])
def test_what_was_made_of_lines_that_turned_private_is_told_to_nobody(tmp_path: Path, said: str, now: str) -> None:
    """Before reflect has seen it, though they have other ids now: in other words, in wrong ones, on another day."""
    heads = "O(0.9", "W(c=1", "W(i=1", f'B(outcome=ok,task="{said}"', f'B(outcome=fail,task="{said}"'
    path, more = "memory/2025-11-03.md", "- W @Anna: Dives\n- W @Anna: Sings\n"
    told = [f"- {head}) {'' if 'i' in head else '@Anna'}: {said}, {head[0]}" for head in heads]
    workspace = write_pages(tmp_path / "notes", {path: "\n".join(["## Retain\n", *told, more])})
    memory_on(workspace).reflect()
    pages = [f"bank/{name}.md" for name in ("opinions", "lessons", "world", "entities/Anna")]
    asked = [
        lambda on: on.fresh.public().beliefs(), http("/v1/recall", query="Anna"), http("/v1/context", message="Anna"),
        mcp("recall", query="Anna"), lambda on: read_resource(Session(on.memory), "memctl://entity/Anna"),
        *(http("/v1/show", ref=page) for page in pages), lambda on: on.fresh.context("Anna").as_json(),
    ]  # fmt: skip
    assert all(said in each for each in Asked.all_said(workspace, asked))
    write_pages(tmp_path / "notes", {path: "\n".join(["## Retain\n", *(f"{line} so" for line in told), more])})
    assert all(said in each for each in Asked.all_said(workspace, asked))  # nothing is private: each waits for reflect
    assert not (workspace.memory / "public").exists()
    moved = now == "elsewhere"
    hidden = [line.replace(")", ",private" if now == "{}: {}" else ",private)", 1) for line in told]
    text = "\n".join(["## Retain\n", *(now.format(line, said) for line in hidden if not moved), more])
    write_pages(tmp_path / "notes", {path: text, "memory/2025-11-04.md": "\n".join(["## Retain\n", *hidden * moved])})
    answers = Asked.all_said(workspace, asked)
    assert [said in each for each in answers] == [False] * len(asked)
    assert "Sings" in answers[4]
