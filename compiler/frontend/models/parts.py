"""Building blocks of the networks. The names of submodules become the names of operations."""

import torch
from torch import Tensor, nn


class Mean(nn.Module):
    """Mean over the last dimension, kept with extent 1."""

    def forward(self, x: Tensor) -> Tensor:
        return x.sum(-1, keepdim=True) * (1.0 / x.shape[-1])


class Subtract(nn.Module):
    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        return a - b


class Add(nn.Module):
    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        return a + b


class Exp(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.exp(x)


class Reciprocal(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.reciprocal(x)


class ReciprocalRoot(nn.Module):
    """1 / sqrt(x + epsilon)."""

    def __init__(self, epsilon: float) -> None:
        super().__init__()
        self.epsilon = epsilon

    def forward(self, x: Tensor) -> Tensor:
        return torch.rsqrt(x + self.epsilon)


class LayerNorm(nn.Module):
    """Layer normalisation over the last dimension, in two passes (mean, then variance of the centred values)."""

    def __init__(self, features: int, epsilon: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(features))
        self.bias = nn.Parameter(torch.zeros(features))
        self.mean = Mean()
        self.centre = Subtract()
        self.var = Mean()
        self.rstd = ReciprocalRoot(epsilon)

    def forward(self, x: Tensor) -> Tensor:
        centred = self.centre(x, self.mean(x))
        return centred * self.rstd(self.var(centred * centred)) * self.weight + self.bias


class Linear(nn.Module):
    """x @ weight + bias; weight is [inputs, outputs] as in GPT-2's Conv1D.

    `granule`: where the inputs are the concatenated heads, the features of one head. Quantisation groups respect it.
    """

    def __init__(self, inputs: int, outputs: int, granule: int = 1) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(inputs, outputs))
        self.bias = nn.Parameter(torch.zeros(outputs))
        self.granule = granule

    def forward(self, x: Tensor) -> Tensor:
        return torch.matmul(x, self.weight) + self.bias


class Softmax(nn.Module):
    """Softmax over the last dimension; one reciprocal a row instead of a division an element."""

    def __init__(self) -> None:
        super().__init__()
        self.exp = Exp()
        self.reciprocal = Reciprocal()

    def forward(self, x: Tensor) -> Tensor:
        exp = self.exp(x - torch.amax(x, -1, keepdim=True))
        return exp * self.reciprocal(exp.sum(-1, keepdim=True))


class Head(nn.Module):
    """Part `index` of `parts` of the last dimension, as [1, heads, rows, features]."""

    def __init__(self, index: int, parts: int, heads: int) -> None:
        super().__init__()
        self.index = index
        self.parts = parts
        self.heads = heads

    def forward(self, x: Tensor) -> Tensor:
        size = x.shape[-1] // self.parts
        part = x[:, :, self.index * size : (self.index + 1) * size]
        return part.view(1, x.shape[1], self.heads, size // self.heads).transpose(1, 2)


class Append(nn.Module):
    """The cache followed by the new rows: [1, heads, past + rows, features]."""

    def forward(self, past: Tensor, new: Tensor) -> Tensor:
        return torch.cat((past, new), dim=2)


class Scores(nn.Module):
    """Scaled products of queries and keys, plus the mask: [1, heads, rows, length]."""

    def __init__(self, scale: float) -> None:
        super().__init__()
        self.scale = scale

    def forward(self, query: Tensor, key: Tensor, mask: Tensor | None) -> Tensor:
        scores = torch.matmul(query, key.transpose(2, 3)) * self.scale
        return scores if mask is None else scores + mask


class Context(nn.Module):
    """Weighted sum of the values, heads concatenated: [1, rows, heads * features]."""

    def forward(self, weights: Tensor, value: Tensor) -> Tensor:
        return torch.matmul(weights, value).transpose(1, 2).reshape(1, weights.shape[2], -1)


class GeluTanh(nn.Module):
    """GELU by its tanh approximation (`gelu_new`)."""

    def forward(self, x: Tensor) -> Tensor:
        return 0.5 * x * (1.0 + torch.tanh(0.7978845608028654 * (x + 0.044715 * (x * x * x))))


class Gelu(nn.Module):
    """GELU by the error function."""

    def forward(self, x: Tensor) -> Tensor:
        return 0.5 * x * (1.0 + torch.erf(x * 0.7071067811865476))


class Relu(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.relu(x)


ACTIVATION_MODULES: dict[str, type[nn.Module]] = {
    "gelu_new": GeluTanh,
    "gelu_pytorch_tanh": GeluTanh,
    "gelu": Gelu,
    "relu": Relu,
}
