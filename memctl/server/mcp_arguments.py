"""What a client may hand to a tool: checked against the tool's schema, with words from which a model can mend its call."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from ..errors import Usage
from .mcp_tools_list import TOOLS, Offered

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

__all__ = ["checked"]


def checked(tool: Offered, given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call, null ones left out; Usage for any that the tool does not know or cannot take."""
    arguments = {name: value for name, value in given.items() if value is not None}
    wrong = min(_validator(tool.name).iter_errors(arguments), key=lambda error: len(error.path), default=None)
    if wrong is not None:
        place = "".join(f"{part}: " for part in wrong.absolute_path)
        raise Usage(f"{place[:100]}{_told(wrong)}", f"{tool.name} takes {', '.join(tool.takes) or 'no arguments'}")
    for name, value in arguments.items():
        if isinstance(value, float):
            if not math.isfinite(value):
                raise Usage(f"{name}: no number", "write one such as 0.9")
            if tool.takes[name].get("type") == "integer":
                arguments[name] = int(value)
    return arguments


def _told(error: Any) -> str:
    """The complaint of the validator; where it would repeat what was sent, only what was expected."""
    if error.validator in ("maxLength", "maxItems"):
        return f"longer than {error.validator_value:,}"
    message: str = error.message
    return message if len(message) <= 300 else f"{error.validator} {error.validator_value!r:.200}"


@cache
def _validator(name: str) -> Draft202012Validator:
    from jsonschema import Draft202012Validator

    schema = next(tool.checked_schema for tool in TOOLS if tool.name == name)
    return Draft202012Validator(schema)
