"""The project's own files: pins agree, the start script parses."""

import re
import subprocess
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def test_direct_dependencies_are_pinned_as_in_the_lock():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    build = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
    lock = set((ROOT / "requirements.lock").read_text().splitlines())
    direct = [*project["dependencies"], *project["optional-dependencies"]["dev"], *build]
    assert [d for d in direct if re.sub(r"\[.*?\]", "", d) not in lock] == []


def test_lock_names_no_host():
    assert "://" not in (ROOT / "requirements.lock").read_text()


def test_start_script_parses():
    for script in ("millrace", ".ci/run"):
        subprocess.run(["bash", "-n", str(ROOT / script)], check=True)
