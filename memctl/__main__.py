"""`memctl` and `python -m memctl`."""

import gc
import os
import sys
from contextlib import suppress


def main() -> None:
    """Run the command line; exits with its code.

    A command lives for a tenth of a second and is run hundreds of times a day: collecting its garbage costs 5 ms of
    that, and taking the interpreter apart at the end 13 ms. Everything durable is on disk when `run` returns.
    """
    gc.set_threshold(200_000)
    if None in (sys.stdin, sys.stdout, sys.stderr):
        _reopen()
    if sys.argv[1:2] == ["__complete"]:
        from .shell.complete import main as complete

        complete(sys.argv[2:])
        sys.stdout.flush()
        os._exit(0)
    try:
        from .cli.call import load, run

        code = run(load(sys.argv[1:]), sys.argv[1:])
    except KeyboardInterrupt:  # before `run` could hear of it
        code = 130
    with suppress(OSError):  # what could be said of it was said by `run`
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)


def _reopen() -> None:
    """Open a null device for each standard stream that the caller closed: else the next file opened, such as the index, gets its number."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None and os.open(os.devnull, os.O_RDWR) == number:
            stream = open(number, "w" if number else "r", encoding="utf-8", closefd=False)  # noqa: SIM115 - for the whole run
            setattr(sys, name, stream)


if __name__ == "__main__":
    main()
