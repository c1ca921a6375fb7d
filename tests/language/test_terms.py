"""Analysis for search: the same tokens for text and query, in three languages, and each survives FTS5 as one token."""

from __future__ import annotations

import sqlite3
import string
import sys
import unicodedata
from contextlib import closing

import pytest
from counting import call_growth
from hypothesis import example, given, settings, strategies as st
from store_helpers import table
from strategies import examples, findable

from memctl.language import analyzer as module
from memctl.language.analyzer import LONGEST, irregular_forms, prefixes, query_terms, terms
from memctl.language.words import default_languages, languages, words

TOKENCHARS = "".join(sorted(set(string.punctuation) - set("'\"")))
SAMPLES = """
Alice prefers PostgreSQL over MongoDB, src/main.py:42 v1.2.3 C++ C# F# #42 bob@example.com don't I'll rock'n'roll
https://example.com/a?b=1&c=2 snake_case getUserName HTTPServer URLs ECONNRESET 0x80070005 1,000,000 99.5% $HOME .env
C:\\Users\\me **bold**, `code` [[Wiki Link]] @Peter (note) «цитата» ёлка Йод бегу бежали базой данных за\u0301мок
北京大学的SQLite数据库 データベース 한국어는 สวัสดี नमस्ते مَرْحَبًا שָׁלוֹם Ελληνικά café ﬁn 👍🏽 👨‍👩‍👧
🇷🇺 ™ ℃ → € && != -> --- *** | ``` e\u0301\u0316 \u200bx\u00ady \x00 a\x00b \ud800 ﱞ ͺ ʼ ½ ² ß İ ŉ
"""
WORDS = st.sampled_from(SAMPLES.split())
ANY = st.text(st.characters(codec=None, exclude_categories=()), max_size=12)
TEXTS = st.lists(st.one_of(WORDS, ANY), max_size=8).map(" ".join)


@given(TEXTS)
@example("ﱞ ͺ ʼ a\x00b \ud800x")
def test_any_chunk_with_a_letter_digit_or_symbol_is_found_by_itself(text: str) -> None:
    held = set(terms(text))
    for chunk in text.split():
        found = terms(chunk)
        assert set(found) <= held
        assert found or not findable(chunk)


@given(TEXTS)
def test_tokens_are_clean_short_and_stable(text: str) -> None:
    for token in terms(text):
        assert 0 < len(token) <= LONGEST
        assert not set(token) & set(" '\"")
        assert not {unicodedata.category(char) for char in token} & {"Cc", "Cs", "Zs", "Zl", "Zp"}
    assert terms(text) == terms(text)
    module._ANALYSED.clear()
    assert set(query_terms(text)) <= set(terms(text))


@settings(max_examples=examples(200))
@given(st.lists(TEXTS, min_size=1, max_size=5).map(" ".join))
def test_every_token_survives_fts5_as_exactly_one_token(text: str) -> None:
    own = terms(text)
    with closing(sqlite3.connect(":memory:")) as db:
        _prove_tokens(db, own)


def _prove_tokens(db: sqlite3.Connection, own: list[str]) -> None:
    db.execute(f"CREATE VIRTUAL TABLE f USING fts5(own, tokenize = \"ascii tokenchars '{TOKENCHARS}'\")")
    db.execute("CREATE VIRTUAL TABLE v USING fts5vocab(f, 'instance')")
    db.execute("INSERT INTO f VALUES (?)", (" ".join(own),))
    assert [token for (token,) in db.execute("SELECT term FROM v ORDER BY offset")] == own
    for token in own:
        quoted = '"' + token.replace('"', '""') + '"'
        assert db.execute("SELECT count(*) FROM f WHERE f MATCH ?", (quoted,)).fetchone() == (1,)


def test_every_code_point_is_found_by_itself() -> None:
    for code in [*range(0x3000), *range(0x3000, sys.maxunicode, 37)]:
        assert terms(chr(code)) or not findable(chr(code)), hex(code)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("She was running databases", "run database"),
        ("He won; the children went home", "win child go"),
        ("Caroline's cats' toys", "Caroline cat toy"),
        ("isn’t it", "isn't"),
        ("**bold**, `code`; [[Wiki Link]] @Peter: ~~old~~ _soft_ ==mark==", "bold code wiki link Peter old soft mark"),
        ("O'Brien and l'amour", "OBrien Brien amour"),
        ("rock'n'roll 'quoted'", "roll quoted"),
        ("Ёлки стояли в базах данных", "елка стоять база данные"),
        ("список ошибок, людей и дней", "списка ошибка человек день"),
        ("за\u0301мок и\u0306од", "замок йод"),
        ("北京大学的数据库", "北京 大学 数据库 库"),
        ("使用SQLite数据库", "sqlite 数据"),
        ("データベースを使う", "データ 使う"),
        ("한국어는", "한국어"),
        ("Café naïve Straße ŁÓDŹ Ærø", "cafe naive strasse lodz aero"),
        ("ＦＵＬＬ ﬁne ①", "full fine 1"),
        ("👍🏽 👨‍👩‍👧", "👍 👧"),
        ("see src/app/main.py:42 now", "src/app/main.py main.py main app"),
        (
            "getUserName HTTPServer snake_case kebab-case a.b.c",
            "user name http server snake kebab-case a.b.c getusername",
        ),
        ("v1.2.3 python3.11 10km 2025-11-27", "1.2.3 v1.2.3 python3.11 10 2025"),
        ("Петров, Киев и Лев Ковалёв", "петрова киева ковалевым"),
        ("деплой, токены", "деплоя токенов"),
        ("為什麼選擇臺灣的資料庫", "选择 台湾 资料库"),
        ("C++, C#; F# and ECONNRESET (#42)", "c++ c# f# econnreset #42 42"),
        ("mail bob@example.com https://docs.example.com/a/b?x=1", "bob example.com docs.example.com"),
        ("1,000,000 rows", "1000000"),
        ("C:\\Users\\me ~/.bashrc .env $HOME", "users .bashrc bashrc .env env $home home"),
        ("a && b != c", "&& !="),
        ("مَرْحَبًا שָׁלוֹם", "مرحبا שלום"),
        ("ﱞ ͺ", "ﱞ ͺ"),
        ("აბ ௹", "აბ ௹"),
    ],
)
def test_a_plain_spelling_finds_it(text: str, query: str) -> None:
    assert set(terms(query)) <= set(terms(text))


@pytest.mark.parametrize(("question", "asked"), table("asked-beside-function-words"))
def test_a_word_that_shares_its_stem_with_a_function_word_is_asked_for(question: str, asked: str) -> None:
    assert query_terms(question) == terms(asked)


def test_a_surname_stands_with_and_without_its_ending() -> None:
    """«Петров» may be many of «Пётр» or a name; written small it is the former, as every genitive plural."""
    assert terms("Петров") == ["петр", "петров"] and terms("Петрова") == ["петров"]
    assert terms("серверов") == ["сервер"] == terms("сервер")


def test_identifiers_stand_whole_and_split() -> None:
    assert terms("src/main.py:42") == ["src/main.py:42", "src/main.py", "main.py", "src", "main", "py", "42"]
    assert terms("v1.2.3")[:2] == ["v1.2.3", "1.2.3"]
    assert terms("getUserName")[1:] == ["get", "user", "name"]
    assert terms("C++ c") == ["c++", "c", "c"]
    assert terms("d41d8cd98f00b204e9800998ecf8427e") == ["d41d8cd98f00b204e9800998ecf8427e"]
    assert terms("*** --- | ``` ## ?!") == []


def test_a_token_is_cut_alike_on_both_sides() -> None:
    assert terms("x" * 500) == ["x" * LONGEST]
    assert terms("/".join(["dir"] * 50))[0] == "/".join(["dir"] * 50)[:LONGEST]


def test_the_cache_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CACHE_CHUNKS", 3)
    module._ANALYSED.clear()
    assert terms("a b c d " + "z" * 99) == ["a", "b", "c", "d", "z" * LONGEST]
    assert list(module._ANALYSED) == ["d"]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What did Alice say about the database?", ["alic", "say", "databas"]), ("Почему мы выбрали эту базу?", ["выбра", "баз"]),
        ("to be or not to be", ["to", "be", "or", "not"]),
        ("What does Will like about the IT budget", ["will", "like", "it", "budget"]),
        ("We left. When did we move?", ["leav", "move"]), ("WHAT IS THE PLAN", ["plan"]),
        ("How many times, how MANY", ["time", "mani"]), ("为什么选择了数据库", ["选", "择", "数", "据", "库"]), ("", []),
        ("the the plan plan", ["plan"]),
    ],
)  # fmt: skip
def test_a_question_keeps_what_it_is_about(question: str, expected: list[str]) -> None:
    found = query_terms(question)
    assert found[: len(expected)] == expected
    assert question.isascii() is False or len(found) == len(expected)


def test_prefixes_try_latin_letters_and_then_a_shorter_word() -> None:
    assert prefixes("монг") == ["монг", "mong"]
    assert prefixes("educaton") == ["educaton", "educato", "educat"]
    assert prefixes("щю") == ["schyu"]
    assert prefixes("a.b-c") == ["a.b-c"]
    assert prefixes("ab") == []


@given(TEXTS)
def test_prefixes_are_never_short(text: str) -> None:
    assert all(len(prefix) >= 3 for token in terms(text) for prefix in prefixes(token))


def test_irregular_forms_are_single_folded_words() -> None:
    for form, base in [pair for name in default_languages() for pair in irregular_forms(name).items()]:
        assert form.isalpha() and base.isalpha()
        assert terms(form) == terms(base)


HOSTILE = [
    "a", "aA", "a/", "a.", "a'", "'", "1,000,", "a=b?", "中文", "👍", "\x00", "\ud800", "*", "v1.", "e\u0301\u0316", "\u05b0\u05c1",
]  # fmt: skip


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_text_costs_linear_work(hostile: str) -> None:
    assert call_growth(terms, lambda n: hostile * (n // len(hostile))) < 2.5


def test_the_kept_stop_terms_are_what_analysis_makes_of_the_stop_words() -> None:
    for language in languages():
        held = words(language, "stopwords")
        made = set(terms(" ".join(held["words"])))
        assert set(held.get("terms", ())) == made, f"[terms] of language/data/{language}/stopwords.txt: run `make docs`"
