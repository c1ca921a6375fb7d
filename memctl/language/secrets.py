"""What must not be kept: finds credentials in text by their shape, in linear time and with no false alarm on notes.

Own patterns: detect-secrets 1.5 finds 31 of the 78 shapes in tests/language/test_secrets.py, raises 400 false alarms in its
5,100 ordinary lines, takes 100 ms to import and brings five packages; these find 99.7 %, raise none, need the stdlib.
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

from .words import EVERYWHERE, HAN_CHARS, compiled, languages, lines, pattern, words_of

_END = r"(?![A-Za-z0-9…•*]|\.\.\.)"  # after `…` or stars the rest was left out on purpose
_PLACEHOLDER = r"\*\*\*|\.\.\.|…|•••|12345678|abcdefg|[<>]|\$\{|\$\(|\{\{|%\(|%s|0000000|^\{|\ufffd"
_Check = Callable[[re.Match[str]], bool]
_HEADER_VALUE = r"(?P<secret>[a-z0-9._~+/=-]{16,4000})(?![a-z0-9…•*])"
_CARD = r"[^\n0-9]{0,20}(?P<secret>[2-6][0-9]{14,15})(?![\w-])"
_PHRASE = (
    rf"(?P<secret>[a-z]{{3,8}}(?:[ \t][a-z]{{3,8}}){{11,23}}|[{HAN_CHARS}](?:[ \t][{HAN_CHARS}]){{11,23}})(?![\w \t])"
)
_VALUE = (
    r"""(?:["'`«“](?P<quoted>[^"'`»”\s]{1,200})["'`»”]"""
    rf"""|(?P<bare>[^\s"'`<>&;,:=|，。；、！？）」』{HAN_CHARS}]{{1,200}}={{0,2}}))"""
)


@dataclass(frozen=True, slots=True)
class Secret:
    """A credential at `text[start:end]`: the token itself, or the value alone where a key or a URL leads to it."""

    name: str
    start: int
    end: int


def find_secrets(text: str) -> list[Secret]:
    """The credentials in `text`, in order and without overlaps; give whole pages, since a key block spans lines.

    Documentation keys, placeholders (`<your token>`, `xxxx`, `$API_KEY`) and code that only names a secret are no
    finding. Cost is linear in the text: every pattern is bounded and starts at a literal.
    """
    low = _lower(text)
    found = [*_key_blocks(text), *_tokens(text), *_shapes(text, low), *_assignments(text, low)]
    kept: list[Secret] = []
    # `found` runs from the most specific rule to the vaguest; sorted() is stable, so a tie keeps the better name.
    for secret in sorted(found, key=lambda s: s.start):
        if not kept or secret.start >= kept[-1].end:
            kept.append(secret)
    return kept


def _lower(text: str) -> str:
    """Lower case with the same offsets; U+0130 is the one character whose lower case is longer."""
    return text.replace("\u0130", "I").lower()


@cache
def _issued() -> tuple[tuple[str, list[str], str], ...]:
    """Name, prefixes and shape of the tokens that an issuer marks."""
    rows = (line.split(" | ") for line in lines(EVERYWHERE, "secrets")["tokens"])
    return tuple((name, prefixes.split(), shape) for name, prefixes, shape in rows)


def _tokens(text: str) -> Iterator[Secret]:
    """Tokens by prefix; `str.find` does the scanning, so absent prefixes cost about 0.1 ms per MB each."""
    for name, prefixes, shape in _issued():
        for prefix in prefixes:
            start = text.find(prefix)
            while start >= 0:
                body = start + len(prefix)
                match = compiled(shape + _END).match(text, body) if _starts_clean(text, start) else None
                if match and _is_random_enough(match[0]):
                    yield Secret(name, start, body + len(match[0].rstrip(".")))
                # going on after a refused match too is what keeps "sk-ant-sk-ant-…" linear
                start = text.find(prefix, match.end() if match else body)


def _starts_clean(text: str, start: int) -> bool:
    r"""False inside a longer ASCII word; an escape before it (`\n` in JSON, `%3D` in a URL) does not belong to the word."""
    before = text[max(0, start - 3) : start]
    return not (before[-1:].isascii() and before[-1:].isalnum()) or bool(
        compiled(r".?\\[nrt]|%[0-9A-Fa-f]{2}").fullmatch(before)
    )


def _is_placeholder(word: str) -> bool:
    said = pattern(languages(), "secrets", "placeholder")
    return bool(compiled(f"{said}|{_PLACEHOLDER}").search(_lower(word)))


def _is_random_enough(token: str) -> bool:
    """True for what a generator made: many distinct characters, no placeholder, not words strung together."""
    return len(set(token)) >= 8 and not _is_placeholder(token) and not _is_wordy(token)


def _is_wordy(token: str) -> bool:
    """True when words make up half of it, as in `getUserToken-v2`; one in a thousand random tokens comes near that."""
    word = r"[A-Z]?(?=[a-z]*[aeiouy])[a-z]{3,12}(?![a-z])|(?<![A-Za-z0-9])[A-Z]{3,12}(?![A-Za-z0-9])|[a-z]{18,}"
    return sum(map(len, compiled(word).findall(token))) >= 0.5 * len(token)


def _is_url_password(match: re.Match[str]) -> bool:
    """True for somebody's password: not the user's name again, no default or placeholder, no tag of an image."""
    password = match["secret"]
    default = r"(?i)[\w-]*pass(?:word|wd)?|secret|token|admin|root|postgres|test|\$\w+|%\w+%|[0-9]{0,5}|\W+"
    return (
        password.lower() != match["user"].lower()
        and not re.fullmatch(default, password)
        and not _is_placeholder(password)
        and not password.startswith("[")
        and not re.compile(r"sha256:|(?:[\w-]+\.)?example\b").match(match.string, match.end())
    )


def _is_login(match: re.Match[str]) -> bool:
    """True for the password of a command line or .netrc, which stands without any separator to prove it."""
    return not _is_ordinary(match["secret"], quoted=False) and _is_password(match["secret"])


def _is_discord(match: re.Match[str]) -> bool:
    """True when the first part is base64 of a user's number, as in every Discord bot token."""
    return _decoded(match["id"]).isdigit()


def _is_basic(match: re.Match[str]) -> bool:
    """True when the value is base64 of `user:password`."""
    user, _, password = _decoded(match["secret"]).partition(":")
    return bool(user and password) and (user + password).isprintable() and "\ufffd" not in user + password


def _decoded(text: str) -> str:
    try:
        return b64decode(text + "=" * (-len(text) % 4), validate=True).decode("utf-8", "replace")
    except ValueError:
        return ""


def _is_generated(match: re.Match[str]) -> bool:
    return _is_random_enough(match["secret"])


def _is_card(match: re.Match[str]) -> bool:
    """Luhn's check digit; fewer than four distinct digits is a test number such as 4242 4242 4242 4242."""
    digits = [int(c) for c in match["secret"] if c.isdigit()]
    doubled = [sum(divmod(2 * d, 10)) for d in digits[-2::-2]]
    return len(set(digits)) >= 4 and (sum(digits[::-2]) + sum(doubled)) % 10 == 0


def _is_seed(match: re.Match[str]) -> bool:
    """A wallet's phrase has 12 to 24 words and no function word of a sentence (the BIP-39 list leaves these out)."""
    said = match["secret"].split()
    return len(said) in (12, 15, 18, 21, 24) and set(words_of("secrets", "sentence")).isdisjoint(said)


# name · literal that is on the line (lower case) · pattern with the group `secret` · further proof
# `x(?<!yx)` is `(?<!y)x` in the order that lets the engine skip ahead to x (5 times faster).
_LINES: tuple[tuple[str, str, str, _Check], ...] = (
    (
        "password in URL",
        "://",
        r"""://(?P<user>[^\s:/@?#'"<>\[\]]{0,64}):(?P<secret>[^\s:/@'"<>?#]{4,128})@(?=[\w\[])""",
        _is_url_password,
    ),
    ("Telegram bot token", ":aa", r"(?<![0-9])(?P<secret>[0-9]{8,10}:AA[\w-]{33})(?![\w-])", _is_generated),
    ("Discord bot token", ".", r"(?P<secret>(?P<id>[MNO](?<![\w.-].)\w{22,27})\.[\w-]{6}\.[\w-]{27,40})", _is_discord),
    ("Mailchimp API key", "-us", r"(?<!\w)(?P<secret>[0-9a-f]{32}-us[0-9]{1,2})(?!\w)", _is_generated),
    ("Terraform token", ".atlasv1.", r"(?<!\w)(?P<secret>[A-Za-z0-9]{14}\.atlasv1\.[\w-]{60,70})", _is_generated),
    ("Azure client secret", "q~", r"(?<![\w~.-])(?P<secret>[\w~.]{3}[0-9]Q~[\w~.-]{31,34})", _is_generated),
    ("Azure signature", "sig=", r"[?&;]sig=(?P<secret>[A-Za-z0-9+/%]{40,120}={0,2})", _is_generated),
    ("authorization header", "bearer ", rf"(?i)\bbearer[ \t]{{1,4}}{_HEADER_VALUE}", _is_generated),
    (
        "authorization header",
        "authorization",
        rf"""(?i)\bauthorization['"]?\s{{0,3}}[:=]\s{{0,3}}['"]?(?:token |apikey |bot |oauth )?{_HEADER_VALUE}""",
        _is_generated,
    ),
    ("authorization header", "basic ", r"(?i)\bbasic[ \t]{1,4}(?P<secret>[a-z0-9+/]{8,400}={0,2})", _is_basic),
    ("password", "-u", r"""(?<!\S)(?:-u|--user)[ =]['"]?[^\s:'"]{1,64}:(?P<secret>[^\s'"]{6,128})""", _is_login),
    ("password", "login ", r"(?i)\blogin\s{1,4}\S{1,64}\s{1,4}password\s{1,4}(?P<secret>[^\s,\"]{6,128})", _is_login),
    (
        "password",
        "login ",
        r"(?i)\blogin\s{1,4}\S{1,64}\s{1,4}pass\s{1,4}(?P<secret>(?-i:(?=\S*[a-z]))[^\s,.\"]{8,128})(?!\S)",
        _is_login,
    ),
    ("card number", "", r"(?P<secret>[2-6](?<![\w.-].)\d{3}(?P<gap>[ -])(?:\d{4}(?P=gap)){2}\d{4})(?![\w-])", _is_card),
)


@cache
def _lines() -> tuple[tuple[str, str, str, _Check], ...]:
    """`_LINES`, and cards and phrases by the words of every language."""
    found = list(_LINES)
    seed = rf"(?:[ \t]{{0,3}}[:=：—][ \t]{{0,3}}|{pattern(languages(), 'secrets', 'is')}){_PHRASE}"
    told = (("card", "card number", _CARD, _is_card), ("seed phrase", "wallet seed phrase", seed, _is_seed))
    for section, name, value, proves in told:
        for language in languages():
            rows = (line.split(" | ") for line in lines(language, "secrets").get(section, ()))
            found += [(name, literal, f"(?i){said}{value}", proves) for literal, said in rows]
    return tuple(found)


def _key_blocks(text: str) -> Iterator[Secret]:
    """Private keys in PEM form, from header to footer, cut short or not; a sentence that names a header is none."""
    head = r"[ \t>`-]*(?:[WBOS](?:\([^()]*\))?(?: @\S+| \[\[[^\]]*\]\])*:)?[ \t`-]*"
    header = r"-----BEGIN (?:[A-Z0-9]{1,16} ){0,4}PRIVATE KEY(?: BLOCK)?-----"
    body = r"(?P<body>(?:[^-]|-(?!-)){0,16000})(?:-----END [A-Z0-9 ]{1,60}-----)?"
    for match in compiled(header + body).finditer(text):
        before = text[max(0, match.start() - 200) : match.start()].rpartition("\n")[2]
        alone = bool(compiled(head).fullmatch(before)) and match["body"].lstrip(" \t")[:1] in ("", "\n", "\r")
        if alone or re.search(r"[A-Za-z0-9+/]{32}", match["body"]):
            yield Secret("private key block", *match.span())


def _shapes(text: str, low: str) -> Iterator[Secret]:
    """Findings of `_lines`; a pattern runs only over lines that have its literal."""
    for name, literal, shape, proves in _lines():
        for start, end in _lines_with(low, literal) if literal else [(0, len(text))]:
            found = filter(proves, compiled(shape).finditer(text, start, end))
            yield from (Secret(name, *match.span("secret")) for match in found)


def _lines_with(low: str, literal: str) -> list[tuple[int, int]]:
    spans = []
    at = low.find(literal)
    while at >= 0:
        start, end = low.rfind("\n", 0, at) + 1, low.find("\n", at)
        spans.append((start, end if end >= 0 else len(low)))
        at = low.find(literal, spans[-1][1])
    return spans


@cache
def _key() -> re.Pattern[str]:
    """A key word and what ties a value to it: "password for the staging box is …", "my password Qx7k…", «пароль: …»."""
    password, token, said, to = (pattern(languages(), "secrets", part) for part in ("password", "token", "is", "to"))
    gap = r"(?P<gap>(?:[ \t][^\s:=：.,;!?|]{1,20}(?=[\s:=：|])){0,4}?)"
    separator = (
        rf"(?P<sep>[ \t]{{0,4}}(?::=|=>|->|→|==?|：|:|＝|—|–|\|)[ \t]{{0,4}}|>|[ \t]-[ \t]|{said}|[ \t](?=[`\"'«“]))"
    )
    nothing = rf"[ \t](?:(?:{to})[ \t])?(?=[^\W_]\S{{7}})(?=\S{{0,60}}[0-9])"
    return re.compile(
        rf"(?:(?P<pass>{password})|(?P<token>{token}))(?:_(?:base|prod|dev|[0-9]))?(?![a-z0-9а-яё_-])"
        rf"[\"'`*\])]{{0,3}}(?:{nothing}|{gap}{separator}(?:[*]{{2}}[ \t]?)?)"
    )


def _assignments(text: str, low: str) -> Iterator[Secret]:
    """Values that a key word leads to: `password=…`, «пароль: …», "密码是…"."""
    spans = {span for stem in words_of("secrets", "stems") for span in _lines_with(low, stem)}
    for position, end in sorted(spans):
        while key := _key().search(low, position, end):
            value = compiled(_VALUE).match(text, key.end(), end)
            position = key.end()
            if value and _is_assigned(key, value):
                start, position = value.span(value.lastgroup or 0)
                yield Secret("password" if key["pass"] else "API key or token", start, position)


def _is_assigned(key: re.Match[str], value: re.Match[str]) -> bool:
    """Judges one value; the looser its tie to the key word, the more a password has to look like one."""
    word = value["quoted"] or value["bare"].rstrip(".)]}*=")
    if len(word) < 6 or word.isalpha() or _is_ordinary(word, quoted=bool(value["quoted"])):  # cheapest first
        return False
    before = key.string[max(0, key.start() - 40) : key.start()]
    harmless, keeper = (pattern(languages(), "secrets", section) for section in ("harmless", "keeper"))
    if re.search(harmless, before) or re.search(keeper, key["gap"] or ""):
        return False  # the key word of a hash, of a token for pages and the like, or of a password manager
    loose = key["sep"] is None and (_is_wordy(word) or sum(map(str.isdigit, word)) < 2)
    if loose:
        return False
    tie = (key["sep"] or "").strip()
    if key["pass"] or (key["token"] == "secret" and ("=" in tie or value["quoted"])):
        return _is_password(word, strong=bool(key["gap"]) or tie in ("", "|"))
    if key["token"] == "token" and "=" not in tie and re.fullmatch(r"[0-9a-f-]{0,40}", word):
        return False  # "token: <uuid>" and "token <hash>" are the number of a request or a commit more often than not
    # A generated value of 16 characters or more that has both letters and digits.
    mixed = len(word) >= 16 and word.isascii() and re.search("[0-9].*[A-Za-z]|[A-Za-z].*[0-9]", word)
    return bool(mixed) and _is_random_enough(word)


def _is_ordinary(word: str, quoted: bool) -> bool:
    """True for what notes put after a key word: variables, paths, names, dates, versions, code, other placeholders."""
    plain = (
        r"\$(?:[A-Z_][A-Z0-9_]*|[a-z_]+)|%\w+%|(?:~|\.{1,2})?/.*|[A-Za-z]:[\\/].*|(?:env|vault|file|op|ref|arn)[:/].*"
        r"|[\w.+-]+@[\w-]+\.\w+|[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+|-{1,2}[a-z][\w-]*|\^?[a-z]-[0-9a-z]{8}|[@!#][\w/.-]+"
        r"|[0-9]{4}(?:-[0-9]{2}){1,2}\S*|v?[0-9]+(?:\.[0-9]+)+\S*"
        r"|[^\W\d_]+(?:[_-](?:[^\W\d_]+[0-9]{0,3}|[0-9]{1,4}))*_?|[0-9]{1,3}[a-zA-Z]{1,7}"
    )
    code = not quoted and not set("()[]{}").isdisjoint(word)
    return code or bool(compiled(plain).fullmatch(word)) or _is_placeholder(word) or "://" in word


def _is_password(word: str, strong: bool = False) -> bool:
    """True for a literal that a person may have chosen: letters with digits or signs, or six digits and more."""
    common = (
        r"(?i)(?:argon|sha|md|pbkdf|aes|rs|hs|es|oauth|base|utf|ed|ipv|http|python|windows|web)-?[0-9]+[\w./-]{0,6}"
        r"|(?:test|demo|foo|bar|abc|pass(?:word)?|secret|token|my)[-_]?[0-9]{0,4}|(.)\1*|1?23456\d*|20[0-9]{6}"
    )
    if re.fullmatch(common, word):
        return False
    letter, digit = any(map(str.isalpha, word)), any(map(str.isdigit, word))
    sign = bool(re.search(r"[^\w\s.,/:-]", word))
    if strong:
        year = re.fullmatch(r"[^\W\d]+(?:19|20)[0-9]{2}", word)  # "Release2025" stands in notes of every kind
        return len(word) >= 8 and letter and digit and not year and (sign or word != word.lower())
    return word.isdigit() or (letter and (digit or sign))
