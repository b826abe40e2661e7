"""Kernels that are lowered from traces made by hand, in the types that floating-point tensors have; and contents of files."""
import array
import struct

import traces
from regraph_torch import graph
from regraph_torch.element_types import COMPUTED_IN_FLOAT, TYPES
from regraph_torch.lower import lower

FLOATING = COMPUTED_IN_FLOAT
HALVES = tuple(one for one in FLOATING if TYPES[one].header)


def lowered(make, *at, type_name="float32"):
    """With all floating-point tensors in that type."""
    made = [traces.in_type(one, type_name) for one in traces.at_sizes(make, *at)]
    return lower(graph.merge(made, [one["constants"] for one in made]), "made by a test")


def drawn(draw, count, low=-128, high=128):
    """Numbers that each of the types holds as they are."""
    return [draw.randint(low, high) / 128 for _ in range(count)]


def content(type_name, values):
    """What a file holds of these values, each rounded to the nearest that the type has."""
    if type_name == "float16":
        return struct.pack(f"={len(values)}e", *values)
    if type_name == "bfloat16":
        bits = array.array("I", array.array("f", values).tobytes())
        return array.array("H", ((one + 0x7FFF + (one >> 16 & 1)) >> 16 for one in bits)).tobytes()
    return array.array(TYPES[type_name].array, values).tobytes()
