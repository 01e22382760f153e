"""/v1/sweeps and /v1/sweep-runs: schedules of explorations, and how their runs compare."""

from fastapi import APIRouter

from api.dependencies import FarmDep, OnceDep, PrincipalDep, ReadSession, WriteSession
from api.paging import Cursor, Limit, decode, page
from api.parameters import SweepId, SweepRunId
from api.schemas.common import Page
from api.schemas.sweeps import NewSweep, Nothing, Sweep, SweepChange, SweepRun, SweepRunSummary
from api.services import sweeps
from db.repositories import sweeps as rows

router = APIRouter(prefix="/v1", tags=["sweeps"])


@router.get("/sweeps")
def list_sweeps(
    farm: FarmDep, session: ReadSession, who: PrincipalDep, cursor: Cursor = None, limit: Limit = 50
) -> Page[Sweep]:
    """Sweeps, newest first."""
    found = rows.page(session, decode(cursor), limit + 1)
    return page(found, limit, lambda s: s.id, lambda s: sweeps.shape_listed(session, farm.settings, who, s))


@router.post("/sweeps", status_code=202)
def add_sweep(farm: FarmDep, session: WriteSession, once: OnceDep, who: PrincipalDep, body: NewSweep) -> Sweep:
    """Make a schedule of explorations."""
    return once(body, Sweep, lambda: sweeps.add(session, farm.settings, who, body))


@router.get("/sweeps/{sweep}")
def get_sweep(farm: FarmDep, session: ReadSession, who: PrincipalDep, sweep: SweepId) -> Sweep:
    """One sweep."""
    return sweeps.shape(session, farm.settings, who, rows.get(session, sweep))


@router.patch("/sweeps/{sweep}")
def change_sweep(farm: FarmDep, session: WriteSession, who: PrincipalDep, sweep: SweepId, body: SweepChange) -> Sweep:
    """Change a sweep; what is not given stays."""
    return sweeps.change(session, farm.settings, who, sweep, body)


@router.delete("/sweeps/{sweep}", status_code=204)
def remove_sweep(session: WriteSession, who: PrincipalDep, sweep: SweepId) -> None:
    """Remove a sweep with its schedule."""
    sweeps.remove(session, who, sweep)


@router.post("/sweeps/{sweep}/run", status_code=202)
def run_sweep(farm: FarmDep, session: WriteSession, once: OnceDep, who: PrincipalDep, sweep: SweepId) -> SweepRun:
    """Start a run of a sweep now."""
    return once(Nothing(), SweepRun, lambda: sweeps.start(farm, session, who, sweep))


@router.get("/sweeps/{sweep}/runs")
def list_runs(session: ReadSession, sweep: SweepId, cursor: Cursor = None, limit: Limit = 50) -> Page[SweepRunSummary]:
    """Runs of a sweep, newest first."""
    found = rows.runs_page(session, rows.get(session, sweep).id, decode(cursor), limit + 1)
    replies = {reply.id: reply for reply in sweeps.shape_runs(session, found)}
    return page(found, limit, lambda r: r.id, lambda r: replies[r.id])


@router.get("/sweep-runs/{run}")
def get_run(farm: FarmDep, session: ReadSession, run: SweepRunId) -> SweepRun:
    """One run, with its comparison."""
    return sweeps.shape_run(session, farm.settings, rows.get_run(session, run))


@router.post("/sweep-runs/{run}/accept", status_code=202)
def accept_run(farm: FarmDep, session: WriteSession, who: PrincipalDep, run: SweepRunId) -> SweepRun:
    """Take a regressed run as the new baseline."""
    return sweeps.accept(farm, session, who, run)


@router.post("/sweep-runs/{run}/cancel", status_code=202)
def cancel_run(farm: FarmDep, session: WriteSession, who: PrincipalDep, run: SweepRunId) -> SweepRun:
    """Stop a run with its explorations."""
    return sweeps.cancel(farm, session, who, run)
