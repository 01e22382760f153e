"""A seeded network that has learned one reply by heart, so that PyTorch is decided about it.

Of random weights the largest logits are nearly tied, and over 26 layers of gemma3-1b a millionth more or less in the
parameters moves logits by 5 to 8 % of their spread: one prompt of some 100,000 has 16 tokens that stay the same
(`bench.undecided`). A trained network is sure of much of what it says. None is at hand, so a reply is taught here, by
the delta rule: the head's row of each of its tokens gets as much of the hidden state which that token is to follow as
puts its logit `AHEAD` of all others; only of that part of the state which no state before has, so that what was said
there stays. No token comes twice or is of the prompt: where the head is the embedding, no row changes that has been
read. All else is as it was seeded.

It decides what PyTorch says, not what a design does: that reads these weights as those of any checkpoint, and is held
to PyTorch's tokens and hidden states. But tokens that are well ahead hide what moves logits by less: with the last of
those 26 layers left out they are the same, and the hidden states, off by 0.175 where 0.10 is tolerated, tell it alone.
"""

import json
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor

from bench.undecided import for_each
from compiler.design_dir import OnStage
from compiler.frontend.cached import make_once
from compiler.frontend.models.config import ModelSource
from compiler.frontend.models.head import Head
from compiler.frontend.models.registry import family_of
from compiler.frontend.network import network_key
from compiler.frontend.network_export import Prefill, float_model, says
from compiler.frontend.network_request import NetworkRequest
from compiler.frontend.quantise import QuantisedLinear

AHEAD = 0.5
"""In standard deviations of the logits. Of that, 0.28 was left where the parameters of all 26 layers changed so."""


def taught(source: ModelSource, request: NetworkRequest, cache: Path, say: OnStage) -> Path:
    """The folder of the model that has learned its reply to the request, with no other layers than are asked for; from
    the cache if it is there.
    """

    def make(folder: Path) -> None:
        network = float_model(source, request.layers)
        teach(network, request, say)
        say("writing what was taught")
        (folder / "config.json").write_text(json.dumps(source.config.to_json()))
        save_file(_stored(network), folder / "model.safetensors")

    return make_once(cache, f"taught-{AHEAD}-{network_key(source, request)}", make)


def teach(network: Prefill, request: NetworkRequest, say: OnStage) -> list[int]:
    """Changes rows of the head of a float network in place; the tokens that it says from now on, in the precision that
    is asked for.
    """
    rows = (network.embedding if network.head is None else network.head).data
    asked, given = for_each(network)(request), [token for prompt in request.turns for token in prompt]
    text, before = list[int](), torch.empty(0, rows.shape[1])  # `before`: orthonormal, of all states up to there
    for said in says(asked, request, text):  # which reads the text as it grows
        with torch.no_grad():
            state = as_read(asked.last, said.hidden)
            # By rows of floats: `AHEAD` has room for their rounding, and to round all again for each token takes long.
            logits = rows @ state
            new = state - before.T @ (before @ state)
            token = int(logits.index_fill(0, torch.tensor(given + text), -torch.inf).argmax())
            others = logits.index_fill(0, torch.tensor(token), -torch.inf)
            lacks = max(0.0, float(AHEAD * logits.std(correction=0) + others.max() - logits[token]))
            change = lacks / new.dot(new) * new
            say(f"token {len(text) + 1} is {token}: {change.norm() / rows[token].norm():.2%} of its row")
            rows[token] += change
            before = torch.cat((before, (new / new.norm()).unsqueeze(0)))
        text.append(token)
    return text


def as_read(last: Head, hidden: Tensor) -> Tensor:
    """What the products of the head are with: where that is quantised, numbers beyond its scale are cut off."""
    state: Tensor = last.norm(hidden)
    quantise = last.head.quantise if isinstance(last.head, QuantisedLinear) else None
    return state if quantise is None else quantise(state) / quantise.inv_scale


def _stored(network: Prefill) -> dict[str, Tensor]:
    """Its tensors as a checkpoint has them: the reverse of `compiler.frontend.weights.fill_from_checkpoint`, but for
    the last bit of what is stored with an offset, which is to decide nothing now.
    """
    tensors = dict[str, Tensor]()
    for name, parameter in network.named_parameters():
        found = family_of(network.config).stored(network.config, name)
        tensor = parameter.detach() - found.offset if found.offset else parameter.detach()
        tensors[found.name] = (tensor.T if found.transposed else tensor).contiguous()
    return tensors
