"""Runs of a sweep on the stand-in stages, in this process."""

from dataclasses import replace
from typing import Any

import pytest
from sweeps import NEW, add_sweep, go_on, run_now, run_through, start, sweep_now

from db.errors import ConflictError
from db.models import ExplorationState, SweepRun
from db.repositories import comparisons, explorations, sweeps
from dse.archive import Entry
from dse.comparison.results import Results
from worker.comparison import comparing, sweeping
from worker.farm import Farm
from worker.sweeps import sweep_runs

pytestmark = pytest.mark.slow


def comparison(run: SweepRun) -> dict[str, Any]:
    assert run.comparison is not None
    return run.comparison


def test_the_first_run_is_the_baseline(farm: Farm) -> None:
    run = run_through(farm, add_sweep(farm))
    assert (run.state, run.baseline_id, run.error) == ("changed", None, None)
    found = comparison(run)
    [slot] = found["slots"]
    assert (slot["slot"], slot["result"]) == ("gpt2 decode 64 w4a8 u55c", "new")
    assert [(front["fidelity"], front["before"]) for front in slot["fronts"]] == [("estimate", 0), ("simulate", 0)]
    assert found["builds"] == {"ran": 6, "cached": 0}  # lower, search, 3 x simulate, csim
    assert found["index"] == 1.0
    assert {"millrace", "compiler", "g++", "search", "optuna"} <= set(run.tool_versions)
    assert run.tool_versions["g++"] == "12.2.0"


def test_an_unchanged_sweep_runs_nothing(farm: Farm) -> None:
    sweep = add_sweep(farm)
    first = run_through(farm, sweep)
    again = run_through(farm, sweep)
    assert (again.state, again.baseline_id) == ("same", first.id)
    assert comparison(again)["builds"] == {"ran": 0, "cached": 5}
    assert comparison(again)["regressions"] == []
    assert run_through(farm, sweep).baseline_id == first.id  # what is the same leaves the baseline where it is


def test_a_planted_regression_names_design_metric_and_cause(farm: Farm, monkeypatch: pytest.MonkeyPatch) -> None:
    sweep = add_sweep(farm)
    first = run_through(farm, sweep)
    monkeypatch.setenv("SLOWER", "1.2")
    run = run_through(farm, sweep, NEW)
    assert (run.state, run.baseline_id) == ("regressed", first.id)
    worst = comparison(run)["regressions"][0]
    assert worst["text"].startswith(f"latency of design {worst['design']['number']} (front) at simulate ")
    assert worst["text"].endswith(" us (+20 %); changed since: g++ 12.2.0 -> 13.1.0")
    assert (worst["kind"], worst["metric"], worst["fidelity"]) == ("metric", "latency", "simulate")
    assert [cause["what"] for cause in worst["causes"]] == ["g++"]
    kinds = [r["kind"] for r in comparison(run)["regressions"]]
    assert kinds == ["metric"] * 3 + ["hypervolume"]
    assert comparison(run)["builds"] == {"ran": 4, "cached": 1}  # the search is not run again
    assert comparison(run)["index"] < 1


def test_the_baseline_stays_until_a_regression_is_accepted(farm: Farm, monkeypatch: pytest.MonkeyPatch) -> None:
    sweep = add_sweep(farm)
    first = run_through(farm, sweep)
    monkeypatch.setenv("SLOWER", "1.2")
    red = run_through(farm, sweep, NEW)
    still = run_through(farm, sweep, NEW)
    assert (still.state, still.baseline_id) == ("regressed", first.id)
    assert comparison(still)["regressions"][0]["text"].endswith("g++ 12.2.0 -> 13.1.0")  # though nothing ran
    with farm.database.write() as session:
        sweep_runs.accept(session, still.id, "alice")
        with pytest.raises(ConflictError, match="is good: it is the baseline already"):
            sweep_runs.accept(session, red.id, "alice")
    assert comparison(run_now(farm, still.id))["accepted"]["who"] == "alice"
    after = run_through(farm, sweep, NEW)
    assert (after.state, after.baseline_id) == ("same", still.id)


def test_small_losses_do_not_add_up_unseen(farm: Farm, monkeypatch: pytest.MonkeyPatch) -> None:
    sweep = add_sweep(farm)
    run_through(farm, sweep)
    states = []
    for night, factor in enumerate((1.015, 1.03)):
        monkeypatch.setenv("SLOWER", str(factor))
        states.append(run_through(farm, sweep, f"13.{night}.0"))
    assert [run.state for run in states] == ["same", "regressed"]
    assert comparison(states[1])["regressions"][0]["text"].endswith("g++ 13.0.0 -> 13.1.0")  # since the last good run


def test_an_improvement_is_a_change(farm: Farm, monkeypatch: pytest.MonkeyPatch) -> None:
    sweep = add_sweep(farm)
    run_through(farm, sweep)
    monkeypatch.setenv("SLOWER", "0.8")
    run = run_through(farm, sweep, NEW)
    assert (run.state, comparison(run)["improvement_count"]) == ("changed", 3)
    assert comparison(run)["index"] > 1


def test_a_stage_that_fails_now(farm: Farm, monkeypatch: pytest.MonkeyPatch) -> None:
    sweep = add_sweep(farm)
    run_through(farm, sweep)
    monkeypatch.setenv("CSIM", "fail")
    run = run_through(farm, sweep, NEW)
    assert run.state == "regressed"
    worst = comparison(run)["regressions"][0]
    assert "passed csim and fails now: output y differs; changed since: g++ 12.2.0 -> 13.1.0" in worst["text"]


def test_an_exploration_that_fails(farm: Farm, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOWER", "fail")
    sweep = add_sweep(farm)
    run = run_through(farm, sweep)
    assert run.state == "failed"
    assert run.error is not None
    assert "1 of 1 explorations failed; gpt2 decode 64 w4a8 u55c: " in run.error
    assert sweep_runs_good(farm, sweep.id) is None
    monkeypatch.setenv("LOWER", "")
    assert run_through(farm, sweep).state == "changed"


def sweep_runs_good(farm: Farm, sweep_id: str) -> SweepRun | None:
    with farm.database.read() as session:
        return sweeps.last_good(session, sweep_id)


def test_one_run_at_a_time(farm: Farm) -> None:
    sweep = add_sweep(farm)
    first = start(farm, sweep)
    with pytest.raises(ConflictError, match=f"run {first.id} of the sweep 'nightly' is under way"):
        start(farm, sweep)


def test_cancel_stops_the_explorations(farm: Farm) -> None:
    sweep = add_sweep(farm)
    run = start(farm, sweep)
    with farm.database.write() as session:
        sweep_runs.cancel(farm, session, run.id)
    with farm.database.read() as session:
        assert [e.state for e in comparisons.explorations(session, run.id)] == ["cancelled"]
    assert (run_now(farm, run.id).state, run_now(farm, run.id).comparison) == ("cancelled", None)
    assert run_through(farm, sweep).state == "changed"


def test_an_exploration_that_a_person_stopped_makes_the_run_incomplete(farm: Farm) -> None:
    from worker.ladder import flow

    run = start(farm, add_sweep(farm))
    with farm.database.write() as session:
        [exploration] = comparisons.explorations(session, run.id)
        flow.cancel(farm, session, exploration.id)
    assert run_now(farm, run.id).state == "cancelled"


def test_a_run_ends_once_and_not_before_its_explorations(farm: Farm) -> None:
    sweep = add_sweep(farm)
    run = start(farm, sweep)
    assert not sweeping.finish(farm, run.id)
    assert run_now(farm, run.id).state == "running"
    assert go_on(farm, run).state == "changed"
    assert not sweeping.finish(farm, run.id)


def test_what_was_not_simulated_before_becomes_the_baseline(farm: Farm, monkeypatch: pytest.MonkeyPatch) -> None:
    """Simulations that were asked for later must not get slower unseen."""
    sweep = add_sweep(farm, simulate=0)
    run_through(farm, sweep)
    with farm.database.write() as session:
        sweeps.get(session, sweep.id).options = {**sweep_now(farm, sweep).options, "simulate": 3}
    simulated = run_through(farm, sweep)
    assert simulated.state == "changed"
    monkeypatch.setenv("SLOWER", "1.2")
    run = run_through(farm, sweep, NEW)
    assert (run.state, run.baseline_id) == ("regressed", simulated.id)


def end_otherwise(farm: Farm, run: SweepRun, state: ExplorationState) -> None:
    """As if the exploration of an accepted run had ended so."""
    with farm.database.write() as session:
        [exploration] = comparisons.explorations(session, run.id)
        exploration.state, exploration.error = state, "no memory"


def test_after_an_accepted_failure_the_first_run_that_passes_is_the_baseline(farm: Farm) -> None:
    sweep = add_sweep(farm)
    end_otherwise(farm, run_through(farm, sweep), "failed")
    passed = run_through(farm, sweep)
    assert passed.state == "changed"
    assert run_through(farm, sweep).baseline_id == passed.id


def test_half_a_search_is_nobodys_partner(farm: Farm) -> None:
    sweep = add_sweep(farm)
    end_otherwise(farm, run_through(farm, sweep), "cancelled")
    run = run_through(farm, sweep)
    assert (run.state, comparison(run)["slots"][0]["result"]) == ("changed", "new")


def test_what_can_not_be_compared_fails_the_run(farm: Farm, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> None:
        raise KeyError("latency")

    monkeypatch.setattr("worker.comparison.comparing.results_of", broken)
    run = run_through(farm, add_sweep(farm, webhook="https://example.org/hook"))
    assert run.state == "failed"
    assert run.error == "its results can not be compared: KeyError('latency')"
    assert comparison(run)["webhook"]["state"] == "waiting"


def test_a_front_that_has_no_logarithms_fails_the_run(farm: Farm, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody compares the first run, but its front is reported."""
    sweep = add_sweep(farm)
    results_of = comparing.results_of

    def free(*arguments: Any) -> Results:
        return replace(results_of(*arguments), fronts={"estimate": (Entry("a", (1.0, -1.0)),)})

    monkeypatch.setattr(comparing, "results_of", free)
    run = run_through(farm, sweep)
    assert run.state == "failed"
    assert run.error is not None
    assert "its objectives must not be negative" in run.error


def test_an_accepted_run_must_have_regressed(farm: Farm) -> None:
    run = run_through(farm, add_sweep(farm))
    with farm.database.write() as session, pytest.raises(ConflictError, match="only a run that regressed"):
        sweep_runs.accept(session, run.id, None)


def test_the_explorations_of_a_run_belong_to_it(farm: Farm) -> None:
    sweep = add_sweep(farm)
    run = start(farm, sweep)
    with farm.database.read() as session:
        [exploration] = comparisons.explorations(session, run.id)
        assert explorations.get(session, exploration.id).priority == "low"
        assert (exploration.budget, exploration.options["seed"], exploration.options["verify"]) == (16, 0, 1)
        assert "tolerance" not in exploration.options
