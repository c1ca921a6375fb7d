"""A scripted model behind a real HTTP endpoint, OpenAI-compatible, for bench/week.py.

It knows nothing but its prompt: to a question it answers with the newest line of the prompt that looks like an answer
(patterns that hold no answer), with the citation that stands by that line, or says that it does not know. To work it
writes long filler that depends on the request alone; to "run the tests" it calls a tool. A prompt beyond its window is refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from random import Random
from threading import Thread
from typing import Any, NamedTuple

__all__ = ["UNKNOWN_REPLY", "answer", "code", "log", "serving"]

Message = dict[str, Any]
UNKNOWN_REPLY = "I do not know: unknown to me, nothing in my prompt says so."

# What is asked, and what a line that answers looks like. No pattern holds a word of an answer.
_INTENTS: tuple[tuple[str, str], ...] = (
    (r"what is my name|как меня зовут|我叫什么", r"\b(?:name is|name:|i am called)\s+\w|меня зовут\s|我叫(?!什么)"),
    (r"project called", r"project(?:'s name)? (?:is|called)"),
    (r"why postgresql|почему postgresql|为什么选 ?postgresql", r"postgresql\b.*\b(?:because|since|so that)\b"),
    (r"ответы я предпочитаю", r"отвеча(?:й|ть)|ответы\s+(?!я)"),
    (r"数据导出由谁", r"负责数据导出|数据导出由(?!谁)"),
    (r"图表用什么", r"图表(?:只用|用(?!什么))"),
    (r"permit number", r"permit number(?: is|:)"),
    (r"кто отвечает за сервер", r"(?<!кто )отвечает за сервер"),
    (r"где стоит сервер", r"(?<!где )сервер стоит"),
    (r"bluetooth sync work", r"bluetooth\b.*\b(?:failed|worked|lost)"),
    (r"when is the release", r"\brelease\b.*\b\d{1,2} \w+"),
    (r"how many mist nets", r"\b\d+ mist nets"),
    (r"备份硬盘在哪", r"备份硬盘(?!在哪)"),
    (r"какие кнопки", r"предпочита\w+.*кнопк|кнопк.*предпочита"),
    (r"sister's birthday", r"sister's birthday (?:is|:)"),
    (r"лицензия на карты", r"лицензия на карты\s*(?:—|:|-)"),
)
_CITATION = re.compile(r"[\w/.-]+#[LM]\d+(?:-L\d+)?")
_BELOW = re.compile(r"- \[(#L\d+(?:-L\d+)?)\]")
_FENCED = re.compile(r"<(memory-\w+)>.*?</\1>", re.DOTALL)
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_OLD = re.compile(r"superseded|replaced by|corrected by|\(until", re.IGNORECASE)
_TOOL = re.compile(r"\brun the tests|запусти|跑一下", re.IGNORECASE)


class _Line(NamedTuple):
    """A line of the prompt, with the day and the citation that stand with it."""

    text: str
    day: str
    cited: str


def answer(messages: Sequence[Message]) -> Message:
    """The reply to a prompt: a pure function of it."""
    last = messages[-1]
    if last["role"] == "tool":
        return {"role": "assistant", "content": _filler(last["content"][-200:])}
    asked = next(
        filter(None, (_FENCED.sub("", str(m["content"])).strip() for m in reversed(messages) if m["role"] == "user")),
        "",
    )
    for question, looks in _INTENTS:
        if found := re.search(question, asked, re.IGNORECASE):
            line = asked[: found.start()].rpartition("\n")[2] + asked[found.start() :].partition("\n")[0]
            return {"role": "assistant", "content": _read(messages, looks, line)}
    if _TOOL.search(asked):
        call = {
            "id": "call_" + sha256(asked.encode()).hexdigest()[:8],
            "type": "function",
            "function": {"name": "shell", "arguments": json.dumps({"command": "make test"})},
        }
        return {"role": "assistant", "content": None, "tool_calls": [call]}
    first = asked.strip().partition("\n")[0]
    if "(#" not in first and not first.endswith(("?", "？")):  # told, not asked: an echo, as models do
        return {"role": "assistant", "content": f"Understood: {first}\n\n{_filler(first, short=True)}"}
    return {"role": "assistant", "content": _filler(asked)}


def _read(messages: Sequence[Message], looks: str, question: str) -> str:
    """The newest line of the prompt that looks like an answer; among lines of one day the last."""
    fits = re.compile(looks, re.IGNORECASE)
    found: list[tuple[bool, str, int, _Line]] = []
    for place, line in enumerate(_lines(messages)):
        if line.text.strip() != question.strip() and fits.search(line.text) and not _asks(line.text):
            found.append((not _OLD.search(line.text), line.day, place, line))
    if not found:
        return UNKNOWN_REPLY
    best = max(found)[3]
    text = best.text.strip()
    text = text.partition("] ")[2] if text.startswith("- [") else text
    return f"{text} [{best.cited}]" if best.cited and not text.endswith(f"[{best.cited}]") else text


def _asks(line: str) -> bool:
    return line.rstrip().endswith(("?", "？")) or line.startswith(UNKNOWN_REPLY[:13])


def _lines(messages: Sequence[Message]) -> Iterator[_Line]:
    """Every line of a prompt; the citation and the day of an item hold for the indented lines below it, too."""
    for message in messages:
        day = cited = ""
        for line in str(message.get("content") or "").splitlines():
            if not line.startswith("    "):
                here, when, below = _CITATION.search(line), _DAY.search(line), _BELOW.match(line)
                if below and cited:  # another line of the page that was just cited
                    cited = f"{cited.partition('#')[0]}{below[1]}"
                else:
                    cited, day = here.group() if here else "", when.group() if when else ""
            yield _Line(line, day, cited)


# --- Filler: long, plausible, and full of phrases that tempt -----------------------------------------------------------


def _words(text: str) -> list[str]:
    return text.split()


_PROSE = {
    "en": """Start from the {a}: it is the only place where {b} is known for certain.|Most teams decided long ago to keep {a} and {b} apart.|Remember to
wrap the change of {a} in a transaction.|It usually helps to measure {n} runs before touching {b}.|Always check {a} twice, since {b} may be stale.|I would
prefer {a} here, but {b} is a fair choice for small data.|If the queue grows beyond {n}, drop the oldest entries of {b}.|The cost is about {n} ms for each {a}.|A
reader of {b} expects the unit in the column's name.|Never trust {a} from a device whose clock is off.|One could also split {b} in {n} parts.|In short: index {a},
batch {b}, and look at the plan again.""",
    "ru": """Начните с {a}: только там {b} известно точно.|Многие команды давно решили держать {a} и {b} отдельно.|Не забудьте обернуть изменение {a} в
транзакцию.|Обычно полезно измерить {n} запусков, прежде чем трогать {b}.|Всегда проверяйте {a} дважды, ведь {b} может устареть.|Я бы предпочёл {a}, но для
малых данных годится и {b}.|Если очередь длиннее {n}, выбрасывайте самые старые записи {b}.|Это стоит около {n} мс на каждый {a}.|Никогда не доверяйте {a} с
устройства, у которого сбиты часы.|Можно также разбить {b} на {n} частей.|Коротко: проиндексируйте {a}, копите {b} пачками и снова посмотрите план.""",
    "zh": """先看 {a}：只有那里能确定 {b}。|很多团队早就决定把 {a} 和 {b} 分开。|记得把 {a} 的修改放进事务。|通常先测 {n} 次再动 {b}。|请始终检查 {a} 两遍，因为 {b}
可能已经过期。|这里我更喜欢 {a}，数据少的时候 {b} 也可以。|队列超过 {n} 时，丢掉 {b} 里最旧的记录。|每个 {a} 大约要 {n} 毫秒。|不要相信时钟不准的设备上的 {a}。|也可以把 {b}
分成 {n} 份。|总之：给 {a} 建索引，{b} 分批处理，再看一次执行计划。""",
}
_THINGS = _words("""captures ring_no wing_mm moult sync_queue conflict_log device_id tablet_clock photo_blob species_code net_rounds weather_log
last_seen batch_upload retry_after checksum parser form_state draft_store audit_trail""")


def _language(text: str) -> str:
    if re.search(r"[\u4e00-\u9fff]", text):
        return "zh"
    return "ru" if re.search(r"[а-яё]", text, re.IGNORECASE) else "en"


def _filler(request: str, short: bool = False) -> str:
    """A long answer in the language of the request: prose, code, a list, prose; or only some prose."""
    dice = Random(sha256(request.encode()).hexdigest())
    prose = _PROSE[_language(request)].replace("\n", " ").split("|")

    def told(number: int) -> list[str]:
        return [
            dice.choice(prose).format(a=_thing(dice), b=_thing(dice), n=dice.randrange(2, 900)) for _ in range(number)
        ]

    if short:
        return " ".join(told(4))
    paragraphs = "\n\n".join(" ".join(told(7)) for _ in range(dice.randrange(5, 9)))
    listed = "\n".join(f"- {line}" for line in told(8))
    return f"{paragraphs}\n\n```python\n{code(request)}\n```\n\n{listed}\n\n{' '.join(told(5))}"


def _thing(dice: Random) -> str:
    return f"`{dice.choice(_THINGS)}_{dice.randrange(2, 400)}`"


def code(seed: str) -> str:
    """Some fifty lines of Python, the same for the same seed; its comments tempt, too."""
    dice = Random("code" + seed)
    functions = []
    for _ in range(dice.randrange(4, 7)):
        name, table, number = dice.choice(_THINGS), dice.choice(_THINGS), dice.randrange(2, 400)
        functions.append(
            f"def load_{name}_{number}(rows, limit={number}):\n    # we decided to keep {table} here, always\n    seen = {{}}\n"
            f"    for row in rows[:limit]:\n        key = row['{table}'], row.get('{name}')\n        if key in seen:\n"
            f"            seen[key] += {number}  # remember the first one\n            continue\n        seen[key] = {number % 7}\n    return seen"
        )
    return "\n\n\n".join(functions)


def log(seed: str, lines: int = 55) -> str:
    """A log of so many lines, the same for the same seed."""
    dice = Random("log" + seed)
    levels, verbs = (
        ("INFO", "INFO", "DEBUG", "WARN", "ERROR"),
        ("flushed", "retrying", "decided to skip", "locked", "postgresql timeout on"),
    )
    return "\n".join(
        f"2025-11-{dice.randrange(1, 10):02} {dice.randrange(24):02}:{dice.randrange(60):02}:{dice.randrange(60):02}.{dice.randrange(1000):03} "
        f"{dice.choice(levels):5} [{dice.choice(_THINGS)}] {dice.choice(verbs)} {dice.choice(_THINGS)} id={dice.randrange(10**6)}"
        for _ in range(lines)
    )


# --- The endpoint -----------------------------------------------------------------------------------------------------


@contextmanager
def serving(window: int, count: Callable[[str], int]) -> Iterator[str]:
    """The URL of a model whose window holds `window` tokens, for as long as the block lasts."""

    class Endpoint(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if self.path != "/v1/chat/completions":
                return self._say(404, {"error": {"message": f"no such path: {self.path}"}})
            used = sum(count(json.dumps(message, ensure_ascii=False)) for message in body["messages"])
            if used > window:
                return self._say(400, {"error": {"code": "context_length_exceeded", "message": f"{used} > {window}"}})
            reply = answer(body["messages"])
            why = "tool_calls" if reply.get("tool_calls") else "stop"
            self._say(200, _completion(reply, why, used))

        def _say(self, status: int, told: Mapping[str, Any]) -> None:
            sent = json.dumps(told).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        def log_message(self, *_: Any) -> None:
            """Nothing: the figures are printed by who asks."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    server.daemon_threads = True
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()


def _completion(reply: Message, why: str, used: int) -> dict[str, Any]:
    return {
        "object": "chat.completion",
        "model": "scripted",
        "choices": [{"index": 0, "message": reply, "finish_reason": why}],
        "usage": {"prompt_tokens": used},
    }
