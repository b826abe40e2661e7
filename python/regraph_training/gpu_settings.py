"""How torch is set on a GPU, for training and answering alike."""

from __future__ import annotations


def set_up() -> None:
    """TF32 for what stays in float32, and no cuDNN attention: it plans anew for every shape, some 0.1 s each, and nearly
    every batch here has a shape of its own. Flash attention has no such start. Harmless without a GPU."""
    import torch
    torch.set_float32_matmul_precision("high")
    torch.backends.cuda.enable_cudnn_sdp(False)
