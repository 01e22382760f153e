"""What follows the last block: final norm, products with the vocabulary, and the token of the largest."""

import torch
from torch import Tensor, nn

from compiler.frontend.models.parts import HeadLinear


class Head(nn.Module):
    """`norm` and `vocabulary` [tokens, features], which may be the embedding, are the language model's own: they are
    not copied. `cap` bounds the logits softly; None does not.
    """

    def __init__(self, norm: nn.Module, vocabulary: Tensor, cap: float | None) -> None:
        super().__init__()
        self.norm = norm
        self.head = HeadLinear(vocabulary)
        self.cap = cap

    def logits(self, hidden: Tensor) -> Tensor:
        """Scores [1, rows, tokens] for the last block's hidden states [1, rows, features]."""
        scores = self.head(self.norm(hidden))
        return scores if self.cap is None else torch.tanh(scores * (1.0 / self.cap)) * self.cap

    def forward(self, hidden: Tensor) -> Tensor:
        """The token that follows each row: [1, rows], int32; of equal logits the first."""
        return torch.argmax(self.logits(hidden), -1).to(torch.int32)
