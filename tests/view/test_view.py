"""Timelines, graphs and pages: what is drawn, what is escaped, what is left out, and who may look at it over HTTP."""

from __future__ import annotations

import os
import re
import sys
from datetime import date
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import pytest
from face_helpers import call, memory_on, reflected_copy, write_pages
from http_helpers import request, serve_process

from memctl.memory import Memory
from memctl.view import site as view_site

HOSTILE = {
    "memory/2025-11-01.md": "# <script>alert(1)</script>\n\n## Retain\n\n- W(key=city) @Eve: Lives in </script><img src=x onerror=alert(1)>.\n"
    "- B @Eve: Met [[<svg/onload=alert(2)>]] and [a](javascript:alert(3)).\n- W(private) @Eve: Secret word xyzzy.\n",
    "bank/entities/Eve.md": '---\naliases: ["\\"><script>alert(4)</script>", "{{ 7 * 7 }}"]\ntype: <b>\n---\n# Eve\n',
    "bank/javascript:alert(5).md": "# </title><script>alert(6)</script>\n\nEve was here.\n",
    "bank/opinions.md": "# Opinions\n\n- O(c=0.60) @Eve: Likes <b>bold</b> claims. ^o-aaaaaaaa\n"
    "  - 2025-11-01 · stated 0.80 · [memory/2025-11-01.md#L5](../memory/2025-11-01.md#L5) ^f-1\n  - 2025-11-02 · set 0.60 · by hand\n",
}


class Tags(HTMLParser):
    """The tags of a page with their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def written(memory: Memory, folder: Path) -> dict[str, str]:
    """The pages of a whole site, by path."""
    memory.pictures().write(folder)
    return {path.relative_to(folder).as_posix(): path.read_text("utf-8") for path in folder.rglob("*.*")}


def test_nothing_in_a_page_is_more_than_text(tmp_path: Path) -> None:
    """Whatever a line, a name, a title or a path says, no page has a script, a handler, a style of its own or a foreign address."""
    pages = written(memory_on(write_pages(tmp_path / "w", HOSTILE)), tmp_path / "out")
    assert sum("alert(1)" in text for text in pages.values()) > 1, "the hostile lines are shown"
    for path, text in pages.items():
        for tag, attributes in Tags(text).found if path.endswith(".html") else ():
            assert tag not in ("script", "style", "img", "iframe", "object", "base", "svg/onload=alert(2)"), path
            assert not any(name.startswith("on") or name == "style" for name in attributes), (path, tag, attributes)
            for name in ("href", "src", "action", "xlink:href"):
                assert re.match(r"(?:\.\./)?[\w/-]*(?:\.html|\.css)?(?:#|$)", attributes.get(name) or ""), attributes
        assert "49" not in re.findall(r"Also .*", text)[:1], "a name is no template"
        assert "//" not in re.sub(r"http://www\.w3\.org/[\w/]+", "", text) or path.startswith("lines/"), path


def test_private_lines_are_in_no_page(tmp_path: Path) -> None:
    """The pages are those of the public view."""
    pages = written(memory_on(write_pages(tmp_path / "w", HOSTILE)), tmp_path / "out")
    assert not [path for path, text in pages.items() if "xyzzy" in text]


def test_every_link_leads_to_a_line(tmp_path: Path) -> None:
    """A link of any page leads to a page that was written, and to an id in it."""
    busy = {"memory/2025-11-29.md": "- B @Alice: Heard an owl\n" * 12}
    memory = memory_on(write_pages(reflected_copy(tmp_path), busy), date(2025, 11, 30))
    memory.reflect()  # which writes a digest of such a week
    pages = written(memory, tmp_path / "out")
    assert 'href="lines/2025-11.html#' in pages["digest.html"], "what a week tells leads to its lines"
    ids = {path: {attributes.get("id") for _, attributes in Tags(text).found} for path, text in pages.items()}
    count = 0
    for path, text in pages.items():
        for _, attributes in Tags(text).found if path.endswith(".html") else ():
            target, _, anchor = (attributes.get("href") or attributes.get("xlink:href") or "").partition("#")
            if target or anchor:
                there = os.path.normpath(Path(path).parent / target) if target else path
                assert there in pages, (path, target)
                assert not anchor or anchor in ids[there], (path, target, anchor)
                count += 1
    assert count > 300


def test_a_large_memory_is_cut_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over the bounds the newest lines and the most mentioned names have pages, and each page says what is left out."""
    names = {f"2025-{m:02}-0{d}": f"{m}x{d}" for m in range(1, 10) for d in range(1, 9)}
    days = {f"memory/{day}.md": f"- W @Name{name}: Said {'much ' * 40}\n" for day, name in names.items()}
    monkeypatch.setattr(view_site, "MOST_BYTES", 30_000)
    monkeypatch.setattr(view_site, "MOST_ENTITIES", 5)
    monkeypatch.setattr(view_site, "NAMES", 10)
    monkeypatch.setattr(view_site, "MOST_BELIEFS", 2)
    days["bank/opinions.md"] = "".join(f"- O(c=0.{n}) @Eve: Likes {n} ^o-aaaaaaa{n}\n" for n in range(5, 9))
    pages = written(memory_on(write_pages(tmp_path / "w", days)), tmp_path / "out")
    assert "lines/2025-09.html" in pages and "lines/2025-01.html" not in pages
    assert len([path for path in pages if path.startswith("entity/")]) == 5
    assert "2025-01 (left out)" in pages["days.html"] and "older months" in pages["index.html"]
    assert pages["beliefs.html"].count("Likes 8") == 1 and "Likes 6" not in pages["beliefs.html"]
    assert "2 beliefs, the least firm" in pages["beliefs.html"]
    assert 'href="entities-2.html"' in pages["entities.html"] and "entities-8.html" in pages


def test_pages_stand_in_place_of_those_of_an_earlier_view_and_of_nothing_else(tmp_path: Path) -> None:
    lines = {f"memory/2025-{month:02}-01.md": f"- W: Heron {month}\n" for month in (10, 11)}
    workspace, out = write_pages(tmp_path / "w", lines), tmp_path / "out"
    assert any("Heron 10" in page for page in written(memory_on(workspace), out).values())
    (workspace.root / "memory/2025-10-01.md").unlink()
    assert not any("Heron 10" in page for page in written(memory_on(workspace), out).values())
    for mine in ("index.html", "lines/my.html"):
        (out / mine).write_text("mine")
        done = call(["view", "--out", str(out)], workspace.root)
        assert done.code == 2 and "not a page of a view" in done.err and (out / mine).read_text() == "mine"
        (out / mine).unlink()
    (out / "folder.html").mkdir()
    for folder in (out, workspace.root / "memory/2025-11-01.md"):
        assert call(["view", "--out", str(folder)], workspace.root).code == 2


def test_pictures_are_svg_and_without_scripts(tmp_path: Path) -> None:
    """A picture of its own is one XML document, with labels escaped and nothing that runs."""
    memory = memory_on(write_pages(tmp_path / "w", HOSTILE))
    for drawn in (memory.timeline("Eve"), memory.graph("Eve"), memory.timeline()):
        root = ElementTree.fromstring(memory.pictures().svg(drawn))
        assert not [node for node in root.iter() if str(node.tag).endswith("script")]
        assert not [value for node in root.iter() for value in node.attrib.values() if value.startswith("javascript")]


def test_a_graph_in_mermaid_escapes_names(tmp_path: Path) -> None:
    """No name ends its label or opens a tag."""
    text = memory_on(write_pages(tmp_path / "w", HOSTILE)).graph("Eve").as_mermaid()
    assert not set(re.sub(r"^ *(?:n\d+\[\"|n\d+ ---).*?$|^graph LR$", "", text, flags=re.M).strip())
    assert "<" not in text and "&" not in text


def test_without_the_extra_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit code 16 and the command; text needs nothing."""
    root = write_pages(tmp_path / "w", HOSTILE).root
    drawing = ("pygal", "memctl.view.charts", "memctl.view.site")
    for module in [name for name in sys.modules if name.startswith(drawing)]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, "pygal", None)
    for words in (["view", "--out", "o"], ["timeline", "@Eve", "--svg", "-"], ["graph", "@Eve", "--svg", "-"]):
        done = call(words, root)
        assert done.code == 16 and "pip install 'memctl-workspace[view]'" in done.err, done.both
    assert call(["timeline", "@Eve"], root).code == call(["graph", "@Eve"], root).code == 0


@pytest.mark.parametrize("lacking", ["uvicorn", "uvicorn jinja2", "jinja2"])
def test_no_link_where_nothing_can_answer_it(lacking: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit code 16 and the command; files need no server."""
    root = write_pages(tmp_path / "w", HOSTILE).root
    assert call(["view"], root).out.startswith("http://127.0.0.1:7733/view/login?key=")
    for module in lacking.split():
        monkeypatch.setitem(sys.modules, module, None)
    extras, done = lacking.replace(" ", ",").replace("uvicorn", "serve").replace("jinja2", "view"), call(["view"], root)
    assert (done.code, done.out) == (16, "") and f"pip install 'memctl-workspace[{extras}]'" in done.err
    if lacking == "uvicorn":
        assert call(["view", "--out", str(tmp_path / "out")], root).code == 0


def test_pages_over_http_need_the_link(tmp_path: Path) -> None:
    """The link gives a cookie that no script reads; the cookie opens pages and no verb; nothing opens pages without it."""
    root = write_pages(tmp_path / "w", HOSTILE).root
    link = call(["view", "-q"], root).out.strip().partition("7733")[2]
    with serve_process(root) as (_, server):
        host = {"Host": f"127.0.0.1:{server.port}"}

        def get(path: str, **more: str) -> tuple[int, bytes, str]:
            reply = server.send(request("GET", path, host | more))
            return reply.status, reply.body, reply.headers.get("set-cookie", "")

        status, _, cookie = get(link)
        assert status == 200 and "HttpOnly" in cookie and "SameSite=Strict" in cookie and "Path=/view" in cookie
        known = {"Cookie": cookie.partition(";")[0]}
        assert server.token not in cookie
        for page in ("index.html", "search.html?q=lives", "view.css", "beliefs.html", "review.html"):
            path = f"/view/{page}"
            assert get(path, **known)[0] == 200 and get(path)[0] == 401, path
            assert b"xyzzy" not in get(path, **known)[1]
        assert b"Lives in" in get("/view/search.html?q=lives", **known)[1]
        assert get("/view/login?key=" + "0" * 64)[0] == 401
        assert get("/view/index.html", Cookie="memctl_view=" + "0" * 64)[0] == 401
        assert get("/stats", **known)[0] == 401
        assert get("/view/index.html", **known, Origin="http://evil.example")[0] == 403
        assert get("/view/lines/../../token", **known)[0] == get("/view/nothing.html", **known)[0] == 404
        assert server.send(request("POST", "/view/index.html", host | known)).status == 405


def test_what_a_timeline_does_not_draw_is_said(tmp_path: Path) -> None:
    """An entity's slots come from its newest 60 facts; on no more nothing is left out."""
    told = [f"- W(key=mood, from=2025-{at // 28 + 1:02}-{at % 28 + 1:02}) @Eve: Mood {at}.\n" for at in range(61)]
    for count, left in ((60, ()), (61, ("slot facts older than the newest 60",))):
        workspace = write_pages(tmp_path / str(count), {"memory/2025-11-01.md": "".join(told[:count])})
        found = memory_on(workspace).timeline("Eve")
        assert (len(found.slots[0].versions), found.left_out) == (60, left)
    assert found.slots[0].versions[-1].content == "Mood 60."


def test_what_happened_before_the_first_day_of_a_timeline_has_a_mark_of_its_own(tmp_path: Path) -> None:
    """It would press all others into a corner, were the picture to begin with it."""
    long_ago = "- B(t=2009-03-05) @Eve: Was born.\n- B @Eve: Sang.\n- B(t=2025-11-09) @Eve: Slept.\n- B(key=pet) @Al: Got a cat.\n"
    root = write_pages(tmp_path, {"memory/2025-11-05.md": long_ago}).root
    assert call(["timeline", "@Eve"], root).out.splitlines()[1].split() == ["happened", "‹", "·"]
    assert call(["timeline", "@Eve", "--since", "2008"], root).out.splitlines()[1].split() == ["happened", "·", ":"]
    assert call(["timeline", "@Al"], root).out.count("Got a cat.") == 2  # a bar and its line: no event beside them


@pytest.mark.parametrize(
    "told",
    [
        ("lasts 280 h", "lasts 410 h", "lasts 500 h"),
        ("работает 280 ч", "работает 410 ч", "работает 500 ч"),
        ("能用280小时", "能用410小时", "能用500小时"),
    ],
)
def test_a_timeline_draws_what_was_replaced_by_answers(told: tuple[str, ...], tmp_path: Path) -> None:
    """Lines that fill no slot, each with its days; one that was never true is none of them, nor what is private to others."""
    lines = [f"## Retain\n\n- W @NJ-01: {text} ^f-{at}\n" for at, text in enumerate(told)]
    answer = "## Retain\n\n- S(supersedes=f-{},by=f-{}) @NJ-01: replaced\n"
    wrong = "- W @NJ-01: zzz ^f-9\n- S(corrects=f-9) @NJ-01: never\n"
    pages = {f"memory/2025-0{at + 3}-01.md": line for at, line in enumerate(lines)}
    pages |= {"memory/2025-04-02.md": answer.format(0, 1), "memory/2025-05-02.md": answer.format(1, 2) + wrong}
    found = memory_on(write_pages(tmp_path / "w", pages)).timeline("NJ-01")
    drawn = [(hit.content, str(hit.valid)) for row in found.slots for hit in row.versions]
    assert drawn == list(zip(told, ("2025-03", "2025-04", "2025-05-01.."), strict=True)) and found.is_drawn
    assert [row.label(found.about) for row in found.slots] == ["changed"]
