"""The question in a long paste: a system prompt, a transcript, a log or a mail around it is left out.

A chain of narrowing steps, each of which may find nothing to do: a list of messages or chat markup leaves the last
message of the user, quotations and machine output go, and of what is left the last part that asks is the question.
Where nothing asks and nothing looks pasted, the text stays as it is. The words lie in language/data/*/question.txt.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from ..language.analyzer import is_identifier, query_terms
from ..language.names import has_han
from ..language.sentences import BRACKETED, is_machine_line, opens_fence, quotations, speaker_on, split_sentences
from ..language.words import languages, lines

SHORT = 200
"""Characters up to which a question is taken exactly as it is."""

_HEAD, _TAIL = 6_000, 24_000  # of a longer paste only both ends are read: a question stands at one of them
_KEPT_WHOLE = 400  # a part as long as this is kept whole; of a longer one, the last sentences that ask
_LAST_ASKING = 3
_SURE = 4  # the best of `_rate`
_LONG_LINE = 600  # a single line as long as this, without anything that looks pasted, is a long question
_SPEAKERS = 3  # lines such as "Anna: yes" that make a transcript
_Part = tuple[str, ...]
"""A piece of running text: its sentences."""

_QUESTION_TAGS = ("question", "query", "user_query", "user_question", "user_message", "user_input", "user", "human")


@cache
def _phrases(section: str, language: str) -> tuple[str, ...]:
    """The phrases of one section of a language, parted by commas in its file."""
    return tuple(phrase for line in lines(language, "question").get(section, ()) for phrase in line.split(", "))


@cache
def _all(section: str) -> tuple[str, ...]:
    """The phrases of a section in every language."""
    return tuple(phrase for language in languages() for phrase in _phrases(section, language))


def _has_spaces(phrases: Sequence[str]) -> bool:
    """True for a language that writes spaces between words."""
    return any(char.islower() for phrase in phrases for char in phrase)


def clean_question(text: str) -> str:
    """What `text` asks. Up to 200 characters, and wherever no question can be told from the rest, the text itself."""
    if len(text.strip()) <= SHORT:
        return text
    cut = text if len(text) <= _HEAD + _TAIL else f"{text[:_HEAD]}\n\n{text[-_TAIL:]}"
    message, was_wrapped = _message(cut.replace("\r\n", "\n").replace("\r", "\n"))
    lines, left_some_out = _prose(message)
    parts = list(_parts(lines))
    looks_pasted = was_wrapped or left_some_out
    is_one_line = "\n" not in text.strip() and len(text) <= _LONG_LINE
    if is_one_line and not looks_pasted and not _instructs(parts, 1):
        return text
    asking = _choose(parts)
    if not asking and (looks_pasted or _instructs(parts)):
        asking = _plain(parts)
    if not asking and was_wrapped:
        asking = message
    found = " ".join(asking.split())
    if not any(map(str.isalnum, found)):
        return text
    return found if was_wrapped else _with_things(found, text)


def _message(text: str) -> tuple[str, bool]:
    """The last thing that the user says, and whether anything was wrapped around it."""
    beside, said = _json_messages(text)
    if said is not None and sum(map(str.isalnum, beside)) < 3:
        return said, True
    tagged = _tagged(beside)
    if tagged is not None:
        return tagged, True
    marked = _markup().sub(_as_role, beside)
    turn = _last_turn(marked)
    return (turn, True) if turn is not None else (marked, marked != text)


def _json_messages(text: str) -> tuple[str, str | None]:
    """What stands beside a JSON list of messages, and the user's last message in it; the text and None without one."""
    start = min((at for at in map(text.find, ("[{", "[\n", "[ ", '{"', "{\n")) if at >= 0), default=-1)
    if start < 0 or ('"content"' not in text and '"value"' not in text and '"text"' not in text):
        return text, None
    import json

    read, end, decoder = [], start, json.JSONDecoder()
    while text[end : end + 1] in ("[", "{"):  # one list, or an object a line
        try:
            value, end = decoder.raw_decode(text, end)
        except (ValueError, RecursionError):
            break
        read += value if isinstance(value, list) else [value]
        end += len(text[end:]) - len(text[end:].lstrip(" \n\t,"))
    messages = [said for value in read for said in _messages(value) if said[1].strip()]
    if not messages:
        return text, None
    asked = [said for role, said in messages if role.casefold() in _all("asker")]
    return f"{text[:start].strip()}\n\n{text[end:].strip()}".strip(), asked[-1] if asked else messages[-1][1]


def _messages(read: Any) -> Iterator[tuple[str, str]]:
    """(role, text) of what looks like chat messages, in order."""
    inner: Any = read if isinstance(read, dict) else ()
    inner = next((inner[key] for key in ("messages", "conversation", "turns") if key in inner), inner)
    for item in inner if isinstance(inner, list) else [inner]:
        if isinstance(item, dict):
            role = item.get("role") or item.get("from") or item.get("author")
            said = item.get("content", item.get("value", item.get("text")))
            parts = said if isinstance(said, list) else [said]
            texts = (part.get("text") if isinstance(part, dict) else part for part in parts)
            if role:
                yield str(role), "\n".join(part for part in texts if isinstance(part, str))


def _tagged(text: str) -> str | None:
    """What the last tag that announces a question holds: `<question>…</question>`."""
    low = text.lower() if len(text.lower()) == len(text) else text
    end, name = max((low.rfind(f"</{name}>"), name) for name in _QUESTION_TAGS)
    start = low.rfind(f"<{name}>", 0, max(end, 0))
    found = text[start + len(f"<{name}>") : end] if start >= 0 else ""
    return found if found.strip() else None


@cache
def _markup() -> re.Pattern[str]:
    """Marks of chat templates."""
    return re.compile(
        r"<\|(?:im_start|start_header_id|start)\|>\s*(?P<role>\w+)\s*(?:<\|(?:end_header_id|message)\|>)?"
        r"|<\|(?P<only>user|system|assistant|tool)\|>|(?P<sys><<SYS>>)|(?P<inst>\[INST\]|<</SYS>>)|(?P<done>\[/INST\])"
        r"|<\|\w{1,30}\|>|</?s>"
    )


def _as_role(mark: re.Match[str]) -> str:
    role = mark["role"] or mark["only"] or (mark["sys"] and "system") or (mark["inst"] and "user")
    return f"\n\n{role or 'assistant'}:\n" if role or mark["done"] else "\n"


@cache
def _role() -> re.Pattern[str]:
    """A line that begins with a role: `User:`, `**Assistant:**`, `### System`, `[Human]:`."""
    names = "|".join(sorted(map(re.escape, (*_all("asker"), *_all("not the asker"))), key=len, reverse=True))
    return re.compile(
        rf"^[ \t]*(?:#{{1,4}}[ \t]+|[*_\[(]{{1,3}})?(?P<role>{names})(?:[ \t]*[:：][*_\])]{{0,3}}|[*_\])]{{0,3}}[ \t]*[:：]|(?=[ \t]*$))[ \t]*",
        re.IGNORECASE | re.MULTILINE,
    )


def _last_turn(text: str) -> str | None:
    """What the user said last in a text with roles; None without any.

    After the last answer a paragraph may follow without a role: that is the question then.
    """
    marks = [mark for mark in _role().finditer(text) if ":" in mark[0] or "：" in mark[0] or "#" in mark[0]]
    if not marks:
        return None
    ends = [mark.start() for mark in marks[1:]] + [len(text)]
    turns = [(mark["role"].casefold(), text[mark.end() : end]) for mark, end in zip(marks, ends, strict=True)]
    before = text[: marks[0].start()]
    role, last = turns[-1]
    askers = _all("asker")
    if role not in askers:
        after = last.strip().partition("\n\n")[2]
        if after and any(asks(sentence) for part in _parts(_prose(after)[0]) for sentence in part):
            return after
    ours = [said for who, said in turns if who in askers and said.strip()]
    if ours:
        return ours[-1]
    return before if before.strip() else "\n\n".join(said for who, said in turns)


@cache
def _not_prose() -> re.Pattern[str]:
    """A line of a quotation, a mail's head, a list of fields or code that `is_machine_line` leaves open."""
    return re.compile(
        r"^\s*(?:>|\||[-=_*#~]{3,}\s*$|\$\s|\[?\d{4}[-/]\d\d[-/]\d\d[T ,]|\[?(?:INFO|WARN|WARNING|ERROR|DEBUG|TRACE|FATAL|CRITICAL)\b"
        rf"|[\w.]*(?:Error|Exception)\b\(|(?:{'|'.join(_all('mail header'))})[ ]?[:：]"
        r"|(?:def|class|import|from|return|const|let|var|function|public|private|SELECT|INSERT)\s.*[;:({)=]\s*$"
        rf"|\[.*\]\s*$|\"[^\"]+\"\s*:|[\]\[{{}}();,]+\s*$|(?:{'|'.join(_all('wrote'))})[:：]\s*$|--\s*$)|^(?: {{4}}|\t)\S"
    )


_LISTED = re.compile(r"^\s*(?:[-*•‣–]\s|\d{1,2}[.)、]\s|[(（]\d{1,2}[)）]|#{1,6}\s)")
_SENTENCE_END = re.compile(r"[.?!:;。？！：；…]['\"»”’)\]*_]*\s*$")


def _prose(text: str) -> tuple[list[str], bool]:
    """The lines in which a person writes to us, others empty; and whether any was left out."""
    lines = text.split("\n")
    fences = [number for number, line in enumerate(lines) if opens_fence(line)]
    fenced = set(fences)
    for first, last in zip(fences[::2], fences[1::2], strict=False):
        fenced.update(range(first, last + 1))
    kept = ["" if number in fenced or _is_foreign(line) else line for number, line in enumerate(lines)]
    labels = [speaker_on(line) for line in kept]
    said = [number for number, label in enumerate(labels) if label.name]
    if len(said) >= _SPEAKERS:
        talk = range(said[0], said[-1] + 1)
        outside_talk = ["" if number in talk else line for number, line in enumerate(kept)]
        # Where all of it is a talk, its lines without their speakers: the last one that asks is the question then.
        unnamed = [line[label.begins :] if label.name else line for line, label in zip(kept, labels, strict=True)]
        kept = outside_talk if any(map(str.strip, outside_talk)) else unnamed
    return kept, any(line.strip() and not its_rest.strip() for line, its_rest in zip(lines, kept, strict=True))


def _is_foreign(line: str) -> bool:
    """True for a line of code, of a quotation, of a machine, or with a title that asks nothing."""
    is_title = line.startswith("#") and line.lstrip("#")[:1] == " " and not _is_marked(line)
    return bool(line) and (is_title or bool(_not_prose().search(line)) or is_machine_line(line))


def _parts(lines: Sequence[str]) -> Iterator[_Part]:
    """Paragraphs; a line that ends as a sentence does ends its part, other lines are joined to the next."""
    gathered: list[str] = []
    for line in [*lines, ""]:
        text = line.strip()
        goes_on = text and not (gathered and _LISTED.match(line))
        if goes_on:
            gathered.append(text)
            if not _SENTENCE_END.search(line):
                continue
        if gathered:
            yield tuple(split_sentences(" ".join(gathered)))
        gathered = [text] if text and not goes_on else []


def _joined(sentences: Sequence[str]) -> str:
    """Sentences as one text; Chinese ones without a space between."""
    return "".join(one + ("" if one.endswith(("。", "！", "？")) else " ") for one in sentences).strip()


@cache
def _beginning(section: str) -> re.Pattern[str]:
    """A sentence that begins with a phrase of a section; where words have spaces between, with whole words."""
    found = []
    for language in languages():
        if phrases := sorted(_phrases(section, language), key=len, reverse=True):
            either = "|".join(re.escape(phrase).replace(r"\ ", r"\s+") for phrase in phrases)
            led = rf"(?:(?:{'|'.join(_all('leading'))})[\s,]+)*"
            found.append(rf"{led}(?:{either})(?:(?<=:)|(?![^\W\d_]))" if _has_spaces(phrases) else either)
    return re.compile(rf"[\s\"'«“「（(*_•-]*(?:{'|'.join(found)})", re.IGNORECASE)


def _begins(sentence: str, section: str) -> bool:
    return bool(_beginning(section).match(sentence))


@cache
def _anywhere(section: str) -> re.Pattern[str]:
    """One of the patterns of a section; where words have spaces between, as whole words."""
    found = []
    for patterns in filter(None, (_phrases(section, language) for language in languages())):
        either = "|".join(patterns)
        found.append(rf"\b(?:{either})\b" if _has_spaces(patterns) else either)
    return re.compile("|".join(found), re.IGNORECASE)


def _is_marked(sentence: str) -> bool:
    """True for a question with its mark, unless only what it quotes is one."""
    bare = sentence.strip("*_ ")
    if bare[-1:] in tuple('"”»」)'):
        last = [found for found in quotations(BRACKETED).finditer(bare) if found.end() == len(bare)]
        if last and last[-1].start() > 2:
            bare = bare[: last[-1].start()].rstrip()
    return bare.rstrip("\"'»”’)]*_」』） ").endswith(("?", "？"))


def _instructs_one(sentence: str) -> bool:
    """True for a sentence that tells how to behave or to answer."""
    if _is_marked(sentence):
        return _begins(sentence, "replying")
    return _begins(sentence, "instructing") or bool(_anywhere("about answers").search(sentence))


def asks(sentence: str) -> bool:
    """True for a question, and for a request to tell something."""
    if _instructs_one(sentence):
        return False
    return _is_marked(sentence) or sentence.endswith(_all("closing")) or _begins(sentence, "asking")


def asks_anywhere(sentence: str) -> bool:
    """True for what `asks`, and where the word that asks stands anywhere: 「茶账的数据现在放哪儿」, "on which day is my open mic".
    Not for what asks to do something and is told nothing: "can you fix the test?"."""
    mentions = _anywhere("asking").search(sentence)
    return not _instructs_one(sentence) if mentions else asks(sentence) and not _begins(sentence, "requesting")


def _instructs(parts: Sequence[_Part], least: int = 3) -> bool:
    """True for a text of which at least so many sentences tell how to behave."""
    return sum(_instructs_one(sentence) for part in parts for sentence in part) >= least


def _choose(parts: Sequence[_Part]) -> str:
    """What the part that asks most surely says, of several the last. Empty where none asks, or a plain end is surer."""
    able = [part for part in parts if not all(map(_instructs_one, part))]
    rates = [_rate(part, part is able[-1]) for part in able]
    best = max(rates, default=0)
    if not best or (best < _SURE and _plain(able[-1:])):
        return ""
    places = [number for number, rate in enumerate(rates) if rate == best]
    # The first part rather than one in the midst: what asks there belongs to the text around it.
    is_at_start_alone = places[0] == 0 and places[-1] < len(able) - 1
    part = able[0 if is_at_start_alone else places[-1]]
    last = max(number for number, sentence in enumerate(part) if asks(sentence))
    instructing = [number for number in range(last) if _instructs_one(part[number])]
    start = instructing[-1] + 1 if instructing else 0
    kept = [sentence for sentence in part[start:] if not _instructs_one(sentence)]
    if sum(map(len, kept)) > _KEPT_WHOLE:
        kept = [sentence for sentence in kept if asks(sentence)][-_LAST_ASKING:]
    return _joined(kept)


def _rate(part: _Part, is_last: bool) -> int:
    """How surely a part is the question: `_SURE` with a question mark at its beginning or end, or as the last part of all.

    2 with the mark in its midst, or without one; 1 less where two or more of its sentences instruct; 0 for no question.
    """
    asking = [sentence for sentence in part if asks(sentence)]
    if not asking:
        return 0
    others = [sentence for sentence in part if not _instructs_one(sentence)]
    instructions = len(part) - len(others)
    less = int(instructions >= 2)
    if any(_is_marked(sentence) and not _LISTED.match(sentence) for sentence in asking):
        is_at_an_end = others[-1] in asking or others[0] in asking
        return _SURE - less if is_at_an_end else 2 - less
    return _SURE if is_last and not instructions else 2 - less


def _plain(parts: Sequence[_Part]) -> str:
    """The last part that neither instructs nor is a list, if it is no longer than a question."""
    plain = [p for p in parts if not any(map(_instructs_one, p)) and not _LISTED.match(p[0])]
    text = _joined(plain[-1]) if plain else ""
    return text if len(text) <= _KEPT_WHOLE else ""


_PASTE = 1_000  # characters of a paste; a longer one has too many things in it
_MOST_THINGS = 12
_FEW = 2  # words that a question says itself besides pointing; of Chinese, pairs and characters
_FEW_HAN = 6


def _with_things(question: str, text: str) -> str:
    """`question`, found in `text`; if it says little but "this", with identifiers and capitalised words of the text, no times."""
    few = _FEW_HAN if has_han(question) else _FEW
    if len(text) > _PASTE or len(query_terms(question)) > few or not _anywhere("pointing").search(question):
        return question
    words = re.findall(r"[\w$#./:-]*\w", text)
    named = (word for word in words if len(word) <= 40 and not re.match(r"\d+[-:T.]", word))
    found = dict.fromkeys(word for word in named if is_identifier(word) or re.fullmatch(r"[A-Z]{5,}", word))
    return " ".join([question, *(thing for thing in [*found][:_MOST_THINGS] if thing not in question)])
