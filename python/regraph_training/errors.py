"""The two ways in which a script ends early, and how its main says so."""

from __future__ import annotations

import sys
from collections.abc import Callable


class BadInput(Exception):
    """Something the user gave is wrong: what, where, and what to do. Exit code 2."""


class TrainingStopped(Exception):
    """Training cannot go on: why, and where the last good state is. Exit code 3."""


def run_main(main: Callable[[], int]) -> int:
    """main's exit code; errors that a person can act on become one line."""
    try:
        return main()
    except BadInput as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except TrainingStopped as error:
        print(f"stopped: {error}", file=sys.stderr)
        return 3
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130
