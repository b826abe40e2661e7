import re
import unittest

import support  # noqa: F401  (the path)
from samples import ANSWER, PROMPT, QUESTION

from regraph_augment import augment, rename_around, rename_code, respace, strip_comments
from regraph_training.cuda_tokens import KEYWORDS, code_tokens, declared_names, tokens
import random

CODE = re.search(r"\[begin device code \w+\]\n(.*?)\[end", QUESTION, re.DOTALL)[1]


def question_code(prompt):
    return re.search(r"\[begin device code \w+\]\n(.*?)\[end", prompt[1]["content"], re.DOTALL)[1]


def answer_code(answer):
    return re.search(r"```cuda\n(.*?)```", answer, re.DOTALL)[1]


class Tokens(unittest.TestCase):
    def test_joined_they_are_the_text(self):
        for text in (CODE, ANSWER, 'f("a // b", \'"\'); /* x\n */ 0x1.8p+3f 1\'000u a->*b <<= \\', "\t#if 1\\\n 2\nint \u00e9;"):
            self.assertEqual("".join(token.text for token in tokens(text)), text)

    def test_exponents_are_no_names(self):
        self.assertEqual(code_tokens("1.0e-3f+0x1Fu /* a */ // b"), ["1.0e-3f", "+", "0x1Fu"])

    def test_declared(self):
        self.assertEqual(declared_names(CODE), ["twice", "value", "row_sum", "in", "out", "rows", "columns", "row",
                                               "sum", "c"])

    def test_what_may_mean_something_else_is_not_declared(self):
        code = ("#define n 3\nstruct P { float x; };\n__global__ void __launch_bounds__(128) f(float4 v, int n) {"
                " int x = threadIdx.x; P p; float y = v.y; unsigned long long q = clock64(); }")
        self.assertEqual(declared_names(code), ["f", "v", "p", "q"])


class Augment(unittest.TestCase):
    def test_variant_0_is_the_pair(self):
        self.assertEqual(augment(PROMPT, ANSWER, 0, 1), (PROMPT, ANSWER))

    def test_equal_seeds_give_equal_variants_and_others_differ(self):
        self.assertEqual(augment(PROMPT, ANSWER, 3, 5), augment(PROMPT, ANSWER, 3, 5))
        self.assertNotEqual(augment(PROMPT, ANSWER, 3, 5), augment(PROMPT, ANSWER, 3, 6))
        self.assertNotEqual(augment(PROMPT, ANSWER, 3, 5), augment(PROMPT, ANSWER, 2, 5))

    def test_the_code_stays_the_same_but_for_names(self):
        for variant in range(1, 60):
            prompt, answer = augment(PROMPT, ANSWER, variant, 1)
            for before, after in ((CODE, question_code(prompt)), (answer_code(ANSWER), answer_code(answer))):
                old, new = code_tokens(before), code_tokens(after)
                self.assertEqual(len(old), len(new))
                renaming = {}
                for one, other in zip(old, new):
                    self.assertEqual(renaming.setdefault(one, other), other)
                    if one != other:
                        self.assertRegex(one, r"^[A-Za-z_]\w*$")
                        self.assertNotIn(other, KEYWORDS)
                self.assertEqual(len(set(renaming.values())), len(renaming), "two names became one")
                for builtin in ("blockIdx", "x", "threadIdx", "float", "LIMIT", "__global__"):
                    self.assertEqual(renaming.get(builtin, builtin), builtin)

    def test_question_and_answer_agree(self):
        for variant in range(1, 60):
            prompt, answer = augment(PROMPT, ANSWER, variant, 2)
            old, new = code_tokens(CODE), code_tokens(question_code(prompt))
            renaming = dict(zip(old, new))
            text = prompt[1]["content"]
            kernel, rows, columns = renaming["row_sum"], renaming["rows"], renaming["columns"]
            self.assertIn(f"# Kernel {kernel}\n", text)
            self.assertEqual(prompt[0]["content"], f"Rewrite `__global__` function {kernel}.")
            self.assertIn(f'"grid": ["cdiv({rows}, bx)", "1", "1"]', text)
            self.assertIn(f"in: float*, in, shape [{rows}, {columns}]\n", text)
            self.assertIn(f"{rows}: int, size {rows}\n", text)
            sizes = ", ".join(sorted([f"{columns}: 1024", f"{rows}: 16384"]))
            self.assertIn(f"timed at {{{sizes}}}", text)
            self.assertIn(f'"grid": ["cdiv({rows}, bx)", "1", "1"], "smem": "0"', answer)
            answered = dict(zip(code_tokens(answer_code(ANSWER)), code_tokens(answer_code(answer))))
            for name, value in renaming.items():
                self.assertEqual(answered.get(name, value), value)
            self.assertEqual(answered["sum_part"], renaming["sum"] + "_part")
            self.assertEqual(answered["first_row"], "first_" + renaming["row"])
            self.assertIn("Launch: ", text)

    def test_prompts_for_small_models(self):
        user = "smem_tile\nwith depth = 32\n" + QUESTION[QUESTION.index("Launch"):].split("\n")[0][8:] + \
            "\n[begin device code ab]\n" + CODE + "[end device code ab]"
        small = [{"role": "system", "content": "rewrite row_sum"}, {"role": "user", "content": user}]
        for variant in range(1, 30):
            prompt, answer = augment(small, ANSWER, variant, 4)
            renaming = dict(zip(code_tokens(CODE), code_tokens(question_code(prompt))))
            self.assertEqual(prompt[0]["content"], f"rewrite {renaming['row_sum']}")
            self.assertTrue(prompt[1]["content"].startswith("smem_tile\nwith depth = 32\n{\"block\": [128, 1, 1]"))
            self.assertIn(f"cdiv({renaming['rows']}, bx)", prompt[1]["content"])
            self.assertIn(f"cdiv({renaming['rows']}, bx)", answer)

    def test_names_do_change(self):
        kernels = {augment(PROMPT, ANSWER, variant, 3)[0][0]["content"] for variant in range(1, 30)}
        self.assertGreater(len(kernels), 20)

    def test_questions_without_code_stay(self):
        prompt = [{"role": "user", "content": "What is row_sum?"}]
        self.assertEqual(augment(prompt, "A sum.", 2, 1), (prompt, "A sum."))

    def test_answers_that_name_a_step_stay(self):
        answer = '{"step": "loop_unroll", "parameters": {"factor": "4", "loop": "sum"}}'
        changed = set()
        for variant in range(1, 10):
            prompt, same = augment(PROMPT, answer, variant, 1)
            self.assertEqual(same, answer)
            self.assertIn(" sum = 0.0f", question_code(prompt).replace("sum=0.0f", "sum = 0.0f"))
            changed.add(prompt[0]["content"])
        self.assertGreater(len(changed), 5)

    def test_parts(self):
        self.assertEqual(rename_code("x.a + a /* a */", {"a": "b"}), "x.a + b /* a */")
        self.assertEqual(rename_around("a: int, size a\nsee a [a, 1] {z: 1, a: 2}", {"a": "zz"}),
                         "zz: int, size zz\nsee a [zz, 1] {z: 1, zz: 2}")
        self.assertEqual(strip_comments("// one\nint a;  // two\n\nint /* b */ c;\n"), "int a;\n\nint   c;\n")
        for seed in range(40):
            self.assertEqual(code_tokens(respace(CODE, random.Random(seed))), code_tokens(CODE))


if __name__ == "__main__":
    unittest.main()
