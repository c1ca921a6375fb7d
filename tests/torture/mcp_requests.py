"""S7, the MCP half: requests that `memctl mcp` must refuse. None may be accepted, none may change a byte, all are answered."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from face_helpers import fixture_copy, snapshot
from mcp_helpers import Wire

from memctl.server.mcp_tools import TOOLS

VERSION = "io.modelcontextprotocol/protocolVersion"


class Case(NamedTuple):
    """A request that must be refused, and what to call it."""

    told: str
    method: str
    params: Any


def tool(name: Any, /, **arguments: Any) -> Case:
    """A call of a tool."""
    told = f"{str(name)[:20]} {json.dumps(arguments)[:70]}"
    return Case(told, "tools/call", {"name": name, "arguments": arguments})


def readers_cases() -> Iterator[Case]:
    """What a server without --allow-write refuses."""
    yield from (tool(each.name, **each.example) for each in TOOLS if each.writes)
    yield from (
        tool(name, text="W: x") for name in ("Retain", "retain ", "RETAIN", "memctl.retain", "recall/../retain")
    )
    yield from (tool(name) for name in ("", "exec", "a" * 10_000, None, 5, ["recall"], "\u0000", "ретейн"))
    yield from (
        tool("recall", **{name: value})
        for name, values in {
            "query": (5, ["x"], {"x": 1}, True, "x" * 32_001),
            "since": (5, "gibberish", "x" * 1001), "until": (False, "32. Mai"), "on": ([], "never ever"), "as_of": (0, "?"),
            "about": (5, [5], [None], ["x" * 1001], ["x"] * 51), "kind": ("world", ["fact"], [1], ["note"] * 51),
            "key": (1, "x" * 1001), "min_confidence": (2, -0.1, "0.5", True), "k": (0, -1, 51, "10", 1.5, True, 10**30),
            "budget": (99, 20_001, "all"), "history": ("yes", 1), "hops": (0, 4, "2"), "private": (True,), "qery": ("x",),
            "format": ("json",), "workspace": ("/",), "explain": (True,), "public": (False,),
        }.items()
        for value in values
    )  # fmt: skip
    yield from (Case(f"arguments {a!r}", "tools/call", {"name": "recall", "arguments": a}) for a in ([], "x", 5, True))
    yield from (Case(f"call {p!r:.40}", "tools/call", p) for p in ({}, {"tool": "recall"}, {"name": {"x": 1}}))
    outside = (
        "/etc/passwd#L1", "../../etc/passwd#L1", ".memory/.gitignore#L1", ".memory/index.sqlite", "memctl.toml#L1", "memctl.toml",
        "memory/../memctl.toml#L1", "memory/2025-07-18.md#L0", "memory/2025-07-18.md#L99999", "memory/2025-07-18.md#L13", "",
        "\u0000", "file:///etc/passwd", "^f-00000000", "x" * 1001, "no such thing",
    )  # fmt: skip
    yield from (tool("show", ref=ref) for ref in outside)
    asked = {
        "show": ({}, {"ref": 5}, {"ref": "Irina", "context": 51}, {"ref": "Irina", "context": -1}),
        "context": ({"budget": 255}, {"message": 5}, {"messages": []}, {"private": True}),
        "status": ({"verify": True}, {"x": None, "y": 1}), "review": ({"k": 0}, {"k": 51}, {"kind": "same"}),
    }  # fmt: skip
    yield from (tool(name, **arguments) for name, each in asked.items() for arguments in each)


def resources_cases() -> Iterator[Case]:
    """Resources that are not offered, whatever stands on disk."""
    uris = (
        "", "file:///etc/passwd", "http://127.0.0.1/", "memctl://", "memctl://page/", "memctl://page/memctl.toml",
        "memctl://page/../memory.md", "memctl://page/%2e%2e/memory.md", "memctl://page/.memory/index.sqlite",
        "memctl://page//etc/passwd", "memctl://page/bank/../memory.md", "memctl://page/gone.md", "memctl://page/memory.md%00",
        "memctl://log/2025-13-45", "memctl://log/../memory", "memctl://log/2025-07-18.md", "memctl://log/", "memctl://entity/",
        "memctl://entity/..%2F..%2Fmemory", "memctl://entity/Nobody", "memctl://entity/%00", "memctl://entity/Alex",
        "MEMCTL://page/memory.md", "memctl://entity/" + "x" * 100_000,
    )  # fmt: skip
    yield from (Case(f"read {uri[:40]!r}", "resources/read", {"uri": uri}) for uri in uris)
    yield from (Case(f"read {uri!r}", "resources/read", {"uri": uri}) for uri in (5, None, ["memctl://page/memory.md"]))
    yield Case("read without uri", "resources/read", {})
    yield from (Case(f"cursor {c!r}", "resources/list", {"cursor": c}) for c in ("x", "-1", "1e3", "９", "1" * 30, 5))
    methods = (
        "tools/execute", "tools", "", "prompts", "prompts/set", "sampling/createMessage", "logging/setLevel",
        "resources/subscribe", "resources/write", "completion/complete", "tasks/list", "roots/list", "rpc.discover",
    )  # fmt: skip
    yield from (Case(f"method {method!r}", method, {}) for method in methods)
    prompts = ({}, {"name": 5}, {"name": "nothing"}, {"name": "recall"}, {"name": "recall", "arguments": {"question": 5}},
               {"name": "week", "arguments": {"since": "gibberish"}}, {"name": "review", "arguments": {"x": "y"}},
               {"name": "recall", "arguments": ["x"]})  # fmt: skip
    yield from (Case(f"prompt {p!r:.60}", "prompts/get", p) for p in prompts)
    envelope = {"_meta": {VERSION: "2026-07-28"}}
    yield Case("an envelope of 2026 after a handshake", "tools/list", envelope)


def writers_cases() -> Iterator[Case]:
    """What a server refuses that may write."""
    asked: dict[str, tuple[dict[str, Any], ...]] = {
        "retain": (
            {}, {"text": ""}, {"text": " \n"}, {"text": 5}, {"text": ["W: x"]}, {"text": "x" * 8001}, {"text": "W(c=2): x"},
            {"text": "W(src=owner): x"}, {"text": "The key is AKIAQ3EGPB7XKZ2MWT5N, keep it"},
            {"text": "The key is AKIAQ3EGPB7XKZ2MWT5N, keep it", "allow_secrets": True},
        ),
        "forget": (
            {}, {"confirm": "forget-1-000000000000"}, {"ids": ["nets-12"], "confirm": "yes"}, {"ids": ["no-such-id"]},
            {"ids": ["nets-12"], "confirm": "forget-1-000000000000"}, {"ids": ["nets-12"], "apply": True}, {"ids": 12},
            {"about": ["Dumpling"], "include_exempt": True}, {"before": "gibberish"}, {"source": "nowhere"}, {"expired": "yes"},
            {"ids": ["nets-12"], "confirm": True},
        ),
        "reflect": ({"since": 5}, {"since": "gibberish"}, {"propose_core": True}, {"accept": 1}, {"dry_run": "no"}),
        "answer": ({}, {"id": "q-48tf9y0t"}, {"id": "q-48tf9y0t", "option": "maybe"}, {"id": "q-zzzzzzzz", "option": "y"}),
    }  # fmt: skip
    yield from (tool(name, **arguments) for name, each in asked.items() for arguments in each)
    yield from (
        tool("retain", text="x", **{name: value})
        for name, values in {
            "kind": ("note", "fact", 1, "w"), "about": (5, ["a]b"], [""]), "confidence": (1.1, -0.1, "0.9"),
            "source": ("owner", "", "root", "web:", "system:x", 5), "when": ("gibberish", 5), "until": ("x",), "importance": (2,),
            "outcome": ("maybe", True), "private": ("yes",), "date": ("2020-01-01",), "path": ("memory.md",), "day": ("x",),
            "dry_run": ("no",), "supersedes": (12, [5]),
        }.items()
        for value in values
    )  # fmt: skip


MALFORMED = (
    b"{", b'"x"', b"[]", b"null", b"5", b"nope", b"\xff\xfe", b"[" * 100_000, b'{"a":' * 20_000, b'{"jsonrpc":"1.0","id":1,"method":"ping"}',
    b'{"id":1,"method":"ping"}', b'{"jsonrpc":"2.0","id":1,"method":7}', b'{"jsonrpc":"2.0","id":1}',
    b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', b'{"jsonrpc":"2.0","id":1,"method":"ping","params":"x"}',
    b'[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"retain","arguments":{"text":"W: batch"}}}]',
    b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"\\ud800"}}', b'{"jsonrpc":"2.0","id":1,"method":"ping"} {}',
)  # fmt: skip
"""Lines that are no message: each is answered with an error that has no id."""

LONG = {
    "first": b'{"jsonrpc":"2.0","id":"first","method":"tools/call","params":{"name":"recall","arguments":{"query":"%s"}}}',
    "last": b'{"method":"tools/call","params":{"name":"recall","arguments":{"query":"%s"}},"jsonrpc":"2.0","id":"last"}',
}
SILENT = (
    {"method": "tools/call", "params": {"name": "retain", "arguments": {"text": "W: told as a notification"}}},
    {"method": "notifications/cancelled", "params": {"requestId": "nobody"}},
    {"method": "notifications/cancelled", "params": {"requestId": {"x": 1}}},
    {"method": "notifications/nonsense", "params": {}},
    {"id": "unasked", "result": {}},
    *({"id": id, "method": "tools/call", "params": {"name": "retain", "arguments": {"text": f"W: told with the id {id}"}}}
      for id in (None, {}, [1], 1.5)),
)  # fmt: skip
"""What is not to be answered, nor to be obeyed."""


def is_refused(answer: dict[str, Any]) -> bool:
    """True for a JSON-RPC error and for a tool's answer that says that it is one."""
    return "error" in answer or answer["result"].get("isError") is True


def _refusals(wire: Wire, cases: Iterator[Case]) -> tuple[int, list[str]]:
    """How many were asked, and which were accepted or told more than a line."""
    wrong, count = [], 0
    for count, case in enumerate(cases, 1):
        answer = wire.ask(f"case {count}", case.method, case.params)
        if not is_refused(answer):
            wrong.append(case.told)
        elif "Traceback" in str(answer) or re.search(r"--[a-z]", str(answer)) or len(str(answer)) > 3000:
            wrong.append(f"{case.told}: {str(answer)[:200]}")
    return count, wrong


def _lines(wire: Wire) -> tuple[int, list[str]]:
    """The same for what is no request at all."""
    for line in MALFORMED:
        wire.send(line)
    wrong = [f"line answered with {m}" for m in wire.complaints(len(MALFORMED)) if "error" not in m]
    for id, line in LONG.items():
        wire.send(line % (b"x" * 5_000_000))
        wrong += [] if is_refused(wire.answer(id)) else [f"5 MB with the id {id}"]
    for message in SILENT:
        wire.send(message)
    return len(MALFORMED) + len(LONG) + len(SILENT), wrong


def _unintroduced(root: Path) -> tuple[int, list[str]]:
    """Requests before the handshake, handshakes that are none, versions that nobody speaks."""
    wire = Wire(root)
    early = [tool("recall", query="x"), Case("early list", "tools/list", {}), Case("early read", "resources/list", {})]
    hello = {"capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    early += [Case(f"hello {v!r}", "initialize", {**hello, "protocolVersion": v}) for v in (5, None, ["2025-06-18"])]
    early += [Case("hello without all", "initialize", {}), Case("hello without version", "initialize", hello)]
    count, wrong = _refusals(wire, iter(early))
    told = wire.ask("v", "initialize", {**hello, "protocolVersion": "1999-01-01"})
    if told["result"]["protocolVersion"] in ("1999-01-01", "2026-07-28"):
        wrong.append("spoke a version that does not exist")
    wire.leave()
    meta = {"io.modelcontextprotocol/clientInfo": hello["clientInfo"], "io.modelcontextprotocol/clientCapabilities": {}}
    later = [
        Case(f"envelope {v!r}", "tools/list", {"_meta": {**meta, VERSION: v}}) for v in ("2099-01-01", "", 5, None)
    ]
    later += [Case("a handshake after an envelope", "initialize", {**hello, "protocolVersion": "2025-06-18"})]
    wire = Wire(root)
    more, found = _refusals(wire, iter(later))
    wire.leave()
    return count + 1 + more, wrong + found


def wrongly_accepted() -> tuple[int, list[str]]:
    """(requests made, what was accepted or changed something or stayed without an answer)."""
    with tempfile.TemporaryDirectory() as folder:
        root = fixture_copy(Path(folder).resolve())
        before = snapshot(root)
        count, wrong = _unintroduced(root)
        for flags, cases in ((), [readers_cases(), resources_cases()]), (("--allow-write",), [writers_cases()]):
            wire = Wire(root, *flags)
            wire.greet()
            for made in cases:
                asked, found = _refusals(wire, made)
                count, wrong = count + asked, wrong + found
            asked, found = _lines(wire)
            count, wrong = count + asked, wrong + found
            wrong += [] if "result" in wire.ask("end", "ping") else ["no ping at the end"]
            code = wire.leave()
            wrong += [f"stray output {line[:80]!r}" for line in wire.strays] + ([f"exit code {code}"] if code else [])
            wrong += ["a traceback on stderr"] if b"Traceback" in wire.errors else []
            wrong += [f"answered {id}" for id in ("unasked", "nobody") if id in wire.answers]
        changed = {path for path, data in snapshot(root).items() if before.get(path) != data}
        return count, wrong + [f"changed {path}" for path in sorted(changed | (before.keys() - snapshot(root).keys()))]
