"""Documents that a model saves under bank/: their paths, their text, and what in it may not be.

Each says in its front matter where it comes from (`src: agent`), which holds for every line of it and tells it from the
pages of a person. A document makes no facts, blocks or ids: those have commands with checks of their own.
"""

from __future__ import annotations

import re
from collections import Counter

from ..errors import OutsideWorkspace, Refused, Usage
from ..facts import is_trusted
from ..index.rows import rows_of
from ..language.names import slug
from ..language.secrets import find_secrets
from ..markdown.frontmatter import read_front_matter
from ..markdown.lines import Role, split_lines
from ..markdown.page import live_blocks, open_end, parse_page

__all__ = ["document_path", "made_by", "prepared", "with_more", "written"]

_MOST = 256 * 1024  # characters of one document
_DEEPEST = 6  # folders under bank/
_OURS = {"world", "experience", "opinions", "lessons", "proposals"}
_MODELS = {"agent", "tool", "web"}  # where a document may come from that a model saved; an imported page is a person's
_DEVICES = re.compile(r"(?i)con|prn|aux|nul|com\d|lpt\d")
_BLOCK_ID = re.compile(r"(?m)((?:^|\s)\\*)(\^[A-Za-z0-9][A-Za-z0-9-]{0,63})(?=[ \t]*$)")


def document_path(folder: str, name: str) -> str:
    """`bank/FOLDER/NAME.md` with plain names. OutsideWorkspace for what leads out, Refused for what reflect writes."""
    spelled = f"{folder}/{name}".strip("/")
    if re.match(r"\s*(?:[/\\~]+[^\s/\\]|[A-Za-z]:)", folder) or re.match(r"\s*(?:[/\\~]|[A-Za-z]:[/\\])", name):
        raise OutsideWorkspace(spelled, "is no place under bank/")
    parts = [part.strip() for part in re.split(r"[/\\]+", spelled) if part.strip()]
    if parts and parts[0].lower() == "bank":
        del parts[0]
    if any(part.startswith(".") for part in parts):
        raise OutsideWorkspace(spelled)
    if parts:
        parts[-1] = re.sub(r"(?i)\.(?:md|markdown)$", "", parts[-1])
    if not parts or not all(re.search(r"[^\W_]", part) for part in parts) or len(parts) > _DEEPEST + 1:
        raise Usage(f"{spelled[:80]!r} is no name for a document", 'folder="notes" name="A short title"')
    named = [f"{made}-doc" if _DEVICES.fullmatch(made) else made for made in map(slug, parts)]
    return f"bank/{'/'.join(named)}.md"


def _refuse_place(path: str) -> None:
    inside = path.removeprefix("bank/").removesuffix(".md").casefold()
    if inside in _OURS or inside.startswith("entities/"):
        raise Refused(f"{path} is a page that reflect writes", "save facts with SAVE_FACT, documents in another folder")


def made_by(text: str) -> str:
    """Where a page says that it comes from; `owner` if it says nothing."""
    front = read_front_matter(parse_page(text).front_matter) or {}
    source = front.get("src")
    return source if isinstance(source, str) and source else "owner"


def prepared(content: str) -> str:
    """The content as a page can hold it: plain line ends, no control characters, ids of other lines as mere text."""
    text = re.sub(r"[\x00-\x08\x0b-\x1f\x7f\ufeff\ud800-\udfff]", "", content.replace("\r\n", "\n").replace("\r", "\n"))
    text = _BLOCK_ID.sub(r"\1\\\2", text).strip("\n").rstrip()
    if not text.strip(" .…"):
        raise Usage("the document has no content", 'write it as content="…"')
    if len(text) > _MOST:
        raise Usage(f"a document of {len(text):,} characters", f"save at most {_MOST:,} at a time")
    found = find_secrets(text)
    if found:
        raise Refused(f"this looks like a {found[0].name}", "take it out and save the rest")
    return text


def written(path: str, title: str, content: str, source: str) -> str:
    """The text of a new document. Refused where it would say more than a document may."""
    _refuse_place(path)
    head = f"---\nsrc: {source}\n"
    if re.match(r"---[ \t]*\n(?s:.*?)^(?:---|\.\.\.)[ \t]*$", content, re.MULTILINE):
        text = f"{head}{content.partition(chr(10))[2]}\n"
    else:
        title = " ".join(title.split()).removesuffix(".md")
        text = f"{head}---\n{'' if content.startswith('# ') else f'# {title}{chr(10) * 2}'}{content}\n"
    _refuse_more(path, "", text, source)
    return text


def with_more(path: str, before: str, content: str, day: str, source: str) -> str:
    """What to append to a document for `content` to stand in it too, under the day; empty if it does already.

    Refused for a page that no model made, and where what is not trusted would come to stand on one that is.
    """
    _refuse_place(path)
    owner = made_by(before)
    if owner.partition(":")[0] not in _MODELS:
        raise Refused(f"{path} is there, and no model made it", "save it under another name")
    if is_trusted(owner) and not is_trusted(source):
        raise Refused(f"{path} is trusted, and this comes from {source}", "save it under another name")
    if content in before.replace("\r\n", "\n"):
        return ""
    closing = open_end(split_lines(before.removeprefix("\ufeff")))
    gap = "\n" if before.endswith("\n") else "\n\n"
    added = f"{closing + chr(10) if closing else ''}{gap}## {day}\n\n{content}\n"
    _refuse_more(path, before, before + added, owner)
    return added


def _refuse_more(path: str, before: str, after: str, source: str) -> None:
    """Refused if the page would hold new facts, blocks, tombstones, or lines that do not say where they come from."""
    old, new = rows_of(path, before), rows_of(path, after)
    more = Counter((row.role, row.digest, row.origin) for row in new.rows)
    more -= Counter((row.role, row.digest, row.origin) for row in old.rows)
    if any(role == Role.FACT.value for role, _, _ in more):
        raise Refused("the document would state facts under a heading like Retain", "save each with SAVE_FACT")
    if _markers(after) != _markers(before) or "<!-- memctl:" in after[len(before) :]:
        raise Refused("the document holds markers that memctl alone writes", "take those lines out")
    if any(origin != source for _, _, origin in more):
        raise Refused("its front matter would hide where it comes from", "leave the front matter out")


def _markers(text: str) -> list[tuple[str, str | None]]:
    return [(block.name, block.sha) for block in live_blocks(split_lines(text.removeprefix("\ufeff")))]
