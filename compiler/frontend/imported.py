"""What an importer makes of a model, whatever format it came in: the input of the lowering and of the bundle."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from compiler.frontend.lowering.normal_form import Argument
from compiler.graph.linalg_graph import Row


@dataclass(frozen=True)
class Sample:
    """What a network is given, by argument, and the reference's results."""

    given: Mapping[str, NDArray[Any]]
    expected: Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class Imported:
    """Cleaned linalg and everything around it.

    `generic` is the module's text for xDSL, `pretty` for people. `arguments` are those of `@main`, in order; `outputs`
    names its results. `tensors` holds the content of every argument by name, `expected` the reference results by name.
    `int4` names the i8 arguments whose elements fit four bits; `weights` says where the parameters came from,
    `reference` what computed the expected results. `origins` says for messages what a path stands for in the model.
    `rows`: arguments and results that are rows of tensors in memory. `others`: the inputs that follow in a launch.
    """

    generic: str
    pretty: str
    arguments: tuple[Argument, ...]
    outputs: tuple[str, ...]
    tensors: Mapping[str, NDArray[Any]]
    expected: Mapping[str, NDArray[Any]]
    int4: tuple[str, ...] = ()
    weights: str = "seeded"
    reference: str = "PyTorch"
    origins: Mapping[str, str] = field(default_factory=dict[str, str])
    rows: Mapping[str, Row] = field(default_factory=dict[str, Row])
    others: tuple[Sample, ...] = ()
