"""What the host code of a Triton module computes with, as far as it can be known without running it: integers that are
expressions of sizes, tensors with shapes, types and strides. Every integer has a value at the chosen sizes, too, so that
conditions can be decided."""
import re

FUNCTIONS = {"cdiv", "min", "max"}  # of an expression of sizes, beside operators
NAME = re.compile(r"[A-Za-z_]\w*")
# A constant of the kernel is "=BLOCK" until it is written.
SYMBOL = re.compile(r"(?<![=\w])[A-Za-z_]\w*")


LONGEST_TEXT = 2000  # of an expression; no launch needs more, and hostile code could make any
MOST_TERMS = 64
LARGEST_INTEGER = 1 << 63


class Size:
    """An integer: a sum of products of sizes and of parts that are no such products ("cdiv(n, BLOCK)")."""

    def __init__(self, terms: dict[tuple[str, ...], int], value: int):
        self.terms, self.value = terms, value

    @staticmethod
    def symbol(name: str, value: int) -> "Size":
        """The size of that name."""
        return Size({(name,): 1}, value)

    @property
    def name(self) -> str:
        """Of a plain size; empty for any other expression."""
        text = self.text()
        return text if NAME.fullmatch(text) else ""

    def symbols(self) -> set[str]:
        """Names of all sizes in it."""
        return set(SYMBOL.findall(self.text())) - FUNCTIONS

    @property
    def is_exact(self) -> bool:
        """Whether it is made of sizes by sums and products alone."""
        return all(NAME.fullmatch(atom) for atoms in self.terms for atom in atoms)

    def text(self) -> str:
        """As a manifest writes it."""
        parts = []
        for atoms, factor in sorted(self.terms.items(), key=lambda term: (term[1] < 0, -len(term[0]), term[0])):
            factors = ([str(abs(factor))] if abs(factor) != 1 or not atoms else []) + list(atoms)
            parts.append(("- " if factor < 0 else "+ ") + " * ".join(factors))
        text = " ".join(parts) or "0"
        return text[2:] if text.startswith("+ ") else text

    def __repr__(self):
        return self.text()


def terms_of(number) -> dict:
    """Of a Size or a plain integer."""
    if isinstance(number, Size):
        return number.terms
    return {(): int(number)} if number else {}


def value_of(number):
    """What it is at the chosen sizes."""
    return number.value if isinstance(number, Size) else number


def made(terms: dict, value: int):
    """A plain integer where no size is left in it."""
    terms = {atoms: factor for atoms, factor in terms.items() if factor}
    if abs(value) >= LARGEST_INTEGER or len(terms) > MOST_TERMS or any(len(atoms) > MOST_TERMS for atoms in terms):
        raise OverflowError
    if not terms:
        return 0
    return terms[()] if set(terms) == {()} else Size(terms, value)


def part(text: str, value: int) -> Size:
    """An integer that is no sum of products. Raises OverflowError where its text is too long."""
    if len(text) > LONGEST_TEXT:
        raise OverflowError
    return Size({(text,): 1}, value)


def text_of(number) -> str:
    """Of a Size or a plain number, as a manifest writes it."""
    return number.text() if isinstance(number, Size) else str(number)


def add(left, right, sign: int = 1):
    """left + sign * right"""
    terms = dict(terms_of(left))
    for atoms, factor in terms_of(right).items():
        terms[atoms] = terms.get(atoms, 0) + sign * factor
    return made(terms, value_of(left) + sign * value_of(right))


def multiply(left, right):
    """left * right"""
    terms: dict = {}
    for one, factor in terms_of(left).items():
        for other, times in terms_of(right).items():
            atoms = tuple(sorted(one + other))
            terms[atoms] = terms.get(atoms, 0) + factor * times
    return made(terms, value_of(left) * value_of(right))


def in_parentheses(number) -> str:
    """Where it becomes an operand of a division."""
    text = text_of(number)
    return text if re.fullmatch(r"=?\w+|(cdiv|min|max)?\([^()]*\)", text) else f"({text})"


def exact_quotient(left, right):
    """left / right where the form alone says that it leaves nothing over; None where not."""
    divisor = terms_of(right)
    if len(divisor) != 1:
        return None
    (atoms, factor), = divisor.items()
    terms = {}
    for one, times in terms_of(left).items():
        rest = list(one)
        for atom in atoms:
            if atom not in rest:
                return None
            rest.remove(atom)
        if times % factor:
            return None
        terms[tuple(rest)] = times // factor
    return made(terms, value_of(left) // value_of(right))


def divide(left, right):
    """left // right; (n + b - 1) // b is cdiv(n, b)."""
    if not value_of(right):
        raise ZeroDivisionError
    exact = exact_quotient(left, right)
    if exact is not None:
        return exact
    value = value_of(left) // value_of(right)
    rounded = add(add(left, right, -1), 1)
    less = len(terms_of(rounded)) < len(terms_of(left)) or (not isinstance(right, Size) and right > 1 and
                                                            terms_of(left).get((), 0) == right - 1)
    if less and value_of(rounded) > 0:
        return round_up(rounded, right)
    return part(f"({in_parentheses(left)} / {in_parentheses(right)})", value)


def round_up(left, right):
    """cdiv(left, right)"""
    exact = exact_quotient(left, right)
    if exact is not None:
        return exact
    value = -(-value_of(left) // value_of(right))
    if not isinstance(left, Size) and not isinstance(right, Size):
        return value
    return part(f"cdiv({text_of(left)}, {text_of(right)})", value)


def remainder(left, right):
    """left % right"""
    if exact_quotient(left, right) is not None:
        return 0
    return part(f"({in_parentheses(left)} % {in_parentheses(right)})", value_of(left) % value_of(right))


def extreme(kind: str, numbers: list):
    """min or max of several."""
    result = numbers[0]
    for other in numbers[1:]:
        choose = min if kind == "min" else max
        value = choose(value_of(result), value_of(other))
        if text_of(result) == text_of(other):
            continue
        if isinstance(result, Size) or isinstance(other, Size):
            result = part(f"{kind}({text_of(result)}, {text_of(other)})", value)
        else:
            result = value
    return result


class Unknown:
    """Something that is not understood: where it stands, and its text."""

    def __init__(self, line: int, text: str):
        self.line, self.text = line, text


class Argument(Unknown):
    """A parameter of a host function that nothing is known of yet."""


class Quotient:
    """left / right, until something makes an integer of it."""

    def __init__(self, left, right):
        self.left, self.right = left, right

    @property
    def value(self) -> float:
        """At the chosen sizes."""
        return value_of(self.left) / value_of(self.right)


class Tensor:
    """A tensor. `extents` is its shape, None where nothing says it yet; `open_name` then is whose shape it has."""

    def __init__(self, extents, dtype: str = "", open_name: str = "", filled: str = ""):
        self.extents, self.dtype, self.open_name, self.filled = extents, dtype, open_name, filled
        self.strides_given = None  # of a view whose elements do not follow each other
        self.storage = None        # the extents of the memory, where they are not those of the view
        self.content = ""          # what integers are drawn from, as a manifest says it

    def strides(self):
        """Elements between neighbours of each axis; None where nothing says it."""
        if self.strides_given is not None or self.extents is None:
            return self.strides_given
        result, step = [], 1
        for extent in reversed(self.extents):
            result.insert(0, step)
            step = multiply(step, extent)
        return result

    def elements(self):
        """How many there are; None where nothing says it."""
        return None if self.extents is None else product(self.extents)

    def memory(self):
        """The extents of the memory that a pointer to it leads to; None where nothing says them."""
        return self.storage if self.storage is not None else self.extents

    def like(self, dtype: str = "", filled: str = "") -> "Tensor":
        """A tensor of the same shape in memory of its own."""
        return Tensor(self.extents, dtype or self.dtype, self.open_name, filled)

    def copied(self, dtype: str = "") -> "Tensor":
        """The same elements in a row."""
        copy = self.like(dtype, self.filled)
        copy.content = self.content
        return copy

    def permuted(self, order: list[int]) -> "Tensor":
        """A view with its axes in another order."""
        view = self.copied()
        if order != sorted(order):
            strides = self.strides()
            view.storage = self.memory()
            view.extents = [self.extents[axis] for axis in order]
            view.strides_given = [strides[axis] for axis in order]
        else:
            view.storage, view.strides_given = self.storage, self.strides_given
        return view


def product(extents):
    """Of integers."""
    count = 1
    for extent in extents:
        count = multiply(count, extent)
    return count
