"""R9: whatever stands in a page, writing a managed block of it leaves every other byte as it is."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from test_blocks import BODIES, NAMES, PAGES, outside_stays


def main(short: bool = False) -> bool:
    """2,000 pages (short: 300) of any bytes, line ends and markers."""
    examples = 300 if short else 2000
    run = settings(max_examples=examples, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    try:
        run(given(PAGES, NAMES, BODIES, BODIES)(outside_stays))()
    except Exception as error:  # hypothesis reports the shortest failing page through its notes
        print(f"R9 pages {examples} with a byte changed outside the block 1")
        print(f"   {type(error).__name__}: {error}\n" + "\n".join(getattr(error, "__notes__", ())))
        return False
    print(f"R9 pages {examples} with a byte changed outside the block 0")
    return True
