"""Kernels that are lowered from traces made by hand."""
import traces
from regraph_torch import graph
from regraph_torch.lower import lower


def lowered(make, *at):
    made = traces.at_sizes(make, *at)
    return lower(graph.merge(made, [one["constants"] for one in made]), "made by a test")
