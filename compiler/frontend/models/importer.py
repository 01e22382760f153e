"""Imports a network family: a checked configuration and a workload to linalg, with weights, inputs and reference."""

from collections.abc import Callable

import torch
from torch import nn

from compiler.frontend.imported import Imported
from compiler.frontend.lowering.normal_form import Argument
from compiler.frontend.models.config import ModelSource
from compiler.frontend.models.inputs import input_name, layer_kind
from compiler.frontend.models.registry import Network, NetworkInputs, cache_names, family_of
from compiler.frontend.quantise import WEIGHT_BITS, calibrate, integer_weights, quantised
from compiler.frontend.torch_mlir_import import import_network
from compiler.frontend.torch_types import tensor_of
from compiler.frontend.weights import Inputs, fill_from_checkpoint, fill_seeded, make_inputs
from compiler.options import Workload


def import_family(source: ModelSource, workload: Workload, on_progress: Callable[[str], None]) -> Imported:
    """The blocks of `workload` as linalg. Raises UnsupportedError, or InvalidInputError where weights do not fit."""
    on_progress(f"building {workload.layers} layer(s) of {source.name}")
    inputs = make_inputs(source.config, workload)
    tensors = tuple(tensor_of(array) for array in inputs.named().values())
    network = _build(source, workload, inputs, tensors)
    on_progress("running the PyTorch reference")
    with torch.no_grad():
        results = network(*tensors)
    on_progress("exporting and lowering to linalg")
    module = import_network(network, tensors)
    names = ("hidden_out", *cache_names(workload.layers))
    arguments = [Argument(name, "param") for name in module.parameters]
    arguments += [Argument(name, "state" if name in inputs.past else "input") for name in inputs.named()]
    state = {name: tensor.detach().numpy() for name, tensor in network.state_dict().items()}
    return Imported(
        module.generic,
        module.pretty,
        tuple(arguments),
        names,
        {**state, **inputs.named()},
        {name: result.numpy() for name, result in zip(names, results, strict=True)},
        integer_weights(network) if WEIGHT_BITS.get(workload.precision) == 4 else (),
        "seeded" if source.weights is None else source.weights.name,
    )


def _build(source: ModelSource, workload: Workload, inputs: Inputs, tensors: NetworkInputs) -> nn.Module:
    """The reference network with its weights, quantised if the workload asks for it."""
    config = source.config
    blocks = [family_of(config).block(config, layer) for layer in range(workload.layers)]
    suffixes = [input_name("", layer_kind(config, layer)) for layer in range(workload.layers)]
    network = Network(blocks, tuple(inputs.other), suffixes).eval()
    if source.weights is None:
        fill_seeded(network, config)
    else:
        fill_from_checkpoint(network, config, source.weights)
    if workload.precision == "f32":
        return network
    return quantised(network, calibrate(network, tensors), WEIGHT_BITS[workload.precision]).eval()
