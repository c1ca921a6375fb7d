"""One flag, one profile and no model for all tests."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# In `make torture` every property is tried with as many examples as Hypothesis has by itself, or more; `make mutants` sets the other.
_EXAMPLES = 100 if os.environ.get("MEMCTL_TORTURE") else 20 if os.environ.get("MUTANT_UNDER_TEST") else 10
settings.register_profile("memctl", deadline=None, max_examples=_EXAMPLES, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("memctl")
os.environ["MEMCTL_VECTORS"] = (
    "none"  # the same answers whatever is installed; tests of vectors bring a model of their own
)

# What a script starts in the background ignores Ctrl-C, and so would every process of the tests.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

_MEMORY = Path("/dev/shm")
if "TMPDIR" not in os.environ and os.access(_MEMORY, os.W_OK) and shutil.disk_usage(_MEMORY).free > 2 << 30:
    tempfile.tempdir = os.environ["TMPDIR"] = str(_MEMORY)  # the folders of tests need no disk: nobody pulls the plug


def pytest_addoption(parser: pytest.Parser) -> None:
    """`pytest --update-corpus` writes tests/corpus/*.expected anew; read the diff before you commit it."""
    parser.addoption("--update-corpus", action="store_true", help="write tests/corpus/*.expected anew")


@pytest.fixture
def update_corpus(request: pytest.FixtureRequest) -> bool:
    """True when the expected files are to be written instead of compared."""
    return bool(request.config.getoption("--update-corpus"))


_LONG = frozenset(Path(__file__).with_name("long.txt").read_text("utf-8").splitlines())


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """A file all of whose tests are long is not even imported where none is asked for."""
    name = f"tests/{os.path.relpath(collection_path, Path(__file__).parent)}".replace(os.sep, "/")
    return True if config.option.markexpr == "not long" and name in _LONG else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests marked slow run in `make torture`, and where -m asks for them: `pytest -m slow`; those of long.txt are marked long."""
    for item in items:
        if not _LONG.isdisjoint((item.nodeid.partition("[")[0], item.nodeid.partition("::")[0])):
            item.add_marker("long")
    if "slow" not in config.option.markexpr and not os.environ.get("MEMCTL_TORTURE"):
        slow = [item for item in items if "slow" in item.keywords]
        items[:] = [item for item in items if "slow" not in item.keywords]
        config.hook.pytest_deselected(items=slow)


def pytest_collection_finish() -> None:
    """What stays until the end is looked through no more; for the rest the collector comes as rarely as in a long run."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 20, 20)
