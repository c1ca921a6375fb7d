"""`memctl` and `python -m memctl`."""

import gc
import os
import sys


def main() -> None:
    """Run the command line; exits with its code.

    A command lives for a tenth of a second and is run hundreds of times a day: collecting its garbage costs 5 ms of
    that, and taking the interpreter apart at the end 13 ms. Everything durable is on disk when `run` returns.
    """
    gc.set_threshold(200_000)
    from .faces.call import run
    from .faces.cli import load

    code = run(load(sys.argv[1:]), sys.argv[1:])
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
