"""Explore dataflow accelerators for FPGAs from Python: the client of a Millrace service.

exp = millrace.explore("net.onnx", budget=500).wait()
exp.df()
exp.best("latency_us", lut__lt=0.4).graph()
"""

from __future__ import annotations

from millrace.client import AsyncClient, Client
from millrace.design import Design
from millrace.errors import Error
from millrace.exploration import Exploration, explore
from millrace.front import Front
from millrace.graph import Graph
from millrace.local import local
from millrace.table import Table
from millrace.version import VERSION

__all__ = [
    "AsyncClient",
    "Client",
    "Design",
    "Error",
    "Exploration",
    "Front",
    "Graph",
    "Table",
    "exploration",
    "explore",
    "local",
]

__version__ = VERSION


def exploration(id: str, *, server: str | Client | None = None) -> Exploration:
    """An exploration that was started before, by its id."""
    client = server if isinstance(server, Client) else Client(server)
    return Exploration(client, client.exploration(id))
