"""The FastAPI application."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

from fastapi import FastAPI

from api import dashboard, problems, reference
from api.middleware import BodyLimit, SameSite, SecurityHeaders
from api.routes import catalog as catalog_routes
from api.routes import designs, explorations, health
from api.services import catalog
from api.sse import WakeUps
from worker.broker import Send
from worker.farm import open_farm
from worker.settings import Settings
from worker.versions import millrace_version

_DESCRIPTION = (
    "Design-space exploration of stream-based dataflow accelerators. POST answers 202 with an id and honours "
    "Idempotency-Key; errors are RFC 9457 problem documents; lists are paged by cursor."
)
_LOCAL_ONLY = ("127.0.0.1", "localhost", "::1")


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
        farm.close()

    app = FastAPI(
        title="Millrace",
        version=millrace_version(),
        description=_DESCRIPTION,
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
    )
    app.state.farm = farm
    app.state.wake_ups = WakeUps(settings.redis)
    problems.install(app)
    for module in (health, catalog_routes, explorations, designs, reference):
        app.include_router(module.router)
    dashboard.mount(app, settings.web_dist)
    app.add_middleware(
        BodyLimit,
        limit=settings.max_body_bytes,
        upload_path="/v1/models",
        upload_limit=settings.max_upload_bytes,
    )
    names = frozenset(settings.allowed_hosts)
    app.add_middleware(SameSite, hosts=names, any_host=not names and settings.host not in _LOCAL_ONLY)
    app.add_middleware(SecurityHeaders)
    return app
