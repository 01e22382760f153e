"""Packages that only some people need, loaded when they are: the extras of this distribution."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from millrace.errors import MissingExtraError

if TYPE_CHECKING:
    import pandas


def load(module: str, extra: str) -> Any:
    """The module. Raises MissingExtraError that names the extra."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise MissingExtraError(f"this needs {package}: pip install 'millrace-fpga[{extra}]'") from error


def data_frame(columns: Mapping[str, Sequence[Any]]) -> pandas.DataFrame:
    """Raises MissingExtraError without pandas."""
    return load("pandas", "pandas").DataFrame(dict(columns))
