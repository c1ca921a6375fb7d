"""What is private, sealed or from outside never reaches the server: its bytes are those of a workspace without these lines."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from face_helpers import memory_on, write_pages
from hypothesis import HealthCheck, given, settings, strategies as st
from postgres import Postgres
from strategies import examples

from memctl.markdown.private import outside_lines_of_text, without_lines

WORDS = ("zanzibarite", "тайнослов", "秘藏鲸鱼")
"""Words that only hidden lines hold, in three languages."""
FLAGS = ("private", "sealed", "src=web", "src=tool:shell", 'src="import:old notes"', "src=web:example.com")
SPELLINGS = (
    "- W({flag}) @Peter: {said}", "* O(c=0.9, {flag}, i=1) @Ирина: {said}", "+ B（{flag}） @爱丽丝： {said}",
    '- W(task="a: (b)", {flag}) @X: {said}', "1. S({flag}): {said}", "> - W({flag}): {said}", "- [ ] W({flag}): {said}",
    "  - W(key=db,{flag}): {said}", "- W({flag}, c=zz: {said}", "- w( {flag} ) @X: {said}", "W({flag}): {said}",
    "- W({flag}) @X:\n  {said}", "- W(key=db,\n  {flag}) @X: {said}", "- W({flag}): x\n  - a child: {said}",
    "- W({flag}): x\n  - a child:\n    - and its own: {said}", "- W({flag}): x\n\n  another paragraph: {said}",
    "<!-- W({flag}): {said} -->", "```\n- W({flag}): {said}\n```", "- W({flag}) {said}",
)  # fmt: skip
OPEN = (
    "- W @Peter: likes short replies", "- O(0.9) @Ирина: читает отчёты по утрам", "- W(key=city) @爱丽丝: 住在北京", "A paragraph about harbours.",
    "- a private matter, said openly", "- W(src=user) @Peter: moved to Lisbon", "- W(src=agent): deployed v1.2.3", "| a | b |", "## Retain",
)  # fmt: skip
BLOCKS = st.one_of(
    st.sampled_from(OPEN).map(lambda line: (line, line)),
    st.builds(
        lambda spelling, flag, said: (text := spelling.format(flag=flag, said=said), "\n" * text.count("\n")),
        st.sampled_from(SPELLINGS), st.sampled_from(FLAGS), st.sampled_from(WORDS),
    ),
)  # fmt: skip


def stored(server: Postgres) -> tuple[Any, ...]:
    """Every byte that came from the pages of who published."""
    pages = "SELECT workspace, path, team, revision, digest, content, head, terms FROM memctl.pages ORDER BY 1, 2"
    row = "SELECT workspace, team, revision, removed, head, analysis, ttl FROM memctl.workspaces ORDER BY 1"
    return server.sql(pages), server.sql(row)


def published(server: Postgres, folder: Path, pages: Mapping[str, str]) -> tuple[Any, ...]:
    """What the server holds after a workspace with these pages was published, and nothing else."""
    server.sql("TRUNCATE memctl.workspaces CASCADE")
    with memory_on(write_pages(folder, pages)) as memory:
        memory.shared(server.url("alice")).publish("notes", team="atlas")
    return stored(server)


@given(st.lists(BLOCKS, min_size=1, max_size=8), st.lists(BLOCKS, max_size=4))
@settings(max_examples=examples(300, 25), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_bytes_are_those_without_these_lines(
    server: Postgres, log: list[tuple[str, str]], page: list[tuple[str, str]]
) -> None:
    """Whatever the spelling, the flag and the language; terms, digests and revisions too."""
    stores = []
    for side in (0, 1):
        folder = Path(tempfile.mkdtemp())
        pages = {"memory/2025-11-27.md": "# Day\n\n## Retain\n\n", "bank/world.md": "# World\n\n"}
        texts = zip(pages.items(), (log, page), strict=True)
        whole = {
            path: head + "\n\n".join(block[side] for block in blocks) + "\n\nend\n" for (path, head), blocks in texts
        }
        stores.append(published(server, folder, whole))
        shutil.rmtree(folder)
    assert stores[0] == stores[1]
    assert not [word for word in WORDS if word in bytes_of(stores[0])]


def bytes_of(store: tuple[Any, ...]) -> str:
    """All of it as text."""
    values = [value for rows in store for row in rows for value in row]
    return "\n".join(
        each.decode(errors="backslashreplace") if isinstance(each, bytes) else str(each) for each in values
    )


@pytest.mark.parametrize(
    "front",
    ["src: web", 'src: "tool:shell"', "'src': import", "src: web\nbroken: [", "title: x\nsrc:  web:example.com"],
)
def test_a_page_from_outside_is_not_sent(server: Postgres, tmp_path: Path, front: str) -> None:
    """Not a word of it, and not its name."""
    plain = {"memory/2025-11-27.md": "- W: stays\n"}
    outside = {"bank/zanzibarite.md": f"---\n{front}\n---\n# Whale\n\nтайнослов\n"}
    assert published(server, tmp_path / "a", plain | outside) == published(server, tmp_path / "b", plain)


def test_a_page_of_hidden_lines_alone_is_not_sent(server: Postgres, tmp_path: Path) -> None:
    """Its name may tell as much as its lines."""
    plain = {"memory/2025-11-27.md": "- W: stays\n"}
    hidden = {"memory/2025-11-28-zanzibarite.md": "- W(private): x\n- W(src=web): y\n"}
    a = published(server, tmp_path / "a", plain | hidden)
    assert [row[1] for row in a[0]] == ["memory/2025-11-27.md", "memory/2025-11-28-zanzibarite.md"]  # its heading stays
    (tmp_path / "c" / "memory").mkdir(parents=True)
    (tmp_path / "c" / "memory" / "zanzibarite.md").write_text("- W(private): x\n\n- W(src=web): y\n")
    b = published(server, tmp_path / "c", plain)
    assert [row[1] for row in b[0]] == ["memory/2025-11-27.md"]


@pytest.mark.parametrize("name", ["Oncologist-Zebra", "Онколог-Зебра", "肿瘤科医生"])
def test_a_name_that_only_hidden_lines_have_is_not_sent(server: Postgres, tmp_path: Path, name: str) -> None:
    """Reflect made its page and named it on others; then the lines turned private, and reflect ran once more or did not."""
    path, day = "memory/2025-11-27.md", "# Day\n\n## Retain\n\n{}\n{}\n- W @Anna: Dives\n- W @Anna: Sings\n{}\n"
    lines = [f"- W @{name}: Likes tea", f"- W @{name}: Sees @Anna", f"- W @Anna: Visits @{name} ^seen"]
    workspace = write_pages(tmp_path / "w", {path: day.format(*lines)})
    memory = memory_on(workspace)
    memory.reflect()
    assert name in bytes_of(published(server, workspace.root, {}))
    hidden = [line.replace("- W", "- W(private)") for line in lines]
    for has_seen in (False, True):
        told = bytes_of(published(server, workspace.root, {path: day.format(*hidden)}))
        assert name.split("-")[0].lower() not in told.lower() and "Sings" in told
        assert ("sha=" in told) is has_seen  # the hash of a block that lost a line would prove a guess of it
        assert [row[1] for row in stored(server)[0]] == ["bank/entities/Anna.md", path]
        memory.reflect()
    assert (workspace.root / f"bank/entities/{name}.md").exists()  # the owner's


def test_what_a_private_line_ended_is_missing_from_pages_of_the_bank(server: Postgres, tmp_path: Path) -> None:
    """They are the owner's, and docs/threat-model.md says so; its log has the older line, and what others ask is judged without."""
    log = "- W(key=db) @Atlas: uses Postgres\n- W @Atlas: is big\n- W @Atlas: is old\n"
    workspace = write_pages(tmp_path, {"memory/2025-11-26.md": log})
    memory = memory_on(
        write_pages(tmp_path, {"memory/2025-11-27.md": "- W(key=db, private) @Atlas: uses zanzibarite\n"})
    )
    memory.reflect()
    pages = {row[1]: bytes_of(((row,),)) for row in published(server, workspace.root, {})[0]}
    assert "uses Postgres" not in pages["bank/entities/Atlas.md"] and "is big" in pages["bank/entities/Atlas.md"]
    assert "uses Postgres" in pages["memory/2025-11-26.md"] and "zanzibarite" not in str(pages)
    assert [hit.content for hit in memory.public().fact("db", "Atlas")] == ["uses Postgres"]


def test_what_cites_a_hidden_line_goes_with_it(server: Postgres, tmp_path: Path) -> None:
    """Evidence and copies, on any page."""
    opinions = (
        "# Opinions\n\n- O(c=0.9) @Peter: likes {}\n  - 2025-11-27 · stated 0.90 · [memory/2025-11-27.md#L3](../memory/2025-11-27.md#L3) ^f-hidden01\n"
        "- O(c=0.9) @Peter: likes tea ^o-open0001\n"
    )
    for flag in ("private", "src=web"):
        log = f"## Retain\n\n- O(0.9,{flag}) @Peter: likes zanzibarite ^f-hidden01\n- O(0.9) @Peter: likes tea ^f-open0001\n"
        pages = {"memory/2025-11-27.md": log, "bank/opinions.md": opinions.format("zanzibarite")}
        told = bytes_of(published(server, tmp_path / flag[:3], pages))
        assert "zanzibarite" not in told and "f-hidden01" not in told
        assert "likes tea ^o-open0001" in told


def test_what_looks_like_a_secret_is_not_sent(server: Postgres, tmp_path: Path) -> None:
    """A credential that slipped into a page stays on this machine, and the publisher hears of it."""
    key = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    log = f"- W: stays\n- W: the token is {key}\n- W: остаётся\n"
    with memory_on(write_pages(tmp_path, {"memory/2025-11-27.md": log})) as memory:
        done = memory.shared(server.url("alice")).publish("notes")
    told = bytes_of(stored(server))
    assert key not in told and "stays" in told and "остаётся" in told
    assert done.notes == ("1 line not sent: `memctl check` says what looks like a secret there",)


@pytest.mark.parametrize(
    "line",
    [
        "- W(src=user) @X: a",
        '- W(task="of src") @X: src=web is a flag',
        "the source (src=web) of it: x",
        "- W: src: web",
    ],
)
def test_what_is_not_from_outside(line: str) -> None:
    """The words alone make no line one from outside."""
    text = f"## Retain\n\n{line}\n"
    assert without_lines(text, outside_lines_of_text(text) or ()) == text
