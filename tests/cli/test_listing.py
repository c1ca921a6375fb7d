"""What is listed and shown: several references, globs and ranges, folders with descriptions, entities by type, lessons by task."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest
from face_helpers import call, write_pages

import memctl

LOG = "memory/2025-11-20.md"
PAGES = {
    LOG: (
        "# 2025-11-20\n\n## Retain\n\n"
        "- B(outcome=fail, task=deploy Atlas, why=the disk was full): Copied files straight to production\n"
        "- B(outcome=fail, task=deploy Atlas, why=disk was full): Copied files straight to production\n"
        "- B(outcome=fail, task=deploy Atlas, why=no backup): Copied files straight to production\n"
        "- B(outcome=ok, task=deploy Atlas): Used a blue and a green side\n"
        "- B(outcome=fail, task=развернуть Птицу, why=кончилось место): Копировали файлы сразу на сервер\n"
        "- B(outcome=fail, task=развернуть Птицу, why=кончилось место): Копировали файлы сразу на сервер\n"
        "- B(outcome=fail, task=部署网关, why=磁盘满了): 直接把文件复制到服务器\n"
        "- B(outcome=fail, task=部署网关, why=磁盘满了): 直接把文件复制到服务器\n"
    ),
    "memory/2025-11-21.md": "# 2025-11-21\n\nOne.\nTwo.\n",
    "bank/decisions/index.md": "---\ndescription: Почему так решено\n---\n\n# Решения\n",
    "bank/decisions/db.md": "---\ndescription: 为什么选 PostgreSQL\n---\n\n# Database\n\nRows.\n",
    "bank/plain.md": "# Plain\n\nNo front matter.\n",
    "bank/broken.md": "---\ndescription: [a\n---\n\n# Broken\n",
    "bank/entities/Anna.md": "---\ntype: person\n---\n\n# Anna\n\nA friend.\n",
    "bank/entities/Alex Chen.md": "---\ntype: person\n---\n\n# Alex Chen\n\nA neighbour.\n",
    "bank/entities/Atlas.md": "---\ntype: project\n---\n\n# Atlas\n\nA map.\n",
}  # fmt: skip


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small workspace."""
    return write_pages(tmp_path_factory.mktemp("listing") / "ws", PAGES).root


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ([f"{LOG}#L1-L3", "memory/2025-11-21.md#L3"], [f"{LOG}#L1-L3", "memory/2025-11-21.md#L3"]),
        (["memory/2025-11-2*.md"], [f"{LOG}#L1-L12", "memory/2025-11-21.md#L1-L4"]),
        (["bank/decisions/", "x"], None),
        (["Alex", "Chen"], ["bank/entities/Alex Chen.md#L1-L7"]),
        (["Alex Chen", "Anna"], ["bank/entities/Alex Chen.md#L1-L7", "bank/entities/Anna.md#L1-L7"]),
        (["bank/entities/Alex", "Chen.md#L5"], ["bank/entities/Alex Chen.md#L5"]),
        (["memory/2030*"], None),
    ],
)
def test_show_takes_several(root: Path, words: list[str], shown: list[str] | None) -> None:
    """References, ranges and globs; a name or a path with spaces may come in pieces."""
    done = call(["show", *words, "--json"], root)
    if shown is None:
        assert done.code == 1 and "nothing is named" in done.err and not done.out
    else:
        assert [each["source"] for each in json.loads(done.out)["passages"]] == shown
        with memctl.open(root) as memory:
            assert [str(each.citation) for each in memory.show(words)] == shown


@pytest.mark.parametrize("name", ["Lena", "@Лена", "[[王伟]]"])
def test_a_name_without_a_page(tmp_path: Path, name: str) -> None:
    bare = name.strip("@[]")
    call(["init", str(tmp_path)], tmp_path)
    call(["retain", "tea", "--about", bare], tmp_path)
    for verb in ("show", "open"):
        done = call([verb, name], tmp_path)
        assert done.code == 1 and f"{bare!r} has no page yet\n  `memctl recall` finds" in done.err, done.err
    assert "tea" in call(["entity", "show", bare], tmp_path).out
    assert "did you mean" in call(["show", f"{bare}{bare[-1]}"], tmp_path).err or bare == "王伟"


VAULT = {
    "Проекты/Ночная смена.md": "# Shift\n\nCrane.\n",
    "笔记/王伟.md": "# 王先生\n\nGate.\n",
    "a/Pier 4.md": "# Pier\n\nMooring.\n",
    "b/pier 4.md": "# Pier 4\n\nMooring too.\n",
    "Daily/2025-11-27.md": "Seen [[Pier 4]].\n\n| berth | ship |\n|---|---|\n| four | Dumpling |\n",
}


@pytest.mark.parametrize(
    ("name", "paths"),
    [
        ("Ночная смена", ["Проекты/Ночная смена.md"]),
        ("[[ночная смена#Crane|the shift]]", ["Проекты/Ночная смена.md"]),
        ("王伟", ["笔记/王伟.md"]),
        ("王先生", ["笔记/王伟.md"]),
        ("Pier 4", ["a/Pier 4.md", "b/pier 4.md"]),
        ("Pier", ["a/Pier 4.md"]),
        ("2025-11-27", ["Daily/2025-11-27.md"]),
    ],
)
def test_a_page_is_found_by_its_name_in_any_folder(tmp_path: Path, name: str, paths: list[str]) -> None:
    """As a wiki link finds it: by the name of its file, without one by its title."""
    with memctl.open(write_pages(tmp_path / "vault", VAULT).root) as memory:
        assert [passage.citation.path for passage in memory.show([name])] == paths


def test_a_day_of_notes_alone(tmp_path: Path) -> None:
    """`recall` promises no more lines than there are; `log`, which tells facts, says that there are notes."""
    root = write_pages(tmp_path / "vault", VAULT).root
    assert "more line" not in call(["recall", "--on", "2025-11-27"], root).err
    done = call(["log", "2025-11-27"], root)
    assert done.code == 1 and "no fact was written down then; `memctl recall --since 2025-11-27" in done.err


@pytest.mark.parametrize(
    "texts",
    [("Moors at Pier 2", "Moors at Pier 4"), ("Стоит у причала 2", "Стоит у причала 4"), ("停在2号", "停在4号")],
)
def test_markdown_says_what_was_replaced(tmp_path: Path, texts: tuple[str, str]) -> None:
    days = {f"memory/2025-11-{day:02}.md": f"- W(key=berth) @Heron: {text}\n" for day, text in enumerate(texts, 1)}
    newer, older = call(["recall", "@Heron", "-f", "md"], write_pages(tmp_path / "w", days).root).out.splitlines()
    assert texts[1] in newer and "replaced" not in newer
    assert texts[0] in older and " · until 2025-11-01, replaced by ^f-" in older


def test_json_says_its_schema(root: Path, tmp_path: Path) -> None:
    """And is printed beside a picture that is written to a file."""
    call(["init", str(tmp_path / "w")], root)
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes/one.md").write_text("# One\n")
    picture = tmp_path / "anna.svg"
    for words in (
        ["init", "."], ["view", "--out", str(tmp_path / "out")], ["timeline", "--svg", str(picture)],
        ["import", str(tmp_path / "notes"), "--from", "obsidian"],
    ):  # fmt: skip
        assert json.loads(call([*words, "--json"], tmp_path / "w").out)["schema"] == 1, words
    assert picture.read_text().startswith("<svg")
    assert call(["graph", "Anna", "--svg", "-", "--json"], root).code == 2
    assert call(["import", "nowhere"], root).code == call(["act", "nowhere"], root).code == 13


def test_a_range_that_ends_before_it_begins(root: Path) -> None:
    done = call(["show", f"{LOG}#L9-L3"], root)
    assert done.code == 2 and "ends before it begins\n  write #L3-L9" in done.err


def test_docs_of_a_folder(root: Path) -> None:
    """Pages, then folders with what their index page says; a page without a description has none."""
    told = json.loads(call(["docs", "bank", "--json"], root).out)["documents"]
    assert [(each["path"], each["description"], each["pages"]) for each in told] == [
        ("bank/broken.md", "", None), ("bank/plain.md", "", None), ("bank/decisions/", "Почему так решено", 2), ("bank/entities/", "", 3),
    ]  # fmt: skip
    assert "为什么选 PostgreSQL" in call(["docs", "bank/decisions/"], root).out
    assert call(["docs", "nowhere"], root).code == 1 and call(["docs", ".."], root).code == 11
    with memctl.open(root) as memory:
        assert [each.path for each in memory.documents()] == ["bank/", "memory/"]


def test_entities_of_a_type(root: Path) -> None:
    listed = json.loads(call(["entity", "list", "--type", "Person", "--json"], root).out)["entities"]
    assert sorted(each["name"] for each in listed) == ["Alex Chen", "Anna"]
    done = call(["entity", "list", "--type", "bird"], root)
    assert done.code == 1 and "the types are person, project" in done.err


@pytest.mark.parametrize(
    ("task", "way", "reason"),
    [("deploy Atlas", "Copied files", "disk was full (2 times); no backup"), ("развернуть Птицу", "Копировали", "кончилось место (2 times)"),
     ("部署网关", "直接把文件", "磁盘满了 (2 times)")],
)  # fmt: skip
def test_lessons_name_what_to_avoid(root: Path, task: str, way: str, reason: str) -> None:
    """By the command, the library, and in the context of a message about that task."""
    told = call(["lessons", "--task", task], root).out
    assert f"avoid: {way}" in told and reason in told, told
    with memctl.open(root) as memory:
        (found,) = memory.lessons(task)
        assert found.strategies[0].is_to_avoid or len(found.strategies) > 1
        lines = [item.line for item in memory.context(f"{task}?").items if "avoid: " in item.line]
    assert any(way in line and reason.partition(" (")[0] in line for line in lines), lines


def test_lessons_of_no_task(root: Path) -> None:
    done = call(["lessons", "--task", "zebra"], root)
    assert (done.code, done.out) == (1, "") and "no two outcomes of zebra are known" in done.err
    made = json.loads(call(["lessons", "--json"], root).out)
    assert {each["task"] for each in made["tasks"]} == {"deploy Atlas", "развернуть Птицу", "部署网关"}
    way = made["tasks"][0]["strategies"][0]
    assert {"strategy", "ok", "failed", "labels", "avoid", "reasons", "sources"} <= way.keys()


@pytest.mark.parametrize("count", [100, 1000])
def test_pages_of_a_busy_task_and_name_are_bounded(tmp_path: Path, count: int) -> None:
    """What proved itself is listed however old it is; what is not listed is counted, and `--all` lists it."""
    names = ["".join("bdgklmnprs"[int(digit)] + "a" for digit in f"{at:04}") for at in range(count)]
    lines = ["- B(outcome=ok, task=deploy, i=0.8) @Atlas: Used a blue and a green side"] * 5
    lines += [f"- B(outcome=fail, task=deploy, why=no {name}) @Atlas: {name} {name[::-1]}" for name in names]
    lines += [f"- {kind} @Atlas: Prefers {name}" for name in names[:60] for kind in (f"W(key={name})", "O(0.8)")]
    write_pages(tmp_path, {LOG: "# 2025-11-20\n\n## Retain\n\n" + "\n".join(lines)})
    with memctl.open(tmp_path, now="2025-11-27") as memory:
        memory.reflect()
    page, atlas = ((tmp_path / path).read_text("utf-8") for path in ("bank/lessons.md", "bank/entities/Atlas.md"))
    told, every = (call(["lessons", *flags], tmp_path).out for flags in ([], ["--all"]))
    assert (page.count("\n- "), told.count("\n   "), every.count("\n   ")) == (31, 31, count + 1)
    assert "Used a blue and a green side · 5 ok" in page and f"and {count - 29} more: `memctl lessons --all`" in page
    assert atlas.count("\n- **") == 30 and "- and 30 more: `memctl belief list`" in atlas, atlas


def test_several_workspaces(root: Path, tmp_path: Path) -> None:
    """The best of each by turns, with the workspace in the path and in JSON; other commands take one, and say so."""
    other = write_pages(tmp_path / "other", {LOG: "- W: The deploy of Птица goes by ship 部署\n"}).root
    both = ["-w", str(root), "-w", str(other)]
    for words in ("deploy", "Птица", "部署"):
        hits = json.loads(call(["recall", words, *both, "--json"], tmp_path).out)["hits"]
        assert {hit["workspace"] for hit in hits[:2]} == {str(root), str(other)}
        assert all(hit["source"].startswith(f"{hit['workspace']}/") and Path(hit["path"]).is_file() for hit in hits)
    assert len(json.loads(call(["recall", "deploy", *both, "-k", "1", "--json"], tmp_path).out)["hits"]) == 1
    nothing = call(["recall", "zebra", *both], tmp_path)
    assert nothing.code == 1 and f"{other}: nothing found in" in nothing.err and not nothing.out
    for words in (["status"], ["retain", "W: x"], ["recall", "x", "-i"]):
        done = call([*words, *both], tmp_path)
        assert done.code == 2 and "name one" in done.err and not done.out, words
    assert call(["recall", "x", "-w", str(root), "-w", str(tmp_path / "nowhere")], tmp_path).code == 10
    assert call(["status", "-w", str(root), "-w", str(root)], tmp_path).code == 0


def test_hits_by_page(root: Path) -> None:
    """Those of one page stand together below its path."""
    found = call(["recall", "deploy deployed Atlas database", "--by", "page", "-k", "20", "--json"], root)
    pages = [hit["path"] for hit in json.loads(found.out)["hits"]]
    assert len(dict.fromkeys(pages)) == 1 + sum(one != two for one, two in itertools.pairwise(pages)) > 1
    assert f"{LOG}\n1. " in call(["recall", "straight production", "--by", "page"], root).out
    assert call(["recall", "x", "--by", "day"], root).code == 2


@pytest.mark.parametrize("day", ["0001-01-01", "9999-12-31"])
def test_before_the_first_of_all_days_and_after_the_last_there_is_nothing(root: Path, tmp_path: Path, day: str) -> None:
    """Ninety days earlier, or later, is no error."""
    chat = tmp_path / "chat.md"
    chat.write_text("**User:** Мы живём в Порту.\n\n**Assistant:** 好的\n", "utf-8")
    words = "review", "forget --unused", "forget --outdated", "recall --since 7d disk", "reflect -n", "check"
    for each in (*(line.split() for line in words), ["ingest", str(chat), "--review"]):
        assert call(each, root, MEMCTL_NOW=day).code in (0, 1, 2), each
