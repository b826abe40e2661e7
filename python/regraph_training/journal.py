"""The record of a training run: run.json once, training.jsonl a line a step, and progress for people."""

from __future__ import annotations

import json
import math
import pathlib
import time
from collections.abc import Callable
from typing import Any

from . import provenance

RUN_FILE = "run.json"
LINES_FILE = "training.jsonl"


def _plain(value: Any) -> Any:
    """Numbers that JSON has no word for become null."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    return value


class Journal:
    """Writes into the output folder; `say` gets lines for people. Time counts on over a resumed run's parts."""

    def __init__(self, output: pathlib.Path, say: Callable[[str], None] = lambda _: None, resume: bool = False):
        self.output = output
        self.say = say
        output.mkdir(parents=True, exist_ok=True)
        self._earlier = 0.0
        if resume and (output / LINES_FILE).exists():
            for line in (output / LINES_FILE).read_text(encoding="utf-8").splitlines():
                try:
                    self._earlier = max(self._earlier, float(json.loads(line).get("seconds", 0.0)))
                except ValueError:
                    continue  # the last line of a killed run
        elif (output / LINES_FILE).exists():
            (output / LINES_FILE).unlink()
        self._begin = time.monotonic()

    def seconds(self) -> float:
        """Of training, over all parts of a run."""
        return self._earlier + time.monotonic() - self._begin

    def seconds_of_this_part(self) -> float:
        return time.monotonic() - self._begin

    def run(self, **what: Any) -> None:
        """What the run is made of. A resumed run keeps what its earlier parts wrote."""
        path = self.output / RUN_FILE
        parts = []
        if self._earlier and path.exists():
            try:
                parts = json.loads(path.read_text(encoding="utf-8"))["parts"]
            except (ValueError, KeyError):
                pass
        parts.append(_plain({**what, "versions": provenance.versions(), "commit": provenance.commit(),
                             "machine": provenance.machine(),
                             "begun": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}))
        path.write_text(json.dumps({"parts": parts}, indent=1) + "\n", encoding="utf-8")

    def line(self, kind: str, **values: Any) -> None:
        values = _plain({"kind": kind, "seconds": round(self.seconds(), 3), **values})
        with open(self.output / LINES_FILE, "a", encoding="utf-8") as file:
            file.write(json.dumps(values) + "\n")
