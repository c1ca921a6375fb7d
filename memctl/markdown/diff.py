"""The unified diff that every `--dry-run` prints."""

from __future__ import annotations

import re
from difflib import unified_diff

__all__ = ["diff"]


def diff(path: str, before: str, after: str) -> str:
    """What would change in the page, as git shows it and applies it; empty when nothing would."""
    old, new = (re.findall(r"[^\n]*\n|[^\n]+", text) for text in (before, after))
    lines = unified_diff(old, new, f"a/{path}" if before else "/dev/null", f"b/{path}")
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
