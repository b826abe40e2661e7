"""What the body of a Triton kernel tells of its parameters: which are bounds, which strides, which places are touched."""
import ast

from module_rules import dotted


def places(kernel: ast.FunctionDef, pointers: set[str]) -> dict[str, set[str]]:
    """What is added to each pointer, as texts; with what moves it; nothing of one that is used in other ways, too."""
    found: dict[str, set[str]] = {}
    uses: dict[str, int] = {}
    inner: set[int] = set()

    def terms(node: ast.AST) -> list[ast.AST]:
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            inner.add(id(node))
            return terms(node.left) + terms(node.right)
        return [node]
    for part in ast.walk(kernel):
        if isinstance(part, ast.Name) and part.id in pointers:
            uses[part.id] = uses.get(part.id, 0) + 1
        if not isinstance(part, ast.BinOp) or not isinstance(part.op, ast.Add) or id(part) in inner:
            continue
        added = terms(part)
        bases = [one.id for one in added if isinstance(one, ast.Name) and one.id in pointers]
        if len(bases) == 1:
            rest = sorted(ast.unparse(one) for one in added if not (isinstance(one, ast.Name) and one.id == bases[0]))
            found.setdefault(bases[0], set()).add(" + ".join(rest))
            uses[bases[0]] = uses.get(bases[0], 0) - 1
    moved: dict[str, set[str]] = {}
    for part in ast.walk(kernel):
        if isinstance(part, ast.AugAssign) and isinstance(part.op, ast.Add) and isinstance(part.target, ast.Name) \
                and part.target.id in pointers:
            moved.setdefault(part.target.id, set()).add(ast.unparse(part.value))
            uses[part.target.id] = uses.get(part.target.id, 0) - 1
    steps = {id(part.target) for part in ast.walk(kernel) if isinstance(part, ast.AugAssign)}
    changed = {part.id for part in ast.walk(kernel)
               if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store) and id(part) not in steps}
    typed = [dotted(part).split(".")[0] for part in ast.walk(kernel) if isinstance(part, ast.Attribute) and part.attr == "element_ty"]
    for name in typed:
        uses[name] = uses.get(name, 0) - 1
    return {name: {" and ".join([*sorted(moved.get(name, ())), text]) for text in texts}
            for name, texts in found.items() if name not in changed and uses.get(name) == 0}


def tiles(kernel: ast.FunctionDef) -> dict[int, set[str]]:
    """Names that the program number of an axis is multiplied by."""
    axes: dict[str, int] = {}

    def axis_of(node: ast.AST):
        if isinstance(node, ast.Name):
            return axes.get(node.id)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "to":
            return axis_of(node.func.value)
        if isinstance(node, ast.Call) and dotted(node.func).split(".")[-1] == "program_id":
            values = [*node.args, *(word.value for word in node.keywords if word.arg == "axis")]
            return values[0].value if values and isinstance(values[0], ast.Constant) else None
        return None
    found: dict[int, set[str]] = {}
    for part in ast.walk(kernel):
        if isinstance(part, ast.Assign) and isinstance(part.targets[0], ast.Name) and axis_of(part.value) is not None:
            axes[part.targets[0].id] = axis_of(part.value)
    for part in ast.walk(kernel):
        if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Mult):
            for number, name in ((part.left, part.right), (part.right, part.left)):
                if axis_of(number) is not None and isinstance(name, ast.Name):
                    found.setdefault(axis_of(number), set()).add(name.id)
    return found


def bounding(kernel: ast.FunctionDef) -> set[str]:
    """Names that something is compared to, counted to or divided by: extents, while strides are only multiplied."""
    found: set[str] = set()
    for part in ast.walk(kernel):
        is_division = isinstance(part, ast.BinOp) and isinstance(part.op, (ast.FloorDiv, ast.Mod, ast.Div))
        is_count = isinstance(part, ast.Call) and dotted(part.func).split(".")[-1] in ("range", "cdiv", "min", "max", "minimum",
                                                                                       "maximum", "make_block_ptr")
        if isinstance(part, ast.Compare) or is_division or is_count:
            inner = [*part.args, *(word.value for word in part.keywords if word.arg != "strides")] if is_count else [part]
            found |= {name.id for one in inner for name in ast.walk(one) if isinstance(name, ast.Name)}
    return found


def stride_bounds(kernel: ast.FunctionDef) -> dict[str, str]:
    """Parameters that `k` is multiplied by, with the parameter that it is compared to: `k * stride` and `k < K`."""
    def plain(node: ast.AST) -> str:
        while isinstance(node, ast.Subscript):
            node = node.value
        return ast.unparse(node)
    names = {one.arg for one in [*kernel.args.posonlyargs, *kernel.args.args]}
    bounds = {plain(part.left): part.comparators[0].id for part in ast.walk(kernel)
              if isinstance(part, ast.Compare) and isinstance(part.ops[0], ast.Lt) and isinstance(part.comparators[0], ast.Name)
              and part.comparators[0].id in names}
    found = {}
    for part in ast.walk(kernel):
        if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Mult):
            for stride, place in ((part.left, part.right), (part.right, part.left)):
                if isinstance(stride, ast.Name) and stride.id in names and plain(place) in bounds:
                    found.setdefault(stride.id, bounds[plain(place)])
    return found
