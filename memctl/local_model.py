"""Models of this machine: a language model behind an OpenAI-compatible URL, and a cross-encoder for inference in a folder.

The first is asked on this machine only, with no proxy, no redirect, one total time; the second is never downloaded.

What the first answers is a stranger's text: its size is capped, its JSON is read here, and what stands in it is checked by those
who ask, ingest and review. Everything that can go wrong is one `NoAnswer` with a reason.
"""

from __future__ import annotations

import http.client
import importlib
import ipaddress
import json
import math
import re
import socket
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from .errors import ExtraMissing, Usage

_MAX_ANSWER = 1 << 20  # bytes
_MAX_VECTORS = 4 << 20  # of sixteen vectors of 4,096 numbers, each with all its digits


class NoAnswer(Exception):
    """The model gave nothing that can be used; the text says why, in a few words."""


class Endpoint(NamedTuple):
    """Where a model listens: a loopback address that was looked up once, and the path of its API."""

    family: int
    address: tuple[Any, ...]
    host: str
    path: str


def endpoint(url: str) -> Endpoint:
    """The loopback address behind a URL. NoAnswer for another machine, another scheme, or a name that leads off this one."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port or 80
    except ValueError as error:
        raise NoAnswer(f"not a URL ({error})") from error
    if parts.scheme != "http" or not host or parts.username is not None:
        raise NoAnswer("the URL is not of the form http://127.0.0.1:PORT/v1")
    if host != "localhost" and not _is_loopback(host):
        raise NoAnswer(f"{host[:80]} is not this machine; only 127.0.0.0/8, ::1 and localhost are asked")
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise NoAnswer(f"{host[:80]} is not known: {error.strerror or error}") from error
    # `localhost` means what the machine says it means; a hosts file that leads elsewhere is not followed.
    for family, _, _, _, address in sorted(found, key=lambda each: each[0] != socket.AF_INET):
        if _is_loopback(str(address[0])):
            return Endpoint(family, address, parts.netloc, parts.path.rstrip("/"))
    raise NoAnswer(f"{host[:80]} leads to another machine")


def shown_url(url: str) -> str:
    """A URL as a warning may show it: its beginning, without what stands before an @."""
    return re.sub(r"//[^/]*@", "//…@", url)[:80]


def object_of(**properties: dict[str, Any]) -> dict[str, Any]:
    """The JSON schema of an object with these properties, all of them and no others."""
    return {"type": "object", "additionalProperties": False, "required": list(properties), "properties": properties}


def _is_loopback(host: str) -> bool:
    with suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return False


class _Timed(socket.socket):
    """A socket whose reads and writes together end at one moment: a server that drips bytes gains nothing by it."""

    deadline = float("inf")

    def _left(self) -> None:
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError("time is up")
        self.settimeout(left)

    def connect(self, address: Any) -> None:
        self._left()
        super().connect(address)

    def recv_into(self, *values: Any) -> int:
        self._left()
        return super().recv_into(*values)

    def sendall(self, *values: Any) -> None:
        self._left()
        super().sendall(*values)


def chat_json(
    place: Endpoint, model: str, messages: list[dict[str, str]], schema: dict[str, Any], deadline: float
) -> Any:
    """What a model answers as JSON; `deadline` is a time.monotonic(). NoAnswer where it does not, in time, in size, in form.

    A server that does not know about schemas (400, 422) is asked once more without; what it answers is checked anyway.
    """
    asked: dict[str, Any] = {"model": model, "messages": messages, "temperature": 0, "stream": False}
    strict = {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": schema}}
    status, body = _post(place, "chat/completions", asked | {"response_format": strict}, deadline)
    if status in (400, 422):
        status, body = _post(place, "chat/completions", asked, deadline)
    if status != 200:
        raise NoAnswer(f"it answered {status}")
    try:
        content = json.loads(body)["choices"][0]["message"]["content"]
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise NoAnswer("its answer is not a chat completion") from error
    if not isinstance(content, str):
        raise NoAnswer("it answered without text")
    return _json_in(content)


def embeddings(place: Endpoint, model: str, texts: Sequence[str], deadline: float) -> list[list[float]]:
    """A vector for each text, in order, by `POST /embeddings`. NoAnswer where there is none, in time, in size, in form."""
    status, body = _post(place, "embeddings", {"model": model, "input": list(texts)}, deadline, _MAX_VECTORS)
    if status != 200:
        raise NoAnswer(f"it answered {status}")
    try:
        rows = {int(row["index"]): [float(number) for number in row["embedding"]] for row in json.loads(body)["data"]}
        return [rows[number] for number in range(len(texts))]
    except (ValueError, LookupError, TypeError, RecursionError, OverflowError) as error:
        raise NoAnswer("its answer is not a list of embeddings, one a text") from error


def _post(
    place: Endpoint, route: str, value: dict[str, Any], deadline: float, most: int = _MAX_ANSWER
) -> tuple[int, bytes]:
    sent = json.dumps(value).encode()
    try:
        with _Timed(place.family, socket.SOCK_STREAM) as link:
            link.deadline = deadline
            link.connect(place.address)
            connection = http.client.HTTPConnection(place.host)
            connection.sock = link
            headers = {"Content-Type": "application/json", "Accept": "application/json", "Connection": "close"}
            connection.request("POST", f"{place.path}/{route}", sent, headers)
            with connection.getresponse() as answer:
                if 300 <= answer.status < 400:
                    raise NoAnswer(f"it answered {answer.status}, a redirect, which is not followed")
                body = answer.read(most + 1)
                if len(body) > most:
                    raise NoAnswer(f"it answered with more than {most >> 20} MiB")
                return answer.status, body
    except TimeoutError as error:
        raise NoAnswer("it took too long") from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise NoAnswer(f"{getattr(error, 'strerror', None) or error or type(error).__name__}"[:120]) from error


def _json_in(content: str) -> Any:
    """The JSON in what a model says: small ones think aloud first, and put it into a code fence."""
    content = content.rpartition("</think>")[2]
    fenced = re.search(r"```(?:json)?\s*\n(.*?)```", content, re.DOTALL)
    for text in (content, fenced[1] if fenced else "", content[content.find("{") : content.rfind("}") + 1]):
        with suppress(ValueError, RecursionError):
            return json.loads(text)
    raise NoAnswer("its answer is not JSON")


# -- a cross-encoder for inference ------------------------------------------------------------------------------------

_VERDICTS = {"entailment": "for", "contradiction": "against", "neutral": "neither"}


def inference_model(path: Path) -> Callable[[str, str], tuple[str, float]]:
    """A function of (belief, fact) that gives "for", "against" or "neither" and its probability in [0, 1].

    `path` is the folder of a cross-encoder with the three classes of inference. It is loaded at the first question and
    never downloaded. Usage for no such folder, or other classes; ExtraMissing without sentence-transformers.
    """
    if not path.is_dir():
        raise Usage(f"no model folder at {path}", "name the folder of a local cross-encoder for inference")
    loaded = cache(_loaded_inference)

    def judge(belief: str, fact: str) -> tuple[str, float]:
        model, verdicts = loaded(path)
        # The fact is the premise, the belief what may follow from it.
        scores = [float(score) for score in model.predict([(fact, belief)], show_progress_bar=False)[0]]
        powers = [math.exp(score - max(scores)) for score in scores]
        best = max(range(len(powers)), key=powers.__getitem__)
        return verdicts[best], powers[best] / sum(powers)

    return judge


def _loaded_inference(path: Path) -> tuple[Any, list[str]]:
    """The model in a folder, and the verdict of each of its classes."""
    try:
        package = importlib.import_module("sentence_transformers")
    except ImportError:
        raise ExtraMissing("nli", "sentence-transformers") from None
    try:
        model = package.CrossEncoder(str(path), local_files_only=True)
    except (OSError, ValueError) as error:
        what = f"{path}: no cross-encoder that can be loaded: {error}"
        raise Usage(what, "name the folder of a whole model") from None
    names = {int(number): str(name).casefold() for number, name in model.config.id2label.items()}
    verdicts = [_VERDICTS.get(names[number], "") for number in sorted(names)]
    if sorted(verdicts) != sorted(_VERDICTS.values()):
        raise Usage(f"{path}: its classes are {', '.join(names.values())}", "take a model for inference (NLI)")
    return model, verdicts
