"""/v1/health, and the probes of an orchestrator below it."""

from fastapi import APIRouter, Request, Response

from api.schemas.farm import Alive, Health, Ready

router = APIRouter(prefix="/v1/health", tags=["health"])


@router.get("", responses={503: {"model": Health, "description": "the database does not answer"}})
async def get_health(request: Request, response: Response) -> Health:
    """Whether requests are answered and work is done."""
    found: Health = await request.app.state.health.get()
    response.status_code = 200 if found.database else 503
    return found


@router.get("/live")
async def get_live() -> Alive:
    """Whether this process answers."""
    return Alive()


@router.get("/ready", responses={503: {"model": Ready, "description": "not ready"}})
async def get_ready(request: Request, response: Response) -> Ready:
    """Whether requests can be answered."""
    found: Ready = await request.app.state.ready.get()
    response.status_code = 200 if found.status == "ready" else 503
    return found
