"""What memctl judges of text by another hand: tests/data/unseen2, whose README.md says how it was made and when it was looked at.

`python bench/unseen.py [changes updates evidence prompts chats months near answered] [--list] [--keep DIR]`. Every workspace is made anew;
`--keep` leaves them in DIR. Words alone, with MEMCTL_VECTORS=auto with the vectors of the model that is installed. `--list` prints what missed, for judging by
hand and never for tuning. What this version of memctl does not have yet is printed as "not there yet".
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

from sets import rows_of

import memctl
from memctl.language.tokens import estimate

DATA = Path(__file__).resolve().parents[1] / "tests" / "data"
NOW = "2026-11-16"
HOOK_TOKENS, HOOK_LINES = 1200, 8  # what a hook takes beside one prompt
PAIRS = ("replaced", "reversed", "belief")  # questions that hold two lines against each other
Row = dict[str, Any]
Tally = defaultdict[str, Counter[str]]
GIVEN = argparse.Namespace(list=False, keep=None, of="unseen2", only="")


def rows(path: str) -> list[Row]:
    only = GIVEN.only.split(",") if GIVEN.only else ()
    return [row for row in rows_of(DATA / GIVEN.of / path) if not only or row.get("workspace", only[0]) in only]


def by(key: str, every: Sequence[Row]) -> Iterator[tuple[str, list[Row]]]:
    for value in dict.fromkeys(row[key] for row in every):
        yield value, [row for row in every if row[key] == value]


def missed(*parts: object) -> None:
    if GIVEN.list:
        print("      ·", *parts)


def share(right: int, of: int) -> str:
    return f"{right} of {of} ({right / of:.2f})" if of else "0 of 0"


@contextmanager
def folder(name: str) -> Iterator[Path]:
    """An empty workspace; kept under its name where that was asked for."""
    with tempfile.TemporaryDirectory() as temporary:
        root = Path(GIVEN.keep or temporary).resolve() / name
        (root / "memory").mkdir(parents=True)
        (root / "memctl.toml").touch()
        yield root


@contextmanager
def opened(root: Path) -> Iterator[memctl.Memory]:
    with memctl.open(root, now=datetime.fromisoformat(NOW)) as memory:
        memory.sync()
        memory.embed()
        yield memory


def write_month(root: Path, name: str, until: str = NOW) -> dict[str, list[str]]:
    """The pages of a persona up to a day, by path."""
    pages = {page["path"]: page["text"] for page in rows(f"months/{name}.jsonl")}
    pages = {path: text for path, text in pages.items() if path == "memory.md" or Path(path).stem <= until}
    for path, text in pages.items():
        (root / path).write_text(text, "utf-8")
    return {path: text.splitlines() for path, text in pages.items()}


def command(root: Path, *words: str, now: str = NOW) -> Row:
    """The JSON that a command prints, empty where it prints none."""
    given = {**os.environ, "MEMCTL_NOW": now, "MEMCTL_WORKSPACE": str(root)}
    done = subprocess.run([sys.executable, "-m", "memctl", *words, "--json"], capture_output=True, env=given, text=True)
    try:
        found: Row = json.loads(done.stdout)
    except ValueError:
        print("  not there yet:", "memctl", *words, "→", done.returncode, done.stderr.strip()[:200])
        return {}
    return found


def questions(root: Path, now: str = NOW) -> list[Row]:
    return list(command(root, "review", "-k", "1000", now=now).get("questions", ()))


def asked_pairs(found: Sequence[Row]) -> set[frozenset[str]]:
    pairs = {frozenset(str(side["source"]) for side in each["sides"]) for each in found if each["kind"] in PAIRS}
    return {pair for pair in pairs if len(pair) == 2}


def shows(hit: memctl.Hit, source: str) -> bool:
    path, _, line = source.partition("#L")
    return any(at.path == path and at.line <= int(line) <= at.end_line for at in (hit.source, *hit.also))


def marked(hit: memctl.Hit | None) -> bool:
    return bool(hit and (hit.superseded_by or getattr(hit, "perhaps_superseded_by", None)))


# -- changes: is the current line first, is the older one marked or asked, is anything else asked or marked? ---------------


def changes() -> None:
    count: Tally = defaultdict(Counter)
    wrong: Counter[str] = Counter()
    facts = wrong_marks = 0
    for name, mine in by("workspace", rows("changes.jsonl")):
        with folder(f"changes-{name}") as root:
            pages = write_month(root, name)
            command(root, "reflect")
            with opened(root):
                pass  # where there is a model, what is near in meaning is asked too
            pairs = asked_pairs(questions(root))
            changed = [row for row in mine if row["change"]]
            either = [frozenset(row["sides"]) for row in mine if row["change"] is None or row.get("kind") == "hearsay"]
            gold = {frozenset((older, row["current"])) for row in changed for older in row["older"]}
            kinds = {frozenset(row["sides"]): row["kind"] for row in mine if row["change"] is False}
            for pair in pairs - gold - {*either}:
                wrong[kinds.get(pair, "other lines")] += 1
                missed("asked for nothing:", name, *sorted(pair))
            spared = {next(iter(row["older"])) for row in changed} | {side for pair in either for side in pair}
            with opened(root) as memory:
                for row in changed:
                    _change(count, row, memory.recall(row["question"], k=20).hits, pairs)
                for path, lines in pages.items():
                    for n, text in enumerate(lines, 1):
                        if text.startswith("- "):
                            facts += 1
                            hits = memory.recall(text.split(": ", 1)[1], k=3).hits
                            source = f"{path}#L{n}"
                            misled = [
                                hit for hit in hits if source not in spared and shows(hit, source) and marked(hit)
                            ]
                            count["written"].update(all=any(hit.superseded_by for hit in misled))
                            if misled:
                                wrong_marks += 1
                                missed("marked, but nothing replaced it:", name, source)
    written = count.pop("written")
    print(f"changes written as replaced right {share(written['right'], written['all'])}, of lines without a key")
    for group, one in sorted(count.items()):
        print(f"changes {group:8}", *(f"{key} {one[key]}," for key in (*_CHANGE, "older above")), f"of {one['all']}")
    asked = sum(wrong.values())
    print(f"changes: false questions {asked} in {facts} facts = {20 * asked / facts:.2f} in 20; {dict(wrong)}")
    print(f"changes: {wrong_marks} lines marked that nothing replaced")


_CHANGE = ("first", "older marked", "asked", "marked or asked")


def _change(count: Tally, row: Row, hits: Sequence[memctl.Hit], pairs: set[frozenset[str]]) -> None:
    at = {source: n for source in (*row["older"], row["current"]) for n, hit in enumerate(hits) if shows(hit, source)}
    place = at.get(row["current"], len(hits))
    older = [at[source] for source in row["older"] if source in at]
    mark = bool(older) and all(marked(hits[n]) for n in older)
    asked = any(frozenset((source, row["current"])) in pairs for source in row["older"])
    if place or not (mark or asked):
        missed(row["id"], f"at {place + 1};", "marked" if mark else "asked" if asked else "neither marked nor asked")
    group = "keyed" if row["keyed"] else "words"
    written = not row["keyed"] and any(hits[n].superseded_by for n in older)
    count["written"].update(right=written, all=written)
    for each in (group, f"{group} {row['lang']}"):
        found = dict(zip(_CHANGE, (place == 0, mark, asked, mark or asked), strict=True))
        count[each].update({**found, "older above": any(n < place for n in older), "all": 1})


# -- updates: is the first hit the current line? --------------------------------------------------------------------------


def updates() -> None:
    count: Tally = defaultdict(Counter)
    for name, mine in by("workspace", rows("updates.jsonl")):
        with folder(f"updates-{name}") as root:
            write_month(root, name)
            command(root, "reflect")
            with opened(root) as memory:
                for row in mine:
                    first = memory.recall(row["question"], k=10).hits[:1]
                    right = any(shows(hit, row["current"]) for hit in first)
                    stale = any(shows(hit, source) for hit in first for source in row["older"])
                    if not right:
                        missed(row["id"], "an older line first" if stale else "another line first")
                    for group in ("all", row["lang"], row["form"], f"{row['steps']} steps"):
                        count[group].update(all=1, right=right, stale=stale)
    for group, one in count.items():
        print(f"updates {group:10} current first {share(one['right'], one['all'])}, an older one first {one['stale']}")


# -- evidence: what stands under a belief after reflect, and what is asked -------------------------------------------------

RIGHT = {"for": {"for"}, "against": {"against", "reversal"}, "reversal": {"against", "reversal"}, "neither": set[str]()}


def evidence() -> None:
    count: Tally = defaultdict(Counter)
    for lang, mine in by("lang", rows("evidence.jsonl")):
        with folder(f"evidence-{lang}") as root:
            sources = _write_pairs(root, mine)
            command(root, "reflect")
            with opened(root):
                pass  # where there is a model, what is near in meaning is asked too
            beliefs = command(root, "belief", "list").get("beliefs", [])
            pairs = asked_pairs(questions(root))
            with opened(root) as memory:
                for row in mine:
                    older, newer = sources[row["id"]]
                    said = _said(memory, row, beliefs, older, newer)
                    asked = frozenset((older, newer)) in pairs
                    right = bool(said & RIGHT[row["label"]])
                    if said - RIGHT[row["label"]] or (right or asked) == (row["label"] == "neither"):
                        missed(row["id"], row["label"], sorted(said), "asked" if asked else "not asked", row["kind"])
                    count[row["label"]].update([*said, "all"])
                    count[row["label"]].update(right=right, asked=asked, either=right or asked)
    for verdict in ("for", "against", "reversal"):
        by_label = {label: count[label][verdict] for label in RIGHT}
        correct = sum(of for label, of in by_label.items() if verdict in RIGHT[label])
        print(f"evidence written as {verdict:9} right {share(correct, sum(by_label.values()))}; by label {by_label}")
    for label in RIGHT:
        one = count[label]
        either = share(one["either"], one["all"])
        print(f"evidence truly {label:9} written right {one['right']}, asked {one['asked']}, either {either}")


def _write_pairs(root: Path, mine: Sequence[Row]) -> dict[str, list[str]]:
    """Logs of beliefs and statements; the citations of both, by pair."""
    days: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for row in mine:
        days[row["day"]].append((row["id"], row["belief"]))
        days[row["later"]].append((row["id"], row["statement"]))
    found: dict[str, list[str]] = defaultdict(list)
    for day in sorted(days):
        text = "".join(f"- {line}\n" for _, line in days[day])
        (root / f"memory/{day}.md").write_text(f"# {day}\n\n## Retain\n\n{text}", "utf-8")
        for n, (pair, _) in enumerate(days[day], 5):
            found[pair].append(f"memory/{day}.md#L{n}")
    return found


_MEANS = {"stated": "for", "superseded": "reversal"}


def _said(memory: memctl.Memory, row: Row, beliefs: Sequence[Row], older: str, newer: str) -> set[str]:
    """What the newer line counts as below the belief; a reversal where the belief is not current any more."""
    said = set()
    for belief in beliefs:
        pieces = [(piece["source"], piece["verdict"]) for piece in belief["evidence"]]
        if (older, "stated") in pieces:
            said |= {_MEANS.get(verdict, verdict) for source, verdict in pieces if source == newer}
            said |= {"reversal"} if belief.get("over") or belief.get("superseded_by") else set()
    hits = memory.recall(row["belief"].split(": ", 1)[1], k=5).hits
    return said | {"reversal" for hit in hits if shows(hit, older) and hit.superseded_by}


# -- prompts: what a hook says beside them, and whether recall knows that memory holds an answer ---------------------------

CITED = re.compile(r"(memory/[\w.-]+\.md)#L(\d+)(?:-L?(\d+))?")
UNTOLD = ("command", "chitchat", "never", "swapped")


def prompts() -> None:
    every = rows("prompts.jsonl")
    count: Tally = defaultdict(Counter)
    rated: dict[str, list[tuple[float, str]]] = defaultdict(list)
    for name, mine in by("workspace", every):
        lang = mine[0]["lang"]
        others = [row for row in every if row["lang"] == lang and row["workspace"] != name and row["gold"]]
        with folder(f"prompts-{name}") as root:
            pages = write_month(root, name)
            with opened(root) as memory:
                for row in mine + others:
                    value = getattr(memory.recall(row["prompt"]), "answerable", None)
                    if isinstance(value, int | float):
                        rated[lang].append((float(value), row["kind"] if row in mine else "another's"))
                for row in mine:
                    _hook(count[lang], row, memory.beside_prompt(row["prompt"], HOOK_TOKENS, HOOK_LINES), pages)
    for lang, one in count.items():
        plain = share(one["right"], one["spoke"] - one["spoke swapped"])
        print(f"hook {lang}: precision {share(one['right'], one['spoke'])}, but for swapped premises {plain}")
        print(
            f"    answered {share(one['right'], one['told'])}, first of all {one['first']}, silent {one['silent told']}"
        )
        print("    silent as it should be:", *(f"{kind} {one[f'silent {kind}']}/{one[kind]}" for kind in UNTOLD))
    if not rated:
        print("  not there yet: answerable")
    for lang, values in {**rated, "all": [each for one in rated.values() for each in one]}.items():
        print(f"answerable {lang}: {_calibration(values)}")
        for kind in (*UNTOLD, "another's"):
            print(f"    {kind:9}", _calibration([each for each in values if each[1] in ("told", kind)]))


def told_in(text: str, row: Row, pages: dict[str, list[str]]) -> list[bool]:
    """Of each line that a hook shows, whether it answers a prompt; last, whether a line that does stands there by its words."""
    text = re.sub(r"\((?:perhaps )?replaced by [^)]*\)", "", text)  # names the newer line without showing it
    cited = [(path, int(a), int(b or a)) for path, a, b in CITED.findall(text)]
    gold = [(path, int(line)) for path, line, _ in CITED.findall(" ".join(row["gold"]))]
    there = [any(path == page and a <= line <= b for page, line in gold) for path, a, b in cited]
    return [*there, any(pages[path][line - 1].split(": ", 1)[-1] in text for path, line in gold)]


def _hook(one: Counter[str], row: Row, text: str, pages: dict[str, list[str]]) -> None:
    kind, gold = row["kind"], row["gold"]
    *there, _ = told = told_in(text, row, pages)
    right = any(told)
    one.update([kind, *(["spoke", f"spoke {kind}"] if text else [f"silent {kind}"])])
    one.update(right=right, first=any(there[:1]))
    if bool(text) != bool(gold) or (text and not right):
        missed(
            row["workspace"],
            kind,
            "spoke," if text else "silent,",
            "answered" if right else "no answer:",
            row["prompt"],
        )


def _calibration(values: Sequence[tuple[float, str]]) -> str:
    yes = [value for value, kind in values if kind == "told"]
    no = [value for value, kind in values if kind != "told"]
    if not yes or not no:
        return "too few"
    area = sum((y > n) + (y == n) / 2 for y in yes for n in no) / (len(yes) * len(no))
    gaps: dict[int, float] = defaultdict(float)
    for value, kind in values:
        gaps[min(9, int(value * 10))] += value - (kind == "told")
    error = sum(map(abs, gaps.values())) / len(values)
    return f"AUROC {area:.3f}, calibration error {error:.3f} ({len(yes)} told, {len(no)} not)"


# -- chats: what ingest writes and asks, against what a careful note-taker would keep -------------------------------------


def chats() -> None:
    count: Tally = defaultdict(Counter)
    for chat in rows("chats/gold.jsonl"):
        name = chat["chat"]
        with folder(f"chat-{name}") as root:
            words = (
                "ingest",
                str(DATA / GIVEN.of / "chats" / name),
                "--apply",
                "--owner",
                chat["owner"],
                "--date",
                chat["day"],
            )
            done = command(root, *words)
            keep = sum(each["kind"] == "keep" for each in questions(root))
        told, asked = ([(each["content"], each["anchor"]) for each in done[way]] for way in ("candidates", "asked"))
        if keep != len(asked):
            print(f"ingest {name}: {len(asked)} are to be asked, review asks {keep}")
        one: Counter[str] = Counter(gold=len(chat["worthy"]), written=len(told), asked=len(asked))
        taken: dict[str, set[int]] = {"written": set(), "asked": set()}
        for way, (text, anchor) in [("written", each) for each in told] + [("asked", each) for each in asked]:
            found = _match(chat, text, anchor)
            one[f"{way} right"] += found is not None
            taken[way] |= set() if found is None else {found}
            if found is None:
                trap = any(_common(text, each["not"]) >= 0.5 for each in chat["traps"])
                one[f"{way} trap"] += trap
                missed(name, anchor, way, "a trap:" if trap else "beside gold:", text)
        one.update(recalled=len(taken["written"]), either=len(taken["written"] | taken["asked"]))
        for n in set(range(len(chat["worthy"]))) - taken["written"] - taken["asked"]:
            missed(name, "not found:", chat["worthy"][n]["turns"], chat["worthy"][n]["fact"])
        for group in ("all", chat["form"], chat["lang"]):
            count[group].update(one)
    for group, one in count.items():
        for way in ("written", "asked"):
            print(f"ingest {group}: {way} right {share(one[f'{way} right'], one[way])}, traps {one[f'{way} trap']}")
        print(f"    recall written {share(one['recalled'], one['gold'])}, or asked {share(one['either'], one['gold'])}")


def _match(chat: Row, text: str, anchor: str) -> int | None:
    """Which worthy fact a candidate holds: by the words both have, within its turns where an anchor names one."""
    line = re.search(r"#L(\d+)", anchor)
    at = sum(start <= int(line[1]) for start in chat["lines"]) if line else 0
    near = [n for n, each in enumerate(chat["worthy"]) if not at or each["turns"][0] <= at <= each["turns"][-1] + 1]
    best = max(near, key=lambda n: _common(text, chat["worthy"][n]["fact"]), default=None)
    return best if best is not None and _common(text, chat["worthy"][best]["fact"]) >= (0.4 if at else 0.5) else None


def _common(text: str, fact: str) -> float:
    a, b = _words(text), _words(fact)
    return len(a & b) / min(len(a), len(b)) if a and b else 0.0


def _words(text: str) -> set[str]:
    """Beginnings of words of four letters and more, numbers, and pairs of Chinese characters."""
    words = {
        word[:5] for word in re.findall(r"[^\W_\u4e00-\u9fff]+", text.casefold()) if len(word) > 3 or word.isdigit()
    }
    runs = re.findall(r"[\u4e00-\u9fff]+", text)
    return words | {run[i : i + 2] for run in runs for i in range(len(run) - 1)}


# -- months: how large bank/ is, how many questions a week ----------------------------------------------------------------


def months() -> None:
    weeks = [str(date(2026, 9, 7) + timedelta(weeks=n)) for n in range(11)]
    every: list[int] = []
    for name in dict.fromkeys(row["workspace"] for row in rows("changes.jsonl")):
        with folder(f"months-{name}") as root:
            seen: set[str] = set()
            fresh: list[int] = []
            waiting: list[Row] = []
            for week in weeks:
                write_month(root, name, week)
                command(root, "reflect", now=week)
                waiting = questions(root, week)
                now = {each["id"] for each in waiting}
                fresh.append(len(now - seen))
                seen |= now
            logs, bank = (sum(p.stat().st_size for p in root.glob(f"{part}/**/*.md")) for part in ("memory", "bank"))
            kinds = dict(Counter(each["kind"] for each in waiting))
            print(f"months {name}: bank {bank} / logs {logs} bytes = {bank / logs:.2f}")
            print(f"    new questions a week {fresh}; waiting at the end {kinds}")
            every += fresh
    every.sort()
    print(
        f"months: new questions a week, median {every[len(every) // 2]}, 90th percentile {every[len(every) * 9 // 10]}"
    )


# -- near: is the older line offered to whoever writes the newer one, and what does that cost where nothing changed? --------


def near() -> None:
    count: Tally = defaultdict(Counter)
    every = [*rows("changes.jsonl"), *(row | {"keyed": "update"} for row in rows("updates.jsonl"))]
    for name in dict.fromkeys(row["workspace"] for row in every):
        mine = [row for row in every if row["workspace"] == name and row.get("change", True) and row["older"]]
        older = {row["current"]: (row["keyed"], row["older"]) for row in reversed(mine)}
        with folder(f"near-{name}") as root, memctl.open(root, now=datetime.fromisoformat(NOW)) as memory:
            for source, done in retained(memory, name):
                group, gold = older.get(source, ("nothing changed", ()))
                group = {True: "keyed", False: "words"}.get(group, group)
                _near(count[group], memory.near(done)[0], gold, f"{name} {source}")
    for group, one in count.items():
        print(
            f"near {group}: older line among three {one['there']}, first {one['first']}; with a reason {one['reason']}, to people {one['telling']}"
        )
        shown = ", ".join(f"{one[f'{way} lines'] / one['all']:.2f} {way}" for way in ("there", "reason", "telling"))
        print(f"    lines offered for each of {one['all']} facts: {shown}")
        for door, (way, _) in DOORS.items():
            tokens = f"{one[f'{door} tokens'] / one['all']:.0f} tokens a fact"
            print(f"    {door}: the right line is shown {share(one[way], one['all'])}, {tokens}")


def retained(memory: memctl.Memory, name: str) -> Iterator[tuple[str, Any]]:
    """Every fact of a persona, retained one after the other in a log that ends before it; its citation in the whole log."""
    root = memory.workspace.root
    pages = {page["path"]: page["text"] for page in rows(f"months/{name}.jsonl")}
    for path, text in sorted(pages.items(), key=lambda page: (page[0] != "memory.md", page[0])):
        lines = text.splitlines(keepends=True)
        for n, line in enumerate(lines):
            if re.match(r"- [WBOS][ (:]", line):
                (root / path).write_text("".join(lines[:n]), "utf-8")
                memory.embed()
                yield f"{path}#L{n + 1}", memory.retain(line[2:], day=Path(path).stem)
        (root / path).write_text(text, "utf-8")


# What a door shows of the offers, and in which words; act says nearly what MCP says.
DOORS: dict[str, tuple[str, Callable[[Any], str]]] = {
    "MCP retain, act": ("reason", lambda each: f"- may replace {each.id} {each.older}"),
    "retain on stderr": ("telling", lambda each: f"may replace {each.older}: `memctl review {each.id} y`"),
    "hook after an edit": ("reason", lambda each: f"- {each.newer} may replace\n  {each.id} {each.older}"),
}


def _near(one: Counter[str], offered: Sequence[Any], gold: Sequence[str], what: str) -> None:
    right = [any(shows(each.sides[0], source) for source in gold) for each in offered]
    one.update(all=1, first=any(right[:1]))
    shown = {"reason": [each for each in offered if each.why], "telling": [each for each in offered if each.is_telling]}
    for way, those in {"there": offered, **shown}.items():
        found = [is_right for each, is_right in zip(offered, right, strict=True) if each in those]
        one.update({way: any(found), f"{way} lines": len(those)})
    for door, (way, told) in DOORS.items():
        text = dict.fromkeys("\n".join(map(told, shown[way])).split("\n"))
        one.update({f"{door} tokens": estimate("\n".join([*text, shown[way][0].HOW])) if shown[way] else 0})
    if gold and not any(right):
        missed(what, "is not offered its older line")


# -- answered: what comes of it where the agent that writes also answers ---------------------------------------------------

LATER = "2026-11-17"  # the day of its answers, so that no line of a log moves


def answered() -> None:
    for who, wrong_of in (("nobody", None), ("the truth", 0), ("y to one wrong offer in ten", 10)):
        count: Tally = defaultdict(Counter)
        for name in dict.fromkeys(row["workspace"] for row in (*rows("changes.jsonl"), *rows("updates.jsonl"))):
            at = datetime.fromisoformat(LATER)
            with folder(f"answered-{wrong_of}-{name}") as root, memctl.open(root, now=at) as memory:
                _answer_all(count, memory, name, wrong_of)
        one, update, asked = count["words"], count["updates"], count["asked"]
        print(f"answered by {who}: {asked['offers']} offers, {asked['y']} y, {asked['wrong']} of them wrong")
        print(f"    current first {one['first']}, older marked {one['older marked']} of {one['all']} changes in words")
        print(f"    updates right {share(update['right'], update['all'])}, an older one first {update['stale']}")
        print(f"    true facts closed: {asked['closed']}, after these answers were taken back {asked['left']}")


def _answer_all(count: Tally, memory: memctl.Memory, name: str, wrong_of: int | None) -> None:
    changed = [row for row in rows("changes.jsonl") if row["workspace"] == name and row["change"]]
    updates_ = [row for row in rows("updates.jsonl") if row["workspace"] == name]
    gold: dict[str, set[str]] = defaultdict(set)  # what each line replaces: of a series all before it
    for row in (*changed, *updates_):
        series = [*sorted(row["older"], key=_place), row["current"]]
        for n, source in enumerate(series):
            gold[source].update(series[:n])
    asked, closed = count["asked"], list[tuple[Any, str]]()
    for source, done in retained(memory, name):
        for each in memory.near(done)[0] if wrong_of is not None else ():
            if each.why:
                right = any(shows(each.sides[0], older) for older in gold[source])
                asked.update(offers=1, wrong_offers=not right)
                is_wrong = not right and bool(wrong_of) and not asked["wrong_offers"] % (wrong_of or 1)
                given = memory.answer(each.id, "y" if right or is_wrong else "n", said_by="agent")
                asked.update(y=right or is_wrong, wrong=is_wrong)
                closed += [(given, str(each.sides[0].source))] * is_wrong
    for row in changed:
        _change(count, row, memory.recall(row["question"], k=20).hits, set())
    for row in updates_:
        first = memory.recall(row["question"], k=10).hits[:1]
        right, stale = (any(shows(hit, at) for hit in first for at in its) for its in ([row["current"]], row["older"]))
        count["updates"].update(all=1, right=right, stale=stale)
    over = set().union(*gold.values())
    for when in ("closed", "left"):
        lost = [source for _, source in closed if source not in over and _is_closed(memory, source)]
        asked.update({when: len(lost)})
        for given, _ in reversed(closed) if when == "closed" else ():
            memory.take_back(given)


def _place(source: str) -> tuple[str, int]:
    path, _, line = source.partition("#L")
    return path, int(line)


def _is_closed(memory: memctl.Memory, source: str) -> bool:
    path, line = _place(source)
    text = (memory.workspace.root / path).read_text("utf-8").splitlines()[line - 1]
    return any(hit.superseded_by for hit in memory.recall(text.split(": ", 1)[1], k=5).hits if shows(hit, source))


SETS: dict[str, Callable[[], None]] = {
    "changes": changes, "updates": updates, "evidence": evidence, "prompts": prompts, "chats": chats, "months": months,
    "near": near, "answered": answered,
}  # fmt: skip


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__)
    reader.add_argument("sets", nargs="*", metavar="SET", help=", ".join(SETS))
    reader.add_argument("--of", metavar="FOLDER", help="under tests/data; unseen is the first one, which is spent")
    reader.add_argument("--only", metavar="NAME,…", help="of these workspaces alone, as the held half of a set")
    reader.add_argument("--list", action="store_true")
    reader.add_argument("--keep", type=Path)
    reader.parse_args(namespace=GIVEN)
    os.environ.setdefault("MEMCTL_VECTORS", "none")
    for name in GIVEN.sets or SETS:
        SETS[name]()


if __name__ == "__main__":
    main()
