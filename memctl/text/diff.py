"""The unified diff that every `--dry-run` prints."""

from __future__ import annotations

from difflib import unified_diff

from .lines import split_lines

__all__ = ["diff"]


def diff(path: str, before: str, after: str) -> str:
    """What would change in the page, as git would show it; empty when nothing would."""
    old, new = split_lines(before), split_lines(after)
    lines = unified_diff(old, new, f"a/{path}" if before else "/dev/null", f"b/{path}", lineterm="")
    return "".join(f"{line}\n" for line in lines)
