"""The public library: its names, the example in its docstring, and every method of Memory."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from datetime import date, timedelta
from pathlib import Path

import pytest
from face_helpers import fixture_copy

import memctl
from memctl.memory import init_workspace
from memctl.recall.query import FILTERS, QueryFilters

NAMES = {
    "Answer", "Citation", "Fact", "Hit", "Kind", "MemctlError", "Memory", "Period", "Window", "__version__", "open",
}  # fmt: skip


def test_the_names_are_there_and_documented() -> None:
    """What `__all__` lists is the library; each has a docstring and a place on a page, and so has every method of Memory a docstring."""
    assert set(memctl.__all__) == NAMES
    page = (Path(__file__).parents[2] / "docs/recipes.md").read_text("utf-8")
    assert [name for name in NAMES if f"`memctl.{name}" not in page] == []
    for name in NAMES - {"__version__"}:
        assert inspect.getdoc(getattr(memctl, name)), name
    methods = inspect.getmembers(memctl.Memory, inspect.isfunction)
    assert not [name for name, method in methods if not name.startswith("_") and not inspect.getdoc(method)]
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = memctl.nothing
    assert re.fullmatch(r"\d+\.\d+\.\d+", memctl.__version__)


def test_a_plain_script_indexes_many_pages(tmp_path: Path) -> None:
    """A program without `if __name__ == "__main__"` runs once, however many pages there are to read."""
    days = tmp_path / "memory"
    days.mkdir()
    for number in range(310):
        (days / f"{date(2024, 1, 1) + timedelta(number)}.md").write_text("- W @Ada: Likes tea\n", "utf-8")
    script = tmp_path / "notes.py"
    script.write_text(
        f"import memctl\nprint('once')\nwith memctl.open({str(tmp_path)!r}) as memory:\n    print(memory.sync().read)\n"
    )
    ran = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    assert (ran.stdout, ran.stderr) == ("once\n310\n", "")


def test_the_example_runs(tmp_path: Path) -> None:
    """The four lines of the docstring, on a workspace."""
    root = init_workspace(tmp_path).root
    example = (memctl.__doc__ or "").partition("\n\n")[2].replace("~/notes", str(root))
    found: dict[str, list[memctl.Hit]] = {}
    exec(compile(example, "memctl/__init__.py", "exec"), found)
    assert found["hits"][0].content == "Prefers concise replies" and found["hits"][0].entities == ("Peter",)


def test_values_and_errors(tmp_path: Path) -> None:
    """Facts go in as text or as Fact, and come out as Hit with Citation and Period; what cannot be done is a MemctlError."""
    with memctl.open(fixture_copy(tmp_path)) as memory:
        kept = memory.retain(memctl.Fact(memctl.Kind.WORLD, "Живёт в Лиссабоне", ("Пётр",)), dry_run=True).kept
        assert isinstance(kept[0].citation, memctl.Citation) and not kept[0].already
        answer = memory.recall("gateway", k=2, vectors=False)
        assert isinstance(answer, memctl.Answer) and isinstance(answer.hits[0].valid, memctl.Period)
        with pytest.raises(memctl.MemctlError, match="no attribute is named 'colour'"):
            memory.retain("W: x", colour="red")
        with pytest.raises(memctl.MemctlError, match="no filter is named 'colour'"):
            memory.recall("x", colour="red")
        with pytest.raises(memctl.MemctlError, match="k must be a whole number, not 'a'"):
            memory.recall("x", k="a")  # type: ignore[arg-type]
        with pytest.raises(memctl.MemctlError, match="there is no export of 'nosuch'"):
            memory.export("nosuch")
        with pytest.raises(memctl.MemctlError, match="nofile: No such file"):
            memory.ingest("nofile")
        with pytest.raises(memctl.MemctlError) as error:
            memory.recall("x", since="the 40th of Brumaire")
        assert error.value.exit_code == 2 and error.value.cure
        for other in (None, {"text": "x"}, 42, [b"x"]):
            with pytest.raises(memctl.MemctlError, match="is not a fact"):
                memory.retain(other)  # type: ignore[arg-type]


def test_the_filters_of_methods_are_those_of_questions() -> None:
    many = {each.field for each in FILTERS if each.many}
    assert {*QueryFilters.__annotations__} == {each.parameter for each in FILTERS} | many


@pytest.mark.parametrize(("verb", "given"), [("evaluate", ["x"]), ("forget", []), ("chat", [[]]), ("ingest", ["x"])])
def test_an_option_that_a_method_does_not_have_is_named(tmp_path: Path, verb: str, given: list[object]) -> None:
    told = "no option is named 'foo'"
    with memctl.open(init_workspace(tmp_path).root) as memory, pytest.raises(memctl.MemctlError, match=told):
        getattr(memory, verb)(*given, foo=1)


@pytest.mark.parametrize("name", ["Peter", "Пётр", "彼得"])
def test_one_name_alone_is_not_its_letters(tmp_path: Path, name: str) -> None:
    with memctl.open(init_workspace(tmp_path).root) as memory:
        memory.retain(["O(0.8): Likes tea #drinks", "O(0.8): Likes tea too #drinks"], about=name)
        log = memory.recall("tea").hits[0].source.path
        filters = {"about": name, "tags": "drinks", "paths": log}
        for one, said in filters.items():
            assert len(memory.recall("tea", **{one: said}).hits) == len(memory.recall("tea", **{one: [said]}).hits) == 2
        for kinds in ("opinion", memctl.Kind.OPINION, [memctl.Kind.OPINION], None):
            assert len(memory.recall("tea", kinds=kinds).hits) == 2
        assert not memory.recall("tea", about="Else").hits and not memory.recall("tea", kinds="world").hits
        assert len(memory.forget(about=name, include_exempt=True).lines) == 2
        assert memory.context("tea", about=name).items and {*memctl.__all__} <= {*dir(memctl)}
