"""Supervised fine-tuning on pairs of prompt and answer: from scratch, or of a model in a folder.

    python/regraph_sft.py DATA --preset scratch-25m --output OUT --minutes 10
    python/regraph_sft.py DATA --preset coder-7b-lora --model FOLDER --output OUT

DATA: .jsonl or .parquet with `messages`, or `prompt` and `completion`; or a data set's folder. OUT gets
model/ (ready to serve), checkpoints/, run.json (what it was made of) and training.jsonl (a line a step;
regraph_curves.py draws it). --resume goes on after a kill or when the time was up.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import sys
from typing import Any

from regraph_training import provenance
from regraph_training.errors import BadInput, run_main
from regraph_training.journal import Journal
from regraph_training.preset import Preset, read_preset
from regraph_training.records import Row, read_rows, split_pair, training_rows

FORMS = ("sft", "pc")


def split_off(rows: list[Row], count: int, seed: int) -> tuple[list[Row], list[Row]]:
    """Training rows and about `count` held-out ones (at most a tenth). Whole kernels are held out, where rows name
    theirs: a kernel's neighbours in training would tell its answers."""
    from regraph_training.sampling import seed_of
    count = min(count, len(rows) // 10)
    groups: dict[str, list[int]] = {}
    for number, row in enumerate(rows):
        groups.setdefault(str(row.get("kernel") or number), []).append(number)
    held: set[int] = set()
    for name in sorted(groups, key=lambda group: seed_of(seed, group)):
        if len(held) >= count:
            break
        held.update(groups[name])
    return ([row for number, row in enumerate(rows) if number not in held],
            [row for number, row in enumerate(rows) if number in held])


def load_data(options: argparse.Namespace, preset: Preset) -> tuple[list[Row], list[Row]]:
    """Training and held-out rows: the data set's own validation split, where it has one."""
    from regraph_training.sampling import seed_of
    rows = training_rows(options.data, FORMS)
    validation = read_rows(options.data, "validation", FORMS)
    if not validation:
        return split_off(rows, preset.sft.evaluate_rows, options.seed)
    validation.sort(key=lambda row: seed_of(options.seed, json.dumps(row, sort_keys=True, default=str)))
    return rows, validation[:preset.sft.evaluate_rows]


def start_model(options: argparse.Namespace, preset: Preset, rows: list[Row], device: str) -> tuple[Any, Any]:
    """Model and tokenizer: a new one, the folder's, or on --resume the one that the run began with. In float32, as
    bf16 weights would have no exact copy to add small steps to; but below adapters, where they are not trained."""
    from regraph_training import model_folder
    begun = options.output / "initial"
    if options.resume and begun.exists():
        return model_folder.load_model(begun, "float32", device), model_folder.load_tokenizer(begun)
    if options.model:
        below_adapters = preset.sft.trainer == "trl" and preset.lora and device == "cuda"
        return (model_folder.load_model(options.model, "bfloat16" if below_adapters else "float32", device),
                model_folder.load_tokenizer(options.model))
    if not preset.model.scratch:
        raise BadInput(f"preset {preset.name} begins with {preset.model.base}: name a folder that holds it by --model")
    from regraph_model import model_from_scratch
    model, tokenizer = model_from_scratch(rows, preset, options.seed)
    model_folder.write_model_folder(model, tokenizer, begun, {"parent": None, "made_by": "regraph_sft.py",
                                                              "seed": options.seed}, dtype="float32")
    return model.to(device), tokenizer


def train_own(options: argparse.Namespace, preset: Preset, rows: list[Row], held_out: list[Row],
              journal: Journal) -> str:
    import torch
    from regraph_training import model_folder
    from regraph_training.examples import Examples, encode
    from regraph_training.own_loop import Limits, OwnLoop
    from regraph_training.tokenizer import CHAT_TEMPLATE

    device = "cuda" if torch.cuda.is_available() else "cpu"
    model, tokenizer = start_model(options, preset, rows, device)
    if tokenizer.chat_template != CHAT_TEMPLATE or model.config.model_type != "qwen3":
        raise BadInput(f"{options.model}: sft.trainer \"own\" trains models that regraph_model.py made; take a preset "
                       "with \"trainer\": \"trl\" for others")
    pairs = [split_pair(row, f"training row {number + 1}") for number, row in enumerate(rows)]
    examples = Examples(pairs, tokenizer.backend_tokenizer.to_str(), preset.sft.variants, options.seed)
    encoded = encode([split_pair(row, "held-out row") for row in held_out], tokenizer.backend_tokenizer)
    held = [(example, str(row.get("step") or "")) for example, row in zip(encoded, held_out, strict=True)
            if len(example) <= preset.sft.max_length]
    gate_steps = frozenset(options.gate_steps.split(",")) - {""}
    if gate_steps - {step for _, step in held}:
        raise BadInput(f"--gate-steps {','.join(sorted(gate_steps - {step for _, step in held}))}: no held-out pair has it in "
                       f"its column `step` (there are: {', '.join(sorted({step for _, step in held if step})) or 'none'})")
    what = what_it_is(options, preset, rows, held_out)
    identity = provenance.hash_of_rows([what, str(options.model)])
    loop = OwnLoop(model, tokenizer.pad_token_id, examples, [example for example, _ in held], preset.sft,
                   Limits(options.minutes, options.total_minutes, options.gate, options.gate_after, gate_steps), journal,
                   options.output, options.seed, identity, [step for _, step in held])
    if options.resume:
        loop.resume()
    journal.run(script="regraph_sft.py", **what, parent=str(options.model) if options.model else None, device=device,
                parameters=sum(parameter.numel() for parameter in model.parameters()), resumed_at=loop.step)
    try:
        outcome = loop.run()
    finally:
        examples.close()
    model_folder.write_model_folder(model, tokenizer, options.output / "model", {
        **what, "made_by": "regraph_sft.py", "steps": outcome.steps, "tokens": outcome.tokens,
        "parent": {"path": str(options.model), "hash": model_folder.hash_of_model(options.model)} if options.model else None,
        "evaluation": outcome.evaluation, "ended": outcome.reason})
    journal.line("end", step=outcome.steps, tokens=outcome.tokens, reason=outcome.reason,
                 tokenizer=model_folder.hash_of_tokenizer(options.output / "model"),
                 model=model_folder.hash_of_model(options.output / "model"))
    return f"{outcome.reason} after {outcome.steps} steps, {outcome.tokens / 1e6:.2f} M tokens"


def what_it_is(options: argparse.Namespace, preset: Preset, rows: list[Row], held_out: list[Row]) -> dict[str, Any]:
    """What a run is made of; equal for all parts of a resumed one."""
    return {"preset": preset.as_data(), "seed": options.seed,
            "data": {"path": str(options.data), "hash": provenance.hash_of_rows(rows), "rows": len(rows),
                     "held_out": len(held_out), "held_out_hash": provenance.hash_of_rows(held_out)}}


def read_options(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", help="pairs: .jsonl or .parquet file, or a data set's folder")
    parser.add_argument("--output", type=pathlib.Path, required=True, help="folder for the model and the run's record")
    parser.add_argument("--preset", default="scratch-25m", help="file, or name of a shipped one (%(default)s)")
    parser.add_argument("--model", type=pathlib.Path, help="folder of a model to go on from; our own go on at the preset's last learning rate, by answers alone")
    parser.add_argument("--minutes", type=float, default=0.0, help="end this part cleanly after so long")
    parser.add_argument("--total-minutes", type=float, default=0.0,
                        help="let the learning rate reach its end by then, over all parts, if tokens do not before")
    parser.add_argument("--tokens", type=int, default=0, help="budget; default: the preset's")
    parser.add_argument("--resume", action="store_true", help="go on from the newest checkpoint in --output")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--gate", type=float, default=0.0, help="stop unless held-out exact match reaches this share")
    parser.add_argument("--gate-after", type=float, default=180.0, metavar="SECONDS", help="when (%(default)s)")
    parser.add_argument("--gate-steps", default="", metavar="STEP,...", help="over pairs of these steps; default: all")
    return parser.parse_args(arguments)


def main() -> int:
    options = read_options()
    preset = read_preset(options.preset)
    if options.tokens:
        preset.sft.tokens = options.tokens
    if options.model and preset.sft.trainer == "own":
        # Where the schedule of its own training ended: from the beginning it would first be made to forget.
        preset.sft.learning_rate = preset.sft.last_learning_rate
        preset.sft.all_tokens_share = 0.0
    rows, held_out = load_data(options, preset)
    print(f"{len(rows)} pairs to train on, {len(held_out)} held out, preset {preset.name}", flush=True)
    journal = Journal(options.output, lambda line: print(line, flush=True), options.resume)
    if preset.sft.trainer == "trl":
        from regraph_training.trl_sft import train_trl
        ended = train_trl(options, preset, rows, held_out, journal)
    else:
        ended = train_own(options, preset, rows, held_out, journal)
    print(f"{ended}; model: {options.output / 'model'}")
    return 0


if __name__ == "__main__":
    sys.exit(run_main(main))
