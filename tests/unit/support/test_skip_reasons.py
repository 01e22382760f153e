"""Skips are counted by reason, and fail CI where nobody expects them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SUPPORT = Path(__file__).parents[2] / "support"
TESTS = """
import pytest

@pytest.mark.parametrize("n", [1, 2])
def test_expected(n):
    pytest.skip("no kubectl")

def test_passes():
    pass
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ci", "more", "code"),
    [
        ("true", "", 0),
        ("true", "def test_x():\n    pytest.skip('no Chromium here')\n", 1),
        ("", "def test_x():\n    pytest.skip('no Chromium here')\n", 0),
    ],
)
@pytest.mark.parametrize("workers", [(), ("-n", "1")], ids=["here", "in a worker"])
def test_reasons(tmp_path: Path, ci: str, more: str, code: int, workers: tuple[str, ...]) -> None:
    (tmp_path / "test_it.py").write_text(TESTS + more)
    command = [sys.executable, "-m", "pytest", "-p", "skip_reasons", "-p", "no:schemathesis", "-q", *workers]
    environment = {**os.environ, "CI": ci, "PYTHONPATH": str(SUPPORT), "PYTEST_ADDOPTS": ""}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    assert "    2  no kubectl" in done.stdout.splitlines()
    assert ("FAILED: 1 of these reasons" in done.stdout) == (code == 1)
    assert done.stdout.splitlines()[-1].startswith("1 passed, ")
