"""Platforms, models, workloads."""

from datetime import datetime
from typing import Annotated, Any

from pydantic import Field

from api.schemas.common import Name, Reply, Request
from compiler.frontend.inputs.source import FileFormat
from compiler.options import Phase, Ports, Precision

ModelKey = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[\x20-\x7e]+$")]


class Hbm(Reply):
    """High-bandwidth memory of a board."""

    channels: int
    """Pseudo-channels."""
    channel_bytes: int
    """Bytes that one pseudo-channel holds."""
    channel_gb_s: float
    """What one pseudo-channel moves at most, GB/s (1e9 bytes/s)."""


class Platform(Reply):
    """A board and what a design may use of it."""

    name: str
    """What explorations call it."""
    title: str
    """What people call it."""
    part: str
    """The FPGA's part number."""
    budgets: dict[str, int]
    """What a design may use at most: lut, ff, dsp, bram36, uram, in numbers of them."""
    hbm: Hbm
    """Its high-bandwidth memory."""
    clock_mhz: float
    """Clock of the kernels, MHz."""


class ModelRef(Reply):
    """A model, in short."""

    id: str
    """Identifier of the model."""
    name: str
    """Its name, by which it can be explored as well."""
    kind: str
    """"builtin", "config" (a config.json), or the format of its file: "onnx", "mlir", "pt2"."""


class Model(ModelRef):
    """A network: built in, from a config.json, or from an uploaded file."""

    config: dict[str, Any]
    """The configuration; of an uploaded file its `digest` (SHA-256), that of the `samples` that came with it, where any
    did, and the `size` of all (bytes).
    """
    digest: str
    """SHA-256 of what it is."""
    owner: str | None
    """Name of the key that added it; null where nobody was asked for one, and for built-in ones."""
    archived: bool
    """Whether lists leave it out."""
    created_at: datetime
    """When it was added, UTC."""


class ModelChange(Request):
    """What is to be different of a model."""

    archived: bool
    """Whether lists leave it out; it can still be explored."""


class NewModel(Request):
    """A network from a configuration."""

    name: Name
    """What to call it."""
    config: dict[str, Any]
    """The content of a Hugging Face config.json."""


class NewModelFile(Request):
    """A network in a file that lies in the store already."""

    name: Name
    """What to call it."""
    format: FileFormat
    """The file's format."""
    digest: str
    """SHA-256 of its content."""
    size: int
    """Bytes, those of samples included."""
    samples: str | None = None
    """SHA-256 of the .npz that its integers are calibrated with; null: seeded samples."""


class WorkloadShape(Reply):
    """What of a model is run."""

    phase: str
    """"prefill": a whole sequence; "decode": one token against a KV cache; "step": one token at the position that
    a launch is told, keys and values stay on the card; "head": final norm, products with the vocabulary and the token
    of the largest; "token": a step with embedding and head, whose launch is told a token and gives the next.
    """
    length: int
    """Tokens of a prefill, context of a decode step, the new token included, or positions of a step or token; 1 of a
    head.
    """
    batch: int
    """Inputs that a launch takes one after the other, at most."""
    precision: str
    """Number formats of weights and activations: f32, w8a8, w4a8; w8a8kv8, w4a8kv8: keys and values of 8 bits, too."""
    layers: int
    """Layers that a launch runs, one after the other."""
    ports: str
    """What inputs and results are: f32, or i8, integers in steps that `design.json` names."""


class Workload(WorkloadShape):
    """A stored workload."""

    id: str
    """Identifier of the workload."""
    model: ModelRef
    """The model that is run."""
    created_at: datetime
    """When it was made, UTC."""


class NewWorkloadShape(Request):
    """What of a model is to be run.

    A network from a file has its shapes in it: others than phase prefill, length 1 and layers 1 are refused. Its
    precision is f32, as it is, unless another one is given: then it is quantised, with scales of 32 seeded inputs.
    """

    phase: Phase = "decode"
    """"prefill": a whole sequence; "decode": one token against a KV cache; "step": one token at the position that
    a launch is told, keys and values stay on the card; "head": final norm, products with the vocabulary and the token
    of the largest; "token": a step with embedding and head, whose launch is told a token and gives the next.
    """
    length: int = 64
    """Tokens of a prefill, context of a decode step, the new token included, or positions of a step or token: 1 or 2 to
    8192, and no more than the model has positions. A head has none.
    """
    batch: int = 1
    """Inputs of a network from a file that a launch takes one after the other, at most: 1 to 1024; of others 1."""
    precision: Precision = "w4a8"
    """Number formats of weights and activations; with kv8 of keys and values, too: not of a network from a file."""
    layers: int = 1
    """Layers that a launch runs, one after the other: 1 to 128, and no more than the model has."""
    ports: Ports = "f32"
    """What inputs and results of a network from a file are, in w8a8 or w4a8: f32, or integers (i8) in steps that
    `design.json` names; of others f32.
    """


class NewWorkload(NewWorkloadShape):
    """What of which model is to be run."""

    model: ModelKey
    """Id or name of the model."""
