"""What HTTP and MCP take, one model a request, and what they answer; the JSON Schemas of both follow from here.

A request that the two take with different bounds has a model each, over one that holds what they share; what a tool alone takes
stands beside it in mcp_tools.py. At the end, how both forget.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, create_model

from ..errors import MemctlError, NothingFound, Refused, Usage
from ..facts import fields
from ..hits import HIT
from ..markdown.attributes import ATTRIBUTES, FILTERS, ORIGIN, Attribute, QueryFilter
from ..markdown.escape import one_line, printable

if TYPE_CHECKING:
    from ..memory import Forgetting, Memory

Schema = Mapping[str, Any]


_Several = BeforeValidator(lambda value: [value] if isinstance(value, str) else value)  # one name is a list of one
Text = Annotated[str, Field(max_length=1000)]
Message = Annotated[str, Field(max_length=200_000)]
Line = Annotated[str, Field(min_length=1, max_length=16_000)]
Name = Annotated[str, Field(min_length=1, max_length=200)]
Names = Annotated[list[Name], _Several, Field(max_length=50)]
Texts = Annotated[list[Text], _Several, Field(max_length=50)]
# `3.0` is a whole number in JSON.
Whole = Annotated[int, BeforeValidator(lambda n: int(n) if isinstance(n, float) and n.is_integer() else n)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Kind = Literal["world", "experience", "opinion", "observation"]
AnyKind = Literal["world", "experience", "opinion", "observation", "note"]
WHEN = '30d, 2025-11, "last week"'


def optional(description: str | None = None, **bounds: Any) -> Any:
    """A parameter that may be left out; `description` is None where its name says it all."""
    return Field(default=None, description=description, **bounds)


# -- what is taken ----------------------------------------------------------------------------------------------------


class Parameters(BaseModel):
    """Parameters of a call; unknown ones are refused."""

    model_config = ConfigDict(extra="forbid", strict=True)


class _Recall(Parameters):
    query: Annotated[str, Field(max_length=32_000)] = optional("Words, any language; also path:bank/ heading:X")
    history: bool = optional("Older versions too")
    hops: Whole = optional("2-3: also lines related by names", ge=1, le=3)


def _filter(which: QueryFilter, description: str) -> tuple[Any, Any]:
    """A filter of recall as a parameter."""
    kinds: dict[str, Any] = {"share": Share, "name": Names, "kind": Annotated[list[AnyKind], Field(max_length=5)]}
    return kinds.get(which.value, Text), optional(description or None)


_RECALL_TOOL: dict[str, Any] = {each.parameter: _filter(each, each.tool) for each in FILTERS if each.tool is not None}
_RECALL_TOOL |= {
    "k": (Whole, optional(ge=1, le=50)),
    "budget": (Whole, optional("Most tokens, filled without k [1500]", ge=100, le=20_000)),
}
RecallTool = create_model("RecallTool", __base__=_Recall, **_RECALL_TOOL)  # the parameters of the tool recall
_RECALL_BODY: dict[str, Any] = {each.parameter: _filter(each, each.help) for each in FILTERS}
_RECALL_BODY |= {
    "query": (Message, optional("Words; also @Name, #tag, kind:opinion, since:30d, key:db. Without: the newest.")),
    "k": (Whole, optional("How many hits at most [default: as many as fit into `budget`, without one as in memctl.toml].", ge=1, le=1000)),
    "budget": (Whole, optional("Never more than that many tokens.", ge=1, le=10_000_000)),
    "per_page": (Whole, optional("Hits of one document at most [1]; 0: all of its lines.", ge=0, le=1000)),
    "vectors": (bool, optional("False: by words only.")),
    "explain": (bool, optional("How each score came about.")),
    "in_": (Names, optional("Workspaces of shared memory to ask instead, or all.", alias="in")),
}  # fmt: skip
RecallRequest = create_model("RecallRequest", __base__=_Recall, **_RECALL_BODY)  # the body of /v1/recall


class ShowRequest(Parameters):
    """The body of /v1/show."""

    ref: Annotated[Text, Field(min_length=1)] = Field(description="path#L12, an id, an entity or a page.")
    context: Whole = optional("Lines around it [3].", ge=0, le=1000)


class ContextRequest(Parameters):
    """The body of /v1/context."""

    message: Message = optional("The newest message.")
    budget: Whole = optional("Tokens [default: as in memctl.toml].", ge=1, le=10_000_000)
    about: Names = optional("Names")
    since: Text = optional(WHEN)


class MessageRequest(Parameters):
    """The body of /recall."""

    text: Message = Field(description="A message, as it was said.")
    k: Whole = optional("How many lines at most [default: as in memctl.toml].", ge=1, le=1000)
    hops: Whole = optional("2 or 3: also what these lead to by the names they share.", ge=1, le=3)


class ExchangeRequest(Parameters):
    """The body of /ingest."""

    user_msg: Annotated[str, Field(max_length=1_000_000)] = Field(description="Plain text.")
    assistant_msg: Annotated[str, Field(max_length=1_000_000)] = Field(description="Plain text.")


class IngestRequest(ExchangeRequest):
    """The body of /v1/ingest."""

    dry_run: bool = optional()


class ForgetRequest(Parameters):
    """The path and the query of DELETE /v1/facts/{id}."""

    id: Name
    confirm: Text = optional("What the same request without it answered. Without: nothing is deleted.")


class AnswerTool(Parameters):
    """The parameters of the tool answer."""

    id: Name
    option: Name = Field(description="Key of an option")
    text: Annotated[str, Field(max_length=8000)] = optional("With y: the line, better worded")


class AnswerRequest(AnswerTool):
    """The body of /v1/answer."""

    dry_run: bool = optional("Write nothing; the answer says what would be written.")


class StoreRequest(Parameters):
    """The body of /store."""

    text: Line = Field(description="A full grammar line, or plain text.")
    source: Text = optional("agent, tool, web, import; or with :name [agent]. The last three are untrusted.")


class _Retain(Parameters):
    text: Annotated[str, Field(max_length=8000)] = Field(
        description="Plain, or a grammar line: O(c=0.9) @Peter: Prefers short replies"
    )
    kind: Kind = optional()
    about: Names = optional()


def _parameter(attribute: Attribute, description: str) -> tuple[Any, Any]:
    """An attribute of the grammar as a parameter."""
    kind: Any = Literal[attribute.words] if attribute.words else Texts if attribute.many else Text
    kind = bool if attribute.shape == "flag" else Share if attribute.shape == "share" else kind
    return kind, optional(description or None, **({"pattern": f"^{ORIGIN}$"} if attribute.name == "src" else {}))


_TOOL: dict[str, Any] = {each.long: _parameter(each, each.tool) for each in ATTRIBUTES if each.tool is not None}
_BODY: dict[str, Any] = {each.long: _parameter(each, each.help) for each in ATTRIBUTES if each.name != "sealed"}
_TOOL |= {"dry_run": (bool, optional())}
_BODY |= {
    "text": (Line, Field(description="A full grammar line, or plain text.")),
    "date": (Text, optional("The log's day [default: today].")),
    "dry_run": (bool, optional("Write nothing; the answer says which line would be written where.")),
}
RetainTool = create_model("RetainTool", __base__=_Retain, **_TOOL)  # the parameters of the tool retain
RetainRequest = create_model("RetainRequest", __base__=_Retain, **_BODY)  # the body of /v1/retain


def read_request(model: type[Parameters], given: Mapping[str, Any], cure: str) -> dict[str, Any]:
    """The parameters that were sent; Usage for the first that is unknown, missing or out of bounds."""
    try:
        return model.model_validate(given).model_dump(exclude_unset=True, by_alias=True)
    except ValidationError as error:
        every = error.errors(include_url=False, include_context=False, include_input=False)
        wrong = min(every, key=lambda each: len(each["loc"]))
        where = printable(one_line(".".join(map(str, wrong["loc"]))))[:100]
        what = {"extra_forbidden": "unknown parameter", "missing": "missing"}.get(wrong["type"], wrong["msg"])
        raise Usage(f"{where}: {what}" if where else what, cure) from None


_FLAG = re.compile(r"(?<![\w-])--([a-z][a-z-]*)")
_SERVED = re.compile(r"`memctl (recall|review)`")  # commands that are tools and routes too


def in_callers_words(error: MemctlError, takes: type[Parameters] | None = None) -> tuple[str, str]:
    """What happened and what to do, as somebody reads it who has parameters and no command line: flags by the names of these, or not at all."""
    names = takes.model_fields if takes else {}
    parts = (part for part in _SERVED.sub(r"\1", error.cure).split("; ") if "`memctl " not in part)
    kept = [part for part in parts if all(_parameter_of(flag, names) for flag in _FLAG.findall(part))]
    cure = parameters_for_flags("; ".join(kept), names).removeprefix("or ")
    owner = "ask the owner, who has commands for it"
    instead = f"it takes {', '.join(names)}" if names and isinstance(error, Usage) else owner
    return one_line(parameters_for_flags(error.what, names)), one_line(cure) or instead


def parameters_for_flags(text: str, names: Collection[str]) -> str:
    """A text with parameters where it names flags: as_of for --as-of, ids for --id."""
    return _FLAG.sub(lambda match: _parameter_of(match[1], names) or match[1].replace("-", "_"), text)


def _parameter_of(flag: str, names: Collection[str]) -> str | None:
    name = flag.replace("-", "_")
    return next((each for each in (name, f"{name}s") if each in names), None)


_BOUNDS = ("maxLength", "minLength", "maxItems", "pattern")  # not worth a model's tokens: a refusal tells them


def schema_of(model: type[Parameters], brief: bool = False) -> dict[str, Any]:
    """The JSON Schema of a request, without titles and null defaults; `brief` without bounds of texts too."""
    left_out = {"title", "default", *(_BOUNDS if brief else ())}
    made = model.model_json_schema()
    fields = {name: _lean(field, left_out) for name, field in made.get("properties", {}).items()}
    required = {"required": made["required"]} if "required" in made else {}
    return {"type": "object", "properties": fields, "additionalProperties": False, **required}


def _lean(schema: Mapping[str, Any], left_out: set[str]) -> dict[str, Any]:
    kept = {name: value for name, value in schema.items() if name not in left_out}
    if "enum" in kept:
        kept.pop("type", None)
    return kept | ({"items": _lean(kept["items"], left_out)} if "items" in kept else {})


# -- what is answered -------------------------------------------------------------------------------------------------


def answer_schema(**fields: str | Schema) -> dict[str, Any]:
    """The schema of an answer: a type by its name (a `hit` and a `period` too), `*` for a list, `?` for what may be null; `-` for what may be left out.

    Keys are only ever added, so more of them are allowed.
    """
    made, needed = {}, []
    for name, told in fields.items():
        if not isinstance(told, str):
            made[name] = told
        else:
            word = told.rstrip("-?*")
            one = _NAMED.get(word) or {"type": [word, "null"] if "?" in told else word}
            made[name] = list_of(one) if "*" in told else one
        if not (isinstance(told, str) and told.endswith("-")):
            needed.append(name)
    return {"type": "object", "properties": made, "required": needed}


def list_of(items: Schema) -> dict[str, Any]:
    """The schema of a list."""
    return {"type": "array", "items": items}


ONE: Schema = {"const": 1}
_NAMED: dict[str, Schema] = {}
_NAMED.update(period=answer_schema(**{"from": "string?", "to": "string?"}))
_NAMED.update(hit=answer_schema(**{key: kind for key, (kind, _) in HIT.items()}))
ANSWER = answer_schema(
    schema=ONE, query="string", as_of="string?", stale="boolean", warnings="string*", took_ms="number", hits="hit*"
)
PASSAGE = answer_schema(source="string", id="string?", first="integer", lines="string*")
PASSAGES = answer_schema(schema=ONE, passages=list_of(PASSAGE))
_QUESTION = answer_schema(
    id="string", kind="string", text="string", about="string*", sides="hit*", why="string",
    rule="string?", tier="string", precision="number?", cases="integer?",
    options=list_of(answer_schema(key="string", text="string")),
)  # fmt: skip
OFFERS = list_of(answer_schema(**dict.fromkeys(("question", "newer", "reason", "id", "source", "content"), "string")))
QUESTIONS = answer_schema(schema=ONE, questions=list_of(_QUESTION), waiting="integer")
ANSWERED = answer_schema(
    schema=ONE, dry_run="boolean", id="string", option="string", source="string?", line="string", warnings="string*"
)
PACK = answer_schema(
    schema=ONE, text="string", stable="string", recalled="string", budget="integer", used="integer", layers="object",
    warnings="string*", items=list_of(answer_schema(layer="string", id="string", content="string", source="string")),
)  # fmt: skip
_FORGOTTEN_LINE = answer_schema(id="string", source="string", kind="string", reason="string")
FORGOTTEN = answer_schema(
    schema=ONE, applied="boolean", confirm="string?", warnings="string*", lines=list_of(_FORGOTTEN_LINE)
)
ERROR = answer_schema(error="string", cure="string", code="integer-")

# -- forgetting: first what would go and a word for exactly that, then with this word ----------------------------------

_MOST = 100  # lines that a person can look through before they say yes


def forget_confirmed(memory: Memory, confirm: str | None = None, **selectors: Any) -> dict[str, Any]:
    """What would be forgotten, with the `confirm` that stands for exactly that; with this word, what was.

    Private lines are as if they were not there. NothingFound; Refused for too many lines, for another `confirm`, and for a
    line with a private twin, which only the owner can tell apart.
    """
    planned = memory.public().forget(**selectors)
    lines = planned.lines
    if not lines:
        raise NothingFound("nothing to forget", "look with recall, and name lines by their ids")
    if len(lines) > _MOST:
        raise Refused(f"{len(lines)} lines at once", "narrow it down, with before or ids")
    told = [repr(sorted(selectors.items())), *(f"{line.ref} {line.citation}" for line in lines)]
    token = f"forget-{len(lines)}-{hashlib.sha256(json.dumps(told).encode()).hexdigest()[:12]}"
    if confirm is None:
        return _as_json(planned, token)
    if confirm != token:
        raise Refused("the lines to forget have changed since this confirm", "call without confirm and look again")
    ids = list(dict.fromkeys(line.ref for line in lines))
    if [line.citation for line in memory.forget(ids=ids).lines] != [line.citation for line in lines]:
        raise Refused("only the owner may forget one of these", "ask them to run `memctl forget`")
    return _as_json(memory.forget(ids=ids, apply=True), None)


def _as_json(done: Forgetting, token: str | None) -> dict[str, Any]:
    rows = [fields(line, "id=ref source=citation kind reason") for line in done.lines]
    return {"schema": 1, "applied": token is None, "confirm": token, "lines": rows, "warnings": list(done.warnings)}
