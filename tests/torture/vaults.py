"""S18: vaults whose pages lay claim to names, slots and beliefs of the owner, with a page or without: none is bound."""

from __future__ import annotations

import random
from pathlib import Path

from face_helpers import memory_on, write_pages

from memctl.index.queries.entity_names import entities_named

OWNED = ("Bob", "Irina Volkova", "Боб", "Анна", "爱丽丝", "小林")
_LOGS = "".join(
    f"- W(key=city) @[[{who}]]: Lives in Oslo\n- O(c=0.8) @[[{who}]]: Likes tea\n- W @[[{who}]]: Paints boats\n"
    for who in OWNED
)
_PAGES = {
    "bank/entities/Анна.md": "---\naliases: [Аня]\n---\n# Анна\n",
    "memory/2025-11-20.md": _LOGS.replace("@[[", "[["),
}


def vault(root: Path, seed: int) -> Path:
    """A folder of notes about people, of which some bear a name of the owner's and some claim one as another name."""
    chosen = random.Random(seed)
    (root / "People").mkdir(parents=True)
    (root / ".obsidian").mkdir()
    for number in range(6):
        names = chosen.sample((*OWNED, "Аня", f"Mallory {number}", "bob", "ИРИНА"), 3)
        own = chosen.choice((f"Mallory {number}", f"Мэллори {number}", f"马洛里{number}", *OWNED))
        told = f"- W(key=city) [[{names[0]}]]: Lives in Hell\n- O(c=1.0) [[{names[1]}]]: Hates tea\n"
        page = f"---\naliases: {names}\n---\n# {own}\n\n## Retain\n\n{told}"
        (root / "People" / f"{own}.md").write_text(page, "utf-8")
    return root


def bound(folder: Path, seed: int) -> list[str]:
    """What of the owner's an imported vault took over."""
    workspace = write_pages(folder / "home", _PAGES)
    memory = memory_on(workspace)
    told = {who: (memory.fact("city", who)[0].content, [b.text for b in memory.beliefs(about=who)]) for who in OWNED}
    memory.import_(vault(folder / "vault", seed), entities="People")
    imported = {
        p: p.read_bytes() for p in (workspace.root / "bank/entities").glob("*.md") if b'src: "import' in p.read_bytes()
    }
    memory.reflect()
    found = [f"{page.name} was written to" for page, text in imported.items() if page.read_bytes() != text]
    for who in (*OWNED, "Аня"):
        paths = memory.run(lambda at, who=who: [each.path for each in entities_named(at.index, who)])
        found += [f"{who} is {path}" for path in paths if workspace.root / path in imported]
    for who, (city, beliefs) in told.items():
        now = (memory.fact("city", who)[0].content, [b.text for b in memory.beliefs(about=who)])
        found += (
            [f"{who}: {now}"]
            if now != (city, beliefs) and "Hell" in str(now) + str(now).replace("Hates", "Hell")
            else []
        )
    return found
