"""Other names for an entity, and two entities as one: what the pages say, what the index makes of it, and the way back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from face_helpers import TODAY, ask, call, contents, memory_on, snapshot, write_pages
from hypothesis import given, settings, strategies as st
from strategies import examples

from memctl.cli.call import load
from memctl.entities.rename import page_path
from memctl.errors import MemctlError, NothingFound, PageChanged, PageUnreadable, Refused, Usage
from memctl.index.rows import rows_of
from memctl.language.names import entity_key
from memctl.notes import edits
from memctl.notes.workspace import Workspace
from memctl.recall.lookup import get_fact, list_entities, show_entity

PETROV = "---\naliases: [Петров, 彼得罗夫] # both used\ntype: person\n---\n\n# Alex Petrov\n\nRadio officer.\n"
BOSUN = "\ufeff---\r\ntype: person # once\r\n---\r\n\r\n# Bosun\r\n\r\nNobody knows.\r\n"
LOG = """## Retain

- W(key=city) @Bosun: Lives in Porto.
- W @Петров: Built the first box.
- W(key=city) @[[Alex Petrov]]: Lives in Lisbon.
""".replace("@[[", "[[")


def workspace(root: Path, **more: str) -> Workspace:
    """A log about two people, their pages, and whatever else."""
    pages = {"bank/entities/Alex-Petrov.md": PETROV, "bank/entities/Bosun.md": BOSUN, "memory/2025-11-27.md": LOG}
    return write_pages(root, {path: text for path, text in (pages | more).items() if text})


def aliases(space: Workspace, name: str) -> tuple[str, ...]:
    """The other names of an entity, as the index has them."""
    return show_entity(memory_on(space, TODAY), name).line.aliases


def names(space: Workspace) -> set[str]:
    """Every entity and every name without one."""
    return {line.name for line in list_entities(memory_on(space))}


def test_an_alias_is_a_line_of_front_matter(tmp_path: Path) -> None:
    """The list grows where it stands; the name works at once, and can be taken away again."""
    space = workspace(tmp_path)
    before = snapshot(tmp_path)
    done = memory_on(space).alias("alex petrov", ["Лёша", "@Sparks", "Петров"])
    text = (tmp_path / "bank/entities/Alex-Petrov.md").read_text("utf-8")
    assert text == PETROV.replace("彼得罗夫]", "彼得罗夫, Лёша, Sparks]")
    assert (done.entity, done.added, done.pages) == (
        "Alex Petrov",
        ("Лёша", "Sparks"),
        ("bank/entities/Alex-Petrov.md",),
    )
    assert done.notes == ["Alex Petrov already has the name Петров"]
    assert "Lives in Lisbon." in contents(ask(space, "@Sparks"))
    assert memory_on(space).alias("Sparks", ["ЛЁША", "sparks"], remove=True).removed == ("Лёша", "Sparks")
    assert snapshot(tmp_path) == before


def test_a_page_is_made_for_a_new_name(tmp_path: Path) -> None:
    """With the name as its heading; a name that no file can have stands among the aliases."""
    space = workspace(tmp_path)
    assert memory_on(space).alias("Чаячья коса", ["Gull Spit"]).path == "bank/entities/Чаячья-коса.md"
    assert (tmp_path / "bank/entities/Чаячья-коса.md").read_text("utf-8") == (
        "---\naliases: [Gull Spit]\n---\n\n# Чаячья коса\n"
    )
    assert aliases(space, "чаячья КОСА") == ("Gull Spit",)
    memory_on(space).alias("[[C#]]".strip("[]"), ["C Sharp"])
    assert (
        show_entity(memory_on(space, TODAY), "C#").line.path
        == show_entity(memory_on(space, TODAY), "c sharp").line.path
    )


def test_names_that_share_a_slug_get_pages_of_their_own(tmp_path: Path) -> None:
    """On a disk that knows no case too; and none is called as Windows forbids."""
    space = workspace(tmp_path)
    paths = {name: memory_on(space).alias(name, [f"{name} 1"]).path for name in ("C", "C#", "c?", "Con", "NUL")}
    assert len({path.casefold() for path in paths.values()}) == 5
    assert not {"con.md", "nul.md"} & {path.rpartition("/")[2].casefold() for path in paths.values()}
    for name, path in paths.items():
        assert show_entity(memory_on(space, TODAY), name).line.path == path
    assert page_path("名" * 80, []).endswith(".md") and len(page_path("𠀀" * 80, []).encode()) < 270
    assert page_path("Ann", ["bank/entities/ANN.md"]) == "bank/entities/Ann~2.md"


def test_a_name_of_somebody_else_is_refused(tmp_path: Path) -> None:
    """And the message says whose it is; nothing is written."""
    space = workspace(tmp_path)
    before = snapshot(tmp_path)
    with pytest.raises(Refused, match="Петров is already a name of Alex Petrov"):
        memory_on(space).alias("Bosun", ["Sparks", "Петров"])
    with pytest.raises(Refused, match="Bosun is already a name of Bosun"):
        memory_on(space).alias("Newcomer", ["Bosun"])
    with pytest.raises(NothingFound, match="not an alias of Bosun"):
        memory_on(space).alias("Bosun", ["Петров"], remove=True)
    with pytest.raises(NothingFound) as error:
        memory_on(space).alias("Bosun", ["bosun"], remove=True)
    assert "rename the page" in error.value.cure
    with pytest.raises(NothingFound, match="not an alias of Nobody"):
        memory_on(space).alias("Nobody", ["Petrov"], remove=True)
    assert snapshot(tmp_path) == before


def test_a_name_that_fits_two_is_refused(tmp_path: Path) -> None:
    """A first name finds people when reading; when writing, it must be said who is meant."""
    space = workspace(tmp_path)
    with pytest.raises(Usage, match="no entity is named just 'Alex', but Alex Petrov"):
        memory_on(space).alias("Alex", ["Sparks"])
    twin = PETROV.replace("Alex Petrov", "Petrov Junior").replace("彼得罗夫", "x")
    space = workspace(tmp_path, **{"bank/entities/Petrov-Junior.md": twin})
    with pytest.raises(Usage, match="may be Alex Petrov or Petrov Junior"):
        memory_on(space).alias("Петров", ["Sparks"])


@pytest.mark.parametrize("name", ["", " ", "@", "a\nb", "a\x1bb", "x" * 201, "[[ ]]"])
def test_what_is_no_name_is_refused(tmp_path: Path, name: str) -> None:
    """On either side."""
    space = workspace(tmp_path)
    for job in (
        lambda: memory_on(space).alias("Bosun", [name]),
        lambda: memory_on(space).alias(name, ["x"]),
        lambda: memory_on(space).merge(name, "x"),
    ):
        with pytest.raises(MemctlError, match="not a name"):
            job()


def test_a_secret_is_no_name(tmp_path: Path) -> None:
    """Names end in files, as facts do."""
    with pytest.raises(Refused, match="looks like"):
        memory_on(workspace(tmp_path)).alias("Bosun", ["ghp_9XkQ2mV7tRb4Ls8wYc3Zn6Jd1Hf5Gp0AeUoi"])


@pytest.mark.parametrize(
    "front", ["aliases: [a", "a: b: c", "- a", "{aliases: [a]}", "aliases: {a: b}", "aliases: |\n  a"]
)
def test_front_matter_that_is_no_yaml_is_refused(tmp_path: Path, front: str) -> None:
    """Exit code 13, and the page is whole."""
    space = workspace(tmp_path, **{"bank/entities/Bosun.md": f"---\n{front}\n---\n# Bosun\n"})
    before = snapshot(tmp_path)
    for job in (
        lambda: memory_on(space).alias("Bosun", ["Sparks"]),
        lambda: memory_on(space).merge("Alex Petrov", "Bosun"),
    ):
        with pytest.raises(PageUnreadable) as error:
            job()
        assert error.value.exit_code == 13 and "bank/entities/Bosun.md" in error.value.what
    assert snapshot(tmp_path) == before


def test_a_merge_makes_one_of_two(tmp_path: Path) -> None:
    """Both names find the same lines and the same slots; undone, the pages are as before, byte for byte."""
    space = workspace(tmp_path)
    before = snapshot(tmp_path)
    done = memory_on(space).merge("Bosun", "Alex Petrov")
    after = snapshot(tmp_path)
    assert after["bank/entities/Alex-Petrov.md"].decode() == PETROV.replace("彼得罗夫]", "彼得罗夫, Bosun]")
    assert after["bank/entities/Bosun.md"].decode() == BOSUN.replace("once\r\n", "once\r\nmerged_into: Alex Petrov\r\n")
    assert (done.entity, done.added) == ("Alex Petrov", ("Bosun",))
    assert names(space) == {"Alex Petrov"}
    for name in ("Bosun", "Alex Petrov", "彼得罗夫"):
        assert {"Lives in Porto.", "Lives in Lisbon.", "Built the first box."} <= set(
            contents(ask(space, f"@[[{name}]]", k=20))
        )
        assert [hit.content for hit in get_fact(memory_on(space, TODAY), "city", name)] == ["Lives in Lisbon."]
    assert show_entity(memory_on(space, TODAY), "bosun").line.path == "bank/entities/Alex-Petrov.md"
    assert memory_on(space).merge("Bosun", "Alex Petrov").pages == ()
    memory_on(space).merge("bosun", "Петров", undo=True)
    assert snapshot(tmp_path) == before
    assert [hit.content for hit in get_fact(memory_on(space, TODAY), "city", "Bosun")] == ["Lives in Porto."]


def test_names_without_pages_merge_too(tmp_path: Path) -> None:
    """A name that is only mentioned becomes an alias; a page is made for whom it is merged into."""
    space = workspace(tmp_path, **{"bank/entities/Bosun.md": "", "bank/crew.md": "Alex Petrov, boatswain\n"})
    before = snapshot(tmp_path)
    assert memory_on(space).merge("Bosun", "Alex Petrov").pages == ("bank/entities/Alex-Petrov.md",)
    assert names(space) == {"Alex Petrov"}
    memory_on(space).merge("Bosun", "Alex Petrov", undo=True)
    assert snapshot(tmp_path) == before
    memory_on(space).merge("Bosun", "Boatswain")
    assert aliases(space, "Boatswain") == ("Bosun",)
    with pytest.raises(NothingFound, match="not merged"):
        memory_on(space).merge("Sparks", "Boatswain", undo=True)
    with pytest.raises(NothingFound, match="not merged"):
        memory_on(space).merge("Bosun", "Nobody", undo=True)


def test_chains_and_cycles_are_refused(tmp_path: Path) -> None:
    """Each with the way out."""
    space = workspace(tmp_path, **{"bank/entities/Sparks.md": "# Sparks\n"})
    memory_on(space).merge("Bosun", "Sparks")
    with pytest.raises(Refused, match="Bosun is merged into Sparks") as error:
        memory_on(space).merge("Sparks", "Alex Petrov")
    assert '"Bosun" "Sparks" --undo' in error.value.cure
    with pytest.raises(Refused, match="Bosun is merged into Sparks"):
        memory_on(space).merge("Sparks", "Bosun")
    with pytest.raises(Usage, match="Bosun is merged into Sparks"):
        memory_on(space).merge("Bosun", "Alex Petrov")
    memory_on(space).alias("Sparks", ["Spark"])
    with pytest.raises(Usage, match="Spark is an alias of Sparks"):
        memory_on(space).merge("Spark", "Alex Petrov")
    memory_on(space).alias("Sparks", ["Spark"], remove=True)
    with pytest.raises(Usage, match="one name"):
        memory_on(space).merge("sparks", "Sparks")
    with pytest.raises(Usage, match="Bosun is merged into Sparks"):
        memory_on(space).merge("Bosun", "Alex Petrov", undo=True)
    with pytest.raises(Refused, match="has a page"):
        memory_on(space).alias("Sparks", ["Bosun"], remove=True)
    memory_on(space).merge("Alex Petrov", "Sparks")
    assert names(space) == {"Sparks"}
    assert aliases(space, "Sparks") == ("Alex Petrov", "Bosun", "Петров", "彼得罗夫")


def test_what_stood_there_before_a_merge_stays(tmp_path: Path) -> None:
    """An alias that both had, and what was added after the merge by hand."""
    shared = PETROV.replace("彼得罗夫]", "Bo]")
    space = workspace(
        tmp_path,
        **{"bank/entities/Alex-Petrov.md": shared, "bank/entities/Bosun.md": "---\naliases: [Bo, Bos]\n---\n# Bosun\n"},
    )
    memory_on(space).merge("Bosun", "Alex Petrov")
    page = tmp_path / "bank/entities/Alex-Petrov.md"
    assert "[Петров, Bo, Bosun, Bos]" in page.read_text("utf-8")
    page.write_text(page.read_text("utf-8").replace("Bos]", "Bos, Sparks]") + "More.\n", "utf-8")
    memory_on(space).merge("Bosun", "Alex Petrov", undo=True)
    assert page.read_text("utf-8") == shared.replace("Bo]", "Bo, Sparks]") + "More.\n"


@pytest.mark.parametrize("undo", [False, True])
def test_a_merge_cut_off_half_way_is_completed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, undo: bool) -> None:
    """Only one of the two pages was written: the same call again writes the other."""
    space = workspace(tmp_path)
    before = snapshot(tmp_path)
    memory_on(space).merge("Bosun", "Alex Petrov")
    whole = snapshot(tmp_path)
    memory_on(space).merge("Bosun", "Alex Petrov", undo=True)
    if undo:
        memory_on(space).merge("Bosun", "Alex Petrov")
    written: list[str] = []
    real = edits.replace

    def once(space: Workspace, path: str, expected: bytes | None, data: bytes) -> None:
        if written:
            raise PageChanged(path)
        written.append(path)
        real(space, path, expected, data)

    monkeypatch.setattr(edits, "replace", once)
    with pytest.raises(PageChanged):
        memory_on(space).merge("Bosun", "Alex Petrov", undo=undo)
    monkeypatch.setattr(edits, "replace", real)
    assert snapshot(tmp_path) not in (before, whole)
    memory_on(space).merge("Bosun", "Alex Petrov", undo=undo)
    assert snapshot(tmp_path) == (before if undo else whole)


def test_a_dry_run_shows_the_diff(tmp_path: Path) -> None:
    """Of both pages, and of one that would be made; nothing is written, not even a lock."""
    space = workspace(tmp_path)
    before = snapshot(tmp_path)
    done = memory_on(space).merge("Bosun", "Alex Petrov", dry_run=True)
    assert "+aliases: [Петров, 彼得罗夫, Bosun] # both used\n" in done.diff
    assert "+merged_into: Alex Petrov" in done.diff and "+++ b/bank/entities/Bosun.md" in done.diff
    assert (
        "--- /dev/null\n+++ b/bank/entities/Sparks.md" in memory_on(space).alias("Sparks", ["Spark"], dry_run=True).diff
    )
    assert memory_on(space).alias("Alex Petrov", ["Петров"], dry_run=True).diff == ""
    assert snapshot(tmp_path) == before
    assert not list((tmp_path / ".memory").glob("reflect*"))


@pytest.mark.parametrize("name", ["Bosun", "Alex-Petrov"])
@pytest.mark.parametrize("what", ["alias", "merge", "undo"])
def test_a_page_saved_meanwhile_is_not_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str, name: str
) -> None:
    """An editor that saves between our look and our write wins; the same call again then does what it was to do."""
    space = workspace(tmp_path)
    if what == "undo":
        memory_on(space).merge("Bosun", "Alex Petrov")
    page = tmp_path / f"bank/entities/{name}.md"
    theirs = page.read_text("utf-8") + "\nMine. Моё. 我的。\n"
    real = edits.replace

    def late(space: Workspace, path: str, expected: bytes | None, data: bytes) -> None:
        if path.endswith(f"/{name}.md"):
            page.write_text(theirs, "utf-8")
        real(space, path, expected, data)

    def run() -> None:
        if what == "alias":
            memory_on(space).alias(name, ["Bo"])
        else:
            memory_on(space).merge("Bosun", "Alex Petrov", undo=what == "undo")

    monkeypatch.setattr(edits, "replace", late)
    with pytest.raises(PageChanged) as error:
        run()
    assert error.value.exit_code == 12 and error.value.cure
    assert page.read_text("utf-8") == theirs
    monkeypatch.setattr(edits, "replace", real)
    run()
    assert page.read_text("utf-8").endswith("\nMine. Моё. 我的。\n")
    assert ("Bosun" in names(space)) == (what != "merge") and "Alex Petrov" in names(space)


def test_the_command_line(tmp_path: Path) -> None:
    """JSON has all of it; pages and notes go to stderr, where `--quiet` is heard."""
    load(["entity"])
    workspace(tmp_path)
    done = call(["entity", "alias", "Bosun", "Bo", "bosun", "--json"], tmp_path)
    told = json.loads(done.out)
    assert (told["schema"], told["entity"], told["added"], told["removed"], told["dry_run"]) == (
        1, "Bosun", ["Bo"], [], False,
    )  # fmt: skip
    assert told["pages"] == [told["path"]] == ["bank/entities/Bosun.md"] and "+aliases:" in told["diff"]
    done = call(["entity", "merge", "Bosun", "Alex Petrov"], tmp_path)
    assert done.out == "Alex Petrov + Bosun\nAlex Petrov + Bo\n" and "bank/entities/Bosun.md" in done.err
    assert call(["entity", "merge", "Bosun", "Alex Petrov", "-q"], tmp_path).both == ""
    done = call(["entity", "merge", "Bosun", "Alex Petrov", "--undo", "-n"], tmp_path)
    assert done.code == 0 and "-merged_into: Alex Petrov" in done.out
    assert call(["entity", "merge", "Nobody", "Alex Petrov", "--undo"], tmp_path).code == 1
    assert call(["entity", "alias", "Alex", "x"], tmp_path).code == 2
    assert call(["entity", "alias", "Bosun"], tmp_path).code == 2


def test_other_pages_with_the_word_do_not_matter(tmp_path: Path) -> None:
    """`merged_into` in a text, in a log, in front matter that is no YAML."""
    odd = {"bank/entities/Odd.md": "---\nmerged_into: [\n---\n# Odd\n", "bank/x.md": "---\nmerged_into: Bosun\n---\n"}
    space = workspace(tmp_path, **odd, **{"bank/entities/Sparks.md": "# Sparks\n\nmerged_into: Alex Petrov\n"})
    memory_on(space).merge("Bosun", "Alex Petrov")
    memory_on(space).merge("Bosun", "Alex Petrov", undo=True)
    assert names(space) == {"Alex Petrov", "Bosun", "Sparks", "Odd"}


FRONTS = st.sampled_from([
    b"", b"---\ntype: person\n---\n", b"---\naliases: []\n---\n\n", b"---\naliases:\n---\n",
    b"---\naliases: [P, 'Q r']\ntype: x\n---\n", b"---\r\naliases:\r\n  - P\r\n# c\r\n---\r\n",
    b"---\naliases:\n- P # c\n\n---\n", b"\xef\xbb\xbf---\nx: {y: z}\n---\n", b"---\nx: \xff\n---\n\xfe\n",
    b"---\n# only a comment\n---\n", b"\xef\xbb\xbf", b"\n\n",
])  # fmt: skip


@settings(max_examples=examples(130))
@given(one=FRONTS, other=FRONTS, body=st.binary(max_size=30).filter(lambda data: b"\0" not in data))
def test_undo_gives_both_pages_back_byte_for_byte(
    tmp_path_factory: pytest.TempPathFactory, one: bytes, other: bytes, body: bytes
) -> None:
    """Whatever their front matter, their line ends and the bytes below."""
    root = tmp_path_factory.mktemp("merge")
    space = write_pages(root, {"memory/2025-11-27.md": LOG})
    (root / "bank/entities").mkdir(parents=True)
    pages = {"Alpha": one.replace(b"P", b"A") + b"# Alpha\n" + body, "Beta": other + body}
    for name, data in pages.items():
        (root / f"bank/entities/{name}.md").write_bytes(data)
    memory_on(space).merge("Alpha", "Beta")
    texts = {name: (root / f"bank/entities/{name}.md").read_bytes() for name in pages}
    assert all(data.endswith(body) for data in texts.values())
    beta = rows_of("bank/entities/Beta.md", texts["Beta"].decode("utf-8", "replace")).entity
    assert beta and "alpha" in map(entity_key, beta.aliases)
    assert rows_of("bank/entities/Alpha.md", texts["Alpha"].decode("utf-8", "replace")).entity is None
    memory_on(space).merge("Alpha", "Beta", undo=True)
    assert {name: (root / f"bank/entities/{name}.md").read_bytes() for name in pages} == pages


@pytest.mark.parametrize(("name", "known"), [("Nobody", "Somebody"), ("Никто", "Олег"), ("无名", "李雷")])
def test_a_page_for_a_name_that_no_line_has_says_the_way_back(tmp_path: Path, name: str, known: str) -> None:
    """As a new name in retain does; a name that stands in a line is none, though it has no page."""
    root = write_pages(tmp_path, {"memory/2025-11-27.md": f"## Retain\n\n- W: The {known} 喜欢茶\n- W: {known}\n"}).root
    before = snapshot(root)
    refused = call(["entity", "merge", "Ghost", name], root)  # two names of nobody are no entity: nothing is made of it
    assert refused.code == 1 and f'`memctl entity alias "{name}" "Ghost"` makes it' in refused.err
    assert snapshot(root) == before
    done = call(["entity", "alias", name, "Ghost"], root)
    assert f"{name!r} is a new name; no line has it: a slip? Then `memctl undo`" in done.err
    assert call(["undo"], root).code == 0 and snapshot(root) == before
    assert "undo" not in call(["entity", "merge", "Ghost", known], root).err


@pytest.mark.parametrize(
    ("one", "other"), [("Mei Lin", "Mei Ling"), ("Анна Кузнецова", "Аня Кузнецова"), ("王芳", "王方")]
)
def test_two_values_of_one_slot_are_named_where_two_become_one(tmp_path: Path, one: str, other: str) -> None:
    """The newest would hold from then on. What both have alike is no doubt, nor is the other name a slip of the first."""
    days = f"- W(key=birthday) [[{one}]]: 3 May\n- W(key=birthday) [[{other}]]: 9 June\n"
    log = f"## Retain\n\n{days}- W(key=city) [[{one}]]: Oslo\n- W(key=city) [[{other}]]: Oslo\n"
    root = write_pages(tmp_path, {"memory/2025-11-27.md": log}).root
    before = snapshot(root)
    for words in (["merge", other, one], ["alias", one, other]):
        done = call(["entity", *words], root)
        assert done.err.endswith(
            "\nbirthday: two values, of which the newest holds now; are they two? Then `memctl undo`\n"
        )
        assert call(["undo"], root).code == 0 and snapshot(root) == before


@pytest.mark.parametrize("name", ["Олег", "oleg", "[[People/Олег Самойлов]]", "Олег Самойлов"])
def test_a_note_of_a_vault_is_the_page_of_whom_it_has_other_names_for(tmp_path: Path, name: str) -> None:
    """By its file, as links do, by their path too; reflect writes nothing on it, and no page beside it or another note."""
    told = "- W: @Oleg mends boats.\n- W: [[People/Олег Самойлов]] has a dog.\n- W: @Олег: Lives in Porto.\n"
    pages = {"People/Олег Самойлов.md": "---\naliases: [Олег, Oleg]\n---\n# Friend\n", "memory/2025-11-27.md": told}
    many = "".join(f"- W @[[Sea Box]]: Part {n} is glued.\n".replace("@[[", "[[") for n in range(3))
    pages |= {
        "memory/2025-11-26.md": many,
        "Sea Box.md": "A box.\n",
        ".obsidian/a.md": "",
        "Site.md": "---\naliases: /old/\n---\nx\n",
    }
    space = write_pages(tmp_path, pages)
    memory = memory_on(space)
    assert [str(passage.citation) for passage in memory.show(name)] == ["People/Олег Самойлов.md#L1-L4"]
    assert len(memory.recall("", about=[name], k=9).hits) >= 3
    assert names(space) == {"Олег Самойлов", "Sea Box"} and memory.verify().differences == ()
    memory.reflect()
    assert not list(tmp_path.glob("bank/entities/*.md")) and not memory.check()
    write_pages(
        tmp_path,
        {"bank/entities/Олег-Самойлов.md": "# Олег Самойлов\n", "Old/Sea Box.md": "---\naliases: [Oleg]\n---\nx\n"},
    )
    assert memory.show("Олег Самойлов")[0].citation.path == "bank/entities/Олег-Самойлов.md"
    assert memory.show("Oleg")[0].citation.path == "Old/Sea Box.md"


def test_a_name_with_a_slash_is_written_as_no_path(tmp_path: Path) -> None:
    space = write_pages(tmp_path, {"memory/2025-11-27.md": "- W: Mooring fees rise.\n"})
    memory_on(space).retain(["Mends boats."], about=["Client/Server Team"])
    assert names(space) == {"Client/Server Team"} and not memory_on(space).check()
