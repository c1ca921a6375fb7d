"""Sealed lines: what is in the clear finds them, a key opens them, and nothing else of the workspace tells their text."""

from __future__ import annotations

import os
import re
import sys
from base64 import b64decode
from collections.abc import Callable, Iterator
from datetime import date, datetime
from pathlib import Path

import pytest
from face_helpers import call, contents, write_pages
from store_helpers import git, refusal
from strategies import examples

from memctl.facts import Fact, Kind
from memctl.index.queries.entries import by_refs
from memctl.index.reread import reread
from memctl.markdown.grammar import parse, render
from memctl.markdown.lines import SEALED, sealed_text
from memctl.memory import Memory, open_memory
from memctl.notes import edits
from memctl.vault.vault import VAULT, Vault
from memctl.vectors.embed import pieces_of
from memctl.vectors.text_to_embed import embedded_texts

pyrage = pytest.importorskip("pyrage")
TEXTS = (
    "The door opens with 4711-Kestrel",
    "Дверь открывает слово Пустельга",
    "门的密码是红隼四七一一",
    "first 83910\nsecond: 55127\n\nthird 90642",
)
CUES = ("door code", "код двери", "门 密码", "recovery codes")


def _nobody(prompt: str) -> str:
    raise AssertionError(prompt)


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace with a vault, and the key of its owner."""
    monkeypatch.setenv("MEMCTL_IDENTITY", str(tmp_path / "keys"))
    made = write_pages(tmp_path / "notes", {"memory/2025-11-01.md": "- W @Home: The roof is new.\n"}).root
    assert call(["init", str(made), "--vault"], tmp_path).code == 0
    return made


def _memory(root: Path) -> Memory:
    return open_memory(root, now=datetime(2025, 11, 30), resident=False)


def _vault(root: Path) -> Vault:
    return _memory(root).vault(_nobody)


def _seal(root: Path, text: str, cue: str = "door code", day: str = "2025-11-30") -> str:
    (kept,) = _vault(root).retain(text, about=["Home"], day=day, cue=[cue]).kept
    return kept.ref


def _opened(root: Path) -> list[str]:
    vault = _vault(root)
    return [
        vault.opened_hit(hit).content
        for hit in _memory(root).recall(about=["Home"], k=50).hits
        if hit.fact and hit.fact.sealed
    ]


def _other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str = "other") -> str:
    """The public key of somebody else, whose keys are from now on those of this machine."""
    monkeypatch.setenv("MEMCTL_IDENTITY", str(tmp_path / name))
    (tmp_path / f"{name} notes").mkdir()
    return _vault(write_pages(tmp_path / f"{name} notes", {}).root).make().recipient


def _ciphertexts(root: Path) -> list[str]:
    return [found for page in sorted(root.rglob("*.md")) for found in sealed_text().findall(page.read_text("utf-8"))]


def _files(*folders: Path) -> Iterator[tuple[Path, bytes]]:
    for folder in folders:
        yield from ((path, path.read_bytes()) for path in folder.rglob("*") if path.is_file())


def test_a_line_keeps_its_head_and_opens_for_its_owner(root: Path, tmp_path: Path) -> None:
    """Kind, name, day, id and cue find it in three languages; its words do not; no file has a byte of the text."""
    before = {_seal(root, text, cue) for text, cue in zip(TEXTS, CUES, strict=True)}
    memory = _memory(root)
    for text, cue in zip(TEXTS, CUES, strict=True):
        (hit,) = [hit for hit in memory.recall(cue).hits if hit.content == SEALED and hit.fact and cue in hit.fact.cues]
        assert (hit.kind, hit.day, hit.entities, hit.private) == (Kind.WORLD, "2025-11-30", ("Home",), True)
        assert _vault(root).opened_hit(hit).content == text
    for word in ("Kestrel", "4711", "Пустельга", "四七一一", "90642", "YWdlLWVuY3J5cHRpb24ub3JnL3Yx", "age"):
        assert SEALED not in contents(memory.recall(word))
    assert not [f for f in memory.check() if f.rule != "entity"]
    memory.reflect()
    written = dict(_files(root, tmp_path))
    for secret in (line for text in TEXTS for line in text.split("\n") if line):
        assert not [path for path, data in written.items() if secret.encode() in data]
    assert not [path for path, data in written.items() if "bank" in path.parts and b"sealed" in data]
    assert {hit.ref for hit in memory.recall(about=["Home"]).hits if hit.content == SEALED} == before


def test_a_text_of_any_length_up_to_8_000_bytes_tells_little_of_it(root: Path) -> None:
    """A PIN is as long as a sentence; line ends behind it are not kept."""
    vault = _vault(root)
    for text, size in (("4", 64), ("4" * 64, 64), ("4" * 65, 128), ("ж" * 4_000, 8_000), ("no UTF-8: \ufffd", 64)):
        _seal(root, f"{text}\r\n\n".replace("\ufffd", "\udcff"))
        (cipher,) = (each for each in _ciphertexts(root) if vault.opened(each) == text)
        assert len(pyrage.decrypt(b64decode(cipher.removeprefix("age:")), vault._keys)) == size
    for text, said in (("4" * 8_001, "8,001"), ("ж" * 4_001, "8,002"), (" \n", "0")):
        told = f"Usage: a sealed text has 1 to 8,000 bytes, this one {said}; pipe it in, or type it"
        assert refusal(lambda: vault.retain(text)) == told  # noqa: B023


@pytest.mark.skipif(os.name != "posix", reason="a terminal of its own")
def test_no_file_process_or_scrollback_tells(tmp_path: Path) -> None:
    """S17; the watcher sees what there is to see: a line that is not sealed."""
    from torture.sealed import COMMANDS, SECRETS, Run, _places, _told, leaks

    few = not os.environ.get("MEMCTL_TORTURE")
    for number in range(examples(10, 1, 10)):
        (folder := tmp_path / f"sealed{number}").mkdir()
        secrets, commands = (SECRETS[1:2], ("vault rekey",)) if few else (SECRETS, COMMANDS)
        assert leaks(folder, secrets, commands) == (len(secrets) + 1, set())
    run = Run(tmp_path)
    run.piped("init")
    run.piped("retain", SECRETS[1])
    assert any(_told(data) for _, data in _places(tmp_path / "notes"))


@pytest.mark.parametrize("cue", ["door, code", "код (двери)", "门"])
def test_the_grammar_reads_what_it_writes(root: Path, cue: str) -> None:
    """parse(render(fact)) == fact; the id is not of the text; a text is as long as its block tells, no more."""
    _seal(root, "1234", cue)
    _seal(root, "1234", cue)
    one, two = {m[1] for m in re.finditer(r"\^(f-\w{8})$", (root / "memory/2025-11-30.md").read_text("utf-8"), re.M)}
    assert one != two
    for cipher in _ciphertexts(root):
        fact = Fact(Kind.OPINION, cipher, ("Home",), confidence=0.5, cues=(cue,), sealed=True, block_id=one)
        assert parse(render(fact)) == fact


def test_a_model_is_given_its_cue_and_no_ciphertext(root: Path) -> None:
    """What is embedded of a sealed line: whom it is about, and its cues."""
    refs, memory = [_seal(root, TEXTS[0], "код двери")], _memory(root)
    memory.sync()
    pieces = memory.run(lambda at: pieces_of(found := by_refs(at.index, refs), reread(at.workspace, found)))
    assert [text for _, text in embedded_texts(pieces)] == [f"Home: {SEALED}", "код двери"]


def test_nothing_public_has_it(root: Path) -> None:
    """Servers, hooks and context see neither text nor ciphertext; export and a private context see that there is a line."""
    _seal(root, TEXTS[0])
    memory = _memory(root)
    assert SEALED not in contents(memory.public().recall("door code"))
    assert SEALED not in memory.context("door code").text
    assert "door" not in memory.memories("door code").text
    told = [str(row) for row in memory.export().rows]
    told += [
        memory.context("door code", private=True).text,
        str(memory.chat([{"role": "user", "content": "door code"}])),
    ]
    for text in told:
        assert "4711" not in text and not sealed_text().search(text)
    assert "--unseal" not in "".join(
        call([*words, "--help"], root).out for words in (["mcp"], ["serve"], ["export"], ["context"])
    )


@pytest.mark.parametrize(
    ("words", "stdin", "code", "told"),
    [
        (["retain", "--sealed", "the code is 4711"], "", 15, "never an argument"),
        (["retain", "W(sealed) @Home: the code is 4711"], "", 15, "never an argument"),
        (["retain", "--sealed"], " \n", 2, "1 to 8,000 bytes"),
        (["retain", "--sealed"], "x" * 8001, 2, "1 to 8,000 bytes"),
        (["retain", "--sealed", "--date", "last month"], "x", 2, "--date 'last month' is not a day"),
        (["recall", "door", "--unseal"], "", 2, "on a terminal alone"),
        (["recall", "door", "--unseal", "--json"], "", 2, "on a terminal alone"),
        (["show", "memory/2025-11-01.md#L3", "--unseal"], "", 2, "on a terminal alone"),
        (["vault", "add", "age1nobody"], "", 2, "'age1nobody' is not an age public key"),
        (["vault", "add", "age1" + "x" * 99], "", 2, f"'age1{'x' * 76}' is not an age public key"),
        (["vault", "add"], "", 2, "not an age public key"),
        (["vault", "drop", "age1"], "", 2, "'drop' is unknown"),
        (["init", "--vault", "--passphrase", "--workspace", "elsewhere"], "", 2, "no terminal to ask"),
    ],
)
def test_what_is_refused(root: Path, words: list[str], stdin: str, code: int, told: str) -> None:
    """In one line each, and nothing is written."""
    before = dict(_files(root / "memory"))
    done = call(words, root, stdin=stdin)
    assert (done.code, told in done.err, "4711" in done.both, done.out) == (code, True, False, "")
    assert dict(_files(root / "memory")) == before


def test_the_command_line_seals_what_it_is_piped(root: Path) -> None:
    """Where it stands is printed, no more; `--dry-run` writes nothing; secrets found elsewhere are told of sealing."""
    words = ["retain", "--sealed", "--about", "Home", "--cue", "door code"]
    tried = call([*words, "--dry-run"], root, stdin="4711\n")
    assert sealed_text().search(tried.out) and not _ciphertexts(root)
    done = call([*words, "-"], root, stdin="4711\n")
    assert re.fullmatch(r"memory/2025-11-30\.md#L\d+ \^f-\w{8}\n", done.out) and _opened(root) == ["4711"]
    refused = call(["retain", "The card is 4539 1488 0343 6467"], root)
    assert refused.code == 15 and "memctl retain --sealed" in refused.err
    (root / "memory/2025-11-02.md").write_text("## Retain\n\n- W(sealed): card 4539 1488 0343 6467\n", "utf-8")
    found = {each.rule: each.cure for each in _memory(root).check()}
    assert "retain --sealed" in found["secret"] and "retain --sealed" in found["sealed"]


def test_without_the_extra_words_go_on(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit 16 with the install command for what needs it; recall needs nothing."""
    _seal(root, TEXTS[0])
    monkeypatch.setitem(sys.modules, "pyrage", None)
    done = call(["retain", "--sealed"], root, stdin="x")
    assert done.code == 16 and "pip install 'memctl-workspace[vault]'" in done.err
    assert SEALED in call(["recall", "door code"], root).out


def test_init_makes_one_key_and_says_where(root: Path, tmp_path: Path) -> None:
    """Outside the workspace, for its owner alone; run again, nothing changes; somebody else is told to ask."""
    (key,) = (tmp_path / "keys").iterdir()
    assert key.stat().st_mode & 0o077 == 0 and "AGE-SECRET-KEY-1" in key.read_text()
    before = dict(_files(tmp_path))
    assert call(["init", str(root), "--vault"], tmp_path).out == "" and dict(_files(tmp_path)) == before
    joined = call(["init", str(root), "--vault"], tmp_path, MEMCTL_IDENTITY=str(tmp_path / "theirs"))
    (theirs,) = (tmp_path / "theirs").iterdir()
    public = theirs.read_text().split()[3]
    assert f"the key is in {theirs}; keep a copy elsewhere: losing it loses the text of sealed lines" in joined.err
    assert f"others own this vault; let one of them run: memctl vault add {public}" in joined.err
    assert (root / VAULT).read_bytes() == before[root / VAULT]


def _damaged(root: Path, keys: Path) -> None:
    key = next(keys.iterdir())
    key.write_text(key.read_text()[:-9])


def _within(root: Path, keys: Path) -> None:
    (root / "memctl.toml").write_text('[vault]\nidentity = "keys"\n'.replace("keys", str(root / "keys")))
    os.environ.pop("MEMCTL_IDENTITY")


@pytest.mark.parametrize(
    ("harm", "told"),
    [
        (lambda root, keys: next(keys.iterdir()).unlink(), "Refused: refused: no key on this machine opens this vault; put your key file into {keys}, or let an owner run `memctl vault add`"),
        (lambda root, keys: next(keys.iterdir()).chmod(0o644), "Refused: refused: {key} can be read by others (mode 0644); chmod 600 {key}"),
        (_damaged, "PageUnreadable: {key}: no secret key of age; put back what `init --vault` wrote"),
        (_within, "Refused: refused: {root}/keys is in the workspace, where keys must not be; name another: MEMCTL_IDENTITY=FOLDER"),
        (lambda root, keys: (root / VAULT).write_text(f"<<<<<<< ours\n{(root / VAULT).read_text()}"), "PageUnreadable: memctl.vault: line 1 is not an age public key; correct it: git may have left a conflict there"),
        (lambda root, keys: (root / VAULT).unlink(), "Usage: this workspace has no vault; `memctl init --vault` makes one"),
    ],
)  # fmt: skip
@pytest.mark.skipif(os.name != "posix", reason="modes of files")
def test_a_key_that_is_lost_or_unfit(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, harm: Callable[[Path, Path], None], told: str
) -> None:
    """Says what is wrong, and changes nothing; the line is found as before."""
    _seal(root, TEXTS[0])
    monkeypatch.setenv("MEMCTL_IDENTITY", os.environ["MEMCTL_IDENTITY"])  # to be put back
    (key,) = (tmp_path / "keys").iterdir()
    harm(root, tmp_path / "keys")
    before, expected = dict(_files(root / "memory")), told.format(root=root, keys=tmp_path / "keys", key=key)
    for job in (lambda: _vault(root).change("rekey"), lambda: _opened(root)):
        assert refusal(job) == expected
    assert dict(_files(root / "memory")) == before
    assert SEALED in contents(_memory(root).recall("door code"))


def test_a_wrong_key_opens_nothing(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says so in the place of the text; a damaged ciphertext too."""
    _seal(root, TEXTS[0])
    page = root / "memory/2025-11-30.md"
    page.write_text(
        page.read_text("utf-8").replace("YWdlLWVuY3J5cHRpb24ub3JnL3YxCi0", "YWdlLWVuY3J5cHRpb24ub3JnL3YxCi1"), "utf-8"
    )
    assert _opened(root) == ["(sealed; no key here opens it)"]
    other = _other(tmp_path, monkeypatch)
    (root / VAULT).write_text(f"{other}  # a recipient of later lines alone\n")
    assert _opened(root) == ["(sealed; no key here opens it)"]
    done = call(["vault", "rekey"], root)
    assert done.code == 1 and "1 line left as it was" in done.err


def test_a_passphrase_in_place_of_a_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is asked for once to make the vault (twice over), never to seal, and once to open; a wrong one is told."""
    monkeypatch.setenv("MEMCTL_IDENTITY", str(tmp_path / "none"))
    root = write_pages(tmp_path / "notes", {}).root
    typed, prompts = iter(["пустельга", "канюк", "", "пустельга", "пустельга", "wrong", "пустельга"]), list[str]()
    vault = Vault(_memory(root), lambda prompt: prompts.append(prompt) or next(typed))  # type: ignore[func-returns-value]
    for _ in ("another", "none"):
        assert refusal(lambda: vault.make(True)) == "Usage: the two are not the same passphrase; run it again"
    note = "the key is in memctl.vault: losing its passphrase loses the text of sealed lines"
    assert vault.make(True).notes == (note,)
    _seal(root, TEXTS[1])
    (cipher,) = _ciphertexts(root)
    assert (
        refusal(lambda: vault.opened(cipher)) == "Refused: refused: that is not the passphrase of this vault; try again"
    )
    assert vault.opened(cipher) == TEXTS[1]
    twice = ["New passphrase: ", "The same again: "]
    assert prompts == [*twice, twice[0], *twice, "Passphrase of the vault: ", "Passphrase of the vault: "]
    assert [*vault.recipients().values()] == ["passphrase"] and not (tmp_path / "none").exists()


def test_recipients_come_and_go(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Added, somebody opens old lines too; removed, none; ids, heads and all else of the pages stay."""
    ours = os.environ["MEMCTL_IDENTITY"]
    refs = {_seal(root, text, day=f"2025-11-{day}") for day, text in enumerate(TEXTS, 10)}
    theirs = _other(tmp_path, monkeypatch)
    assert "opens this vault" in refusal(lambda: _vault(root).change("add", theirs))
    told = "Usage: '' is not an age public key; `memctl init --vault` prints one: age1…"
    assert refusal(lambda: _vault(root).change("add")) == told
    monkeypatch.setenv("MEMCTL_IDENTITY", ours)
    shape = [sealed_text().sub("", page.read_text("utf-8")) for page in sorted(root.glob("memory/*.md"))]
    assert _vault(root).change("add", theirs).lines == len(TEXTS)
    monkeypatch.setenv("MEMCTL_IDENTITY", str(tmp_path / "other"))
    assert sorted(_opened(root)) == sorted(TEXTS)
    monkeypatch.setenv("MEMCTL_IDENTITY", ours)
    own = next(key for key, here in _vault(root).recipients().items() if here)
    told = "Refused: refused: without it no key here would open the lines; add another key of yours first"
    assert refusal(lambda: _vault(root).change("remove", own)) == told
    tried = call(["vault", "remove", theirs, "--dry-run"], root).out
    assert f"-{theirs}\n" in tried and tried.count("\n+- W") == len(TEXTS) == len(_opened(root))
    assert call(["vault", "remove", theirs], root).out == "4 lines sealed again\n"
    old = _ciphertexts(root)
    assert call(["vault", "rekey"], root).out == "4 lines sealed again\n"
    assert len(list(Path(ours).iterdir())) == 2 and not set(old) & set(_ciphertexts(root))
    assert sorted(_opened(root)) == sorted(TEXTS)
    monkeypatch.setenv("MEMCTL_IDENTITY", str(tmp_path / "other"))
    vault = _vault(root)
    (root / VAULT).write_text(f"{theirs}\n")
    assert {vault.opened(cipher) for cipher in _ciphertexts(root)} == {"(sealed; no key here opens it)"}
    assert shape == [sealed_text().sub("", page.read_text("utf-8")) for page in sorted(root.glob("memory/*.md"))]
    assert {hit.ref for hit in _memory(root).recall(about=["Home"], k=50).hits if hit.content == SEALED} == refs


@pytest.mark.parametrize("after", range(5))
def test_a_kill_half_way_leaves_every_line_readable(root: Path, monkeypatch: pytest.MonkeyPatch, after: int) -> None:
    """Whatever was written by then, each line opens with the keys here; run again, it is completed."""
    for day, text in enumerate(TEXTS, 10):
        _seal(root, text, day=f"2025-11-{day}")
    old, done, write = _ciphertexts(root), [], edits.replace

    def killed(*given: object) -> None:
        if len(done) == after:
            raise KeyboardInterrupt
        done.append(given)
        write(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(edits, "replace", killed)
    if after < 5:
        with pytest.raises(KeyboardInterrupt):
            _vault(root).change("rekey")
    assert len(set(old) & set(_ciphertexts(root))) == len(TEXTS) - max(after - 1, 0)
    assert sorted(_opened(root)) == sorted(TEXTS)
    monkeypatch.setattr(edits, "replace", write)
    assert _vault(root).change("rekey").lines == len(TEXTS) and not set(old) & set(_ciphertexts(root))
    assert sorted(_opened(root)) == sorted(TEXTS)


def test_a_save_meanwhile_is_not_overwritten(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """PageChanged as for every Edit, and the save stays."""
    _seal(root, TEXTS[0])
    page, apply = root / "memory/2025-11-30.md", edits.apply

    def saving(*given: object, **more: object) -> object:
        page.write_text(page.read_text("utf-8") + "\nsaved\n", "utf-8")
        return apply(*given, **more)  # type: ignore[arg-type]

    monkeypatch.setattr("memctl.vault.vault.apply", saving)
    done = call(["vault", "rekey"], root)
    assert done.code == 12 and "saved" in page.read_text("utf-8") and _opened(root) == [TEXTS[0]]


def test_git_merges_sealed_lines(root: Path, tmp_path: Path) -> None:
    """Two machines seal on one day; after the merge both lines open, and history has ciphertext alone."""
    call(["init", str(root), "--git"], tmp_path)
    for words in (
        ["init", "-q", "-b", "main"],
        ["add", "-A"],
        ["commit", "-qm", "one"],
        ["clone", "-q", ".", str(tmp_path / "two")],
    ):
        git(root, *words)
    _seal(tmp_path / "two", TEXTS[1])
    git(tmp_path / "two", "add", "-A")
    git(tmp_path / "two", "commit", "-qm", "two")
    _seal(root, TEXTS[0])
    git(root, "add", "-A")
    git(root, "commit", "-qm", "three")
    git(root, "pull", "-q", "--no-rebase", str(tmp_path / "two"), "HEAD")
    assert sorted(_opened(root)) == sorted(TEXTS[:2]) and not _memory(root).check()
    assert "Kestrel" not in git(root, "log", "-p", "--all") and "age:YWdl" in git(root, "log", "-p", "--all")


def test_a_sealed_line_is_forgotten_as_any(root: Path) -> None:
    """The ciphertext goes from every page, and its line from the index."""
    ref = _seal(root, TEXTS[0])
    assert call(["forget", "--id", ref, "--apply"], root).code == 0
    assert not _ciphertexts(root) and SEALED not in contents(_memory(root).recall("door code"))
    assert not _memory(root).verify().differences


def test_versions_of_a_slot(root: Path) -> None:
    """A newer sealed value of a slot is current; what stood before is history."""
    for day, code in (("2025-11-10", "old"), ("2025-11-20", "new")):
        _vault(root).retain(code, about=["Home"], day=day, key="pin")
    (hit,) = _memory(root).fact("pin", "Home")
    assert _vault(root).opened_hit(hit).content == "new" and date.fromisoformat(hit.day or "").day == 20
    assert len(_memory(root).fact_history("pin", "Home")) == 2
