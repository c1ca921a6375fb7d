"""When two spellings are the same name. Apart from names.py, so that a shell at TAB need not load that."""

import unicodedata
from functools import lru_cache


@lru_cache(maxsize=50_000)
def entity_key(name: str) -> str:
    """The form under which spellings of one name meet: case, ё/е, accents, `-`, `_` and spaces do not matter."""
    composed = unicodedata.normalize("NFC", name).replace("й", "и\ue000").replace("Й", "и\ue000")
    folded = unicodedata.normalize("NFKD", composed).casefold()
    letters = "".join(c for c in folded if not unicodedata.combining(c)).replace("и\ue000", "й")
    return " ".join(letters.replace("_", " ").replace("-", " ").split()) or name
