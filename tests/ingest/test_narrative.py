"""A daily log told in prose yields candidates, as a conversation does, each with the line that it came from."""

from __future__ import annotations

import json
from pathlib import Path

from face_helpers import call, write_pages

LOG = "memory/2025-11-29.md"
PROSE = (
    "# 2025-11-29\n\nWe moved the build to Python 3.13 today. I prefer short stand-ups.\n\n"
    "- W(private): We moved the PIN to 7391 on Monday\n- Мы перенесли релиз на 5 декабря, потому что Пётр болеет.\n"
    "- 我们决定周五把数据库迁移到 PostgreSQL 17。\n\nLunch was fine. Should we move the office?\n\n"
    "```\nWe decided on Tuesday to use MySQL 8 from the code block\n```\n\n"
    "<!-- memctl:begin now -->\n- We moved the managed block to Oslo in May.\n<!-- memctl:end now -->\n\n"
    "## Retain\n\n- W @Atlas: The database is PostgreSQL\n"
)
KEPT = (
    "We moved the build to Python 3.13 today",
    "Мы перенесли релиз на 5 декабря",
    "我们决定周五把数据库迁移到 PostgreSQL 17",
)


def test_prose_is_looked_at_and_facts_are_not(tmp_path: Path) -> None:
    """In three languages; nothing private, managed or in code; what is uncertain is only asked about."""
    root = write_pages(tmp_path, {LOG: PROSE}).root
    shown = call(["ingest", LOG], root)
    assert shown.code == 0 and (root / LOG).read_text("utf-8") == PROSE
    assert all(text in shown.out for text in KEPT) and "no speaker" not in shown.err
    assert [f"{LOG}#L{line}" in shown.out for line in (3, 6, 7)] == [True] * 3
    assert not any(word in shown.out for word in ("7391", "MySQL", "managed block", "office", "The database is"))
    assert "?  2025-11-29  O(c=0.8,i=0.5): The user prefers short stand-ups." in shown.out


def test_what_is_kept_leads_back_and_is_kept_once(tmp_path: Path) -> None:
    """The citation of its line stands in the fact; a second run adds nothing."""
    root = write_pages(tmp_path, {LOG: PROSE}).root
    assert call(["ingest", LOG, "--apply"], root).code == 0
    after = (root / LOG).read_text("utf-8")
    assert after.startswith(PROSE) and f"src=user:{LOG}#L3" in after and after.count("Python 3.13") == 2
    again = call(["ingest", LOG, "--apply"], root)
    assert (root / LOG).read_text("utf-8") == after and "0 kept" in again.both and "answered" in again.both


def test_reflect_asks_about_logs_without_facts(tmp_path: Path) -> None:
    """Up to five questions a log, of the days that it looks at; a log that states a fact is left alone; nothing is asked twice."""
    told = PROSE.partition("## Retain")[0].replace("- W(private): We moved the PIN to 7391 on Monday\n", "")
    pages = {
        LOG: told,
        "memory/2025-11-28.md": "We decided to move the desks to the attic.\n\n## Retain\n\n- W @Atlas: The database is PostgreSQL\n",
        "memory/2025-10-01.md": "We moved to Oslo in May because of the sea.\n",
    }
    root = write_pages(tmp_path, pages).root

    def waiting() -> list[str]:
        found = json.loads(call(["review", "--json", "-k", "9"], root).out)["questions"]
        return [side["content"] for one in found if one["kind"] == "keep" for side in one["sides"]]

    assert call(["reflect", "--since", "7d", "--dry-run"], root).code == 0 and waiting() == []
    done = call(["reflect", "--since", "7d"], root)
    assert done.code == 0 and "bank/review.md" in done.out.splitlines()
    asked = waiting()
    assert 3 <= len(asked) <= 5 and all(any(text in one for one in asked) for text in KEPT)
    review = (root / "bank/review.md").read_text("utf-8")
    assert f"src=user:{LOG}#L6" in review and "2025-11-28" not in review and "Oslo" not in review
    first = json.loads(call(["review", "--json"], root).out)["questions"][0]["id"]
    assert call(["review", first, "n"], root).code == 0
    before = (root / "bank/review.md").read_text("utf-8")
    call(["reflect", "--since", "7d"], root)
    assert (root / "bank/review.md").read_text("utf-8") == before and len(waiting()) == len(asked) - 1


def test_a_log_that_tells_nothing(tmp_path: Path) -> None:
    """Facts and headings alone: no candidate, and exit 1 as for a chat without one."""
    root = write_pages(tmp_path, {LOG: "# 2025-11-29\n\n## Retain\n\n- W: We moved to Oslo in May\n"}).root
    done = call(["ingest", LOG], root)
    assert done.code == 1 and "0 candidates" in done.err
