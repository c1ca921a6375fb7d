"""Check: lint the workspace. Reads every page again; the index only helps to find what an id or a link points at."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from ..beliefs.opinions_page import read_entries, read_last_written, unread_heads
from ..conflicts.listing import conflicts
from ..errors import MemctlError, PageUnreadable
from ..facts import Citation, Fact, grouped, is_trusted
from ..index.open_memory import OpenMemory
from ..index.queries.evidence import page_hashes
from ..index.queries.traces import tombstones
from ..index.row import PageRows
from ..index.rows import FACT_PAGES, rows_of
from ..language.names import entity_key, link_target, without_code
from ..language.secrets import find_secrets
from ..markdown.attributes import ATTRIBUTES
from ..markdown.blocks import conflict_sides
from ..markdown.escape import beginning, one_line, sources
from ..markdown.grammar import OPINIONS, QUOTED
from ..markdown.lines import Role, sealed_text
from ..markdown.markers import FORGOTTEN, block_is_edited, read_tombstone, tells_nothing
from ..markdown.page import Entry, Page, live_blocks, parse_page
from ..notes.edits import PLAIN, GitFailed, ask_git, git
from ..notes.files import read_page
from ..notes.settings import SETTINGS
from ..notes.workspace import PageFile, Workspace, ignores
from ..recall.query import read_aliases

_CITATION = re.compile(r"(?<![\w/])((?:memory|bank)/[^\s#()\[\]]+\.md)#L(\d+)(?:-L?(\d+))?")
_WIKI = re.compile(r"!?\[\[([^\[\]\n]+)\]\]")
_NEAR = 0.75  # how like a forgotten line one is that is nearly it: a word was changed


class Finding(NamedTuple):
    """Something to correct: where, by which rule, what is wrong, what to do."""

    path: str
    line: int
    column: int
    rule: str
    message: str
    cure: str


@dataclass(slots=True)
class _Pages:
    """All pages of the workspace, as far as they can be read."""

    lines: dict[str, int]
    parsed: dict[str, tuple[PageRows, Page]]
    names: set[str]
    ids: dict[str, list[tuple[str, int]]]


def check(memory: OpenMemory) -> tuple[Finding, ...]:
    """Every finding, by path and line; conflicts are those that stand today."""
    workspace = memory.workspace
    findings: list[Finding] = []
    pages = _Pages({}, {}, set(), defaultdict(list))
    for found in workspace.scan():
        findings += _load(workspace, found, pages)
    for path, (rows, page) in pages.parsed.items():
        findings += (Finding(path, line, p.column, "grammar", p.message, p.suggestion) for line, p in rows.problems)
        for entry in page.entries:
            findings += _check_entry(path, entry, pages)
        findings += _secrets(path, page)
        findings += _blocks(path, page)
    findings += _twice(pages)
    findings += _quoted(pages)
    findings += _answered_twice(pages)
    findings += _shared_aliases(pages)
    findings += _brought_back(workspace, pages)
    findings += _doubled(workspace, pages)
    findings += _aliases(workspace)
    findings += _ignores_nothing(workspace)
    cure = "`memctl resolve` decides, or says that both hold"
    for pair in conflicts(memory):
        if pair.kind == "conflict":
            path, line, *_ = pair.sides[-1].source
            findings.append(Finding(path, line, 1, "conflict", str(pair).removeprefix("conflict: "), cure))
    return tuple(sorted(findings, key=lambda f: (f.path, f.line, f.column, f.rule)))


def _aliases(workspace: Workspace) -> Iterator[Finding]:
    """The file of words that the settings name, where it cannot be followed."""
    try:
        read_aliases(workspace)
    except PageUnreadable as error:
        yield Finding(workspace.settings.aliases or "", 1, 1, "aliases", error.reason, error.cure)
    except MemctlError as error:
        yield Finding(SETTINGS, 1, 1, "aliases", f"under [recall], {error.what}", error.cure)


def _ignores_nothing(workspace: Workspace) -> Iterator[Finding]:
    """The globs of `ignore` that nothing meets, such as `templates/*` beside a folder Templates."""
    globs, root = workspace.settings.ignore, workspace.root
    paths = [path.relative_to(root).as_posix() for path in root.rglob("*")] if globs else []
    for glob in (glob for glob in globs if not any(ignores(glob, path) for path in paths)):
        near = next((path for path in paths if ignores(glob.casefold(), path.casefold())), "")
        cure = f"small and capital letters differ: {near}" if near else "correct it, or take it out"
        yield Finding(SETTINGS, 1, 1, "ignore", f"no file meets {glob!r}", cure)


def _load(workspace: Workspace, found: PageFile, pages: _Pages) -> Iterator[Finding]:
    if found.problem:
        yield Finding(found.path, 1, 1, "unreadable", found.problem, "correct, move or ignore it (memctl.toml)")
        return
    try:
        read = read_page(workspace, found.path)
    except MemctlError as error:
        reason = error.reason if isinstance(error, PageUnreadable) else error.what
        yield Finding(found.path, 1, 1, "unreadable", reason, error.cure)
        return
    if read.warning:
        yield Finding(found.path, 1, 1, "encoding", read.warning, "save it as UTF-8")
    page = parse_page(read.text, facts_everywhere=found.path in FACT_PAGES)
    rows = rows_of(found.path, read.text)
    pages.parsed[found.path] = (rows, page)
    pages.lines[found.path] = len(page.lines)
    titles = (PurePosixPath(found.path).stem, found.path.removesuffix(".md"), rows.title)
    subjects = (name for entry in page.entries if entry.fact for name in entry.fact.entities)
    pages.names |= {*map(entity_key, (*titles, *subjects)), *_keys(rows)}  # with more facts a subject gets a page
    for row in rows.rows:
        if row.block is None:
            pages.ids[row.ref].append((found.path, row.line))
        elif row.block == FORGOTTEN:
            pages.ids[row.ref] += ()  # an id that is known, and of no line
            if not tells_nothing(row.ref):
                what = "by the id of this tombstone, what was forgotten can be guessed"
                yield Finding(found.path, row.line, 1, "tombstone", what, "memctl forget --expired --apply")


def _check_entry(path: str, entry: Entry, pages: _Pages) -> Iterator[Finding]:
    line = entry.span.line
    if entry.role is not Role.CODE and entry.block is None:
        prose = without_code(entry.content)
        yield from _citations(path, line, prose, pages)
        for match in _WIKI.finditer(prose):
            target = link_target(match[1]).replace("\\/", "/")
            is_file = re.search(r"\.\w{1,5}$", target) and not target.endswith(".md")  # a picture or an attachment
            if target and entity_key(target.removesuffix(".md")) not in pages.names and not is_file:
                what = f"[[{target}]] does not lead to a page"
                yield Finding(path, line, 1, "link", what, "make the page, or correct the name")
    elif entry.role is not Role.CODE:
        yield from _links(path, line, entry.content, pages)
    if fact := entry.fact:
        yield from _attributes(path, line, fact)
        if fact.sealed and not sealed_text().fullmatch(fact.text):
            what = "the line says sealed, and its text is not a ciphertext"
            yield Finding(path, line, 1, "sealed", what, "take it out, then `memctl retain --sealed`")
        for ref in (*fact.supports, *fact.refutes, *fact.supersedes, *fact.corrects, fact.by):
            if ref and ref not in pages.ids:
                yield Finding(path, line, 1, "id", f"no line has the id ^{ref}", "`memctl recall` prints ids")


def _attributes(path: str, line: int, fact: Fact) -> Iterator[Finding]:
    known = f"known are {', '.join(each.name for each in ATTRIBUTES)}"
    for name, _ in fact.extra:
        yield Finding(path, line, 1, "attribute", f"unknown attribute {name}=", known)
    for each in ATTRIBUTES:
        if getattr(fact, each.field) not in (None, ()) and fact.kind.letter not in each.kinds:
            what = f"{each.name}= means nothing on {fact.kind.letter}"
            yield Finding(path, line, 1, "attribute", what, f"it belongs to {each.kinds}")


def _citations(path: str, line: int, text: str, pages: _Pages) -> Iterator[Finding]:
    for match in _CITATION.finditer(text):
        cited = Citation.parse(match[0])
        if cited and cited.end_line > pages.lines.get(cited.path, 0):
            what = f"has no line {cited.end_line}" if cited.path in pages.lines else "is not a page"
            yield Finding(path, line, 1, "citation", f"{cited.path} {what}", "find the line with `memctl recall`")


def _links(path: str, line: int, text: str, pages: _Pages) -> Iterator[Finding]:
    """What reflect wrote, and what changed since: a line moved on, or a page went."""
    for source in sources(text, path):
        gone = source.lines is not None and source.lines.end_line > pages.lines.get(source.path, 0)
        if gone or (source.lines is None and source.ref not in pages.ids):
            what = f"has no line {source.lines.end_line}" if source.lines else f"has no ^{source.ref}"
            what = what if source.path in pages.lines else "is not a page"
            yield Finding(path, line, 1, "citation", f"{source.path} {what}", "run `memctl reflect`")


def _brought_back(workspace: Workspace, pages: _Pages) -> Iterator[Finding]:
    """Lines that stand again though, as git knows, a tombstone took their place: a merge of two logs keeps both sides.

    So do lines with nearly the same words, into which another machine changed what was forgotten here.
    """
    held = [path for path, (_, page) in pages.parsed.items() if any(entry.forgotten for entry in page.entries)]
    asked = ["--patch", "--unified=0", "--relative", *PLAIN, "--format=", "-Gmemctl:forgotten"]
    with suppress(GitFailed):
        changes = ask_git(workspace.root, "-c", "core.quotePath=false", "log", *asked, "--", *held) if held else ""
        gone: dict[str, set[str]] = defaultdict(set)
        path = ""
        for hunk in re.split(r"^(?=diff |@@ )", changes, flags=re.MULTILINE):
            named = re.search(r"^\+\+\+ b/(.*?)\t?$", hunk, re.MULTILINE)
            path = named[1] if named else path
            before, after = ([line[1:].rstrip("\r") for line in hunk.split("\n") if line[:1] == sign] for sign in "-+")
            gone[path] |= {old for old, new in zip(before, after, strict=False) if read_tombstone(new)}
        for path in held:
            rows, page = pages.parsed[path]
            stones = {entry.span.line for entry in page.entries if entry.forgotten}
            for row in rows.rows:
                line = page.lines[row.line - 1]
                near = [line] if line in gone[path] and row.block is None else []
                if not near and row.block is None and not stones.isdisjoint(range(row.line - 2, row.line + 3)):
                    near = get_close_matches(line, gone[path], 1, _NEAR)  # a merge puts both sides together
                if near and (near[0] == line or _took_its_place(workspace.root, path, line, near[0])):
                    nearly = "" if near[0] == line else "in nearly the same words "
                    what = f"it was forgotten and is here {nearly}again: a merge keeps both sides of a log"
                    yield Finding(path, row.line, 1, "forgotten", what, f"memctl forget --id {row.ref} --apply")


def brought_back(memory: OpenMemory, known: Mapping[int, tuple[str, str]]) -> list[str]:
    """A note for each of these on pages that are not those `known`, by number and hash, to the last reflect."""
    changed = {page for page, sha in page_hashes(memory.index) if known.get(page, ("",))[0] != sha}
    pages = _Pages({}, {}, set(), defaultdict(list))
    held = {row.path for row in tombstones(memory.index) if row.page in changed}
    for found in memory.workspace.scan() if held else ():
        if found.path in held:
            list(_load(memory.workspace, found, pages))
    return [f"{one.path}#L{one.line}: {one.message}; `{one.cure}`" for one in _brought_back(memory.workspace, pages)]


def _doubled(workspace: Workspace, pages: _Pages) -> Iterator[Finding]:
    """Facts that stand on a page twice and, as git knows, were told once: a merge of two logs can double lines."""
    for path, (rows, page) in pages.parsed.items():
        first: dict[int, int] = {}
        facts = [row for row in rows.rows if row.block is None and row.role == "fact"]
        again = [(row.line, at) for row in facts if (at := first.setdefault(row.digest, row.line)) != row.line]
        if not again or not (last := git(workspace, "cat-file", "blob", f"HEAD:./{path}")):
            continue
        stands = Counter(last.splitlines())
        added = Counter((git(workspace, "log", "--no-merges", "--patch", *PLAIN, "--", path) or "").splitlines())
        for line, at in again:
            if stands[page.lines[at - 1]] > 1 and added[f"+{page.lines[at - 1]}"] == 1:
                what = f"line {at} is the same, and was told once: a merge can double lines"
                yield Finding(path, line, 1, "twice", what, "take one of them out")


def _took_its_place(root: Path, path: str, line: str, old: str) -> bool:
    """True for a line that took, as git knows, the place of another one without a tombstone."""
    came = ask_git(root, "log", "--reverse", *PLAIN, "--format=%H", f"-S{line}", "--", path).split()
    words = ("show", "--unified=0", *PLAIN, "--format=", *came[:1], "--", path)
    patch = ask_git(root, *words).replace("\r", "").split("\n") if came else []
    return {f"-{old}", f"+{line}"} <= set(patch) and not any(read_tombstone(each[1:]) for each in patch)


def _secrets(path: str, page: Page) -> Iterator[Finding]:
    text = "\n".join(page.lines)
    for secret in find_secrets(text):
        line = text.count("\n", 0, secret.start) + 1
        column = secret.start - (text.rfind("\n", 0, secret.start) + 1) + 1
        cure = "take it out, and revoke it; `memctl retain --sealed` keeps what must be kept"
        yield Finding(path, line, column, "secret", f"this looks like a {secret.name}", cure)


def _blocks(path: str, page: Page) -> Iterator[Finding]:
    """A merge that is not settled; blocks that a person's edit locked, and belief heads that a slip of the pen made unreadable."""
    first = page.lines.index(signs[0]) + 1 if (signs := [line for line in page.lines if line[:7] == "<<<<<<<"]) else 0
    in_code = any(e.role is Role.CODE and e.span.line <= first <= e.span.end_line for e in page.entries)
    if first and not in_code and conflict_sides("\n".join(page.lines)):
        cure = "keep what is right; where memctl wrote both sides, `memctl reflect` clears them away"
        yield Finding(path, first, 1, "merge", "git left both sides of a merge here", cure)
        return
    for block in live_blocks(page.lines):
        if block_is_edited(page.lines, block):
            message = f"the block `{block.name}` was edited by hand; reflect leaves it alone"
            yield Finding(path, block.begin, 1, "block", message, "take out its marker lines, or the whole block")
    if path == OPINIONS:
        text = "\n".join(page.lines)
        entries, parsed = read_entries(text)
        for ref, line in unread_heads(parsed, entries, read_last_written(text)).items():
            yield Finding(path, line, 1, "belief", f"^{ref} does not read as a belief", "correct the line")


def _twice(pages: _Pages) -> Iterator[Finding]:
    """Ids that the author gave to two lines; evidence repeats the id of what it cites, and computed ids meet in twins."""
    for ref, places in pages.ids.items():
        for path, line in () if ref.startswith("f-") else places[1:]:
            first = "{}#L{}".format(*places[0])
            yield Finding(path, line, 1, "id", f"^{ref} is taken by {first}", "give one of them another id")


def _facts(pages: _Pages) -> list[tuple[str, int, Fact]]:
    return [(path, e.span.line, e.fact) for path, (_, page) in pages.parsed.items() for e in page.entries if e.fact]


def _quoted(pages: _Pages) -> Iterator[Finding]:
    """Answers of review that others see, and that quote a line that was made private after them."""
    hidden = {beginning(one_line(fact.text), QUOTED) for _, _, fact in _facts(pages) if fact.private}
    for path, line, fact in _facts(pages):
        if fact.settles and not fact.private and any(f"“{text}”" in fact.text for text in hidden):
            yield Finding(path, line, 1, "private", "it quotes a private line", "make it private too: `- S(private, …`")


def _answered_twice(pages: _Pages) -> Iterator[Finding]:
    """Questions of review that two machines answered in two ways."""
    answers: dict[str, tuple[str, str]] = {}
    for path, line, fact in _facts(pages):
        for ref in (ref for ref in fact.settles if ref.startswith("q-") and is_trusted(fact.source)):
            first, text = answers.setdefault(ref, (f"{path}#L{line}", fact.text))
            if text != fact.text:
                what = f"{first} answers the same question in another way"
                yield Finding(path, line, 1, "answer", what, "delete the line of the answer that is wrong")


def _shared_aliases(pages: _Pages) -> Iterator[Finding]:
    bearers = grouped((key, path) for path, (rows, _) in pages.parsed.items() for key in _keys(rows))
    for key, paths in bearers.items():
        for path in paths[1:]:
            yield Finding(path, 1, 1, "alias", f"{key!r} is also a name in {paths[0]}", "keep it on one page")


def _keys(rows: PageRows) -> Iterable[str]:
    return {entity_key(name) for name in (rows.entity.name, *rows.entity.aliases)} if rows.entity else ()
