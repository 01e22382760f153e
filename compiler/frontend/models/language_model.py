"""The whole network around the blocks: tokens to hidden states, and hidden states to logits.

Designs compute the blocks, the head, or, of the phase `token`, all of it. As a torch module it is the reference for
all of them.
"""

from collections.abc import Mapping
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from compiler.frontend.models.config import ModelConfig
from compiler.frontend.models.gpt2_config import Gpt2Config
from compiler.frontend.models.head import Head
from compiler.frontend.models.parts import LayerNorm, RmsNorm
from compiler.frontend.models.registry import family_of


class LanguageModel(nn.Module):
    """All layers of a model, or its first `layers`, with embedding, final norm and head.

    Parameters are named as in a workload's bundle: those of layer i are `h<i>.<name>`.
    """

    def __init__(self, config: ModelConfig, layers: int | None = None) -> None:
        super().__init__()
        self.config = config
        self.layers = config.layers if layers is None else layers
        shape = (config.vocab_size, config.hidden)
        self.embedding = nn.Parameter(torch.zeros(shape))
        self.head = None if config.tie_word_embeddings else nn.Parameter(torch.zeros(shape))
        if isinstance(config, Gpt2Config):
            self.positions = nn.Parameter(torch.zeros(config.n_positions, config.hidden))
            self.norm: nn.Module = LayerNorm(config.hidden, config.layer_norm_epsilon)
            self.scale, cap = 1.0, None
        else:
            self.positions = None
            self.norm = RmsNorm(config.hidden, config.rms_norm_eps)
            self.scale = config.hidden**0.5 if config.traits.scaled_embedding else 1.0
            cap = config.final_logit_softcapping
        self.last = Head(self.norm, self.embedding if self.head is None else self.head, cap)
        for layer in range(self.layers):
            self.add_module(f"h{layer}", family_of(config).block(config, layer))

    def embed(self, tokens: Tensor, positions: Tensor) -> Tensor:
        """Hidden states [1, rows, hidden] of `tokens` [rows] at `positions` [rows]."""
        hidden = self.embedding[tokens] * self.scale
        return (hidden if self.positions is None else hidden + self.positions[positions]).unsqueeze(0)

    def tables(self, length: int) -> dict[str, Tensor]:
        """What `embed` adds up, a row each: of every token, of each of `length` positions where there are any, zeros
        where the model has fewer.
        """
        rows = {"embedding": self.embedding * self.scale}
        if self.positions is not None:
            rows["positions"] = pad(self.positions[:length], (0, 0, 0, max(0, length - len(self.positions))))
        return {name: table.detach()[:, None, None] for name, table in rows.items()}

    def block(self, layer: int) -> nn.Module:
        """Layer `layer`: see `registry.Block`."""
        return self.get_submodule(f"h{layer}")

    def run_block(
        self, layer: int, hidden: Tensor, inputs: Mapping[str, Tensor], past: tuple[Tensor, Tensor] | None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Hidden states and the new K and V; `inputs` are those of `models.inputs.block_inputs`."""
        made = self.block(layer)(hidden, inputs["mask"], inputs.get("rotary"), past)
        return cast(tuple[Tensor, Tensor, Tensor], made)

    def logits(self, hidden: Tensor) -> Tensor:
        """Scores of every token of the vocabulary, [1, rows, vocab_size], for the last block's hidden states."""
        return self.last.logits(hidden)
