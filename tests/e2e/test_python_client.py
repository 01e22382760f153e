"""The Python client on real services with a small network: explore, read the table, simulate, export."""

import asyncio
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from running_service import service_environment, service_starter

import millrace
from millrace.errors import NotFoundError, ServiceUnavailableError, UsageError

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    with service_starter(tmp_path_factory.mktemp("client")) as start:
        yield start().address


def test_explore_look_and_export(address: str, tmp_path: Path) -> None:
    few: dict[str, Any] = {"budget": 30, "simulate": 2, "calibration": 1, "verify": 1}
    found = millrace.explore("gpt2", server=address, **few).wait(quiet=True)
    table = found.table()
    assert len(table) == 30
    assert {"latency_us", "energy_uj", "dsp", "dsp_used", "knob_stream_width"} <= set(table.names)
    best = found.best("latency_us", dsp__lt=0.9)
    assert best["latency_us"] == min(design["latency_us"] for design in found.designs(feasible=True, dsp__lt=0.9))
    assert best.id in {design.id for design in found.front()} | {best.id}
    assert best.simulate().latency_us is not None
    assert (best.export(tmp_path / "d") / "dataflow.json").is_file()
    with pytest.raises(UsageError, match="is not empty"):
        best.export(tmp_path / "d")
    assert best.csim().passed is True


def test_the_waiting_client_sees_the_same(address: str) -> None:
    async def look() -> list[str]:
        async with millrace.AsyncClient(address) as client:
            with pytest.raises(NotFoundError):
                await client.exploration("exp_none")
            return [one.id for one in await client.explorations()]

    with millrace.Client(address) as client:
        assert asyncio.run(look()) == [one.id for one in client.explorations()]


def test_the_service_of_a_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The start script of a checkout that is set up runs nothing but the command line."""
    for name, value in service_environment(tmp_path / "home").items():
        monkeypatch.setenv(name, value)
    script = tmp_path / "millrace"
    script.write_text(f"#!/bin/sh\nexec '{sys.executable}' -c 'from cli.main import run; run()' \"$@\"\n")
    script.chmod(0o755)
    with millrace.local(tmp_path) as client:
        assert client.health().database
        taken = pytest.raises(ServiceUnavailableError, match="did not start: Millrace runs on")
        with taken, millrace.local(tmp_path):
            pass
        address = client.address
    with pytest.raises(ServiceUnavailableError):
        millrace.Client(address).health()
    with pytest.raises(UsageError, match="is no checkout"), millrace.local(tmp_path / "home"):
        pass
