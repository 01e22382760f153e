"""A stand-in S3 on a port of this machine, and the variables that point at it."""

import logging
from collections.abc import Generator
from contextlib import contextmanager

import httpx
import pytest
from processes import PATIENCE

BUCKET = "millrace-test"
NOWHERE = "http://127.0.0.1:9"
"""An address at which nothing answers."""


@contextmanager
def s3_server() -> Generator[str]:
    """The endpoint of a server in this process with an empty bucket BUCKET."""
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    endpoint = f"http://{host}:{port}"
    httpx.post(f"{endpoint}/moto-api/reset", timeout=PATIENCE, trust_env=False).raise_for_status()
    httpx.put(f"{endpoint}/{BUCKET}", timeout=PATIENCE, trust_env=False).raise_for_status()
    try:
        yield endpoint
    finally:
        server.stop()


def s3_environment(endpoint: str) -> dict[str, str]:
    """Variables for a process that stores there. No role of the machine is ever asked for."""
    return {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_METADATA_ENDPOINT": NOWHERE,
    }


def use_s3(monkeypatch: pytest.MonkeyPatch, endpoint: str) -> None:
    for name, value in s3_environment(endpoint).items():
        monkeypatch.setenv(name, value)
