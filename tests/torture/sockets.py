"""S12: what the kernel is asked for. No command opens a socket; `memctl mcp` none that leads out of its process."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from face_helpers import NOW, fixture_copy
from store_helpers import environment
from test_house import OFFLINE

from memctl.server.mcp_tools import TOOLS

__all__ = ["HAS_STRACE", "main", "opened"]

HAS_STRACE = sys.platform == "linux" and shutil.which("strace") is not None
_SOCKET = re.compile(r"\b(socket|connect|bind|listen)\(.{0,60}")


def opened(words: list[str], root: Path, said: str = "") -> list[str]:
    """The calls by which one command asks the kernel for a socket (`strace -f`); `said` is answered line by line.

    A pair of sockets within the process, by which an event loop wakes itself, leads nowhere and is none.
    """
    environ = environment(MEMCTL_NOW=NOW)
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "calls"
        tracing = ["strace", "-f", "-qq", "-e", "trace=socket,connect,bind,listen", "-o", str(log)]
        with subprocess.Popen(
            [*tracing, sys.executable, "-m", "memctl", *words], cwd=root, env=environ, text=True, encoding="utf-8",
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        ) as process:  # fmt: skip
            assert process.stdin and process.stdout
            process.stdin.write(said)
            process.stdin.flush()
            answers = [json.loads(process.stdout.readline()) for line in said.splitlines() if '"id"' in line]
            process.communicate(timeout=120)
        calls = [match[0] for line in log.read_text("utf-8").splitlines() if (match := _SOCKET.search(line))]
    failed = [f"no answer: {answer}" for answer in answers if "error" in answer or answer["result"].get("isError")]
    return calls + failed + ([] if process.returncode in (0, 1) else [f"exit code {process.returncode}"])


def _session() -> str:
    """A client's whole conversation, that has every tool called."""
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "strace", "version": "1"}}
    said = [{"id": 0, "method": "initialize", "params": hello}, {"method": "notifications/initialized"}]
    said += [
        {"id": n, "method": "tools/call", "params": {"name": tool.name, "arguments": tool.example}}
        for n, tool in enumerate(TOOLS, 1)
    ]
    return "".join(json.dumps({"jsonrpc": "2.0", **line}) + "\n" for line in said)


def main(short: bool = False) -> bool:
    """Print how many sockets all commands opened together (short: every fourth command, and the label that `eval` needs)."""
    if not HAS_STRACE:
        print("S12 not measured: strace is not installed")
        return True
    commands = [words for number, words in enumerate(OFFLINE) if not short or number % 4 == 0 or "--add" in words]
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        root = fixture_copy(Path(folder).resolve())
        for words, stdin in [*((words, "") for words in commands), (["mcp", "--allow-write"], _session())]:
            wrong += [f"{' '.join(words)}: {call}" for call in opened(words, root, stdin)]
    print(f"S12 commands {len(commands) + 1} (with mcp) sockets {len(wrong)}")
    for line in wrong:
        print(f"   {line}")
    return not wrong
