import json
import pathlib
import shutil
import tempfile
import unittest

from support import ROOT, TORCH_PACKAGES, lacking, one_thread
from samples import ANSWER, PROMPT, QUESTION

from regraph_training.errors import BadInput
from regraph_training.model_folder import check_model_folder

SKIP = lacking(TORCH_PACKAGES)
TEXTS = [QUESTION, ANSWER, "int \u00e9 = 0; // \u4f60\u597d \U0001f600\r\n\t\tx\u00a0=  1;\n\n\n", "".join(map(chr, range(1, 700)))]


def make_folder(folder):
    """A toy model of samples, as regraph_model.py writes it."""
    from regraph_training.model_folder import write_model_folder
    from regraph_training.preset import read_preset
    from regraph_training.scratch_model import build_model
    from regraph_training.tokenizer import train_tokenizer
    preset = read_preset("toy")
    tokenizer = train_tokenizer(TEXTS, preset.model.vocabulary, 1024)
    model = build_model(tokenizer, preset.model.config, 1)
    write_model_folder(model, tokenizer, folder, {"parent": None}, dtype="float32")
    return model, tokenizer


@unittest.skipIf(SKIP, SKIP)
class ModelFolder(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        one_thread()
        holder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(holder.cleanup)
        cls.root = pathlib.Path(holder.name)
        cls.model, cls.tokenizer = make_folder(cls.root / "model")

    def copy(self):
        target = self.root / self.id()
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(self.root / "model", target)
        return target

    def test_round_trip_is_exact(self):
        from regraph_training.model_folder import load_tokenizer
        tokenizer = load_tokenizer(self.root / "model")
        sources = [path.read_text() for path in sorted(ROOT.glob("examples/*/*.cu"))]
        self.assertGreater(len(sources), 5)
        for text in TEXTS + sources:
            self.assertEqual(tokenizer.decode(tokenizer.encode(text, add_special_tokens=False)), text)

    def test_the_prompts_tokens_begin_the_wholes(self):
        from regraph_training.examples import encode
        from regraph_training.tokenizer import token_ids
        whole = PROMPT + [{"role": "assistant", "content": ANSWER}]
        prompt = token_ids(self.tokenizer, PROMPT, True)
        everything = token_ids(self.tokenizer, whole, False)
        self.assertEqual(everything[:len(prompt)], prompt)
        self.assertEqual(everything[-1], self.tokenizer.eos_token_id)
        self.assertNotEqual(self.tokenizer.eos_token_id, self.tokenizer.pad_token_id)
        example = encode([(PROMPT, ANSWER)], self.tokenizer.backend_tokenizer)[0]
        self.assertEqual((list(example.tokens), example.answer), (everything, len(prompt)))

    def test_the_shipped_size(self):
        from regraph_training.preset import read_preset
        from regraph_training.scratch_model import build_model, parameter_count

        class Tokenizer:
            eos_token_id, pad_token_id = 1, 0

            def __len__(self):
                return 4096

        count = parameter_count(build_model(Tokenizer(), read_preset("scratch-25m").model.config, 1))
        self.assertAlmostEqual(count / 1e6, 25.7, delta=0.1)

    def test_what_a_folder_holds(self):
        self.assertEqual(check_model_folder(self.root / "model")["architectures"], ["Qwen3ForCausalLM"])
        generation = json.loads((self.root / "model" / "generation_config.json").read_text())
        self.assertEqual((generation["do_sample"], generation["eos_token_id"], generation["pad_token_id"]), (True, 1, 0))
        self.assertIn("torch", json.loads((self.root / "model" / "lineage.json").read_text())["versions"])

    def test_what_is_missing_is_named(self):
        for name in ("config.json", "generation_config.json", "tokenizer.json", "tokenizer_config.json",
                     "chat_template.jinja"):
            folder = self.copy()
            (folder / name).unlink()
            with self.assertRaisesRegex(BadInput, f"{name} is missing"):
                check_model_folder(folder)
        folder = self.copy()
        (folder / "model.safetensors").unlink()
        with self.assertRaisesRegex(BadInput, "no weights"):
            check_model_folder(folder)
        with self.assertRaisesRegex(BadInput, "no such folder"):
            check_model_folder(self.root / "none")

    def test_what_is_foreign_is_named(self):
        for name, said in (("adapter_config.json", "not merged"), ("pytorch_model.bin", "pickle"),
                           ("modeling_x.py", "not run"), ("optimizer.pt", "pickle"), ("notes.txt", "not part of a model"),
                           ("trainer_state.json", "checkpoint")):
            folder = self.copy()
            (folder / name).write_text("{}")
            with self.assertRaisesRegex(BadInput, f"foreign file {name}.*{said}"):
                check_model_folder(folder)

    def test_cut_and_contradictory_files(self):
        folder = self.copy()
        data = (folder / "model.safetensors").read_bytes()
        (folder / "model.safetensors").write_bytes(data[:-100])
        with self.assertRaisesRegex(BadInput, "copy it again"):
            check_model_folder(folder)
        (folder / "model.safetensors").write_bytes(b"\x01")
        with self.assertRaisesRegex(BadInput, "no safetensors file"):
            check_model_folder(folder)
        folder = self.copy()
        (folder / "generation_config.json").write_text('{"eos_token_id": 1, "pad_token_id": 1}')
        with self.assertRaisesRegex(BadInput, "fills with the token that ends"):
            check_model_folder(folder)

    def test_parts_of_15_mb(self):
        from regraph_training.model_folder import load_model, write_model_folder
        from regraph_training.scratch_model import build_model
        import torch
        big = build_model(self.tokenizer, {"hidden_size": 512, "num_hidden_layers": 4}, 1)
        folder = self.root / "big"
        write_model_folder(big, self.tokenizer, folder, {})
        sizes = [path.stat().st_size for path in folder.glob("model-*.safetensors")]
        self.assertGreater(len(sizes), 1)
        self.assertLess(max(sizes), 15.1e6)
        loaded = load_model(folder, "float32", "cpu").state_dict()
        for name, value in big.state_dict().items():
            torch.testing.assert_close(loaded[name], value.to(torch.bfloat16).float(), rtol=0, atol=0)
        next(folder.glob("model-00002*")).unlink()
        with self.assertRaisesRegex(BadInput, "model-00002-of-.* is missing"):
            check_model_folder(folder)


@unittest.skipIf(SKIP, SKIP)
class Sampling(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        one_thread()
        import torch
        with tempfile.TemporaryDirectory() as folder:
            cls.model, cls.tokenizer = make_folder(pathlib.Path(folder))
        cls.model.eval()
        with torch.no_grad():  # sharper than at the start, so that answers differ by their prompts
            for parameter in cls.model.parameters():
                if parameter.dim() == 2:
                    parameter.mul_(3.0)
        cls.prompts = [tuple(cls.tokenizer.encode(f"<|user|>{text}<|end|><|assistant|>", add_special_tokens=False))
                       for text in ("int a;", "float sum = 0.0f; sum += a[i];", "x")]

    def answers(self, requests, **settings):
        from regraph_training.sampling import generate
        return generate(self.model, requests, [1], 0, **settings)

    def test_greedy_answers_are_transformers(self):
        import torch
        from regraph_training.sampling import Request
        ours = self.answers([Request(prompt, 24, 0.0) for prompt in self.prompts])
        for prompt, answer in zip(self.prompts, ours):
            theirs = self.model.generate(torch.tensor([prompt]), max_new_tokens=24, do_sample=False)[0, len(prompt):]
            self.assertEqual(answer.tokens, theirs.tolist()[:len(answer.tokens)])
            self.assertEqual(answer.finish, "stop" if answer.tokens[-1] == 1 else "length")

    def test_answers_do_not_depend_on_the_batch(self):
        from regraph_training.sampling import Request
        requests = [Request(prompt, 10 + 9 * seed, 1.0, seed) for prompt in self.prompts for seed in range(6)]
        together = self.answers(requests)
        self.assertEqual([answer.tokens for answer in together],
                         [self.answers([request])[0].tokens for request in requests])
        self.assertEqual([answer.tokens for answer in together],
                         [answer.tokens for answer in self.answers(requests, rows_at_once=4)])
        self.assertGreater(len({tuple(answer.tokens) for answer in together}), 12)

    def test_the_decoder_with_fixed_shapes_gives_the_same(self):
        from regraph_training.sampling import Request
        from regraph_training.static_decoder import StaticDecoder, suits
        self.assertTrue(suits(self.model))
        decoder = StaticDecoder(self.model, graphs=False)
        decoder.check()
        self.assertEqual(decoder.why_not, "")
        for rows in (1, 18):  # the second makes it grow; rows leave, and padding rows are beside
            requests = [Request(self.prompts[number % 3], 3 + 17 * number, 1.0 if number % 4 else 0.0, number)
                        for number in range(rows)]
            self.assertEqual([answer.tokens for answer in self.answers(requests, decoder=decoder)],
                             [answer.tokens for answer in self.answers(requests)])

    def test_a_decoder_that_computes_otherwise_is_not_used(self):
        from regraph_training.static_decoder import StaticDecoder
        decoder = StaticDecoder(self.model, graphs=False)
        decoder.checked = False
        decoder.heads = 1
        self.assertFalse(decoder.usable)
        self.assertTrue(decoder.why_not)

    def test_limits_are_kept_and_a_longer_one_goes_on(self):
        from regraph_training.sampling import Request
        short, long = self.answers([Request(self.prompts[0], limit, 1.0, 3) for limit in (5, 30)])
        self.assertEqual(long.tokens[:len(short.tokens)], short.tokens)
        self.assertLessEqual(len(short.tokens), 5)

    def test_tokens_come_as_often_as_they_should(self):
        import torch
        from regraph_training.sampling import Request
        answers = self.answers([Request(self.prompts[0], 1, 2.0, seed) for seed in range(4000)], rows_at_once=4000)
        counts = torch.bincount(torch.tensor([answer.tokens[0] for answer in answers]), minlength=len(self.tokenizer))
        with torch.no_grad():
            wanted = torch.softmax(self.model(torch.tensor([self.prompts[0]])).logits[0, -1] / 2.0, -1)
        self.assertLess(float((counts / 4000 - wanted).abs().max()), 0.03)


if __name__ == "__main__":
    unittest.main()
