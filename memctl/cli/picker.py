"""The picker of `recall -i`: what is typed is asked at once, and the hit that is chosen is opened."""

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ..errors import ExtraMissing, MemctlError, Usage
from ..hits import Hit
from ..markdown.escape import one_line, printable
from .call import Call
from .moves import open_at

if TYPE_CHECKING:
    from ..memory import Memory

_CONTEXT = 3  # lines around a hit


def pick_and_open(call: Call, words: str, search: "Callable[[Memory, str], Sequence[Hit]]") -> int:
    """Let the owner choose a hit, and open it in their editor; the exit code is 1 if none was chosen."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise Usage("recall -i needs a terminal, and there is none", "without -i it prints: memctl recall WORDS")
    with call.stay() as memory:
        hit = pick(words, lambda typed: search(memory, typed), lambda one: _around(memory, one))
        if hit:
            open_at(call, memory.workspace.root / hit.source.path, hit.source.line)
    return 0 if hit else 1


def _around(memory: "Memory", hit: Hit) -> str:
    (passage,) = memory.show(str(hit.source), _CONTEXT)
    lines = enumerate(passage.lines, passage.first)
    return "\n".join(f"{'>' if n == hit.source.line else ' '} {n:4} {printable(line)}" for n, line in lines)


def pick(words: str, search: Callable[[str], Sequence[Hit]], around: Callable[[Hit], str]) -> Hit | None:
    """The hit that is chosen with Enter, None after Esc; `around` is the text below the list for one."""
    try:
        from prompt_toolkit import Application
        from prompt_toolkit.buffer import Buffer
        from prompt_toolkit.data_structures import Point
        from prompt_toolkit.document import Document
        from prompt_toolkit.formatted_text import StyleAndTextTuples
        from prompt_toolkit.key_binding import KeyBindings
        from prompt_toolkit.layout import BufferControl, FormattedTextControl, HSplit, Layout, VSplit, Window
    except ImportError as error:
        raise ExtraMissing("tui", "prompt_toolkit") from error
    hits: Sequence[Hit] = ()
    at, told = 0, ""

    def ask(typed: Buffer) -> None:
        nonlocal hits, at, told
        try:
            hits, at, told = search(typed.text), 0, ""
        except MemctlError as error:  # such as a filter that is not typed to its end
            hits, at, told = (), 0, error.what

    def rows() -> StyleAndTextTuples:
        lines = [f"{hit.day or '':10}  {one_line(hit.content)}  {hit.source}" for hit in hits]
        return [("reverse" if n == at else "", f"{printable(line)}\n") for n, line in enumerate(lines)] or [("", " ")]

    def below() -> str:
        return around(hits[at]) if hits else told or "nothing found"

    keys = KeyBindings()

    def move(by: int, *names: str) -> None:
        def pressed(_: object) -> None:
            nonlocal at
            at = max(0, min(at + by, len(hits) - 1))

        for name in names:
            keys.add(name)(pressed)

    for by, names in ((1, ("down", "c-n")), (-1, ("up", "c-p")), (10, ("pagedown",)), (-10, ("pageup",))):
        move(by, *names)
    keys.add("enter")(lambda event: event.app.exit(hits[at]) if hits else None)
    for name in ("escape", "c-c", "c-d"):
        keys.add(name, eager=True)(lambda event: event.app.exit(None))
    typed = Buffer(document=Document(words), multiline=False, on_text_changed=ask)
    ask(typed)
    lines = FormattedTextControl(rows, get_cursor_position=lambda: Point(0, at))
    screen = HSplit(
        [
            VSplit([Window(FormattedTextControl("> "), width=2), Window(BufferControl(typed))], height=1),
            Window(lines, always_hide_cursor=True),
            Window(char="─", height=1),
            Window(FormattedTextControl(below), height=2 * _CONTEXT + 3, wrap_lines=True),
            Window(FormattedTextControl("Enter opens · ↑ ↓ choose · Esc leaves"), height=1, style="reverse"),
        ]
    )
    app: Application[Hit | None] = Application(Layout(screen), key_bindings=keys, full_screen=True)
    return app.run()
