"""Sweeps in tests: stored on a farm, run by hand with the stand-in stages."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from farm_states import announce, work

from db.models import Sweep, SweepRun
from db.repositories import catalog, sweeps
from db.types import utcnow
from worker.farm import Farm
from worker.sweeps import sweep_runs
from worker.sweeps.schedule import next_time

OPTIONS = {"budget": 16, "simulate": 3, "calibration": 0, "verify": 1, "tolerance": 0.02, "priority": "low"}
OLD, NEW = "12.2.0", "13.1.0"


def add_sweep(farm: Farm, name: str = "nightly", *, webhook: str | None = None, **values: Any) -> Sweep:
    """One exploration of the small network each night at three; `values` replace columns, or options where they are."""
    options = {**OPTIONS, **{key: values.pop(key) for key in list(values) if key in OPTIONS}}
    columns = {"cron": "0 3 * * *", "zone": "UTC", "misfire": "skip", **values}
    with farm.database.write() as session:
        model = catalog.put_model(session, "gpt2", "builtin", {}, "m" * 64)
        workload = catalog.put_workload(session, model, "decode", 64, 1, "w4a8", 1, "w" * 64)
        matrix = {"workload": [workload.id], "platform": ["u55c"], "seed": [0], "sampler": ["random"]}
        return sweeps.add(
            session,
            name,
            columns["cron"],
            columns["zone"],
            columns["misfire"],
            columns.get("matrix", matrix),
            options,
            webhook=webhook,
            next_at=columns.get("next_at", next_time(columns["cron"], columns["zone"], utcnow())),
        )


def start(farm: Farm, sweep: Sweep) -> SweepRun:
    with farm.database.write() as session:
        return sweep_runs.start(farm, session, sweep.id, "manual")


def run_through(farm: Farm, sweep: Sweep, gxx: str = OLD) -> SweepRun:
    """A run to its end, on a node with that g++."""
    with _machine(farm, gxx):
        run = start(farm, sweep)
    return go_on(farm, run, gxx)


def go_on(farm: Farm, run: SweepRun, gxx: str = OLD) -> SweepRun:
    """A run that was started to its end, on a node with that g++, whatever this machine has."""
    with _machine(farm, gxx):
        work(farm)
    return run_now(farm, run.id)


@contextmanager
def _machine(farm: Farm, gxx: str) -> Generator[None]:
    """The farm's one machine has that g++."""
    announce(farm, **{"g++": gxx})
    with patch("worker.ladder.versions.gxx_version", lambda: gxx):
        yield


def run_now(farm: Farm, run_id: str) -> SweepRun:
    with farm.database.read() as session:
        return sweeps.get_run(session, run_id)


def runs_of(farm: Farm, sweep: Sweep) -> list[SweepRun]:
    """Newest first."""
    with farm.database.read() as session:
        return list(sweeps.runs_page(session, sweep.id, None, 100))


def set_next(farm: Farm, sweep: Sweep, when: Any) -> None:
    with farm.database.write() as session:
        sweeps.set_next(session, sweep.id, when)


def sweep_now(farm: Farm, sweep: Sweep) -> Sweep:
    with farm.database.read() as session:
        return sweeps.get(session, sweep.id)
