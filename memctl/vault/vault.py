"""Sealed lines: their text is an age ciphertext in base64, for the recipients that memctl.vault names.

Keys lie outside the workspace, readable by their owner alone; a key that a passphrase locks stands beside its recipient in
memctl.vault. Only this module loads pyrage. What it opens goes to the caller and nowhere else.
"""

from __future__ import annotations

import os
import re
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import ExtraMissing, PageUnreadable, Refused, Usage
from ..hits import Hit
from ..ids import fact_id
from ..index.open_memory import OpenMemory
from ..index.reread import page_lines
from ..language.dates import day_of
from ..markdown.escape import many
from ..markdown.grammar import clean
from ..markdown.lines import SEALED, sealed_text
from ..notes.edits import Edit, apply, read_for_edit, writing_alone
from ..notes.files import read_private, write_derived
from ..notes.journal import never_undone
from ..retain.retain import Retained, read_facts, retain

VAULT = "memctl.vault"
_HEAD = "# Who opens the sealed lines of this workspace: a public key of age a line (docs/vault.md).\n"
_LINE = re.compile(r"(age1[0-9a-z]+)(?:\s+locked:([A-Za-z0-9+/=]+))?\s*(?:#.*)?")
_MOST = 8_000  # bytes of a text
_BLOCK = 64  # a text is filled up to a multiple of so many bytes, which hides how long a PIN is


class Changed(NamedTuple):
    """What became of a vault: `lines` were sealed again, for `left` there is no key here; `notes` are for its owner."""

    recipient: str
    notes: tuple[str, ...] = ()
    lines: int = 0
    left: int = 0
    diff: str = ""


class Vault:
    """The sealed lines of a workspace. `ask` is given a prompt and returns what the owner types, unseen."""

    def __init__(self, memory: OpenMemory, ask: Callable[[str], str]) -> None:
        try:
            import pyrage
        except ImportError as error:
            raise ExtraMissing("vault", "pyrage") from error
        self._age: Any = pyrage
        self._memory, self._workspace, self._ask = memory, memory.workspace, ask

    def recipients(self) -> dict[str, str]:
        """The public keys in memctl.vault, each with what opens it here: key, passphrase or nothing. Usage without that file."""
        own = _publics(self._keys)
        return {key: "key" if key in own else "passphrase" if under else "" for key, under in self._there().items()}

    def _there(self) -> dict[str, str]:
        there = _read(read_for_edit(self._workspace, VAULT).after)
        if not there:
            raise Usage("this workspace has no vault", "`memctl init --vault` makes one")
        return there

    @cached_property
    def _folder(self) -> Path:
        """The file or folder of keys; Refused inside the workspace, where git would carry them off."""
        usual = os.environ.get("XDG_CONFIG_HOME", "~/.config") + "/memctl/keys"
        named = os.environ.get("MEMCTL_IDENTITY") or self._workspace.settings.identity or usual
        path = (self._workspace.root / Path(named).expanduser()).resolve()
        if self._workspace.root in (path, *path.parents):
            raise Refused(f"{path} is in the workspace, where keys must not be", "name another: MEMCTL_IDENTITY=FOLDER")
        return path

    @cached_property
    def _keys(self) -> list[Any]:
        files = sorted(self._folder.glob("*.key")) if self._folder.is_dir() else [self._folder]
        return [key for file in files for key in self._read_keys(file, read_private(file, f"chmod 600 {file}") or "")]

    def _read_keys(self, place: Path | str, text: str) -> list[Any]:
        written = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
        try:
            return [self._age.x25519.Identity.from_str(line) for line in written]
        except self._age.IdentityError as error:
            raise PageUnreadable(str(place), "no secret key of age", "put back what `init --vault` wrote") from error

    @cached_property
    def _opening(self) -> list[Any]:
        """The keys that open lines; those under a passphrase where no other is a recipient. Refused without any."""
        there = self._there()
        if _publics(self._keys) & there.keys():
            return self._keys
        under = list(filter(None, there.values()))
        if not under:
            cure = f"put your key file into {self._folder}, or let an owner run `memctl vault add`"
            raise Refused("no key on this machine opens this vault", cure)
        typed = self._ask("Passphrase of the vault: ")
        opened = [text for one in under if (text := self._decrypted(self._age.passphrase.decrypt, one, typed))]
        if not opened:
            raise Refused("that is not the passphrase of this vault", "try again")
        return self._read_keys(VAULT, "\n".join(opened))

    def opened(self, text: str) -> str:
        """A text with its ciphertexts opened; one that no key here opens says so."""
        return sealed_text().sub(lambda found: self._open(found[0]) or "(sealed; no key here opens it)", text)

    def opened_hit(self, hit: Hit) -> Hit:
        """A hit with its sealed text, read again from disk."""
        lines = page_lines(self._workspace, hit.source.path)[hit.source.line - 1 : hit.source.end_line]
        texts = map(self.opened, sealed_text().findall("\n".join(lines)))
        return replace(hit, content=re.sub(re.escape(SEALED), lambda found: next(texts, found[0]), hit.content))

    def _open(self, cipher: str) -> str | None:
        return self._decrypted(self._age.decrypt, cipher.removeprefix("age:"), self._opening)

    def _decrypted(self, decrypt: Callable[[bytes, Any], bytes], written: str, key: Any) -> str | None:
        try:
            return decrypt(b64decode(written), key).decode("utf-8", "replace").rstrip("\n")
        except (self._age.DecryptError, ValueError):
            return None

    def retain(
        self, text: str, *, kind: str | None = None, about: Sequence[str] = (), day: str | None = None,
        dry_run: bool = False, **head: Any,
    ) -> Retained:  # fmt: skip
        """Seal a text of one or more lines, and keep it in the log of a day with all else of its head in the clear."""
        size = len(text.strip().encode("utf-8", "surrogateescape"))
        if not 0 < size <= _MOST:
            raise Usage(f"a sealed text has 1 to {_MOST:,} bytes, this one {size:,}", "pipe it in, or type it")
        on = day_of("--date", day, self._memory.today) or self._memory.today
        (fact,) = read_facts([SEALED], kind=kind, about=about, attributes=head | {"sealed": True})
        # Nobody is removed between this look at the recipients and the line.
        with writing_alone(self._workspace, "vault"):
            fact = clean(replace(fact, text=self._cipher(text, self._there())))
            ref = fact_id(fact.kind, (*fact.entities, *fact.cues), fact.text, on)  # as a block id it outlives `rekey`
            return retain(self._memory, [replace(fact, block_id=ref)], on, dry_run=dry_run)

    def _cipher(self, text: str, keys: Iterable[str]) -> str:
        data = text.rstrip("\r\n").encode("utf-8", "surrogateescape")
        data += b"\n" * (-len(data) % _BLOCK)
        return "age:" + b64encode(self._age.encrypt(data, list(map(self._recipient, keys)))).decode("ascii")

    def _recipient(self, key: str) -> Any:
        try:
            return self._age.x25519.Recipient.from_str(key)
        except self._age.RecipientError as error:
            raise Usage(f"{key[:80]!r} is not an age public key", "`memctl init --vault` prints one: age1…") from error

    def make(self, under_passphrase: bool = False) -> Changed:
        """Make a key pair and memctl.vault. Where that is, only a key if none is here: others must add it."""
        file = read_for_edit(self._workspace, VAULT)
        there = self.recipients() if _read(file.after) else {}
        if not there:
            made = self._made(under_passphrase)
            file = file._replace(after=f"{file.after or _HEAD}{made.diff}\n")
            apply(self._workspace, [file])
            return made._replace(diff=file.diff())
        known = [key for key, here in there.items() if here] or sorted(_publics(self._keys))
        made = (Changed(known[0]) if known else self._made(False))._replace(diff="")
        asked = f"others own this vault; let one of them run: memctl vault add {made.recipient}"
        return made if made.recipient in there else made._replace(notes=(*made.notes, asked))

    def _made(self, under_passphrase: bool, dry_run: bool = False) -> Changed:
        """A new key; its `diff` is its line of memctl.vault."""
        key = self._age.x25519.Identity.generate()
        public = str(key.to_public())
        if under_passphrase:
            typed = self._ask("New passphrase: ")
            if not typed or self._ask("The same again: ") != typed:
                raise Usage("the two are not the same passphrase", "run it again")
            under = b64encode(self._age.passphrase.encrypt(str(key).encode(), typed)).decode("ascii")
            note = "the key is in memctl.vault: losing its passphrase loses the text of sealed lines"
            return Changed(public, (note,), diff=f"{public} locked:{under}")
        place = self._folder / f"memctl-{public[4:12]}.key"
        if not dry_run:
            write_derived(place, f"# public key: {public}\n{key}\n".encode("ascii"), is_lasting=True)
        note = f"the key is in {place}; keep a copy elsewhere: losing it loses the text of sealed lines"
        return Changed(public, (note,), diff=public)

    def change(self, action: str, recipient: str = "", *, dry_run: bool = False) -> Changed:
        """Let somebody open every line (`add`) or none (`remove`), or put a new key in the place of the one here (`rekey`).

        Writes memctl.vault, then page by page every ciphertext anew: after a kill in between each line opens with the keys
        of before or of now, and the same call completes it. What no key here opens stays as it is. An old key stays too.
        """
        is_rekey = action == "rekey"
        if not is_rekey:
            self._recipient(recipient)
        with writing_alone(self._workspace, "vault"):
            file, there = read_for_edit(self._workspace, VAULT), self._there()
            mine = _publics(self._opening) & there.keys()
            made = self._made(any(there[key] for key in mine), dry_run) if is_rekey else Changed(recipient)
            gone = mine if is_rekey else {recipient} if action == "remove" else set()
            new = [made.diff] if is_rekey else [recipient] if action == "add" and recipient not in there else []
            if not (mine - gone or new):
                raise Refused("without it no key here would open the lines", "add another key of yours first")
            lines = [*(line for line in file.after.splitlines() if gone.isdisjoint(line.split()[:1])), *new]
            return self._seal_again(made, file._replace(after="\n".join([*lines, ""])), dry_run)

    def _seal_again(self, made: Changed, file: Edit, dry_run: bool) -> Changed:
        keys, edits = _read(file.after), [file]
        found: list[str | None] = []

        def again(match: re.Match[str]) -> str:
            found.append(text := self._open(match[0]))
            return match[0] if text is None else self._cipher(text, keys)

        for page in self._workspace.scan():
            if page.problem is None:
                edit = read_for_edit(self._workspace, page.path)
                edits.append(edit._replace(after=sealed_text().sub(again, edit.after)))
        if not dry_run:
            apply(self._workspace, edits)
            never_undone(self._workspace, "a change of keys")
        left = found.count(None)
        notes = (*made.notes, *[f"{many(left, 'line')} left as it was: no key here opens it"] * bool(left))
        diff = "".join(edit.diff() for edit in edits)
        return made._replace(notes=notes, lines=len(found) - left, left=left, diff=diff)


def _publics(keys: Iterable[Any]) -> set[str]:
    return {str(key.to_public()) for key in keys}


def _read(text: str) -> dict[str, str]:
    """The public keys of memctl.vault, each with its secret key under a passphrase or nothing. PageUnreadable for other lines."""
    found = {}
    for number, line in enumerate(text.splitlines(), 1):
        if match := _LINE.fullmatch(line):
            found[match[1]] = match[2] or ""
        elif line.strip() and not line.startswith("#"):
            what = f"line {number} is not an age public key"
            raise PageUnreadable(VAULT, what, "correct it: git may have left a conflict there")
    return found
