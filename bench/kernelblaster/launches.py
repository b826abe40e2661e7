"""What a problem's host code launches each kernel with: numbers are followed from driver.cpp into the launcher of init.cu, and from
there into its launches. Of a branch whose condition is not known the first way is taken. Loops are not run: what is launched in one counts
once."""
import ast
import dataclasses
import operator
import re

COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
TYPE = r"(?:(?:static|const|constexpr|unsigned|long|short)\s+)*(?:int|int32_t|int64_t|uint32_t|uint64_t|size_t|long|unsigned|auto|float|double|bool)"
DECLARATION = re.compile(rf"\b{TYPE}\s+(\w+\s*=[^;]*);")
FUNCTION = re.compile(r"(?<![\w:.>])(\w+)\s*\(((?:[^()]|\([^()]*\))*)\)\s*\{")
LAUNCH = re.compile(r"\b(\w+)\s*(?:<[^;{}<>]*>)?\s*<<<")
LAUNCHER = "launch_gpu_implementation"
OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Mod: operator.mod, ast.USub: operator.neg, ast.UAdd: operator.pos}
COMPARISONS = {ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Eq: operator.eq, ast.NotEq: operator.ne}
IF = re.compile(r"\bif\s*(?:constexpr\s*)?\(")
DEEPEST_CALL = 4
KEYWORDS = ("if", "for", "while", "switch")


@dataclasses.dataclass(frozen=True)
class Launch:
    kernel: str
    values: tuple[tuple[str, int | float], ...]  # by the kernel's parameter; those that are known


def value_of(text, known):
    """The number that a C++ expression is, or None."""
    text = re.sub(r"\b(?:static_cast|reinterpret_cast)\s*<[^<>]*>", "", text)
    text = re.sub(rf"\(\s*{TYPE}\s*\)", "", text)
    text = re.sub(rf"\b{TYPE}\s*\(", "(", text)
    text = re.sub(r"(\d)(?:[uU]?[lL]{0,2}|[uU])\b", r"\1", text)
    text = re.sub(r"(\d\.?(?:e[+-]?\d+)?)[fF]\b", r"\1", text)
    text = re.sub(r"!(?!=)", " not ", text.replace("&&", " and ").replace("||", " or ").replace("true", "1").replace("false", "0"))
    try:
        return number(ast.parse(text.strip(), mode="eval").body, known)
    except (SyntaxError, ValueError, ZeroDivisionError, RecursionError):
        return None


def number(node, known):
    """Raises ValueError where the expression is no number."""
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        return node.value
    if isinstance(node, ast.Name) and node.id in known:
        return known[node.id]
    if isinstance(node, ast.BoolOp):
        values = [number(one, known) for one in node.values]
        return int(all(values) if isinstance(node.op, ast.And) else any(values))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return int(not number(node.operand, known))
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in COMPARISONS:
        return int(COMPARISONS[type(node.ops[0])](number(node.left, known), number(node.comparators[0], known)))
    if isinstance(node, ast.UnaryOp) and type(node.op) in OPERATORS:
        return OPERATORS[type(node.op)](number(node.operand, known))
    if isinstance(node, ast.BinOp):
        left, right = number(node.left, known), number(node.right, known)
        if isinstance(node.op, ast.Div):
            return left // right if isinstance(left, int) and isinstance(right, int) else left / right
        if type(node.op) in OPERATORS:
            return OPERATORS[type(node.op)](left, right)
    raise ValueError(ast.dump(node))


def parts(text):
    """What commas outside of brackets separate."""
    found, depth = [""], 0
    for letter in text:
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth == 0:
            found.append("")
        else:
            found[-1] += letter
    return [one.strip() for one in found if one.strip()]


def bracketed(text, begin):
    """What is between the bracket at `begin` and the one that closes it."""
    depth = 0
    for place in range(begin, len(text)):
        depth += (text[place] in "({") - (text[place] in ")}")
        if depth == 0:
            return text[begin + 1:place]
    return text[begin + 1:]


def functions_of(text):
    """Parameters' names and body of each function, by its name."""
    found = {}
    for match in FUNCTION.finditer(text):
        if match.group(1) in KEYWORDS:
            continue
        names = [re.sub(r"\[\w*\]$", "", one.split("=")[0].strip()).split()[-1].lstrip("*&") for one in parts(match.group(2))]
        found.setdefault(match.group(1), (names, bracketed(text, match.end() - 1)))
    return found


def events(body):
    """Declarations, launches and calls of a body in their order: (place, kind, name, text)."""
    found = []
    for match in DECLARATION.finditer(body):
        for one in parts(match.group(1)):
            name, equals, value = one.partition("=")
            if equals:
                found.append((match.start(), "is", name.strip(), value))
    for match in LAUNCH.finditer(body):
        begin = body.find(">>>", match.end())
        begin = body.find("(", begin) if begin >= 0 else -1
        if begin >= 0:
            found.append((match.start(), "launch", match.group(1), bracketed(body, begin)))
    for match in re.finditer(r"(?<![\w.>])(\w+)\s*(?:<[^;{}<>()]*>)?\s*\(", body):
        found.append((match.start(), "call", match.group(1), bracketed(body, match.end() - 1)))
    return sorted(found)


def statement(text):
    """The statement that the text begins with, and what is behind it."""
    text = text.lstrip()
    if text.startswith("{"):
        inside = bracketed(text, 0)
        return inside, text[len(inside) + 2:]
    if match := IF.match(text):
        condition = bracketed(text, match.end() - 1)
        _, rest = statement(text[match.end() + len(condition) + 1:])
        if re.match(r"\s*else\b", rest):
            _, rest = statement(rest.lstrip()[len("else"):])
        return text[:len(text) - len(rest)], rest
    depth = 0
    for place, letter in enumerate(text):
        depth += (letter in "([{") - (letter in ")]}")
        if letter == ";" and depth == 0:
            return text[:place + 1], text[place + 1:]
    return text, ""


class Walk:
    """Through a file's functions from the launcher on; `launches` are those on the way."""

    def __init__(self, functions):
        self.functions = functions
        self.launches = []

    def function(self, name, known, depth=0):
        """With those of its parameters that are known."""
        self.body(self.functions[name][1], dict(known), depth)

    def body(self, text, known, depth):
        while match := IF.search(text):
            self.straight(text[:match.start()], known, depth)
            condition = bracketed(text, match.end() - 1)
            then, text = statement(text[match.end() + len(condition) + 1:])
            other = ""
            if re.match(r"\s*else\b", text):
                other, text = statement(text.lstrip()[len("else"):])
            value = value_of(condition, known)
            self.body(then if value is None or value else other, known, depth)
        self.straight(text, known, depth)

    def straight(self, text, known, depth):
        for _, kind, what, inside in events(text):
            values = [value_of(one, known) for one in parts(inside)] if kind != "is" else []
            if kind == "is":
                value = value_of(inside, known)
                known.pop(what, None)
                known |= {what: value} if value is not None else {}
            elif what in self.functions:
                passed = {one: value for one, value in zip(self.functions[what][0], values) if value is not None}
                if kind == "launch":
                    self.launches.append(Launch(what, tuple(passed.items())))
                elif kind == "call" and depth < DEEPEST_CALL:
                    self.function(what, passed, depth + 1)


def launches_of(source, driver):
    """Of a problem's init.cu (its text) when its driver.cpp (its text) calls it, in their order."""
    functions = functions_of(COMMENT.sub(" ", source))
    if LAUNCHER not in functions:
        return []
    names, known, given = functions[LAUNCHER][0], {}, {}
    for _, kind, what, text in events(COMMENT.sub(" ", driver)):
        if kind == "is" and (value := value_of(text, known)) is not None:
            known[what] = value
        if kind == "call" and what == LAUNCHER:
            passed = parts(text)
            # Some drivers call another launcher than the file has: numbers go by their names there.
            values = [value_of(one, known) for one in passed] if len(passed) == len(names) else [known.get(name) for name in names]
            given = {name: value for name, value in zip(names, values) if value is not None}
    walk = Walk(functions)
    walk.function(LAUNCHER, given)
    return walk.launches
