"""The pictures of docs/: `python bench/screens.py`. Terminals as a terminal shows them, drawn by rich; pages by a headless Chromium.

Commands run in a pseudo-terminal, in a copy of fixtures/workspace as of 2025-11-30. Look at the pictures before you commit them.
"""

from __future__ import annotations

import argparse
import os
import pty
import re
import shutil
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).parents[1]
IMAGES = ROOT / "docs" / "images"
COLUMNS = 92
TERMINALS = {
    "recall": ["recall", "why did Curlew move to PostgreSQL?", "-k", "2"],
    "timeline": ["timeline", "@Irina"],
}


def main() -> None:
    """Write each picture."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        notes = Path(folder) / "notes"
        shutil.copytree(ROOT / "fixtures" / "workspace", notes)
        shown(notes, ["index"])
        for name, words in TERMINALS.items():
            console = Console(width=COLUMNS, record=True, file=open(os.devnull, "w"))  # noqa: SIM115 - for the whole run
            console.print(Text("$ memctl " + " ".join(word if " " not in word else f'"{word}"' for word in words)))
            console.print(Text.from_ansi(shown(notes, words)))
            drawn = console.export_svg(title="memctl", font_aspect_ratio=0.61)
            plain = re.sub(r"@font-face \{.*?\}\s*", "", drawn, flags=re.DOTALL)  # fonts of somebody else's server
            (IMAGES / f"{name}.svg").write_text(re.sub(r"<!--.*?-->\s*", "", plain), encoding="utf-8")
        shown(notes, ["reflect"])
        shown(notes, ["view", "--out", str(notes.parent / "site")])
        photograph(notes.parent / "site" / "index.html")


def shown(notes: Path, words: list[str]) -> str:
    """What a terminal shows of a command."""
    child, terminal = pty.fork()
    if not child:
        env = {"MEMCTL_NOW": "2025-11-30", "MEMCTL_VECTORS": "none", "COLUMNS": str(COLUMNS), "TERM": "xterm-256color"}
        os.environ |= env | {"MEMCTL_PAGER": "cat", "PAGER": "cat", "PYTHONPATH": str(ROOT)}
        os.chdir(notes)
        os.execv(sys.executable, [sys.executable, "-m", "memctl", *words])
    said = b""
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        said += piece
    os.waitpid(child, 0)
    return said.decode("utf-8").replace("\r\n", "\n")


def photograph(page: Path) -> None:
    """A name in a view, light and dark."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for scheme in ("light", "dark"):
            tab = browser.new_page(viewport={"width": 1100, "height": 760}, color_scheme=scheme)
            tab.goto(page.as_uri())
            tab.get_by_role("link", name="Irina Volkova").first.click()
            tab.screenshot(path=str(IMAGES / f"view-{scheme}.png"))
        browser.close()


if __name__ == "__main__":
    main()
