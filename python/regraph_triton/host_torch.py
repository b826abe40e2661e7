"""PyTorch's tensors and functions as launchers of Triton kernels use them: what shape and type comes out."""
from host_values import Argument, Size, Tensor, Unknown, divide, product, value_of

# Triton's names of PyTorch's types.
TYPES = {
    "float32": "fp32", "float": "fp32", "float16": "fp16", "half": "fp16", "bfloat16": "bf16", "float64": "fp64",
    "double": "fp64", "int32": "i32", "int": "i32", "int64": "i64", "long": "i64", "int16": "i16", "short": "i16",
    "int8": "i8", "uint8": "u8", "bool": "i1",
}
# Types as triton.language calls them.
WRITTEN_TYPES = {"fp32": "float32", "fp16": "float16", "bf16": "bfloat16", "fp64": "float64", "i32": "int32", "i64": "int64",
                 "i16": "int16", "i8": "int8", "u8": "uint8", "i1": "int1"}
CASTS = {"half": "fp16", "float": "fp32", "bfloat16": "bf16", "double": "fp64", "int": "i32", "long": "i64"}
SAME = {"cuda", "detach", "clone", "requires_grad_", "normal_", "uniform_", "fill_", "zero_", "retain_grad", "eval", "train",
        "mul_", "add_", "cpu", "pin_memory", "relu", "exp", "abs", "sigmoid", "tanh", "softmax", "mul", "add", "sub",
        "div", "clamp", "random_", "kaiming_normal_", "xavier_uniform_", "data", "masked_fill", "masked_fill_"}
MAKERS = {"empty": "", "zeros": "zeros", "ones": "ones", "rand": "uniform", "randn": "normal", "full": "", "normal": "normal"}
LIKE = {"empty_like": "", "zeros_like": "zeros", "ones_like": "ones", "rand_like": "uniform", "randn_like": "normal",
        "full_like": ""}
TENSOR_WORDS = {"shape", "numel", "size", "stride", "dim", "ndim", "contiguous", "is_contiguous", "is_cuda", "dtype", "device",
                "view", "reshape", "transpose", "permute", "to", "T", "t", "data_ptr", "nelement", "new_empty", "new_zeros",
                "flatten", "unsqueeze", "squeeze", "element_size", "requires_grad", "half", "bfloat16", "layout", "is_sparse",
                "detach", "clone", "mT", "new_ones", "new_full"}


def type_named(value) -> str:
    """Triton's name of a type that the code names: torch.float16, tl.float16, x.dtype."""
    text = value if isinstance(value, str) else getattr(value, "path", "")
    last = text.split(".")[-1]
    return last if last in TYPES.values() else TYPES.get(last, "")


class Shape:
    """x.shape of a tensor whose extents are not known yet."""

    def __init__(self, tensor: Tensor):
        self.tensor = tensor


class TensorCode:
    """Attributes and methods of tensors, functions that make some. `known` is told what they say."""

    def __init__(self, known):
        self.known = known

    def shape(self, tensor: Tensor):
        """x.shape"""
        return Shape(tensor) if tensor.extents is None or self.known.is_flat(tensor) else tuple(tensor.extents)

    def extent(self, tensor: Tensor, axis: int):
        """x.shape[axis]"""
        wanted = axis + 1 if axis >= 0 else max(-axis, 2)
        if tensor.extents is None or not -len(tensor.extents) <= axis < len(tensor.extents) or \
                (wanted > len(tensor.extents) and self.known.is_flat(tensor)):
            self.known.has_axes(tensor, wanted)
            return Unknown(0, f"{tensor.open_name or 'tensor'}.shape[{axis}]")
        return tensor.extents[axis]

    def elements(self, tensor: Tensor):
        """x.numel()"""
        if tensor.extents is None:
            self.known.asked_whole(tensor)
            return Unknown(0, f"{tensor.open_name or 'tensor'}.numel()")
        return tensor.elements()

    def stride(self, tensor: Tensor, axis):
        """x.stride(axis), or all of them."""
        strides = tensor.strides()
        wanted = 1 if not isinstance(axis, int) else axis + 1 if axis >= 0 else -axis
        if strides is None or wanted > len(strides):
            self.known.has_axes(tensor, max(wanted, 2))  # nobody asks for the stride of a row of elements
            return Unknown(0, "a stride")
        return tuple(strides) if axis is None else strides[axis]

    def attribute(self, tensor: Tensor, name: str):
        """A value, or None where the name is a method's or not known."""
        if name == "shape":
            return self.shape(tensor)
        if name in ("T", "mT"):
            return self.method(tensor, "transpose", [-2, -1], {})
        if name == "ndim":
            return self.method(tensor, "dim", [], {})
        if name == "is_cuda":
            return True
        if name in ("requires_grad", "is_sparse"):
            return False
        if name == "data":
            return tensor
        if name == "dtype":
            return TypeOf(tensor)
        return None

    def method(self, tensor: Tensor, name: str, args: list, words: dict):
        """What a method gives; Unknown where that is not known."""
        if name in SAME:
            return tensor
        if name in ("contiguous",):
            return tensor.copied() if tensor.strides_given is not None else tensor
        if name in CASTS:
            return tensor.copied(CASTS[name])
        if name in ("to", "type"):
            dtype = next((found for found in map(type_named, [*args, *words.values()]) if found), "")
            return tensor.copied(dtype) if dtype else tensor
        if name == "is_contiguous":
            return tensor.strides_given is None
        if name == "size":
            return self.extent(tensor, args[0]) if args else self.shape(tensor)
        if name == "stride":
            return self.stride(tensor, args[0] if args else words.get("dim"))
        if name in ("numel", "nelement"):
            return self.elements(tensor)
        if name == "dim":
            return len(tensor.extents) if tensor.extents is not None else Rank(tensor)
        if name == "element_size":
            return 2 if tensor.dtype in ("fp16", "bf16") else 4
        if name in ("view", "reshape", "flatten"):
            return self.reshaped(tensor, name, args)
        if name in ("transpose", "t", "permute", "unsqueeze", "squeeze", "swapaxes"):
            return self.turned(tensor, name, args)
        if name in ("new_empty", "new_zeros", "new_ones", "new_full"):
            made = self.make("empty" if name == "new_empty" else name[4:], args, words)
            if isinstance(made, Tensor) and "dtype" not in words:
                made.dtype = tensor.dtype
            return made
        if name in ("expand_as", "view_as", "reshape_as") and args and isinstance(args[0], Tensor):
            return args[0].like(tensor.dtype)
        return Unknown(0, f".{name}()")

    def reshaped(self, tensor: Tensor, name: str, args: list):
        """view, reshape, flatten"""
        wanted = list(args[0]) if len(args) == 1 and isinstance(args[0], (tuple, list)) else list(args)
        if name == "flatten":
            first, last = (args + [0, -1][len(args):])[:2]
            if tensor.extents is None:
                self.known.asked_whole(tensor) if first == 0 else self.known.has_axes(tensor, first + 1)
                return Tensor(None, tensor.dtype)
            last %= len(tensor.extents)
            wanted = [*tensor.extents[:first], product(tensor.extents[first:last + 1]), *tensor.extents[last + 1:]]
        if any(isinstance(one, (Unknown, Shape)) for one in wanted):
            return Tensor(None, tensor.dtype)
        if tensor.extents is None and any(isinstance(one, int) and one == -1 for one in wanted):
            if len(wanted) == 1:
                self.known.asked_whole(tensor)
            if len(wanted) == 1 or not tensor.open_name or not self.known.is_flat(tensor):
                return Tensor(None, tensor.dtype)
            # Of its own shape nothing else is known: as many rows as there are.
            rows = self.known.size(f"{self.known.owner(tensor.open_name)}_rows")
            extents = [rows if isinstance(one, int) and one == -1 else one for one in wanted]
            return self.known.placed(Tensor(extents, tensor.dtype))
        view = tensor.copied()
        # A constant of the kernel is its value here.
        wanted = [one.value if isinstance(one, Size) and not one.symbols() else one for one in wanted]
        if tensor.extents is not None:
            count, rest = tensor.elements(), 1
            for one in wanted:
                if not (isinstance(one, int) and one == -1):
                    rest = product([rest, one])
            if not value_of(rest) or value_of(count) % value_of(rest):
                return Tensor(None, tensor.dtype)
            missing = divide(count, rest)
            wanted = [missing if isinstance(one, int) and one == -1 else one for one in wanted]
        view.extents, view.storage, view.strides_given, view.open_name = wanted, None, None, ""
        return view

    def turned(self, tensor: Tensor, name: str, args: list):
        """transpose, permute, squeeze"""
        args = list(args[0]) if len(args) == 1 and isinstance(args[0], (tuple, list)) else list(args)
        if tensor.extents is None:
            axes = [one + 1 if one >= 0 else -one for one in args if isinstance(one, int)]
            self.known.has_axes(tensor, len(args) if name == "permute" else max([2, *axes]))
            return Tensor(None, tensor.dtype, tensor.open_name if "squeeze" not in name else "")
        rank = len(tensor.extents)
        if name == "t":
            return tensor.permuted([1, 0]) if rank == 2 else tensor
        if name in ("transpose", "swapaxes"):
            order = list(range(rank))
            first, second = args[0] % rank, args[1] % rank
            order[first], order[second] = order[second], order[first]
            return tensor.permuted(order)
        if name == "permute":
            return tensor.permuted([one % rank for one in args])
        if tensor.strides_given is not None:
            return Tensor(None, tensor.dtype)
        view = tensor.copied()
        view.storage, view.open_name = tensor.storage, ""
        if name == "unsqueeze":
            view.extents = list(tensor.extents)
            view.extents.insert(args[0] % (rank + 1), 1)
        else:
            view.extents = [one for one in tensor.extents if value_of(one) != 1]
        return view

    def make(self, name: str, args: list, words: dict):
        """torch.empty and its like."""
        if name == "full" and isinstance(args[0], (tuple, list)):
            args = args[:1]
        if name == "randint":
            return self.drawn(args, words)
        if name == "normal" and "size" not in words:
            args = args[2:]
        extents = words.get("size", args[0] if len(args) == 1 and isinstance(args[0], (tuple, list, Shape)) else args)
        if isinstance(extents, Shape):
            return extents.tensor.like(type_named(words.get("dtype")), MAKERS.get(name, ""))
        dtype = words.get("dtype")
        named = dtype.tensor.dtype if isinstance(dtype, TypeOf) else type_named(dtype) or "fp32"
        if any(isinstance(one, (Unknown, Argument)) for one in extents):
            return Tensor(None, named)
        return self.known.placed(Tensor(list(extents), named, filled=MAKERS.get(name, "") or "none"))

    def drawn(self, args: list, words: dict):
        """torch.randint"""
        low, high = 0, words.get("high", args[0] if args else 2)
        rest = args[1:]
        if rest and not isinstance(rest[0], (tuple, list)):
            low, high, rest = high, rest[0], rest[1:]
        extents = words.get("size", rest[0] if rest else None)
        if not isinstance(extents, (tuple, list)) or any(isinstance(one, Unknown) for one in extents):
            return Unknown(0, "torch.randint")
        tensor = self.known.placed(Tensor(list(extents), type_named(words.get("dtype")) or "i64"))
        if not isinstance(low, Unknown) and not isinstance(high, Unknown):
            tensor.content = (low, high)
        return tensor

    def make_like(self, name: str, other, words: dict):
        """torch.empty_like and its like."""
        dtype = words.get("dtype")
        named = dtype.tensor.dtype if isinstance(dtype, TypeOf) else type_named(dtype)
        return other.like(named, LIKE[name] or "none") if isinstance(other, Tensor) else Unknown(0, f"torch.{name}")

    def layer(self, name: str, args: list, words: dict):
        """The parameters of a layer of torch.nn; None where it is not known."""
        def at(place: int, word: str, default=None):
            return args[place] if place < len(args) else words.get(word, default)

        def tensor(*extents):
            if any(isinstance(one, Unknown) or one is None for one in extents):
                return Tensor(None, "fp32")
            return self.known.placed(Tensor(list(extents), "fp32"))
        if name == "Linear":
            inputs, outputs = at(0, "in_features"), at(1, "out_features")
            return {"weight": tensor(outputs, inputs), "bias": tensor(outputs) if at(2, "bias", True) else None,
                    "in_features": inputs, "out_features": outputs}
        if name in ("LayerNorm", "RMSNorm"):
            shape = at(0, "normalized_shape")
            shape = list(shape) if isinstance(shape, (tuple, list)) else [shape]
            return {"weight": tensor(*shape), "bias": tensor(*shape), "eps": at(1, "eps", 1e-5), "normalized_shape": tuple(shape)}
        if name in ("BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "GroupNorm", "InstanceNorm2d"):
            count = at(1, "num_channels") if name == "GroupNorm" else at(0, "num_features")
            return {word: tensor(count) for word in ("weight", "bias", "running_mean", "running_var")} | {"eps": 1e-5}
        if name == "Embedding":
            rows, width = at(0, "num_embeddings"), at(1, "embedding_dim")
            return {"weight": tensor(rows, width), "num_embeddings": rows, "embedding_dim": width}
        if name in ("Conv1d", "Conv2d", "Conv3d"):
            width, axes = at(2, "kernel_size"), int(name[4])
            kernel = list(width) if isinstance(width, (tuple, list)) else [width] * axes
            outputs = at(1, "out_channels")
            return {"weight": tensor(outputs, at(0, "in_channels"), *kernel),
                    "bias": tensor(outputs) if words.get("bias", True) else None}
        return None


class Rank:
    """x.dim() of a tensor whose axes are not known yet."""

    def __init__(self, tensor: Tensor):
        self.tensor = tensor


class TypeOf:
    """x.dtype"""

    def __init__(self, tensor: Tensor):
        self.tensor = tensor
