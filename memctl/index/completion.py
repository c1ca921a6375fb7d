"""What an index knows that can be typed: names, keys, ids, days and pages, for a shell at TAB.

It reads the file as it is and loads nothing but SQLite: an answer is due in a few milliseconds.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False  # as in typing, which is not loaded either
if TYPE_CHECKING:
    from sqlite3 import Error, connect
    from typing import Any
else:
    try:
        from _sqlite3 import Error, connect  # sqlite3 would load datetime first: a third of the time there is
    except ImportError:
        from sqlite3 import Error, connect

_MOST, _FEW = 200, 20  # candidates at most: more than fit on a screen; ids, each of which is told with its line
_USUAL = ("", "f", "f-")  # how most ids begin: the newest lines, one after the other, are soon enough of them
_END = "\U0010ffff"

# `next` goes from name to name through the primary key: a name that stands on 100,000 lines is one step.
_NAMES = """
WITH RECURSIVE next (name) AS (
    SELECT min(name) FROM mention WHERE name >= :low
    UNION ALL SELECT (SELECT min(name) FROM mention WHERE name > next.name) FROM next WHERE next.name < :high LIMIT :most
), told (key, entry) AS (
    SELECT name, (SELECT max(entry) FROM mention WHERE mention.name = next.name) FROM next WHERE name < :high
)
SELECT key, name, NULL, NULL FROM (SELECT key, name FROM named WHERE key >= :low AND key < :high LIMIT :most)
UNION ALL
SELECT told.key, NULL, page.path, entry.line FROM told JOIN entry ON entry.id = told.entry JOIN page ON page.id = entry.page
WHERE told.key NOT IN (SELECT key FROM named)
"""
_KEYS = "SELECT DISTINCT key FROM slot WHERE key >= :low AND key < :high LIMIT :most"
_DAYS = "SELECT DISTINCT day FROM page WHERE day >= :low AND day < :high ORDER BY day DESC"
_PAGES = "SELECT path, title FROM page WHERE path >= :low AND path < :high ORDER BY path LIMIT :most"
_IDS = """
SELECT live.ref, page.path, live.line, page.size, page.mtime_ns FROM live JOIN page ON page.id = live.page
WHERE {ref} >= :low AND {ref} < :high AND live.role = 'fact'
ORDER BY live.day DESC, live.id DESC LIMIT :few
"""

_QUERIES = {"names": _NAMES, "keys": _KEYS, "days": _DAYS, "pages": _PAGES, "ids": _IDS}


def typeable(root: str, what: str, begun: str) -> list[tuple[Any, ...]]:
    """What the index below `root` knows that begins so; nothing where there is none, or it cannot be read now.

    `names` (of which the key begins so): key, spelling, or else path and line where it is spelled. `keys` of slots. `days` of
    logs, newest first. `pages`: path, title. `ids` of facts, newest first: id, path, line, how the page was when it was read.
    """
    path = os.path.join(os.path.abspath(root), ".memory", "index.sqlite")
    # Nobody writes where there is no journal; to read past one takes a lock, and files beside the index.
    mode = "mode=ro" if os.path.exists(f"{path}-wal") else "mode=ro&immutable=1"
    spelled = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    # With a + no index serves: then lines are read from the newest on.
    sql = _QUERIES[what].replace("{ref}", "+live.ref" if begun in _USUAL else "live.ref")
    try:
        db = connect(f"file:{spelled}?{mode}", uri=True, timeout=0)
        try:
            return db.execute(sql, {"low": begun, "high": begun + _END, "most": _MOST, "few": _FEW}).fetchall()
        finally:
            db.close()
    except Error:
        return []
