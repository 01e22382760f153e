"""/v1/health."""

from fastapi import APIRouter, Response

from api import schemas
from api.dependencies import FarmDep
from api.services.health import check

router = APIRouter(prefix="/v1", tags=["health"])


@router.get("/health")
def get_health(farm: FarmDep, response: Response) -> schemas.Health:
    health = check(farm)
    response.status_code = 200 if health.database else 503
    return health
