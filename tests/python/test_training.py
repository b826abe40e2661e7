import json
import math
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from unittest import mock

from support import (PYTHON, TORCH_PACKAGES, TRL_PACKAGES, FakeRewardServer, journal, lacking, one_thread, run_main,
                     toy_preset, write_rows)
from samples import pairs

SKIP_TORCH, SKIP_TRL = lacking(TORCH_PACKAGES), lacking(TRL_PACKAGES)


class WithFolder(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        one_thread()
        holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(holder.cleanup)
        cls.root = pathlib.Path(holder.name)
        cls.data = write_rows(cls.root / "pairs.jsonl", pairs(50))


@unittest.skipIf(SKIP_TORCH, SKIP_TORCH)
class Supervised(WithFolder):
    def test_the_loss_falls_and_the_model_can_be_loaded(self):
        from regraph_training.model_folder import check_model_folder
        output = self.root / "a"
        code, said = run_main("regraph_sft", self.data, "--preset", "toy", "--output", output, "--tokens", 25000)
        self.assertEqual(code, 0, said)
        steps = journal(output)
        self.assertLess(steps[-1]["loss"], 0.3 * steps[0]["loss"])
        self.assertEqual([step["step"] for step in steps], list(range(1, len(steps) + 1)))
        self.assertEqual({step["loss_over"] for step in steps}, {"all", "answers"})
        check_model_folder(output / "model")
        lineage = json.loads((output / "model" / "lineage.json").read_text())
        self.assertEqual((lineage["seed"], lineage["data"]["rows"]), (1, 46))
        run = json.loads((output / "run.json").read_text())["parts"][0]
        for name in ("versions", "preset", "data", "seed", "commit"):
            self.assertIn(name, run)
        self.assertIn("exact", journal(output, "evaluation")[-1])
        # Going on is no new beginning: neither questions in the loss nor the first rate.
        code, said = run_main("regraph_sft", self.data, "--preset", "toy", "--model", output / "model", "--output",
                              self.root / "on", "--tokens", 6000)
        self.assertEqual(code, 0, said)
        more = journal(self.root / "on")
        self.assertEqual({step["loss_over"] for step in more}, {"answers"})
        self.assertLessEqual(max(step["learning_rate"] for step in more), 0.0005)
        self.assertLess(more[0]["loss"], 1.5 * steps[-1]["loss"])

    def test_a_killed_run_goes_on_and_ends_as_if_it_had_not_been(self):
        preset = toy_preset(self.root / "often.json", sft={"checkpoint_seconds": 0.0})
        output = self.root / "killed"
        # CUDA is hidden: two parts on different devices would not be equal.
        arguments = [self.data, "--preset", preset, "--output", output, "--tokens", 30000]
        process = subprocess.Popen([sys.executable, PYTHON / "regraph_sft.py", *map(str, arguments)],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   env=dict(os.environ, OMP_NUM_THREADS="1"))
        try:
            until = time.monotonic() + 60
            while not list((output / "checkpoints").glob("step-0000000[3-9]")) and time.monotonic() < until:
                time.sleep(0.01)
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait()
        first = [step["step"] for step in journal(output)]
        self.assertGreater(len(first), 2)
        code, said = run_main("regraph_sft", *arguments, "--resume")
        self.assertEqual(code, 0, said)
        resumed_at = json.loads((output / "run.json").read_text())["parts"][1]["resumed_at"]
        self.assertGreaterEqual(resumed_at, 3)
        later = [step["step"] for step in journal(output)][len(first):]
        self.assertEqual(later[0], resumed_at + 1)
        code, said = run_main("regraph_sft", self.data, "--preset", preset, "--output", self.root / "whole",
                              "--tokens", 30000)
        self.assertEqual(code, 0, said)
        self.assertEqual(later[-1], journal(self.root / "whole")[-1]["step"])
        self.assertAlmostEqual(journal(output)[-1]["loss"], journal(self.root / "whole")[-1]["loss"], places=3)
        code, said = run_main("regraph_sft", *arguments, "--resume", "--seed", 2)
        self.assertEqual((code, "other data, preset or seed" in said), (2, True))

    def test_time_gate_and_bad_numbers_end_it(self):
        code, said = run_main("regraph_sft", self.data, "--preset", "toy", "--output", self.root / "time", "--minutes",
                              0.02)
        self.assertEqual((code, "the time is up" in said), (0, True), said)
        code, said = run_main("regraph_sft", self.data, "--preset", "toy", "--output", self.root / "gate", "--gate", 0.99,
                              "--gate-after", 0)
        self.assertEqual((code, "the gate: after" in said), (3, True), said)
        rows = write_rows(self.root / "steps.jsonl", [dict(row, step="ab"[number % 2]) for number, row in
                                                      enumerate(pairs(50))])
        code, said = run_main("regraph_sft", rows, "--preset", "toy", "--output", self.root / "steps", "--tokens", 2000,
                              "--gate", 0.5, "--gate-steps", "a,c")
        self.assertEqual((code, "--gate-steps c:" in said), (2, True), said)
        code, said = run_main("regraph_sft", rows, "--preset", "toy", "--output", self.root / "steps", "--tokens", 2000,
                              "--gate-steps", "a")
        self.assertEqual((code, list(journal(self.root / "steps", "evaluation")[-1]["exact_by_step"])), (0, ["a", "b"]))
        from regraph_training.own_loop import OwnLoop
        whole = OwnLoop._loss

        def spoilt(self, batch, answers_only):
            loss, counted = whole(self, batch, answers_only)
            return (loss * math.nan if self.step == 2 else loss), counted

        with mock.patch.object(OwnLoop, "_loss", spoilt):
            code, said = run_main("regraph_sft", self.data, "--preset", "toy", "--output", self.root / "nan")
        self.assertEqual(code, 3, said)
        self.assertRegex(said, "step 2: the loss is nan.*last good state: .*step-0000")

    def test_other_processes_make_the_same_variants(self):
        from test_model import TEXTS
        from regraph_training import examples
        from regraph_training.records import split_pair
        from regraph_training.tokenizer import train_tokenizer
        text = train_tokenizer(TEXTS, 400, 1024).backend_tokenizer.to_str()
        split = [split_pair(row, "x") for row in pairs(300)]
        alone = examples.Examples(split, text, 3, 7)
        with mock.patch.object(examples, "_FEWEST_TO_SHARE", 1):
            shared = examples.Examples(split, text, 3, 7, workers=1)
        self.addCleanup(shared.close)
        shared.prepare(1)
        for epoch in (0, 1, 4):
            self.assertEqual(alone.epoch(epoch), shared.epoch(epoch))
        self.assertNotEqual(alone.epoch(1), alone.epoch(4))
        self.assertEqual(alone.epoch(0), alone.epoch(3))

    def test_bad_input_is_one_line(self):
        for arguments, expected in ((["none.jsonl"], "no such file"), ([self.data, "--resume"], "nothing to resume"),
                                    ([self.data, "--model", self.root], "config.json is missing|foreign file"),
                                    ([self.data, "--preset", "coder-7b-lora"], "--model")):
            code, said = run_main("regraph_sft", *arguments, *([] if "--preset" in arguments else ["--preset", "toy"]),
                                  "--output", self.root / "bad")
            self.assertEqual(code, 2, said)
            self.assertRegex(said, expected)


@unittest.skipIf(SKIP_TRL, SKIP_TRL)
class ThroughTrl(WithFolder):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        code, said = run_main("regraph_sft", cls.data, "--preset", "toy", "--output", cls.root / "sft", "--tokens", 20000)
        assert code == 0, said
        cls.model = cls.root / "sft" / "model"
        cls.prompts = write_rows(cls.root / "rl.jsonl", [
            {"prompt": row["messages"][:2], "state": f"state{number}", "step": "unroll", "kernel": f"k{number % 7}",
             "family": "toy", "stage": 1 + number % 2} for number, row in enumerate(pairs(12))])

    @staticmethod
    def by_length(item):
        correct = len(item["completion"]) % 2 == 0
        return {"reward": len(item["completion"]) / 100, "outcome": "correct" if correct else "wrong", "message": "",
                "verdict": "correct", "seconds": 1.0, "parent_seconds": 2.0, "same_as_rewriter": correct}

    def test_sft_with_adapters(self):
        from regraph_training.model_folder import check_model_folder
        preset = toy_preset(self.root / "trl.json", sft={"trainer": "trl", "trl": {
            "max_steps": 3, "per_device_train_batch_size": 4, "gradient_checkpointing": False}})
        code, said = run_main("regraph_sft", self.data, "--preset", preset, "--model", self.model, "--output",
                              self.root / "lora")
        self.assertEqual(code, 0, said)
        self.assertEqual(len(journal(self.root / "lora")), 3)
        check_model_folder(self.root / "lora" / "model")

    def test_grpo_steps_and_resume(self):
        from regraph_training.model_folder import check_model_folder, hash_of_model
        preset = toy_preset(self.root / "grpo.json", grpo={"checkpoint_seconds": 0.0})
        output = self.root / "grpo"
        arguments = [self.prompts, "--model", self.model, "--preset", preset, "--output", output]
        with FakeRewardServer(self.by_length) as server:
            code, said = run_main("regraph_grpo", *arguments, "--reward-url", server.url, "--steps", 2)
            self.assertEqual(code, 0, said)
            self.assertEqual(sum(len(body["items"]) for _, body in server.requests), 16)
            self.assertTrue(all(item["state"].startswith("state") for _, body in server.requests for item in body["items"]))
            code, said = run_main("regraph_grpo", *arguments, "--reward-url", server.url, "--steps", 4, "--resume",
                                  "--permute-rewards")
            self.assertEqual(code, 0, said)
        steps = journal(output)
        self.assertEqual([step["step"] for step in steps], [1, 2, 3, 4])
        for name in ("reward", "accepted", "outcome/wrong", "frac_reward_zero_std", "kl", "entropy", "same_as_rewriter",
                     "clip_ratio/region_mean", "completions/mean_length", "generation_seconds", "reward_seconds"):
            self.assertIn(name, steps[0])
        answers = [json.loads(line) for line in (output / "completions.jsonl").read_text().splitlines()]
        self.assertEqual(len(answers), 32)
        self.assertTrue(all(answer["reward"] == answer["given_reward"] for answer in answers[:16]))
        self.assertFalse(all(answer["reward"] == answer["given_reward"] for answer in answers[16:]))
        self.assertEqual(sorted(answer["reward"] for answer in answers[16:]),
                         sorted(answer["given_reward"] for answer in answers[16:]))
        check_model_folder(output / "model")
        self.assertNotEqual(hash_of_model(output / "model"), hash_of_model(self.model))
        parts = json.loads((output / "run.json").read_text())["parts"]
        self.assertIn("checkpoint-2", parts[1]["resumed_at"])

    def test_all_parameters_with_the_sampling_of_transformers(self):
        preset = toy_preset(self.root / "hf.json", grpo={"sampler": "transformers"})
        with FakeRewardServer(self.by_length) as server:
            code, said = run_main("regraph_grpo", self.prompts, "--model", self.model, "--preset", preset, "--output",
                                  self.root / "hf", "--reward-url", server.url, "--steps", 1, "--full")
        self.assertEqual(code, 0, said)
        self.assertFalse((self.root / "hf" / "adapter").exists())

    def test_it_ends_in_time_and_before_bad_numbers(self):
        arguments = [self.prompts, "--model", self.model, "--preset", "toy"]
        with FakeRewardServer(self.by_length) as server:
            code, said = run_main("regraph_grpo", *arguments, "--output", self.root / "time", "--reward-url", server.url,
                                  "--minutes", 0.001)
            self.assertEqual((code, "the time is up after 2 steps" in said), (0, True), said)
            self.assertTrue((self.root / "time" / "checkpoints" / "checkpoint-2" / "curriculum.json").exists())
            preset = toy_preset(self.root / "wild.json", grpo={"trl": {
                **json.loads((PYTHON / "presets" / "toy.json").read_text())["grpo"]["trl"], "learning_rate": 1e30,
                "max_grad_norm": 0.0, "warmup_steps": 0}})
            code, said = run_main("regraph_grpo", self.prompts, "--model", self.model, "--preset", preset, "--output",
                                  self.root / "wild", "--reward-url", server.url)
        self.assertEqual(code, 3, said)
        self.assertRegex(said, "stopped: .*no number|stopped: .*nan")

    def test_rows_from_parquet(self):
        import pyarrow
        import pyarrow.parquet
        from regraph_training.records import read_rows, training_rows
        rows = pairs(3)
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), self.root / "rows.parquet")
        self.assertEqual(read_rows(self.root / "rows.parquet", "train", ("sft",)), rows)
        (self.root / "bad.parquet").write_text("no")
        from regraph_training.errors import BadInput
        with self.assertRaisesRegex(BadInput, "bad.parquet: cannot be read"):
            training_rows(self.root / "bad.parquet", ("sft",))

    def test_a_failing_service_ends_it(self):
        with FakeRewardServer(lambda item: {"reward": None, "outcome": "no_verdict", "message": "no worker"}) as server, \
                mock.patch("regraph_rewards.RewardClient.window", 100):
            code, said = run_main("regraph_grpo", self.prompts, "--model", self.model, "--preset", "toy", "--output",
                                  self.root / "none", "--reward-url", server.url)
        self.assertEqual(code, 3, said)
        self.assertRegex(said, "stopped: .*no worker")

    def test_prompts_are_looked_at_first(self):
        arguments = ["--model", self.model, "--output", self.root / "x", "--reward-url", "http://127.0.0.1:9"]
        code, said = run_main("regraph_grpo", self.data, "--preset", "toy", *arguments)
        self.assertEqual((code, "column `prompt`" in said), (2, True), said)
        preset = toy_preset(self.root / "short.json", grpo={"max_prompt_tokens": 5})
        code, said = run_main("regraph_grpo", self.prompts, "--preset", preset, *arguments)
        self.assertEqual((code, "all 12 prompts are longer" in said), (2, True), said)
        preset = toy_preset(self.root / "old.json", grpo={"trl": {"max_prompt_length": 512}})
        code, said = run_main("regraph_grpo", self.prompts, "--preset", preset, *arguments)
        self.assertEqual((code, "unknown setting 'max_prompt_length'" in said), (2, True), said)

    def test_merged_weights_answer_as_the_adapters_do(self):
        import torch
        from peft import get_peft_model
        from regraph_training.merging import SamplingCopy
        from regraph_training.model_folder import load_model
        from regraph_training.preset import LoraSettings
        from regraph_training.trl_watch import lora_config
        torch.manual_seed(1)
        model = get_peft_model(load_model(self.model, "float32", "cpu"), lora_config(LoraSettings(r=4)))
        for name, parameter in model.named_parameters():
            if "lora_B" in name:
                torch.nn.init.normal_(parameter, std=0.1)
        model.eval()
        tokens = torch.randint(5, 200, (2, 12))
        with torch.no_grad():
            torch.testing.assert_close(SamplingCopy(model, torch.float32).refresh(model)(tokens).logits,
                                       model(tokens).logits, rtol=1e-4, atol=1e-4)

    def test_evaluation(self):
        output = self.root / "evaluation"
        with FakeRewardServer(self.by_length) as server:
            code, said = run_main("regraph_evaluate", "run", self.prompts, "--model", self.model, "--output", output,
                                  "--reward-url", server.url, "--samples", 2, "--max-tokens", 16)
        self.assertEqual(code, 0, said)
        rows = [json.loads(line) for line in (output / "rows.jsonl").read_text().splitlines()]
        self.assertEqual((len(rows), sum(row["greedy"] for row in rows)), (36, 12))
        code, said = run_main("regraph_evaluate", "compare", output, output, "--resamples", 100)
        self.assertEqual((code, "+0.0000" in said), (0, True), said)


if __name__ == "__main__":
    unittest.main()
