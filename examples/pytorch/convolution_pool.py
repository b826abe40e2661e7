"""Two operators, so refused: a convolution, then a pool."""
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, channels, filters):
        super().__init__()
        self.convolution = nn.Conv2d(channels, filters, kernel_size=3)
        self.pool = nn.MaxPool2d(2)

    def forward(self, x):
        return self.pool(self.convolution(x))


batch = 8
channels = 32
filters = 64
side = 96


def get_inputs():
    return [torch.randn(batch, channels, side, side)]


def get_init_inputs():
    return [channels, filters]
