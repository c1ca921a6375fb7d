"""R6: whatever people, editors, crashes and time do to a workspace, an index kept up equals an index made anew."""

from __future__ import annotations

import os
import random
import shutil
import tempfile
import time
from pathlib import Path

from face_helpers import memory_on
from hypothesis import HealthCheck, settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test
from store_helpers import DAY, PAGES, make_workspace, rebuilt, rows
from torture.damage import ON_FILE

from memctl.errors import MemctlError
from memctl.index.sync import verify
from memctl.notes.workspace import Workspace
from memctl.retain.retain import read_fact, retain

NAMES = (
    "memory/2025-11-27.md", "memory/2025-11-27-b.md", "memory/2025-11-28.md", "memory.md", "bank/world.md",
    "bank/opinions.md", "bank/x.md", "bank/d/y.md", "bank/d/Y.md", "bank/entities/Peter.md", "bank/entities/Пётр.md",
    "bank/entities/Alex-Chen.md", "bank/cafe\u0301.md", "bank/caf\u00e9.md", "bank/.hidden.md", "bank/no page.txt",
    "SOUL.md", "bank/#L12.md",
)  # fmt: skip
PIECES = (
    *(line + "\n" for text in PAGES.values() for line in text.splitlines()), "## Retain\n\n",
    "- W(key=db) @Peter: One\n", "- O(c=0.4) [[Alex Chen]]: Two ^abc123\n", "- B: three\n  goes on\n",
    "<!-- memctl:begin now sha=0123abcd -->\n", "<!-- memctl:end now -->\n", "- W(supersedes=abc123): Four\n", "```\n",
    "---\n", "---\naliases: [Al, Alex]\n---\n", "| a | b |\n|---|---|\n| 1 | 2 |\n", "\r\n", "\ufeff",
    "- W: \0 zero\n", "> quoted\n", "爱丽丝 said it\n",
)  # fmt: skip
TEXTS = st.lists(st.sampled_from(PIECES), max_size=8).map(lambda parts: "".join(parts).encode())
CONTENTS = TEXTS | st.binary(max_size=200) | st.tuples(TEXTS, st.binary(max_size=20)).map(b"".join)
WORDS = st.text(min_size=1, max_size=40) | st.sampled_from(
    ("Runs on [[Atlas]]", "W(key=db) @Atlas: MySQL", "Peter left", "- O(0.2): so so")
)


class Life(RuleBasedStateMachine):
    """A workspace and everything that may befall it."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.workspace = Workspace(self.folder)
        self.kept: list[tuple[str, str]] = []

    def teardown(self) -> None:
        shutil.rmtree(self.folder)

    @initialize(full=st.booleans())
    def begin(self, full: bool) -> None:
        self.workspace = make_workspace(self.folder.resolve(), PAGES if full else {})

    @rule(text=WORDS, day=st.sampled_from((DAY, DAY.replace(day=28))))
    def retain(self, text: str, day: object) -> None:
        try:
            done = retain(memory_on(self.workspace), [read_fact(text)], day)  # type: ignore[arg-type]
        except MemctlError:
            return
        assert not done.warnings
        for kept in done.kept:
            lines = (
                (self.folder / kept.citation.path)
                .read_bytes()
                .decode("utf-8", "replace")
                .replace("\r\n", "\n")
                .replace("\r", "\n")
            )
            assert kept.fact.text[:20] in lines.split("\n")[kept.citation.line - 1]

    @rule(name=st.sampled_from(NAMES), data=CONTENTS, by_rename=st.booleans())
    def save(self, name: str, data: bytes, by_rename: bool) -> None:
        page = self.folder / name
        page.parent.mkdir(parents=True, exist_ok=True)
        if page.is_fifo():
            page.unlink()
        target = page.with_name("save.tmp") if by_rename else page
        target.write_bytes(data)
        os.replace(target, page)

    @rule(name=st.sampled_from(NAMES), byte=st.integers(33, 126))
    def same_size(self, name: str, byte: int) -> None:
        """An edit that leaves size and modification time as they were, soon after the one before."""
        page = self.folder / name
        if page.exists() and (before := page.stat()).st_size and time.time_ns() - before.st_mtime_ns < 1_500_000_000:
            page.write_bytes(page.read_bytes()[:-1] + bytes([byte]))
            os.utime(page, ns=(before.st_atime_ns, before.st_mtime_ns))

    @rule(name=st.sampled_from(NAMES))
    def delete(self, name: str) -> None:
        (self.folder / name).unlink(missing_ok=True)

    @rule(old=st.sampled_from(NAMES), new=st.sampled_from(NAMES))
    def rename(self, old: str, new: str) -> None:
        if (self.folder / old).exists() and old != new:
            (self.folder / new).parent.mkdir(parents=True, exist_ok=True)
            os.replace(self.folder / old, self.folder / new)

    @rule(name=st.sampled_from(("bank/x.md", "bank/link.md")), fifo=st.booleans())
    def no_file(self, name: str, fifo: bool) -> None:
        page = self.folder / name
        page.parent.mkdir(parents=True, exist_ok=True)
        if os.path.lexists(page):
            return
        if fifo and hasattr(os, "mkfifo"):
            os.mkfifo(page)
        else:
            page.symlink_to(self.folder / "memory.md")

    @rule(how=st.sampled_from(ON_FILE), seed=st.integers(0, 2**32))
    def damage(self, how: object, seed: int) -> None:
        path = self.workspace.memory / "index.sqlite"
        if path.exists() and path.stat().st_size >= 8192:
            how(path, random.Random(seed))  # type: ignore[operator]

    @rule()
    def forget_index(self) -> None:
        shutil.rmtree(self.workspace.memory, ignore_errors=True)

    @invariant()
    def index_is_as_rebuilt(self) -> None:
        assert rows(self.workspace) == rebuilt(self.workspace)
        assert verify(self.workspace).differences == ()


def run(examples: int, steps: int, seeded: bool = True) -> None:
    """Live through that many lives; hypothesis raises with the shortest one that goes wrong."""
    run_state_machine_as_test(
        Life,
        settings=settings(
            max_examples=examples, stateful_step_count=steps, deadline=None, derandomize=seeded, database=None,
            suppress_health_check=list(HealthCheck),
        ),
    )  # fmt: skip
