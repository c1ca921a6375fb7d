"""`memctl` and `python -m memctl`."""

import sys


def main() -> None:
    """Run the command line; exits with its code."""
    from .faces.call import run
    from .faces.cli import app

    sys.exit(run(app, sys.argv[1:]))


if __name__ == "__main__":
    main()
