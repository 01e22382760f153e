from collections.abc import Mapping
from dataclasses import replace

from dse.archive import Entry
from dse.comparison.causes import UNKNOWN, Circumstances
from dse.comparison.regressions import compare
from dse.comparison.results import DesignResults, Reading, Results

SAME = Circumstances({"simulate": {"g++": "12.2.0"}}, {"budget": "40"}, {})
NEWER = Circumstances({"simulate": {"g++": "13.1.0"}}, {"budget": "40"}, {})


def design(
    key: str, number: int = 17, front: bool = True, passed: Mapping[str, str | None] | None = None, **us: float
) -> DesignResults:
    """`us`: latencies by stage."""
    words = {"search": "estimate"}
    metrics = {(stage, "latency"): Reading(value, "us", words.get(stage, stage)) for stage, value in us.items()}
    return DesignResults(f"dsg_{key}", key, number, front, None, metrics, passed or {})


def results(*designs: DesignResults, circumstances: Circumstances = SAME, failed: str | None = None) -> Results:
    front = tuple(
        Entry(d.key, (d.metrics["search", "latency"].value, 50.0))
        for d in designs
        if d.on_front and ("search", "latency") in d.metrics
    )
    fronts = {"estimate": front} if front else {}
    return Results("exp_1", {d.key: d for d in designs}, fronts, circumstances, failed)


def test_the_same_results_are_the_same_whatever_made_them():
    before, after = results(design("a", search=60, simulate=66.9)), results(design("a", search=60, simulate=66.9))
    assert compare(before, replace(after, circumstances=NEWER), 0.02).same


def test_a_regression_names_design_metric_and_cause():
    before = results(design("a", search=60, simulate=66.9))
    after = results(design("a", search=60, simulate=80.3), circumstances=NEWER)
    [found] = compare(before, after, 0.02).regressions
    expected = "latency of design 17 (front) at simulate 66.9 -> 80.3 us (+20 %); changed since: g++ 12.2.0 -> 13.1.0"
    assert found.text == expected
    assert (found.kind, found.metric, found.fidelity, found.stage) == ("metric", "latency", "simulate", "simulate")


def test_a_regression_that_nothing_explains_says_so():
    [found] = compare(results(design("a", simulate=60)), results(design("a", simulate=70)), 0.02).regressions
    assert found.text.endswith(UNKNOWN)


def test_better_or_off_the_front_is_a_change_only():
    before = results(design("a", simulate=60), design("b", front=False, simulate=60))
    after = results(design("a", simulate=50), design("b", front=False, simulate=70))
    found = compare(before, after, 0.02)
    assert found.regressions == ()
    assert not found.same
    assert [(d.design.key, d.worse) for d in found.differences] == [("a", False), ("b", True)]


def test_a_design_that_left_the_front_by_getting_worse():
    before, after = results(design("a", simulate=60)), results(design("a", front=False, simulate=70))
    assert [r.kind for r in compare(before, after, 0.02).regressions] == ["metric"]


def test_within_the_tolerance_nothing_is_worse():
    before, after = results(design("a", simulate=100)), results(design("a", simulate=101.9))
    assert compare(before, after, 0.02).same


def test_different_fidelities_are_never_compared():
    found = compare(results(design("a", simulate=60)), results(design("a", csynth=90)), 0.02)
    assert (found.differences, found.regressions) == ((), ())


def test_what_is_known_only_now_is_not_the_same():
    """Else it could get worse unseen: a run that is the same leaves the baseline where it is."""
    before = results(design("a", search=60))
    assert not compare(before, results(design("a", search=60, csynth=90)), 0.02).same
    assert not compare(before, results(design("a", search=60, passed={"csim": None})), 0.02).same
    assert compare(before, results(design("a", search=60, passed={"csim": "output y differs"})), 0.02).same
    assert compare(results(design("a", search=60, csynth=90)), before, 0.02).same  # the earlier one knows more


def test_a_front_at_a_fidelity_that_is_new_is_not_the_same():
    before = results(design("a", search=60))
    after = replace(before, fronts={**before.fronts, "simulate": before.fronts["estimate"]})
    found = compare(before, after, 0.02)
    assert [(f.fidelity, len(f.new), f.change) for f in found.fronts] == [("estimate", 0, 0.0), ("simulate", 1, None)]
    assert not found.same
    assert found.regressions == ()


def test_a_front_that_is_gone_although_its_stage_was_run():
    before = results(design("a", search=60, simulate=66))
    before = replace(before, fronts={**before.fronts, "simulate": before.fronts["estimate"]})
    now = results(design("a", search=60), design("b", number=2, front=False))
    [found] = compare(before, now, 0.02).regressions
    assert (found.kind, found.fidelity, found.change) == ("hypervolume", "simulate", -1.0)
    assert "(-100 %): 1 lost (design 17)" in found.text
    unasked = replace(SAME, tools={"search": {"compiler": "1a2b"}})
    assert compare(before, replace(now, circumstances=unasked), 0.02).regressions == ()  # nothing was simulated
    assert [r.kind for r in compare(before, replace(now, failed="no memory"), 0.02).regressions] == ["exploration"]


def test_an_exploration_that_does_not_fail_any_more_is_not_the_same():
    assert not compare(results(design("a", search=60), failed="x"), results(design("a", search=60)), 0.02).same


def test_a_stage_that_passed_and_fails_now():
    before = results(design("a", passed={"csim": None, "cosim": None}))
    after = results(design("a", passed={"csim": "output y differs", "cosim": None}))
    [found] = compare(before, after, 0.02).regressions
    assert found.text.startswith("design 17 (front) passed csim and fails now: output y differs; ")
    assert compare(after, before, 0.02).regressions == ()
    assert compare(results(design("a")), after, 0.02).regressions == ()  # it was not run before


def test_a_design_that_can_not_be_built_any_more():
    after = results(replace(design("a", front=False), infeasible="dsp 9100 of 9024"))
    [found] = compare(results(design("a")), after, 0.02).regressions
    assert found.text.startswith("design 17 (front) could be built and can not now: dsp 9100 of 9024")


def test_an_exploration_that_fails_now():
    failed = results(failed="the importer did not like it")
    [found] = compare(results(design("a", search=60)), failed, 0.02).regressions
    assert found.kind == "exploration"
    assert "the importer did not like it" in found.text
    assert compare(failed, failed, 0.02).regressions == ()


def test_a_front_that_lost_volume_names_what_it_lost():
    before = results(design("a", number=3, search=50), design("b", number=4, search=100))
    [found] = compare(before, results(design("b", number=4, search=100)), 0.02).regressions
    assert found.kind == "hypervolume"
    assert "1 lost (design 3)" in found.text
    assert found.design is not None
    assert found.design.number == 3
    assert compare(before, results(design("b", search=100)), 0.9).regressions == ()


def test_the_worst_comes_first():
    before = results(design("a", 1, simulate=10), design("b", 2, simulate=10), design("c", 3, passed={"csim": None}))
    after = results(design("a", 1, simulate=12), design("b", 2, simulate=20), design("c", 3, passed={"csim": "no"}))
    found = compare(before, after, 0.02).regressions
    assert [(r.kind, r.design.number if r.design else None) for r in found] == [
        ("stage", 3),
        ("metric", 2),
        ("metric", 1),
    ]


def test_cycles_are_not_told_beside_the_latency():
    def both(us: float) -> DesignResults:
        metrics = {
            ("simulate", "latency"): Reading(us, "us", "simulate"),
            ("simulate", "cycles"): Reading(us * 250, "cycles", "simulate"),
        }
        return replace(design("a"), metrics=metrics)

    found = compare(results(both(10)), results(both(12)), 0.02)
    assert [d.metric for d in found.differences] == ["latency"]


def at_csynth(**values: float) -> DesignResults:
    metrics = {("csynth", name): Reading(value, "", "csynth") for name, value in values.items()}
    return replace(design("a"), metrics=metrics)


def test_cycles_are_told_where_only_one_run_knows_the_latency():
    before = results(at_csynth(cycles=1000))
    assert [r.metric for r in compare(before, results(at_csynth(cycles=2000, latency=8)), 0.02).regressions] == [
        "cycles"
    ]


def test_a_slower_clock_and_a_slower_loop_are_worse():
    found = compare(results(at_csynth(fmax=400, slowest_ii=1)), results(at_csynth(fmax=300, slowest_ii=4)), 0.02)
    assert {r.metric for r in found.regressions} == {"fmax", "slowest_ii"}


def test_a_slack_is_told_by_the_period():
    before = results(at_csynth(clock_estimated=2.50, slack=0.02, fmax=400))
    assert compare(before, results(at_csynth(clock_estimated=2.51, slack=0.01, fmax=398.4)), 0.02).same
    found = compare(before, results(at_csynth(clock_estimated=2.80, slack=-0.28, fmax=357)), 0.02)
    assert [r.metric for r in found.regressions] == ["clock_estimated"]


def test_a_value_that_was_nothing_has_no_percent():
    def dsp(count: float) -> DesignResults:
        return replace(design("a"), metrics={("csynth", "dsp"): Reading(count, "DSP", "csynth")})

    [found] = compare(results(dsp(0)), results(dsp(4)), 0.02).regressions
    assert "dsp of design 17 (front) at csynth 0 -> 4 DSP;" in found.text
    assert found.change is None


def test_fronts_of_other_objectives_are_not_compared() -> None:
    before = replace(results(design("a", search=1)), objectives=("latency", "area"))
    [found] = compare(before, results(design("a", search=1)), 0.02).fronts
    assert (found.before, found.after, found.change) == (0, 1, None)
