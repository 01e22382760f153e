"""What the front end says about networks, without loading it: built-in ones, and whether a config and sizes will do."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from compiler.errors import InvalidInputError
from compiler.frontend.inputs.source import FileFormat, FileSource, whole_network, workload_of
from compiler.frontend.models.config import BUILT_IN, config_from_fields
from compiler.options import Workload


def builtins() -> dict[str, dict[str, Any]]:
    """Configurations of the built-in models by name."""
    return {name: config.to_json() for name, config in BUILT_IN.items()}


def checked_config(config: dict[str, Any]) -> dict[str, Any]:
    """The fields of a config.json that Millrace uses, checked. Raises InvalidInputError."""
    return config_from_fields(config).to_json()


def file_workload(name: str, form: FileFormat, chosen: Mapping[str, Any]) -> Workload:
    """The workload of a network from a file. Raises InvalidInputError for what was chosen and cannot be."""
    whole = whole_network(name)
    for shape in ("phase", "length"):
        if chosen.get(shape, getattr(whole, shape)) != getattr(whole, shape):
            raise InvalidInputError(
                f"{shape} is {chosen[shape]}; {name} comes from an .{form} file, which has its shapes in it"
            )
    asked = replace(whole, **{k: chosen[k] for k in ("precision", "batch", "layers", "ports") if k in chosen})
    return workload_of(FileSource(name, Path(), form), asked)


def check_workload(model: str, config: dict[str, Any], workload: Workload) -> None:
    """Raise InvalidInputError where the workload asks for more than the model has."""
    network = config_from_fields(config)
    if workload.ports != "f32":
        raise InvalidInputError(
            f"ports is {workload.ports}; those of {model} are f32, only a network from a file has others"
        )
    if workload.length > network.positions:
        raise InvalidInputError(
            f"length is {workload.length}; {model} has {network.positions} positions, choose a shorter length"
        )
    if workload.layers > network.layers:
        raise InvalidInputError(f"layers is {workload.layers}; {model} has {network.layers}, choose fewer")
