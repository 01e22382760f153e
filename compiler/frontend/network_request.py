"""What is asked of a network's export: plain values that pass to the importer's process."""

from dataclasses import asdict, dataclass
from typing import Any

from compiler.options import Precision


@dataclass(frozen=True, slots=True)
class NetworkRequest:
    """The first `layers` layers of a model, calibrated on `prompt`, and the reference's `tokens` tokens after it.

    `length` is how many positions the design can be told.
    """

    precision: Precision
    layers: int
    prompt: tuple[int, ...]
    tokens: int
    length: int

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_json(data: dict[str, Any]) -> "NetworkRequest":
        """The reverse of `to_json`."""
        fields: dict[str, Any] = {**data, "prompt": tuple(data["prompt"])}
        return NetworkRequest(**fields)
