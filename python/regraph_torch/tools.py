"""ReGraph's own programs: where they are, and what they say of a kernel."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from typing import Any

from regraph_torch import comparison, npy
from regraph_torch.errors import Lacking

SEARCH_IMPROVED, SEARCH_NOTHING_FASTER = 0, 3


@dataclasses.dataclass(frozen=True)
class Programs:
    run: str
    search: str
    score: str


def find_programs(folder: pathlib.Path | None) -> Programs:
    """In the folder, beside the installed python/, or on PATH. Lacking: they are not there."""
    installed = pathlib.Path(__file__).resolve().parents[4] / "bin"
    found = []
    for name in ("regraph-run", "regraph-search", "regraph-score"):
        places = [folder / name] if folder else [installed / name]
        # Not resolved: installed, they are links to one program that goes by its name.
        there = next((str(one.absolute()) for one in places if os.access(one, os.X_OK)), None if folder else shutil.which(name))
        if there is None:
            raise Lacking(f"{name} is not {'in ' + str(folder) if folder else 'on PATH'}; build ReGraph and give --programs build/release/bin")
        found.append(there)
    return Programs(*found)


def size_options(sizes: dict[str, int]) -> list[str]:
    """For the programs; none where the problem has no sizes."""
    return ["--size", ",".join(f"{name}={value}" for name, value in sizes.items())] if sizes else []


def said(run: subprocess.CompletedProcess[str]) -> str:
    """The last line that is no note."""
    lines = [line for line in run.stderr.strip().splitlines() if not line.startswith(("note:", "warning:", " "))]
    return lines[-1] if lines else f"exit code {run.returncode}"


@dataclasses.dataclass
class Agreement:
    """Whether a kernel's results are PyTorch's. `worst` is the largest relative error of a case."""
    cases: int = 0
    worst: float = 0.0
    trouble: str = ""

    @property
    def agrees(self) -> bool:
        return self.cases > 0 and not self.trouble


@contextlib.contextmanager
def own_folders(folders: list[pathlib.Path]) -> Iterator[list[pathlib.Path]]:
    """Folders with links to the inputs of these: a run writes its outputs beside them, and several run at a time."""
    with tempfile.TemporaryDirectory(prefix="regraph-cases-") as place:
        own = []
        for number, folder in enumerate(folders):
            own.append(pathlib.Path(place, str(number), folder.name))
            own[-1].mkdir(parents=True)
            for file in folder.iterdir():
                if file.is_file() and not file.name.endswith(".out.npy"):
                    (own[-1] / file.name).symlink_to(file.resolve())
        yield own


def compare_with_pytorch(programs: Programs, kernel: pathlib.Path, output: str, cases: list[tuple[dict[str, int], list[pathlib.Path]]],
                         seconds: float) -> Agreement:
    """Runs the kernel on the interpreter on each folder of inputs and compares with expected.npy there."""
    result = Agreement()
    for sizes, given in cases:
        with own_folders(given) as folders:
            if not _compare_at(programs, kernel, output, sizes, folders, seconds, result):
                break
    return result


def _compare_at(programs: Programs, kernel: pathlib.Path, output: str, sizes: dict[str, int], folders: list[pathlib.Path], seconds: float,
                result: Agreement) -> bool:
    try:
        run = subprocess.run([programs.run, str(kernel), *map(str, folders), *size_options(sizes), "--evaluation-time", f"{seconds:.0f}"],
                             capture_output=True, text=True, timeout=2 * seconds, check=False)
    except subprocess.TimeoutExpired:
        result.trouble = f"at {sizes} the interpreter takes more than {seconds:.0f} s"
        return False
    if run.returncode != 0:
        result.trouble = said(run)
        return False
    for folder in folders:
        left, expected = npy.read(folder / f"{output}.out.npy"), npy.read(folder / "expected.npy")
        if expected.shape == ():
            expected = dataclasses.replace(expected, shape=left.shape)
        if wrong := comparison.difference(left, expected):
            result.trouble = f"at {sizes}, {folder.name}: {wrong}"
            return False
        result.cases += 1
        if expected.type.startswith("float"):
            result.worst = max(result.worst, comparison.relative_error(left, expected))
    return True


def search(programs: Programs, kernel: pathlib.Path, folder: pathlib.Path, sizes: dict[str, int], options: list[str],
           seconds: float) -> tuple[dict[str, Any] | None, str]:
    """A search's result.json, or why there is none."""
    shutil.rmtree(folder, ignore_errors=True)
    command = [programs.search, str(kernel), "--output", str(folder), "-q", *size_options(sizes), *options]
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return None, f"the search takes more than {seconds:.0f} s"
    if run.returncode not in (SEARCH_IMPROVED, SEARCH_NOTHING_FASTER):
        return None, said(run)
    return json.loads((folder / "result.json").read_text(encoding="utf-8")), ""
