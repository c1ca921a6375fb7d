"""Time and memory against size: `python bench/scale.py --facts 10000 100000 1000000 --rows rows.jsonl`, then `--draw`.

Each step is a process of its own on a generated workspace, as a user runs it, so that its CPU time (user and system, of
all its processes) and its peak memory are its own; CPU, because a machine is seldom idle. The peak is the sum of the peaks
of the processes of a step, where the system tells it (Linux); no less was ever in use. `recall` is asked in a process for
each question, and in one process that stays. `reflect` looks at seven days for the first time, `night` does so again a day
of 50 lines later. A step over `--limit` CPU seconds is stopped, and its row says so. A row is added to `--rows` as soon as a step is done.
`--draw` draws what the rows tell into docs/images and prints it as a table; it needs pygal and resvg-py.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import date, timedelta
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from generate import LAST_DAY, cast_of, make_queries, make_workspace, page_of, vocabulary
from sets import rows_of

IMAGES = Path(__file__).parents[1] / "docs" / "images"
TOMORROW = LAST_DAY + timedelta(days=1)
WANTED_MIB = 400
TOLD_OF = 10_000  # facts of the workspace whose names the new day tells of


class Cost(NamedTuple):
    """What a process took: CPU seconds, MiB at its peak, and whether it was stopped."""

    cpu: float
    mib: float
    stopped: bool = False


def main() -> None:
    """Measure, or draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--facts", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--rows", type=Path, default=Path("scale.jsonl"), help="a row for each step is added here")
    parser.add_argument("--keep", type=Path, help="make the workspaces here and leave them there")
    parser.add_argument("--limit", type=int, default=3600, help="CPU seconds of a step")
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--draw", action="store_true")
    parser.add_argument("--stay", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.stay:
        stay(given.stay, given.questions)
    elif given.draw:
        draw(rows_of(given.rows))
    else:
        for facts in given.facts:
            folder = given.keep or Path(tempfile.mkdtemp(prefix="memctl-scale-"))
            try:
                for row in measure(folder / f"{facts}", facts, given.questions, given.limit):
                    print(json.dumps(row), flush=True)
                    with given.rows.open("a", encoding="utf-8") as out:
                        out.write(json.dumps({"facts": facts} | row) + "\n")
            finally:
                if not given.keep:
                    shutil.rmtree(folder)


# -- measuring --------------------------------------------------------------------------------------------------------


def measure(root: Path, facts: int, questions: int, limit: int) -> Iterator[dict[str, Any]]:
    """A row for each step."""
    if not root.exists():
        make_workspace(root, facts)
    memory, asked = root / ".memory", make_queries(questions + 2)
    shutil.rmtree(memory, ignore_errors=True)

    def step(*words: str, day: date = LAST_DAY) -> Cost:
        return cost([sys.executable, "-m", "memctl", *words, "-w", str(root)], day, limit)

    yield _row("index", [step("index", "--no-vectors", "--quiet")])
    written = sum(page.stat().st_size for page in root.rglob("*.md"))
    size = sum(file.stat().st_size for file in memory.glob("index.sqlite*"))
    yield {"step": "size", "markdown": written, "index": size}
    answers = [step("recall", question) for question in asked][2:]  # the first ones warm the page cache
    yield _row("recall", answers)
    done = subprocess.run(
        [sys.executable, __file__, "--stay", str(root), "--questions", str(questions)],
        env=_environment(LAST_DAY), capture_output=True, text=True, check=True,
    )  # fmt: skip
    yield json.loads(done.stdout)
    yield _row("sync", list(saved(root, step)))
    yield _row("context", [step("context", question) for question in asked[:10]])
    yield _row("reflect", [step("reflect", "--since", "7d")])
    words, cast = vocabulary(1), cast_of(1, TOLD_OF)
    (root / "memory" / f"{TOMORROW}.md").write_text(page_of(Random("new day"), words, cast, TOMORROW, 50), "utf-8")
    yield _row("night", [step("reflect", "--since", "7d", day=TOMORROW)])
    largest = max((root / "bank").rglob("*.md"), key=lambda page: page.stat().st_size)
    yield {"step": "bank", "largest": largest.stat().st_size, "page": largest.name}
    yield _row("review", [step("review", day=TOMORROW)])


def saved(root: Path, step: Any) -> Iterator[Cost]:
    """`memctl index` after a line was added to the newest page."""
    page = max((root / "memory").glob("*.md"))
    for number in range(10):
        with page.open("a", encoding="utf-8") as stream:
            stream.write(f"- W @Bench: saved once more, number {number}\n")
        yield step("index", "--no-vectors", "--quiet")


def stay(root: Path, questions: int) -> None:
    """Print the row of recall in this process, which stays."""
    import memctl

    times = []
    with memctl.open(root) as memory:
        for number, question in enumerate(make_queries(questions + 2)):
            start = time.process_time()
            memory.recall(question)
            times += [time.process_time() - start] if number >= 2 else []
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(_row("recall, in a process that stays", [Cost(each, peak) for each in times])))


def _row(step: str, found: Sequence[Cost]) -> dict[str, Any]:
    times = sorted(each.cpu for each in found)
    return {
        "step": step, "runs": len(times), "p50": statistics.median(times), "p99": times[-1 - len(times) // 100],
        "mib": max(each.mib for each in found), "stopped": any(each.stopped for each in found),
    }  # fmt: skip


def cost(command: Sequence[str], day: date, limit: int) -> Cost:
    """Run a command; what it and the processes it started took."""

    def bound() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))

    child = subprocess.Popen(
        command, env=_environment(day), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=bound
    )
    peaks: dict[int, float] = {child.pid: 0.0}
    over = threading.Event()
    watcher = threading.Thread(target=_watch, args=(peaks, over))
    watcher.start()
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    over.set()
    watcher.join()
    largest = used.ru_maxrss / 1024  # of one process; Linux tells kilobytes
    return Cost(used.ru_utime + used.ru_stime, max(largest, sum(peaks.values())), child.returncode < 0)


def _watch(peaks: dict[int, float], over: threading.Event) -> None:
    """Note the peak of a process and of those it started, in MiB, until it is over."""
    while not over.wait(0.05):
        for each in list(peaks):
            with suppress(OSError, IndexError):  # it is gone, or this system does not tell
                status = Path(f"/proc/{each}/status").read_text("ascii")
                peaks[each] = int(status.partition("VmHWM:")[2].split()[0]) / 1024
                for child in Path(f"/proc/{each}/task/{each}/children").read_text("ascii").split():
                    peaks.setdefault(int(child), 0.0)


def _environment(day: date) -> dict[str, str]:
    return os.environ | {"MEMCTL_NOW": f"{day}T12:00", "MEMCTL_VECTORS": "none"}


# -- drawing ----------------------------------------------------------------------------------------------------------


def draw(rows: Sequence[dict[str, Any]]) -> None:
    """Two pictures and a table."""
    found = {(row["step"], row["facts"]): row for row in rows}
    sizes = sorted({row["facts"] for row in rows})
    steps = [step for step in dict.fromkeys(row["step"] for row in rows) if "p50" in found[step, sizes[0]]]
    print("| | " + " | ".join(f"{size:,} facts" for size in sizes) + " |")
    print("|---|" + "---|" * len(sizes))
    for step in steps:
        print(f"| {step} | " + " | ".join(_cell(found.get((step, size))) for size in sizes) + " |")
    for step, name in (("size", "index"), ("size", "markdown"), ("bank", "largest")):
        cells = (found.get((step, size), {}).get(name) for size in sizes)
        print(f"| {name}, MB | " + " | ".join(f"{cell / 1e6:,.2f}" if cell else "" for cell in cells) + " |")
    labels = [f"{size:,} facts" for size in sizes]
    seconds = {step: [_of(found, step, size, "p50") for size in sizes] for step in steps}
    _chart(
        "scale-time", "CPU seconds of one call, median", labels, seconds, logarithmic=True, y_labels=_decades(seconds)
    )
    memory = {step: [_of(found, step, size, "mib") for size in sizes] for step in steps}
    memory[f"wanted: {WANTED_MIB} MiB"] = [float(WANTED_MIB)] * len(sizes)
    _chart("scale-memory", "Memory at its peak, MiB", labels, memory, include_x_axis=True)


def _decades(series: dict[str, list[float | None]]) -> list[float]:
    """The powers of ten from below the least value to above the greatest."""
    values = [value for each in series.values() for value in each if value]
    return [10.0**power for power in range(math.floor(math.log10(min(values))), math.ceil(math.log10(max(values))) + 1)]


def _of(found: dict[tuple[str, int], dict[str, Any]], step: str, size: int, name: str) -> float | None:
    row = found.get((step, size))
    return None if row is None or row["stopped"] else round(row[name], 4)


def _cell(row: dict[str, Any] | None) -> str:
    if row is None:
        return "not measured"
    if row["stopped"]:
        return f"stopped after {row['p50']:,.0f} s; {row['mib']:,.0f} MiB"
    times = [row["p50"]] + ([row["p99"]] if row["runs"] >= 100 else [])
    unit = ", ".join(f"{each * 1000:,.0f} ms" if each < 1 else f"{each:,.1f} s" for each in times)
    return f"{unit}; {row['mib']:,.0f} MiB"


def _chart(name: str, title: str, labels: list[str], series: dict[str, list[float | None]], **options: Any) -> None:
    """A picture for light and dark pages, as SVG and PNG: on white, without scripts or fonts of somebody else."""
    import pygal
    import resvg_py
    from pygal.style import Style

    colours = ("#0b5cad", "#a3470f", "#1f7a3d", "#7a3d9a", "#b8860b", "#59636e", "#c0392b", "#00798c", "#9aa4b0")
    style = Style(
        background="#ffffff", plot_background="#ffffff", colors=colours, font_family="system-ui, sans-serif",
        title_font_size=18, label_font_size=13, legend_font_size=13, major_label_font_size=13,
        guide_stroke_color="#d0d7de", major_guide_stroke_color="#d0d7de", guide_stroke_dasharray="2,3",
    )  # fmt: skip
    chart = pygal.Line(
        style=style, js=(), title=title, legend_at_bottom=False, width=960, height=480, dots_size=4, margin=16, margin_right=56, value_formatter=lambda value: f"{value:g}",
        stroke_style={"width": 2.5}, disable_xml_declaration=True, truncate_legend=-1, **options,
    )  # fmt: skip
    chart.x_labels = labels
    for step, values in series.items():
        chart.add(step, values)
    text = re.sub(r"<!--.*?-->\s*|<script.*?</script>\s*", "", chart.render(is_unicode=True), flags=re.DOTALL)
    (IMAGES / f"{name}.svg").write_text(text + "\n", encoding="utf-8")
    (IMAGES / f"{name}.png").write_bytes(resvg_py.svg_to_bytes(svg_string=text, width=1440))


if __name__ == "__main__":
    main()
