"""The FastAPI application."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

from fastapi import APIRouter, FastAPI

from api import dashboard, metrics, openapi, problems, reference, site
from api.access import Access, is_stream
from api.beginning import Beginning
from api.caller import names_of
from api.counted import Counted
from api.limits import Limiter
from api.middleware import BodyLimit, SameSite, SecurityHeaders, Text
from api.recently import Recently
from api.routes import access, builds, client, designs, explorations, health
from api.routes import catalog as catalog_routes
from api.routes import farm as farm_routes
from api.routes import sweeps as sweep_routes
from api.services import catalog
from api.services import health as health_checks
from api.services.scatters import Scatters
from api.services.uploads import Uploads
from api.sse import WakeUps
from db.engine import CONNECTIONS
from worker.farm import open_farm
from worker.ladder.versions import millrace_version
from worker.queue.broker import Send
from worker.settings import Settings

_DESCRIPTION = (
    "Design-space exploration of stream-based dataflow accelerators. POST answers 202 with an id and honours "
    "Idempotency-Key; errors are RFC 9457 problem documents; lists are paged by cursor."
)
# What generated clients call an operation is the name of its function. FastAPI analyses routes when the first requests
# come, which takes as long as ten of them: here once a process, not once an application, of which each test has one.
_ROUTES = APIRouter(generate_unique_id_function=lambda route: route.name)
for _module in (
    health,
    access,
    catalog_routes,
    explorations,
    designs,
    builds,
    farm_routes,
    sweep_routes,
    client,
    metrics,
    reference,
):
    _ROUTES.include_router(_module.router)


def create_app(settings: Settings, send: Send | None = None) -> FastAPI:
    """The application on a migrated database; `send` replaces the Celery broker."""
    farm = open_farm(settings, send)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncGenerator[None]:
        with farm.database.write() as session:
            catalog.put_builtins(session)
        listener = asyncio.create_task(app.state.wake_ups.listen())
        yield
        listener.cancel()
        with suppress(asyncio.CancelledError):
            await listener
        app.state.uploads.close()
        farm.close()

    app = FastAPI(
        title="Millrace",
        version=millrace_version(),
        description=_DESCRIPTION,
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        routes=_ROUTES.routes,
    )
    app.state.farm = farm
    app.state.turns = asyncio.Semaphore(CONNECTIONS)
    app.state.wake_ups = WakeUps(settings.redis)
    app.state.scatters = Scatters()
    app.state.uploads = Uploads()
    app.state.health = Recently(lambda: health_checks.check(farm))
    app.state.ready = Recently(lambda: health_checks.ready(farm))
    app.state.metrics = metrics.Metrics(farm)
    problems.install(app)
    openapi.document(app)
    site.mount(app)
    dashboard.mount(app, settings.web_dist)
    _add_middleware(app, settings)
    return app


def _add_middleware(app: FastAPI, settings: Settings) -> None:
    """The last one added is the first that a request passes: what the head tells is told before its body is there."""
    limiter = Limiter(settings)
    app.add_middleware(Counted, limiter=limiter)
    app.add_middleware(Beginning, is_stream=is_stream)
    app.add_middleware(
        BodyLimit,
        limit=settings.max_body_bytes,
        upload_path="/v1/models",
        upload_limit=settings.max_upload_bytes,
    )
    app.add_middleware(Access, farm=app.state.farm, limiter=limiter)
    app.add_middleware(SameSite, names=names_of(settings))
    app.add_middleware(Text)
    app.add_middleware(metrics.Timing, metrics=app.state.metrics)
    app.add_middleware(SecurityHeaders)
