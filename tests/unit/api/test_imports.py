import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow


def test_api_loads_no_torch() -> None:
    code = (
        "import sys, api.app; "
        "print([m for m in ('torch', 'torch_mlir', 'transformers', 'optuna', 'alembic', 'celery') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
