"""`memctl publish`: what travels, who may, and that nobody's newer pages are lost. Against a real server."""

from __future__ import annotations

import json
import shutil
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest
from face_helpers import bare_copy, call, memory_on, write_pages
from postgres import Postgres
from store_helpers import at_once, git

from memctl.errors import Refused, ServerFailed, Usage
from memctl.notes.workspace import Workspace, find_workspace
from memctl.shared.publish import Published

LOG = "memory/2025-11-27.md"
PAGES = {
    LOG: "- W @Peter: likes tea ^f-tea00001\n- W @Ирина: пьёт кофе\n- W @爱丽丝: 住在北京\n",
    "memory/2025-11-28.md": "- W: rain\n",
}


def publish(server: Postgres, root: Path, user: str = "alice", name: str = "notes", **more: object) -> Published:
    """Publish a folder as a user of team atlas, or of the team that is given."""
    with memory_on(Workspace(root.resolve())) as memory:
        return memory.shared(server.url(user)).publish(name, **{"team": "atlas", **more})  # type: ignore[arg-type]


def stands(server: Postgres, name: str = "notes") -> dict[str, str]:
    """The pages of a workspace as they stand on the server."""
    rows = server.sql("SELECT path, content FROM memctl.pages WHERE workspace = %s ORDER BY path", name)
    return {path: bytes(content).decode() for path, content in rows}


def committed(root: Path) -> str:
    """Commit every page of a folder; the commit."""
    if not (root / ".git").exists() and not (root.parent / ".git").exists():
        git(root, "init", "-q", "-b", "main")
    git(root, "add", "--", "memory")
    git(root, "commit", "-qm", "x")
    return git(root, "rev-parse", "HEAD").strip()


def cloned(server: Postgres, folder: Path) -> tuple[Path, Path]:
    """A published workspace, and a clone of it."""
    mine, theirs = write_pages(folder / "mine", PAGES).root, folder / "theirs"
    committed(mine)
    publish(server, mine)
    git(folder, "clone", "-q", str(mine), str(theirs))
    return mine, theirs


def test_only_what_changed_travels(server: Postgres, tmp_path: Path) -> None:
    """Published again, nothing does; then the changed page, the new one, the removed one."""
    root = write_pages(tmp_path / "w", PAGES).root
    assert sorted(publish(server, root).sent) == sorted(PAGES)
    again = publish(server, root)
    assert (again.sent, again.removed, again.revision) == ((), (), 1)
    with open(root / LOG, "a") as page:
        page.write("- W: новое 新的\n")
    (root / "memory/2025-11-28.md").unlink()
    (root / "bank").mkdir()
    (root / "bank/world.md").write_text("# World\n\n- W: new\n")
    done = publish(server, root)
    assert (sorted(done.sent), done.removed, done.revision) == (["bank/world.md", LOG], ("memory/2025-11-28.md",), 2)
    assert stands(server) == {path: (root / path).read_text() for path in ("bank/world.md", LOG)}


def test_forgotten_lines_go(server: Postgres, tmp_path: Path) -> None:
    """What `forget` took out is in no row afterwards, its words neither; and in no copy that was read back."""
    root = write_pages(tmp_path / "w", PAGES).root
    publish(server, root)
    with memory_on(Workspace(root)) as memory:
        assert memory.shared(server.url("alice")).recall(["notes"], memory.query("tea")).hits
        memory.forget(ids=["f-tea00001"], apply=True)
    assert not [path for path in root.rglob("*") if path.is_file() and b"tea" in path.read_bytes()]
    publish(server, root)
    row = server.sql("SELECT content, terms FROM memctl.pages WHERE path = %s", LOG)[0]
    assert "tea" not in bytes(row[0]).decode() and "tea" not in row[1] and "кофе" in bytes(row[0]).decode()


@pytest.mark.parametrize("above", [False, True])
def test_a_commit_is_cited_where_it_holds_the_page(server: Postgres, tmp_path: Path, above: bool) -> None:
    """A page that was committed since is not sent again, but cited by it; one that was edited since is not."""
    if above:  # the workspace is a folder of a repository
        git(tmp_path, "init", "-q", "-b", "main")
    root = write_pages(tmp_path / "w", PAGES).root
    publish(server, root)
    heads = "SELECT path, head FROM memctl.pages ORDER BY path"
    assert [head for _, head in server.sql(heads)] == ["", ""]
    commit = committed(root)
    with open(root / LOG, "a") as page:
        page.write("- W: not committed\n")
    assert publish(server, root).sent == (LOG,)
    assert server.sql(heads) == [(LOG, ""), ("memory/2025-11-28.md", commit)]


def test_pages_that_git_ignores_are_named(server: Postgres, tmp_path: Path) -> None:
    """They are sent, as recall at home finds them, and the publisher hears of it once; `ignore` leaves them out."""
    root = write_pages(tmp_path / "w", {**PAGES, "mine/x.md": "# X\n"}).root
    (root / ".gitignore").write_text("mine/\n")
    committed(root)
    told = "1 page that git ignores too, such as mine/x.md; `ignore` in memctl.toml leaves pages out"
    assert publish(server, root, dry_run=True).notes == (told,)
    assert publish(server, root).notes == (told,) and "mine/x.md" in stands(server)
    (root / "mine/x.md").write_text("# X\n\nmore\n")
    assert publish(server, root).notes == ()
    (root / "memctl.toml").write_text('ignore = ["mine/*"]\n')
    with memory_on(find_workspace(str(root), {}, root)) as memory:
        assert memory.shared(server.url("alice")).publish("notes", team="atlas").removed == ("mine/x.md",)


def test_a_name_belongs_to_its_team(server: Postgres, tmp_path: Path) -> None:
    """Others are refused, in one line, and change nothing; a member of the team may publish."""
    root = write_pages(tmp_path / "w", PAGES).root
    publish(server, root)
    other = write_pages(tmp_path / "o", {LOG: "- W: foreign\n"}).root
    with pytest.raises(Refused, match="the name notes is taken by another team"):
        publish(server, other, "carol", team="birch")
    with pytest.raises(Usage, match="you are in no team 'atlas'"):
        publish(server, other, "carol", name="others")
    assert publish(server, root, "bob").revision == 1
    assert list(stands(server)) == sorted(PAGES)
    assert not server.sql("SELECT 1 FROM memctl.workspaces WHERE workspace = 'others'")


def test_teams_by_plain_sql(server: Postgres, tmp_path: Path) -> None:
    """Who may log in may send any statement: none reads, changes or takes the place of another team's rows, nor asks for its words."""
    publish(server, write_pages(tmp_path / "w", PAGES).root)
    before = server.sql("SELECT * FROM memctl.pages"), server.sql("SELECT * FROM memctl.workspaces")
    row = "INSERT INTO memctl.pages SELECT 'notes', 'bank/evil.md', '{}', 1, '', 'evil', '', '{{tea}}'"
    roles = "CREATE TEMP TABLE pg_roles AS SELECT rolname, 'carol'::regrole::oid AS oid FROM pg_catalog.pg_roles"
    found = "SELECT workspace FROM memctl.holding(ARRAY['tea', 'кофе'])"
    with psycopg.connect(server.url("carol"), autocommit=True) as carol:
        for statement in (
            "SELECT workspace FROM memctl.pages", "SELECT workspace FROM memctl.workspaces", found,
            "UPDATE memctl.pages SET content = 'x' RETURNING 1", "UPDATE memctl.workspaces SET team = 'birch' RETURNING 1",
            "DELETE FROM memctl.pages RETURNING 1", "DELETE FROM memctl.workspaces RETURNING 1",
        ):  # fmt: skip
            assert carol.execute(statement).fetchall() == [], statement
        for team, error in (
            ("birch", psycopg.errors.ForeignKeyViolation),
            ("atlas", psycopg.errors.InsufficientPrivilege),
        ):
            with pytest.raises(error):
                carol.execute(row.format(team))
            with pytest.raises(error):
                carol.execute(row.format(team).replace("bank/evil.md", LOG))
        carol.execute(roles)
        carol.execute("GRANT SELECT ON pg_temp.pg_roles TO PUBLIC")
        assert carol.execute(found).fetchall() == []
    assert (server.sql("SELECT * FROM memctl.pages"), server.sql("SELECT * FROM memctl.workspaces")) == before


def test_a_publisher_that_is_weeks_behind(server: Postgres, tmp_path: Path) -> None:
    """Is refused while it would take back what others published, told what to do, and welcome after a pull."""
    mine, theirs = cloned(server, tmp_path)
    (mine / "memory/2025-12-11.md").write_text("## Retain\n\n- W: weeks later\n")
    with open(mine / LOG, "a") as page:
        page.write("- W: смотри позже\n")
    committed(mine)
    publish(server, mine)
    before = stands(server)
    (theirs / "memory/2025-11-30.md").write_text("## Retain\n\n- W: 落后的\n")
    with pytest.raises(
        Refused, match=r"notes was published by alice on \d{4}-\d\d-\d\d from pages that this workspace lacks"
    ) as refused:
        publish(server, theirs, "bob")
    assert "git pull" in refused.value.cure
    assert stands(server) == before
    git(theirs, "pull", "-q")
    assert publish(server, theirs, "bob").sent == ("memory/2025-11-30.md",)
    assert stands(server) == before | {"memory/2025-11-30.md": "## Retain\n\n- W: 落后的\n"}
    with pytest.raises(Refused):  # and now the first is behind: bob's page is not here
        publish(server, mine)
    assert publish(server, mine, force=True).removed == ("memory/2025-11-30.md",)


def test_a_page_that_somebody_took_away_stays_away(server: Postgres, tmp_path: Path) -> None:
    """Who is behind still has it, and nothing else that differs: refused, until a pull or `--force`."""
    mine, theirs = cloned(server, tmp_path)
    (mine / "memory/2025-11-28.md").unlink()
    committed(mine)
    publish(server, mine)
    with pytest.raises(Refused, match="from pages that this workspace lacks"):
        publish(server, theirs, "bob")
    assert list(stands(server)) == [LOG]
    git(theirs, "pull", "-q")
    (theirs / "memory/2025-11-30.md").write_text("- W: new\n")
    assert publish(server, theirs, "bob").sent == ("memory/2025-11-30.md",)


def test_without_git_one_machine_goes_on(server: Postgres, tmp_path: Path) -> None:
    """A folder is known by what it published; another folder is refused, `--force` decides."""
    one, other = (write_pages(tmp_path / name, PAGES).root for name in ("one", "other"))
    publish(server, one)
    (one / LOG).write_text("## Retain\n\n- W: changed\n")
    publish(server, one)
    with pytest.raises(Refused):
        publish(server, other)
    publish(server, other, force=True)
    with pytest.raises(Refused):
        publish(server, one)
    assert stands(server)[LOG] == (other / LOG).read_text()


def test_a_row_that_will_be_refused_keeps_nobody_waiting(server: Postgres, tmp_path: Path) -> None:
    """A stranger begins to write a page of a name that is not his, and leaves that open."""
    root = write_pages(tmp_path / "w", {LOG: PAGES[LOG]}).root
    publish(server, root)
    with psycopg.connect(server.url("carol")) as carol:
        row = "INSERT INTO memctl.pages VALUES ('notes', 'memory/2025-11-28.md', 'birch', 1, '', 'evil', '', '{}')"
        carol.execute(row)
        write_pages(root, PAGES)
        assert publish(server, root).sent == ("memory/2025-11-28.md",)
        with pytest.raises(psycopg.errors.ForeignKeyViolation):
            carol.commit()
    assert stands(server)["memory/2025-11-28.md"] == (root / "memory/2025-11-28.md").read_text()


def test_a_workspace_goes_over_to_another_team(server: Postgres, tmp_path: Path) -> None:
    """With its pages, by who is a member of both."""
    root = write_pages(tmp_path / "w", PAGES).root
    publish(server, root)
    server.sql("GRANT birch TO alice")
    try:
        assert publish(server, root, team="birch").sent == ()
    finally:
        server.sql("REVOKE birch FROM alice")
    assert server.sql("SELECT DISTINCT team FROM memctl.pages") == [("birch",)] and len(stands(server)) == 2
    with pytest.raises(Refused, match="taken by another team"):
        publish(server, root)


def test_what_citus_refuses(server: Postgres, tmp_path: Path) -> None:
    """No policy with a subquery; the workspace in each key, and what refers to another table does so by it."""
    policies = "SELECT polname, polqual::text ~ 'SUBLINK', coalesce(polwithcheck::text, '') ~ 'SUBLINK' FROM pg_policy"
    assert server.sql(policies) == [("by_team", False, False)] * 2
    keys = (
        "SELECT contype::text, (SELECT attname FROM pg_attribute WHERE attrelid = conrelid AND attnum = conkey[1])::text, confupdtype::text "
        "FROM pg_constraint WHERE conrelid::regclass::text LIKE 'memctl.%' AND contype IN ('p', 'u', 'f') ORDER BY 1"
    )
    assert [row[:2] for row in server.sql(keys)] == [(kind, "workspace") for kind in "fppu"]
    assert [row[2] for row in server.sql(keys) if row[0] == "f"] == [
        "a"
    ]  # no action: the key is never changed by a cascade
    assert not server.sql("SELECT 1 FROM pg_sequences WHERE schemaname = 'memctl'")


def test_two_publishers_at_once(server: Postgres, tmp_path: Path) -> None:
    """One after the other: what stands is all of one, each revision is there once, and none fails but as one that is behind."""
    roots = [
        write_pages(tmp_path / f"{n}", {f"memory/2025-11-{day:02}.md": f"- W: of {n}\n" for day in range(1, 25)}).root
        for n in range(4)
    ]
    done: list[int] = []

    def run(number: int) -> None:
        with suppress(Refused):
            publish(server, roots[number])
            done.append(number)

    at_once(4, run)
    assert len(done) == 1
    texts = set(stands(server).values())
    assert len(texts) == 1 and len(stands(server)) == 24
    assert server.sql("SELECT DISTINCT revision FROM memctl.pages") == [(1,)]


def test_the_command(server: Postgres, tmp_path: Path) -> None:
    """Address, name and team come from the settings; a dry run sends nothing; withdrawn, all of it goes."""
    root = write_pages(tmp_path / "w", PAGES).root
    (root / "memctl.toml").write_text(
        f'[shared]\nurl = "postgresql://alice@127.0.0.1:{server.port}/memctl"\nname = "notes"\nteam = "atlas"\n'
    )
    place = f"notes at 127.0.0.1:{server.port}/memctl"
    dry = call(["publish", "--dry-run"], root, PGPASSWORD="Tr0ub4dor-and-3")
    assert dry.out == f"+ {LOG}\n+ memory/2025-11-28.md\n{place}: 2 pages to send, 0 to remove, 2 in all\n"
    assert not stands(server) and not server.sql("SELECT 1 FROM memctl.workspaces")
    assert call(["publish"], root, PGPASSWORD="Tr0ub4dor-and-3").out == f"{place}: 2 pages sent, 0 removed, 2 in all\n"
    told = json.loads(call(["publish", "--json"], root, PGPASSWORD="Tr0ub4dor-and-3").out)
    assert (told["schema"], told["revision"], told["sent"], told["pages"]) == (1, 1, [], 2)
    assert call(["publish", "--withdraw"], root, PGPASSWORD="Tr0ub4dor-and-3").out == "notes is withdrawn\n"
    assert not server.sql("SELECT 1 FROM memctl.pages")
    again = call(["publish", "--withdraw"], root, PGPASSWORD="Tr0ub4dor-and-3")
    assert again.code == 1 and "holds no notes" in again.err


@pytest.mark.parametrize(
    "name", ["All", "all", "a/b", "../x", "x.", ".x", "", "a" * 64, "a b", "a:b", "a@b", "con", "lpt1.x"]
)
def test_names(server: Postgres, tmp_path: Path, name: str) -> None:
    """A name fits a folder, a citation and a list with commas."""
    root = write_pages(tmp_path / "w", PAGES).root
    with pytest.raises(Usage):
        publish(server, root, name=name)


def test_names_of_any_script(server: Postgres, tmp_path: Path) -> None:
    """Letters are letters."""
    root = write_pages(tmp_path / "w", PAGES).root
    for name in ("team-1.notes", "команда", "北京"):
        assert publish(server, root, name=name).name == name


def test_the_fixture(server: Postgres, tmp_path: Path) -> None:
    """A real workspace stands there page for page as others may see it."""
    root = bare_copy(tmp_path)
    publish(server, root)
    with memory_on(Workspace(root.resolve())) as memory:
        shown = memory.public().workspace
    assert shown.hides
    there = stands(server)
    for path, text in there.items():
        lines = (root / path).read_text().split("\n")
        assert all(line.strip() in ("", lines[number].strip()) for number, line in enumerate(text.split("\n")))
    assert len(there) == 63
    shutil.rmtree(root)


def test_the_schema_is_made_by_who_may(server: Postgres, tmp_path: Path) -> None:
    """The first publisher who has the right makes it; one without is told what is needed."""
    server.sql("DROP SCHEMA memctl CASCADE")
    root = write_pages(tmp_path / "w", PAGES).root
    with pytest.raises(ServerFailed, match="permission denied") as failed:
        publish(server, root)
    assert "CREATE on the database" in failed.value.cure
    publish(server, root, "keeper")
    assert list(stands(server)) == sorted(PAGES)
