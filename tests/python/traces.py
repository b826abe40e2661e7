"""Traces as a child with PyTorch writes them, by hand: what lowering is tested on without PyTorch."""


def ref(name):
    return {"ref": name}


def many(*values):
    return {"list": list(values)}


def user(name, shape, dtype="float32", kind="user"):
    return {"name": name, "kind": kind, "target": name, "init": "", "shape": list(shape), "dtype": dtype}


def node(name, op, args, *outputs, dtype="float32"):
    return {"name": name, "op": f"aten.{op}", "args": args, "outputs": [{"shape": list(one), "dtype": dtype} for one in outputs]}


def trace(inputs, nodes, constants=None, outputs=None):
    return {"name": "full", "inputs": inputs, "nodes": nodes, "outputs": outputs or [nodes[-1]["name"]], "constants": constants or {}}


def in_type(made, type_name):
    """The trace with its tensors of float32 in another type."""
    def changed(one):
        return one | {"dtype": type_name} if one["dtype"] == "float32" else one
    return made | {"inputs": [changed(one) for one in made["inputs"]],
                   "nodes": [one | {"outputs": [changed(out) for out in one["outputs"]]} for one in made["nodes"]]}


def at_sizes(make, *sizes):
    """The traces of `make`, a function of sizes by name, whose names are the module's constants."""
    return [make(**one) | {"constants": one} for one in sizes]


def softmax(rows, columns):
    return trace([user("x", (rows, columns))],
                 [node("softmax", "softmax.int", {"self": ref("x"), "dim": -1, "dtype": None}, (rows, columns))])


def product(m, n, k):
    return trace([user("a", (m, k)), user("b", (k, n))], [node("matmul", "matmul.default", {"self": ref("a"), "other": ref("b")}, (m, n))])


def convolution(batch, side):
    out = (side + 2 - 3) // 2 + 1
    return trace([user("x", (batch, 3, side, side)), user("w", (8, 3, 3, 3), kind="parameter")],
                 [node("conv2d", "conv2d.default", {"input": ref("x"), "weight": ref("w"), "bias": None, "stride": many(2, 2), "padding": many(1, 1),
                                                    "dilation": many(1, 1), "groups": 1}, (batch, 8, out, out))])


def volume_convolution(batch, side):
    return trace([user("x", (batch, 3, side, side, side)), user("w", (8, 3, 3, 3, 3), kind="parameter")],
                 [node("conv3d", "conv3d.default", {"input": ref("x"), "weight": ref("w"), "bias": None, "stride": many(1, 1, 1),
                                                    "padding": many(0, 0, 0), "dilation": many(1, 1, 1), "groups": 1},
                       (batch, 8, side - 2, side - 2, side - 2))])


def one_place_convolution(batch, channels, height, width):
    return trace([user("x", (batch, channels, height, width)), user("w", (8, channels, 1, 1), kind="parameter"), user("b", (8,), kind="parameter")],
                 [node("conv2d", "conv2d.default", {"input": ref("x"), "weight": ref("w"), "bias": ref("b"), "stride": many(1, 1),
                                                    "padding": many(0, 0), "dilation": many(1, 1), "groups": 1}, (batch, 8, height, width))])


def flat_volume_convolution(batch, side):
    """One tap along the last dimension, of five elements; padding along the one before."""
    return trace([user("x", (batch, 2, side, side, 5)), user("w", (4, 2, 3, 3, 1), kind="parameter")],
                 [node("conv3d", "conv3d.default", {"input": ref("x"), "weight": ref("w"), "bias": None, "stride": many(1, 1, 1),
                                                    "padding": many(0, 1, 0), "dilation": many(1, 1, 1), "groups": 1}, (batch, 4, side - 2, side, 5))])


def unit_length(batch, rows, columns):
    """Divided by the square root of the sum of all squares."""
    return trace([user("x", (batch, rows, columns))],
                 [node("norm", "linalg_vector_norm.default", {"self": ref("x"), "ord": 2.0, "dim": None, "keepdim": False, "dtype": None}, ()),
                  node("div", "div.Tensor", {"self": ref("x"), "other": ref("norm")}, (batch, rows, columns))])


def convolution_and_pool(batch, side):
    made = convolution(batch, side)
    out = (side + 2 - 3) // 2 + 1
    made["nodes"].append(node("pool", "max_pool2d.default", {"self": ref("conv2d"), "kernel_size": many(2, 2), "stride": many(),
                                                             "padding": many(0, 0), "dilation": many(1, 1), "ceil_mode": False}, (batch, 8, out // 2, out // 2)))
    return made | {"outputs": ["pool"]}


def squared_error(rows, columns):
    return trace([user("x", (rows, columns)), user("y", (rows, columns))],
                 [node("mse_loss", "mse_loss.default", {"self": ref("x"), "target": ref("y"), "reduction": 1}, ())])


def squared_error_by_hand(n):
    return trace([user("x", (n,)), user("y", (n,))],
                 [node("sub", "sub.Tensor", {"self": ref("x"), "other": ref("y")}, (n,)),
                  node("square", "square.default", {"self": ref("sub")}, (n,))])


def running_sum(rows, columns):
    shape = (rows, columns)
    return trace([user("x", shape)], [node("flip", "flip.default", {"self": ref("x"), "dims": many(1)}, shape),
                                      node("cumsum", "cumsum.default", {"self": ref("flip"), "dim": 1, "dtype": None}, shape),
                                      node("flip_1", "flip.default", {"self": ref("cumsum"), "dims": many(1)}, shape)])


def cross_entropy(rows, classes):
    return trace([user("x", (rows, classes)), user("t", (rows,), "int64")],
                 [node("loss", "cross_entropy_loss.default", {"self": ref("x"), "target": ref("t"), "weight": None, "reduction": 1,
                                                              "ignore_index": -100, "label_smoothing": 0.0}, ())])


def group_norm(batch, channels, side):
    shape = (batch, channels, side, side)
    return trace([user("x", shape), user("g", (channels,), kind="parameter")],
                 [node("norm", "group_norm.default", {"input": ref("x"), "num_groups": 4, "weight": ref("g"), "bias": None, "eps": 1e-5,
                                                      "cudnn_enabled": False}, shape)])
