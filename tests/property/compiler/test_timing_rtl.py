"""The simulator's machine against registers: small networks as SystemVerilog, run by Verilator, cycle for cycle."""

import pytest
import rtl
from cycle_reference import run_reference
from looped_pipelines import LOOPS
from random_programs import program_network
from random_timing import random_network
from relayed_pipelines import RELAYED
from reply_pipelines import REPLIES
from small_pipelines import PIPELINES
from through_memory import NETWORKS as THROUGH_MEMORY
from window_pipelines import WINDOWED

from compiler.simulator.timing.core import run
from compiler.simulator.timing.network import Network, Outcome

RANDOM_SEEDS = (14, 17, 39, 60, 185, 276)  # both styles, rates, restarts, dead ones; few processes: quick to build
PROGRAM_SEEDS = (26, 55, 73, 109, 209, 236)  # and cycles, initial tokens, runs of no iterations
KINDS: dict[str, dict[str, Network]] = {
    "nests": {**PIPELINES, **{f"seed {seed}": random_network(seed) for seed in RANDOM_SEEDS}},
    "loops": {name: make(kept) for name, (make, kept) in LOOPS.items()},
    "loops with one token less": {f"{name}, one less": make(kept - 1) for name, (make, kept) in LOOPS.items()},
    "memory": {name: make(kept) for name, (make, kept) in THROUGH_MEMORY.items()},
    "memory with one token less": {
        f"{name}, one less": make(kept - 1) for name, (make, kept) in THROUGH_MEMORY.items()
    },
    "replies": {name: make(kept) for name, (make, kept) in REPLIES.items()},
    "replies with one token less": {f"{name}, one less": make(kept - 1) for name, (make, kept) in REPLIES.items()},
    "relays": {f"relays, {name}": network for name, network in RELAYED.items()},
    "windows": {f"windows, {name}": network for name, network in WINDOWED.items()},
    "programs": {f"program {seed}": program_network(seed) for seed in PROGRAM_SEEDS},
}

pytestmark = [pytest.mark.verilator, pytest.mark.slow]


@pytest.fixture(scope="module")
def registers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Outcome]:
    """What the registers of each network did; one build for all of them."""
    networks = {name: network for kind in KINDS.values() for name, network in kind.items()}
    return dict(zip(networks, rtl.run_rtl(networks.values(), tmp_path_factory.mktemp("rtl")), strict=True))


@pytest.mark.parametrize("kind", KINDS)
def test_every_count_is_that_of_the_registers(kind: str, registers: dict[str, Outcome]):
    for name, network in KINDS[kind].items():
        outcome = registers[name]
        assert run_reference(network) == outcome, name
        assert run(network) == outcome, name
        if kind.startswith(("loops", "memory", "replies")):
            assert outcome.deadlocked == kind.endswith("one token less"), name
