"""Blocks of torchvision's networks as their authors define them, with seeded weights and statistics of norms."""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import nn

BLOCKS: dict[str, tuple[int, ...]] = {
    "resnet_basic": (1, 8, 8, 8),
    "resnet_bottleneck": (1, 16, 8, 8),
    "mobilenetv2": (1, 8, 8, 8),
    "mobilenetv2_strided": (1, 8, 8, 8),
    "convnext": (1, 8, 8, 8),
}
"""The shape of its input, by the name of a block."""


def block(name: str) -> "nn.Module":
    """In evaluation; no weights are downloaded."""
    import torch

    load_torchvision()
    from torchvision.models.convnext import CNBlock
    from torchvision.models.mobilenetv2 import InvertedResidual
    from torchvision.models.resnet import BasicBlock, Bottleneck

    makers: dict[str, Callable[[], torch.nn.Module]] = {
        "resnet_basic": lambda: BasicBlock(8, 8),
        "resnet_bottleneck": lambda: Bottleneck(16, 4),
        "mobilenetv2": lambda: InvertedResidual(8, 8, stride=1, expand_ratio=4),
        "mobilenetv2_strided": lambda: InvertedResidual(8, 16, stride=2, expand_ratio=4),
        "convnext": lambda: CNBlock(8, layer_scale=1e-6, stochastic_depth_prob=0.0),
    }
    torch.manual_seed(0)
    made = makers[name]().eval()
    with torch.no_grad():
        for key, tensor in made.state_dict().items():
            if tensor.is_floating_point() and ("running" in key or key.endswith("layer_scale")):
                tensor.uniform_(0.5, 1.5)
    return made


def load_torchvision() -> None:
    """Import torchvision, as transformers does where it is installed. The build of another torch than ours leaves two
    operators undefined, which nothing here uses, and does not import without.
    """
    import torch

    try:
        import torchvision
    except RuntimeError:
        operators = torch.library.Library("torchvision", "FRAGMENT")
        for name in ("nms", "qnms"):
            operators.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        _LIBRARIES.append(operators)
        for module in [name for name in sys.modules if name.partition(".")[0] == "torchvision"]:
            del sys.modules[module]
        import torchvision  # noqa: F401


_LIBRARIES: list[object] = []  # operators are gone with the library that defined them
