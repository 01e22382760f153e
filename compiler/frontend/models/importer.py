"""Imports a network family: a checked configuration and a workload to linalg, with weights, inputs and reference."""

from collections.abc import Callable

import torch
from torch import nn

from compiler.frontend.imported import Imported
from compiler.frontend.lowering.normal_form import Argument
from compiler.frontend.models.config import ModelSource
from compiler.frontend.models.registry import FAMILIES, Inputs, NetworkInputs, cache_names
from compiler.frontend.quantise import WEIGHT_BITS, QuantisedLinear, calibrate, quantised
from compiler.frontend.torch_mlir_import import import_network
from compiler.frontend.torch_types import modules_of, tensor_of
from compiler.frontend.weights import fill_from_checkpoint, fill_seeded, make_inputs
from compiler.options import Workload


def import_family(source: ModelSource, workload: Workload, on_progress: Callable[[str], None]) -> Imported:
    """The blocks of `workload` as linalg. Raises UnsupportedError, or InvalidInputError where weights do not fit."""
    on_progress(f"building {workload.layers} layer(s) of {source.name}")
    inputs = make_inputs(source.config, workload)
    network = _build(source, workload, _tensors(inputs))
    on_progress("running the PyTorch reference")
    with torch.no_grad():
        results = network(*_tensors(inputs))
    on_progress("exporting and lowering to linalg")
    module = import_network(network, _tensors(inputs))
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
        _int4(network, workload),
        "seeded" if source.weights is None else source.weights.name,
    )


def _build(source: ModelSource, workload: Workload, inputs: NetworkInputs) -> nn.Module:
    """The reference network with its weights, quantised if the workload asks for it."""
    family = FAMILIES[source.config.model_type]
    network = family.build(source.config, workload.layers).eval()
    if source.weights is None:
        fill_seeded(network, family, source.config)
    else:
        fill_from_checkpoint(network, family, source.weights)
    if workload.precision == "f32":
        return network
    return quantised(network, calibrate(network, inputs), WEIGHT_BITS[workload.precision]).eval()


def _tensors(inputs: Inputs) -> NetworkInputs:
    mask = None if inputs.mask is None else tensor_of(inputs.mask)
    return tensor_of(inputs.hidden), mask, tuple(tensor_of(p) for p in inputs.past.values())


def _int4(network: nn.Module, workload: Workload) -> tuple[str, ...]:
    """Names of the weights whose integers fit four bits."""
    if WEIGHT_BITS.get(workload.precision) != 4:
        return ()
    return tuple(f"{name}.weight" for name in modules_of(network, QuantisedLinear))
