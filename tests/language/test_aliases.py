"""Words across languages: slang, short forms, translations, names by their sound; for the question only."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from face_helpers import ask, call, contents, write_pages
from hypothesis import given, strategies as st

from memctl.index.heal import with_index
from memctl.index.queries.entries import dump
from memctl.language.analyzer import fold, query_terms, simplified, terms
from memctl.language.phonetic import other_script_prefixes, phonetic_key, sounds_alike
from memctl.language.synonyms import expansions, groups
from memctl.language.words import words

DATA = Path(__file__).parents[1] / "data" / "slang"
TOPICS = [json.loads(line) for line in (DATA / "topics.jsonl").read_text("utf-8").splitlines()]
NOISE = (DATA / "noise.md").read_text("utf-8").splitlines()
LANGUAGES = ("en", "ru", "zh")


def stand_for(question: str, *more: tuple[str, ...]) -> set[str]:
    """What could stand for the words of a question, as text."""
    return {" ".join(tokens) for tokens, _ in expansions(question, query_terms(question), more)}


def test_the_table_is_written_as_it_is_read() -> None:
    """Lower case, folded, no empty spelling, no group of one, no Chinese word of one character, no group twice."""
    listed = [[part.strip() for part in line.split(",")] for line in (*groups(), *groups("near"))]
    for group in listed:
        assert len(group) > 1 and all(group), group
        for spelling in group:
            bare = spelling.lstrip("~+")
            assert bare == fold(bare).casefold().replace("ё", "е"), spelling
            assert terms(bare) and not (len(bare) == 1 and bare > "\u2e80"), spelling
    assert len({tuple(group) for group in listed}) == len(listed)


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("почему не взяли монгу?", "mongodb"), ("что с кубером", "kubernet"), ("the kube cluster", "kubernet"),
        ("какой пайтон, питон или го", "python"), ("задеплоили на прод", "deploy"), ("задеплоили на проде", "product"),
        ("Which database?", "баз дан"), ("Which databases?", "数据 据库"), ("选择数据库", "databas"), ("選擇資料庫", "db"),
        ("поменяй базу данных", "数据 据库"), ("PR", "pull request"), ("a pull request", "pr"), ("a pull-request", "pr"),
        ("repos in k8s", "repositori"), ("repos in k8s", "кубер"), ("в каком городе", "citi"), ("在哪个城市", "город"),
        ("which folder", "каталог"), ("в какой папке", "directori"), ("文件夹", "directori"), ("удалить строки", "eras"),
        ("a headless browser", "playwright"), ("下载", "скача"), ("перехватить", "intercept"), ("重定向", "redirect"), ("golang", "go"),
    ],
)  # fmt: skip
def test_a_question_is_understood_by_another_word(question: str, found: str) -> None:
    assert found in stand_for(question)


@pytest.mark.parametrize(
    "question",
    ["", "?", "Where did Caroline go?", "the product is good", "слоновая кость", "家", "request", "a b c ~ +"],
)
def test_other_questions_are_left_alone(question: str) -> None:
    """A word that only begins like one of the table, or half of a phrase, means nothing."""
    assert not {"kubernet", "pull request", "postgr", "db", "home"} & stand_for(question)


def test_a_marked_spelling_works_one_way() -> None:
    """`~` is understood and never looked for; `+` the reverse."""
    assert "postgr" in stand_for("слон упал") and "слон" not in stand_for("postgres")
    assert "specif" in stand_for("the spec") and not stand_for("something specific")


@given(st.text(max_size=60), st.lists(st.lists(st.text(max_size=12), max_size=4), max_size=3))
def test_any_text_and_any_group_can_be_given(text: str, groups: list[list[str]]) -> None:
    wanted = query_terms(text)
    for tokens, stood in expansions(text, wanted, groups):
        assert tokens and stood and set(stood) <= set(wanted) and not set(tokens) <= set(wanted)


@pytest.mark.parametrize("language", LANGUAGES)
def test_slang_finds_what_was_written_in_other_words(tmp_path: Path, language: str) -> None:
    """22 questions a language on facts in each of three: nine of ten come first, and all but one in twenty in five."""
    lines = [
        line for n, noise in enumerate(NOISE) for line in (noise, *(topic[language] for topic in TOPICS[n : n + 1]))
    ]
    workspace = write_pages(tmp_path, {"memory/2025-11-01.md": "".join(f"- W: {line}\n" for line in lines)})
    for other in LANGUAGES:
        found = [contents(ask(workspace, topic[f"ask_{other}"], k=5)) for topic in TOPICS]
        missed = [t[f"ask_{other}"] for t, hits in zip(TOPICS, found, strict=True) if t[language] not in hits]
        first = sum(hits[:1] == [topic[language]] for topic, hits in zip(TOPICS, found, strict=True))
        print(f"slang {other} on {language}: Hit@1 {first / len(TOPICS):.2f}, missed in 5: {missed}")
        assert len(missed) <= len(TOPICS) // 20
        assert first >= 0.8 * len(TOPICS)


EXACT = {
    "db": ["The db has a new owner.", "The database has a new owner.", "База сменила владельца.", "数据库换了主人。"],
    "прод": ["Прод лежал час.", "Production was down for an hour.", "生产环境宕机一小时。"],
    "部署": ["部署在星期二。", "Deploy is on Tuesday.", "Деплой во вторник."],
}


@pytest.mark.parametrize("word", EXACT)
def test_the_asked_word_comes_before_another_word_for_it(tmp_path: Path, word: str) -> None:
    """However many lines say it otherwise, and however rare those words are."""
    exact, *others = EXACT[word]
    lines = [*others, *(f"{line} {n}" for n in range(30) for line in others), exact, f"{exact} Again."]
    workspace = write_pages(tmp_path, {"memory/2025-11-01.md": "".join(f"- W: {line}\n" for line in lines)})
    found = contents(ask(workspace, word, k=10))
    assert set(found[:2]) == {exact, f"{exact} Again."}
    assert set(found) & {*others, *(f"{line} {n}" for n in range(30) for line in others)}


NEAR = {
    "en": (
        "how do I shrink a picture from the terminal",
        "# Compressing images\n\nRun the tool on the command line; it is lossless.\n",
        "# A terminal of the ferry\n\nThe terminal stands on the quay.\n",
    ),
    "ru": (
        "как ужать фото из консоли",
        "# Сжатие изображений\n\nЗапускается в командной строке, без потерь.\n",
        "# Консоль в зале\n\nКонсоль стоит у окна.\n",
    ),
    "zh": ("终端 照片", "# 图片瘦身\n\n命令行工具，无损。\n", "# 窗边\n\n终端放在窗边。\n"),
}


@pytest.mark.parametrize("language", NEAR)
def test_a_note_is_found_by_words_that_come_near_its_own(tmp_path: Path, language: str) -> None:
    """Whoever remembers the matter and not the word: images are pictures, the terminal is a command line."""
    question, asked, other = NEAR[language]
    filler = {f"notes/n{n}.md": f"# Note {n}\n\nThe {n}. walk along the quay.\n" for n in range(20)}
    workspace = write_pages(tmp_path, {"notes/a.md": other, "notes/b.md": asked, **filler})
    assert [hit.source.path for hit in ask(workspace, question).hits][:1] == ["notes/b.md"]


def test_a_tool_does_not_ask_for_its_kind() -> None:
    assert not {"headless browser", "golang"} & set(stand_for("where does playwright go"))


def test_half_of_a_phrase_does_not_stand_for_it(tmp_path: Path) -> None:
    """PR is a pull request, not any request."""
    text = "- W: A request for chairs was made.\n- W: The pull request waits.\n- W: Pull the rope, then request help.\n"
    assert contents(ask(write_pages(tmp_path, {"memory/2025-11-01.md": text}), "PR")) == ["The pull request waits."]


def test_a_slot_is_found_by_another_word_for_its_key(tmp_path: Path) -> None:
    """The facts with key=db answer to database, базу and 数据库; those with key=city to город and 城市."""
    text = (
        "- W(key=db) @Orders: Runs on PostgreSQL.\n- W(key=city) @Irina: Lives in Riga.\n"
        "- W: A walk along the quay.\n- W: The pump is loud.\n"
    )
    workspace = write_pages(tmp_path, {"memory/2025-11-01.md": text})
    for question in ("which database", "какую базу взяли", "用什么数据库", "какая БД"):
        assert contents(ask(workspace, question))[:1] == ["Runs on PostgreSQL."], question
    for question in ("what city", "в каком городе", "哪个城市"):
        assert contents(ask(workspace, question))[:1] == ["Lives in Riga."], question


def test_the_hit_says_so(tmp_path: Path) -> None:
    """The parts name the asked word."""
    workspace = write_pages(tmp_path, {"memory/2025-11-01.md": "- W: Kubernetes in three zones.\n"})
    (hit,) = ask(workspace, "k8s").hits
    assert hit.parts["own"] == "k8s" and hit.why == {"lexical": 1}


def test_a_workspace_adds_words_of_its_own(tmp_path: Path) -> None:
    """In memctl.toml: [recall] aliases = "words.toml"."""
    text = "- W: The Albatross ships on Monday.\n- W: A walk along the quay.\n"
    write_pages(tmp_path, {"memory/2025-11-01.md": text})
    assert "Albatross" not in call(["recall", "птичка"], tmp_path).out
    (tmp_path / "memctl.toml").write_text('[recall]\naliases = "words.toml"\n', encoding="utf-8")
    (tmp_path / "words.toml").write_text('Albatross = ["птичка", "project bird", "信天翁"]\n', encoding="utf-8")
    for question in ("когда птичку", "PROJECT BIRD", "信天翁什么时候"):
        assert "Albatross" in call(["recall", question], tmp_path).out, question


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (None, "the file does not exist; correct `aliases`"),
        (b"", "it is a folder; correct `aliases`"),
        (b"a = 1\n", "a is not a list of words; write it as in"),
        (b"a = [1]\n", "a is not a list of words; write it as in"),
        (b"a = [", "it is not TOML: "),
        (b"a", "it is not TOML: "),
        (b"a = " + b"[" * 100_000, "it is not TOML: nested too deeply"),
        (b"\xff = []", "it is not UTF-8; save it"),
    ],
)
def test_a_file_that_cannot_be_followed_is_named(tmp_path: Path, content: bytes | None, told: str) -> None:
    """Recall answers without it and warns, once; `check` finds it."""
    write_pages(tmp_path, {"memory/2025-11-01.md": "- W: x y\n"})
    (tmp_path / "memctl.toml").write_text('[recall]\naliases = "words.toml"\n', encoding="utf-8")
    if content:
        (tmp_path / "words.toml").write_bytes(content)
    elif content is not None:
        (tmp_path / "words.toml").mkdir()
    done = call(["recall", "x"], tmp_path)
    assert done.code == 0 and "x y" in done.out
    assert done.err.startswith(f"answered without the aliases of words.toml: {told}") and done.err.count("\n") == 1
    assert done.err.count("words.toml") == 1
    checked = call(["check"], tmp_path)
    assert checked.code == 1 and f"words.toml:1:1: aliases: {told}" in checked.out


def test_the_setting_is_a_path_in_the_workspace(tmp_path: Path) -> None:
    write_pages(tmp_path, {"memory/2025-11-01.md": "- W: x\n"})
    for setting, code in (("aliases = 1", 2), ('aliases = "../words.toml"', 11)):
        (tmp_path / "memctl.toml").write_text(f"[recall]\n{setting}\n", encoding="utf-8")
        assert call(["recall", "x"], tmp_path).code == code
    checked = call(["check"], tmp_path)
    assert checked.code == 1 and "memctl.toml:1:1: aliases: under [recall], ../words.toml leads out" in checked.out


def test_the_index_does_not_depend_on_the_words(tmp_path: Path) -> None:
    """Changing the file changes answers at once, and no page is read again."""
    workspace = write_pages(tmp_path, {"memory/2025-11-01.md": "- W: The Albatross ships.\n"})
    ask(workspace, "x")
    before = with_index(workspace, lambda index: list(dump(index)))
    (tmp_path / "memctl.toml").write_text('[recall]\naliases = "words.toml"\n', encoding="utf-8")
    (tmp_path / "words.toml").write_text('Albatross = ["птичка"]\n', encoding="utf-8")
    assert "Albatross" in call(["recall", "птичка"], tmp_path).out
    assert with_index(workspace, lambda index: list(dump(index))) == before


SOUND = (
    "вагрант Vagrant;селери Celery;постмен Postman;фигма Figma;твиттер Twitter;скайп Skype;зум Zoom;спотифай Spotify;икея IKEA;тойота Toyota;"
    "фейсбук Facebook;эрланг Erlang;котлин Kotlin;вебпак webpack;сентри Sentry;консул Consul;истио Istio;тензорфлоу TensorFlow;датадог Datadog;"
    "zhenya Женя;natasha Наташу;dmitry Дмитрий;evgeny Евгений;tbilisi Тбилиси;shchukin Щукин;yandex Яндекс;ozon Озон;masha Маша;sergey Сергею;"
    "kazan Казань;novosibirsk Новосибирске;petrov Петров;svetlana Светлану;khariton Харитон;pelmeni пельмени;dacha дача;gosuslugi Госуслуги"
)


def test_a_name_is_found_in_the_other_script(tmp_path: Path) -> None:
    """None of these is in a table."""
    pairs = [pair.split() for pair in SOUND.split(";")]
    text = "".join(f"- W: {written} was mentioned by the neighbours.\n" for _, written in pairs)
    walks = "- W: A walk along the quay.\n- W: Прогулка по берегу.\n"
    workspace = write_pages(tmp_path, {"memory/2025-11-01.md": walks + text})
    for asked, written in pairs:
        found = contents(ask(workspace, f"{asked}?"))
        assert found[:1] == [f"{written} was mentioned by the neighbours."], asked


def test_a_word_that_stands_there_finds_its_latin_spelling_too(tmp_path: Path) -> None:
    """Both «Скайп» and Skype were written; the spelling that was asked for comes first."""
    text = "- W: Звонили через Скайп.\n- W: They met on Skap.\n- W: The skyline is grey.\n- W: Написали в Твиттер.\n- W: Twitter was down.\n"
    workspace = write_pages(tmp_path, {"memory/2025-11-01.md": text})
    assert contents(ask(workspace, "твиттер")) == ["Написали в Твиттер.", "Twitter was down."]


@given(st.text(st.characters(categories=("Ll",)), max_size=12))
def test_sounds_of_any_word(word: str) -> None:
    assert len(other_script_prefixes(word)) <= 16 and all(len(start) >= 2 for start in other_script_prefixes(word))
    assert not sounds_alike(word, word) or phonetic_key(word)


def test_the_pairs_fold_one_character_into_another_once() -> None:
    """No chains, nothing folded into itself, all within the basic plane."""
    pairs = {chr(old): new for old, new in simplified().items()}
    assert len(pairs) > 2_700
    assert not {old for old, new in pairs.items() if old == new or new in pairs}
    assert all("\u3400" <= char <= "\u9fff" for pair in pairs.items() for char in pair)
    assert len(pairs) * 2 == len("".join(map("".join, words("zh", "characters").values())))


@pytest.mark.parametrize(
    ("traditional", "simplified"),
    [
        ("資料庫備份", "资料库备份"), ("為什麼選擇", "为什么选择"), ("軟體開發與測試", "软体开发与测试"), ("頭髮", "头发"), ("國際會議", "国际会议"),
    ],
)  # fmt: skip
def test_traditional_and_simplified_meet(tmp_path: Path, traditional: str, simplified: str) -> None:
    assert terms(traditional) == terms(simplified)
    for written, asked in ((traditional, simplified), (simplified, traditional)):
        workspace = write_pages(tmp_path, {"memory/2025-11-01.md": f"- W: {written}\n- W: 港口\n"})
        assert contents(ask(workspace, asked))[:1] == [written]
