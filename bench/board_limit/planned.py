"""Designs of whole replies, planned, certified and placed once and kept; and what they reach."""

import json
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from pathlib import Path

from bench.board_limit.variants import Change
from compiler.design_dir import read_design, silent
from compiler.frontend.bundle import import_model
from compiler.frontend.models.config import resolve_model
from compiler.generation import exceeded
from compiler.graph.linalg_graph import LinalgGraph
from compiler.host.session import CHOOSE, POSITION
from compiler.options import Knobs, Precision, Workload, context_of
from compiler.pipeline import time_design
from compiler.platforms.platform import Platform
from compiler.replies import whole_reply
from compiler.simulator.timing.simulate import StoredDesign, read_directory
from compiler.whole_token import Lengths, Reply, least_bytes
from dse.space import WHOLE

FAMILIES = ("gpt2-medium", "qwen2.5-0.5b", "llama-1.1b", "gemma3-1b")
KNOBS = WHOLE[1]  # of one of the fastest designs that a search begins with
RESOURCES = ("lut", "ff", "dsp", "bram36", "uram")


@dataclass(frozen=True)
class Planned:
    """A design directory of `network` for replies of up to `length` positions."""

    directory: Path
    network: LinalgGraph
    length: int

    @cached_property
    def stored(self) -> StoredDesign:
        return read_directory(self.directory)

    @property
    def platform(self) -> Platform:
        return self.stored.platform

    @cached_property
    def amounts(self) -> dict[str, float]:
        """Estimates, by the name of their metric."""
        return {metric["name"]: metric["value"] for metric in read_design(self.directory)["metrics"]}

    @property
    def exceeded(self) -> tuple[str, ...]:
        return exceeded(self.directory)

    def reply(self, prompt: int, steps: int, change: Change | None = None) -> Reply:
        """`steps` tokens after the first."""
        as_if = change(self.stored) if change is not None else None
        lengths = Lengths(prompt, steps)
        return whole_reply(self.directory, lengths, least_bytes(self.network, lengths.later), as_if)

    def slowest_load_us(self, position: int) -> float:
        """How long the load that moves most takes at a position when nothing stops it."""
        told = {POSITION: position, CHOOSE: 1}
        design = self.stored.design.at(({name: told[name] for name in self.stored.design.arguments},))
        cycles = max(task.cycles for task in design.tasks if task.kind == "load")
        return cycles / (self.stored.clock_mhz or self.platform.clock_mhz)

    def shares(self) -> dict[str, float]:
        """Of each resource of the part, the shell subtracted."""
        return {name: self.amounts[name] / getattr(self.platform.budget, name) for name in RESOURCES}

    def fullest_die(self) -> tuple[float, str]:
        """The largest share of a resource of a die, and which."""
        use = read_design(self.directory)["placement"]["use"]
        dies = {slr.name: slr for slr in self.platform.dies.slrs}
        found = (
            (amount / getattr(dies[die], name), f"{name} of {die}") for die in use for name, amount in use[die].items()
        )
        return max(found)

    def feasible_with(self, more: float) -> bool:
        """Whether it would be within budgets and dies, placed as it is, with all areas so many times as large."""
        fill = self.platform.dies.fill
        return more * max(*self.shares().values(), self.fullest_die()[0]) <= fill and not self.exceeded


def plan(
    model: str,
    knobs: Knobs,
    positions: int,
    platform: Platform,
    kept: Path,
    precision: Precision = "w4a8",
    layers: int | None = None,
) -> Planned:
    """A design for replies of so many positions, of the first `layers` (None: all); from `kept` where it is there."""
    config = resolve_model(model).config
    length = context_of(positions)
    workload = Workload(model, "token", length, precision, layers=layers or config.layers)
    bundle = import_model(model, workload, kept / "bundles")
    name = blake2b(json.dumps([bundle.directory.name, knobs.to_json()], sort_keys=True).encode(), digest_size=8)
    directory = kept / f"{Path(model).name}-{length}-{name.hexdigest()}"
    if not (directory / "design.json").exists():
        time_design(bundle, knobs, platform, directory, silent)
    return Planned(directory, bundle.network(), length)
