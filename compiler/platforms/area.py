"""Coefficients of the area model: LUT and FF of one unit of what each is named after. Data of a platform file."""

from dataclasses import dataclass
from typing import Any, NamedTuple, cast

FIFO_KINDS = ("registers", "srl", "lutram", "bram", "uram")


class Logic(NamedTuple):
    """LUTs and FFs of one unit."""

    lut: float
    ff: float


@dataclass(frozen=True, slots=True)
class TaskLogic:
    """A pipelined process beside its operators and memories. `bit` is for each bit of the widest place of its data
    path, `shared_bit` for each result bit of operators that lanes take turns with.
    """

    base: Logic
    counter_bit: Logic
    stage: Logic
    bit: Logic
    memory: Logic
    shared_bit: Logic


@dataclass(frozen=True, slots=True)
class WireLogic:
    """Something with a data path: a part that does not depend on its width, and one for each bit."""

    base: Logic
    bit: Logic


@dataclass(frozen=True, slots=True)
class AreaModel:
    """Everything beside operators and memories. `port` is one direction of an m_axi adapter; `remainder` a bit of the
    dividend of an urem core.
    """

    task: TaskLogic
    process: Logic
    kernel: Logic
    port: WireLogic
    fifo: dict[str, WireLogic]
    remainder: Logic


def area_model(data: dict[str, Any]) -> AreaModel:
    """From the `[area]` table of a platform file."""
    task: dict[str, Any] = data["task"]
    fifo = cast("dict[str, dict[str, Any]]", data["fifo"])
    return AreaModel(
        task=TaskLogic(**{name: Logic(**value) for name, value in task.items()}),
        process=Logic(**data["process"]["base"]),
        kernel=Logic(**data["kernel"]["base"]),
        port=_wire(data["port"]),
        fifo={kind: _wire(fifo[kind]) for kind in FIFO_KINDS},
        remainder=Logic(**data["remainder"]["bit"]),
    )


def _wire(data: dict[str, Any]) -> WireLogic:
    return WireLogic(Logic(**data["base"]), Logic(**data["bit"]))
