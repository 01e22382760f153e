"""The simulator's machine against registers: small networks as SystemVerilog, run by Verilator, cycle for cycle."""

import pytest
import rtl
from cycle_reference import run_reference
from random_timing import random_network
from small_pipelines import PIPELINES

from compiler.simulator.timing.core import run
from compiler.simulator.timing.network import Outcome

RANDOM_SEEDS = (14, 17, 39, 60, 185, 276)  # both styles, rates, restarts, dead ones; few processes: quick to build
NETWORKS = {**PIPELINES, **{f"seed {seed}": random_network(seed) for seed in RANDOM_SEEDS}}

pytestmark = [pytest.mark.verilator, pytest.mark.slow]


@pytest.fixture(scope="module")
def registers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Outcome]:
    """What the hardware did, by network; one build for all of them."""
    return dict(zip(NETWORKS, rtl.run_rtl(NETWORKS.values(), tmp_path_factory.mktemp("rtl")), strict=True))


@pytest.mark.parametrize("name", NETWORKS)
def test_every_count_is_that_of_the_registers(registers: dict[str, Outcome], name: str):
    assert run_reference(NETWORKS[name]) == registers[name]
    assert run(NETWORKS[name]) == registers[name]
