"""The networks that pictures are drawn of: the demo's, so that everybody has them."""

from functools import cache

from bench.site.kept import PLATFORM
from bench.workload import bundle_cache
from compiler.frontend.bundle import import_model
from compiler.graph.linalg_graph import LinalgGraph
from compiler.options import Workload
from compiler.platforms.platform import Platform, load_platform

DEMO = Workload("gpt2", "decode", 64, "w4a8")


@cache
def demo_graph() -> LinalgGraph:
    """One GPT-2 block, as `millrace demo` explores it. Imported once, which takes half a minute."""
    return import_model(DEMO.model, DEMO, bundle_cache()).graph


@cache
def board() -> Platform:
    return load_platform(PLATFORM)
