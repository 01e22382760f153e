"""What is asked of a network's export: plain values that pass to the importer's process."""

from dataclasses import asdict, dataclass
from typing import Any

from compiler.options import Precision


@dataclass(frozen=True, slots=True)
class NetworkRequest:
    """The first `layers` layers of a model, calibrated on `prompt`, and the reference's `tokens` tokens after it.

    `length` is how many positions the design can be told. `then`: what is said behind each reply, which then makes
    another; each ends with the token `end`, if one is it, so that what follows stands behind that.
    """

    precision: Precision
    layers: int
    prompt: tuple[int, ...]
    tokens: int
    length: int
    then: tuple[tuple[int, ...], ...] = ()
    end: int | None = None

    @property
    def turns(self) -> tuple[tuple[int, ...], ...]:
        """The prompt of each reply."""
        return (self.prompt, *self.then)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_json(data: dict[str, Any]) -> "NetworkRequest":
        """The reverse of `to_json`."""
        prompt, then = tuple(data["prompt"]), tuple(tuple(ids) for ids in data["then"])
        fields: dict[str, Any] = {**data, "prompt": prompt, "then": then}
        return NetworkRequest(**fields)
