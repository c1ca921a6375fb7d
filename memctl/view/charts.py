"""Charts by pygal: a timeline, the curve of a belief, the neighbours of an entity; as files of their own, or inside of a page.

Every chart has the same five series, so that one stylesheet fits all of them: what is over, what holds, marks, steps, points.
In a page there is no style and no script beside the picture: what pygal would put there stands in `chart_style`.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from itertools import pairwise
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree

import pygal
from pygal.style import Style

from ..beliefs.view import CurvePoint
from ..facts import Citation
from ..hits import Hit
from ..markdown.escape import one_line, printable
from .pictures import EntityGraph, Timeline, event_day

# pygal looks for its maps by a hook that warns on every later import of anybody (Python 3.11).
sys.meta_path[:] = [finder for finder in sys.meta_path if type(finder).__module__ != "pygal"]

Link = Callable[[Citation], str | None]  # where a line can be read, None where it cannot

_PLAIN = {
    "ink": "#1f2328",
    "paper": "#ffffff",
    "faint": "#59636e",
    "over": "#9aa4b0",
    "now": "#0b5cad",
    "mark": "#a3470f",
}
_OF_PAGE = {name: f"var(--{name})" for name in _PLAIN}
_NAME = 30  # characters beside a row
_ROW, _WIDE = 26, 900


def picture(drawn: Timeline | EntityGraph) -> str:
    """A timeline or a graph as an SVG file of its own; its links are those of the workspace, relative to its root."""
    if isinstance(drawn, EntityGraph):
        return graph_chart(drawn, {}, in_page=False)
    return timeline_chart(drawn, lambda citation: f"./{quote(citation.path)}#L{citation.line}", in_page=False)


def timeline_chart(found: Timeline, link: Link, in_page: bool = True) -> str:
    """A timeline as SVG: a bar for each version of a slot, a mark for each event, a line for each belief."""
    assert found.days.first and found.days.last
    first, last = found.days.first.toordinal(), max(found.days.last.toordinal(), found.days.first.toordinal() + 1)
    gap = (last - first) / 200
    series: list[list[Any]] = [[], [], [], [], []]
    labels: list[dict[str, Any]] = []
    rows: Sequence[Any] = [*found.slots, *([found.events] if found.events else []), *found.beliefs]
    for at, row in enumerate(rows):
        y = len(rows) - at
        if at < len(found.slots):
            labels.append({"label": _short(row.label(found.about)), "value": y})
            for hit in row.versions:
                begin = max(first, hit.valid.first.toordinal() if hit.valid.first else first)
                end = min(last, hit.valid.last.toordinal() + 1 if hit.valid.last else last)
                line = series[0 if hit.superseded_by or hit.expired else 1]
                edge = {"value": (max(end - gap, begin), y), "node": {"r": 0}}
                line += [_point(begin, y, _told(hit), link(hit.source)), edge, None]
        elif row is found.events:
            labels.append({"label": "happened", "value": y})
            days = ((hit, day) for hit in row if (day := event_day(hit)))
            series[2] += [_point(max(first, d.toordinal()), y, _told(hit), link(hit.source)) for hit, d in days]
        else:
            view, points = row
            labels.append({"label": _short(view.text), "value": y})
            _draw_curve(series, points, (first, last), (y - 0.4, 0.8), link)
    height = 70 + _ROW * max(2, len(rows))
    chart = _chart(series, _OF_PAGE if in_page else _PLAIN, height, (first, last), (0.4, len(rows) + 0.6))
    chart.y_labels = labels
    return _render(chart, f"Timeline of {found.about or 'the workspace'}", in_page)


def curve_chart(text: str, points: Sequence[CurvePoint], today: date, link: Link) -> str:
    """The confidence of a belief over time as SVG; every piece of evidence is a point that leads to its line."""
    first, last = points[0].day.toordinal(), max(today, points[-1].day).toordinal() + 1
    series: list[list[Any]] = [[], [], [], [], []]
    _draw_curve(series, points, (first, last), (0, 1), link)
    chart = _chart(series, _OF_PAGE, 190, (first, last), (0, 1))
    chart.y_labels = [0, 0.25, 0.5, 0.75, 1]
    return _render(chart, f"Confidence: {text}", in_page=True)


def graph_chart(found: EntityGraph, link: Mapping[str, str], in_page: bool = True) -> str:
    """An entity in the middle of its neighbours as SVG; `link` says where the page of a name is."""
    series: list[list[Any]] = [[], [], [], [], []]
    places = {found.name: (0.0, 0.0)}
    for at, name in enumerate(found.neighbours):
        angle = 2 * math.pi * at / len(found.neighbours)
        places[name] = (math.cos(angle), math.sin(angle))
    for edge in found.edges:
        series[3] += [places[edge.one], places[edge.other], None]
    for name, (x, y) in places.items():
        series[1 if name == found.name else 2].append(_point(x, y, one_line(name), link.get(name)))
    chart = _chart(series, _OF_PAGE if in_page else _PLAIN, 560, (-1.35, 1.35), (-1.2, 1.2))
    chart.config(print_labels=True, dots_size=6, show_x_labels=False, show_y_labels=False)
    chart.config(show_x_guides=False, show_y_guides=False)
    return _render(chart, f"Neighbours of {found.name}", in_page)


def chart_style() -> str:
    """The stylesheet of charts inside of a page: pygal's own, with the colours of the page."""
    chart = _chart([[(0, 0), (1, 1)], [], [], [], []], _OF_PAGE, 100, (0, 1), (0, 1))
    return next(node.text or "" for node in chart.render_tree().iter() if str(node.tag).endswith("style"))


def _draw_curve(
    series: list[list[Any]], points: Sequence[CurvePoint], ends: tuple[int, int], room: tuple[float, float], link: Link
) -> None:
    """Add the steps of a curve and a point for each piece of evidence; `room` is where 0 stands, and how far above it 1."""
    days = [max(ends[0], point.day.toordinal()) for point in points]
    for (day, point), (after, _) in pairwise([*zip(days, points, strict=True), (ends[1], points[-1])]):
        y = room[0] + room[1] * point.confidence
        told = f"{point.day}: {point.verdict}, {point.confidence:.2f}"
        series[3] += [(day, y), (after, y)]
        series[4].append(_point(day, y, told, link(point.source) if point.source else None))
    series[3].append(None)


def _chart(
    series: Iterable[list[Any]], colours: Mapping[str, str], height: int, xrange: tuple[float, float],
    range: tuple[float, float],
) -> Any:  # fmt: skip
    ink, faint = colours["ink"], colours["faint"]
    style = Style(
        background=colours["paper"], plot_background=colours["paper"], foreground=ink, foreground_strong=ink,
        foreground_subtle=faint, guide_stroke_color=faint, major_guide_stroke_color=faint, label_font_size=12,
        value_label_font_size=12, major_label_font_size=12, font_family="system-ui, sans-serif", stroke_width="inherit", transition="0s",
        opacity="1", stroke_opacity="1", colors=[colours[name] for name in ("over", "now", "mark", "now", "now")],
        value_colors=[ink] * 5,
    )  # fmt: skip
    chart = pygal.XY(
        style=style, js=(), no_prefix=True, show_legend=False, allow_interruptions=True, no_data_text="", margin=8, margin_right=44,
        width=_WIDE, height=height, xrange=xrange, range=range, disable_xml_declaration=True, dots_size=4,
    )  # fmt: skip
    chart.x_labels = [xrange[0] + (xrange[1] - xrange[0]) * share / 4 for share in (0, 1, 2, 3, 4)]
    chart.x_labels_major, chart.y_labels_major = [], []
    chart.x_value_formatter = lambda day: str(date.fromordinal(round(day))) if day > 2 else ""
    widths = ({"width": 12}, {"width": 12}, None, {"width": 2}, None)
    for name, values, width in zip(("over", "holds", "happened", "steps", "points"), series, widths, strict=True):
        more = {"stroke_style": width} if width else {"stroke": False}
        chart.add(name, values, show_dots=name != "steps", **more)
    return chart


def _point(x: float, y: float, told: str, target: str | None) -> dict[str, Any]:
    linked = {"xlink": {"href": target, "target": "_self"}} if target else {}
    return {"value": (x, y), "label": printable(told), **linked}


def _told(hit: Hit) -> str:
    return f"{hit.valid.first or hit.day or ''}: {one_line(hit.content)[:160]}"


def _short(name: str) -> str:
    text = printable(one_line(name))
    return text if len(text) <= _NAME else text[: _NAME - 1] + "…"


def _render(chart: Any, title: str, in_page: bool) -> str:
    """The chart as text, without comments, scripts and what they would show; in a page without styles too.

    Each link has a name for those who hear it.
    """
    extra = {"script", "title", "style", "defs"} if in_page else {"script", "title"}
    root = chart.render_tree()
    for parent in list(root.iter()):
        for child in list(parent):
            tag = child.tag.rpartition("}")[2] if isinstance(child.tag, str) else "script"
            if tag in extra or "tooltip-overlay" in child.get("class", ""):
                parent.remove(child)
    for node in root.iter():
        if str(node.tag).endswith("a") and (told := node.find("../desc")) is not None:
            node.set("aria-label", told.text or "")
    root.attrib.pop("id", None)
    root.set("role", "group")
    root.set("aria-label", printable(title))
    return ElementTree.tostring(root, encoding="unicode")
