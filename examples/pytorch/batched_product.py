"""Products of many pairs of matrices, the second transposed."""
import torch
from torch import nn


class Model(nn.Module):
    def forward(self, a, b):
        return torch.bmm(a, b.transpose(1, 2))


pairs = 64
rows = 256
columns = 512
depth = 128


def get_inputs():
    return [torch.randn(pairs, rows, depth), torch.randn(pairs, columns, depth)]


def get_init_inputs():
    return []
