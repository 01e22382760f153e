import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow


def test_worker_process_stays_light() -> None:
    code = (
        "import sys, worker.serving, worker.supervisor; "
        "print([m for m in ('torch', 'optuna', 'numpy', 'compiler.analysis') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
