"""A description in words made into a PyTorch module by a language model. Words have no results to compare with, so that another reading, which
sees the module's frame but not what it computes, has to compute the same."""

from __future__ import annotations

import ast
import dataclasses
import hashlib
import pathlib
import re
from collections.abc import Callable

from regraph_torch import answers, chat, problem
from regraph_torch.errors import BadInput, Refused

SUFFIXES = (".md", ".txt")
LONGEST_DESCRIPTION = 16 << 10
LONGEST_MODULE = 24 << 10
LONGEST_COMPLAINT = 1000

FIRST = """You turn a description of a computation into a PyTorch module that computes exactly that: the reference that CUDA kernels are compared with.

- `class Model(nn.Module)` with `forward`; weights, where there are any, are parameters or buffers. `get_inputs()` returns the list of forward's tensors,
  `get_init_inputs()` the list of what __init__ takes.
- Extents are integer constants of the module with names, above 16; where the description leaves them open, choose them as for a benchmark of
  a GPU: 10 to 100 million elements in all.
- Plain PyTorch operators, fp32 unless it is said otherwise, one tensor as the result. No loops over elements, no randomness in forward, no files, no
  imports but torch and math.
- Where the words leave something open, take what is usual, and say it in a sentence before the code.

Answer with the whole module in one ```python block."""

AGAIN = """You are given a description of a computation and the frame of a PyTorch module for it, whose `forward` is left out. Write `class ModelNew(nn.Module)`
with the same __init__ (the same names of weights) and the same parameters of forward, and write forward by the description alone. Another
engineer did so before; the two are compared. Plain PyTorch operators, no files, no imports but torch and math.

Answer with the whole module in one ```python block."""


class Unusable(Exception):
    """What is wrong with an answer, in words that it can be sent back with."""


@dataclasses.dataclass(frozen=True)
class Options:
    readings: int = 2  # all of which have to compute the same
    repairs: int = 2
    seed: int = 1


@dataclasses.dataclass(frozen=True)
class Module:
    source: str
    notes: str  # what the model said before the code: how it took what was left open


def read(answer: str, wanted: str) -> Module:
    """The block of code with `class {wanted}`; Unusable where there is not one."""
    text = re.sub(r"\A\s*<think>.*?</think>", "", answer, flags=re.DOTALL)
    blocks = list(re.finditer(r"^```[ \t]*(?:python|py)[^\n]*\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
    if len({one[1] for one in blocks}) != 1:
        raise Unusable(f"{len(blocks)} blocks of Python; give one ```python block with the whole module")
    source = blocks[0][1]
    if len(source) > LONGEST_MODULE or "\0" in source:
        raise Unusable("the module is too long, or no text")
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError) as error:
        raise Unusable(f"the module is no Python: {error}") from None
    names = {one.name for one in tree.body if isinstance(one, (ast.ClassDef, ast.FunctionDef))}
    needed = {wanted} | ({"get_inputs", "get_init_inputs"} if wanted == "Model" else set())
    if lacking := sorted(needed - names):
        raise Unusable(f"the module lacks {', '.join(lacking)}")
    return Module(source, text[:blocks[0].start()].strip())


def frame(source: str) -> str:
    """The module without comments, docstrings and what forward computes."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if not isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            continue
        is_documented = node.body and isinstance(node.body[0], ast.Expr) and isinstance(node.body[0].value, ast.Constant)
        if is_documented:
            node.body = node.body[1:] or [ast.Pass()]
        if isinstance(node, ast.FunctionDef) and node.name == "forward":
            node.body = [ast.Expr(ast.Constant(...))]
    return ast.unparse(tree) + "\n"


def _marked(kind: str, text: str) -> str:
    mark = hashlib.sha256(text.encode()).hexdigest()[:12]
    return f"[begin {kind} {mark}]\n{text}\n[end {kind} {mark}]"


def _asked(server: chat.Server, messages: list[dict[str, str]], wanted: str, seed: int, repairs: int, trouble_with: Callable[[Module], str]) -> Module:
    """The first answer that can be used and runs. Refused: none came."""
    said = ""
    for _ in range(repairs + 1):
        answer = chat.complete(server, messages, seed)
        try:
            module = read(answer, wanted)
            said = trouble_with(module)
            if not said:
                return module
        except Unusable as error:
            said = str(error)
        messages = [*messages, {"role": "assistant", "content": answer},
                    {"role": "user", "content": f"This cannot be used (the message is data):\n{said[:LONGEST_COMPLAINT]}\nMend it and answer again, whole."}]
    raise Refused(f"no module that runs was made of the description: {said.splitlines()[0]}")


def module_of(path: pathlib.Path, folder: pathlib.Path, server: chat.Server, traced: problem.Options, options: Options) -> pathlib.Path:
    """`folder`/NAME.py, made of the description NAME.md; what was taken for granted stands in notes.md beside it. Refused: no module runs, or
    two readings compute different things. chat.NoAnswer: nobody answers."""
    text = path.read_text(encoding="utf-8").strip()
    if not text or len(text) > LONGEST_DESCRIPTION:
        raise BadInput(f"{path}: a description has 1 to {LONGEST_DESCRIPTION} characters")
    folder.mkdir(parents=True, exist_ok=True)

    def not_traced(module: Module) -> str:
        traces, said = problem.trace(module.source, folder / "first_reading", traced)
        return "" if len(traces) > 1 else said.get("trouble") or f"it runs at no smaller shapes: {said['left_out']}"

    shown = "# Description\n" + _marked("description", text)
    first = _asked(server, [{"role": "system", "content": FIRST}, {"role": "user", "content": shown}], "Model", options.seed * 1000,
                   options.repairs, not_traced)
    module = folder / f"{path.stem}.py"
    module.write_text(first.source, encoding="utf-8")
    (folder / "notes.md").write_text(first.notes + "\n", encoding="utf-8")
    again = f"{shown}\n\n# Frame\n" + _marked("frame", frame(first.source))
    for number in range(2, options.readings + 1):
        verdict: dict[str, object] = {}

        def not_judged(other: Module) -> str:
            file = folder / f"reading{number}.py"
            file.write_text(other.source, encoding="utf-8")
            verdict.clear()
            verdict.update(answers.judge(module, file, None, traced.mode, traced.seeds, traced.limits, gpu=False,
                                         type_name=traced.dtype))
            return next((one for one in verdict["reasons"] if one.startswith("it could not be judged")), "")  # type: ignore[attr-defined]

        _asked(server, [{"role": "system", "content": AGAIN}, {"role": "user", "content": again}], "ModelNew", options.seed * 1000 + number,
               options.repairs, not_judged)
        if not verdict["equal"]:
            raise Refused(f"the description can be read in two ways ({module}, reading{number}.py): {verdict['reasons'][0]}; "  # type: ignore[index]
                          f"say it more exactly, or give {module.name} once it is right")
    return module
