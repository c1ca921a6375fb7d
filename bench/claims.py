"""Cues, beside the same facts without them: `python bench/claims.py [--background 2000] [--vectors]`.

36 facts in three languages (tests/data/cues.jsonl) stand among thousands of others, a third of them about the same
names. Each is asked for by a paraphrase that shares hardly a word with it and is none of its cues. Printed: hit@1 and
recall@10 of the facts alone and of the facts with `cue=`, and of plain FTS5 (bm25, unicode61) over the same lines; in the
same run the time of a recall in this process. `--vectors` embeds them with the model that is installed, and asks by meaning too.
"""

from __future__ import annotations

import argparse
import os
import re
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

from sets import rows_of

import memctl
from memctl import Fact, Kind

ITEMS = Path(__file__).parent.parent / "tests" / "data" / "cues.jsonl"
TODAY = date(2025, 11, 30)
# What others are told about the same names and topics: the words of the questions are in them again and again.
SAID = {
    "en": (
        ["asked for the {thing} again", "was late for the {thing}", "wrote about the {thing} to {other}", "liked the {thing}",
         "works on the {thing} with {other}", "postponed the {thing} to next week", "has no time for the {thing} now",
         "gave {other} the old {thing}", "will pay for the {thing}", "does not remember the {thing}", "keeps the {thing} at home",
         "talked at dinner about the {thing}", "was at work on the {thing} until late", "plans the {thing} in summer"],
        "report release budget message dog garden traffic database password office doctor visa flight kitchen concert invoice "
        "laptop contract diet injury presentation backup server school holiday apartment train bicycle interview design",
    ),
    "ru": (
        ["опять спрашивает про {thing}", "написал {other} про {thing}", "перенёс {thing} на неделю", "забыл про {thing}",
         "занимается этим вместе с {other}: {thing}", "не успевает, горит {thing}", "за ужином вспоминал {thing}", "оплатит {thing}"],
        "отчёт релиз бюджет сводку сад трафик базу пароль офис врача визу рейс кухню концерт счёт ноутбук договор молоко травму "
        "сборку копии сервер школу отпуск квартиру поезд велосипед собеседование макет",
    ),
    "zh": (
        ["又问了{thing}", "给{other}写了{thing}的事", "把{thing}推迟到下周", "忘了{thing}", "和{other}一起做{thing}", "吃饭时谈到{thing}",
         "最近没时间管{thing}", "会付{thing}的钱"],
        "报告 版本 预算 消息 花园 流量 数据库 密码 办公室 医生 签证 航班 厨房 音乐会 发票 电脑 合同 饮食 备份 服务器 学校 假期 公寓 火车",
    ),
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--background", type=int, default=2_000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--vectors", action="store_true", help="by words and meaning; needs the extra vectors")
    given = parser.parse_args()
    os.environ["MEMCTL_VECTORS"] = "auto" if given.vectors else "none"
    items = rows_of(ITEMS)
    ways = [("plain FTS5", False), ("facts alone", False), ("facts with cues", True)]
    for name, with_cues in ways:
        measured = plain if name == "plain FTS5" else measure
        runs = [measured(items, with_cues, given.background, seed) for seed in range(given.seeds)]
        found = [place for places, _ in runs for place in places]
        taken = statistics.median(ms for _, times in runs for ms in times)
        by_language = {
            lang: share(
                [p for places, _ in runs for p, item in zip(places, items, strict=True) if item["lang"] == lang], 10
            )
            for lang in SAID
        }
        languages = "  ".join(f"{lang} {value:.3f}" for lang, value in by_language.items())
        print(
            f"{name:16} n={len(found)}  hit@1 {share(found, 1):.3f}  recall@10 {share(found, 10):.3f}  ({languages})  p50 {taken:.1f} ms",
            flush=True,
        )


def share(places: Sequence[int], k: int) -> float:
    """The part of questions whose fact is among the first k."""
    return sum(place <= k for place in places) / len(places)


def measure(
    items: Sequence[dict[str, Any]], with_cues: bool, background: int, seed: int
) -> tuple[list[int], list[float]]:
    """For each item the place of its fact in the answer (1000: not in the first ten), and the milliseconds it took."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "memory").mkdir()
        with memctl.open(root, now=datetime.combine(TODAY, datetime.min.time())) as memory:
            write(memory, items, with_cues, background, Random(seed))
            return _ask(memory, items)


def plain(
    items: Sequence[dict[str, Any]], with_cues: bool, background: int, seed: int
) -> tuple[list[int], list[float]]:
    """The same by SQLite alone: any word of the question, ranked by bm25."""
    rng = Random(seed)
    db = sqlite3.connect(":memory:")
    db.execute("CREATE VIRTUAL TABLE fact USING fts5(text)")
    texts = [item["fact"] for item in items] + [fact.text for fact in others(items, background, rng)]
    db.executemany("INSERT INTO fact VALUES (?)", [(text,) for text in texts])
    places, times = [], []
    for item in items:
        start = time.perf_counter()
        asked = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", item["asked"]))
        rows = db.execute("SELECT text FROM fact WHERE fact MATCH ? ORDER BY bm25(fact) LIMIT 10", (asked,)).fetchall()
        times.append((time.perf_counter() - start) * 1000)
        places.append(next((n for n, (text,) in enumerate(rows, 1) if text == item["fact"]), 1000))
    return places, times


def write(
    memory: memctl.Memory, items: Sequence[dict[str, Any]], with_cues: bool, background: int, rng: Random
) -> None:
    """The items and as many others as asked for, in daily logs, in random order."""
    facts = [Fact(Kind.WORLD, item["fact"], (item["name"],), cues=tuple(item["cues"])) for item in items]
    facts = [fact if with_cues else replace(fact, cues=()) for fact in facts]
    facts += others(items, background, rng)
    rng.shuffle(facts)
    for number, start in enumerate(range(0, len(facts), 40)):
        memory.retain(facts[start : start + 40], day=str(TODAY - timedelta(days=number)))


def others(items: Sequence[dict[str, Any]], count: int, rng: Random) -> Iterator[Fact]:
    """Facts about the same names and as many strangers, on the topics of the questions."""
    cast = {lang: [item["name"] for item in items if item["lang"] == lang] for lang in SAID}
    for number in range(count):
        lang = rng.choice(["en", "en", "ru", "zh"])
        patterns, things = SAID[lang]
        name, other = rng.choice(cast[lang]), rng.choice(cast[lang])
        name = name if number % 3 == 0 else f"{name}-{rng.randrange(200)}"
        yield Fact(Kind.WORLD, rng.choice(patterns).format(thing=rng.choice(things.split()), other=other), (name,))


def _ask(memory: memctl.Memory, items: Sequence[dict[str, Any]]) -> tuple[list[int], list[float]]:
    memory.sync()
    if memory.embed() is None and os.environ["MEMCTL_VECTORS"] != "none":
        raise SystemExit("no model is installed: pip install 'memctl-workspace[vectors]'")
    if os.environ["MEMCTL_VECTORS"] != "none":
        for _ in range(2):  # loads the model, and then the vectors
            memory.recall("warm")
    places, times = [], []
    for item in items:
        start = time.perf_counter()
        answer = memory.recall(item["asked"], k=10)
        times.append((time.perf_counter() - start) * 1000)
        places.append(next((n for n, hit in enumerate(answer.hits, 1) if hit.content == item["fact"]), 1000))
    return places, times


if __name__ == "__main__":
    main()
