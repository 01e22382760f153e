"""How far quantisation moves a network's choice of the next token: KL divergence and arg-max, against f32.

    .venv/bin/python -m bench.head_error                          # four families, all layers, 512 positions
    .venv/bin/python -m bench.head_error gpt2 --layers 2 --positions 64
    .venv/bin/python -m bench.head_error ./my-llama               # with the weights beside its config.json
    .venv/bin/python -m bench.head_error gpt2 --by-layer          # also attention over integers in one layer alone

Blocks and head are quantised apart and together, and attention (`kv8`) with and without the rest of the blocks.
Divergence is KL(f32 || quantised) over the vocabulary in nats, mean and largest over the positions; agreement the share
of positions whose most probable token is f32's. The text is drawn, the scales come from a run of it. Built-in models
have seeded weights, which say what rounding does to random logits; a trained network's are further apart.
"""

import argparse
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar, cast

import torch
from torch import Tensor, nn

from compiler.frontend import quantise_attention
from compiler.frontend.models.config import ModelSource, resolve_model
from compiler.frontend.models.head import Head
from compiler.frontend.network_export import Prefill, run_layers
from compiler.frontend.quantise import (
    HEAD_BITS,
    WEIGHT_BITS,
    IntegerProduct,
    QuantisedLinear,
    calibrate,
    group_size,
    quantise_head,
    quantise_weight,
    quantised,
)
from compiler.frontend.quantise_attention import calibrate_attention, quantised_attention
from compiler.frontend.weights import fill_from_checkpoint, fill_seeded

MODELS = ("gpt2", "qwen2.5-0.5b", "llama-1.1b", "gemma3-1b")
Kind = TypeVar("Kind")
ROWS = 32  # logits of so many positions at a time: a vocabulary of 262k words is 1 MB a row


@dataclass(frozen=True)
class Error:
    """Of the choice of the next token, over all positions."""

    mean: float
    largest: float
    agreement: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", default=MODELS, help="built-in names or folders (default: four families)")
    parser.add_argument("--positions", type=int, default=512)
    parser.add_argument("--layers", type=int, help="only the first (default: all)")
    parser.add_argument("--precision", choices=("w8a8", "w4a8"), default="w4a8", help="of the blocks")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--by-layer", action="store_true", help="also kv8 in each layer alone")
    options = parser.parse_args()
    setattr(IntegerProduct, "forward", _in_floats)  # noqa: B010 # the same results, sooner
    setattr(quantise_attention, "integer_products", _products_in_floats)  # noqa: B010 # likewise
    print("| model | weights | blocks | head | KL mean, nats | KL largest | arg-max agrees |")
    print("|---|---|---|---|---:|---:|---:|")
    for model in options.models:
        source = resolve_model(model)
        for cells in _rows(source, options):
            print(f"| {' | '.join(cells)} |", flush=True)


def _rows(source: ModelSource, options: argparse.Namespace) -> Iterator[tuple[str, ...]]:
    """A line of the table for each way to quantise."""
    weights = "seeded" if source.weights is None else Path(source.weights).name
    drawing = torch.Generator().manual_seed(options.seed)
    tokens = torch.randint(source.config.vocab_size, (options.positions,), generator=drawing)
    with torch.no_grad():
        model = Prefill(source.config, options.layers).eval()
        if source.weights is None:
            fill_seeded(model, source.config)
        else:
            fill_from_checkpoint(model, source.config, source.weights)
        exact, _ = run_layers(model, tokens, None)
        head = model.last
        scale = _scale(head, exact)
        heads = {"f32": head, **{f"w{bits}a8": _quantised(head, scale, bits, options.precision) for bits in (8, 4)}}
        del model.last
        scales = _of_blocks(calibrate(_Blocks(model), (tokens,)))
        attention = _of_blocks(calibrate_attention(_Blocks(model), (tokens,)))
        layers = {name: {name: found} for name, found in attention.items()} if options.by_layer else {}
        made = {"f32": exact}
        for what, where in {**layers, "f32, kv8": attention}.items():
            made[what] = run_layers(cast(Prefill, quantised_attention(deepcopy(model), where)), tokens, None)[0]
        quantised(model, scales, options.precision)
        made[options.precision], _ = run_layers(model, tokens, None)
        quantised_attention(model, attention)
        made[f"{options.precision}kv8"], _ = run_layers(model, tokens, None)
        for blocks, hidden in made.items():
            for name, own in heads.items() if blocks in {"f32", options.precision} else (("f32", head),):
                if (blocks, name) != ("f32", "f32"):
                    found = _error(head, exact, own, hidden)
                    figures = (f"{found.mean:.2e}", f"{found.largest:.2e}", f"{found.agreement:.1%}")
                    yield (source.name, weights, blocks, name, *figures)


def _of_blocks(found: Mapping[str, Kind]) -> dict[str, Kind]:
    """What was measured of `_Blocks`, by the names of the model."""
    return {name.removeprefix("model."): value for name, value in found.items()}


class _Blocks(nn.Module):
    """The layers alone, as a function of a prompt."""

    def __init__(self, model: Prefill) -> None:
        super().__init__()
        self.model = model

    def forward(self, tokens: Tensor) -> Tensor:
        return run_layers(self.model, tokens, None)[0]


def _scale(head: Head, hidden: Tensor) -> float:
    """Of what the head's products read, as the export calibrates it."""
    return next(iter(calibrate(head, (hidden,)).values()))


def _quantised(head: Head, scale: float, bits: int, precision: str) -> Head:
    """Of so many bits, as it is built beside blocks of that precision."""
    weight = cast(Tensor, head.head.weight)
    made = Head(head.norm, torch.zeros(0, weight.shape[0]), head.cap)
    size, beside = group_size(weight.shape[0]), WEIGHT_BITS[precision]
    made_of = quantise_head(weight, size, beside) if bits == HEAD_BITS else quantise_weight(weight, size, bits)
    product = QuantisedLinear(made_of, scale, None)
    made.head = cast("nn.Module", product)  # pyright: ignore[reportAttributeAccessIssue] # as `quantised` replaces it
    return made


def _error(head: Head, hidden: Tensor, own: Head, moved: Tensor) -> Error:
    divergences: list[Tensor] = []
    same = 0
    for start in range(0, hidden.shape[1], ROWS):
        rows = slice(start, start + ROWS)
        true, got = head.logits(hidden[:, rows])[0], own.logits(moved[:, rows])[0]
        p, q = torch.log_softmax(true.double(), -1), torch.log_softmax(got.double(), -1)
        divergences.append((p.exp() * (p - q)).sum(-1))
        same += int((true.argmax(-1) == got.argmax(-1)).sum())
    all_of_them = torch.cat(divergences)
    return Error(float(all_of_them.mean()), float(all_of_them.max()), same / hidden.shape[1])


def _in_floats(product: IntegerProduct, rows: Tensor) -> Tensor:
    """The same in f32, where sums of a group's products are exact (128 of 8 by 8 bits are below 2^24), and fast."""
    groups, size, *_, outputs = product.weight.shape
    grouped = rows.view(-1, groups, size).transpose(0, 1).to(torch.float32)
    total = torch.zeros(grouped.shape[1], outputs)
    weights, scales = product.weight.view(groups, size, -1, outputs), product.weight_scale.view(-1, groups, outputs)
    for group, digits, each in zip(grouped, weights, scales.unbind(1), strict=True):
        for weight, scale in zip(digits.unbind(1), each, strict=True):
            total += (group @ weight.to(torch.float32)) * scale
    return (total if product.bias is None else total + product.bias).view(1, -1, total.shape[-1])


def _products_in_floats(left: Tensor, right: Tensor) -> Tensor:
    """Exact below 2^24: 64 features of 8 by 8 bits are, and 1,040 positions."""
    return torch.bmm(left.float(), right.float())


if __name__ == "__main__":
    main()
