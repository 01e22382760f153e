"""/v1/health, and the probes of an orchestrator below it."""

from fastapi import APIRouter, Response

from api.dependencies import FarmDep
from api.schemas.farm import Alive, Health, Ready
from api.services import health

router = APIRouter(prefix="/v1/health", tags=["health"])


@router.get("", responses={503: {"model": Health, "description": "the database does not answer"}})
def get_health(farm: FarmDep, response: Response) -> Health:
    """Whether requests are answered and work is done."""
    found = health.check(farm)
    response.status_code = 200 if found.database else 503
    return found


@router.get("/live")
async def get_live() -> Alive:
    """Whether this process answers."""
    return Alive()


@router.get("/ready", responses={503: {"model": Ready, "description": "not ready"}})
def get_ready(farm: FarmDep, response: Response) -> Ready:
    """Whether requests can be answered."""
    found = health.ready(farm)
    response.status_code = 200 if found.status == "ready" else 503
    return found
