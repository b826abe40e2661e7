"""CUDA C++ cut into tokens, exactly: joined, they are the text again. Enough for renaming, no parser."""

from __future__ import annotations

import functools
import re
from typing import NamedTuple

KEYWORDS = frozenset("""
alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class compl
concept const consteval constexpr constinit const_cast continue decltype default delete do double dynamic_cast else
enum explicit export extern false float for friend goto if inline int long mutable namespace new noexcept not not_eq
nullptr operator or or_eq private protected public register reinterpret_cast requires return short signed sizeof
static static_assert static_cast struct switch template this thread_local throw true try typedef typeid typename
union unsigned using virtual void volatile wchar_t while xor xor_eq
""".split())

# Names of types that may stand in front of a declared name.
TYPES = frozenset("""
auto bool char double float int long short signed unsigned void wchar_t size_t ptrdiff_t int8_t int16_t int32_t
int64_t uint8_t uint16_t uint32_t uint64_t intptr_t uintptr_t uchar ushort uint ulong half __half half2 __half2
__nv_bfloat16 nv_bfloat16 __nv_bfloat162 nv_bfloat162 clock_t dim3 cudaTextureObject_t
""".split()) | frozenset(
    f"{base}{width}" for base in ("char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "longlong",
                                  "ulonglong", "float", "double") for width in (1, 2, 3, 4))

# Between a type and the name that is declared with it.
DECLARATOR_PARTS = frozenset(["*", "&", "const", "volatile", "__restrict__", "__restrict", "restrict"])

_TOKEN = re.compile(r"""
    (?P<comment>//(?:[^\n\\]|\\.|\\\n)*|/\*.*?\*/)
  | (?P<directive>(?m:^)[ \t]*\#(?:[^\n\\]|\\\n|\\.)*)
  | (?P<string>(?:u8|u|U|L)?"(?:[^"\\\n]|\\.)*"|(?:u8|u|U|L)?'(?:[^'\\\n]|\\.)*')
  | (?P<number>\.?[0-9](?:[eEpP][+-]|[0-9a-zA-Z_.]|'[0-9a-zA-Z])*)
  | (?P<name>[A-Za-z_][A-Za-z0-9_]*)
  | (?P<space>\s+)
  | (?P<operator><<=|>>=|\.\.\.|->\*|<=>|::|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|.)
""", re.VERBOSE | re.DOTALL)


class Token(NamedTuple):
    kind: str  # comment, directive, string, number, name, space, operator
    text: str


@functools.lru_cache(maxsize=64)
def tokens(code: str) -> tuple[Token, ...]:
    """All of the code; "".join of the texts is the code. Kept for a while: a pair's code is looked at many times."""
    return tuple(Token(match.lastgroup or "operator", match.group()) for match in _TOKEN.finditer(code))


def code_tokens(code: str) -> list[str]:
    """What the compiler sees: no space, no comments; a directive is one token, its spaces normalised."""
    return [" ".join(token.text.split()) if token.kind == "directive" else token.text
            for token in tokens(code) if token.kind not in ("space", "comment")]


def names_in(code: str) -> set[str]:
    """Every name, those in directives too."""
    found: set[str] = set()
    for token in tokens(code):
        if token.kind == "name":
            found.add(token.text)
        elif token.kind == "directive":
            found.update(re.findall(r"[A-Za-z_]\w*", token.text))
    return found


def declared_names(code: str) -> list[str]:
    """Names that the code itself declares, in order: what follows a type. Names that it may also mean
    otherwise are left out: members, what directives mention, keywords, reserved names."""
    seen = [token for token in tokens(code) if token.kind not in ("space", "comment")]
    types = set(TYPES)
    forbidden: set[str] = set()
    for before, token, after in zip([Token("", "")] + seen, seen, seen[1:] + [Token("", "")]):
        if token.kind == "directive":
            forbidden.update(re.findall(r"[A-Za-z_]\w*", token.text))
        if token.kind == "name" and (before.text in (".", "->", "::") or after.text == "::"):
            forbidden.add(token.text)
        if token.kind == "name" and before.text in ("struct", "class", "union", "enum", "typename", "using"):
            types.add(token.text)
            forbidden.add(token.text)  # types keep their names: constructors and templates use them in other ways
    found: list[str] = []
    after_type = False
    depth = 0  # of brackets within __launch_bounds__(...), which may stand between type and name
    for number, token in enumerate(seen):
        if depth or (after_type and number and token.text == "(" and seen[number - 1].text == "__launch_bounds__"):
            depth += (token.text == "(") - (token.text == ")")
        elif token.kind == "name" and token.text in types:
            after_type = True
        elif after_type and token.text in DECLARATOR_PARTS:
            continue
        elif after_type and token.kind == "name":
            following = seen[number + 1].text if number + 1 < len(seen) else ""
            if token.text in KEYWORDS or token.text.startswith("__"):
                after_type = token.text in ("__launch_bounds__",)
                continue
            if following in ("=", ";", ",", ")", "[", "(", ":", "{") and token.text not in found:
                found.append(token.text)
            after_type = False
        else:
            after_type = False
    return [name for name in found if name not in forbidden and name not in KEYWORDS and name not in types]
