from typing import Any

import pytest

from cli.front import ends_and_knee, front_plot, front_table
from cli.output import console
from cli.replies import DesignSummary, Scatter, by_latency
from compiler.options import Knobs


def design(name: str, latency: float | None, energy: float | None, passed: bool | None = None) -> DesignSummary:
    csim: Any = None if passed is None else {"state": "done", "passed": passed, "max_rel_error": 1e-6}
    return {
        "id": name,
        "number": 0,
        "on_front": True,
        "feasible": True,
        "latency_us": latency,
        "energy_uj": energy,
        "reason": None,
        "knobs": Knobs().to_json(),
        "csim": csim,
    }


FRONT = [design("d1", 10, 1000, True), design("d2", 20, 100, False), design("d3", 900, 90), design("d4", 1000, 50)]


def test_ends_and_knee():
    assert [d["id"] for d in ends_and_knee(FRONT)] == ["d1", "d2", "d4"]
    assert [d["id"] for d in ends_and_knee(FRONT[:1])] == ["d1"]


def test_fastest_first_and_no_design_without_numbers():
    assert [d["id"] for d in by_latency(reversed(FRONT))] == ["d1", "d2", "d3", "d4"]
    with pytest.raises(ValueError, match="d5 has no latency"):
        by_latency([design("d5", None, None)])


def test_table_names_verdicts():
    with console.capture() as capture:
        console.print(front_table(FRONT))
    lines = capture.get().splitlines()
    assert "passed err 1e-06" in lines[2]
    assert "FAILED" in lines[3]
    assert "not run" in lines[4]


def test_plot_leaves_out_what_can_not_be_built():
    points = Scatter(
        id=["a", "b", "c"],
        number=[0, 1, 2],
        latency_us=[1.0, 2.0, None],
        energy_uj=[2.0, 1.0, None],
        feasible=[True, False, False],
        on_front=[True, False, False],
        csim=[None, None, None],
    )
    assert front_plot(points).count("●") == 1
