"""How near a belief's confidence comes to the truth: `python bench/beliefs.py [--through-markdown]`.

Planted histories: a belief is stated, then 100 honest events are for it with the true share of their moment. Shapes:
stable; drifting (the share moves by .3 to .8 over the events); reversed (it turns round at once between the 30th and
the 70th event, and nobody says so); noisy (verdicts read from words: 40 % plain, 40 % weak, 20 % faint, wrong in 5, 20
and 35 % of cases); a loud liar (three lies beside every honest event) whose source is untrusted and so weighs nothing.
Harder, outside the 200: the same liar without that gate, 20 lies in one day from a trusted source (beside the 10th
event), a trusted source that lies once beside each event. Honest events come from three sources, none to three days
apart, so some share day and source; lies and truth of one moment come in any order.
Half of the statements have no number (.70); the others give the first true share with a normal error of .2.

The error is |confidence − true share at that event|, its mean over the histories of a shape, with 95 % bootstrap
intervals over histories. Evidence goes through `memctl.beliefs.confidence`; --through-markdown writes each history as a
workspace of logs, calls reflect at each checkpoint and reads the confidences of bank/opinions.md back.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date, datetime, timedelta
from functools import partial
from pathlib import Path
from random import Random
from typing import NamedTuple

from generate import init_workspace

import memctl
from memctl.beliefs.confidence import HIGHEST, LOWEST, Evidence, Ledger, confidence_shown, ledger, replay
from memctl.facts import UNSAID

EVENTS, CHECKPOINTS = 100, (5, 10, 20, 50, 100)
SHAPES = ("stable", "drifting", "reversed", "noisy", "liar, untrusted")
HARDER = ("liar, not gated", "trusted, 20 lies in a day", "trusted, lies steadily")
START = date(2025, 1, 1)
HONEST = ("", "user:anna", "agent")  # the first is the owner
READINGS = ((1.0, 0.05), (0.5, 0.2), (0.25, 0.35))  # strength of a reading, how often it is wrong
Interval = tuple[float, float, float]


class Event(NamedTuple):
    """Evidence, how many honest events came before its moment, and the true share then."""

    evidence: Evidence
    moment: int
    share: float


class History(NamedTuple):
    """A belief's statement and what came after it, oldest first."""

    shape: str
    stated: Evidence
    events: list[Event]


# -- histories --------------------------------------------------------------------------------------------------------


def make_histories(count: int, seed: int, shapes: Sequence[str] = SHAPES) -> list[History]:
    """`count` histories, as many of each shape."""
    return [
        make_history(shape, Random(f"{seed} {number} {shape}"))
        for shape in shapes
        for number in range(count // len(shapes))
    ]


def make_history(shape: str, rng: Random, events: int = EVENTS) -> History:
    """One history; equal for an equal state of `rng`."""
    shares = _shares(shape, rng, events)
    guessed = rng.random() < 0.5
    number = UNSAID if guessed else round(min(1.0, max(0.0, rng.gauss(shares[0], 0.2))), 2)
    stated, day = Evidence(START, "00000", "stated", number, guessed=guessed), START
    found: list[Event] = []
    for place, share in enumerate(shares):
        day += timedelta(rng.choice((0, 1, 1, 2, 3)))
        moment = [_evidence(day, share < 0.5, 1.0, source) for source in _lies(shape, place)]
        strength, wrong = rng.choices(READINGS, (40, 40, 20))[0] if shape == "noisy" else (1.0, 0.0)
        truth = (rng.random() < share) != (rng.random() < wrong)
        moment.append(_evidence(day, truth, strength, rng.choice(HONEST)))
        rng.shuffle(moment)
        found += [Event(item._replace(ref=f"{at:05}"), place, share) for at, item in enumerate(moment, len(found) + 1)]
    return History(shape, stated, found)


def _shares(shape: str, rng: Random, events: int) -> list[float]:
    """The true share at each event."""
    if shape == "drifting":
        first = rng.uniform(0.1, 0.9)
        room = [end for end in (0.1, 0.9) if abs(end - first) >= 0.3]
        end = rng.choice(room)
        last = first + (end - first) * rng.uniform(0.3 / abs(end - first), 1)
        return [first + (last - first) * place / (events - 1) for place in range(events)]
    if shape in ("stable", "noisy"):
        return [rng.uniform(0.05, 0.95)] * events
    share = abs(rng.uniform(0.75, 0.95) - rng.choice((0, 1)))
    turn = rng.randint(3 * events // 10, 7 * events // 10) if shape == "reversed" else events
    return [share] * turn + [1 - share] * (events - turn)


def _evidence(day: date, side: bool, strength: float, source: str) -> Evidence:
    return Evidence(day, "", "for" if side else "against", strength, source)


def _lies(shape: str, place: int) -> list[str]:
    """The sources of the lies that stand beside the honest event that `place` others came before."""
    if shape in ("liar, untrusted", "liar, not gated"):
        return ["web:spam"] * 3
    if shape == "trusted, lies steadily":
        return ["user:liar"]
    return ["user:liar"] * 20 if shape == "trusted, 20 lies in a day" and place == 9 else []


# -- rules ------------------------------------------------------------------------------------------------------------


def latest(items: Sequence[Evidence]) -> list[float]:
    """The newest item decides."""
    return [_clamped(_vote(item)) for item in items]


def mean(items: Sequence[Evidence]) -> list[float]:
    """All items count alike, the statement as one of them."""
    votes = [_vote(item) for item in items]
    return [_clamped(statistics.fmean(votes[:end])) for end in range(1, len(votes) + 1)]


def window(items: Sequence[Evidence]) -> list[float]:
    """The last ten items count alike: what forgetting would give and cost."""
    votes = [_vote(item) for item in items]
    return [_clamped(statistics.fmean(votes[max(0, end - 10) : end])) for end in range(1, len(votes) + 1)]


def hindsight(items: Sequence[Evidence]) -> list[float]:
    """Fixed steps from the last value: +.1 when reinforced, -.1 when weakened, -.2 when contradicted (arXiv:2512.12818)."""
    value, after = UNSAID, list[float]()
    for at, item in enumerate(items):
        if item.verdict == "against":
            value -= 0.1 if item.value < 1 else 0.2
        else:
            value = item.value if item.verdict == "stated" and at == 0 else value + 0.1
        value = min(1.0, max(0.0, value))
        after.append(_clamped(value))
    return after


def _vote(item: Evidence) -> float:
    return item.value if item.verdict == "stated" else float(item.verdict == "for")


def _clamped(value: float) -> float:
    return min(HIGHEST, max(LOWEST, value))


def counted(history: History) -> list[Event]:
    """What the rules are shown: all but the untrusted, unless the shape is about showing it."""
    gated = history.shape == "liar, untrusted"
    return [event for event in history.events if not (gated and event.evidence.source.startswith("web"))]


Step = Callable[[Sequence[Evidence]], list[float]]  # items, oldest first: the confidence after each
Rule = Callable[[History], list[float]]  # the confidence at each checkpoint


def by_step(step: Step, history: History) -> list[float]:
    """What a rule that is shown the counted evidence says at each checkpoint."""
    events = counted(history)
    confidences = step([history.stated, *(event.evidence for event in events)])
    return [confidences[sum(event.moment < count for event in events)] for count in CHECKPOINTS]


RULES: dict[str, Rule] = {
    "Beta": partial(by_step, replay),
    "Hindsight": partial(by_step, hindsight),
    "mean of all": partial(by_step, mean),
    "mean of last 10": partial(by_step, window),
    "latest wins": partial(by_step, latest),
}


# -- errors -----------------------------------------------------------------------------------------------------------


def errors(history: History, rule: Rule) -> list[float]:
    """The error at each checkpoint."""
    shares = {event.moment: event.share for event in history.events}
    return [abs(c - shares[count - 1]) for c, count in zip(rule(history), CHECKPOINTS, strict=True)]


def interval(values: Sequence[float], rng: Random, resamples: int) -> Interval:
    """The mean and its 95 % percentile bootstrap interval."""
    means = sorted(statistics.fmean(rng.choices(values, k=len(values))) for _ in range(resamples))
    return statistics.fmean(values), means[int(0.025 * resamples)], means[int(0.975 * resamples)]


def rows(histories: Iterable[History], resamples: int, rules: dict[str, Rule]) -> Iterator[tuple[str, list[Interval]]]:
    """For each rule the mean error at each checkpoint."""
    group = list(histories)
    for name, rule in rules.items():
        columns = zip(*(errors(history, rule) for history in group), strict=True)
        yield name, [interval(column, Random(f"{name} {at}"), resamples) for at, column in enumerate(columns)]


def print_errors(
    histories: Sequence[History], resamples: int, rules: dict[str, Rule] = RULES, summary: bool = True
) -> None:
    """A block for each shape and, with `summary`, one over the five shapes."""
    shapes = list(dict.fromkeys(history.shape for history in histories))
    groups = {shape: [h for h in histories if h.shape == shape] for shape in shapes}
    if summary and tuple(shapes) == SHAPES:
        groups["all five"] = list(histories)
    head = "".join(f"{f'after {count}':>17}" for count in CHECKPOINTS)
    for shape, group in groups.items():
        print(f"\n{f'{shape} (n={len(group)})':32}{head}")
        for name, cells in rows(group, resamples, rules):
            print(f"  {name:30}" + "".join(f"{_cell(cell):>17}" for cell in cells))


def _cell(cell: Interval) -> str:
    return "{} [{} {}]".format(*(f"{value:.3f}".removeprefix("0") for value in cell))


# -- the flags --------------------------------------------------------------------------------------------------------


def print_flags(histories: Sequence[History]) -> None:
    """What `contested` and `trend` say of the planted histories, and how far the confidences are off beside the flag."""
    print(f"\n{'the flags on these histories':30}{'contested after 20':>20}{'after 100':>11}", end="")
    print(f"{'rising':>8}{'falling':>9}{'error if contested':>20}{'if not':>8}")
    for shape in dict.fromkeys(history.shape for history in histories):
        group = [history for history in histories if history.shape == shape]
        early, late = ([_after(history, count) for history in group] for count in (20, EVENTS))
        off = [abs(found.confidence - history.events[-1].share) for found, history in zip(late, group, strict=True)]
        marked, unmarked = (
            [e for e, f in zip(off, late, strict=True) if f.contested is flag] for flag in (True, False)
        )
        contested, rising = (f.contested for f in late), (f.trend == "rising" for f in late)
        print(f"  {shape:28}{_share(f.contested for f in early):>20}{_share(contested):>11}{_share(rising):>8}", end="")
        print(f"{_share(f.trend == 'falling' for f in late):>9}{_mean(marked):>20}{_mean(unmarked):>8}")
    delays = [_delay(history) for history in histories if history.shape == "reversed"]
    late_by = f"{statistics.median(delays):g} events after the turn (median; at most {max(delays):g})"
    print(f"  reversed: contested {late_by}")


def _after(history: History, count: int) -> Ledger:
    return ledger([history.stated, *(e.evidence for e in counted(history) if e.moment < count)])


def _delay(history: History) -> float:
    """Events from the turn to the first look at which the belief is contested; infinite if there is none."""
    first = history.events[0].share
    turn = next(event.moment for event in history.events if event.share != first)
    looks = (count for count in range(turn + 1, EVENTS + 1) if _after(history, count).contested)
    return next(looks, float("inf")) - turn


def _share(flags: Iterable[bool]) -> str:
    return f"{statistics.fmean(flags):.0%}"


def _mean(values: Sequence[float]) -> str:
    return f"{statistics.fmean(values):.3f}".removeprefix("0") if values else "-"


# -- the change detector ----------------------------------------------------------------------------------------------


def print_detector(runs: int, seed: int) -> None:
    """How often `contested` fires after four contrary events, and how often for nothing."""
    print(f"\ncontested, and trend ({runs} runs each; one event a day; stated with the true share)")
    print(f"  {'':32}{'fires after 4':>15}{'trend says so':>15}{'false, one look':>17}{'false, ever':>13}")
    for share in (0.95, 0.9, 0.8):
        for length in (10, 20, 50):
            fired, turned, looks, ever = _detector(share, length, runs, Random(f"{seed} {share} {length}"))
            label = f"share {share:.2f}, {length} events before"
            print(f"  {label:32}{fired:>15.1%}{turned:>15.1%}{looks:>17.2%}{ever:>13.1%}")
    print("  one look: contested by the last of the events before; ever: by any of them. Nothing changed there.")


def _detector(share: float, length: int, runs: int, rng: Random) -> tuple[float, float, float, float]:
    fired = turned = looks = ever = 0
    for _ in range(runs):
        votes = [rng.random() < share for _ in range(length)]
        chain = [Evidence(START, "", "stated", share)]
        chain += [_evidence(START + timedelta(at), vote, 1.0, "") for at, vote in enumerate([*votes, *[False] * 4], 1)]
        alarms = [ledger(chain[: end + 1]).contested for end in range(1, length + 1)]
        after = ledger(chain)
        fired, turned = fired + after.contested, turned + (after.trend == "falling")
        looks, ever = looks + alarms[-1], ever + any(alarms)
    return fired / runs, turned / runs, looks / runs, ever / runs


# -- through Markdown -------------------------------------------------------------------------------------------------


def print_through_markdown(histories: Sequence[History], resamples: int) -> None:
    """The errors of what reflect writes, and how often that is what the ledger says."""
    print("\nthrough logs, reflect and bank/opinions.md (explicit evidence: the strength is 1, also of noisy readings)")
    read: list[tuple[float, float]] = []

    def reflected(history: History) -> list[float]:
        found = through_markdown(history)
        read.extend(zip(found, by_step(replay, plain(history)), strict=True))
        return found

    print_errors(histories, resamples, {"Beta, as reflect wrote it": reflected}, summary=False)
    equal = sum(f"{found:.2f}" == confidence_shown(expected) for found, expected in read)
    furthest = max(abs(found - expected) for found, expected in read)
    print(f"\n{equal} of {len(read)} confidences on the page are the ledger's; the furthest is {furthest:.3f} off")


def plain(history: History) -> History:
    """The history with every strength 1."""
    events = [event._replace(evidence=event.evidence._replace(value=1.0)) for event in history.events]
    return history._replace(events=events)


def through_markdown(history: History) -> list[float]:
    """The confidence that bank/opinions.md shows at each checkpoint; each reflect looks at what is new since the last."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        init_workspace(root)
        found, written, since = [], 0, None
        for count in CHECKPOINTS:
            events = [event for event in history.events if event.moment < count]
            new = [] if written else [(history.stated.day, _statement(history.stated))]
            new += [(event.evidence.day, _line(event.evidence)) for event in events[written:]]
            _append(root / "memory", new)
            today = events[-1].evidence.day
            with memctl.open(root, now=datetime(today.year, today.month, today.day, 12)) as memory:
                memory.reflect(since=str(since) if since else None)
                (belief,) = memory.beliefs()
            found.append(belief.curve[-1].confidence)
            written, since = len(events), today
    return found


def _statement(item: Evidence) -> str:
    return f"- O{'' if item.guessed else f'(c={item.value})'} @Peter: Prefers concise replies on WhatsApp. ^belief"


def _line(item: Evidence) -> str:
    source = f"src={item.source}, " if item.source else ""
    return f"- W({source}{item.verdict}=belief) @Peter: Message {int(item.ref)} of this thread. ^e{item.ref}"


def _append(folder: Path, lines: Iterable[tuple[date, str]]) -> None:
    """Add each line to the log of its day."""
    for day, line in lines:
        page = folder / f"{day}.md"
        head = "" if page.exists() else f"# {day}\n\n## Retain\n\n"
        with page.open("a", encoding="utf-8", newline="\n") as file:
            file.write(f"{head}{line}\n")


# -- faces ------------------------------------------------------------------------------------------------------------


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--histories", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--resamples", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=1000, help="of the change detector")
    parser.add_argument("--through-markdown", action="store_true", help="files, reflect and opinions.md; takes minutes")
    given = parser.parse_args()
    print(f"mean |confidence - true share| [95 % interval]; {given.histories} histories, seed {given.seed}")
    planted = make_histories(given.histories, given.seed)
    harder = make_histories(given.histories * len(HARDER) // len(SHAPES), given.seed, HARDER)
    if given.through_markdown:
        print_through_markdown([*planted, *(h for h in harder if h.shape.startswith("trusted"))], given.resamples)
        return
    print_errors(planted, given.resamples)
    print_errors(harder, given.resamples)
    print_flags([*planted, *harder])
    print_detector(given.runs, given.seed)


if __name__ == "__main__":
    main()
