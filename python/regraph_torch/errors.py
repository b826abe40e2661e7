"""How a command of regraph_bench.py ends early, and how its main says so."""

from __future__ import annotations

import sys
from collections.abc import Callable

BAD_INPUT = 2
NOTHING_LOWERED = 4
LACKING = 5


class BadInput(Exception):
    """Something the user gave is wrong: what, where, and what to do. Exit code 2."""


class Lacking(Exception):
    """A requirement is not installed: what, and how to get it. Exit code 5."""


class Refused(Exception):
    """A problem is not lowered; the message is the reason."""


def run_main(main: Callable[[], int]) -> int:
    """main's exit code; errors that a person can act on become one line."""
    try:
        return main()
    except BadInput as error:
        print(f"error: {error}", file=sys.stderr)
        return BAD_INPUT
    except Lacking as error:
        print(f"error: {error}", file=sys.stderr)
        return LACKING
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
