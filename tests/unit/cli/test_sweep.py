"""How sweeps look on a terminal, and what `millrace sweep` asks the service for."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from rich.console import Console
from rich.text import Text
from typer.testing import CliRunner
from wire_replies import reply

from cli.commands import sweep as command
from cli.commands.sweep import is_run, parse_tolerance
from cli.main import app
from cli.sweep_view import history_view, local_time, run_view, sparkline, sweeps_table
from compiler.errors import InvalidInputError
from millrace.encoding import to_json
from millrace.wire import (
    Change,
    FrontChange,
    FrontPoint,
    MovedPoint,
    NewSweep,
    Regression,
    SlotComparison,
    Sweep,
    SweepChange,
    SweepRun,
    SweepRunSummary,
)

SUMMARY = reply(
    SweepRunSummary,
    id="run_01m805n7zf3akf44v0",
    state="regressed",
    baseline_id="run_01m805n02z1pn1j28h",
    builds={"ran": 4, "cached": 1},
    regression_count=14,
    index=0.94,
)
FRONT = FrontChange(
    fidelity="simulate",
    before=3,
    after=3,
    hypervolume_before=12,
    hypervolume_after=6,
    change=-0.5,
    new=[FrontPoint(id="dsg_n", number=9, objectives=[300.0, 80.0])],
    new_count=1,
    lost=[FrontPoint(id="dsg_l", number=4, objectives=[200.0, 90.0])],
    lost_count=1,
    moved=[MovedPoint(id="dsg_m", number=6, before=[325.2, 50.0], after=[390.2, 50.0])],
    moved_count=1,
)
TEXT = "latency of design 6 (front) at simulate 325.2 -> 390.2 us (+20 %); changed since: g++ 12.2.0 -> 13.1.0"
CHANGE = Change(what="g++", before="12.2.0", after="13.1.0", stages=["simulate"])
COMPARED = reply(
    SweepRun,
    **to_json(SUMMARY),
    sweep="nightly",
    regressions=[reply(Regression, slot="gpt2 decode 64", kind="metric", text=TEXT)],
    slots=[reply(SlotComparison, slot="gpt2 decode 64", result="regressed", fronts=[FRONT], changes=[CHANGE])],
)
NEXT = datetime(2026, 7, 1, 1, tzinfo=UTC)
SWEEP = reply(
    Sweep, name="nightly", cron="0 3 * * *", zone="Europe/Berlin", enabled=True, next_at=NEXT, last_run=SUMMARY
)


def but(of: Any, **values: Any) -> Any:
    return replace(of, **values)


def shown(what: Any) -> str:
    console = Console(width=140, record=True, file=open("/dev/null", "w"))  # noqa: PTH123, SIM115
    console.print(what)
    return console.export_text()


def test_a_comparison_says_what_got_worse_and_why() -> None:
    text = shown(run_view(COMPARED))
    assert "REGRESSED  nightly" in text
    assert "latency of design 6 (front) at simulate 325.2 -> 390.2 us (+20 %)\n" in text
    assert "  changed since: g++ 12.2.0 -> 13.1.0\n" in text
    assert "and 13 more" in text
    assert "front at simulate: 3 -> 3 designs, 1 new, 1 lost, 1 moved" in text
    assert f"before {'█' * 28} 12" in text
    assert f"after {'█' * 14}{'░' * 14} 6 (-50.0 %)" in text
    rows = [line.split() for line in text.splitlines() if "dsg_" in line]
    assert [row[:3] for row in rows] == [["lost", "dsg_l", "4"], ["new", "dsg_n", "9"], ["moved", "dsg_m", "6"]]
    assert "325.2 -> 390.2" in text


def test_a_list_shows_marks_and_times_of_the_zone() -> None:
    text = shown(sweeps_table([SWEEP, but(SWEEP, name="manual", enabled=False, last_run=None)]))
    assert "▼ REGRESSED" in text
    assert "Wed 2026-07-01 03:00 Europe/Berlin" in text
    assert "never run" in text
    assert "only by hand" in text


def test_history_has_a_line_of_the_hypervolume() -> None:
    runs = [SUMMARY, but(SUMMARY, state="same", index=1.0), but(SUMMARY, state="failed", index=None)]
    text = shown(history_view(SWEEP, runs))
    assert "hypervolume  █▁  0.94" in text
    assert "4 run, 1 cached" in text


def test_a_sparkline_of_equal_values_is_level() -> None:
    same = [but(SUMMARY, state="same", index=1.0)] * 3
    assert Text.from_markup(sparkline(same)).plain == "▅▅▅"
    assert sparkline([]) == ""


def test_an_unknown_zone_is_shown_as_utc() -> None:
    assert "01:00 [dim]UTC" in local_time(NEXT, "Mars/Olympus")


@pytest.mark.parametrize(("text", "value"), [("2%", 0.02), ("0.5%", 0.005), ("0.03", 0.03), ("0", 0.0)])
def test_tolerances(text: str, value: float) -> None:
    assert parse_tolerance(text) == pytest.approx(value)


@pytest.mark.parametrize("text", ["", "much", "100%", "-1%", "2 percent", "nan"])
def test_tolerances_that_are_none(text: str) -> None:
    with pytest.raises(InvalidInputError, match="write a share like 2%"):
        parse_tolerance(text)


def test_names_and_runs_are_told_apart() -> None:
    assert is_run("run_01m805n7zf3akf44v0")
    assert not is_run("run_nightly")


WAITS = "link will wait: no node offers link"


class Service:
    """A service that ends its runs in a given state, and what it was asked for."""

    temporary = False

    def __init__(self, *states: str) -> None:
        self.states = list(states)
        self.asked: list[tuple[str, Any]] = []
        self.client = self

    def __enter__(self) -> "Service":
        return self

    def __exit__(self, *_: Any) -> None:
        pass

    def run_sweep(self, _name: str, _key: str) -> SweepRun:
        return but(COMPARED, state="running", ended=0, warnings=[WAITS])

    def sweep_run(self, _run: str) -> SweepRun:
        return but(COMPARED, state=self.states.pop(0))

    def add_sweep(self, request: NewSweep, _key: str) -> Sweep:
        self.asked.append(("add", to_json(request)))
        return but(SWEEP, enabled=request.enabled, warnings=[WAITS])

    def change_sweep(self, name: str, changes: SweepChange) -> Sweep:
        self.asked.append((name, to_json(changes)))
        return but(SWEEP, **to_json(changes))


def invoke(monkeypatch: pytest.MonkeyPatch, service: Service, *arguments: str) -> tuple[int, str]:
    monkeypatch.setattr(command, "connect", lambda _: service)
    monkeypatch.setattr(command, "sleep", lambda _: None)
    monkeypatch.setattr(command, "console", Console(width=140))
    result = CliRunner().invoke(app, ["sweep", *arguments])
    return result.exit_code, result.output


@pytest.mark.parametrize(
    ("state", "code"), [("same", 0), ("changed", 0), ("regressed", 1), ("failed", 3), ("cancelled", 3)]
)
def test_the_end_of_a_run_is_the_exit_code(monkeypatch: pytest.MonkeyPatch, state: str, code: int) -> None:
    assert invoke(monkeypatch, Service("running", state), "run", "nightly", "--wait", "--json")[0] == code


def test_a_service_of_one_s_own_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    service = Service("regressed")
    assert invoke(monkeypatch, service, "run", "nightly")[0] == 0
    service.temporary = True
    assert invoke(monkeypatch, service, "run", "nightly", "--json")[0] == 1


def test_what_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    service = Service()
    arguments = ["add", "nightly", "--cron", "0 3 * * *", "--zone", "Europe/Berlin", "--model", "gpt2", "--phase"]
    arguments += ["prefill", "--phase", "decode", "--length", "64", "--csynth", "2", "--tolerance", "1%"]
    code, output = invoke(monkeypatch, service, *arguments, "--misfire", "run-once")
    assert code == 0, output
    [(_, request)] = service.asked
    assert request["matrix"] == {"models": ["gpt2"], "phases": ["prefill", "decode"], "lengths": [64]}
    assert (request["misfire"], request["enabled"], request["options"]["tolerance"]) == ("run_once", True, 0.01)
    assert request["options"]["builds"] == {"csynth": 2, "cosim": 0, "link": 0, "measure": 0}


def test_without_a_schedule_it_runs_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    service = Service()
    _, output = invoke(monkeypatch, service, "add", "mine", "--model", "gpt2")
    assert service.asked[0][1]["enabled"] is False
    assert "runs by hand only" in output
    assert f"note: {WAITS}" in output
    assert f"note: {WAITS}" in invoke(monkeypatch, service, "run", "mine")[1]
    invoke(monkeypatch, service, "enable", "mine")
    assert service.asked[1] == ("mine", {"enabled": True})
