"""R3: a model of what a disk may hold after the power failed: the calls that write pages, and every subset of them.

A write or a new name counts as on disk once its file or folder was synced. Until then it may be there, or not, or, for
a write, in part: the first bytes of it, or its length filled with zeros. Names and bytes do not wait for each other.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any
from unittest.mock import patch

from face_helpers import memory_on
from store_helpers import DAY, LOG, strays

from memctl.markdown.page import parse_page
from memctl.notes import edits as replacing
from memctl.notes.edits import replace, writing_alone
from memctl.notes.files import read_page
from memctl.notes.workspace import Workspace
from memctl.retain.retain import read_fact, retain

FACT = read_fact("The kettle is in the Fjord room")
OLD = "# 2025-11-27\n\n## Retain\n\n- W @Atlas: Runs on port 8080\n"


@dataclass(frozen=True)
class Op:
    """One call: `what` is name (a file or folder appears), gone, move, link, swap, write, cut, sync.

    `path` and `to` (of a move, link or swap) are in the workspace.
    """

    what: str
    path: str
    data: bytes = b""
    at: int = 0
    folder: bool = False
    to: str = ""


class PowerOff(BaseException):
    """The process ends here, as with kill -9."""


@dataclass
class Recorder:
    """Writes down what the calls of the os module do below `root`; with `stop`, ends the process before that call."""

    root: Path
    stop: int | None = None
    swaps: bool = True
    ops: list[Op] = field(default_factory=list)
    paths: dict[int, str] = field(default_factory=dict)

    def note(self, op: Op) -> None:
        if self.stop is not None and len(self.ops) >= self.stop:
            raise PowerOff
        self.ops.append(op)

    def inside(self, path: Any) -> str | None:
        """The path in the workspace; None for what is elsewhere or derived."""
        full = Path(path)
        if not full.is_relative_to(self.root) or ".memory" in full.parts:
            return None
        return full.relative_to(self.root).as_posix()

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Every call is noted, then made."""
        watched: dict[str, Callable[..., object]] = {
            "open": self._opening, "write": lambda fd, data: self._at(fd, "write", data=bytes(data), at=os.fstat(fd).st_size),
            "fsync": lambda fd: self._at(fd, "sync"), "ftruncate": lambda fd, size: self._at(fd, "cut", at=size),
            "mkdir": lambda path, *_: self._new(path, folder=True), "unlink": lambda path, **_: self.inside(path) and self._on("gone", path),
            "close": lambda fd: self.paths.pop(fd, None), "rename": partial(self._on, "move"), "replace": partial(self._on, "move"),
            "link": partial(self._on, "link"),
        }  # fmt: skip
        swap, open_ = replacing.swap, os.open

        def opened(path: Any, *words: Any, **more: Any) -> int:
            fd = open_(path, *words, **more)
            if (name := self.inside(path)) is not None:
                self.paths[fd] = name
            return fd

        with ExitStack() as patches:
            for name, look in watched.items():
                call = opened if name == "open" else getattr(os, name)
                patches.enter_context(patch.object(os, name, partial(_after, look, call)))
            move = partial(_after, partial(self._on, "move"), replacing.move_new)
            swapped = partial(_after, partial(self._on, "swap"), swap) if self.swaps else lambda *_: False
            patches.enter_context(patch.multiple(replacing, move_new=move, swap=swapped))
            yield

    def _opening(self, path: Any, flags: int, *_: Any, **__: Any) -> None:
        if flags & os.O_CREAT:
            self._new(path)

    def _new(self, path: Any, **more: bool) -> None:
        if (name := self.inside(path)) and not os.path.lexists(path):
            self.note(Op("name", name, **more))

    def _at(self, fd: int, what: str, **more: Any) -> None:
        if fd in self.paths:
            self.note(Op(what, self.paths[fd], **more))

    def _on(self, what: str, source: Any, target: Any = None, **_: Any) -> None:
        self.note(Op(what, self.inside(source) or "", to=(target and self.inside(target)) or ""))


def _after(look: Callable[..., object], call: Callable[..., Any], *words: Any, **more: Any) -> Any:
    look(*words, **more)
    return call(*words, **more)


def _parent(path: str) -> str:
    return path.rpartition("/")[0] or "."


@dataclass(frozen=True)
class Effect:
    """What a call does to the disk: names it gives to files (None: takes away), or bytes it puts into a file."""

    op: Op
    names: tuple[tuple[str, int | None], ...] = ()
    file: int = 0


def _effects(before: Mapping[str, bytes], ops: list[Op]) -> tuple[dict[str, int], list[Effect]]:
    """Which file (by number) each name stands for before, and what each call does, as the process itself saw it."""
    start = {path: number for number, path in enumerate(sorted(before))}
    now: dict[str, int] = dict(start)
    effects = []
    for op in ops:
        names: list[tuple[str, int | None]] = []
        if op.what == "name":
            names = [(op.path, len(start) + len(effects))]
        elif op.what == "gone":
            names = [(op.path, None)]
        elif op.what == "link":
            names = [(op.to, now[op.path])]
        elif op.what == "move":
            names = [(op.path, None), (op.to, now[op.path])]
        elif op.what == "swap":
            names = [(op.path, now[op.to]), (op.to, now[op.path])]
        effects.append(Effect(op, tuple(names), now.get(op.path, -1)))
        for name, file in names:
            if file is None:
                now.pop(name, None)
            else:
                now[name] = file
    return start, effects


def _is_safe(effects: list[Effect], number: int) -> bool:
    """A later sync of the file, or of the folder that holds the name, made this call durable."""
    effect = effects[number]
    later = [other for other in effects[number + 1 :] if other.op.what == "sync"]
    if effect.names:
        return any(other.op.path == _parent(effect.op.path) for other in later)
    return any(other.file == effect.file for other in later)


def _fates(op: Op) -> list[bytes | bool]:
    """What may be left of a call that was not synced: True is all, False nothing, bytes what stands there instead."""
    if op.what != "write":
        return [True, False]
    cuts = {1, len(op.data) // 2, len(op.data) - 1, *(at + 1 for at, byte in enumerate(op.data) if byte == 10)}
    zeros = [bytes(len(op.data)), op.data[: len(op.data) // 2] + bytes(len(op.data) - len(op.data) // 2)]
    return [True, False, *(op.data[:cut] for cut in sorted(cuts) if 0 < cut < len(op.data)), *zeros]


def states(before: Mapping[str, bytes], ops: list[Op]) -> Iterator[dict[str, bytes | None]]:
    """Every content of the disk (None is a folder) if the power fails after these calls."""
    start, every = _effects(before, ops)
    numbers = [number for number, op in enumerate(ops) if op.what != "sync"]
    choices = [[True] if _is_safe(every, number) else _fates(ops[number]) for number in numbers]
    for fates in product(*choices):
        disk: dict[str, int] = dict(start)
        contents = {start[path]: data for path, data in before.items()}
        folders = set()
        for number, fate in zip(numbers, fates, strict=True):
            op, file = ops[number], every[number].file
            if fate is False:
                continue
            for name, named in every[number].names:
                if named is None:
                    disk.pop(name, None)
                else:
                    disk[name] = named
                    folders.update({name} if op.folder else ())
            if op.what == "write":
                contents[file] = contents.get(file, b"")[: op.at] + (op.data if fate is True else bytes(fate))
            elif op.what == "cut":
                contents[file] = contents.get(file, b"")[: op.at]
        yield {
            path: None if path in folders else contents.get(file, b"")
            for path, file in disk.items()
            if _reachable(path, disk)
        }


def _reachable(path: str, disk: Mapping[str, object]) -> bool:
    return _parent(path) == "." or (_parent(path) in disk and _reachable(_parent(path), disk))


# -- what must hold ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Scene:
    """Pages before, the call, and after how many of its own calls a first try of it was killed (None: no first try)."""

    name: str
    before: Mapping[str, bytes]
    call: Callable[[Workspace], object]
    killed_at: int | None = None
    swaps: bool = True


def _retain(workspace: Workspace) -> object:
    return retain(memory_on(workspace), [FACT], DAY)


PAGE, NEW = "bank/entities/Atlas.md", b"# Atlas\n\n<!-- memctl:begin now -->\n- Runs\n<!-- memctl:end now -->\n"


def _replace(workspace: Workspace) -> object:
    page = workspace.root / PAGE
    before = page.read_bytes() if page.exists() else None
    return replace(workspace, PAGE, before, NEW)


PAGES: tuple[tuple[str, Mapping[str, bytes]], ...] = (
    ("existing log", {"memory": b"", LOG: OLD.encode()}),
    ("torn last line", {"memory": b"", LOG: OLD.encode() + b"- W: half a li"}),
    ("CRLF with a BOM", {"memory": b"", LOG: b"\xef\xbb\xbf" + OLD.replace("\n", "\r\n").encode()}),
    ("new log", {"memory": b""}),
    ("new folder", {}),
)


BANK: dict[str, bytes] = {"bank": b"", "bank/entities": b""}
REPLACED: tuple[tuple[str, Mapping[str, bytes], bool], ...] = (
    ("a page", BANK | {PAGE: b"# Atlas\n\nOld.\n"}, True),
    ("a page, names cannot be swapped", BANK | {PAGE: b"# Atlas\n\nOld.\n"}, False),
    ("a new page", BANK, True),
    ("a new page in a new folder", {}, True),
)


def replacements() -> list[Scene]:
    """Each kind of page that is replaced; each also as the second try of a process that was killed at any call."""
    found = []
    for name, pages, swaps in REPLACED:
        first = Scene(f"replace, {name}", pages, _replace, swaps=swaps)
        found.append(first)
        for number in range(len(record(first)[0])):
            found.append(Scene(f"replace, {name}, killed at {number} and again", pages, _replace, number, swaps))
    return found


def scenes() -> list[Scene]:
    """Each kind of page; each also as the second try of a process that was killed at any of its calls."""
    found = []
    for name, pages in PAGES:
        found.append(Scene(f"retain, {name}", pages, _retain))
        calls = len(record(found[-1])[0])
        found += [Scene(f"retain, {name}, killed at {n} and again", pages, _retain, n) for n in range(calls)]
    return found


def record(scene: Scene) -> tuple[list[Op], int]:
    """The calls of a scene, and how many of them belong to the first try."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        lay_out(root, scene.before)
        ops: list[Op] = []
        if scene.killed_at is not None:
            first = Recorder(root, stop=scene.killed_at, swaps=scene.swaps)
            try:
                with first.recording():
                    scene.call(Workspace(root))
            except PowerOff:
                ops = first.ops
        last = Recorder(root, swaps=scene.swaps)
        with last.recording():
            scene.call(Workspace(root))
        return ops + last.ops, len(ops)


def lay_out(root: Path, disk: Mapping[str, bytes | None]) -> None:
    for path in sorted(disk):
        data = disk[path]
        if path in ("memory", *BANK) or data is None:
            (root / path).mkdir(parents=True, exist_ok=True)
        else:
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_bytes(data)


def judge(scene: Scene, disk: Mapping[str, bytes | None], acknowledged: bool) -> str | None:
    """What is wrong with a state of the disk: `corrupt …` or `lost …`."""
    with tempfile.TemporaryDirectory() as folder:
        workspace = Workspace(Path(folder).resolve())
        lay_out(workspace.root, disk)
        if scene.call is _replace:
            return _judge_replaced(workspace, scene.before.get(PAGE), acknowledged)
        for path, data in scene.before.items():
            if path != "memory" and not (disk.get(path) or b"").startswith(data):
                return f"corrupt: bytes of {path} that were there before"
        try:
            facts = _facts(workspace) if LOG in disk else []
            if acknowledged and FACT not in facts:
                return "lost an acknowledged fact"
            retain(memory_on(workspace), [FACT], DAY)
            return None if FACT in _facts(workspace) else "corrupt: the next retain is not read back"
        except Exception as error:  # any exception is a finding here
            return f"corrupt: {type(error).__name__}: {error}"


def _judge_replaced(workspace: Workspace, old: bytes | None, acknowledged: bool) -> str | None:
    page = workspace.root / PAGE
    text = page.read_bytes() if page.exists() else None
    if text not in (old, NEW):
        return f"corrupt: neither old nor new {text!r}"
    if acknowledged and text != NEW:
        return "lost a page that was acknowledged"
    young, replacing.STALE_SECONDS = replacing.STALE_SECONDS, -1.0
    try:
        with writing_alone(workspace, "reflect"):
            _replace(workspace)
    except Exception as error:  # any exception is a finding here
        return f"corrupt: {type(error).__name__}: {error}"
    finally:
        replacing.STALE_SECONDS = young
    left = strays(workspace) + [path.name for path in workspace.root.rglob("recovered-*")]
    return None if page.read_bytes() == NEW and not left else f"corrupt: the next start leaves {left}"


def _facts(workspace: Workspace) -> list[object]:
    return [entry.fact for entry in parse_page(read_page(workspace, LOG).text).entries if entry.fact]


def run(chosen: list[Scene]) -> tuple[int, list[str]]:
    """(how many states, what is wrong with some of them)."""
    seen: set[tuple[object, ...]] = set()
    wrong = []
    for scene in chosen:
        ops, first = record(scene)
        for end in range(first, len(ops) + 1):
            for disk in states(scene.before, ops[:end]):
                key = (scene.call, tuple(scene.before.items()), end == len(ops), tuple(sorted(disk.items())))
                if key in seen:
                    continue
                seen.add(key)
                problem = judge(scene, disk, acknowledged=end == len(ops))
                if problem:
                    wrong.append(f"{scene.name} after {end} of {len(ops)} calls: {problem}")
    return len(seen), wrong
