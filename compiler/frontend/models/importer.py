"""Imports a network family: a checked configuration and a workload to linalg, with weights, inputs and reference."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from compiler.frontend.imported import Imported
from compiler.frontend.lowering.normal_form import Argument
from compiler.frontend.models.config import ModelSource
from compiler.frontend.models.inputs import input_name, layer_kind
from compiler.frontend.models.language_model import LanguageModel
from compiler.frontend.models.parts import Append
from compiler.frontend.models.registry import Network, NetworkInputs, cache_names, family_of
from compiler.frontend.quantise import calibrate, int4_weights, quantised
from compiler.frontend.torch_mlir_import import import_network
from compiler.frontend.torch_types import tensor_of
from compiler.frontend.weights import Inputs, fill_from_checkpoint, fill_seeded, make_inputs
from compiler.graph.linalg_graph import Row, ValueRole
from compiler.options import Workload

TOKEN = "token"  # the result of a head
POSITION = "position"  # the argument of a step


def import_family(source: ModelSource, workload: Workload, on_progress: Callable[[str], None]) -> Imported:
    """The blocks of `workload`, or the head, as linalg. Raises UnsupportedError, or
    InvalidInputError where weights do not fit.
    """
    is_head, steps = workload.phase == "head", workload.phase == "step"
    what = "the head" if is_head else f"{workload.layers} layer(s)"
    on_progress(f"building {what} of {source.name}")
    inputs = make_inputs(source.config, workload)
    tensors = tuple(tensor_of(array) for array in inputs.named().values())
    network = _head(source) if is_head else _blocks(source, workload, inputs)
    network = _quantised(network, workload, tensors).eval()
    on_progress("running the PyTorch reference")
    with torch.no_grad():
        made: Tensor | tuple[Tensor, ...] = network(*tensors)
    results = made if isinstance(made, tuple) else (made,)
    on_progress("exporting and lowering to linalg")
    module = import_network(network, tensors)
    names = (TOKEN,) if is_head else ("hidden_out", *cache_names(workload.layers))
    arguments = [Argument(name, "param") for name in module.parameters]
    arguments += [Argument(name, _role(name, inputs)) for name in inputs.named()]
    state = {name: tensor.detach().numpy() for name, tensor in network.state_dict().items()}
    position = Row(POSITION, workload.length)
    rows = dict.fromkeys((*inputs.tables, *cache_names(workload.layers)), position) if steps else {}
    return Imported(
        module.generic,
        module.pretty,
        tuple(arguments),
        names,
        {**state, **inputs.named(), **inputs.tables},
        {name: result.numpy() for name, result in zip(names, results, strict=True)},
        int4_weights(network),
        "seeded" if source.weights is None else source.weights.name,
        rows=rows,
    )


def _role(name: str, inputs: Inputs) -> ValueRole:
    if name in inputs.past:
        return "state"
    return "param" if name in inputs.tables else "input"


def _blocks(source: ModelSource, workload: Workload, inputs: Inputs) -> nn.Module:
    """The reference network with its weights."""
    config = source.config
    blocks = [family_of(config).block(config, layer) for layer in range(workload.layers)]
    suffixes = [input_name("", layer_kind(config, layer)) for layer in range(workload.layers)]
    network = Network(blocks, tuple(inputs.other), suffixes)
    for module in network.modules():
        if isinstance(module, Append):
            module.newest_first = workload.phase == "step"
    return _filled(network, source)


def _head(source: ModelSource) -> nn.Module:
    model = LanguageModel(source.config, 0)
    _filled(model, source)
    return model.last


def _filled(network: nn.Module, source: ModelSource) -> nn.Module:
    if source.weights is None:
        fill_seeded(network, source.config)
    else:
        fill_from_checkpoint(network, source.config, source.weights)
    return network


def _quantised(network: nn.Module, workload: Workload, tensors: NetworkInputs) -> nn.Module:
    """The network as the workload asks for it."""
    if workload.precision == "f32":
        return network
    return quantised(network, calibrate(network, tensors), workload.precision)
