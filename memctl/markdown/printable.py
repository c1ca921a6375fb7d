"""Text that is safe to show: control characters written out, line breaks folded."""

from __future__ import annotations

import re

__all__ = ["one_line", "printable"]

# C0 and C1 controls but the tab, bidirectional and invisible characters, tags, lone surrogates: all can make a terminal
# do or show what the text does not say. A line break too: a file name may hold one, and forge a line of an answer.
_UNSAFE = re.compile(
    "[\x00-\x08\x0a-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0"
    "\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]"
)


def printable(text: str) -> str:
    """`text` with every character that could steer a terminal written out, such as `\\x1b` or `\\u202e`."""
    return _UNSAFE.sub(
        lambda match: (
            match[0].encode("unicode_escape").decode()
            if match[0] < "\ud800" or match[0] > "\udfff"
            else f"\\u{ord(match[0]):04x}"
        ),
        text,
    )


def one_line(text: str) -> str:
    """`text` with its line breaks and other white space as single spaces."""
    return " ".join(text.split())
