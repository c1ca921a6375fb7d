"""S13: callers who are not the owner are answered as if private lines did not exist, scores, order and refusals included."""

from __future__ import annotations

from random import Random

from test_as_if_absent import differences


def main(short: bool = False) -> bool:
    """At least 5,000 answers (short: 1,000) of random workspaces, with their private lines and without them."""
    wanted, compared, seed = 1_000 if short else 5_000, 0, 0
    differing: list[str] = []
    while compared < wanted:
        count, found = differences(Random(seed))
        compared, seed = compared + count, seed + 1
        differing += [f"workspace {seed - 1}, call {each}" for each in found]
    print(f"S13 answers {compared} that differ {len(differing)}")
    print("".join(f"   {each}\n" for each in differing[:5]), end="")
    return not differing
