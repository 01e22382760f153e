"""Blocks of the decoders with rotary positions: grouped-query attention, gated MLP, RMS norms; by configuration."""

from torch import Tensor, nn

from compiler.frontend.models.decoder_config import DecoderConfig
from compiler.frontend.models.parts import (
    ACTIVATION_MODULES,
    Add,
    AttentionOverCache,
    Linear,
    Linears,
    Multiply,
    RmsNorm,
    Rotary,
)


class Attention(AttentionOverCache):
    """Attention where `group` query heads share a key and value head."""

    def __init__(self, config: DecoderConfig) -> None:
        super().__init__(config.score_scale, config.attn_logit_softcapping)
        features = config.head_dim
        queries, keys = config.num_attention_heads * features, config.kv_heads * features
        self.heads = (config.kv_heads, config.group, features)
        self.qkv = Linears(config.hidden, {"q": queries, "k": keys, "v": keys}, config.qkv_bias)
        normed = config.traits.qk_norm
        self.q_norm = RmsNorm(features, config.rms_norm_eps) if normed else nn.Identity()
        self.k_norm = RmsNorm(features, config.rms_norm_eps) if normed else nn.Identity()
        self.q_rotary = Rotary()
        self.k_rotary = Rotary()
        granules = (features, config.group * features)
        self.proj = Linear(queries, config.hidden, config.attention_bias, granules)

    def forward(
        self, x: Tensor, mask: Tensor, rotary: Tensor, past: tuple[Tensor, Tensor] | None
    ) -> tuple[Tensor, ...]:
        kv_heads, group, features = self.heads
        q, k, v = self.qkv(x)
        rows = x.shape[1]
        query = self.q_rotary(self.q_norm(q.view(1, rows, kv_heads * group, features)), rotary)
        query = query.view(1, rows, kv_heads, group, features)
        key = self.k_rotary(self.k_norm(k.view(1, rows, kv_heads, features)), rotary).transpose(1, 2)
        value = v.view(1, rows, kv_heads, features).transpose(1, 2)
        context, key, value = self.attend(query, key, value, mask, past)
        return self.proj(context), key, value


class GatedMlp(nn.Module):
    """down(activation(gate(x)) * up(x))."""

    def __init__(self, config: DecoderConfig) -> None:
        super().__init__()
        inner = config.intermediate_size
        self.gate_up = Linears(config.hidden, {"gate": inner, "up": inner}, config.mlp_bias)
        self.activation = ACTIVATION_MODULES[config.activation]()
        self.product = Multiply()
        self.proj = Linear(inner, config.hidden, config.mlp_bias)

    def forward(self, x: Tensor) -> Tensor:
        gate, up = self.gate_up(x)
        return self.proj(self.product(self.activation(gate), up))


class DecoderBlock(nn.Module):
    """One layer: see `registry.Block` for what it takes and gives. All layers of a network have one structure."""

    def __init__(self, config: DecoderConfig, _layer: int) -> None:
        super().__init__()

        def norm() -> nn.Module:
            return RmsNorm(config.hidden, config.rms_norm_eps)

        outer = config.traits.outer_norms
        self.attn_norm = norm()
        self.attn = Attention(config)
        self.attn_out_norm = norm() if outer else nn.Identity()
        self.residual_1 = Add()
        self.mlp_norm = norm()
        self.mlp = GatedMlp(config)
        self.mlp_out_norm = norm() if outer else nn.Identity()
        self.residual_2 = Add()

    def forward(
        self, x: Tensor, mask: Tensor, rotary: Tensor | None, past: tuple[Tensor, Tensor] | None
    ) -> tuple[Tensor, ...]:
        attended, key, value = self.attn(self.attn_norm(x), mask, rotary, past)
        x = self.residual_1(x, self.attn_out_norm(attended))
        return self.residual_2(x, self.mlp_out_norm(self.mlp(self.mlp_norm(x)))), key, value


_CHECKPOINT_NAMES = {
    "attn_norm": "input_layernorm",
    "attn.qkv.q": "self_attn.q_proj",
    "attn.qkv.k": "self_attn.k_proj",
    "attn.qkv.v": "self_attn.v_proj",
    "attn.q_norm": "self_attn.q_norm",
    "attn.k_norm": "self_attn.k_norm",
    "attn.proj": "self_attn.o_proj",
    "mlp_norm": "post_attention_layernorm",
    "mlp.gate_up.gate": "mlp.gate_proj",
    "mlp.gate_up.up": "mlp.up_proj",
    "mlp.proj": "mlp.down_proj",
}
# With norms on both sides of each part, what other families call the second norm is the one after attention.
_OUTER_NORM_NAMES = {
    **_CHECKPOINT_NAMES,
    "attn_out_norm": "post_attention_layernorm",
    "mlp_norm": "pre_feedforward_layernorm",
    "mlp_out_norm": "post_feedforward_layernorm",
}
# Tensors of no layer, below the same prefix as the layers, but for the head.
OUTSIDE_NAMES = {"embedding": "embed_tokens.weight", "norm.weight": "norm.weight", "head": "lm_head.weight"}


def checkpoint_name(config: DecoderConfig, name: str) -> str:
    """Where a block's tensor lies in a Hugging Face checkpoint, below `layers.<layer>.`."""
    module, _, tensor = name.rpartition(".")
    names = _OUTER_NORM_NAMES if config.traits.outer_norms else _CHECKPOINT_NAMES
    return f"{names[module]}.{tensor}"
