"""Begins a language model from nothing: a tokenizer trained on the data, a small Qwen3 with random weights.

    python/regraph_model.py DATA --output FOLDER [--preset scratch-25m] [--seed N]
    python/regraph_model.py --check FOLDER

regraph_sft.py does the same by itself when it is given no --model; this is for looking at the parts, and
--check says what is wrong with a model's folder before it is carried anywhere.
"""

from __future__ import annotations

import argparse
import pathlib
import sys
from typing import Any

from regraph_training import provenance
from regraph_training.errors import BadInput, run_main
from regraph_training.model_folder import (check_model_folder, hash_of_model, hash_of_tokenizer,  # noqa: F401
                                           load_model, load_tokenizer, write_model_folder)
from regraph_training.preset import Preset, read_preset
from regraph_training.records import Row, split_pair, training_rows
from regraph_training.scratch_model import build_model, parameter_count
from regraph_training.tokenizer import train_tokenizer

TOKENIZER_ROWS = 5_000  # pairs that the tokenizer is trained on, spread over the data: 4,096 entries need no more


def model_from_scratch(rows: list[Row], preset: Preset, seed: int) -> tuple[Any, Any]:
    """Model and tokenizer; the tokenizer sees renamed variants too, so that names of one corpus get no tokens."""
    from regraph_augment import augment
    texts = []
    for number, row in enumerate(rows[::-(-len(rows) // TOKENIZER_ROWS)]):
        prompt, answer = augment(*split_pair(row, f"row {number + 1}"), number % max(1, preset.sft.variants), seed)
        texts.extend([message["content"] for message in prompt] + [answer])
    length = preset.model.config.get("max_position_embeddings", 4096)
    tokenizer = train_tokenizer(texts, preset.model.vocabulary, length)
    return build_model(tokenizer, preset.model.config, seed), tokenizer


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", nargs="?", help="training pairs: file or folder")
    parser.add_argument("--output", type=pathlib.Path, help="folder to write the model to")
    parser.add_argument("--preset", default="scratch-25m", help="file, or name of a shipped one")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--check", metavar="FOLDER", help="only check a model's folder")
    options = parser.parse_args()
    if options.check:
        config = check_model_folder(options.check)
        print(f"{options.check}: {config['architectures'][0]}, {hash_of_model(options.check)[:12]}")
        return 0
    if not options.data or not options.output:
        raise BadInput("expected DATA and --output FOLDER, or --check FOLDER")
    preset = read_preset(options.preset)
    if not preset.model.scratch:
        raise BadInput(f"preset {preset.name} begins with a pretrained model ({preset.model.base}), not from scratch")
    rows = training_rows(options.data, ("sft", "pc"))
    model, tokenizer = model_from_scratch(rows, preset, options.seed)
    write_model_folder(model, tokenizer, options.output, {
        "parent": None, "made_by": "regraph_model.py", "seed": options.seed, "preset": preset.as_data(),
        "data": {"path": str(options.data), "hash": provenance.hash_of_rows(rows), "rows": len(rows)}})
    print(f"{options.output}: {parameter_count(model) / 1e6:.1f} M parameters, {len(tokenizer)} tokens")
    return 0


if __name__ == "__main__":
    sys.exit(run_main(main))
