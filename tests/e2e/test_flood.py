"""Half-open connections and slow bodies against a real service; `bench.flood` measures the same at full size."""

import resource
import socket
from collections.abc import Generator
from contextlib import ExitStack
from urllib.parse import urlsplit

import pytest
from running_service import RunningService

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

HALF_OPEN, SLOW_BODIES = 1200, 300
HEAD = b"GET /v1/models HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "
BODY = (
    b"POST /v1/models HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: multipart/form-data; boundary=x\r\n"
    b"Content-Length: 100000000\r\n\r\n--x\r\n"
)


@pytest.fixture
def many_files() -> Generator[None]:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    if before[1] < 4096:
        pytest.skip("this machine allows too few open files for a flood")
    resource.setrlimit(resource.RLIMIT_NOFILE, (before[1], before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


@pytest.mark.usefixtures("many_files")
def test_a_flood_shuts_nobody_out(service: RunningService) -> None:
    parts = urlsplit(service.address)
    with ExitStack() as stack:
        for begin in (HEAD,) * HALF_OPEN + (BODY,) * SLOW_BODIES:
            flooding = stack.enter_context(socket.create_connection((parts.hostname, parts.port), timeout=60))
            flooding.sendall(begin)
        for _ in range(10):
            assert service.get("/v1/health/live") == {"status": "ok"}
            assert service.get("/v1/health/ready") == {"status": "ready", "detail": None}
            assert service.get("/v1/models")["items"]
            assert service.post("/v1/workloads", {"model": "gpt2"})["id"]
