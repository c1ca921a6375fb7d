"""The pages in a real browser: headless Chromium by Playwright, looked over by axe-core. `make browser` runs it.

Light and dark, narrow and wide, without JavaScript, by keyboard alone, in English, Russian and Chinese.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from face_helpers import memory_on, reflected_copy, write_pages

if not os.environ.get("MEMCTL_BROWSER"):
    pytest.skip("`make browser` runs these", allow_module_level=True)
api = pytest.importorskip("playwright.sync_api")
axe = pytest.importorskip("axe_core_python.sync_playwright")

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync"
PAGES = ("index", "entities", "beliefs", "review", "digest", "days")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """One browser for all tests."""
    if not CHROMIUM:
        pytest.fail("no Chromium on this machine: install the package `chromium`", pytrace=False)
    with api.sync_playwright() as play:
        made = play.chromium.launch(executable_path=CHROMIUM, args=FLAGS.split())
        yield made
        made.close()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pages of the fixture workspace, which speaks three languages."""
    folder = tmp_path_factory.mktemp("site")
    busy = {"memory/2025-11-29.md": "- B @Alice: Heard an owl\n" * 12}
    memory = memory_on(write_pages(reflected_copy(folder), busy), date(2025, 11, 30))
    memory.reflect()  # which writes a digest of such a week
    memory.pictures().write(folder / "out")
    return folder / "out"


def every_kind(site: Path) -> list[Path]:
    """A page of each kind: of entities one with charts, names and lines in all three languages; one of lines."""
    entity = next(path for path in (site / "entity").glob("*.html") if ">Alex Petrov</h1>" in path.read_text("utf-8"))
    return [*(site / f"{name}.html" for name in PAGES), entity, site / "lines" / "2025-11.html"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1600])
def test_axe_finds_nothing_serious(browser: Any, site: Path, scheme: str, width: int) -> None:
    """No serious or critical finding, nothing refused by the policy, and no page is wider than its window."""
    context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 800}, bypass_csp=False)
    page = context.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    shots = os.environ.get("MEMCTL_SHOTS")
    for path in every_kind(site):
        page.goto(path.as_uri())
        assert page.evaluate("getComputedStyle(document.body).maxWidth") == "1152px", "the stylesheet is read"
        found = axe.Axe().run(page)
        serious = [
            (each["id"], each["nodes"][0]["html"])
            for each in found["violations"]
            if each["impact"] in ("serious", "critical")
        ]
        assert not serious, (path.name, serious)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path.name
        if shots:
            page.screenshot(path=f"{shots}/{path.stem}-{scheme}-{width}.png", full_page=False)
    assert not said
    context.close()


def test_reading_works_without_scripts(browser: Any, site: Path) -> None:
    """From the first page to a belief, from its curve to the line that it rests on."""
    page = browser.new_context(java_script_enabled=False).new_page()
    page.goto((site / "index.html").as_uri())
    page.get_by_role("navigation", name="Pages").get_by_role("link", name="Beliefs").click()
    page.locator("figure.chart svg a").first.click(force=True)
    assert "/lines/" in page.url and "-L" in page.url
    assert page.locator("li:target").inner_text().strip()
    page.context.close()


def test_the_keyboard_reaches_all(browser: Any, site: Path) -> None:
    """The first key leads past the menu, the next ones to charts, which scroll, and to their points, which say what they are."""
    page = browser.new_page()
    page.goto((site / "beliefs.html").as_uri())
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    stops = [_next_stop(page)]
    assert stops[0].startswith("MAIN"), "the menu is left behind"
    while len(stops) < 200 and "stated, 0." not in stops[-1]:
        stops.append(_next_stop(page))
    assert stops[-1].startswith("FIGURE a "), stops
    assert "MAIN FIGURE " in stops, "a chart is reached before its points"
    page.keyboard.press("Enter")
    page.wait_for_url("**/lines/**")
    page.close()


def _next_stop(page: Any) -> str:
    """What the next Tab reaches: what it stands in, its tag, its name."""
    page.keyboard.press("Tab")
    return page.evaluate(
        """(() => { const at = document.activeElement, within = at.parentElement?.closest("figure, main, nav");
        return [within?.tagName, at.tagName, at.getAttribute("aria-label") ?? (at.tagName == "FIGURE" ? "" : at.textContent)].join(" ") })()"""
    )


@pytest.mark.parametrize("words", ["Lives in Riga", "Узнаёт куликов", "住在里斯本"])
def test_three_languages_are_shown(site: Path, words: str) -> None:
    """Each as its author wrote it."""
    assert any(words in path.read_text("utf-8") for path in site.rglob("*.html"))
