"""/v1/health, and the probes of an orchestrator below it."""

from collections.abc import Awaitable, Callable

from fastapi import APIRouter, FastAPI, Request, Response

from api.probes import HEALTH, LIVE, READY
from api.schemas.farm import Alive, Health, Ready

router = APIRouter(prefix="/v1/health", tags=["health"])


async def _health(app: FastAPI) -> tuple[int, Health]:
    found: Health = await app.state.health.get()
    return (200 if found.database else 503), found


async def _live(_app: FastAPI) -> tuple[int, Alive]:
    return 200, Alive()


async def _ready(app: FastAPI) -> tuple[int, Ready]:
    found: Ready = await app.state.ready.get()
    return (200 if found.status == "ready" else 503), found


PROBED: dict[str, Callable[[FastAPI], Awaitable[tuple[int, Alive | Health | Ready]]]] = {
    LIVE: _live,
    READY: _ready,
    HEALTH: _health,
}
"""Status and answer at each path that probes ask."""


@router.get("", responses={503: {"model": Health, "description": "the database does not answer"}})
async def get_health(request: Request, response: Response) -> Health:
    """Whether requests are answered and work is done."""
    response.status_code, found = await _health(request.app)
    return found


@router.get("/live")
async def get_live() -> Alive:
    """Whether this process answers."""
    return Alive()


@router.get("/ready", responses={503: {"model": Ready, "description": "not ready"}})
async def get_ready(request: Request, response: Response) -> Ready:
    """Whether requests can be answered."""
    response.status_code, found = await _ready(request.app)
    return found
