"""Secrets are found by shape and ordinary notes are left alone.

No secret stands in this file: each is put together from a prefix and seeded random characters.
"""

from __future__ import annotations

import random
import string
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable
from unittest.mock import patch

import pytest
from counting import call_growth
from hypothesis import given, strategies as st

from memctl.language import secrets
from memctl.language.secrets import Secret, find_secrets

A = string.ascii_letters + string.digits
U = A + "-_"
B = A + "+/"
H = "0123456789abcdef"
UP = string.ascii_uppercase + "234567"
D = string.digits


class Dice(random.Random):
    """Seeded dice that also spell."""

    def text(self, alphabet: str, length: int) -> str:
        return "".join(self.choices(alphabet, k=length))

    def uuid(self) -> str:
        return "-".join(self.text(H, n) for n in (8, 4, 4, 4, 12))

    def password(self) -> str:
        """As people make them: a word, a capital, digits, often a sign."""
        word = self.text("bdfgklmnprstvz", 1) + "".join(self.choice(("ar", "ol", "em", "in", "ux")) for _ in range(3))
        return (
            self.choice((word, word.title()))
            + self.text("13579", self.randint(1, 4))
            + self.choice(("", "!", "#", "$x"))
        )


def jwt(d: Dice) -> str:
    part = [
        urlsafe_b64encode(p.encode()).decode().rstrip("=") for p in ('{"alg":"HS256"}', f'{{"sub":"{d.text(D, 9)}"}}')
    ]
    return ".".join([*part, d.text(U, 43)])


def pem(d: Dice, kind: str) -> str:
    body = "\n".join(d.text(B, 64) for _ in range(12))
    return f"-----{'BEGIN'} {kind}PRIVATE KEY-----\n{body}\n-----END {kind}PRIVATE KEY-----"


def discord(d: Dice) -> str:
    return f"{b64encode(('1' + d.text(D, 17)).encode()).decode()}.{d.text(U, 6)}.{d.text(U, 38)}"


def basic(d: Dice) -> str:
    return b64encode(f"svc:{d.text(A, 12)}".encode()).decode()


def card(d: Dice) -> str:
    body = "4" + d.text(D, 14)
    odd = sum(sum(divmod(2 * int(c), 10)) for c in body[-1::-2]) + sum(int(c) for c in body[-2::-2])
    digits = body + str(-odd % 10)
    return " ".join(digits[i : i + 4] for i in (0, 4, 8, 12))


def words(d: Dice, count: int) -> str:
    return " ".join(
        d.text("aeiou", 1) + d.text("bcdfgl", 1) + d.text("aeiou", 1) + d.text("mnrst", 2) for _ in range(count)
    )


# A name that the finding has (or contains), and how such a secret is spelled in a note.
SHAPES: list[tuple[str, Callable[[Dice], str]]] = [
    ("AWS access key", lambda d: "AK" + "IA" + d.text(UP, 16)),
    ("AWS access key", lambda d: "AS" + "IA" + d.text(UP, 16)),
    ("API key", lambda d: "aws_secret_access_key = " + d.text(B, 40)),
    ("GitHub token", lambda d: "gh" + "p_" + d.text(A, 36)),
    ("GitHub token", lambda d: "gh" + "s_" + d.text(A, 36)),
    ("GitHub token", lambda d: "github" + "_pat_" + d.text(A, 22) + "_" + d.text(A, 59)),
    ("GitLab token", lambda d: "gl" + "pat-" + d.text(U, 20)),
    ("Slack token", lambda d: f"xo{'xb'}-{d.text(D, 12)}-{d.text(D, 13)}-{d.text(A, 24)}"),
    ("Slack token", lambda d: f"xo{'xp'}-{d.text(D, 12)}-{d.text(D, 12)}-{d.text(D, 12)}-{d.text(H, 32)}"),
    ("Slack token", lambda d: f"xa{'pp'}-1-A{d.text(UP, 10)}-{d.text(D, 13)}-{d.text(H, 64)}"),
    (
        "Slack webhook",
        lambda d: f"https://hooks.slack.{'com'}/services/T{d.text(UP, 8)}/B{d.text(UP, 10)}/{d.text(A, 24)}",
    ),
    ("Discord webhook", lambda d: f"https://discord.{'com'}/api/webhooks/{d.text(D, 18)}/{d.text(U, 68)}"),
    ("Stripe key", lambda d: "sk" + "_live_" + d.text(A, 24)),
    ("Stripe key", lambda d: "rk" + "_test_" + d.text(A, 99)),
    ("webhook signing", lambda d: "wh" + "sec_" + d.text(A, 32)),
    ("Google API key", lambda d: "AI" + "za" + d.text(U, 35)),
    ("Google OAuth", lambda d: "GOC" + "SPX-" + d.text(U, 28)),
    ("Google OAuth", lambda d: "ya" + "29." + d.text(U, 120)),
    ("OpenAI API key", lambda d: "s" + "k-" + d.text(A, 20) + "T3Blbk" + "FJ" + d.text(A, 20)),
    ("OpenAI API key", lambda d: "s" + "k-proj-" + d.text(U, 120)),
    ("Anthropic API key", lambda d: "s" + "k-ant-api03-" + d.text(U, 93) + "AA"),
    ("OpenRouter", lambda d: "s" + "k-or-v1-" + d.text(H, 64)),
    ("AI provider key", lambda d: "gs" + "k_" + d.text(A, 52)),
    ("AI provider key", lambda d: "xa" + "i-" + d.text(A, 80)),
    ("Replicate", lambda d: "r8" + "_" + d.text(A, 37)),
    ("Hugging Face", lambda d: "h" + "f_" + d.text(string.ascii_letters, 34)),
    ("npm token", lambda d: "np" + "m_" + d.text(A, 36)),
    ("PyPI token", lambda d: "py" + "pi-AgEIcHlwaS5vcmc" + d.text(U, 150)),
    ("Docker", lambda d: "dckr" + "_pat_" + d.text(U, 27)),
    ("Twilio", lambda d: "S" + "K" + d.text(H, 32)),
    ("API key", lambda d: "twilio auth token: " + d.text(H, 32)),
    ("SendGrid", lambda d: "S" + "G." + d.text(U, 22) + "." + d.text(U, 43)),
    ("Mailgun", lambda d: "ke" + "y-" + d.text(H, 32)),
    ("Mailchimp", lambda d: d.text(H, 32) + "-us" + "14"),
    ("Telegram", lambda d: d.text("123456789", 10) + ":A" + "A" + d.text(U, 33)),
    ("Discord bot", discord),
    ("DigitalOcean", lambda d: "dop" + "_v1_" + d.text(H, 64)),
    ("API key", lambda d: "CLOUDFLARE_API_TOKEN=" + d.text(U, 40)),
    ("API key", lambda d: "HEROKU_API_KEY=" + d.uuid()),
    ("API key", lambda d: f"AccountName=notes;AccountKey={d.text(B, 86)}==;EndpointSuffix=core.windows.net"),
    ("Azure client secret", lambda d: d.text(A, 3) + "8" + "Q~" + d.text(A, 34)),
    ("Azure signature", lambda d: f"https://x.blob.core.windows.net/c?sv=2022-11-02&s{'ig'}={d.text(A, 43)}%3D"),
    ("Databricks", lambda d: "da" + "pi" + d.text(H, 32)),
    ("Shopify", lambda d: "shp" + "at_" + d.text(H, 32)),
    ("Grafana", lambda d: "gl" + "sa_" + d.text(A, 32) + "_" + d.text(H, 8)),
    ("Vault", lambda d: "hv" + "s." + d.text(U, 90)),
    ("Terraform", lambda d: d.text(A, 14) + ".atlas" + "v1." + d.text(A, 67)),
    ("Linear", lambda d: "lin" + "_api_" + d.text(A, 40)),
    ("Notion", lambda d: "nt" + "n_" + d.text(A, 46)),
    ("Atlassian", lambda d: "ATA" + "TT3" + d.text(U, 180) + "=" + d.text(UP, 8)),
    ("age", lambda d: "AGE-SECRET" + "-KEY-1" + d.text("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58)),
    ("Yandex", lambda d: "AQ" + "VN" + d.text(U, 36)),
    ("cloud access key", lambda d: "LT" + "AI" + d.text(A, 20)),
    ("JSON web token", jwt),
    ("private key block", lambda d: pem(d, "RSA ")),
    ("private key block", lambda d: pem(d, "OPENSSH ").replace("\n", "\\n")),
    ("private key block", lambda d: pem(d, "")),
    ("SSH private key", lambda d: "b3BlbnNzaC1r" + "ZXktdjE" + d.text(B, 300)),
    ("password in URL", lambda d: f"postgres://app:{d.password()}@db.internal:5432/notes".replace("#", "%23")),
    ("password in URL", lambda d: f"redis://:{d.text(A, 20)}@cache:6379/0"),
    ("authorization header", lambda d: "Authorization: Bearer " + d.text(U, 40)),
    ("authorization header", lambda d: "Authorization: Basic " + basic(d)),
    ("password", lambda d: "password=" + d.password()),
    ("password", lambda d: f'"password": "{d.password()}"'),
    ("password", lambda d: "DB_PASSWORD: " + d.password()),
    ("password", lambda d: "The password is " + d.password()),
    ("password", lambda d: "пароль: " + d.password()),
    ("password", lambda d: "Пароль от роутера — " + d.password().title() + "57"),
    ("password", lambda d: f"数据库密码是{d.password()}，请保管"),
    ("password", lambda d: f"密码：{d.password()}"),
    ("API key", lambda d: "токен: " + d.text(A, 40)),
    ("API key", lambda d: "密钥=" + d.text(H, 32)),
    ("API key", lambda d: "SECRET_KEY_BASE=" + d.text(H, 128)),
    ("password", lambda d: f"curl -u admin:{d.password()} https://ci.local/job"),
    ("password", lambda d: f"machine ci.local login bot password {d.password()}"),
    ("card number", card),
    ("card number", lambda d: "card: " + card(d).replace(" ", "")),
    ("card number", lambda d: "银行卡 " + card(d).replace(" ", "")),
    ("wallet seed phrase", lambda d: "seed phrase: " + words(d, 12)),
]


def sample(index: int, make: Callable[[Dice], str]) -> list[str]:
    return [make(Dice(index * 1000 + seed)) for seed in range(20)]


def test_real_shapes_are_found() -> None:
    """At least 60 shapes, 20 samples each, at least 95 % found; each shape on its own at least 80 %."""
    rates = [
        sum(any(name in s.name for s in find_secrets(f"- W @Ops: {text}\nnext")) for text in sample(i, make)) / 20
        for i, (name, make) in enumerate(SHAPES)
    ]
    assert len(SHAPES) >= 60
    assert min(rates) >= 0.8, SHAPES[rates.index(min(rates))][0]
    assert sum(rates) / len(rates) >= 0.95


ORDINARY: list[Callable[[Dice], str]] = [
    lambda d: f"- B(outcome=ok) @Repo: merged {d.text(H, 40)} after review",
    lambda d: f"- W @Build: sha256:{d.text(H, 64)} is the image that runs in production",
    lambda d: f"sha256 of the token file: {d.text(H, 64)}",
    lambda d: f"md5 of the secret: {d.text(H, 32)}  notes.tar",
    lambda d: f"request id {d.uuid()} failed with 502",
    lambda d: f"trace token: {d.uuid()}",
    lambda d: f"![plot](data:image/png;base64,{d.text(B, 300)}==)",
    lambda d: f"integrity: sha512-{d.text(B, 86)}==",
    lambda d: f"see ^f-{d.text(H, 8)} and ^o-{d.text(A.lower(), 8)}, against=f-{d.text(H, 8)}",
    lambda d: "The password must have 12 characters and a sign; nobody may reuse the last 5.",
    lambda d: f"password: {d.choice(('required', 'optional', 'string', 'min 8 chars', 'argon2id', 'null', 'hidden'))}",
    lambda d: f"- O(c=0.{d.text(D, 2)}) @Peter: thinks that the token budget of {d.text('12345', 4)} is too small",
    lambda d: f"max_tokens={d.text('12345', 4)} token count: 128k, tokens: {d.text(D, 6)}",
    lambda d: "API_KEY=$API_KEY TOKEN=${TOKEN} SECRET=$(pass show x) PASSWORD=%PASSWORD% key={{ vault_key }}",
    lambda d: (
        f"token=<your token> api_key=YOUR_API_KEY password={d.choice(('xxxxxxxx', '********', 'changeme', '…', '...'))}"
    ),
    lambda d: "export OPENAI_API_KEY=sk-...  # or s" + "k-proj-xxxxxxxxxxxxxxxxxxxxxxxx",
    lambda d: "AWS docs use AK" + "IAIOSFODNN7EXAMPLE everywhere",
    lambda d: f"the gh{'p_'} prefix stands for personal tokens, gl{'pat-'} is GitLab's",
    lambda d: f"GH{'_TOKEN'}=gh{'p_'}{d.text(A, 6)}... (cut)",
    lambda d: f"/home/{words(d, 1)}/projects/notes/{words(d, 1)}-{d.text(D, 4)}.md#L{d.text('123', 2)}",
    lambda d: (
        f"https://example.org/{words(d, 1)}/{d.text(D, 5)}?page={d.text(D, 2)}&sort=date&lang=ru#part-{d.text(D, 2)}"
    ),
    lambda d: "postgres://user:password@localhost:5432/db and redis://localhost:6379/0, mysql://root:root@db/x",
    lambda d: (
        "postgres://app:${DB_PASSWORD}@db/x; amqp://guest:<password>@mq; http://a:{pw}@h; https://abc:xyzw@example.com"
    ),
    lambda d: f"docker://nginx:1.25@sha256:{d.text(H, 64)}",
    lambda d: (
        f"numpy=={d.text('12', 1)}.{d.text(D, 2)}.{d.text(D, 1)} torch>=2.{d.text(D, 1)} node v{d.text('12', 2)}.1.0"
    ),
    lambda d: f"getUserAccessTokenFrom{words(d, 1).title()}Response and refresh_token_rotation_{words(d, 1)}_interval",
    lambda d: f"sk-learn-pipeline-{words(d, 1)}-configuration, hf_hub_download_{words(d, 1)}, npm_config_registry",
    lambda d: f"password = request.form['pw{d.text(D, 1)}']; token = get_token(user1); self.password = other.password2",
    lambda d: "if password == user_password_2: secretName: my-app-tls-v2; tokenizer: qwen2.5-coder-32b-instruct-q4",
    lambda d: f"csrf_token={d.text(H, 32)} next_page_token: {d.text(A, 24)} public key: {d.text(H, 64)}",
    lambda d: f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA{d.text(B, 43)} laptop; SHA256:{d.text(B, 43)}",
    lambda d: "The page begins with -----BEGIN RSA PRIVATE KEY----- when it holds one.",
    lambda d: "A file begins with the line: -----BEGIN OPENSSH PRIVATE KEY-----",
    lambda d: (
        f"login tests pass nightly, login pages pass ISO2700{d.text(D, 1)}, the login flows pass 2025-11-{d.text('12', 2)}"
    ),
    lambda d: f"-----BEGIN CERTIFICATE----- {d.text(B, 64)}",
    lambda d: "Bearer token authentication is required; Basic authentication is off; Authorization: Bearer <token>",
    lambda d: f"вчера обсуждали пароль и токен; секрет успеха — сон 8 часов, отчёт № {d.text(D, 6)}",
    lambda d: "Пароль: не менее 12 символов. Секрет: в Vault. Токен: см. README2, ключ доступа — у Анны",
    lambda d: f"пароль от Windows11 сменили 2025-11-{d.text('12', 2)}, хеш секрета: {d.text(H, 64)}",
    lambda d: "密码是必须的。密码：至少8位，令牌：每30天更换，密钥：保存在Vault中",
    lambda d: f"口令由管理员设置，版本 v{d.text('12', 1)}.{d.text(D, 2)}，密钥指纹 {d.text(H, 16)}",
    lambda d: f"order 1{d.text(D, 15)}, phone +7 900 {d.text(D, 3)}-{d.text(D, 2)}-{d.text(D, 2)}, {d.text(D, 13)} ms",
    lambda d: "test card 4242 4242 4242 4242 and ISBN 978-3-16-148410-0, serial 4000-1234-5678-9012-3",
    lambda d: "seed phrase: write the twelve words down on paper and keep them away from any computer for ever",
    lambda d: "mnemonic: every good boy does fine",
    lambda d: f"podman run -u {d.text('123', 4)}:100 app; docker run --user app:staff x; login bob password required",
    lambda d: f"| token | {d.text(D, 4)} | password | text | secret | bool |",
    lambda d: f"token {d.text(H, 40)} is the commit; password RFC6238 TOTP, password SHA-512/256 and OAuth2.0 flows",
    lambda d: f"{words(d, 6)} {d.text(A, 7)} {words(d, 5)} 0x{d.text(H, 8)} {words(d, 3)}",
    lambda d: f"- S @Peter: {words(d, 12)} (2025-11-0{d.text('123', 1)} 12:{d.text('12345', 2)}:00.{d.text(D, 6)}Z)",
    lambda d: f"arn:aws:secretsmanager:eu-west-1:{d.text(D, 12)}:secret:prod/payments/stripe-{d.text(A, 6)}",
    lambda d: (
        f"op://Private/{words(d, 1)}/password vault:secret/data/{words(d, 1)}#token file:/run/secrets/{words(d, 1)}"
    ),
    lambda d: f"{d.text(D, 10)}:{d.text(D, 6)} {d.text(H, 12)}.{d.text(H, 6)}.{d.text(H, 27)} x.{words(d, 2)}",
]


def test_ordinary_lines_raise_no_alarm() -> None:
    """S8: 5,000 ordinary lines in English, Russian and Chinese, none refused."""
    lines = [make(Dice(i * 1000 + seed)) for seed in range(100) for i, make in enumerate(ORDINARY)]
    alarms = [(line, found) for line in lines if (found := find_secrets(line))]
    assert len(lines) >= 5000
    assert alarms == []


def found(text: str) -> list[tuple[str, str]]:
    return [(s.name, text[s.start : s.end]) for s in find_secrets(text)]


def test_span_is_the_token_or_the_value_alone() -> None:
    """What is replaced by stars leaves the note readable."""
    d = Dice(1)
    token, word = "gh" + "p_" + d.text(A, 36), d.password()
    assert found(f"GITHUB_TOKEN={token}.") == [("GitHub token", token)]
    assert found(f"https://bob:{word}@host/x") == [("password in URL", word)]
    assert found(f"пароль: «{word}».") == [("password", word)]
    assert found(f"{token}\\n{token}") == [("GitHub token", token)] * 2
    assert found(f"%3D{token}") == [("GitHub token", token)]


def test_offsets_hold_where_lower_case_is_longer() -> None:
    """U+0130 has a lower case of two characters."""
    word = Dice(2).password()
    assert found(f"İİİ PASSWORD={word}") == [("password", word)]


def test_several_secrets_in_order_without_overlap() -> None:
    """A header that carries a JWT is one finding, and the key block is one finding over its lines."""
    d = Dice(3)
    token, block, url = jwt(d), pem(d, "EC "), f"amqp://a:{d.text(A, 12)}@mq"
    names = [name for name, _ in found(f"Authorization: Bearer {token}\n{block}\n{url}\npwd={d.password()}")]
    assert names == ["JSON web token", "private key block", "password in URL", "password"]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("-----BEGIN " + "PRIVATE KEY-----", "private key block"),  # the header alone on its line: the rest follows
        ("> -----BEGIN " + "PRIVATE KEY-----\n> MIIE", "private key block"),
        ("PIN-Passwort passcode: 481 password: 48" + "1516", "password"),
        ("W(src=user) @Олег: -----BEGIN " + "OPENSSH PRIVATE KEY-----", "private key block"),
        ("login olek pass hunter" + "22", "password"),
        ("secret = hunter" + "2real", "API key or token"),
        ("| password | Tr0ub4" + "dor&3x |", "password"),
        ("wifi password `Tr0ub4" + "dor&3x`", "password"),
        ("<password>hunter" + "2real</password>", "password"),
        ("**Password:** hunter" + "2real", "password"),
        ("мой пароль Qx7k" + "Lm92", "password"),
        ("mysql pw: Qx7k" + "Lm92 pass=Qx7k" + "Lm92", "password"),
        ("set the API key to " + Dice(4).text(H, 32), "API key or token"),
        ("助记词：" + " ".join("天地玄黄宇宙洪荒日月盈昃"), "wallet seed phrase"),
    ],
)
def test_literal_spellings(text: str, name: str) -> None:
    """Ways in which people write such values down."""
    assert {s.name for s in find_secrets(text)} == {name}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "password:",
        "secret:" + "a" * 300,
        "Basic abc=defg1 Basic YWJjZGVmZ2g=",  # not base64; no colon in it
        "pw MTIzNDU2Nzg5MDEyMzQ1Njc4YWJj.abcdef." + "a1" * 15,  # no user number
        "password for the release is Release" + "2025",
        "password for the release is hunter" + "2real",  # too weak a tie for so plain a word
        "xgh" + "p_" + "a1B2" * 9,  # inside a longer word
        "Authorization: Basic YWJjZGVmZ",  # not base64
        """f'"password": "{d.password()}"', f"curl -u admin:{d.password()} x", "login bob password required",""",
        "the team password manager is KeePass" + "XC2",
        "пароль для релиза: Релиз" + "2025",
    ],
)
def test_not_a_secret(text: str) -> None:
    """Near misses of single rules."""
    assert find_secrets(text) == []


@given(st.text(alphabet=st.sampled_from("ab1Z:=@/ .-_\"'`«\n密码пароль") | st.characters(), max_size=200))
def test_any_text_gives_ordered_spans_inside_it(text: str) -> None:
    """No input raises, and the spans can be cut out from the end."""
    edges = [0, *(edge for s in find_secrets(text) for edge in (s.start, s.end)), len(text)]
    assert edges == sorted(edges)


@given(
    st.text(alphabet="ab ,.\n密я", max_size=30), st.sampled_from([make for _, make in SHAPES[:30]]), st.integers(0, 99)
)
def test_context_does_not_hide_a_token(before: str, make: Callable[[Dice], str], seed: int) -> None:
    """What is found in a line of its own is found below any other text."""
    text = make(Dice(seed))
    alone = [Secret(s.name, s.start + len(before) + 1, s.end + len(before) + 1) for s in find_secrets(text)]
    assert find_secrets(f"{before}\n{text}") == alone


HOSTILE = [
    "a", "eyJ", "eyJ.", "eyJhbGciOi.", "AKIA", "sk-ant-", "sk-", "-----BEGIN " + "PRIVATE KEY-----", "-----BEGIN ",
    "://", "://a:b", "password=", "password is ", "password a b c d e ", "token:token:", "密码", "пароль ", '"',
    "1234 ", "4000-", "bearer a", "Authorization: ", "seed phrase: abc ", "mnemonic abc ", ".", "M", "Ma.aaaaaa.",
    "A1b2", "password='a1", "key=Aa1", "glpat-a.b", "İ", "-u a:b", "login a password ", "card 4", "sl.u.", "token \n",
]  # fmt: skip


@pytest.mark.parametrize("seed", HOSTILE)
def test_linear_on_hostile_input(seed: str) -> None:
    """Twice the text takes twice the calls; a square would take four times as many."""
    assert call_growth(find_secrets, lambda n: seed * (n // len(seed))) < 2.5


def test_nothing_is_compiled_for_a_line_without_suspects() -> None:
    """Importing and scanning a plain note stays cheap: at most four patterns."""
    with patch.object(secrets.re, "compile", wraps=secrets.re.compile) as compiling:
        assert find_secrets("Peter prefers concise replies") == []
    assert len({call.args for call in compiling.call_args_list}) <= 4
