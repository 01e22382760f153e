"""GPT-2 blocks: hidden states in, hidden states and the new keys and values out (eager attention, no dropout)."""

from torch import Tensor, nn

from compiler.frontend.models.config import Gpt2Config
from compiler.frontend.models.parts import (
    ACTIVATION_MODULES,
    Add,
    Append,
    Context,
    Head,
    LayerNorm,
    Linear,
    Scores,
    Softmax,
)


class Attention(nn.Module):
    def __init__(self, config: Gpt2Config, layer: int) -> None:
        super().__init__()
        width, heads = config.n_embd, config.n_head
        scale = config.head_dim**-0.5 if config.scale_attn_weights else 1.0
        self.qkv = Linear(width, 3 * width)
        self.q = Head(0, 3, heads)
        self.k = Head(1, 3, heads)
        self.v = Head(2, 3, heads)
        self.k_cache = Append()
        self.v_cache = Append()
        self.scores = Scores(scale / (layer + 1) if config.scale_attn_by_inverse_layer_idx else scale)
        self.softmax = Softmax()
        self.context = Context()
        self.proj = Linear(width, width, granule=config.head_dim)

    def forward(self, x: Tensor, mask: Tensor | None, past: tuple[Tensor, Tensor] | None) -> tuple[Tensor, ...]:
        fused = self.qkv(x)
        query, key, value = self.q(fused), self.k(fused), self.v(fused)
        keys, values = key, value
        if past is not None:
            keys, values = self.k_cache(past[0], key), self.v_cache(past[1], value)
        weights = self.softmax(self.scores(query, keys, mask))
        return self.proj(self.context(weights, values)), key, value


class Mlp(nn.Module):
    def __init__(self, config: Gpt2Config) -> None:
        super().__init__()
        self.fc = Linear(config.n_embd, config.n_inner)
        self.gelu = ACTIVATION_MODULES[config.activation_function]()
        self.proj = Linear(config.n_inner, config.n_embd)

    def forward(self, x: Tensor) -> Tensor:
        return self.proj(self.gelu(self.fc(x)))


class Block(nn.Module):
    def __init__(self, config: Gpt2Config, layer: int) -> None:
        super().__init__()
        self.ln_1 = LayerNorm(config.n_embd, config.layer_norm_epsilon)
        self.attn = Attention(config, layer)
        self.residual_1 = Add()
        self.ln_2 = LayerNorm(config.n_embd, config.layer_norm_epsilon)
        self.mlp = Mlp(config)
        self.residual_2 = Add()

    def forward(self, x: Tensor, mask: Tensor | None, past: tuple[Tensor, Tensor] | None) -> tuple[Tensor, ...]:
        attended, key, value = self.attn(self.ln_1(x), mask, past)
        x = self.residual_1(x, attended)
        return self.residual_2(x, self.mlp(self.ln_2(x))), key, value


class Gpt2(nn.Module):
    """`layers` blocks. Returns hidden [1, rows, n_embd], then the new K and V [1, n_head, rows, head_dim] of each."""

    def __init__(self, config: Gpt2Config, layers: int) -> None:
        super().__init__()
        self.config = config
        self.layers = layers
        for layer in range(layers):
            self.add_module(f"h{layer}", Block(config, layer))

    def forward(self, hidden: Tensor, mask: Tensor | None, past: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        """`mask` [rows, length] is added to the scores; `past` holds K, V [1, n_head, past rows, head_dim] a layer."""
        new: list[Tensor] = []
        for layer in range(self.layers):
            cache = (past[2 * layer], past[2 * layer + 1]) if past else None
            hidden, key, value = self.get_submodule(f"h{layer}")(hidden, mask, cache)
            new += [key, value]
        return (hidden, *new)


# Where each tensor of a block lies in a Hugging Face checkpoint, below `h.<layer>.` or `transformer.h.<layer>.`.
CHECKPOINT_NAMES = {
    "ln_1.weight": "ln_1.weight",
    "ln_1.bias": "ln_1.bias",
    "attn.qkv.weight": "attn.c_attn.weight",
    "attn.qkv.bias": "attn.c_attn.bias",
    "attn.proj.weight": "attn.c_proj.weight",
    "attn.proj.bias": "attn.c_proj.bias",
    "ln_2.weight": "ln_2.weight",
    "ln_2.bias": "ln_2.bias",
    "mlp.fc.weight": "mlp.c_fc.weight",
    "mlp.fc.bias": "mlp.c_fc.bias",
    "mlp.proj.weight": "mlp.c_proj.weight",
    "mlp.proj.bias": "mlp.c_proj.bias",
}
