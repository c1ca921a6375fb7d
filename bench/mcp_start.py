"""What an MCP server costs until a host has its tools: `python bench/mcp_start.py "memctl mcp -w DIR" "qmd mcp"`.

Each command is started by turns (`--times`), asked `initialize` and `tools/list`, and ended by closing its input. Prints
the median CPU seconds (user and system, children included) and wall seconds of the whole process, the number of tools and
the characters of their list as JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import subprocess
import time
from statistics import median
from typing import Any

_HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
_ASKED: tuple[dict[str, Any], ...] = (
    {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": _HELLO},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
)


def main() -> None:
    """Print a line for each command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commands", nargs="+")
    parser.add_argument("--times", type=int, default=9)
    given = parser.parse_args()
    runs: dict[str, list[tuple[float, float, list[Any]]]] = {command: [] for command in given.commands}
    for _ in range(given.times + 1):
        for command in given.commands:
            runs[command].append(_start(shlex.split(command)))
    for command, every in runs.items():
        cpu, wall = (
            median(column) for column in list(zip(*every[1:], strict=True))[:2]
        )  # the first one warms the disk
        tools = every[-1][2]
        print(
            f"{command}: CPU {cpu:.2f} s, wall {wall:.2f} s, {len(tools)} tools in {len(json.dumps(tools))} characters"
        )


def _start(command: list[str]) -> tuple[float, float, list[Any]]:
    """CPU seconds and wall seconds of one server from its start to its end, and its tools."""
    before, begun = os.times(), time.perf_counter()
    server = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert server.stdin and server.stdout
    tools: list[Any] = []
    for message in _ASKED:
        server.stdin.write(json.dumps(message) + "\n")
        server.stdin.flush()
        while "id" in message:
            answer = json.loads(server.stdout.readline())
            if answer.get("id") == message["id"]:
                tools = answer["result"].get("tools", [])
                break
    server.stdin.close()
    server.wait(60)
    after = os.times()
    spent = after.children_user - before.children_user + after.children_system - before.children_system
    return spent, time.perf_counter() - begun, tools


if __name__ == "__main__":
    main()
