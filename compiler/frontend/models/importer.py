"""Imports a network family: a checked configuration and a workload to linalg, with weights, inputs and reference."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any, TypeVar

import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from compiler.frontend.imported import Imported
from compiler.frontend.lowering.normal_form import Argument
from compiler.frontend.models.config import ModelConfig, ModelSource
from compiler.frontend.models.inputs import input_name, layer_kind
from compiler.frontend.models.language_model import LanguageModel
from compiler.frontend.models.parts import Append
from compiler.frontend.models.registry import Network, WholeNetwork, cache_names, family_of
from compiler.frontend.program_import import import_network
from compiler.frontend.quantise import int4_weights
from compiler.frontend.quantise_attention import as_kept, in_precision
from compiler.frontend.torch_types import tensor_of
from compiler.frontend.weights import Inputs, fill_from_checkpoint, fill_seeded, make_inputs
from compiler.graph.linalg_graph import Row, ValueRole
from compiler.host.network import PROMPT, prompt_rows
from compiler.options import Workload

TOKEN = "token"  # the result of a head; of a whole network also the argument that says which one is last
POSITION = "position"  # the argument of a step


def import_family(source: ModelSource, workload: Workload, on_progress: Callable[[str], None]) -> Imported:
    """The blocks of `workload`, the head, or both behind the embedding, as linalg. Raises UnsupportedError, or
    InvalidInputError where weights do not fit.
    """
    is_head = workload.phase == "head"
    what = "the head" if is_head else f"{workload.layers} layer(s)"
    on_progress(f"building {what} of {source.name}")
    inputs = make_inputs(source.config, workload)
    tables = dict[str, Tensor]()
    if is_head:
        network = _head(source)
    elif workload.phase == "token":
        model = _model(source, workload.layers)
        tables = {**model.tables(workload.length), PROMPT: tensor_of(prompt_rows(workload.length))}
        network = _whole(model, workload, (*tables, *inputs.other))
    else:
        network = _filled(_blocks(source.config, workload, tuple(inputs.other)), source)
    named = _named(inputs, tables)
    tensors = tuple(tensor_of(array) for array in named.values())
    network = in_precision(network, tensors, workload.precision).eval()
    inputs = replace(inputs, past=as_kept(network, inputs.past))
    named = _named(inputs, tables)
    tensors = tuple(tensor_of(array) for array in named.values())
    on_progress("running the PyTorch reference")
    with torch.no_grad():
        made: Tensor | tuple[Tensor, ...] = network(*tensors)
    results = made if isinstance(made, tuple) else (made,)
    on_progress("exporting and lowering to linalg")
    module = import_network(network, tensors)
    names = (TOKEN,) if is_head else ("hidden_out", *cache_names(workload.layers))
    names = (TOKEN, *names) if tables else names
    in_memory = {**inputs.tables, **{name: table.numpy() for name, table in tables.items()}}
    arguments = [Argument(name, "param") for name in module.parameters]
    arguments += [Argument(name, _role(name, inputs, in_memory)) for name in named]
    state = {name: tensor.detach().numpy() for name, tensor in network.state_dict().items()}
    position = Row(POSITION, workload.length)
    rows = dict.fromkeys((*in_memory, *cache_names(workload.layers)), position) if workload.steps else {}
    if tables:
        rows |= {"embedding": Row(TOKEN, source.config.vocab_size), TOKEN: position, "hidden_out": position}
    return Imported(
        module.generic,
        module.pretty,
        tuple(arguments),
        names,
        {**state, **named, **in_memory},
        {name: result.numpy() for name, result in zip(names, results, strict=True)},
        int4_weights(network),
        "seeded" if source.weights is None else source.weights.name,
        rows=rows,
    )


def _named(inputs: Inputs, tables: Mapping[str, Tensor]) -> dict[str, NDArray[Any]]:
    """What the network takes, in its order: rows of `tables`, where there are any, in place of hidden states."""
    rows = {name: table[-1].numpy() for name, table in tables.items()}
    return inputs.named() if not rows else {**rows, **inputs.other, **inputs.past}


def _role(name: str, inputs: Inputs, in_memory: Collection[str]) -> ValueRole:
    if name in inputs.past:
        return "state"
    return "param" if name in in_memory and name != PROMPT else "input"


def _blocks(config: ModelConfig, workload: Workload, inputs: tuple[str, ...]) -> Network:
    """The blocks, without their weights."""
    blocks = [family_of(config).block(config, layer) for layer in range(workload.layers)]
    return _stepping(Network(blocks, inputs, _suffixes(config, workload)), workload)


def _whole(model: LanguageModel, workload: Workload, inputs: tuple[str, ...]) -> WholeNetwork:
    """All of a model that has its weights."""
    blocks = [model.block(layer) for layer in range(workload.layers)]
    network = WholeNetwork(blocks, inputs[1:], _suffixes(model.config, workload), model.last)
    return _stepping(network, workload)


def _suffixes(config: ModelConfig, workload: Workload) -> list[str]:
    return [input_name("", layer_kind(config, layer)) for layer in range(workload.layers)]


_AnyNetwork = TypeVar("_AnyNetwork", bound=Network)


def _stepping(network: _AnyNetwork, workload: Workload) -> _AnyNetwork:
    for module in network.modules():
        if isinstance(module, Append):
            module.newest_first = workload.steps
    return network


def _head(source: ModelSource) -> nn.Module:
    return _model(source, 0).last


def _model(source: ModelSource, layers: int) -> LanguageModel:
    return _filled(LanguageModel(source.config, layers), source)


_AnyModule = TypeVar("_AnyModule", bound=nn.Module)


def _filled(network: _AnyModule, source: ModelSource) -> _AnyModule:
    """The network with its weights."""
    if source.weights is None:
        fill_seeded(network, source.config)
    else:
        fill_from_checkpoint(network, source.config, source.weights)
    return network
