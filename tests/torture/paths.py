"""S4: names that lead out, that hang, that no file system takes, or that only look like something else."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterator
from pathlib import Path

SECRET = "the moon is made of cheese"
LONG = "a" * 300

OUT = (
    "..", "../secret.md", "../../etc/passwd", "memory/../../secret.md", "memory/../../../../../../etc/passwd",
    "/etc/passwd", "//etc/passwd", "/etc/../etc/passwd", "./../secret.md", "memory//..//..//secret.md",
    "bank/./../../secret.md", "../w/../secret.md", "/proc/self/environ", "/dev/stdin", "/dev/zero",
    "bank/../memory/../../secret.md", "link.md", "folder/secret.md", "folder/../../secret.md", "bank/deep/link.md",
    "chain.md", "loop.md", "dangling.md", "folder", "memory/link.md", "../" * 60 + "etc/passwd",
    "folder/deep/../secret.md",
)  # fmt: skip
ODD = (
    "", ".", "./", "/", "memory", "memory/", "bank/", "fifo.md", "bank/fifo.md", "socket.md", "device.md", "no.md",
    "memory/no.md", LONG, LONG + ".md", f"memory/{LONG}.md", f"{LONG}/{LONG}.md", "a/" * 2500 + "x.md", "x" * 5000,
    "\0", "a\0b.md", "memory/\0.md", "CON", "con.md", "NUL.md", "AUX", "LPT1.md", "C:\\Windows\\win.ini",
    "\\\\server\\share\\x.md", "..\\secret.md", "memory\\..\\..\\secret.md", "~", "~/x.md", "~root/.bashrc",
    "$HOME/x.md", "*", "*.md", "memory/*.md", "[a-z].md", "?.md", "a\nb.md", "a\r\nb.md", "\n", "\t.md", " ", "  .md",
    "x .md", " x.md", "trailing.md ", "trailing.md.", ".md", "..md", "...md", "....", ".memory/index.sqlite",
    ".memory/lock", ".git/config", ".hidden.md", "-rf.md", "--help.md", "-", "file:///etc/passwd",
    "http://example.com/x.md", "x.md?y", "x.md#", "#L12", "#L12#L12", "x#L5.md", "100%.md", "%2e%2e/secret.md",
    "%00.md", "\ufeff.md", "\u202egnp.md", "\u200b.md", "\ud800.md", "\udcff.md", "memory/\udcff\udcfe.md", "кот.md",
    "память/кот.md", "猫.md", "😀.md", "e\u0301.md", "\u00e9.md", "\u1100\u1161.md", "ﬁ.md", "İ.md", "ß.md",
    "a" * 252 + ".md", "я" * 127 + ".md", "я" * 128 + ".md", "dir.md", "dir.md/x.md", "page.md/x.md", "page.md/",
    "page.md/..", "page.md/../page.md", "memory/2025-11-27.md/", "memory/./2025-11-27.md", "memory//2025-11-27.md",
    "unreadable.md",
)  # fmt: skip
READABLE = (
    "x#L5.md", "кот.md", "猫.md", "😀.md", "x .md", " x.md", "-rf.md", "100%.md", "a'b\".md", "back\\slash.md", "a\nb.md",
    "e\u0301.md", "bank/#L12.md",
)  # fmt: skip

DAYS = (
    "..", "../x", "2025-11-27/../../x", "/etc/passwd", "2025-11-27\n", "2025-13-01", "2025-02-30", "0000-00-00",
    "99999-01-01", "-1", "CON", "2025-11-27-../x", "\\..\\x", "%2e%2e", "٢٠٢٥-١١-٢٧", "2025-11-27;rm", "$(id)",
    "2025-11", "2025", "last week",
)  # fmt: skip


def lay_out(base: Path) -> Path:
    """A workspace `base/w` full of traps, beside a secret that no answer may hold."""
    root = base / "w"
    for folder in ("memory", "bank/deep", "dir.md"):
        (root / folder).mkdir(parents=True)
    (base / "out").mkdir()
    for name in ("secret.md", "out/secret.md"):
        (base / name).write_text(f"{SECRET}\n")
    (root / "page.md").write_text("a page\n")
    (root / "memory/2025-11-27.md").write_text("# 2025-11-27\n\n## Retain\n\n- W: One\n")
    for name in READABLE:
        (root / name).write_text("readable\n")
    for name in ("link.md", "bank/deep/link.md", "memory/link.md", "memory/2025-11-27-link.md"):
        (root / name).symlink_to(base / "secret.md")
    (root / "chain.md").symlink_to(root / "link.md")
    (root / "folder").symlink_to(base / "out")
    (root / "loop.md").symlink_to(root / "loop.md")
    (root / "dangling.md").symlink_to(base / "nothing")
    for name in ("fifo.md", "bank/fifo.md", "memory/2025-11-27-fifo.md"):
        os.mkfifo(root / name)
    return root


def names() -> Iterator[str]:
    """Every name of the corpus, in both normal forms, each once."""
    for name in dict.fromkeys((*OUT, *ODD)):
        yield name
        decomposed = unicodedata.normalize("NFD", name)
        if decomposed != name and decomposed not in ODD:
            yield decomposed
