"""What kind of question is asked, and what is no answer to any."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from face_helpers import TODAY, ask, contents, memory_on, write_pages

from memctl.memory import Memory
from memctl.notes.workspace import Workspace
from memctl.recall.wording import has_wording, is_polite, points_back
from memctl.transfer.foreign import place_of

LOG = """# 2025-11-20

Thanks a lot!

## Plans

### 2025-11-21

Deployed the gateway on Monday.

## Retain

- W(key=city): Lisbon, since spring
- W(key=standup): It is at 9:30.
- W(key=db) @Atlas: MySQL
- W(key=db) @Atlas: PostgreSQL
- W @Atlas: PostgreSQL it was, because joins were slow
- W @Atlas: PostgreSQL runs on port 5432
- W @Атлас: PostgreSQL взяли, потому что нужны связи
- W @地图: 选PostgreSQL，因为查询很慢
"""


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    pages = {"memory/2025-11-20.md": LOG, "bank/world.md": "# World\n\nObjective facts that last.\n"}
    return write_pages(tmp_path_factory.mktemp("asked"), pages)


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("where do I live?", "Lisbon, since spring"), ("где я живу?", "Lisbon, since spring"), ("我住在哪里？", "Lisbon, since spring"),
        ("what time is the standup?", "It is at 9:30."), ("which database does Atlas use?", "PostgreSQL"),
        ("why PostgreSQL?", "PostgreSQL it was, because joins were slow"),
        ("почему взяли PostgreSQL?", "PostgreSQL взяли, потому что нужны связи"), ("为什么选PostgreSQL？", "选PostgreSQL，因为查询很慢"),
    ],
)  # fmt: skip
def test_the_slot_or_the_reason_stands_first(workspace: Workspace, question: str, first: str) -> None:
    assert contents(ask(workspace, question))[0] == first


OWN = """## Retain

- W: My name is Ivan Petrov
- W: Мой день рождения 3 мая
- W: I live in Riga
- W: I work at Acme
- W: My mother is called Olga
- W: My wife is called Anna
- W: День рождения жены 9 марта
- W: 我姐姐住在上海
- W: 我的医生是李医生
- W: Моего стоматолога зовут Пётр
- W: @Anna met @Boris, and Anna left
"""


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("What is my mother's name?", "My mother is called Olga"), ("What's my wife's name?", "My wife is called Anna"),
        ("день рождения жены", "День рождения жены 9 марта"), ("我姐姐住在哪里？", "我姐姐住在上海"), ("Where do I live with my wife?", "I live in Riga"),
        ("Where do my wife and I live?", "I live in Riga"), ("Who is my doctor?", "我的医生是李医生"), ("Кто мой врач?", "我的医生是李医生"),
        ("Who is my dentist?", "Моего стоматолога зовут Пётр"), ("как зовут маму?", "My mother is called Olga"), ("我妻子叫什么？", "My wife is called Anna"),
        ("Where do I work, asks the doctor?", "I work at Acme"), ("спрашивает врач: когда мой день рождения?", "Мой день рождения 3 мая"), ("скажи моё имя", "My name is Ivan Petrov"),
        ("老师问我的名字", "My name is Ivan Petrov"),
    ],
)  # fmt: skip
def test_what_is_asked_of_a_relative_is_not_the_owners(tmp_path: Path, question: str, first: str) -> None:
    """Nor does another language hide who somebody is. Names are told in the order of the line."""
    place = write_pages(tmp_path, {"memory/2025-11-20.md": OWN, "bank/entities/Anna.md": "# Anna\n"})
    assert ask(place, question).hits[0].content == first
    assert ask(place, "met").hits[0].entities == ("Anna", "Boris")


@pytest.mark.parametrize(
    ("one", "other", "told", "question"),
    [
        ("Mei Lin", "Mei Ling", "Works at Globex in Riga", "Where in Riga does Mei Lin work?"), ("Анна Кузнецова", "Анна Кузьмина", "Аллергия на орехи", "На какие орехи аллергия у Анны Кузнецовой?"),
        ("王芳", "王方", "对坚果过敏", "王芳对坚果过敏吗？"),
    ],
)  # fmt: skip
def test_what_is_told_of_another_of_nearly_that_name_stands_below(
    tmp_path: Path, one: str, other: str, told: str, question: str
) -> None:
    """Unless the two are one by an alias, or the line names both."""
    log = f"## Retain\n\n- W [[{one}]]: Born in May\n- W [[{other}]]: {told}\n"
    page = {f"bank/entities/{one}.md": f"---\naliases: [{other}]\n---\n# {one}\n"}
    ways = (log, {}), (log, page), (log.replace(told, f"{told} [[{one}]]"), {})
    pages = [
        write_pages(tmp_path / str(n), {"memory/2025-11-20.md": text} | more) for n, (text, more) in enumerate(ways)
    ]
    assert [told in contents(ask(each, question))[0] for each in pages] == [False, True, True]


WHO = {
    "bank/entities/Atlas.md": "---\naliases: [atlas-api]\n---\n\n# Atlas\n\nThe map service of the club.\n",
    "bank/entities/Ирина.md": "# Ирина\n\nРуководит станцией.\n",
    "bank/entities/小李.md": "# 小李\n\n管仓库的同事。\n",
    "bank/entities/Bare.md": "# Bare\n\n<!-- memctl:begin summary sha=00000000 -->\n- Bare runs.\n<!-- memctl:end summary -->\n",
    "memory/2025-11-20.md": "# Log\n\n## Retain\n\n- W(i=0.9) @Atlas: Atlas was released.\n- W(i=0.9) @Ирина: Ирина вернулась.\n"
    "- W(i=0.9) @小李: 小李回来了。\n- W @Bare: Bare moved on.\n",
}


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("What is Atlas?", "The map service of the club."), ("who's atlas-api?", "The map service of the club."),
        ("Кто такая Ирина?", "Руководит станцией."), ("Расскажи про Ирину", "Руководит станцией."),
        ("小李是谁？", "管仓库的同事。"), ("What is Bare?", "Bare moved on."),
        ("What is the release of Atlas?", "Atlas was released."), ("When was Atlas released?", "Atlas was released."),
    ],
)  # fmt: skip
def test_who_or_what_somebody_is_their_page_says_first(tmp_path: Path, question: str, first: str) -> None:
    """A bare title above what reflect wrote is no answer."""
    hits = ask(write_pages(tmp_path, WHO), question).hits
    assert hits[0].content == first
    assert all(hit.content != "Bare" for hit in hits)


def test_the_skeleton_of_a_page_is_no_answer_beside_one(workspace: Workspace) -> None:
    """A word or two find it where nothing else has them; it answers no question."""
    found = contents(ask(workspace, "plans thanks 2025-11-21 gateway objective facts last monday"))
    assert found == ["Deployed the gateway on Monday."]
    assert contents(ask(workspace, "thanks")) == ["Thanks a lot!"]
    assert contents(ask(workspace, "who said thanks?")) == []


@pytest.mark.parametrize(
    ("question", "before", "found"),
    [
        ("ferry timetable", "The backup keeps the lock", "The ferry timetable hangs on the green door"),
        ("расписание паромов", "Причина в блокировке", "Расписание паромов висит на двери"),
        ("渡轮时刻表", "原因是夜间备份", "渡轮时刻表挂在绿色的门上"),
    ],
)
def test_a_fact_stands_by_itself_a_note_beside_what_was_said(
    tmp_path: Path, question: str, before: str, found: str
) -> None:
    """A turn of a conversation answers by the one before it; a fact says all of it, and its neighbours say nothing of it."""
    day = write_pages(tmp_path, {"memory/2025-11-20.md": f"## Retain\n\n- W: {before}\n- W: {found}\n"})
    assert contents(ask(day, question)) == [found]
    (day.root / "memory/2025-11-20.md").write_text(f"# Talk\n\n- {before}\n- {found}\n", "utf-8")
    assert contents(ask(day, question)) == [found, before]


@pytest.mark.parametrize(
    ("text", "polite"),
    [
        ("13:56 **Anna**: Hey Mel! Long time no see! How are you?", True), ("Привет! Как дела?", True), ("小林：你好！最近怎么样？", True),
        ("**Theo:** Thanks", True), ("**Юля:** Спасибо!", True), ("好的~谢谢", True),
        ("Thanks, the pump of the boat arrived on Friday.", False), ("Great pottery class yesterday!", False),
        ("Да, лодку продали в мае.", False), ("好的，星期五去岛上。", False),
    ],
)  # fmt: skip
def test_mere_politeness(text: str, polite: bool) -> None:
    assert is_polite(text) is polite


def test_pronouns_and_reasons() -> None:
    assert all(map(points_back, ("**Anna**: She moved.", "Это было", "ЕЁ знают", "他同意了", "It's special to me.")))
    assert not any(map(points_back, ("Anna moved", "Этаж шестой", "其实很好"[2:], "Items are sold")))
    reasons = [has_wording("because", text) for text in ("because of rain", "из-за дождя", "因为下雨", "since May")]
    assert reasons == [True, True, True, False]


GUIDE = """---
created: {day}
---
# {title}

## {table}

| {server} | {region} |
|---|:--|
| alpha | {place} |

## {empty}

## {steps}

{first}

{second}

{third}
"""
DOCUMENTS = {
    "en": ("2025-11-10", "Guide", "Servers", "Server", "Region", "Frankfurt", "Rollback plan", "Steps",
           "Build the image.", "The server restarts after the build.", "Restart the server again by hand."),
    "ru": ("2025-11-11", "Руководство", "Серверы", "Сервер", "Регион", "Франкфурт", "План отката", "Шаги",
           "Соберите образ.", "Сервер перезапускается после сборки.", "Перезапустите сервер вручную."),
    "zh": ("2025-11-12", "指南", "服务器表", "服务器", "地区", "法兰克福", "回滚计划", "步骤",
           "构建镜像。", "构建之后服务器会重启。", "手动重启服务器。"),
}  # fmt: skip
_FIELDS = ("day", "title", "table", "server", "region", "place", "empty", "steps", "first", "second", "third")


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    pages = {
        f"notes/{name}.md": GUIDE.format(**dict(zip(_FIELDS, row, strict=True))) for name, row in DOCUMENTS.items()
    }
    pages["memory/2025-11-20.md"] = "# 2025-11-20\n\n## Retain\n\n- W: The server is loud.\n- W: The server is old.\n"
    return memory_on(write_pages(tmp_path_factory.mktemp("documents"), pages), TODAY)


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("when does the server restart?", "en"),
        ("когда перезапускается сервер?", "ru"),
        ("服务器什么时候会重启？", "zh"),
    ],
)
def test_a_document_is_one_hit_with_its_passage(documents: Memory, question: str, name: str) -> None:
    """The best line with its headings and the lines around it; facts of a log are lines as ever."""
    day, title, _, _, _, _, _, steps, first, second, third = DOCUMENTS[name]
    hits = [hit for hit in documents.recall(question).hits if hit.source.path == f"notes/{name}.md"]
    (hit,) = hits
    assert (hit.content in (second, third), hit.day, hit.heading_path) == (True, day, (title, steps))
    assert [line.content for line in hit.passage] == [first, second, third]
    assert {line.content for line in hit.passage if line.best} >= {hit.content}
    plain = documents.recall(question, per_page=0).hits
    assert sum(other.source.path == hit.source.path for other in plain) > 1 and not any(h.passage for h in plain)
    assert not documents.recall(question, per_page=2).hits[2:3] or hit.more >= 1


def test_two_facts_of_a_log_are_two_hits(documents: Memory) -> None:
    found = [hit for hit in documents.recall("server loud old").hits if hit.source.path.startswith("memory/")]
    assert len(found) == 2 and not any(hit.passage for hit in found)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_head_of_a_table_and_an_empty_heading_answer_nothing(documents: Memory, name: str) -> None:
    _, _, _, server, region, place, empty, *_ = DOCUMENTS[name]
    for question in (f"{server} {region} {place}?", f"{empty}?"):
        said = contents(documents.recall(question, per_page=0, k=50))
        assert not any(line in (f"| {server} | {region} |", empty) for line in said), said
    assert any(place in line for line in contents(documents.recall(f"{place}?")))


def test_the_days_of_front_matter(documents: Memory, tmp_path: Path) -> None:
    """A page has the day of its front matter; with `created` and `updated` both find it, and its ids know of neither."""
    found = {hit.source.path for hit in documents.recall("", on="2025-11-11", per_page=0).hits}
    assert found == {"notes/ru.md"}
    fronts = "created: 2025-10-01\nupdated: 2025-10-09", "date: 2025-10-09T08:00", 'updated: "[[2025-10-01]]"'
    texts = {f"n/{at}.md": f"---\n{front}\n---\nThe heron nests at the weir.\n" for at, front in enumerate(fronts)}
    memory = memory_on(write_pages(tmp_path, texts), TODAY)
    for day, pages in (("2025-10-01", {"n/0.md", "n/2.md"}), ("2025-10-09", {"n/0.md", "n/1.md"})):
        hits = memory.recall("heron", on=day).hits
        assert {citation.path for hit in hits for citation in (hit.source, *hit.also)} == pages


@pytest.mark.parametrize(
    ("heading", "day"),
    [
        ("## 2025-11-03", "2025-11-03"),
        ("## 2025-11-03, Monday: the weir", "2025-11-03"),
        ("## 3 November 2025", "2025-11-03"),
        ("## 3 ноября 2025 г.", "2025-11-03"),
        ("## 03.11.2025", "2025-11-03"),
        ("## 2025年11月3日", "2025-11-03"),
        ("## 2025-11-03\n\n### Birds", "2025-11-03"),
        ("## 2025-11-03\n\n## Birds", ""),
        ("## 3 November", ""),  # of which year?
        ("## November 2025", ""),  # a month is no day
        ("## 03/11/2025", ""),  # the third, or the eleventh?
        ("## Letter of 3 November 2025", ""),
    ],
)
def test_the_day_of_a_heading(heading: str, day: str, tmp_path: Path) -> None:
    """A diary of a page a month: lines below a heading that is a day have that day, and their ids know nothing of it."""
    text = "The heron nests at the weir."
    memory = memory_on(write_pages(tmp_path / "dated", {"diary.md": f"# Diary\n\n{heading}\n\n{text}\n"}), TODAY)
    plain = memory_on(write_pages(tmp_path / "plain", {"diary.md": f"# Diary\n\n## Birds\n\n{text}\n"}), TODAY)
    (hit,), (same,) = memory.recall("heron").hits, plain.recall("heron").hits
    assert (hit.day or "", hit.ref) == (day, same.ref)
    assert bool(memory.recall("heron", on="2025-11-03").hits) == bool(day)


@pytest.mark.parametrize(
    "question",
    [
        "what happened in March 2024?",
        "что было в марте 2024 года?",
        "2024年3月发生了什么？",
        "tell me about March 2024",
    ],
)
def test_a_time_of_which_nothing_is_told_has_no_answer(documents: Memory, question: str) -> None:
    """Nothing outside the days that are asked for stands in their place."""
    assert not documents.recall(question).hits


@pytest.mark.parametrize(
    ("name", "day"),
    [
        ("15.01.2026", "2026-01-15"),
        ("5.1.2026 Понедельник", "2026-01-05"),
        ("2026-01-15 Thursday", "2026-01-15"),
        ("20260115", "2026-01-15"),
        ("20260115_standup", "2026-01-15"),
        ("Jan 15, 2026", "2026-01-15"),
        ("15 января 2026", "2026-01-15"),
        ("2026年1月15日", "2026-01-15"),
        ("01-02-2026", ""),  # the first, or the second?
        ("20261345", ""),
        ("2026-01-151", ""),
        ("notes-2026-01-15", ""),
        ("202601151230", ""),  # a number
        ("January 2026", ""),
        ("Vaswani 2017", ""),
    ],
)
def test_the_day_of_a_file_name(name: str, day: str, tmp_path: Path) -> None:
    """A daily note is of the day that its name says without doubt, and is brought into the log of that day."""
    memory = memory_on(write_pages(tmp_path, {f"Daily/{name}.md": "The heron nests at the weir.\n"}), TODAY)
    assert [hit.day or "" for hit in memory.recall("heron").hits] == [day]
    logged = re.match(r"memory/(.{10})-V", place_of("obsidian", "V", f"Daily/{name}.md"))
    assert (logged[1] if logged else "") == day


@pytest.mark.parametrize(
    ("name", "question", "other", "line"),
    [
        ("NAS", "what is the address of the NAS?", "what is the address of the Router?", "Two disks of 4 TB. Address 192.168.1.20."),
        ("Нина Авдеева", "когда у Нины день рождения?", "когда у Олега день рождения?", "Редактор. День рождения 9 апреля."),
        ("朵朵", "朵朵的生日是哪天？", "朵朵的生日是哪天？", "生日是四月九日"),
    ],
)  # fmt: skip
def test_a_page_says_whom_its_lines_are_about(tmp_path: Path, name: str, question: str, other: str, line: str) -> None:
    """An answer is as likely as if the line had the name; the same of somebody else is none."""
    filler = "".join(f"- W: Note {n} about the garden\n" for n in range(20))
    pages = {"memory/2025-11-27.md": filler + "- W: The Router is old\n- W: Олег приехал\n"}
    workspace = write_pages(tmp_path / "one", pages | {f"bank/entities/{name}.md": f"# {name}\n\n{line}\n"})
    found = ask(workspace, question)
    assert (found.answerable or 0) > 0.8 and len(found.signs or ()) == 6 and ask(workspace, "").signs is None
    told = pages | {"bank/entities/豆豆.md": f"# 豆豆\n\n{line}\n", f"bank/entities/{name}.md": f"# {name}\n\n"}
    strange = write_pages(tmp_path / "two", told)
    assert (ask(strange, other).answerable or 0) < 0.5
