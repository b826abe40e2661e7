"""A strided, padded convolution of images."""
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self, channels, filters):
        super().__init__()
        self.convolution = nn.Conv2d(channels, filters, kernel_size=3, stride=2, padding=1)

    def forward(self, x):
        return self.convolution(x)


batch = 8
channels = 32
filters = 64
height = 112
width = 96


def get_inputs():
    return [torch.randn(batch, channels, height, width)]


def get_init_inputs():
    return [channels, filters]
