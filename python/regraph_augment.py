"""Variants of a training pair: other names, comments and spacing, in question and answer alike.

A model that sees one kernel under many names has to copy names instead of remembering them. All is
consistent: a name is replaced wherever it means the same thing (code, launch, list of arguments,
sizes; names that the answer derives from it, `sum_part` from `sum`, too), the answer's code stays
the same token by token but for names, and what cannot be changed safely is left as it is. Variant 0
is the pair itself; equal seeds give equal variants.

    python/regraph_augment.py FILE.jsonl --variants 5 --seed 1 > out.jsonl     # to look at
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import re
import sys
from collections.abc import Callable, Mapping, Sequence

from regraph_training.cuda_tokens import KEYWORDS, code_tokens, declared_names, names_in, tokens

Messages = list[dict[str, str]]

# Device code in a question: fenced with a mark, or by backticks; in an answer by backticks.
_MARKED = re.compile(r"(\[begin (?P<label>[\w ]*code[\w ]*|source) (?P<mark>\w+)\]\n)(?P<code>.*?)"
                     r"(\[end (?P=label) (?P=mark)\])", re.DOTALL)
_OTHER_FENCE = re.compile(r"\[begin [^\]\n]+ (\w+)\]\n.*?\[end [^\]\n]+ \1\]", re.DOTALL)
_FENCED = re.compile(r"(```(?:cuda|cpp|c\+\+|cu|c)\n)(?P<code>.*?)(```)", re.DOTALL)
# Where other lines mean the kernel's names: [shapes], {sizes}, "launch expressions", argument lines.
_STRUCTURE = re.compile(r'"[^"\n]*"|\{[^{}\n]*\}|\[[^\[\]\n]*\]')
_ARGUMENT = re.compile(r"^(?P<name>[A-Za-z_]\w*)(?=: (?:__constant__ )?[\w ]+\*?[,;])", re.MULTILINE)
_SIZE = re.compile(r"(?<=, size )[A-Za-z_]\w*$", re.MULTILINE)
# The kernel's own name: "# Kernel NAME", "`__global__` function NAME", and graphs/prompts-small's "rewrite NAME"
# and "choose for NAME".
_TITLE = re.compile(r"(?<=[Kk]ernel )[A-Za-z_]\w*(?=$|[\s.,;:])|(?<=function )[A-Za-z_]\w*(?=$|[\s.,;:])"
                    r"|(?<=^rewrite )[A-Za-z_]\w*$|(?<=^choose for )[A-Za-z_]\w*$", re.MULTILINE)
_SIZES = re.compile(r"\{[A-Za-z_]\w*: -?\d+(?:, [A-Za-z_]\w*: -?\d+)*\}")
_NAME = re.compile(r"[A-Za-z_]\w*")

# Words of launches and sizes, and what a launch expression may call.
RESERVED = frozenset(["block", "grid", "smem", "bx", "by", "bz", "cdiv", "min", "max", "kernel", "args", "in", "out",
                      "inout", "scratch", "main", "launch", "code", "notes"])

_WORDS = ("alpha beta gamma delta value total sum acc count index offset base width height depth length limit first "
          "last left right top bottom row col line cell item node edge weight bias scale shift step stride rank level "
          "source target input output buffer data result partial local global inner outer lower upper begin finish "
          "position id key slot lane tid gid pos idx num size extent span range chunk part piece field grid_x image "
          "matrix vector array tensor signal sample frame channel pixel feature mean var norm factor ratio rate mass "
          "energy force speed time phase angle x y z u v w p q r s t a b c d e f g h i j k l m n o").split()
_VERBS = ("compute apply run update fill make do eval calc process transform build step kernel launch map pass "
          "stage solve mix fold").split()

_STRANGE = 0.35  # share of words that are made up: kernels of other families have words that training never saw


def _made_up(draw: random.Random) -> str:
    """A word that is none: only who copies it letter by letter gets it right."""
    return "".join(draw.choice("bcdfghjklmnprstvwz") + draw.choice("aeiou") + draw.choice(["", "", "n", "r", "s", "x"])
                   for _ in range(draw.randrange(1, 4)))


def _new_name(kind: str, draw: random.Random) -> str:
    """A name as people write them: one letter, a word, two words, with a number; or of words that nobody knows."""
    first, second = ((_made_up(draw) if draw.random() < _STRANGE else draw.choice(_WORDS)) for _ in range(2))
    if kind == "kernel":
        first = first if draw.random() < _STRANGE else draw.choice(_VERBS)
        style = draw.choice(["{a}_{b}", "{a}{B}", "{a}_{b}_kernel", "k_{b}", "{b}_{a}", "{a}{n}"])
    else:
        style = draw.choice(["{b}"] * 5 + ["{a}_{b}", "{a}_{b}", "{a}{B}", "{b}{n}", "{b}_{n}", "my_{b}", "{b}_"])
    return style.format(a=first, b=second, B=second.capitalize(), n=draw.randrange(10))


def choose_names(question_code: str, answer_code: str, draw: random.Random, taken: set[str]) -> dict[str, str]:
    """New names for what the question's code declares; they occur nowhere else."""
    used = names_in(question_code) | names_in(answer_code) | taken | RESERVED | KEYWORDS
    kernels = set(re.findall(r"__global__\s+(?:\w+(?:\([^)]*\))?\s+)*?(\w+)\s*\(", question_code))
    renaming: dict[str, str] = {}
    for name in declared_names(question_code):
        if name in RESERVED or draw.random() < 0.1:  # some names stay: a user's are not all strange
            continue
        for _ in range(50):
            new = _new_name("kernel" if name in kernels else "variable", draw)
            if new not in used:
                used.add(new)
                renaming[name] = new
                break
    return renaming


def derived_names(answer_code: str, question_names: set[str], renaming: Mapping[str, str]) -> dict[str, str]:
    """Names that the answer makes of old ones (`sum_part`, `first_in`, `k2`), made of the new ones."""
    found: dict[str, str] = {}
    by_length = sorted(renaming, key=len, reverse=True)
    for name in sorted(names_in(answer_code) - question_names):
        for old in by_length:
            match = re.fullmatch(rf"({re.escape(old)})((?:_\w*|\d+))|(\w+_)({re.escape(old)})(\d*)", name)
            if match:
                found[name] = (renaming[old] + match[2] if match[1] else match[3] + renaming[old] + match[5])
                break
    return found


def rename_code(code: str, renaming: Mapping[str, str]) -> str:
    """The code under other names; comments and text stay, members are no names of this kind."""
    out = []
    before = ""
    for token in tokens(code):
        if token.kind == "name" and before not in (".", "->"):
            out.append(renaming.get(token.text, token.text))
        else:
            out.append(token.text)
        if token.kind not in ("space", "comment"):
            before = token.text
    return "".join(out)


def rename_around(text: str, renaming: Mapping[str, str]) -> str:
    """Text that is no code: the kernel's names where the text's structure says that they are meant. Other
    fenced text, of another kernel or a message, stays."""
    fence = _OTHER_FENCE.search(text)
    if fence:
        return (rename_around(text[:fence.start()], renaming) + fence.group()
                + rename_around(text[fence.end():], renaming))

    def in_structure(match: re.Match[str]) -> str:
        if match.group().startswith(("[begin ", "[end ")):
            return match.group()
        renamed = _NAME.sub(lambda name: renaming.get(name.group(), name.group()), match.group())
        if _SIZES.fullmatch(renamed):  # sizes are listed by name
            renamed = "{" + ", ".join(sorted(renamed[1:-1].split(", "))) + "}"
        return renamed

    def by_name(match: re.Match[str]) -> str:
        return renaming.get(match.group(), match.group())

    text = _STRUCTURE.sub(in_structure, text)
    text = _ARGUMENT.sub(by_name, text)
    text = _SIZE.sub(by_name, text)
    return _TITLE.sub(by_name, text)


def _apart(text: str, pattern: re.Pattern[str], code: Callable[[str], str], around: Callable[[str], str]) -> str:
    """The text with one function applied to its code and another to the rest."""
    out, at = [], 0
    for match in pattern.finditer(text):
        out += [around(text[at:match.start()]), match.group(1), code(match.group("code")), match.group(match.lastindex)]
        at = match.end()
    return "".join(out + [around(text[at:])])


def strip_comments(code: str) -> str:
    """The code without comments; lines that held nothing else go."""
    kept = []
    for token in tokens(code):
        kept.append(("\0" if token.text.startswith("//") else "\0 ") if token.kind == "comment" else token.text)
    lines = ["".join(kept)] if "\0" not in "".join(kept) else "".join(kept).split("\n")
    if len(lines) == 1:
        return lines[0].replace("\0", "")
    return "\n".join(line.replace("\0", "").rstrip() for line in lines if line.replace("\0", "").strip() or "\0" not in line)


def respace(code: str, draw: random.Random) -> str:
    """The code laid out as another author might: indentation, braces, spaces around operators."""
    indent = draw.choice(["  ", "    ", "\t", "   "])
    own_line = draw.random() < 0.4
    tight = draw.random() < 0.4
    join = own_line or draw.random() < 0.5
    parts = tokens(code)
    out: list[str] = []
    depth = 0
    for number, token in enumerate(parts):
        text = token.text
        after = parts[number + 1] if number + 1 < len(parts) else None
        before = parts[number - 1] if number else None
        depth += (text == "(") - (text == ")") if token.kind == "operator" else 0
        if token.kind == "space":
            beside_directive = any(part is not None and part.kind in ("directive", "comment") for part in (before, after))
            if "\n" in text and not beside_directive:
                if depth > 0 and join:
                    text = "" if before is not None and before.text == "(" else " "
                else:
                    breaks, _, margin = text.rpartition("\n")
                    text = breaks + "\n" + indent * (len(margin.replace("\t", "  ")) // 2)
            elif tight and not beside_directive and before is not None and after is not None:
                if before.text in ("+", "-", "*", "/", "<", "=", ",", ";", "%", "+=") and after.kind in ("name", "number") \
                        or after.text in ("+", "*", "<", "=", "%", "+=") and before.kind in ("name", "number"):
                    text = ""
            if own_line and after is not None and after.text == "{" and text == " " and depth == 0:
                margin = re.search(r"(?:^|\n)([ \t]*)[^\n]*$", "".join(out))
                text = "\n" + (margin[1] if margin else "")
        out.append(text)
    return "".join(out)


def _draw_of(seed: int | str, texts: Sequence[str]) -> random.Random:
    """A generator for this pair and seed, whatever was drawn before."""
    digest = hashlib.sha256("\0".join([str(seed), *texts]).encode("utf-8", "surrogatepass")).digest()
    return random.Random(int.from_bytes(digest[:8], "big"))


def augment(prompt: Messages, answer: str, variant: int, seed: int = 0) -> tuple[Messages, str]:
    """The pair's variant of that number; 0 is the pair itself."""
    if variant == 0:
        return prompt, answer
    contents = [message["content"] for message in prompt]
    draw = _draw_of(f"{seed}/{variant}", [*contents, answer])
    question = "\n".join(contents)
    pattern = _MARKED if _MARKED.search(question) else _FENCED
    question_code = "\n".join(match.group("code") for match in pattern.finditer(question))
    answer_code = "\n".join(match.group("code") for match in _FENCED.finditer(answer))
    if not question_code:
        return prompt, answer  # nothing to rename that could be told from prose
    names = names_in(question_code)
    # Words of the questions' text are no new names: they would seem to be meant.
    renaming = choose_names(question_code, answer_code, draw, set(_NAME.findall(question)))
    if not answer_code:  # an answer that names a step: what it says itself keeps its name
        said = set(_NAME.findall(answer))
        renaming = {old: new for old, new in renaming.items() if old not in said and new not in said}
    renaming |= derived_names(answer_code, names, renaming)
    if len(set(renaming.values())) != len(renaming) or set(renaming.values()) & names_in(answer_code):
        renaming = {}  # two names became one: rather none changed
    drop_comments = draw.random() < 0.5
    layout = draw.getrandbits(32) if draw.random() < 0.3 else None

    def changed(code: str) -> str:
        code = rename_code(code, renaming)
        return strip_comments(code) if drop_comments else code

    def changed_question(code: str) -> str:
        code = changed(code)
        if layout is not None:
            spaced = respace(code, random.Random(layout))
            code = spaced if code_tokens(spaced) == code_tokens(code) else code
        return code

    def around(text: str) -> str:
        return rename_around(text, renaming)

    new_prompt = [dict(message, content=_apart(message["content"], pattern, changed_question, around))
                  for message in prompt]
    return new_prompt, _apart(answer, _FENCED, changed, around)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", help=".jsonl with `messages`, or `prompt` and `completion`")
    parser.add_argument("--variants", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    from regraph_training.records import read_jsonl, split_pair
    for row in read_jsonl(options.file):
        prompt, answer = split_pair(row, options.file)
        for variant in range(options.variants):
            new_prompt, new_answer = augment(prompt, answer, variant, options.seed)
            print(json.dumps({"messages": new_prompt + [{"role": "assistant", "content": new_answer}],
                              "variant": variant}, ensure_ascii=False))
    return 0


if __name__ == "__main__":
    sys.exit(main())
