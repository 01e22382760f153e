"""The processes that look: confined, warm, replaced where a file was too much, gone with the service."""

import signal
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from resource import RLIMIT_AS

import onnx_models
import psutil
import pytest
from hostile_files import hostile_files
from looked_at import in_memory

from compiler.errors import InvalidInputError
from compiler.frontend.scan.bounds import SCAN_MEMORY_BYTES
from compiler.frontend.scan.pool import ScanPool

NET = onnx_models.mlp(1, (3, 5, 7)).SerializeToString()


@pytest.fixture
def pool() -> Generator[ScanPool]:
    made = ScanPool()
    yield made
    made.close()


def look(pool: ScanPool, content: bytes, form: str = "onnx") -> None:
    with in_memory(content) as descriptor:
        pool.scan(descriptor, form, f"net.{form}")


def scanners() -> list[psutil.Process]:
    children = psutil.Process().children()
    return [p for p in children if p.status() != psutil.STATUS_ZOMBIE and "scan.process" in " ".join(p.cmdline())]


def test_one_process_looks_at_one_file_after_the_other(pool: ScanPool) -> None:
    look(pool, NET)
    [process] = scanners()
    with pytest.raises(InvalidInputError, match=r"net\.onnx is no ONNX file"):
        look(pool, b"\xff" * 5000)
    look(pool, NET)
    assert [p.pid for p in scanners()] == [process.pid]
    pool.close()
    assert not scanners()


def test_it_is_confined(pool: ScanPool) -> None:
    look(pool, NET)
    [process] = scanners()
    assert process.rlimit(RLIMIT_AS) == (SCAN_MEMORY_BYTES, SCAN_MEMORY_BYTES)
    assert "Seccomp:\t2" in Path(f"/proc/{process.pid}/status").read_text()


def test_one_that_was_killed_is_replaced(pool: ScanPool) -> None:
    look(pool, NET)
    [process] = scanners()
    process.kill()
    process.wait()
    look(pool, NET)
    assert scanners()[0].pid != process.pid


@pytest.mark.slow
def test_a_file_that_takes_too_long_ends_its_process_and_is_refused(
    pool: ScanPool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its processor time counts: on a machine as busy as one that runs tests it takes minutes."""
    monkeypatch.setattr("compiler.frontend.scan.pool.SCAN_WALL_SECONDS", 300)
    quotes = hostile_files()["quotes.mlir"]()  # 5 MB take a quick machine just under 2 s
    with pytest.raises(InvalidInputError, match=r"takes more than (2 s of processor time|512 MiB) to look at"):
        look(pool, quotes.replace(b'"', b'"""'), "mlir")
    assert not scanners()
    look(pool, NET)


def test_none_outlives_the_service() -> None:
    code = """
import os, sys
from compiler.frontend.scan.pool import ScanPool
pool = ScanPool()
with open(os.devnull) as file:
    try:
        pool.scan(file.fileno(), "onnx", "net.onnx")
    except Exception:
        print(pool._idle[0]._process.pid, flush=True)
sys.stdin.read()
"""
    service = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert service.stdout is not None
    scanner = psutil.Process(int(service.stdout.readline()))
    service.send_signal(signal.SIGKILL)
    service.communicate()
    scanner.wait(30)
