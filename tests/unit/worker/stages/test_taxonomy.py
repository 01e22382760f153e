from typing import Any, get_args

import pytest

from compiler.errors import InvalidInputError, ToolError, UnsupportedError
from compiler.measurement.errors import MeasurementFailure
from compiler.simulator.csim.errors import DeadlockError, LeftoverError, SimulationTimeoutError, TaskFaultError
from compiler.toolchain.report import Failure, FailureKind
from worker.stages.taxonomy import decisive, explain, failure_of, failure_of_error


def test_every_kind_is_known() -> None:
    assert all(failure_of(kind) for kind in get_args(FailureKind))


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("licence", "licence"),
        ("placement", "infeasible"),
        ("routing", "infeasible"),
        ("timing", "infeasible"),
        ("deadlock", "infeasible"),
        ("pipeline", "infeasible"),
        ("c_error", "infeasible"),
        ("resources", "node"),
        ("tool_crash", "tool"),
        ("unfinished", "tool"),
        ("timeout", "timeout"),
    ],
)
def test_what_the_farm_makes_of_it(kind: Any, expected: str) -> None:
    assert failure_of(kind) == expected


def test_a_full_disk_is_not_taken_for_a_bad_design() -> None:
    found = (Failure("c_error", "cannot write"), Failure("tool_crash", "died"), Failure("resources", "disk full"))
    assert decisive(found) == found[2]
    assert decisive(()) is None


def test_a_person_reads_what_where_and_what_to_do() -> None:
    assert explain(Failure("placement", "no room.", "[Place 30-1]", "use fewer LUTs")) == (
        "no room ([Place 30-1]). Use fewer LUTs"
    )
    assert explain(Failure("timeout", "too slow")) == "too slow"


def test_errors_of_our_own() -> None:
    assert failure_of_error(ToolError("g++ died")) == "tool"
    assert {failure_of_error(InvalidInputError("")), failure_of_error(UnsupportedError(""))} == {"infeasible"}


def test_a_c_simulation_that_does_not_end_well_is_the_design_s_fault_unless_it_took_too_long() -> None:
    found = (DeadlockError("all wait", (), ()), LeftoverError("unread", ()), TaskFaultError("outside", "t0"))
    assert {failure_of_error(error) for error in found} == {"infeasible"}
    assert failure_of_error(SimulationTimeoutError("600 s")) == "timeout"


def test_every_end_of_a_measurement_has_its_place() -> None:
    places = {kind: failure_of(kind) for kind in get_args(MeasurementFailure)}
    assert places == {"device": "node", "timeout": "timeout", "deadlock": "infeasible", "c_error": "infeasible"}
