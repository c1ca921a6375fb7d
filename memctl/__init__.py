"""Offline memory for AI agents and people, in a folder of Markdown that they own."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .context.window import Window

__version__ = "0.1.0"
__all__ = ["Window", "__version__"]


def __getattr__(name: str) -> Any:
    """`memctl.Window`, loaded when it is first asked for: importing memctl stays cheap."""
    if name == "Window":
        from .context.window import Window

        return Window
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
