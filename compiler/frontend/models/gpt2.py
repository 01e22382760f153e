"""GPT-2 blocks (eager attention, no dropout)."""

from torch import Tensor, nn

from compiler.frontend.models.gpt2_config import Gpt2Config
from compiler.frontend.models.parts import ACTIVATION_MODULES, Add, AttentionOverCache, LayerNorm, Linear


class Head(nn.Module):
    """Part `index` of three of the last dimension, as [1, rows, heads, features]."""

    def __init__(self, index: int, heads: int) -> None:
        super().__init__()
        self.index = index
        self.heads = heads

    def forward(self, x: Tensor) -> Tensor:
        size = x.shape[-1] // 3
        part = x[:, :, self.index * size : (self.index + 1) * size]
        return part.view(1, x.shape[1], self.heads, size // self.heads)


class Attention(AttentionOverCache):
    def __init__(self, config: Gpt2Config, layer: int) -> None:
        width, heads = config.n_embd, config.n_head
        scale = config.head_dim**-0.5 if config.scale_attn_weights else 1.0
        super().__init__(scale / (layer + 1) if config.scale_attn_by_inverse_layer_idx else scale)
        self.qkv = Linear(width, 3 * width)
        self.q = Head(0, heads)
        self.k = Head(1, heads)
        self.v = Head(2, heads)
        self.proj = Linear(width, width, granules=(config.head_dim,))

    def forward(self, x: Tensor, mask: Tensor, past: tuple[Tensor, Tensor] | None) -> tuple[Tensor, ...]:
        fused = self.qkv(x)
        query, key, value = self.q(fused).unsqueeze(3), self.k(fused).transpose(1, 2), self.v(fused).transpose(1, 2)
        context, key, value = self.attend(query, key, value, mask, past)
        return self.proj(context), key, value


class Mlp(nn.Module):
    def __init__(self, config: Gpt2Config) -> None:
        super().__init__()
        self.fc = Linear(config.n_embd, config.n_inner)
        self.gelu = ACTIVATION_MODULES[config.activation_function]()
        self.proj = Linear(config.n_inner, config.n_embd)

    def forward(self, x: Tensor) -> Tensor:
        return self.proj(self.gelu(self.fc(x)))


class Gpt2Block(nn.Module):
    """One layer: see `registry.Block` for what it takes and gives. Positions are in the embedding: no `rotary`."""

    def __init__(self, config: Gpt2Config, layer: int) -> None:
        super().__init__()
        self.ln_1 = LayerNorm(config.n_embd, config.layer_norm_epsilon)
        self.attn = Attention(config, layer)
        self.residual_1 = Add()
        self.ln_2 = LayerNorm(config.n_embd, config.layer_norm_epsilon)
        self.mlp = Mlp(config)
        self.residual_2 = Add()

    def forward(
        self, x: Tensor, mask: Tensor, rotary: Tensor | None, past: tuple[Tensor, Tensor] | None
    ) -> tuple[Tensor, ...]:
        assert rotary is None
        attended, key, value = self.attn(self.ln_1(x), mask, past)
        x = self.residual_1(x, attended)
        return self.residual_2(x, self.mlp(self.ln_2(x))), key, value


# Where each tensor of a block lies in a Hugging Face checkpoint, below `h.<layer>.`.
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
