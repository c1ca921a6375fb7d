"""Fences: what is recalled stands between two marks that nothing in it can forge, and is known again by them.

    <memory-4f7k2m9qx1>
    …
    </memory-4f7k2m9qx1>

The nonce comes from the first item of what is fenced and does not stand anywhere in it, so no text inside can close the
block. Made that way, a block is the same bytes for the same sources (which keeps a prompt's prefix stable), and one that
memctl put into a chat is told from one that somebody typed: its nonce fits.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator

from ..facts import grouped
from ..ids import ALPHABET, hashed
from ..markdown.escape import defused

MEMORY = "memory"  # the tag of what was recalled: data
CORE = "core"  # the tag of the owner's own standing pages

_TRIES = 64
_MARK = r"<(?P<name>(?:memory|core)-(?P<nonce>[0-9a-z]{10,64}))>\n|\n</(?P<end>(?:memory|core)-[0-9a-z]{10,64})>"
# What chat templates and tokenizers read as their own: `<|im_end|>`, `[/INST]`, `<end_of_turn>`, `</s>`, our marks.
_CONTROLS = (
    r"(?i:<(?=[|｜][^|｜<>\n]{0,80}[|｜]>)"
    r"|<(?=/?(?:(?:s|bos|eos|pad|unk|think|thinking|start_of_turn|end_of_turn|system|user|assistant|tool_call|tool_response|"
    r"function_calls?|human)\b|(?:core|memory)-[0-9a-z]))"
    r"|\[(?=/?(?:INST|SYS|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|SYSTEM_PROMPT)\])"
    r"|<<(?=/?SYS>>))"
)
_UNSAFE = "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]"


def fence(text: str, tag: str = MEMORY) -> str:
    """`text` between two marks with a nonce that does not stand in it."""
    nonce = next((each for each in _nonces(text) if each not in text), next(_nonces(text)))
    while nonce in text:
        nonce += _letters(text, nonce)[:4]
    return f"<{tag}-{nonce}>\n{text}\n</{tag}-{nonce}>"


def _nonces(text: str) -> Iterator[str]:
    """What a nonce may be, from the first item of a list, else the first line: more can be added below without another one."""
    lines = text.split("\n")
    seed = next((line for line in lines if line.startswith("- ")), lines[0])
    return (_letters(seed, str(salt)) for salt in range(_TRIES))


def _letters(text: str, salt: str) -> str:
    """10 letters (50 bits) of a hash."""
    number = int.from_bytes(hashed(f"{salt}\0{text.strip()}".encode("utf-8", "replace"), 8))
    return "".join(ALPHABET[number >> 5 * place & 31] for place in range(10))


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    """Where the blocks stand of which the nonce fits; those of others are text like any other. In time linear in the text."""
    if "</memory-" not in text and "</core-" not in text:
        return
    marks = list(re.finditer(_MARK, text))
    ends = grouped((mark["end"], mark) for mark in marks if mark["end"])
    begin = 0
    for mark in marks:
        if not mark["name"] or mark.start() < begin:
            continue
        closing = ends.get(mark["name"], [])
        at = bisect_left(closing, mark.end(), key=lambda end: end.start())
        if at < len(closing):
            begin = closing[at].end()
            inside = text[mark.end() : closing[at].start()]
            if mark["nonce"] not in inside and mark["nonce"] in _nonces(inside):
                yield mark.start(), begin


def fenced_blocks(text: str) -> list[str]:
    """The blocks that memctl put into a text, marks and all."""
    return [text[start:end] for start, end in _blocks(text)]


def without_fenced(text: str) -> str:
    """A text without the blocks that memctl put into it, and without the blank line that set each apart."""
    for start, end in reversed(list(_blocks(text))):
        before, after = text[:start], text[end:]
        text = before.removesuffix("\n\n") + after if before else after.removeprefix("\n\n")
    return text


def tamed(text: str) -> str:
    """Recalled text in which nothing acts: no commands, marks that a chat template would obey are spaced, invisible characters are gone."""
    return re.sub(_CONTROLS, r"\g<0> ", defused(re.sub(_UNSAFE, "", text)))
