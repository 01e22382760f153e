"""Our blocks are Hugging Face's blocks."""

from typing import Any

import pytest

from compiler.frontend.models.config import Gpt2Config
from compiler.frontend.models.gpt2 import CHECKPOINT_NAMES


@pytest.fixture(scope="module")
def networks() -> Any:
    """Two blocks of ours and of transformers with the same random weights."""
    import torch
    from transformers import GPT2Config, GPT2Model

    from compiler.frontend.models.gpt2 import Gpt2

    torch.manual_seed(1)
    config = Gpt2Config(n_embd=48, n_head=3, n_layer=2, n_inner=80)
    their_config = GPT2Config(n_embd=48, n_head=3, n_layer=2, n_inner=80, vocab_size=10)
    their_config._attn_implementation = "eager"
    theirs = GPT2Model(their_config).eval()
    ours = Gpt2(config, 2).eval()
    with torch.no_grad():
        for parameter in theirs.parameters():
            parameter.copy_(torch.randn_like(parameter) * 0.3)
    state = theirs.state_dict()
    ours.load_state_dict({f"h{i}.{a}": state[f"h.{i}.{b}"] for i in range(2) for a, b in CHECKPOINT_NAMES.items()})
    return ours, theirs


def reference(theirs: Any, hidden: Any, mask: Any) -> Any:
    for block in theirs.h:
        made = block(hidden, attention_mask=mask)
        hidden = made[0] if isinstance(made, tuple) else made
    return hidden


def test_prefill_and_decode_equal_transformers(networks: Any) -> None:
    import torch

    ours, theirs = networks
    hidden = torch.randn(1, 7, 48)
    mask = torch.triu(torch.full((7, 7), torch.finfo(torch.float32).min), 1)
    with torch.no_grad():
        expected = reference(theirs, hidden, mask[None, None])
        prefill = ours(hidden, mask, ())
        torch.testing.assert_close(prefill[0], expected, atol=1e-5, rtol=1e-5)
        past = tuple(cache[:, :, :-1] for cache in prefill[1:])
    # the last position, with what the first layer's cache held: both layers see the rows of a prefill
    with torch.no_grad():
        decode = ours(hidden[:, -1:], None, past)
    torch.testing.assert_close(decode[0], expected[:, -1:], atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(decode[1], prefill[1][:, :, -1:], atol=1e-6, rtol=1e-5)
