"""Offline memory for AI agents and people, in a folder of Markdown that they own.

import memctl
with memctl.open("~/notes") as memory:
    memory.retain("Prefers concise replies", about="Peter", confidence=0.9)
    hits = memory.recall("how does Peter like replies?", since="30d").hits
"""

TYPE_CHECKING = False  # as in typing, which a shell at TAB has no time to load
if TYPE_CHECKING:
    from typing import Any

    from .context.chat import Window as Window
    from .errors import MemctlError as MemctlError
    from .facts import Citation as Citation, Fact as Fact, Kind as Kind, Period as Period
    from .hits import Answer as Answer, Hit as Hit
    from .memory import Memory as Memory, open_memory

    open = open_memory

__version__ = "0.1.0"
_HOMES = {
    "Answer": "hits", "Citation": "facts", "Fact": "facts", "Hit": "hits", "Kind": "facts", "MemctlError": "errors",
    "Memory": "memory", "Period": "facts", "Window": "context.chat", "open": "memory",
}  # fmt: skip
__all__ = ["__version__", *_HOMES]


def __dir__() -> list[str]:
    """The public names, those too that are not loaded yet."""
    return __all__


def __getattr__(name: str) -> "Any":
    """A public name, loaded when it is first asked for: importing memctl stays cheap."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f".{_HOMES[name]}", __name__), "open_memory" if name == "open" else name)
