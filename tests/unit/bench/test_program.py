"""Every benchmark is a program: what it refuses it says in a line."""

import subprocess
import sys

import pytest
from checkout import ROOT


@pytest.mark.slow
def test_a_model_that_is_unknown_is_said_in_a_line() -> None:
    command = [sys.executable, "-m", "bench.estimator", "gpt5"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert "gpt5" in line
    assert "gpt2" in line, "it says which there are"
