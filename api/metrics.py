"""/metrics for Prometheus: how fast this process answers, and how the farm stands, read from the database when asked.

Names are part of the interface (deploy/ has dashboards and scaling rules that use them).
"""

import time
from typing import Any

from fastapi import APIRouter, Request, Response
from prometheus_client import CollectorRegistry, Histogram, ProcessCollector, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.access import route_of
from api.farm_metrics import FarmCollector
from worker.farm import Farm

router = APIRouter(tags=["health"])

_SECONDS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
_TEXT: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/plain": {"schema": {"type": "string"}}}, "description": "Prometheus text format"}
}


class Metrics:
    """The metrics of one process."""

    def __init__(self, farm: Farm) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self.registry.register(FarmCollector(farm.database))
        self._requests = Histogram(
            "millrace_http_request_seconds",
            "From a request's head to its answer's head",
            ("route", "status"),
            registry=self.registry,
            buckets=_SECONDS,
        )

    def observe(self, method: str, path: str, status: int, seconds: float) -> None:
        """Count one request, by its route: paths hold ids, which would make a series each."""
        route = route_of(method, path) or "other"
        self._requests.labels(route, str(status)).observe(seconds)


class Timing:
    """Times every request until its answer begins; an event stream ends when its reader leaves."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        begin = time.perf_counter()

        async def timed(message: Message) -> None:
            if message["type"] == "http.response.start":
                seconds = time.perf_counter() - begin
                self._metrics.observe(scope["method"], scope["path"], message["status"], seconds)
            await send(message)

        await self._app(scope, receive, timed if scope["type"] == "http" else send)


@router.get("/metrics", response_class=Response, responses=_TEXT)
def get_metrics(request: Request) -> Response:
    """Numbers for Prometheus, in its text format."""
    found: Any = request.app.state.metrics
    return Response(generate_latest(found.registry), media_type=CONTENT_TYPE_LATEST)
