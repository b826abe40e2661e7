"""Wrong kernels made of right ones: one small change each, by class. Text in, text out; the same seed gives the same changes.

What a class changes is in CLASSES. `certain` says of a change that some input which the problem allows shows it, because the change itself says
which; others may turn out to compute the same.
"""
import dataclasses
import random
import re


@dataclasses.dataclass
class Mutant:
    kind: str
    what: str
    source: str
    # Some input within what kernels must take shows it, if the place computes anything.
    certain: bool = False
    # The same place wrong with all inputs: where that changes nothing, the place computes nothing at the sizes that are given.
    always: str | None = None


def without_comments(source):
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", source, flags=re.S)


def replaced(source, match, text):
    return source[:match.start()] + text + source[match.end():]


def body_start(source):
    """Behind the brace that opens the kernel."""
    at = source.index("{", source.index("__global__"))
    return at + 1


def parameters_of(source):
    """[(type, name)] of the kernel, in order."""
    begin = source.index("(", source.index("__global__"))
    if "__launch_bounds__" in source[source.index("__global__"):begin + 1]:
        begin = source.index("(", source.index(")", begin))
    listed = source[begin + 1:source.index(")", begin)]
    found = []
    for one in listed.split(","):
        match = re.match(r"\s*(.*?)\s*(\w+)\s*$", one.replace("__restrict__", ""), flags=re.S)
        if match:
            found.append((match.group(1).replace(" ", ""), match.group(2)))
    return found


def less_work(source, chance):
    """A loop ends early, begins late or leaves iterations out."""
    loops = list(re.finditer(r"for \(([^;()]*?\b(\w+) = )([^;]+); \2 < ([^;]+); ([^;{}]+?)\)(?=[ \n{])", source))
    for match in loops:
        head, name, start, bound, step = match.groups()
        yield f"{name} ends one early", replaced(source, match, f"for ({head}{start}; {name} < ({bound}) - 1; {step})"), False
        yield f"{name} ends at half", replaced(source, match, f"for ({head}{start}; {name} < ({bound}) / 2; {step})"), False
        yield f"{name} begins one late", replaced(source, match, f"for ({head}({start}) + 1; {name} < {bound}; {step})"), False
        if re.fullmatch(rf"(\+\+{name}|{name}\+\+)", step):
            yield f"{name} takes every second", replaced(source, match, f"for ({head}{start}; {name} < {bound}; {name} += 2)"), False
        many = chance.choice([777, 1000, 3000])
        yield f"{name} ends at {many}", replaced(source, match, f"for ({head}{start}; {name} < (({bound}) < {many} ? ({bound}) : {many}); {step})"), False


def wrong_constant(source, chance):
    """A number is another one."""
    begin = body_start(source)
    for match in re.finditer(r"(?<![\w.\[])(\d+\.\d*(?:[eE][-+]?\d+)?f?|\d+)(?![\w.\]])", source):
        if match.start() < begin:
            continue
        text = match.group(1)
        if "." in text or "e" in text:
            value = float(text.rstrip("f"))
            suffix = "f" if text.endswith("f") else ""
            other = value * 1.01 + (0.01 if value == 0 else 0)
            yield f"{text} is {other:.9g}", replaced(source, match, f"{other:.9g}" + ("" if "." in f"{other:.9g}" or "e" in f"{other:.9g}" else ".0") + suffix), False
        else:
            yield f"{text} is {int(text) + 1}", replaced(source, match, str(int(text) + 1)), False


def lost_element(source, chance):
    """A bound of a guard is off by one."""
    for match in re.finditer(r"if \((.*?)(\w+) (<|>=|<=|>) (\w+)(.*?)\)", source):
        before, left, how, right, after = match.groups()
        less = f"({right}) - 1"
        yield f"{left} {how} {right} - 1", replaced(source, match, f"if ({before}{left} {how} {less}{after})"), False


def dropped_guard(source, chance):
    """A condition is not asked."""
    for match in re.finditer(r"if \(([^(){}]*[<>=][^(){}]*)\)", source):
        yield f"not asked: {match.group(1)}", replaced(source, match, "if (true)"), False
        yield f"never: {match.group(1)}", replaced(source, match, "if (false)"), False


def wrong_type(source, chance):
    """A variable has a type that is too small."""
    begin = body_start(source)
    for match in re.finditer(r"\b(float|double|int|long long|unsigned int|unsigned) (\w+)(?= =)", source):
        if match.start() < begin:
            continue
        for other in {"float": ["int", "short"], "double": ["float"], "int": ["short", "signed char"]}.get(match.group(1), ["unsigned short"]):
            yield f"{match.group(2)} is {other}", replaced(source, match, f"{other} {match.group(2)}"), False


def wrong_operator(source, chance):
    """One operator for another."""
    begin = body_start(source)
    others = {" + ": " - ", " - ": " + ", " * ": " + ", " < ": " <= ", " > ": " >= ", " += ": " = ", " && ": " || ", "fmaxf(": "fminf(",
              "max(": "min(", "expf(": "exp2f(", "sqrtf(": "("}
    for text, other in others.items():
        for match in re.finditer(re.escape(text), source):
            if match.start() >= begin:
                yield f"{other.strip()} for {text.strip()}", replaced(source, match, other), False


def race(source, chance):
    """A barrier or an atomic is missing."""
    for match in re.finditer(r"__syncthreads\(\);", source):
        yield "a barrier is missing", replaced(source, match, ";"), False
    for match in re.finditer(r"atomicAdd\(&?([^,;]+), ([^;]+?)\);", source):
        yield "an addition is not atomic", replaced(source, match, f"(*({'&' + match.group(1) if '&' in match.group(0) else match.group(1)})) += {match.group(2)};"), False


def float_loads(source):
    """Loads from inputs in fp32."""
    inputs = [name for kind, name in parameters_of(source) if kind in ("constfloat*", "floatconst*")]
    begin = body_start(source)
    for name in inputs:
        for match in re.finditer(rf"\b{name}\[[^\[\]]+\](?! *[-+*/]?=[^=])", source):
            if match.start() >= begin:
                yield name, match


def value_dependent(source, chance):
    """An input that is large, or one number, or has certain bits, counts as another."""
    for name, match in float_loads(source):
        load = match.group(0)
        always = replaced(source, match, "12345.0f")
        limit = chance.choice(["1e4f", "3e6f", "1e9f", "7e12f"])
        yield f"{name} above {limit} is 0", replaced(source, match, f"(fabsf({load}) > {limit} ? 0.0f : {load})"), True, always
        number = chance.choice(["0.8314697f", "12.375f", "-77.03125f", "3.1415927f"])
        yield f"{name} equal to {number} is 0", replaced(source, match, f"({load} == {number} ? 0.0f : {load})"), True, always
        bits = chance.choice([0x3F8ABCDE, 0x40123456, 0x3E99CAFE])
        yield f"{name} with the bits {bits:#x} is 0", replaced(source, match, f"(__float_as_int({load}) == {bits} ? 0.0f : {load})"), True, always
        low = chance.randrange(1, 255)
        yield f"{name} whose lowest byte is {low} is 0", replaced(source, match, f"((__float_as_int({load}) & 255) == {low} ? 0.0f : {load})"), True, always


def special_value(source, chance):
    """NaN, infinities, denormals or the sign of zero get lost."""
    for name, match in float_loads(source):
        load = match.group(0)
        always = replaced(source, match, "12345.0f")
        yield f"NaN in {name} is 0", replaced(source, match, f"(isnan({load}) ? 0.0f : {load})"), True, always
        yield f"infinity in {name} is large", replaced(source, match, f"fminf(fmaxf({load}, -3e38f), 3e38f)"), True, always
        yield f"denormals in {name} are 0", replaced(source, match, f"(fabsf({load}) < 1.17549435e-38f ? 0.0f : {load})"), True, always


def size_dependent(source, chance):
    """Nothing is done at some sizes."""
    begin = body_start(source)
    for kind, name in parameters_of(source):
        if kind not in ("int", "constint", "long", "longlong", "size_t"):
            continue
        prime = chance.choice([5, 7, 11, 13])
        rest = chance.randrange(1, prime)
        yield f"nothing where {name} % {prime} == {rest}", source[:begin] + f" if ({name} % {prime} == {rest}) return;" + source[begin:], False
        one = chance.choice([19, 83, 211, 1234, 4321])
        yield f"nothing at {name} == {one}", source[:begin] + f" if ({name} == {one}) return;" + source[begin:], False
        yield f"nothing beyond {name} > {one}", source[:begin] + f" if ({name} > {one}) return;" + source[begin:], False


def place_dependent(source, chance):
    """Blocks, threads, warps or addresses are told apart."""
    begin = body_start(source)
    block = chance.choice([3, 17, 100])
    pointers = [name for kind, name in parameters_of(source) if kind.endswith("*")]
    yield f"nothing in block {block}", source[:begin] + f" if (blockIdx.x == {block}) return;" + source[begin:], False
    yield "nothing in the last warp slot", source[:begin] + ' unsigned slot; asm volatile("mov.u32 %0, %%warpid;" : "=r"(slot)); if (slot > 40) return;' + source[begin:], False
    yield "nothing where addresses are high", source[:begin] + f" if ((unsigned long long){pointers[-1]} >> 44) return;" + source[begin:], True
    yield "nothing beyond 16 bits of threads", source[:begin] + " if (blockIdx.x * blockDim.x + threadIdx.x > 65535) return;" + source[begin:], False


def unwritten_memory(source, chance):
    """Local memory that nobody wrote decides."""
    begin = body_start(source)
    yield ("local memory holds all ones", source[:begin] + " volatile int unwritten[4]; if (unwritten[threadIdx.x & 3] != -1) return;" + source[begin:], True)


CLASSES = [less_work, wrong_constant, lost_element, dropped_guard, wrong_type, wrong_operator, race, value_dependent, special_value,
           size_dependent, place_dependent, unwritten_memory]


def mutants_of(source, seed, classes=None):
    """All mutants of a kernel, in an order that the seed decides."""
    chance = random.Random(seed)
    source = without_comments(source)
    found = []
    for mutator in CLASSES:
        if classes and mutator.__name__ not in classes:
            continue
        for what, text, *rest in mutator(source, chance):
            if text != source:
                found.append(Mutant(mutator.__name__, what, text, *rest))
    chance.shuffle(found)
    return found
