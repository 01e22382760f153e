import pytest
from wire_replies import reply

from cli.watch import follow
from millrace.events import Event
from millrace.wire import Exploration, Objective

OBJECTIVES = [Objective(name="latency", unit="us", best=""), Objective(name="energy", unit="uJ", best="")]
EXPLORATION = reply(Exploration, budget=3, objectives=OBJECTIVES)
EVENTS = [
    Event("1", "state", {"state": "searching", "error": None}),
    Event(
        "2",
        "designs",
        {
            "id": ["a", "b", "c"],
            "number": [0, 1, 2],
            "objectives": [[1.0, 2.0, 3.0], [5.0, 4.0, 9.0]],
            "feasible": [True, True, False],
            "on_front": [True, True, False],
            "csim": [None, None, None],
        },
    ),
    Event("3", "front", {"ids": ["a", "b"]}),
    Event("4", "promoted", {"ids": ["a", "b"], "calibration": ["c"]}),
    Event("4", "build", {"design_id": "a", "stage": "simulate", "state": "done", "verdict": {"passed": True}}),
    Event("4", "simulated", {"id": "a", "state": "done", "latency_us": 1.1}),
    Event("4", "build", {"design_id": "a", "stage": "csim", "state": "running", "verdict": None}),
    Event("5", "build", {"design_id": "a", "stage": "csim", "state": "done", "verdict": {"passed": True}}),
    Event("6", "state", {"state": "done", "error": None}),
]


def test_events_are_folded():
    watched = follow(EVENTS, EXPLORATION, quiet=True)
    assert watched.summary() == "done: 3/3 designs, 2 feasible, front 2, simulated 1/3, csim 1/1 passed"
    assert watched.plot().count("●") == 2


def test_a_design_that_is_told_of_again_counts_once():
    """Two islands found it."""
    watched = follow([*EVENTS[:2], *EVENTS[1:]], EXPLORATION, quiet=True)
    assert watched.summary().startswith("done: 3/3 designs, 2 feasible")


def test_lines_without_a_terminal(capsys: pytest.CaptureFixture[str]):
    follow(EVENTS, EXPLORATION, quiet=False)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].strip().startswith("searching: 0/3")
    assert lines[-1].strip().startswith("done: 3/3")
