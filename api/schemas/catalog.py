"""Platforms, models, workloads."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from api.schemas.common import Name, Reply, Request
from compiler.frontend.inputs.source import FileFormat

ModelKey = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[\x20-\x7e]+$")]


class Hbm(Reply):
    """High-bandwidth memory: pseudo-channels and GB/s (1e9 bytes/s) of each."""

    channels: int
    channel_bytes: int
    channel_gb_s: float


class Platform(Reply):
    """A board and what a design may use of it."""

    name: str
    title: str
    part: str
    budgets: dict[str, int]
    hbm: Hbm
    clock_mhz: float


class ModelRef(Reply):
    """A model, in short. `kind` is "builtin", "config", "onnx", "mlir" or "pt2"."""

    id: str
    name: str
    kind: str


class Model(ModelRef):
    """A network: built in, from a config.json, or from an uploaded file, whose `config` is its digest and size."""

    config: dict[str, Any]
    digest: str
    created_at: datetime


class NewModel(Request):
    """`config` is the content of a Hugging Face config.json."""

    name: Name
    config: dict[str, Any]


class NewModelFile(Request):
    """A network in a file that lies in the store already."""

    name: Name
    format: FileFormat
    digest: str
    size: int


class WorkloadShape(Reply):
    """What of a model is run. `length`: tokens of a prefill, or context of a decode step, the new token included."""

    phase: str
    length: int
    batch: int
    precision: str
    layers: int


class Workload(WorkloadShape):
    """A stored workload."""

    id: str
    model: ModelRef
    created_at: datetime


class NewWorkloadShape(Request):
    """See `WorkloadShape`; the ranges are those of compiler.options.Workload.

    A network from a file has its shapes in it: phase and length do not apply, precision is f32 and layers 1.
    """

    phase: Literal["prefill", "decode"] = "decode"
    length: int = 64
    batch: int = 1
    precision: Literal["f32", "w8a8", "w4a8"] = "w4a8"
    layers: int = 1


class NewWorkload(NewWorkloadShape):
    """`model`: id or name."""

    model: ModelKey
