"""Bracket commands in the reply of a model without tool calling: `[SAVE_FACT key="city" value="Lisbon"]` and its kin.

Models quote badly, so each command is read twice: as it should be written, then by what it can only mean. Markdown that
merely looks alike stays text, and nothing in code, quotes, comments or thinking is a command. A command that does not end is
reported and left where it is. Linear in the text, whatever that is.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from ..facts import grouped
from ..language.words import compiled
from ..markdown.attributes import ATTRIBUTES
from ..markdown.escape import COMMAND, UNSEEN

_IN_REPLIES = [each for each in ATTRIBUTES if each.reply]
COMMANDS = {
    "SAVE_FACT": ("key", "value", "about", "kind", *(each.long for each in _IN_REPLIES if each.name != "key")),
    "GET_FACT": ("key", "about"),
    "SEARCH_MEMORY": ("query", "about", "since"),
    "SAVE_DOC": ("folder", "name", "content", "source"),
    "READ_DOC": ("folder", "name"),
    "ANSWER": ("question", "option"),
}
"""The commands, each with its attributes in the order in which they are usually written."""

_ALIASES = {each.name: each.long for each in _IN_REPLIES} | {
    "entity": "about", "subject": "about", "who": "about", "date": "when",
    "dir": "folder", "path": "folder", "title": "name", "file": "name", "filename": "name", "body": "content",
    "q": "query", "id": "question", "text": "", "": "",
}  # fmt: skip
_TEXT = {
    "SAVE_FACT": "value", "SEARCH_MEMORY": "query", "SAVE_DOC": "content", "GET_FACT": "key", "READ_DOC": "name",
    "ANSWER": "question",
}  # fmt: skip
_MOST_LETTERS = 64 * 1024  # of a command without a document; a longer one was not closed
_MOST_ATTRIBUTES = 16
_MOST_COMMANDS = 1000  # of a reply; more is not a reply any more

_DOUBLE, _SINGLE = '"”“„‟＂″', "'’‘‚‛´`"
_CLOSERS = {
    **dict.fromkeys(_DOUBLE, _DOUBLE + "»"), **dict.fromkeys(_SINGLE, _SINGLE), "«": "»\"”", "‹": "›", "「": "」", "『": "』",
}  # fmt: skip
_STRICT = {'"': '"', "'": "'", "“": "”", "‘": "’", "„": "“", "«": "»", "「": "」", "『": "』", "＂": "＂", "`": "`"}
_OPENING, _CLOSING = r"\[【［", r"\]】］"
_EDGE = r"[\"'“”«»]?"  # a name may be quoted too, as in JSON
_IS = r"\s{0,8}[=＝:：]\s{0,64}"
_NAMES = "|".join(sorted({*_ALIASES, *(name for names in COMMANDS.values() for name in names)} - {""}, key=len)[::-1])
_INSIDE = "this command stands inside another one"
_NEAR = 2000  # characters behind a command in which the end of a single quotation is looked for
_EMOJI = "\ufe0f"  # follows one now and then
_HIDDEN_LETTERS = f"{UNSEEN}\u180b-\u180f\u2800\ufe00-\ufe0e\U0001d173-\U0001d17a"
_DISGUISED = (
    rf"^[-*+>#|\d.)\[\] \t]*[{_HIDDEN_LETTERS}{_EMOJI}]|[{_HIDDEN_LETTERS}][\[【［]|[`~<>!\[【［][{_HIDDEN_LETTERS}{_EMOJI}]"
    rf"|(?:[{_HIDDEN_LETTERS}]|\r(?!\n))[ \t]{{0,8}}[`~<>]|<[^<>\s]{{0,40}}[{_HIDDEN_LETTERS}{_EMOJI}]"
)
_BEGUN = rf"[\s,;，；、](?:{_NAMES})\s{{0,8}}[=＝]\s{{0,8}}[\"'“”«»]"  # another attribute


class Command(NamedTuple):
    """One command at `reply[start:end]`, on `line` of it. With a `problem` it is not to be executed, and stays in the text."""

    name: str
    values: dict[str, str]
    start: int
    end: int
    line: int
    problem: str | None = None


class Reply(NamedTuple):
    """A reply taken apart."""

    text: str  # every byte outside the commands, but for the white space and end of a line that held nothing else
    commands: tuple[Command, ...]  # in order
    ignored: int = 0  # how many stand where nothing is executed, or after the first thousand


_QUOTES = "".join(map(re.escape, sorted({*"".join(_CLOSERS.values())})))
_OPENER = rf"(?<!\\)[{_OPENING}]\s{{0,8}}(?P<name>{COMMAND})(?![\w-])\s{{0,64}}(?:[:：(（{{]\s{{0,64}})?"
_ATTRIBUTE = rf"{_EDGE}(?P<name>[A-Za-z]\w{{0,23}}){_EDGE}{_IS}"  # its name and the sign after it
_GAP = r"\s{0,64}[,;，；、]?\s{0,64}"
_KNOWN = rf"{_GAP}{_EDGE}(?P<name>{_NAMES}){_EDGE}{_IS}"
# What may stand between the last value and the end of the command.
_ENDING = rf"\s{{0,64}}[,;]?\s{{0,8}}(?:[)）}}/]\s{{0,8}})?[{_CLOSING}]"
# What matters within a value that is not quoted as it should be.
_TOKENS = (
    rf"(?P<escaped>\\[\s\S])|(?<!\w)(?P<attribute>(?P<name>{_NAMES}){_IS})|(?P<open>[{_OPENING}])|(?P<close>[{_CLOSING}])"
    rf"|(?P<quote>[{_QUOTES}])|(?P<blank>\n[ \t]{{0,64}}\n)"
)


_compiled = partial(compiled, flags=re.IGNORECASE | re.MULTILINE)


def read_reply(text: str) -> Reply:
    """The commands of a reply, and the reply without them. Never raises."""
    if not any(bracket in text for bracket in "[【［"):
        return Reply(text, ())
    # What a reader sees as code or a quotation might not be one here.
    if _compiled(_DISGUISED).search(text, text[0] == "\ufeff"):
        return Reply(text, (), sum(1 for _ in _compiled(_OPENER).finditer(text)))
    reader = _ReplyReader(text)
    commands = list(reader.commands())
    stray = _stray_end(text, commands)
    for at, command in enumerate(commands):
        if at and command.end <= stray and not command.problem:
            commands[at] = command._replace(values={}, problem=_INSIDE)
    kept, end = [], 0
    for start, following in _cuts(text, [command for command in commands if command.problem is None]):
        kept.append(text[end:start])
        end = following
    return Reply("".join([*kept, text[end:]]), tuple(commands), reader.ignored)


def _stray_end(text: str, commands: Sequence[Command]) -> int:
    """Where a quotation and a bracket end last that no bracket outside of the commands began, or 0: the first command
    held more than it seems, and those after it were quoted in it."""
    depth = found = 0
    for at, end in zip((0, *(c.end for c in commands)), (*(c.start for c in commands), len(text)), strict=True):
        for bracket in _compiled(rf"[{_OPENING}]|[{_QUOTES}]?\s{{0,8}}[{_CLOSING}]").finditer(text, at, max(at, end)):
            if bracket[0] in "[【［":
                depth += 1
            elif depth:
                depth -= 1
            elif bracket[0][0] not in "]】］":
                found = bracket.end()
    return found


def _cuts(text: str, commands: Sequence[Command]) -> Iterator[tuple[int, int]]:
    """What goes with the commands: the rest of a line too, where nothing but commands stands on it."""
    at = 0
    while at < len(commands):
        last = at
        while last + 1 < len(commands) and not text[commands[last].end : commands[last + 1].start].strip(" \t"):
            last += 1
        start, end = commands[at].start, commands[last].end
        while start and text[start - 1] in " \t":
            start -= 1
        while end < len(text) and text[end] in " \t\r":
            end += 1
        if (start == 0 or text[start - 1] == "\n") and (end == len(text) or text[end] == "\n"):
            yield start, min(len(text), end + 1)
        else:
            yield from ((command.start, command.end) for command in commands[at : last + 1])
        at = last + 1


class _ReplyReader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._openers = list(_compiled(_OPENER).finditer(text))
        self._starts = [match.start() for match in self._openers]
        # Where a command begins right behind the end of another, the one before must have ended.
        closing = tuple("]】］")
        self._hard = [start for start in self._starts if text[max(0, start - 64) : start].rstrip().endswith(closing)]
        self._closers: dict[str, list[int]] = {}
        self._is_open = False  # the command that was read last began a quotation that did not end
        self.ignored = 0

    def commands(self) -> Iterator[Command]:
        if not self._openers:
            return
        unread, quotes = _Unread(self._text), _Quotes(self._text)
        at, line, counted = _thought_before(self._text), 1, 0
        self.ignored = bisect_left(self._starts, at)
        number = self.ignored
        read, inside = 0, False
        while number < len(self._openers) and read < _MOST_COMMANDS:
            opener = self._openers[number]
            hidden = unread.first(at, opener.start())
            if hidden:
                at = hidden[1]
                quotes.skip(*hidden)
                before, number = number, bisect_left(self._starts, at, lo=number)
                self.ignored += number - before
                continue
            self._is_open = False
            found = self._command(opener)
            if found and quotes.skip(found.start, found.end) and not found.problem:
                self.ignored, found = self.ignored + 1, None
            at = found.end if found else opener.end()
            if found:
                found = found._replace(values={}, problem=found.problem or _INSIDE) if inside else found
                read, inside = read + 1, inside or self._goes_on(found, number)
                line, counted = line + self._text.count("\n", counted, found.start), found.start
                yield found._replace(line=line)
            number = bisect_left(self._starts, at, lo=number + 1)
        self.ignored += len(self._openers) - number

    def _goes_on(self, command: Command, number: int) -> bool:
        """True after a command whose end is not certain: what follows may be a part of it."""
        if command.problem is None:
            return self._is_open
        rest = self._text[command.start : self._starts[number + 1] if number + 1 < len(self._starts) else None]
        return len(re.findall(r'(?<!\\)["“”«»]', rest)) % 2 > 0 or not re.search(r"\n[ \t]*\n", rest)

    def _command(self, opener: re.Match[str]) -> Command | None:
        """The command that begins here; None where it only looks like one."""
        text, start = self._text, opener.start()
        name = _name(opener["name"])
        attribute = _compiled(_ATTRIBUTE).match(text, opener.end())
        bare = attribute is None or _attribute_name(name, attribute) not in COMMANDS[name]
        if bare and not self._may_be_bare(name, opener):
            return None
        limit = self._limit(name, start)
        read = (None if bare else self._strict(name, opener.end())) or self._lenient(name, opener.end(), limit, bare)
        if read is None:
            cut = limit == len(text)
            problem = "the reply ends inside this command" if cut else "this command has no closing bracket"
            end = limit if name == "SAVE_DOC" else opener.end()
            return Command(name, {}, start, end, 0, problem)
        values, end = read
        if self._is_link(start, end, bare):
            return None
        return Command(name, values, start, end, 0)

    def _may_be_bare(self, name: str, opener: re.Match[str]) -> bool:
        """True where a value may stand without its attribute: `[GET_FACT city]`, `[SEARCH_MEMORY "why not MongoDB?"]`."""
        rest = self._text[opener.end() : opener.end() + 1]
        if not rest:
            return True  # cut off
        spelled = re.fullmatch(r"\w+", opener["name"]) and not opener["name"].isalpha()
        if not spelled or rest in "]】］":
            return False
        return rest in _CLOSERS or (name in ("GET_FACT", "SEARCH_MEMORY", "READ_DOC") and rest != "(")

    def _limit(self, name: str, start: int) -> int:
        """How far a command may go: a document over others that stand in it, anything else up to the next one."""
        is_document = name == "SAVE_DOC"
        starts = self._hard if is_document else self._starts
        at = bisect_left(starts, start + 1)
        following = starts[at] if at < len(starts) else len(self._text)
        return following if is_document else min(following, start + _MOST_LETTERS)

    def _is_link(self, start: int, end: int, bare: bool) -> bool:
        """True for `[…](target)`, `![…]`, and where a value stands alone for `[…][1]` and `[…]: target` too."""
        if self._text[max(0, start - 2) : start] == "![":
            return True
        if self._text[end : end + 1] not in "([:" and self._text[start - 1 : start] != "!":
            return False
        rest = self._text[end : end + 2000]
        if self._text[start - 1 : start] == "!" or re.match(r"\((?:[a-z]+:|[./#]|[\w-]+\.\w)[^\s()]*\)", rest):
            return True
        is_target = bare and re.match(r"\([^\s()]*\)|\[[^\]\s]{1,40}\]|:\s", rest)
        return bool(is_target) and not _compiled(_OPENER).match(rest)

    def _strict(self, name: str, at: int) -> tuple[dict[str, str], int] | None:
        """The values and the end of a command in which every value is quoted as it should be."""
        values: dict[str, tuple[int, int]] = {}  # cut out at the end: many commands may fail on one long value
        for _ in range(_MOST_ATTRIBUTES):
            attribute = _compiled(_ATTRIBUTE).match(self._text, at)
            closer = _STRICT.get(self._text[attribute.end() : attribute.end() + 1]) if attribute else None
            if attribute is None or closer is None:
                return None
            key, begin = _attribute_name(name, attribute), attribute.end() + 1
            close = self._closer(closer, begin)
            if close is None or key in values or not self._is_sound(key, begin, close):
                return None
            values[key] = begin, close
            ending = _compiled(_ENDING).match(self._text, close + 1)
            if ending:
                return {name: _unescaped(self._text[a:b], name) for name, (a, b) in values.items()}, ending.end()
            gap = _compiled(_GAP).match(self._text, close + 1)
            at = gap.end() if gap else close + 1
        return None

    def _closer(self, closer: str, start: int) -> int | None:
        """Where such a quotation mark, or another text, stands first from `start` on; it is looked for once only."""
        if closer not in self._closers:
            wanted = _BEGUN if closer == _BEGUN else re.escape(closer)
            pattern = re.compile(rf"\\[\s\S]|(?P<closer>{wanted})", re.IGNORECASE)
            self._closers[closer] = [m.start() for m in pattern.finditer(self._text) if m["closer"]]
        found = self._closers[closer]
        at = bisect_left(found, start)
        return found[at] if at < len(found) else None

    def _is_sound(self, key: str, start: int, end: int) -> bool:
        """False for a value that swallowed what comes after it: an attribute, a paragraph, a command on another line."""
        if key == "content":
            return True
        if end - start > _MOST_LETTERS or any((self._closer(each, start) or end) < end for each in ("\n\n", _BEGUN)):
            return False
        at = bisect_left(self._starts, start)
        swallows = at < len(self._starts) and self._starts[at] < end
        return not swallows or (self._closer("\n", start) or end) >= end

    def _lenient(self, name: str, at: int, limit: int, bare: bool) -> tuple[dict[str, str], int] | None:
        """The values and the end of a command whose quotation is broken; None if it does not end before `limit`."""
        values: dict[str, str] = {}
        while at < limit:
            key = _TEXT[name]
            if not bare:
                attribute = _compiled(_KNOWN).match(self._text, at, limit)
                if attribute is None:
                    return None
                key, at = _attribute_name(name, attribute), attribute.end()
            bare = False
            left = {*COMMANDS[name]} - {*values, key}
            found = self._value(name, key, left, at, limit)
            if found is None:
                return None
            begin, close, end, ended = found
            value = self._text[begin:close].strip()
            if end == close:  # nothing but the next attribute ended it
                value = value.rstrip(" ,;，；、")
            values.setdefault(key, _unescaped(value, key))
            if ended:
                return values, end
            at = end
        return None

    def _value(
        self, name: str, key: str, left: Collection[str], at: int, limit: int
    ) -> tuple[int, int, int, bool] | None:
        """One value: where it begins and ends, where to go on, and whether the command ends there.

        Where no token ends it for certain, a closing bracket did: behind a quotation mark, else one outside of any pair.
        """
        text, is_document = self._text, key == "content"
        closers = _CLOSERS.get(text[at : at + 1], "")
        begin, depth = at + bool(closers), 0
        unbalanced: tuple[int, int, int, bool] | None = None
        unquoted: tuple[int, int, int, bool] | None = None
        for token in _compiled(_TOKENS).finditer(text, begin, limit):
            kind, start, end = token.lastgroup, token.start(), token.end()
            if kind == "blank" and not is_document:
                break
            if kind == "open":
                depth += 1
            elif kind == "close":
                if not depth and not closers:
                    return begin, start, end, True
                if not depth and (
                    unquoted is None
                    or (is_document and text[unquoted[2] : unquoted[2] + 64].partition("\n")[0].strip())
                ):
                    unquoted = begin, start, end, True
                depth = max(0, depth - 1)
            elif kind == "quote" and token[0] in closers:
                if ending := _compiled(_ENDING).match(text, end):
                    if not depth:
                        return begin, start, ending.end(), True
                    if is_document or unbalanced is None:
                        unbalanced = begin, start, ending.end(), True
                elif (after := _compiled(_KNOWN).match(text, end, limit)) and _attribute_name(name, after) in left:
                    return begin, start, end, False
            elif (  # the next attribute begins, and the quotation mark before it is missing
                kind == "attribute"
                and text[start - 1] in " \t\n,;,；，、"
                and (not closers or (not is_document and text[end : end + 1] in _CLOSERS))
                and _attribute_name(name, token) in left
            ):
                return begin, start, start, False
        self._is_open = unbalanced is None and unquoted is not None
        return unbalanced or unquoted


def _name(spelled: str) -> str:
    letters = re.sub(r"[^A-Z]", "", spelled.upper())
    return next(name for name in COMMANDS if name.replace("_", "") == letters)


def _attribute_name(command: str, attribute: re.Match[str]) -> str:
    """The name of an attribute of a command, whatever it is called there."""
    low = attribute["name"].lower()
    if low in COMMANDS[command]:
        return low
    return _TEXT[command] if low == "text" else _ALIASES.get(low, low)


def _unescaped(value: str, key: str) -> str:
    """A value without the backslashes before its quotation marks. In a document on one line, `\\n` ends a line."""
    if "\\" not in value:
        return value
    if key == "content" and "\n" not in value and not re.search(r"(?<![A-Za-z])[A-Za-z]:\\|\\\\\w", value):
        value = re.sub(r"(?:\\r)?\\n", "\n", value).replace("\\t", "\t")
    return re.sub(r"\\([\"'“”‘’«»\[\]【】])", r"\1", value)


# -- where nothing is a command ---------------------------------------------------------------------------------------

_THINKING = r"think|thinking|thought|thoughts|reasoning|reflection|scratchpad|analysis"

_TAG = r"[^\W\d_][\w:.-]{0,40}"
# Tags in which a model answers. In any other pair of tags stands what it was given, in these to the last or the end.
_ANSWERS = r"answer|final(?:_answer)?|response|reply|output|message|p|div|span|b|i|u|em|strong|a|ul|ol|li|table|tr|td|th|h[1-6]|br|hr"
_GIVEN = (
    r"(?:[\w.-]{0,20}:)?(?:(?:memor|tool|function|search|web|recall|retriev)\w*|(?:core|result|document|context|observation|source|quote"
    r"|page|passage|chunk|snippet|stdout|system|email)s?(?:[\W_]|$))"
)
_PARAGRAPH_END = r"(?=\n[ \t]*(?:\n|\Z))"
# Of a chat template: where one begins a turn that is not the model's, others speak.
_TOKEN = r"<[|｜][^|｜<>\n]{1,40}[|｜]>"
_MODEL = r"(?:assistant|model|final)"

# Marks of other languages than Markdown between which stands what somebody else said, and what ends each.
_TOLD = (
    (r"\[(?:quote|code|inst|tool_results)\b[^\]\n]{0,80}\]", r"\[/(?:quote|code|inst|tool_results)\]"),
    (r"\\begin\{(?:verbatim|lstlisting|minted|quote|quotation)\*?\}", r"\\end\{"),
    (r"^:::+[ \t]*[\w{][^\n]*$", r"^:::+[ \t]*$"),
    (r"^'''[ \t]*$", r"^'''[ \t]*$"),
    (r"^#\+begin_\w[^\n]*$", r"^#\+end_"),
    (r"<!\[CDATA\[", r"\]\]>"),
    (rf"(?<!assistant)(?<!model)(?<!final)(?!<[|｜](?:begin_of|/?think|assistant)){_TOKEN}(?!{_MODEL})|<start_of_turn>(?!model)",
     rf"{_MODEL}(?:{_TOKEN}|\n)|<[|｜]assistant[|｜]>"),
    (r"^(?:observation|(?:tool|function|search|web)(?:[ _-]?(?:result|output|response))?s?|user|human|system)[ \t]*[:：]", _PARAGRAPH_END),
)  # fmt: skip

# What may begin such a part.
_HIDING = (
    r"^[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]{1,4})?(?:(?P<fence>`{3,})[^`\n]*$|(?P<tildes>~{3,})[^\n]*$)"
    r"|(?P<quote>^(?:[^\S\n]|\ufeff|(?:[-*+]|#{1,6}|\d{1,9}[.)]|\[[ xX]?\])[^\S\n]|[*_]{2,3}(?=[>＞]))*(?:[>＞﹥›»❯|｜]|&gt;|\[\^[^\]\n]{1,40}\]:))"
    r"|(?P<indented>(?:\A|^[ \t]*\n|(?<=```|~~~)\n|^ {0,3}(?:#{1,6}[ \t][^\n]*|[-*_=]{3,}[ \t]*)\n)(?: {4}| {0,3}\t)[^\n]*"
    r"|^[ \t]*(?:[-*+]|\d{1,9}[.)]) {5}[^\n]*)|(?P<ticks>`+)"
    rf"|(?P<told>{'|'.join(begin for begin, _ in _TOLD)})"
    rf"|(?P<comment><!--)|<(?P<think>{_THINKING})\b[^<>]{{0,200}}>"
    rf"|(?:[<＜]|&lt;)(?!(?:{_ANSWERS})[\s>/])(?P<whole>{_TAG})(?=[\s>＞/&])[^<>＜＞]*(?:[>＞])?"
    rf"|[\[【](?!(?:{_ANSWERS}|{COMMAND})\b)(?P<boxed>{_TAG})[^\[\]【】]*[\]】]"
)
_THINK_END = rf"</({_THINKING})\s{{0,8}}>"


def _thought_before(text: str) -> int:
    """Where the answer begins if the reply starts amid its thinking, as when a template has put `<think>` before it; or 0."""
    end = _compiled(_THINK_END).search(text)
    if end is None or text[max(0, end.start() - 1) : end.start()] == "`":
        return 0
    opened = _compiled(rf"<(?:{_THINKING})\b[^<>]{{0,200}}>").search(text, 0, end.start())
    return 0 if opened else end.end()


_OPENS, _CLOSES, _ALWAYS = "“„‟«‹「『《〈‘", "”»›」』》〉’", "「」『』《》〈〉"
_BEFORE, _BEHIND = "([{<—–-:：,，;；=/*_~`|（【", ")]}>.,;:!?。，；：！？、…*_~`|）】"  # what stands around a quotation
_MARK = rf"[{_OPENS}{_CLOSES}\"＂']|[{_OPENING}{_CLOSING}]|\n(?:[ \t]*\n)?"
# A mark that may end a quotation, and does not end a value of a command.
_LAST = rf"[\"＂{_OPENS[:-1]}{_CLOSES[:-1]}](?!\s{{0,8}}[{_CLOSING}]|\s{{1,8}}\w{{1,24}}\s{{0,8}}[=＝])"


class _Quotes:
    """Follows quotation marks and brackets from left to right: what stands in them is told, not given."""

    def __init__(self, text: str) -> None:
        self._text, self._at, self._double, self._single, self._boxes = text, 0, 0, 0, 0
        self._last = max((found.start() for found in _compiled(_LAST).finditer(text)), default=-1)

    def skip(self, start: int, end: int) -> bool:
        """True if text[start:end] stands between such marks; those in it do not count."""
        for mark in _compiled(_MARK).finditer(self._text, self._at, max(start, self._at)):
            self._count(mark)
        self._at = max(self._at, end)
        near = self._text[end : end + _NEAR]
        return (
            (self._double > 0 and self._last >= end)
            or (self._single > 0 and bool(re.search(r"(?<!\s)['’](?!\w)", near.partition("\n\n")[0])))
            or (self._boxes > 0 and bool(re.match(rf"[^\n{_OPENING}{_CLOSING}]*[{_CLOSING}]", near)))
        )

    def _count(self, mark: re.Match[str]) -> None:
        char, text = mark[0], self._text
        before, behind = text[mark.start() - 1 : mark.start()], text[mark.end() : mark.end() + 1]
        if char[0] == "\n":
            self._boxes, self._single = 0, self._single if char == "\n" else 0
        elif char in "[【［]】］":
            step = (not behind or behind not in "[【［") if char in "[【［" else -1
            self._boxes = max(0, self._boxes + step)
        else:
            left = not before or before.isspace() or before in _BEFORE
            right = not behind or behind.isspace() or behind in _BEHIND
            if left == right or char in _ALWAYS:
                left = char in _OPENS or (char in '"＂' and not self._double)
                right = not left and (char not in "'’" or not behind.isalnum())
            if char in "'‘’":
                self._single = self._single + 1 if left else max(0, self._single - right)
            elif left and text[mark.start() - 2 : mark.start()] == "\n\n":  # the same one goes on
                self._double = 1
            else:
                self._double = max(0, self._double + (1 if left else -1))


class _Unread:
    """Finds those parts from left to right; all lookups together take time in proportion to the text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._ticks = self._ends("(`+)")
        self._tags = self._ends(rf"(?:[<＜\[【]|&lt;)/({_TAG})\s{{0,8}}(?:[>＞\]】]|&gt;)")
        self._blank = [found.start() for found in re.finditer(r"\n[ \t]*(?=\n)", text)]
        closing = _compiled(r"^[ \t]*(`{3,}|~{3,})[ \t]*$")
        self._fences = [(found.start(), found.end(), found[1]) for found in closing.finditer(text)]

    def _ends(self, pattern: str) -> dict[str, list[int]]:
        """Where the matches of a pattern end, by what its group says."""
        return grouped((found[1].lower(), found.end()) for found in _compiled(pattern).finditer(self._text))

    def first(self, start: int, end: int) -> tuple[int, int] | None:
        """The first such part that begins in [start, end), as a span, which may go on beyond `end`."""
        while start < end and (match := _compiled(_HIDING).search(self._text, start, end)):
            close = self._close(match)
            if close is not None:
                return match.start(), close
            start = max(match.end(), start + 1)
        return None

    def _close(self, match: re.Match[str]) -> int | None:
        """Where the part that begins with `match` ends, at the end of the text if nothing ends it; None if nothing begins there."""
        text, end = self._text, match.end()
        ending = "-->"
        if match["fence"] or match["tildes"]:
            line_end = text.find("\n", end)  # where the search was to end, `$` took that for the end of a line
            line_end = len(text) if line_end < 0 else line_end
            if match["tildes"] or "`" not in text[end:line_end]:
                return self._fence_end(line_end, match["fence"] or match["tildes"])
        if match["ticks"] or match["fence"]:
            kind = "ticks" if match["ticks"] else "fence"
            return self._code_end(match.start(kind), match[kind])
        if match["whole"] or match["boxed"]:
            return self._tag_end(end, (match["whole"] or match["boxed"]).lower(), bool(match["whole"]))
        if match["quote"] or match["indented"]:
            ending = _PARAGRAPH_END if match["quote"] else r"(?=\n(?! {4}| {0,3}\t|[ \t]*\n))"
        elif match["told"]:
            ending = next(closing for opening, closing in _TOLD if _compiled(opening).fullmatch(match["told"]))
        elif match["think"]:
            ending = rf"</{match['think'].lower()}\s{{0,8}}>"
        found = _compiled(ending).search(text, end)
        return found.end() if found else len(text)

    def _fence_end(self, start: int, marks: str) -> int:
        """A fence that is not closed goes on to the end of the text."""
        for at in range(bisect_left(self._fences, (start, 0, "")), len(self._fences)):
            _, end, found = self._fences[at]
            if found[0] == marks[0] and len(found) >= len(marks):
                return end
        return len(self._text)

    def _code_end(self, start: int, marks: str) -> int | None:
        """Inline code ends with a run of as many backticks, in the same paragraph."""
        ends = self._ticks.get(marks, [])
        at, gap = bisect_right(ends, start + len(marks)), bisect_left(self._blank, start)
        if at == len(ends) or (gap < len(self._blank) and self._blank[gap] < ends[at] - len(marks)):
            return None
        return ends[at]

    def _tag_end(self, start: int, name: str, is_tag: bool) -> int | None:
        """The end of what stands between tags, as code or as what a model was given: its commands are somebody else's."""
        ends = self._tags.get(name, [])
        given = is_tag and _compiled(_GIVEN).match(name)
        at = len(ends) - 1 if given and ends else bisect_left(ends, start)
        if at < len(ends) and ends[at] > start:
            return ends[at]
        return len(self._text) if given else None
