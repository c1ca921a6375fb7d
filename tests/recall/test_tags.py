"""Tags and links of a vault as filters of recall, and the days that front matter tells."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from face_helpers import call, write_pages

import memctl

PAGES = {
    "memory/2025-11-20.md": (
        "# 2025-11-20\n\n"
        "Chose PostgreSQL for #project/alpha over [[MongoDB]].\n\n"
        "Решили взять Redis #Проект/бета.\n\n"
        "花园里有五棵树 #花园\n\n"
        "`#code` is no tag, issue #12 neither; see [the map](../bank/World%20Map.md#Seas).\n\n"
        "```c\n#include <stdio.h>\n```\n\n"
        "## Retain\n\n- W @Atlas: The cache is Redis 7 #project\n- W(private) @Atlas: The code is hidden #project #secret\n"
    ),
    "bank/deploy.md": '---\ntags: [alpha, "#beta/x"]\ncreated: 2024-03-01\n---\n\n# Deploy\n\nUses Helm charts.\n',
    "bank/listed.md": "---\ntags: gamma, delta\nupdated: 2024-05-02\ncreated: 2024-05-01\n---\n\n# Listed\n\nBlue paint.\n",
    "bank/line.md": "#epsilon #zeta\n\n# Line\n\nGreen paint.\n",
    "bank/entities/Mongo.md": "---\naliases: [MongoDB]\ntype: tool\n---\n\n# Mongo\n\nA database.\n",
}  # fmt: skip
TAGGED = [
    ("project", {"PostgreSQL", "Redis 7"}), ("project/alpha", {"PostgreSQL"}), ("PROJECT", {"PostgreSQL", "Redis 7"}), ("proj", set()),
    ("проект", {"взять Redis"}), ("花园", {"五棵树"}), ("alpha", {"Helm"}), ("beta", {"Helm"}), ("gamma", {"Blue"}), ("delta", {"Blue"}),
    ("epsilon", {"Green"}), ("code", set()), ("include", set()), ("Seas", set()),
]  # fmt: skip


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small vault."""
    return write_pages(tmp_path_factory.mktemp("tags") / "ws", PAGES).root


def _found(root: Path, *words: str) -> str:
    done = call(["recall", *words, "--per-page", "0", "--json"], root)
    return "\n".join(hit["content"] for hit in json.loads(done.out)["hits"])


@pytest.mark.parametrize(("tag", "wanted"), TAGGED)
def test_a_tag_is_a_filter(root: Path, tag: str, wanted: set[str]) -> None:
    """Of lines and of pages; nested ones with the one above; in any script; never code, numbers or anchors."""
    words = ("PostgreSQL", "Redis 7", "взять Redis", "五棵树", "Helm", "Blue", "Green", "stdio", "the map")
    for form in (["--tag", tag], [f"tag:{tag}"]):
        found = _found(root, *form)
        assert {word for word in words if word in found} == wanted, form


def test_a_hashtag_in_a_question(root: Path) -> None:
    """A filter where it is a tag, a word where it is none, a word in quotes."""
    assert "Redis 7" in _found(root, "#project", "cache") and "взять" not in _found(root, "#project", "redis")
    assert "stdio" in _found(root, "#include") and "no tag" in _found(root, "issue #12")
    assert "alpha" in _found(root, '"#project/alpha"')
    assert call(["recall", "--tag", "12"], root).code == 2
    assert "no entry passes the filter tag:nothing" in call(["recall", "--tag", "nothing"], root).both


@pytest.mark.parametrize("page", ["MongoDB", "Mongo", "[[mongodb]]", "bank/entities/Mongo.md"])
def test_links_to_a_page(root: Path, page: str) -> None:
    """By any of its names; a Markdown link counts too, a mention in plain words does not."""
    assert _found(root, "--links-to", page) == "Chose PostgreSQL for #project/alpha over [[MongoDB]]."
    assert (
        "the map" in _found(root, "--links-to", "World Map")
        and "links-to:Nobody" in call(["recall", "links-to:Nobody"], root).both
    )


def test_the_library_takes_the_same_filters_and_others_see_no_private_tag(root: Path) -> None:
    """As lists; a tag on a private line alone is none for others."""
    with memctl.open(root) as memory:
        assert [hit.content for hit in memory.recall(tags=["project"], links_to=["Mongo"], per_page=0).hits]
        assert memory.recall(tags=["secret"], per_page=0).hits
        assert not memory.public().recall(tags=["secret"], per_page=0).hits


def test_days_of_front_matter_are_the_days_of_a_page(root: Path) -> None:
    """`created` and `date` begin it, `updated` dates it; a line's own day is worth more."""
    hits = {hit["path"]: hit for hit in json.loads(call(["recall", "paint", "Helm", "--json"], root).out)["hits"]}
    assert hits["bank/deploy.md"]["timestamp"] == "2024-03-01"
    listed = hits["bank/listed.md"]
    assert (listed["timestamp"], listed["valid"]["from"]) == ("2024-05-02", "2024-05-01")
    assert "Blue" in _found(root, "on:2024-05-02") and "Helm" not in _found(root, "since:2024-04", "until:2024-06")


def test_a_vault_in_place_says_what_is_trusted(tmp_path: Path) -> None:
    """Notes are read and trusted, hidden folders are not read, and the folder of templates is named until it is ignored."""
    pages = {"Note.md": "# Note\n\nThe boat is red.\n", "Web.md": "---\nsrc: web\n---\n\nThe boat is blue.\n"}
    pages |= {".obsidian/x.md": "The boat is hidden.\n", "Forms/day.md": "The boat is {{title}}.\n"}
    pages |= {".obsidian/templates.json": '{"folder": "Forms"}', "memory/2025-11-20.md": "- W: x\n"}
    root = write_pages(tmp_path, pages).root
    for words in (["status"], []):
        told = call(words, root).both
        assert "Obsidian's, read in place" in told and 'ignore = ["Forms/*"]' in " ".join(told.split()), told
    hits = json.loads(call(["recall", "boat", "--json"], root).out)["hits"]
    assert {hit["path"]: hit["trusted"] for hit in hits} == {"Note.md": True, "Web.md": False, "Forms/day.md": True}
    (root / "memctl.toml").write_text('ignore = ["Forms/*"]\n', "utf-8")
    assert "templates" not in call(["status"], root).both and "Obsidian" in call(["status", "--json"], root).out
    (root / ".obsidian/templates.json").write_text("[", "utf-8")
    assert "Obsidian" in call(["status"], root).both


VAULTS = {
    "en": ("Thesis", "diploma", "Acceptability of sentences in language models", "idea about probing, see [[Thesis]]", "paper"),
    "ru": ("Диссертация", "диплом", "Приемлемость предложений в моделях", "идея про пробинг, см. [[Диссертация]]", "статья"),
    "zh": ("论文", "毕业设计", "语言模型中的句子可接受性", "关于探测的想法，见[[论文]]", "文献"),
}  # fmt: skip


@pytest.mark.parametrize("language", VAULTS)
def test_front_matter_and_links_lead_to_their_page(language: str, tmp_path: Path) -> None:
    """By name, alias or value a page's own text is found, above lines that only link to it; no line of front matter is."""
    title, alias, said, link, tag = VAULTS[language]
    front = f"---\ntags:\n  - {tag}\naliases: [{alias}]\nyear: 2017\n---\n"
    pages = {f"Notes/{title}.md": f"{front}{said}\n", "bare.md": "---\nyear: 1999\n---\n# Bare\n"}
    pages |= {f"Ideas/{n}.md": f"---\ndate: 2025-10-04\n---\n{link} {n}\n" for n in range(6)}
    with memctl.open(write_pages(tmp_path, pages).root) as memory:
        for question in (title, f"{title}?", alias, f"{alias}?", "year: 2017", tag):
            assert memory.recall(question).hits[0].content == said, question
        assert memory.recall(title, k=20).hits[-1].content.startswith(link)
        assert [hit.content for hit in memory.recall("1999").hits] == ["year: 1999"]  # nothing else can be cited


def test_a_link_beside_what_is_asked_stays_above_its_page(tmp_path: Path) -> None:
    """A line that has more of the question than the name of the page that it links to answers it."""
    pages = {"ACL.md": "A conference on language.\n", "2025-11-20.md": "The deadline of [[ACL]] is 15 February.\n"}
    with memctl.open(write_pages(tmp_path, pages).root) as memory:
        assert "15 February" in memory.recall("When is the deadline of ACL?").hits[0].content
        assert "conference" in memory.recall("ACL?").hits[0].content


@pytest.mark.parametrize(
    ("older", "newer", "question"),
    [
        ("The review deadline is 15 March.", "The review deadline was moved to 22 March.", "review deadline"),
        ("Дедлайн статьи — 15 марта.", "Дедлайн статьи перенесли на 22 марта.", "дедлайн статьи"),
        ("评审会议定在3月15日。", "评审会议改到3月22日。", "评审会议"),
    ],
)
def test_a_daily_note_anywhere_replaces_in_words(older: str, newer: str, question: str, tmp_path: Path) -> None:
    """Notes of the owner are their words: the newer one stands first, and marks the older; a page without a day does not."""
    days = ("a", "Daily/15.01.2026", "Daily/2026-02-05 Thu"), ("c", "15 января 2026", "Feb 5, 2026")
    for folder, first, last in (*days, ("b", "Old", "New")):
        pages = {f"{first}.md": f"{older}\n", f"{last}.md": f"{newer}\n"}
        with memctl.open(write_pages(tmp_path / folder, pages).root, now="2026-03-01") as memory:
            hits = {hit.content: hit for hit in memory.recall(question).hits}
            assert bool(hits[older].perhaps_superseded_by) == (folder != "b")
            assert folder == "b" or [*hits] == [newer, older]
