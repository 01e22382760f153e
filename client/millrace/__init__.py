"""Explore dataflow accelerators for FPGAs from Python: the client of a Millrace service.

exp = millrace.explore("net.onnx", budget=500).wait()
exp.df()
exp.best("latency_us", lut__lt=0.4).graph()
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from millrace.version import VERSION

if TYPE_CHECKING:
    from millrace.client import AsyncClient, Client
    from millrace.design import Design
    from millrace.embedded import local
    from millrace.errors import Error
    from millrace.exploration import Exploration, explorations, explore, explore_all, find
    from millrace.front import Front
    from millrace.graph import Graph
    from millrace.table import Table

__all__ = [
    "AsyncClient",
    "Client",
    "Design",
    "Error",
    "Exploration",
    "Front",
    "Graph",
    "Table",
    "explorations",
    "explore",
    "explore_all",
    "find",
    "local",
]

__version__ = VERSION

_HOMES = {
    "explorations": "exploration",
    "explore": "exploration",
    "explore_all": "exploration",
    "find": "exploration",
    "AsyncClient": "client",
    "Error": "errors",
    "local": "embedded",
}


def __getattr__(name: str) -> Any:
    """What people use, loaded when it is first asked for: the command line starts without httpx."""
    if name not in __all__:
        raise AttributeError(f"module 'millrace' has no attribute {name!r}")
    return getattr(import_module(f"millrace.{_HOMES.get(name, name.lower())}"), name)


def __dir__() -> list[str]:
    """Also what is not loaded yet, for `help` and completion."""
    return sorted({*globals(), *__all__})
