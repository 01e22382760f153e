"""The networks that pictures are drawn of: built in, so that everybody has them."""

from functools import cache

from bench.site.kept import PLATFORM
from bench.workload import bundle_cache
from compiler.frontend.bundle import import_model
from compiler.graph.linalg_graph import LinalgGraph
from compiler.options import Workload
from compiler.platforms.platform import Platform, load_platform

BLOCK = Workload("gpt2", "decode", 64, "w4a8")


@cache
def block_graph() -> LinalgGraph:
    """One GPT-2 block. Imported once, which takes half a minute."""
    return import_model(BLOCK.model, BLOCK, bundle_cache()).graph


@cache
def board() -> Platform:
    return load_platform(PLATFORM)
