"""Building blocks of the networks. The names of submodules become the names of operations."""

from collections.abc import Mapping

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


class Given(nn.Module):
    def forward(self, given: Tensor, chosen: Tensor) -> Tensor:
        """The token that follows: the one that is given, or where that is negative the chosen one; both int32."""
        return torch.where(given >= 0, given, chosen)


class Multiply(nn.Module):
    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        return a * b


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


class RmsNorm(nn.Module):
    """Division by the root mean square over the last dimension, times a weight."""

    def __init__(self, features: int, epsilon: float) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(features))
        self.square = Mean()
        self.rstd = ReciprocalRoot(epsilon)

    def forward(self, x: Tensor) -> Tensor:
        return x * self.rstd(self.square(x * x)) * self.weight


class Linear(nn.Module):
    """x @ weight + bias; weight is [inputs, outputs] as in GPT-2's Conv1D.

    `granules`: where the inputs are concatenated heads, the features of one and of one group of heads. Quantisation
    groups respect these borders.
    """

    def __init__(self, inputs: int, outputs: int, bias: bool = True, granules: tuple[int, ...] = ()) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(inputs, outputs))
        self.bias = nn.Parameter(torch.zeros(outputs)) if bias else None
        self.granules = granules

    def forward(self, x: Tensor) -> Tensor:
        product = torch.matmul(x, self.weight)
        return product if self.bias is None else product + self.bias


class HeadLinear(Linear):
    """The products with a vocabulary [tokens, features], whose memory it shares: it is no parameter of its own."""

    def __init__(self, vocabulary: Tensor) -> None:
        super().__init__(vocabulary.shape[1], 0, bias=False)
        del self.weight
        self.register_buffer("weight", vocabulary.detach().T)


class Linears(nn.Module):
    """Linear layers that read the same input, as submodules by name. Quantised, they read the same integers."""

    def __init__(self, inputs: int, outputs: Mapping[str, int], bias: bool) -> None:
        super().__init__()
        self.parts = tuple(outputs)
        for name, width in outputs.items():
            self.add_module(name, Linear(inputs, width, bias))

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        return tuple(self.get_submodule(name)(x) for name in self.parts)


class Softmax(nn.Module):
    """Softmax over the last dimension; one reciprocal a row instead of a division an element."""

    def __init__(self) -> None:
        super().__init__()
        self.exp = Exp()
        self.reciprocal = Reciprocal()

    def forward(self, x: Tensor) -> Tensor:
        exp = self.exp(x - torch.amax(x, -1, keepdim=True))
        return exp * self.reciprocal(exp.sum(-1, keepdim=True))


class Append(nn.Module):
    """The cache followed by the new rows: [1, heads, past + rows, features]. With `newest_first` those lead, so that
    what a launch needs of a cache that is not full yet is the begin of it.
    """

    newest_first = False

    def forward(self, past: Tensor, new: Tensor) -> Tensor:
        return torch.cat((new, past) if self.newest_first else (past, new), dim=2)


class Rotary(nn.Module):
    """Turns the pairs of features of every head by the row's position.

    `x` is [1, rows, heads, features]; `rotary` [rows, 2, 2, features / 2] holds the matrix of each pair (see
    `models.inputs.rotary`). As a sum of products it is one operation in hardware; halves that are sliced, negated and
    concatenated would be four.
    """

    def forward(self, x: Tensor, rotary: Tensor) -> Tensor:
        _, rows, heads, features = x.shape
        halves = x.view(1, rows, heads, 1, 2, features // 2)
        turned = (halves * rotary.unsqueeze(1)).sum(4)
        return turned.view(1, rows, heads, features)


class Scores(nn.Module):
    """Scaled products of queries and keys, capped where `cap` is given, plus the mask.

    `query` is [1, rows, heads, group, features] (`group` query heads share a key head), `key` [1, heads, length,
    features], `mask` [rows, length]; the scores are [1, heads, group, rows, length]. Keys are never repeated.
    """

    def __init__(self, scale: float, cap: float | None = None) -> None:
        super().__init__()
        self.scale = scale
        self.cap = cap

    def forward(self, query: Tensor, key: Tensor, mask: Tensor) -> Tensor:
        _, rows, heads, group, features = query.shape
        flat = query.permute(0, 2, 3, 1, 4).reshape(1, heads, group * rows, features)
        products = torch.matmul(flat, key.transpose(2, 3)).view(1, heads, group, rows, -1)
        if self.cap is None:
            return products * self.scale + mask
        return torch.tanh(products * (self.scale / self.cap)) * self.cap + mask


class Context(nn.Module):
    """Weighted sum of the values, heads concatenated: [1, rows, heads * group * features]."""

    def forward(self, weights: Tensor, value: Tensor) -> Tensor:
        _, heads, group, rows, length = weights.shape
        flat = torch.matmul(weights.view(1, heads, group * rows, length), value)
        return flat.view(1, heads, group, rows, -1).permute(0, 3, 1, 2, 4).reshape(1, rows, -1)


class AttentionOverCache(nn.Module):
    """What turns queries, and the keys and values of all positions, into the context: what a network's precision may
    exchange for integers (`compiler.frontend.quantise_attention`). The three `quantise` give what they get.
    """

    def __init__(self, scale: float, cap: float | None = None) -> None:
        super().__init__()
        self.q_quantise: nn.Module = nn.Identity()
        self.k_quantise: nn.Module = nn.Identity()
        self.v_quantise: nn.Module = nn.Identity()
        self.k_cache = Append()
        self.v_cache = Append()
        self.scores = Scores(scale, cap)
        self.softmax: nn.Module = Softmax()
        self.context: nn.Module = Context()

    def attend(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor, past: tuple[Tensor, Tensor] | None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """The context, and the new keys and values as a cache keeps them, [1, heads, rows, features] as they come."""
        query, key, value = self.q_quantise(query), self.k_quantise(key), self.v_quantise(value)
        keys, values = key, value
        if past is not None:
            keys, values = self.k_cache(past[0], key), self.v_cache(past[1], value)
        weights = self.softmax(self.scores(query, keys, mask))
        return self.context(weights, values), key, value


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


class Silu(nn.Module):
    """x times its sigmoid. Far below zero the exponential is infinite and its reciprocal 0: never a NaN."""

    def forward(self, x: Tensor) -> Tensor:
        return x * torch.reciprocal(1.0 + torch.exp(-x))


ACTIVATION_MODULES: dict[str, type[nn.Module]] = {
    "gelu_new": GeluTanh,
    "gelu_pytorch_tanh": GeluTanh,
    "gelu": Gelu,
    "relu": Relu,
    "silu": Silu,
}
