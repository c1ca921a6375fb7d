"""Undo: the bytes of before, whatever was written in between, and nothing of anybody else's is touched."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from functools import partial
from pathlib import Path

import pytest
from face_helpers import Done, bare_copy, call, fixture_copy
from hypothesis import settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule

TEXTS = st.sampled_from(
    [
        "The kettle is blue", "Чайник синий", "水壶是蓝色的", "# not a heading", "two  blanks ", "O(0.8) @Peter: Likes tea",
    ]
)  # fmt: skip
LOG = "memory/2025-11-30.md"


def pages(root: Path) -> dict[str, bytes]:
    """Every page with its bytes."""
    return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*.md"))}


class Undoing(RuleBasedStateMachine):
    """Commands that write, and undo: each takes its pages back to the bytes of before, the last command first."""

    def __init__(self) -> None:
        super().__init__()
        self.root = Path(tempfile.mkdtemp(prefix="memctl-undo-")).resolve()
        call(["init"], self.root)
        (self.root / "memory").mkdir(exist_ok=True)
        (self.root / "memory/2025-11-28.md").write_bytes(b"a torn line\r\n- W: \xff with CRLF")
        self.before: list[dict[str, bytes]] = []

    def teardown(self) -> None:
        shutil.rmtree(self.root)

    def write(self, *words: str, stdin: str = "") -> None:
        before = pages(self.root)
        call(words, self.root, stdin=stdin)
        self.before += [before] if pages(self.root) != before else []

    @rule(text=TEXTS, day=st.sampled_from(["2025-11-28", "2025-11-30", "2025-12-01"]))
    def retain(self, text: str, day: str) -> None:
        self.write("retain", text, "--date", day)

    @rule(texts=st.lists(TEXTS, min_size=1))
    def retain_many(self, texts: list[str]) -> None:
        self.write("retain", "-", stdin="\n".join(texts))

    @rule(value=TEXTS)
    def fill_a_slot(self, value: str) -> None:
        self.write("fact", "set", "kettle", value, "--about", "Peter")

    @rule(name=st.sampled_from(["Пётр", "Pete", "彼得"]), take_away=st.booleans())
    def alias(self, name: str, take_away: bool) -> None:
        self.write("entity", "alias", "Peter", name, *["--remove"] * take_away)

    @rule()
    def reflect(self) -> None:
        self.write("reflect")

    @precondition(lambda self: self.before)
    @rule(only_look=st.booleans())
    def undo(self, only_look: bool) -> None:
        now = pages(self.root)
        done = call(["undo", *["--dry-run"] * only_look], self.root)
        if only_look or done.code:
            assert pages(self.root) == now
        if (
            done.code == 15 and not only_look
        ):  # reflect or alias replaced a text: the one before it may not stand as written
            call(["undo", "--skip"], self.root)
            (self.root / ".memory/undo.jsonl").unlink()
            self.before.clear()
        elif not only_look:
            assert done.code == 0, done.both
            assert pages(self.root) == self.before.pop()


TestUndoing = Undoing.TestCase
TestUndoing.settings = settings(max_examples=12, stateful_step_count=12, deadline=None)


def retained(root: Path, *texts: str) -> Done:
    """What `retain` says of some lines."""
    return call(["retain", "-"], root, stdin="\n".join(texts))


def test_lines_of_others_stay(tmp_path: Path) -> None:
    """A line that was appended since, above or below, stays with the heading that it stands under."""
    (tmp_path / "memory").mkdir()
    retained(tmp_path, "one", "two")
    page = tmp_path / LOG
    page.write_text(
        "# mine\n" + page.read_text("utf-8").replace("- W: two", "- W: between\n- W: two") + "- W: theirs\n"
    )
    assert call(["undo"], tmp_path).code == 0
    assert page.read_text("utf-8") == "# mine\n# 2025-11-30\n\n## Retain\n\n- W: between\n- W: theirs\n"


def test_an_edited_line_is_not_undone(tmp_path: Path) -> None:
    """Nothing is, the line is named, and the diff shows what would have gone; --skip goes past it."""
    (tmp_path / "memory").mkdir()
    retained(tmp_path, "zero")
    retained(tmp_path, "one", "two", "three")
    page = tmp_path / LOG
    page.write_text(page.read_text("utf-8").replace("- W: two", "- W: 2"))
    now = page.read_bytes()
    done = call(["undo"], tmp_path)
    assert (done.code, page.read_bytes()) == (12, now)
    assert "-- W: one\n-- W: 2\n-- W: three\n" in done.out and f"{LOG}#L7" in done.err
    assert call(["undo", "--skip"], tmp_path).code == 0
    assert page.read_bytes() == now.replace(b"- W: zero\n", b"")
    assert call(["undo"], tmp_path).code == 1


def test_forget_is_never_undone_and_leaves_no_hash(tmp_path: Path) -> None:
    """The journal forgets all that it knew."""
    root = fixture_copy(tmp_path)
    ref = retained(root, "the word is swordfish").out.split()[1]
    journal = root / ".memory/undo.jsonl"
    assert "swordfish" not in journal.read_text("utf-8")
    assert call(["forget", "--id", ref, "--apply"], root).code == 0
    assert json.loads(journal.read_text("utf-8")) == {"command": "forget", "never": True}
    done = call(["undo"], root)
    assert (done.code, "forget is never undone" in done.err) == (15, True)
    retained(root, "and on")
    assert [call(["undo"], root).code for _ in range(2)] == [0, 15]


@pytest.mark.parametrize("damage", [b"", b"{", b'[1]\n{"command": "torn', b"\xff\x00"])
def test_without_a_journal_there_is_nothing_to_undo(damage: bytes, tmp_path: Path) -> None:
    """One that was lost or damaged is no error."""
    root = bare_copy(tmp_path)
    (root / ".memory").mkdir()
    (root / ".memory/undo.jsonl").write_bytes(damage)
    done = call(["undo"], root)
    assert (done.code, "remembers" in done.err) == (1, True)
    retained(root, "one")
    assert call(["undo"], root).code == 0


def test_others_read_no_journal(tmp_path: Path) -> None:
    """Nor after an undo, which writes it anew."""
    (tmp_path / "memory").mkdir()
    retained(tmp_path, "one")
    retained(tmp_path, "two")
    journal = tmp_path / ".memory/undo.jsonl"
    assert journal.stat().st_mode & 0o077 == 0
    assert call(["undo"], tmp_path).code == 0
    assert journal.read_text("utf-8").strip() and journal.stat().st_mode & 0o077 == 0


def test_what_a_server_wrote_is_left(tmp_path: Path) -> None:
    """Only commands are undone: a memory that stays writes beside them."""
    import memctl

    (tmp_path / "memory").mkdir()
    retained(tmp_path, "mine")
    with memctl.open(tmp_path) as memory:
        memory.retain("theirs", day="2025-11-30")
    assert call(["undo", "--json"], tmp_path).code == 0
    assert (tmp_path / LOG).read_text("utf-8").endswith("## Retain\n\n- W: theirs\n")


def test_an_undo_that_was_cut_off_is_completed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page that was taken back already is passed over."""
    from memctl.notes import journal

    (tmp_path / "memory").mkdir()
    retained(tmp_path, "one")
    with monkeypatch.context() as patch:
        patch.setattr(journal, "drop", lambda *_: None)
        call(["undo"], tmp_path)
    assert not (tmp_path / LOG).exists()
    assert [call(["undo"], tmp_path).code for _ in range(2)] == [0, 1]


CODES = [
    ("The code of the alarm is tulipheron", "Alarm"),
    ("Код от сейфа tulipheron", "Сейф"),
    ("保险箱的密码是 tulipheron", "保险箱"),
]
HASHES = [partial(hashlib.blake2b, digest_size=size) for size in (4, 5, 6, 8, 16, 32, 64)] + [
    hashlib.sha256,
    hashlib.md5,
]


def confirmed(root: Path, former: set[bytes]) -> int:
    """How many of these texts are proven by a hash in any file under .memory/, or stand there."""
    held = b"".join(path.read_bytes() for path in sorted((root / ".memory").rglob("*")) if path.is_file())
    digests = {text: [make(text).digest()[:8] for make in HASHES] for text in former}
    return sum(
        any(each in held or each.hex().encode() in held or each[::-1] in held for each in found if len(each) > 4)
        for found in digests.values()
    ) + (b"tulipheron" in held)


@pytest.mark.parametrize("way", ["editor", "all", "forget"])
def test_nothing_confirms_a_line_that_is_gone(tmp_path: Path, way: str) -> None:
    """Not the line, not a page on which it stood: deleted in an editor, with its page, or forgotten."""
    former: set[bytes] = set()
    call(["init"], tmp_path)
    for words in [
        *(["retain", text, "--about", who] for text, who in CODES),
        ["fact", "set", "pin", "tulipheron", "--about", "Alarm"],
    ]:
        assert call(words, tmp_path).code == 0
        assert call(["reflect"], tmp_path).code == 0
        for page in pages(tmp_path).values():
            former |= {page, *page.splitlines(), *page.splitlines(keepends=True)}
    former = {text for text in former if b"tulipheron" in text}
    call(["retain", "The hill is green"], tmp_path)
    assert confirmed(tmp_path, former)
    for path, page in pages(tmp_path).items():
        if b"tulipheron" in page and way == "all":
            (tmp_path / path).unlink()
        elif way == "editor":
            (tmp_path / path).write_bytes(b"".join(each for each in page.splitlines(True) if b"tulipheron" not in each))
    for _, who in CODES if way == "forget" else ():
        call(["forget", "--about", who, "--include-exempt", "--apply"], tmp_path)
    call(["index"], tmp_path)
    assert not confirmed(tmp_path, former)


def test_the_rest_of_an_edited_page_is_undone(tmp_path: Path) -> None:
    """A line that was deleted by hand keeps no hash, and undo of the others goes on."""
    (tmp_path / "memory").mkdir()
    retained(tmp_path, "one")
    retained(tmp_path, "code 4711")
    page = tmp_path / LOG
    page.write_text(page.read_text("utf-8").replace("- W: code 4711\n", "- W: mine\n"))
    call(["index"], tmp_path)
    assert call(["undo"], tmp_path).code == 12
    assert call(["undo", "--skip"], tmp_path).code == 0
    assert page.read_text("utf-8").endswith("## Retain\n\n- W: mine\n")


def test_a_line_behind_several_reflects_comes_back(tmp_path: Path) -> None:
    """Without git nothing names git; --skip goes past all that keeps no text, to the line, and never past a forget."""
    call(["init"], tmp_path)
    for text in ("W @Аня: Живёт в Риге", "W @Аня: 喜欢茶", "W @Аня: Has a boat"):
        assert call(["retain", text], tmp_path).code == 0
        assert call(["reflect"], tmp_path).code == 0
    assert call(["retain", "W @Аня: Sings"], tmp_path).code == 0
    for text in ("W: one", "W: two"):
        assert call(["reflect"], tmp_path).code == 0
        (tmp_path / "memory/2025-10-01.md").write_text(f"## Retain\n\n- {text.replace('W', 'W @Аня')}\n", "utf-8")
    call(["reflect"], tmp_path)
    refused = call(["undo"], tmp_path)
    assert refused.code == 15 and "--skip" in refused.err and "git" not in refused.err
    assert "reflect made it from your lines" in refused.err
    assert call(["undo", "--skip"], tmp_path).code == 0
    assert "Sings" not in (tmp_path / LOG).read_text("utf-8") and "Has a boat" in (tmp_path / LOG).read_text("utf-8")
    assert call(["forget", "--about", "Аня", "--apply"], tmp_path).code == 0
    call(["retain", "W: three"], tmp_path)
    assert call(["undo"], tmp_path).code == 0
    assert "never undone" in call(["undo"], tmp_path).err
