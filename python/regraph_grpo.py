"""Reinforcement learning (GRPO) of a model against ReGraph's reward server.

    python/regraph_grpo.py DATA --model FOLDER --preset scratch-25m --reward-url URL --output OUT --minutes 10

DATA: rows with `prompt` (messages), `state` and perhaps step, kernel, family, stage. OUT gets model/ (adapters
merged, ready to serve), adapter/, checkpoints/, run.json, training.jsonl (rewards' parts, ties, entropy, KL,
lengths, seconds by phase) and completions.jsonl (every answer with its verdict). --permute-rewards is a
control: the same training with rewards that belong to other answers.
"""

from __future__ import annotations

import argparse
import pathlib
import sys

from regraph_training.errors import run_main
from regraph_training.journal import Journal
from regraph_training.preset import read_preset
from regraph_training.records import training_rows


def read_options(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", help="prompts: .jsonl or .parquet file, or a data set's folder")
    parser.add_argument("--model", type=pathlib.Path, required=True, help="folder of the model to begin with")
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("--preset", default="scratch-25m", help="file, or name of a shipped one (%(default)s)")
    parser.add_argument("--reward-url", default="", help="the reward server; default: REGRAPH_REWARD_URL")
    parser.add_argument("--minutes", type=float, default=0.0, help="end this part cleanly after so long")
    parser.add_argument("--resume", action="store_true", help="go on from the newest checkpoint in --output")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=0, help="optimizer steps at most; default: the preset's")
    parser.add_argument("--full", action="store_true", help="train all parameters, whatever the preset says")
    parser.add_argument("--permute-rewards", action="store_true", help="control: rewards permuted within each batch")
    return parser.parse_args(arguments)


def main() -> int:
    options = read_options()
    preset = read_preset(options.preset)
    preset.grpo.full_parameters |= options.full
    if options.steps:
        preset.grpo.trl["max_steps"] = options.steps
    rows = training_rows(options.data, ("rl",))
    journal = Journal(options.output, lambda line: print(line, flush=True), options.resume)
    if not options.resume:
        (options.output / "completions.jsonl").unlink(missing_ok=True)
    from regraph_training.grpo_run import train_grpo
    print(f"{train_grpo(options, preset, rows, journal)}; model: {options.output / 'model'}")
    return 0


if __name__ == "__main__":
    sys.exit(run_main(main))
