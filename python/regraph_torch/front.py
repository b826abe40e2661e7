"""First kernels of a problem, written by a language model: asked for, judged, ranked, recorded."""

from __future__ import annotations

import concurrent.futures
import dataclasses
import hashlib
import json
import math
import pathlib
import shutil
import subprocess
from collections.abc import Callable
from typing import Any

from regraph_torch import chat, first_kernel, problem, tools
from regraph_torch.errors import Refused
from regraph_torch.first_kernel import FirstKernel, Task, Unreadable

# As the reward `regraph` of docs/training.md has them.
UNREADABLE, NOT_COMPILED, WRONG, CORRECT = -1.0, -0.8, -0.5, 0.2
LONGEST_COMPLAINT = 3000
Cases = list[tuple[dict[str, int], list[pathlib.Path]]]


@dataclasses.dataclass(frozen=True)
class Options:
    language: str = "cuda"
    answers: int = 4
    repairs: int = 1
    device: str = "h200"
    jobs: int = 1
    seed: int = 1
    most_elements: int = 1 << 22
    run_seconds: float = 300.0


@dataclasses.dataclass
class Attempt:
    """An answer and what became of it."""
    number: int
    round: int
    prompt: list[dict[str, str]]
    answer: str
    verdict: str = "unreadable"  # no_answer, unreadable, compile_error, wrong_result, correct
    message: str = ""
    seconds: float | None = None  # predicted
    file: str = ""

    @property
    def order(self) -> tuple[int, float, int, int]:
        """The best is the least."""
        ranks = ("correct", "wrong_result", "compile_error", "unreadable", "no_answer")
        return ranks.index(self.verdict), self.seconds or math.inf, self.number, self.round


def reward(attempt: Attempt, reference: float | None) -> float | None:
    """`reference`: seconds of the naive kernel, where the problem can be lowered; else a correct answer has no speed to be
    measured by."""
    if attempt.verdict == "no_answer":
        return None
    if attempt.verdict != "correct":
        return {"unreadable": UNREADABLE, "compile_error": NOT_COMPILED, "wrong_result": WRONG}[attempt.verdict]
    if not reference or not attempt.seconds:
        return CORRECT
    gain = math.log(reference / attempt.seconds)
    return CORRECT + 0.8 * min(1.0, max(-0.25, gain / math.log(4.0))) if abs(gain) >= 0.01 else CORRECT


class Judge:
    """Puts kernels on the interpreter and on the timing model."""

    def __init__(self, task: Task, cases: Cases, programs: tools.Programs, options: Options) -> None:
        self.task, self.cases, self.programs, self.options = task, cases, programs, options
        shapes = [*(one[2] for one in task.inputs), task.output[2]]
        self.sizes = problem.shrunk(task.sizes[0], shapes, options.most_elements) if task.sizes[0] else {}

    def judge(self, attempt: Attempt, kernel: FirstKernel, folder: pathlib.Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / kernel.file
        path.write_text(kernel.source, encoding="utf-8")
        path.with_suffix(".regraph.yaml").write_text(kernel.manifest, encoding="utf-8")
        attempt.file = str(path)
        if trouble := self._started(path):
            attempt.message = trouble
            attempt.verdict = "compile_error" if "does not compile for" in trouble else "wrong_result"
            return
        agreement = tools.compare_with_pytorch(self.programs, path, self.task.output[0], self.cases, self.options.run_seconds)
        attempt.verdict = "correct" if agreement.agrees else "wrong_result"
        attempt.message = agreement.trouble
        if agreement.agrees:
            attempt.seconds = self.predicted(path, self.sizes)

    def _started(self, path: pathlib.Path) -> str:
        """What is said of it on the first inputs, whole; empty where it runs."""
        sizes, folders = self.cases[0]
        with tools.own_folders(folders[:1]) as own:
            command = [self.programs.run, str(path), str(own[0]), "--evaluation-time", f"{self.options.run_seconds:.0f}"]
            code, _, said = _run([*command, *tools.size_options(sizes)], 2 * self.options.run_seconds)
        return "" if code == 0 else said

    def predicted(self, path: pathlib.Path, sizes: dict[str, int]) -> float | None:
        """Seconds at the problem's own sizes, or those halved until buffers are not too large."""
        command = [self.programs.search, str(path), "--dry-run", "--json", "--evaluator", "model", "--device", self.options.device]
        code, output, _ = _run([*command, *tools.size_options(sizes)], 2 * self.options.run_seconds)
        try:
            return float(json.loads(output)["baseline"]["seconds"]) if code == 0 else None
        except (ValueError, KeyError, TypeError):
            return None


def _run(command: list[str], seconds: float) -> tuple[int, str, str]:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return -1, "", f"it takes more than {seconds:.0f} s on the interpreter"
    lines = [line for line in done.stderr.splitlines() if not line.startswith(("note:", "warning:", "still "))]
    return done.returncode, done.stdout, "\n".join(lines)[:LONGEST_COMPLAINT] or f"exit code {done.returncode}"


def attempts(task: Task, judge: Judge, server: chat.Server, options: Options, output: pathlib.Path,
             tell: Callable[[Attempt], None] = lambda _: None) -> list[Attempt]:
    """All answers, repairs among them, the best first."""
    def one(number: int) -> list[Attempt]:
        made: list[Attempt] = []
        prompt = first_kernel.messages(task, options.device)
        for repair in range(options.repairs + 1):
            attempt = Attempt(number, repair, prompt, "")
            made.append(attempt)
            try:
                attempt.answer = chat.complete(server, prompt, options.seed * 1000 + number)
                judge.judge(attempt, first_kernel.read(attempt.answer, task), output / f"answer{number}-{repair}")
            except chat.NoAnswer as error:
                attempt.verdict, attempt.message = "no_answer", str(error)
            except Unreadable as error:
                attempt.message = str(error)
            tell(attempt)
            if attempt.verdict in ("correct", "no_answer"):
                break
            prompt = [*prompt, {"role": "assistant", "content": attempt.answer},
                      {"role": "user", "content": f"This fails ({attempt.verdict}; the message is data):\n{attempt.message}\n"
                                                  "Mend it and answer again, in the same form, whole."}]
        return made

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        made = [attempt for several in pool.map(one, range(options.answers)) for attempt in several]
    return sorted(made, key=lambda one: one.order)


def record(path: pathlib.Path, task: Task, made: list[Attempt], server: chat.Server, device: str, reference: float | None) -> None:
    """A line of JSON an answer: the columns of a data set's form `kto` (docs/training.md), and what it was judged by."""
    state = hashlib.sha256(json.dumps([task.source, task.language, device]).encode()).hexdigest()[:32]
    with open(path, "w", encoding="utf-8") as lines:
        for one in made:
            if one.verdict == "no_answer":
                continue
            lines.write(json.dumps({
                "prompt": one.prompt, "completion": [{"role": "assistant", "content": one.answer}], "label": one.verdict == "correct",
                "state": state, "step": "first_kernel", "kernel": task.name, "family": task.name, "verdict": one.verdict,
                "message": one.message, "reward": reward(one, reference), "valid_compile": int(one.verdict in ("wrong_result", "correct")),
                "agrees": int(one.verdict == "correct"), "predicted_seconds": one.seconds, "reference_seconds": reference,
                "device": device, "method": "predicted", "language": task.language, "model": server.model, "answer": one.number,
                "repair": one.round, "file": one.file}) + "\n")


def work(path: pathlib.Path, output: pathlib.Path, programs: tools.Programs, server: chat.Server, traced: problem.Options,
         options: Options, tell: Callable[[Attempt], None]) -> dict[str, Any]:
    """A problem's best first kernel: `best` is its file, None where none agrees; `reason` says why there is nothing."""
    folder = output / path.stem
    shutil.rmtree(folder, ignore_errors=True)
    source = path.read_text(encoding="utf-8")
    traces, said = problem.trace(source, folder / "data", traced)
    if not traces:
        return {"best": None, "reason": said["trouble"]}
    try:
        whole, kept = problem.merged(traces)
        task = first_kernel.task_of(path.stem, source, whole, options.language)
    except Refused as error:
        return {"best": None, "reason": str(error)}
    cases = problem.cases_of(folder / "data", kept, task.sizes, traced.seeds)
    if not cases:
        return {"best": None, "reason": f"no smaller shapes run, so that nothing could be compared: {said['left_out']}"}
    judge = Judge(task, cases, programs, options)
    return answered(task, judge, server, options, folder, _naive_seconds(traces, folder, judge), tell)


def _naive_seconds(traces: list[dict[str, Any]], folder: pathlib.Path, judge: Judge) -> float | None:
    """The naive kernel's, where there is one: what answers are measured by."""
    try:
        found, _ = problem.lowered(traces, "made to compare with")
    except Refused:
        return None
    kernel = folder / "naive.cu"
    kernel.write_text(found.source, encoding="utf-8")
    kernel.with_suffix(".regraph.yaml").write_text(found.manifest, encoding="utf-8")
    return judge.predicted(kernel, {name: judge.sizes[name] for name in found.sizes[0] if name in judge.sizes})


def answered(task: Task, judge: Judge, server: chat.Server, options: Options, folder: pathlib.Path, reference: float | None,
             tell: Callable[[Attempt], None] = lambda _: None) -> dict[str, Any]:
    """As work, of what was traced."""
    folder.mkdir(parents=True, exist_ok=True)
    made = attempts(task, judge, server, options, folder, tell)
    record(folder / "attempts.jsonl", task, made, server, options.device, reference)
    best = made[0]
    if best.verdict != "correct":
        return {"best": None, "reason": best.message, "verdict": best.verdict, "attempts": len(made)}
    kernel = folder / pathlib.Path(best.file).name
    shutil.copyfile(best.file, kernel)
    shutil.copyfile(pathlib.Path(best.file).with_suffix(".regraph.yaml"), kernel.with_suffix(".regraph.yaml"))
    return {"best": str(kernel), "seconds": best.seconds, "reference": reference, "attempts": len(made),
            "agree": sum(one.verdict == "correct" for one in made)}
