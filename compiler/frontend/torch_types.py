"""torch functions whose published types are incomplete, typed once."""

from collections.abc import Iterator
from typing import Any, TypeVar, cast

import torch
from numpy.typing import NDArray
from torch import Tensor, nn

Kind = TypeVar("Kind", bound=nn.Module)


def tensor_of(array: NDArray[Any]) -> Tensor:
    """A tensor that shares the array's memory."""
    return torch.from_numpy(array)  # pyright: ignore[reportUnknownMemberType] # its stub leaves the array untyped


def modules_of(network: nn.Module, kind: type[Kind]) -> dict[str, Kind]:
    """Every submodule of `kind`, by its path."""
    named = cast(Iterator[tuple[str, nn.Module]], network.named_modules())
    return {name: module for name, module in named if isinstance(module, kind)}
