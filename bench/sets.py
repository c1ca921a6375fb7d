"""Sets of questions: a folder in the format of memctl eval, and what can be made of it; and what several benches count by.

A folder holds workspaces (folders of Markdown), one or more `*.jsonl` of questions (`workspace`, `question`, `gold`
citations, optional `type`, `gold_sessions`) and, for figures by session, `sessions.jsonl` (`workspace`, `source`,
`session`). Where its workspaces are translations of one another, line by line, two more are made of them: `pooled`, all of
them side by side, and `mixed`, each line in one language only.
"""

from __future__ import annotations

import json
import math
import re
import shutil
from collections import defaultdict
from collections.abc import Callable, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from memctl.language.words import words

__all__ = ["Sessions", "Task", "by_workspace", "content_words", "rows_of", "tasks", "wilson"]

Sessions = dict[str, dict[str, str]]
Question = dict[str, Any]


class Task(NamedTuple):
    """Questions, the sessions of their workspaces, and how to make a workspace of a name in a new folder."""

    name: str
    questions: list[Question]
    sessions: Sessions
    fill: Callable[[str, Path], None]

    def by_workspace(self) -> dict[str, list[Question]]:
        """The questions of each workspace."""
        found: dict[str, list[Question]] = defaultdict(list)
        for question in self.questions:
            found[question["workspace"]].append(question)
        return dict(found)


def tasks(folder: Path) -> list[Task]:
    """Every set that a folder makes, `questions.jsonl` first."""

    def fill(name: str, root: Path) -> None:
        shutil.copytree(folder / name, root)

    sessions = _sessions(folder / "sessions.jsonl")
    files = sorted(folder.glob("*.jsonl"), key=lambda path: (path.stem != "questions", path.stem))
    found = []
    for path in files:
        questions = _questions(path)
        if questions:
            name = folder.name if path.stem == "questions" else f"{folder.name}/{path.stem}"
            found.append(Task(name, questions, sessions, fill))
    return found + (_parallel(folder, found[0].questions) if found else [])


def rows_of(path: Path) -> list[dict[str, Any]]:
    """The rows of a file of JSON, one a line."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def by_workspace(folder: Path, names: str = "") -> dict[str, list[Question]]:
    """The questions of a folder that have gold, by workspace: all of them, or those of some names, comma-separated."""
    chosen = set(filter(None, names.split(",")))
    found: dict[str, list[Question]] = defaultdict(list)
    for question in rows_of(folder / "questions.jsonl"):
        if question["gold"] and (not chosen or question["workspace"] in chosen):
            found[question["workspace"]].append(question)
    return found


def wilson(part: int, whole: int) -> tuple[float, float]:
    """The 95 % interval of a share (Wilson)."""
    p, z = part / whole, 1.96
    middle, spread = p + z * z / (2 * whole), z * math.sqrt(p * (1 - p) / whole + z * z / (4 * whole * whole))
    return (middle - spread) / (1 + z * z / whole), (middle + spread) / (1 + z * z / whole)


def content_words(question: str) -> list[str]:
    """The words of a question without the function words of English, each once; all of them where it has no others."""
    function = set(words("en", "stopwords")["words"])
    found = re.findall(r"[\w%'.-]*\w", question.casefold())
    return list(dict.fromkeys(word for word in found if word not in function)) or found


def _questions(path: Path) -> list[Question]:
    return [row for row in rows_of(path) if row.get("gold") and "question" in row]


def _sessions(path: Path) -> Sessions:
    found: Sessions = defaultdict(dict)
    for row in rows_of(path) if path.exists() else ():
        found[row["workspace"]][row["source"]] = row["session"]
    return found


# -- translations of one another --------------------------------------------------------------------------------------


def _parallel(folder: Path, questions: Sequence[Question]) -> list[Task]:
    """`pooled` and `mixed`, where every workspace has the same pages with as many lines."""
    names = sorted({question["workspace"] for question in questions})
    pages = [_pages(folder / name) for name in names]
    if len(names) < 2 or any(
        {p: len(t) for p, t in one.items()} != {p: len(t) for p, t in pages[0].items()} for one in pages
    ):
        return []

    def pool(_: str, root: Path) -> None:
        for name in names:
            shutil.copytree(folder / name, root / name)

    def mix(_: str, root: Path) -> None:
        for path, lines in pages[0].items():
            target = root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            chosen = [pages[_drawn(f"{path}#L{n}", len(names))][path][n - 1] for n in range(1, len(lines) + 1)]
            target.write_text("".join(f"{line}\n" for line in chosen), "utf-8")

    pooled = [_as(q, "pooled", [f"{q['workspace']}/{place}" for place in q["gold"]], q["workspace"]) for q in questions]
    mixed = [
        _as(q, "mixed", q["gold"], f"{q['workspace']}->{names[_drawn(place, len(names))]}")
        for q in questions
        for place in q["gold"][:1]
    ]
    return [Task(f"{folder.name}/pooled", pooled, {}, pool), Task(f"{folder.name}/mixed", mixed, {}, mix)]


def _pages(root: Path) -> dict[str, list[str]]:
    return {
        path.relative_to(root).as_posix(): path.read_text("utf-8").splitlines()
        for path in sorted(root.rglob("*.md"))
        if not any(part.startswith(".") for part in path.relative_to(root).parts)
    }


def _as(question: Question, workspace: str, gold: list[str], kind: str) -> Question:
    """The same question to another workspace; `origin` is where it came from."""
    rest = {key: value for key, value in question.items() if key != "gold_sessions"}
    return rest | {"workspace": workspace, "gold": gold, "type": kind, "origin": question["workspace"]}


def _drawn(place: str, count: int) -> int:
    return int.from_bytes(blake2b(place.encode(), digest_size=4).digest()) % count
