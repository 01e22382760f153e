from typing import Any

from wire_replies import reply

from cli.front import errors_text, front_plot, front_table, picks_table, print_reply
from cli.output import console
from cli.replies import by_objectives
from compiler.options import Knobs
from millrace.wire import (
    CsimSummary,
    Design,
    DesignSummary,
    EstimateErrors,
    Group,
    Metric,
    Objective,
    Pick,
    Scatter,
    SimulationSummary,
)


def simulation(latency: float | None, error: float | None = None, refuted: str | None = None) -> SimulationSummary:
    state = "done" if refuted is None else "failed"
    return reply(SimulationSummary, state=state, latency_us=latency, estimate_error=error, refuted=refuted)


def design(
    name: str, latency: float, energy: float, passed: bool | None = None, simulated: Any = None
) -> DesignSummary:
    csim = None if passed is None else reply(CsimSummary, state="done", passed=passed, max_rel_error=1e-6)
    values = {"objectives": [latency, energy], "simulation": simulated, "csim": csim}
    return reply(DesignSummary, id=name, on_front=True, feasible=True, knobs=Knobs().to_json(), **values)


OBJECTIVES = [Objective(name="latency", unit="us", best=""), Objective(name="energy", unit="uJ", best="")]
FRONT = [design("d1", 10, 1000, True), design("d2", 20, 100, False), design("d3", 900, 90), design("d4", 1000, 50)]


def test_fastest_first():
    assert [d.id for d in by_objectives(reversed(FRONT))] == ["d1", "d2", "d3", "d4"]


def test_a_front_of_other_objectives_has_their_columns():
    objectives = [Objective(name=n, unit=u, best="") for n, u in (("area", "%"), ("latency", "us"), ("power", "W"))]
    found = reply(DesignSummary, id="d1", knobs=Knobs().to_json(), objectives=[40.0, 95.0, 30.0])
    with console.capture() as capture:
        console.print(front_table([found], objectives, []))
    _title, first, second, row = capture.get().splitlines()
    assert first.split()[:8] == ["area", "%", "latency", "us", "latency", "us", "power", "W"]
    assert second.split()[4:8] == ["estimate", "estimate", "simulate", "error"]
    assert row.split()[:7] == ["d1", "0", "40.0", "95.0", "not", "run", "30.0"]
    pick = reply(Pick, kind="least_area", objectives=[40.0, 100.0, 30.0], estimates=[40.0, 95.0, 30.0])
    with console.capture() as capture:
        console.print(picks_table([pick], objectives))
    row = capture.get().splitlines()[2]
    assert row.split() == ["least", "area", "0", "40.0", "estimate", "100.0", "estimate", "95.0", "30.0", "estimate"]


def test_what_a_design_that_replies_takes_stands_below_its_front():
    found = [("tokens_per_second", 700.0, "estimate"), ("tokens_per_second", 744.0, "simulate")]
    found += [("first_token_time", 110.0, "simulate"), ("energy_per_token", 44.1, "estimate")]
    metrics = [reply(Metric, name=name, value=value, fidelity=fidelity) for name, value, fidelity in found]
    with console.capture() as capture:
        print_reply(reply(Design, number=93, metrics=metrics, assumed="0.27 ms for each start"))
        print_reply(reply(Design, number=94, metrics=[], assumed=None))
    assert " ".join(capture.get().split()) == (
        "Whole replies by number 93: 744 tokens/s simulate, 110 ms to the first token simulate, "
        "44.1 mJ a token estimate assumed: 0.27 ms for each start"
    )


def test_table_names_verdicts():
    with console.capture() as capture:
        console.print(front_table(FRONT, OBJECTIVES, []))
    lines = capture.get().splitlines()
    assert "passed err 1e-06" in lines[3]
    assert "FAILED" in lines[4]
    assert "not run" in lines[5]


def test_table_shows_both_fidelities_and_their_difference():
    front = [
        design("d1", 95, 10, simulated=simulation(100, -0.05)),
        design("d2", 200, 5, simulated=simulation(210, -0.05, refuted="with certified FIFOs: lut 9 of 8")),
        design("d3", 300, 1, simulated=reply(SimulationSummary, state="running")),
    ]
    with console.capture() as capture:
        console.print(front_table(front, OBJECTIVES, []))
    _title, first, second, *rows = capture.get().splitlines()
    assert first.split() == ["latency", "us", "latency", "us", "energy", "uJ", "knobs:", "tile/unroll/"]
    assert second.split() == [
        "design",
        "number",
        "rank",
        "alike",
        "estimate",
        "simulate",
        "error",
        "estimate",
        "width/hbm",
        "multiplier",
        "csim",
    ]
    assert rows[0].split()[:7] == ["d1", "0", "95.0", "100.0", "-5.0", "%", "10.0"]
    assert rows[1].split()[:4] == ["d2", "0", "200.0", "refuted"]
    assert rows[2].split()[:4] == ["d3", "0", "300.0", "running"]


def test_a_group_is_one_row_with_how_many_it_stands_for_and_an_error_bar():
    groups = [
        reply(Group, design_id="d2", number=7, rank=1, latency_range=[19.5, 20.5], members=["d1", "d2"]),
        reply(Group, design_id="d3", number=0, rank=2, members=["d3"]),
    ]
    shown: list[list[list[str]]] = []
    for every in (False, True):
        with console.capture() as capture:
            console.print(front_table(FRONT[:3], OBJECTIVES, groups, every))
        shown.append([line.split() for line in capture.get().splitlines()[3:]])
    [second, third], [first, *others] = shown
    assert second[:8] == ["d2", "0", "1", "+1", "20.0", "19.5", "to", "20.5"]
    assert third[:6] == ["d3", "0", "2", "900.0", "not", "run"]
    assert first[:7] == ["d1", "0", "as", "7", "10.0", "not", "run"]
    assert others == [second, third]


def test_the_picks_carry_their_fidelity_and_the_estimate_beside_it():
    values = {"fidelity": "simulate", "objectives": [66.9, 520.5], "estimates": [65.78, 520.5]}
    picks = [reply(Pick, kind=kind, number=n, **values) for n, kind in enumerate(("fastest", "knee", "least_energy"))]
    with console.capture() as capture:
        console.print(picks_table(picks, OBJECTIVES))
    title, _, *rows = capture.get().splitlines()
    assert title.strip() == "by simulate"
    assert next(row.split() for row in rows) == ["fastest", "0", "66.9", "simulate", "65.8", "520.5", "estimate"]
    assert [row.split()[0] for row in rows[:4]] == ["fastest", "knee", "least", "knee:"]


def test_errors_of_the_estimates_in_words():
    shares = {"median": 0.021, "p95": 0.09, "worst": 0.113, "bias": -0.02, "low": -0.1, "high": 0.03}
    errors = EstimateErrors(metric="latency", fidelity="simulate", n=6, **shares, worst_design="dsg_9")
    text = errors_text(errors)
    assert "6 designs: off by median 2.1 %, p95 9.0 %, worst 11.3 % (dsg_9); bias -2.0 %" in text
    few = EstimateErrors(metric="latency", fidelity="simulate", n=6, **{**shares, "p95": 0.113}, worst_design="dsg_9")
    assert "off by median 2.1 %, worst 11.3 %" in errors_text(few)


def test_plot_leaves_out_what_can_not_be_built():
    points = Scatter(
        id=["a", "b", "c"],
        number=[0, 1, 2],
        objectives=[[1.0, 2.0, None], [2.0, 1.0, None]],
        latency_us=[1.0, 2.0, None],
        feasible=[True, False, False],
        on_front=[True, False, False],
        csim=[None, None, None],
        simulated_us=[None, None, None],
        simulation=[None, None, None],
    )
    assert front_plot(points, OBJECTIVES).count("●") == 1
    points.objectives[1][0] = 0.0  # of a resource that it does not use
    assert front_plot(points, OBJECTIVES).count("●") == 1


def test_a_design_of_usual_size_is_one_line():
    found = design("dsg_01m84vqxrn3t8r21c9", 65.8, 682.1, True, simulated=simulation(66.9, -0.017))
    found.knobs.update(default_tile_size=16, overall_unroll=4096, stream_width=1024, hbm_channels=4)
    found.knobs["overrides"] = [{"op": f"op{n}"} for n in range(4)]
    with console.capture() as capture:
        console.print(front_table([found], OBJECTIVES, []))
    assert [line.split()[7:] for line in capture.get().splitlines()[3:]] == [
        ["16/4096/1024/4", "fabric", "+4", "passed", "err", "1e-06"]
    ]
