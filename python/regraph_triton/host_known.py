"""What is found out about a module's host code while it is read several times: the first reading sees which arguments are
tensors and how many axes they have, later ones use it."""
import copy
import re

from host_values import Size, Tensor, value_of

# A constant that is an extent of a tensor is a size where it is at least this; smaller ones stay what they are.
LEAST_SIZE = 16
# Extents by the number of axes where nothing says them, so that a launch takes 0.1 to 10 ms: about 2^26 elements where each
# is moved once, fewer where there is more work for each.
MOVED = {1: (1 << 26,), 2: (16384, 4096), 3: (16, 1024, 4096), 4: (16, 16, 2048, 128)}
WORKED_ON = {1: (1 << 15,), 2: (4096, 4096), 3: (16, 1024, 1024), 4: (4, 16, 1024, 64)}
OTHER_EXTENT = 16
PLAIN_INTEGER = 4096
MOST_ELEMENTS = 1 << 26
ENOUGH_ELEMENTS = 1 << 25  # where each is moved once
# Integers whose names say that they are small.
NAMED = (
    (re.compile(r"(^|_)(b|bs|bsz|batch|batch_size|z|groups?)$", re.I), 8),
    (re.compile(r"(^|_)(h|heads?|n_heads?|num_heads?|nheads?)$", re.I), 16),
    (re.compile(r"(^|_)(d_head|head_dim|headdim|dim_head|head_size)$", re.I), 64),
    (re.compile(r"(^|_)(s|t|l|seq|seq_?len|n_ctx|ctx|tokens|context)$", re.I), 1024),
    (re.compile(r"(^|_)(kernel_size|ksize|kh|kw|kernel_[hw])$", re.I), 3),
    (re.compile(r"(^|_)(stride|dilation|padding|pad|group_size)(_[hwxy])?$", re.I), 1),
    (re.compile(r"(^|_)(seed|offset|step|index)$", re.I), 3),
)


class Known:
    """Facts by names of tensors, sizes and variables."""

    def __init__(self, given: dict, written: dict, usual: dict):
        self.given = given          # values of sizes that the user says, by their last names
        self.usual = usual          # those that a call in the module gives them
        self.written = written      # what docstrings and comments say of arguments: (extents, type)
        self.kinds: dict = {}       # arguments: "tensor", "integer", "float"
        self.ranks: dict = {}       # axes of tensors
        self.flat: set = set()      # tensors of which the number of elements is asked
        self.same: dict = {}        # a tensor: the one whose shape it has
        self.dtypes: dict = {}
        self.aliases: dict = {}     # a size: the one that it equals
        self.extents: set = set()   # constants of the module that are extents
        self.holders: dict = {}     # variables that are passed for constants of the kernel
        self.frozen: set = set()    # sizes that a constant of the kernel is made of
        self.places: dict = {}      # a size: the most axes of a tensor that it is an extent of, and which
        self.variables: dict = {}   # a size: the first variable that holds it
        self.names: dict = {}       # a size: its last name
        self.values: dict = {}      # a size: what a call in the module makes it
        self.fitted: dict = {}      # a size: what is taken in place of the usual extent
        self.integers: set = set()  # sizes that are arguments
        self.compared: set = set()  # sizes of which a remainder decides something
        self.moves_once = True      # whether the kernel does little more than to move its buffers
        self.assumed: set = set()   # what was assumed of the device

    def state(self):
        """To see whether a reading found out more."""
        return copy.deepcopy({name: value for name, value in vars(self).items() if name not in ("given", "written", "usual")})

    # ---- sizes

    def root(self, name: str) -> str:
        """The size that stands for all that equal it."""
        for _ in range(len(self.aliases) + 1):
            if name not in self.aliases:
                break
            name = self.aliases[name]
        return name

    def size(self, name: str):
        """The size of that name, a plain integer where it is frozen."""
        name = self.root(name)
        value = self.value(name)
        return value if name in self.frozen else Size.symbol(name, value)

    def value(self, name: str) -> int:
        """Of a size."""
        for told in (self.given, self.usual):
            for said in (self.names.get(name, name), name):
                if said in told:
                    return told[said]
        if name in self.values:
            return self.values[name]
        if name in self.fitted:
            return self.fitted[name]
        rank, axis = self.places.get(name, (0, 0))
        for said in {name, self.names.get(name, name), self.variables.get(name, name)}:
            for pattern, value in NAMED:
                if (rank == 0 or rank > 2) and pattern.search(said):
                    return value
        table = MOVED if self.moves_once else WORKED_ON
        if rank:
            return table[rank][axis] if rank in table else OTHER_EXTENT
        alone = len(self.integers) == 1 and not self.places
        return table[1][0] if alone else PLAIN_INTEGER

    def is_told(self, name: str) -> bool:
        """Whether the user or the module says the value of a size."""
        last = self.names.get(name, name)
        return name in self.values or last in self.given or last in self.usual

    def equal(self, left, right) -> None:
        """The code says that two integers are the same."""
        for one, other in ((right, left), (left, right)):
            if isinstance(one, Size) and one.name and isinstance(other, Size) and other.name:
                name, target = self.root(one.name), self.root(other.name)
                if name != target:
                    self.aliases[name] = target
                return
            is_number = isinstance(other, int) or (isinstance(other, Size) and not other.symbols())
            if isinstance(one, Size) and one.name and is_number and one.name not in self.values:
                self.values[one.name] = value_of(other)
                self.frozen.add(one.name)
                return

    def constant(self, name: str, value: int):
        """A constant of the module or a literal, as an extent."""
        if value < LEAST_SIZE:
            return value
        known = self.values.get(self.root(name))
        if known is not None and known != value:
            return value
        self.values.setdefault(self.root(name), value)
        return self.size(name)

    # ---- tensors

    def owner(self, name: str) -> str:
        """The tensor whose shape another one has."""
        for _ in range(len(self.same) + 1):
            if name not in self.same:
                break
            name = self.same[name]
        return name

    def tensor(self, name: str) -> Tensor:
        """An argument."""
        owner = self.owner(name)
        extents, dtype = self.written.get(owner, (None, ""))
        dtype = self.dtypes.get(name) or self.written.get(name, (None, ""))[1] or dtype
        if extents is None:
            rank = self.ranks.get(owner, 1 if owner in self.flat else 0)
            extents = [f"{owner}_{axis}" for axis in range(rank)] if rank > 1 else [f"{owner}_elements"][:rank]
        else:
            self.ranks[owner] = len(extents)
        if not extents:
            return Tensor(None, dtype, name)
        return self.placed(Tensor([self.size(one) if isinstance(one, str) else one for one in extents], dtype, name))

    def placed(self, tensor: Tensor) -> Tensor:
        """Notes which sizes are its extents."""
        for axis, extent in enumerate(tensor.extents or []):
            if isinstance(extent, Size) and extent.name:
                rank = len(tensor.extents)
                if rank > self.places.get(extent.name, (0, 0))[0]:
                    self.places[extent.name] = (rank, axis)
        return tensor

    def has_axes(self, tensor: Tensor, rank: int) -> None:
        """The code says how many axes a tensor has, at least."""
        if tensor.open_name and (tensor.extents is None or len(tensor.extents) < rank):
            owner = self.owner(tensor.open_name)
            self.ranks[owner] = max(rank, self.ranks.get(owner, 0))

    def is_flat(self, tensor: Tensor) -> bool:
        """Whether nothing but its number of elements was asked of a tensor."""
        return bool(tensor.open_name) and self.owner(tensor.open_name) not in self.ranks

    def asked_whole(self, tensor: Tensor) -> None:
        """The code asks how many elements a tensor has."""
        if tensor.extents is None and tensor.open_name:
            self.flat.add(self.owner(tensor.open_name))

    def same_shape(self, left: Tensor, right: Tensor) -> None:
        """The code says that two tensors have the same shape."""
        one, other = self.owner(right.open_name), self.owner(left.open_name)
        if left.extents is not None and right.extents is not None and len(left.extents) == len(right.extents):
            for mine, its in zip(left.extents, right.extents):
                self.equal(mine, its)
        elif one and other and one != other:
            self.same[one] = other
