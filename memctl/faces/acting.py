"""`memctl act` and its neighbours on the command line."""

from __future__ import annotations

import typer

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the commands of this module to the command line."""
