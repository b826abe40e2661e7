#!/usr/bin/env python3
"""How fast the Python part trains and answers on this machine: tokens/s of a supervised step, and seconds for a batch
of GRPO's answers by either decoder, with their ratio from this run.

    bench/training/throughput.py [--preset scratch-25m] [--rows 512] [--prompt 700] [--answer 512] [--steps 20] [--compile]
"""

import argparse
import array
import pathlib
import random
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))


class SomeTokenizer:
    """As many tokens as the preset says; the text does not matter here."""
    eos_token_id, pad_token_id = 1, 0

    def __init__(self, size):
        self.size = size

    def __len__(self):
        return self.size


class SomeExamples:
    def __init__(self, examples):
        self.examples = examples

    def epoch(self, _):
        return self.examples

    def prepare(self, _):
        pass


def training(model, preset, steps, output):
    """Tokens/s over `steps` after 5, as the journal has them."""
    import json
    from regraph_training.examples import Example
    from regraph_training.journal import Journal
    from regraph_training.own_loop import Limits, OwnLoop
    draw = random.Random(1)
    examples = []
    for _ in range(4000):
        length = min(preset.sft.max_length, int(draw.lognormvariate(6.65, 0.6)))  # 950 on average
        examples.append(Example(array.array("i", [draw.randrange(5, 300) for _ in range(length)]), length // 2))
    preset.sft.tokens = preset.sft.tokens_per_step * (steps + 5)
    preset.sft.checkpoint_seconds = 1e9
    loop = OwnLoop(model, 0, SomeExamples(examples), [], preset.sft, Limits(), Journal(output), output, 1, "bench")
    loop.run()
    lines = [json.loads(line) for line in (output / "training.jsonl").read_text().splitlines()]
    lines = [line for line in lines if line["kind"] == "step"][5:]
    tokens = lines[-1]["tokens"] - lines[0]["tokens"]
    return tokens / (lines[-1]["seconds"] - lines[0]["seconds"])


def answering(model, options, decoder):
    """Seconds for a batch of answers, all of full length (no token ends one), and the answers."""
    import torch
    from regraph_training.sampling import Request, generate
    draw = random.Random(2)
    prompts = [tuple(draw.randrange(5, 300) for _ in range(draw.randrange(options.prompt // 2, options.prompt)))
               for _ in range(max(1, options.rows // 16))]
    requests = [Request(prompts[row % len(prompts)], options.answer, 1.0, row) for row in range(options.rows)]
    best = float("inf")
    for _ in range(2):  # the first run captures graphs
        begin = time.monotonic()
        answers = generate(model, requests, [len_of(model)], 0, options.rows, decoder)
        if model.device.type == "cuda":
            torch.cuda.synchronize()
        best = min(best, time.monotonic() - begin)
    return best, answers


def len_of(model):
    """A token that never comes."""
    return model.config.vocab_size


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--preset", default="scratch-25m")
    parser.add_argument("--rows", type=int, default=512)
    parser.add_argument("--prompt", type=int, default=700)
    parser.add_argument("--answer", type=int, default=512)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--compile", action="store_true")
    options = parser.parse_args()
    import tempfile
    import torch
    from regraph_training.preset import read_preset
    from regraph_training.scratch_model import build_model, parameter_count
    from regraph_training.static_decoder import SWITCH, StaticDecoder
    import os

    preset = read_preset(options.preset)
    preset.sft.compile = options.compile
    device = "cuda" if torch.cuda.is_available() else "cpu"
    name = torch.cuda.get_device_name(0) if device == "cuda" else "CPU"
    model = build_model(SomeTokenizer(preset.model.vocabulary), preset.model.config, 1).to(device)
    print(f"{name}: {parameter_count(model) / 1e6:.1f} M parameters", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        print(f"training: {training(model, preset, options.steps, pathlib.Path(folder)):,.0f} tokens/s", flush=True)
    model = build_model(SomeTokenizer(preset.model.vocabulary), preset.model.config, 1).to(device)
    if device == "cuda":
        model = model.to(torch.bfloat16)
    model.eval()
    static = StaticDecoder(model, graphs=device == "cuda")
    os.environ[SWITCH] = "0"
    slow, expected = answering(model, options, None)
    count = options.rows * options.answer
    print(f"answers by the model: {slow:.2f} s, {count / slow:,.0f} tokens/s", flush=True)
    static.check()
    if static.why_not:
        print(f"the static decoder is not used: {static.why_not}")
        return 1
    quick, found = answering(model, options, static)
    same = sum(one.tokens == other.tokens for one, other in zip(found, expected)) / len(found)
    print(f"answers by the static decoder: {quick:.2f} s, {count / quick:,.0f} tokens/s: {slow / quick:.2f} times as fast; "
          f"{same:.0%} of the answers equal")
    return 0


if __name__ == "__main__":
    sys.exit(main())
