"""S7 over HTTP: the matrix of tests/server/test_http_matrix.py; in the long run 2,000 of all combinations beside it."""

from __future__ import annotations

import itertools
import random
import tempfile
from pathlib import Path

from face_helpers import write_pages
from http_helpers import serving
from test_http_matrix import DIMENSIONS, PAGES, cases, send


def main(short: bool = False) -> bool:
    """Every request has the status that it earns; prints how many did not."""
    asked = list(cases())
    if not short:
        everything = list(itertools.product(*DIMENSIONS))
        for case in random.Random(7).sample(everything, 2_000):
            statuses = (values[value] for values, value in zip(DIMENSIONS, case, strict=True))
            asked.append((case, next(filter(None, statuses), None)))
    with tempfile.TemporaryDirectory() as folder, serving(write_pages(Path(folder).resolve(), PAGES)) as server:
        got = [(case, expected or 200, send(server, case).status) for case, expected in asked]
    accepted = [case for case, expected, status in got if status == 200 != expected]
    refused = [case for case, expected, status in got if status != expected == 200]
    other = [(case, expected, status) for case, expected, status in got if status != expected]
    print(
        f"S7 HTTP requests {len(got)} wrongly accepted {len(accepted)} wrongly refused {len(refused)} other status {len(other)}"
    )
    for each in other[:5]:
        print(f"   {each}")
    return not other
