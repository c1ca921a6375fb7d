"""schemathesis against /openapi.json of a server on a real socket: what the document promises, and what it forbids."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator

import pytest
import schemathesis
from face_helpers import write_pages
from http_helpers import Running, serving
from hypothesis import HealthCheck, settings
from schemathesis.specs.openapi.checks import positive_data_acceptance
from strategies import examples

from memctl.server.http_routes import ROUTES, openapi

PAGES = {
    "memory.md": "# Memory\n\nAlice keeps the keys.\n",
    "memory/2025-11-01.md": "- W(key=db) @Atlas: The database is PostgreSQL\n- O(c=0.9) @Ирина: любит кофе\n- W @爱丽丝: 喜欢简短的回复\n",
}
QUIET = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]


REFUSED = ["400", "401", "403", "404", "405", "413", "415", "422", "503"]
CONFIG = schemathesis.Config.from_dict({"checks": {"negative_data_rejection": {"expected-statuses": REFUSED}}})
api = schemathesis.openapi.from_dict(json.loads(json.dumps(openapi("http://127.0.0.1"))), config=CONFIG)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server that runs."""
    with serving(write_pages(tmp_path_factory.mktemp("schema"), PAGES)) as made:
        yield made


@api.parametrize()
@settings(
    max_examples=examples(400, 4, 100), derandomize="MEMCTL_TORTURE" not in os.environ, suppress_health_check=QUIET
)
def test_every_route_keeps_to_its_schema(case: schemathesis.Case, server: Running) -> None:
    """Every answer has a documented status, type and shape, none is 5xx; what the schema forbids is refused, and so is
    what has no token. That everything it allows is answered is not promised: "next Blursday" is a text, and no day."""
    headers = {"Authorization": f"Bearer {server.token}"}
    case.call_and_validate(base_url=server.url, headers=headers, excluded_checks=[positive_data_acceptance])


def test_the_document_is_valid(server: Running) -> None:
    """OpenAPI 3.1, what the server shows is what is checked here, and every route is in it."""
    api.validate()
    assert server.get("/openapi.json").json | {"servers": []} == json.loads(json.dumps(openapi("") | {"servers": []}))
    assert sum(1 for _ in api.get_all_operations()) == len(ROUTES)
