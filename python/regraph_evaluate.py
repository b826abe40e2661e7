"""Evaluates a model's folder on held-out prompts, and compares two evaluations.

    python/regraph_evaluate.py run DATA --model FOLDER --reward-url URL --output OUT [--samples 8]
    python/regraph_evaluate.py compare OUT_A OUT_B [--greedy]

Every prompt gets a greedy answer and K samples at temperature 1; a sample's seed is a hash of the prompt and
its number. OUT gets rows.jsonl (a line an answer) and summary.json. `compare` prints B - A per kernel, with
95 % intervals from 10,000 resamples of kernels: an improvement is shown where the interval lies above 0.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import pathlib
import sys

from regraph_rewards import RewardClient, ServiceFailing, ServiceRefused
from regraph_training.errors import BadInput, TrainingStopped, run_main
from regraph_training.evaluation import (ROWS_FILE, SUMMARY_FILE, compare, read_evaluation, requests_for, score_rows,
                                         summary_of)
from regraph_training.records import read_rows


def run(options: argparse.Namespace) -> int:
    from regraph_training import model_folder, provenance
    from regraph_training.grpo_data import grpo_rows
    from regraph_training.sampling import generate
    from regraph_training.tokenizer import token_ids
    import torch

    try:
        client = RewardClient(options.reward_url or os.environ.get("REGRAPH_REWARD_URL", ""), options.reward)
    except ValueError as error:
        raise BadInput(str(error)) from None
    model_folder.check_model_folder(options.model)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    tokenizer = model_folder.load_tokenizer(options.model)
    read = read_rows(options.data, "train" if options.data.is_file() else options.split, ("rl",))
    if not read:
        raise BadInput(f"{options.data}: no prompts of split '{options.split}' (files {options.split}*.jsonl or .parquet, "
                       "there or in rl/); another --split?")
    rows, longer = grpo_rows(read, tokenizer, options.max_prompt_tokens, str(options.data))
    rows = rows[:options.prompts or None]
    model = model_folder.load_model(options.model, "bfloat16" if device == "cuda" else "float32", device)
    ends = model.generation_config.eos_token_id
    asked = requests_for(rows, [tuple(token_ids(tokenizer, row["prompt"], True)) for row in rows], options.samples,
                         options.max_tokens, options.temperature)
    print(f"{len(rows)} prompts ({longer} too long), {len(asked)} answers", flush=True)
    generated = generate(model, [request for _, _, request in asked], ends if isinstance(ends, list) else [ends],
                         tokenizer.pad_token_id, options.rows)
    texts = [tokenizer.decode(one.tokens, skip_special_tokens=True) for one in generated]
    try:
        lines = score_rows(rows, asked, generated, texts, client)
    except (ServiceFailing, ServiceRefused) as error:
        raise TrainingStopped(str(error)) from None
    options.output.mkdir(parents=True, exist_ok=True)
    with open(options.output / ROWS_FILE, "w", encoding="utf-8") as file:
        for line in lines:
            file.write(json.dumps(line) + "\n")
    summary = {**summary_of(lines), "model": str(options.model), "model_hash": model_folder.hash_of_model(options.model),
               "data": str(options.data), "data_hash": provenance.hash_of_rows(read), "samples": options.samples,
               "temperature": options.temperature, "max_tokens": options.max_tokens, "reward": options.reward,
               "too_long": longer, "versions": provenance.versions(), "commit": provenance.commit()}
    (options.output / SUMMARY_FILE).write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")
    for name in ("sampled", "greedy"):
        part = summary[name]
        shown = ", ".join(f"{measure.replace('_', ' ')} {part[measure]:.4f}" for measure in
                          ("reward", "acceptance", "ln_speedup_of_accepted") if part[measure] is not None)
        print(f"{name}: {shown}; {part['missing']} of {part['answers']} without a reward")
    return 0


def compare_two(options: argparse.Namespace) -> int:
    found = compare(read_evaluation(options.first), read_evaluation(options.second), options.greedy, options.resamples)
    if options.json:
        print(json.dumps({name: dataclasses.asdict(value) if value else None for name, value in found.items()}))
        return 0
    for name, value in found.items():
        print(f"{name.replace('_', ' '):24} no kernel in common" if value is None else
              f"{name.replace('_', ' '):24} {value.mean:+.4f}  [{value.low:+.4f}, {value.high:+.4f}]  "
              f"{value.kernels} kernels")
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True)
    part = commands.add_parser("run", help="ask a model and score its answers")
    part.add_argument("data", type=pathlib.Path, help="prompts in rl form: file, or a data set's folder")
    part.add_argument("--model", type=pathlib.Path, required=True)
    part.add_argument("--output", type=pathlib.Path, required=True)
    part.add_argument("--reward-url", default="", help="default: REGRAPH_REWARD_URL")
    part.add_argument("--reward", default="regraph")
    part.add_argument("--split", default="test", help="of a data set's folder (%(default)s)")
    part.add_argument("--samples", type=int, default=8)
    part.add_argument("--temperature", type=float, default=1.0)
    part.add_argument("--max-tokens", type=int, default=1024)
    part.add_argument("--max-prompt-tokens", type=int, default=3072)
    part.add_argument("--prompts", type=int, default=0, help="the first so many alone; 0: all")
    part.add_argument("--rows", type=int, default=512, help="answers at once (%(default)s)")
    part.set_defaults(command=run)
    part = commands.add_parser("compare", help="what the second has over the first")
    part.add_argument("first", type=pathlib.Path)
    part.add_argument("second", type=pathlib.Path)
    part.add_argument("--greedy", action="store_true", help="greedy answers instead of samples")
    part.add_argument("--resamples", type=int, default=10_000)
    part.add_argument("--json", action="store_true")
    part.set_defaults(command=compare_two)
    options = parser.parse_args()
    return options.command(options)


if __name__ == "__main__":
    sys.exit(run_main(main))
