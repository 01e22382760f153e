"""The committed bundle of the dashboard."""

import subprocess
import sys
from pathlib import Path

WEB = Path(__file__).resolve().parents[3] / "web"
MAX_SCRIPT_BYTES = 1_000_000


def test_the_bundle_was_built_from_the_sources() -> None:
    check = subprocess.run([sys.executable, WEB / "check_dist.py"], capture_output=True, text=True, check=False)
    assert check.returncode == 0, check.stdout


def test_the_bundle_stays_lean() -> None:
    assert sum(f.stat().st_size for f in (WEB / "dist" / "assets").glob("*.js")) < MAX_SCRIPT_BYTES


def test_the_lock_file_names_no_registry() -> None:
    assert '"resolved"' not in (WEB / "package-lock.json").read_text()
