"""Small convolutional networks, built in code as PyTorch's exporter writes them."""

from typing import Any

import numpy as np
from onnx import ModelProto, helper
from onnx_models import model, weights

Nodes = list[Any]


class Network:
    """Nodes one after the other, with the weights that they need; each returns the name of what it makes."""

    def __init__(self, **shape: tuple[int, ...]) -> None:
        self.inputs = shape
        self.nodes: Nodes = []
        self.stored: dict[str, Any] = {}

    def node(self, kind: str, name: str, *read: str, **attributes: Any) -> str:
        self.nodes.append(helper.make_node(kind, list(read), [name], name=f"/{name}/{kind}", **attributes))
        return name

    def stores(self, name: str, *shape: int) -> str:
        self.stored[name] = weights(len(self.stored), *shape)
        return name

    def conv(self, name: str, read: str, of: int, to: int, kernel: int, group: int = 1, **attributes: Any) -> str:
        padding: int = attributes.pop("padding", kernel // 2)
        weight = self.stores(f"{name}.weight", to, of // group, kernel, kernel)
        around = {"pads": [padding] * 4} if padding else {}
        return self.node(
            "Conv", name, read, weight, self.stores(f"{name}.bias", to), group=group, **around, **attributes
        )

    def norm(self, name: str, read: str, channels: int) -> str:
        names = [self.stores(f"{name}.{part}", channels) for part in ("weight", "bias", "mean", "var")]
        self.stored[names[0]] += np.float32(1)
        self.stored[names[3]] = np.abs(self.stored[names[3]]) + np.float32(1)
        return self.node("BatchNormalization", name, read, *names)

    def linear(self, name: str, read: str, of: int, to: int) -> str:
        weight, bias = self.stores(f"{name}.weight", to, of), self.stores(f"{name}.bias", to)
        return self.node("Gemm", name, read, weight, bias, transB=1)

    def made(self, *shape: int) -> ModelProto:
        """The network that gives what the last node makes."""
        return model(self.nodes, self.inputs, {self.nodes[-1].output[0]: shape}, self.stored)


def mnist_cnn(width: int = 4, size: int = 12) -> ModelProto:
    """Two 3x3 convolutions with ReLU and 2x2 pooling, then one layer of all to all."""
    net = Network(x=(1, 1, size, size))
    x = net.node("Relu", "relu1", net.conv("conv1", "x", 1, width, 3))
    x = net.node("MaxPool", "pool1", x, kernel_shape=[2, 2], strides=[2, 2])
    x = net.node("Relu", "relu2", net.conv("conv2", x, width, 2 * width, 3))
    x = net.node("MaxPool", "pool2", x, kernel_shape=[2, 2], strides=[2, 2])
    x = net.node("Flatten", "flat", x)
    net.linear("fc", x, 2 * width * (size // 4) ** 2, 10)
    return net.made(1, 10)


def lenet5() -> ModelProto:
    """LeCun's of 1998, with ReLU and maxima: 61,706 parameters."""
    net = Network(x=(1, 1, 28, 28))
    x = net.node("Relu", "relu1", net.conv("conv1", "x", 1, 6, 5))
    x = net.node("MaxPool", "pool1", x, kernel_shape=[2, 2], strides=[2, 2])
    x = net.node("Relu", "relu2", net.conv("conv2", x, 6, 16, 5, padding=0))
    x = net.node("MaxPool", "pool2", x, kernel_shape=[2, 2], strides=[2, 2])
    x = net.node("Flatten", "flat", x)
    x = net.node("Relu", "relu3", net.linear("fc1", x, 400, 120))
    x = net.node("Relu", "relu4", net.linear("fc2", x, 120, 84))
    net.linear("fc3", x, 84, 10)
    return net.made(1, 10)


def residual_block(channels: int = 4, size: int = 8, stride: int = 1) -> ModelProto:
    """ResNet's basic block with its norms; where it strides, a 1x1 convolution is beside it."""
    net = Network(x=(1, channels, size, size))
    to = channels * stride
    strides: dict[str, Any] = {"strides": [stride, stride]} if stride > 1 else {}
    x = net.norm("norm1", net.conv("conv1", "x", channels, to, 3, **strides), to)
    x = net.norm("norm2", net.conv("conv2", net.node("Relu", "relu1", x), to, to, 3), to)
    beside = net.norm("norm3", net.conv("down", "x", channels, to, 1, **strides), to) if stride > 1 else "x"
    net.node("Relu", "relu2", net.node("Add", "sum", x, beside))
    return net.made(1, to, -(-size // stride), -(-size // stride))


def bottleneck(channels: int = 8, inner: int = 2, size: int = 6) -> ModelProto:
    """ResNet's block of 1x1, 3x3 and 1x1 convolutions."""
    net = Network(x=(1, channels, size, size))
    x = net.node("Relu", "relu1", net.conv("conv1", "x", channels, inner, 1))
    x = net.node("Relu", "relu2", net.conv("conv2", x, inner, inner, 3))
    net.node("Relu", "relu3", net.node("Add", "sum", net.conv("conv3", x, inner, channels, 1), "x"))
    return net.made(1, channels, size, size)


def inverted_residual(channels: int = 4, size: int = 6) -> ModelProto:
    """MobileNetV2's block: 1x1, depthwise 3x3 and 1x1 convolutions, ReLU6."""
    net = Network(x=(1, channels, size, size))
    net.stored |= {"low": np.float32(0), "high": np.float32(6)}
    x = net.node("Clip", "relu1", net.conv("expand", "x", channels, 6 * channels, 1), "low", "high")
    x = net.conv("depthwise", x, 6 * channels, 6 * channels, 3, group=6 * channels)
    x = net.node("Clip", "relu2", x, "low", "high")
    net.node("Add", "sum", net.conv("project", x, 6 * channels, channels, 1), "x")
    return net.made(1, channels, size, size)


def speech_cnn(samples: int = 64, channels: int = 4) -> ModelProto:
    """A 1-D network: a strided convolution, a dilated one, and the mean over time."""
    net = Network(x=(1, 2, samples))
    wide, bias = net.stores("conv1.weight", channels, 2, 5), net.stores("conv1.bias", channels)
    x = net.node("Conv", "conv1", "x", wide, bias, pads=[2, 2], strides=[2])
    apart, other = net.stores("conv2.weight", channels, channels, 3), net.stores("conv2.bias", channels)
    x = net.node("Conv", "conv2", net.node("Relu", "relu1", x), apart, other, pads=[2, 2], dilations=[2])
    x = net.node("Flatten", "flat", net.node("GlobalAveragePool", "mean", net.node("Relu", "relu2", x)))
    net.linear("fc", x, channels, 3)
    return net.made(1, 3)


def decoder(channels: int = 4, size: int = 4) -> ModelProto:
    """Twice as large by a transposed convolution, then by what lies between two pixels, and a 3x3 convolution."""
    net = Network(x=(1, channels, size, size))
    spread, bias = net.stores("up1.weight", channels, 3, 3, 3), net.stores("up1.bias", 3)
    around = {"pads": [1, 1, 1, 1], "output_padding": [1, 1], "strides": [2, 2]}
    x = net.node("Relu", "relu1", net.node("ConvTranspose", "up1", "x", spread, bias, **around))
    net.stored["by"] = np.array([1, 1, 2, 2], np.float32)
    net.conv("conv", net.node("Resize", "up2", x, "", "by", mode="linear"), 3, 2, 3)
    return net.made(1, 2, 4 * size, 4 * size)


NETWORKS = {
    "lenet5": lenet5,
    "mnist": mnist_cnn,
    "residual": residual_block,
    "residual_strided": lambda: residual_block(stride=2),
    "residual_left_over": lambda: residual_block(channels=8, size=9, stride=2),
    "bottleneck": bottleneck,
    "inverted_residual": inverted_residual,
    "speech": speech_cnn,
    "decoder": decoder,
}
