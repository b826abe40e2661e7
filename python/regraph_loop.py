#!/usr/bin/env python3
"""Closes the loop: searches with a model, what they found teaches it, and it is kept where it became better.

    python/regraph_loop.py --programs BIN --model START --kernels FOLDER --held SET --replay SFT.jsonl --output OUT

With --task choose the model names steps and the rewriter applies them; else it rewrites kernels.

An iteration: the model is served and searches some of the kernels; the runs of all iterations so far become a data
set; supervised training on its rows (a quarter) and on replayed ones; GRPO on its states; then both models answer the
held-out prompts. The new one is kept where its reward is higher beyond noise and its acceptance not lower by more than
a hundredth. OUT/loop.jsonl has a line an iteration; what is in it is not done again. Needs what regraph_grpo.py needs,
and the programs.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import contextlib
import json
import os
import pathlib
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

from regraph_training.errors import BadInput, TrainingStopped, run_main

SCRIPTS = pathlib.Path(__file__).resolve().parent
LEAST_ACCEPTANCE = -0.01  # acceptance may be lower by so much
NEW_SHARE = 0.25          # of the rows of an iteration's supervised training


def run(command: list[Any], allowed: tuple[int, ...] = (0,), log: pathlib.Path | None = None) -> str:
    """What the command printed. TrainingStopped where it fails, with the end of what it said."""
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True)
    if log is not None:
        log.write_text(done.stdout + done.stderr, encoding="utf-8")
    if done.returncode not in allowed:
        raise TrainingStopped(f"{' '.join(words)}\nended with {done.returncode}: {(done.stderr or done.stdout)[-2000:]}")
    return done.stdout


@contextlib.contextmanager
def serving(command: list[Any]) -> Iterator[str]:
    """The address of a program that says it on its first line."""
    process = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, text=True)
    try:
        line = process.stdout.readline() if process.stdout else ""
        if "http://" not in line:
            raise TrainingStopped(f"{command[0]} {command[1]} did not begin to serve; it said {line!r}")
        yield line[line.index("http://"):].split()[0].rstrip("/")
    finally:
        process.terminate()
        try:
            process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            process.kill()


def rows_of(path: pathlib.Path) -> list[str]:
    return [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def mixed_rows(new: list[str], replay: list[str], seed: int) -> list[str]:
    """All new rows and three times as many replayed ones, in random order."""
    draw = random.Random(seed)
    wanted = round(len(new) * (1.0 - NEW_SHARE) / NEW_SHARE)
    rows = new + draw.sample(replay, min(wanted, len(replay)))
    draw.shuffle(rows)
    return rows


def is_better(comparison: dict[str, Any]) -> bool:
    """By `regraph_evaluate.py compare --json`: reward up beyond noise, acceptance not down."""
    reward, acceptance = comparison.get("reward"), comparison.get("acceptance")
    return bool(reward and acceptance and reward["low"] > 0.0 and acceptance["mean"] > LEAST_ACCEPTANCE)


class Loop:
    def __init__(self, options: argparse.Namespace):
        self.options = options
        self.record = options.output / "loop.jsonl"
        self.python = sys.executable

    def program(self, name: str) -> pathlib.Path:
        return self.options.programs / name

    def done(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in rows_of(self.record)] if self.record.exists() else []

    def prompts(self) -> pathlib.Path:
        return self.options.prompts or SCRIPTS.parent / "graphs" / "prompts-small"

    def reward_server(self, states: pathlib.Path, store: str) -> Any:
        """What it judged is remembered in OUT/STORE, for later iterations, too."""
        return serving([self.program("regraph-reward-server"), states, "--device", self.options.device, "--evaluator",
                        self.options.evaluator, "--port", "0", "--store", self.options.output / store, "--quiet"])

    def asking(self) -> list[Any]:
        """How a search asks the model, as it was taught."""
        if self.options.task == "choose":
            return ["--expander", "advised", "--llm-opinions", "8", "--llm-max-tokens", "64"]
        return ["--expander", self.options.expander, "--llm-no-proposals", "--llm-repairs", "0", "--llm-max-tokens", "1024"]

    def search(self, model: pathlib.Path, folder: pathlib.Path, iteration: int) -> list[pathlib.Path]:
        kernels = sorted(self.options.kernels.rglob("*.cu"))
        if not kernels:
            raise BadInput(f"{self.options.kernels}: no kernels (*.cu) in it")
        chosen = random.Random(self.options.seed + iteration).sample(kernels, min(self.options.searches, len(kernels)))
        directories = [folder / "runs" / f"{kernel.parent.name}-{kernel.stem}" for kernel in chosen]

        def one(kernel: pathlib.Path, directory: pathlib.Path) -> None:
            if (directory / "result.json").exists():
                return
            run([self.program("regraph-search"), kernel, "--device", self.options.device, "--evaluator",
                 self.options.evaluator, *self.asking(), "--llm-url", url, "--llm-model", "loop", "--llm-prompts",
                 self.prompts(), "--llm-temperature", "1", "--evaluations", self.options.evaluations, "--output", directory,
                 "--quiet"], (0, 3, 4, 6))

        with serving([self.python, SCRIPTS / "regraph_serve.py", model, "--port", "0", "--name", "loop"]) as url:
            with concurrent.futures.ThreadPoolExecutor(self.options.at_once) as pool:
                list(pool.map(one, chosen, directories))
        return [directory for directory in directories if (directory / "run.db").exists()]

    def runs_so_far(self, iteration: int) -> list[pathlib.Path]:
        return sorted(path.parent for number in range(1, iteration + 1)
                      for path in self.options.output.glob(f"iteration-{number}/runs/*/run.db"))

    def learn(self, model: pathlib.Path, folder: pathlib.Path, iteration: int) -> pathlib.Path:
        data = folder / "set"
        if not (data / "checksums.xxh128").exists():
            run([self.program("regraph-dataset"), "build", *self.runs_so_far(iteration), "--task", self.options.task, "--device",
                 self.options.device, "--evaluator", self.options.evaluator, "--output", data,
                 "--work", self.options.output / "work", "--prompts", self.prompts(), "--validation", "0", "--test", "0",
                 "--no-parquet", "--quiet"], log=folder / "build.log")
        new_file = data / "data" / "sft" / "train-00000.jsonl"
        new = rows_of(new_file) if new_file.exists() else []
        preset = ["--preset", self.options.preset, "--seed", self.options.seed + iteration]
        taught = folder / "sft" / "model"
        if not new:
            taught = model  # nothing was found that is worth imitating; there are states to answer all the same
        elif not taught.exists():
            mixed = folder / "mixed.jsonl"
            rows = mixed_rows(new, rows_of(self.options.replay), self.options.seed + iteration)
            mixed.write_text("\n".join(rows) + "\n", encoding="utf-8")
            run([self.python, SCRIPTS / "regraph_sft.py", mixed, "--model", model, "--output", folder / "sft",
                 "--minutes", self.options.sft_minutes, *preset], log=folder / "sft.log")
        tuned = folder / "grpo" / "model"
        if not tuned.exists():
            with self.reward_server(data, "scores.jsonl") as url:
                run([self.python, SCRIPTS / "regraph_grpo.py", data / "data" / "rl" / "train-00000.jsonl", "--model", taught,
                     "--reward-url", url, "--output", folder / "grpo", "--minutes", self.options.grpo_minutes, *preset],
                    log=folder / "grpo.log")
        return tuned

    def judge(self, model: pathlib.Path, output: pathlib.Path) -> pathlib.Path:
        if not (output / "summary.json").exists():
            with self.reward_server(self.options.held, "held-scores.jsonl") as url:
                run([self.python, SCRIPTS / "regraph_evaluate.py", "run",
                     self.options.held / "data" / "rl" / "train-00000.jsonl", "--model", model, "--reward-url", url,
                     "--output", output, "--prompts", self.options.held_prompts, "--samples", self.options.samples,
                     "--max-tokens", 64 if self.options.task == "choose" else 1024])
        return output

    def iterate(self, iteration: int, model: pathlib.Path) -> dict[str, Any]:
        begin = time.monotonic()
        folder = self.options.output / f"iteration-{iteration}"
        folder.mkdir(parents=True, exist_ok=True)
        runs = self.search(model, folder, iteration)
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            judging = pool.submit(self.judge, model, folder / "before")
            tuned = self.learn(model, folder, iteration)
            before = judging.result()
        after = self.judge(tuned, folder / "after")
        comparison = json.loads(run([self.python, SCRIPTS / "regraph_evaluate.py", "compare", before, after, "--json"]))
        promoted = is_better(comparison)
        speedups = {}
        for directory in runs:
            if (directory / "result.json").exists():  # a failed search may have states to learn from all the same
                result = json.loads((directory / "result.json").read_text(encoding="utf-8"))
                speedups[directory.name] = result.get("speedup")
        return {"iteration": iteration, "model": str(model), "tuned": str(tuned), "comparison": comparison,
                "promoted": promoted, "next": str(tuned if promoted else model), "searches": speedups,
                "seconds": time.monotonic() - begin}

    def run(self) -> None:
        self.options.output.mkdir(parents=True, exist_ok=True)
        done = self.done()
        model = pathlib.Path(done[-1]["next"]) if done else self.options.model
        for iteration in range(len(done) + 1, self.options.iterations + 1):
            line = self.iterate(iteration, model)
            with open(self.record, "a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
            model = pathlib.Path(line["next"])
            reward = line["comparison"].get("reward")
            shown = f"{reward['mean']:+.4f} [{reward['low']:+.4f}, {reward['high']:+.4f}]" if reward else "unknown"
            print(f"iteration {iteration}: reward {shown}, {'promoted' if line['promoted'] else 'not better: kept the old'}",
                  flush=True)
        print(f"model: {model}")


def read_options(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    path = pathlib.Path
    parser.add_argument("--programs", type=path, required=True, help="folder of regraph-search and the others")
    parser.add_argument("--model", type=path, required=True, help="folder of the model to begin with")
    parser.add_argument("--kernels", type=path, required=True, help="folder of kernels to search")
    parser.add_argument("--held", type=path, required=True, help="data set whose prompts judge the models")
    parser.add_argument("--replay", type=path, required=True, help="rows of earlier supervised training, .jsonl")
    parser.add_argument("--output", type=path, required=True)
    parser.add_argument("--iterations", type=int, default=3)
    parser.add_argument("--searches", type=int, default=8, help="kernels searched in an iteration")
    parser.add_argument("--at-once", type=int, default=max(1, (os.cpu_count() or 2) // 2), help="searches (%(default)s)")
    parser.add_argument("--evaluations", type=int, default=40, help="of a search")
    parser.add_argument("--task", choices=("apply", "choose"), default="apply", help="what the model was taught (%(default)s)")
    parser.add_argument("--expander", choices=("llm", "both"), default="both")
    parser.add_argument("--device", default="h200")
    parser.add_argument("--evaluator", default="model", help="where times come from: what is measured on the GPU that a "
                        "model is trained on says little (%(default)s)")
    parser.add_argument("--prompts", type=path, help="folder of prompts (default: the small ones)")
    parser.add_argument("--preset", default="", help="default: scratch-25m, choose-5m by task")
    parser.add_argument("--sft-minutes", type=float, default=1.0)
    parser.add_argument("--grpo-minutes", type=float, default=3.0)
    parser.add_argument("--held-prompts", type=int, default=0, help="the first so many alone; 0: all")
    parser.add_argument("--samples", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    options.programs = options.programs.resolve()
    options.preset = options.preset or {"apply": "scratch-25m", "choose": "choose-5m"}[options.task]
    return options


def main() -> int:
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    Loop(read_options()).run()
    return 0


if __name__ == "__main__":
    sys.exit(run_main(main))
