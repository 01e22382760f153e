"""The project's own files: pins agree, the start script parses."""

import re
import subprocess
import tomllib
from importlib.metadata import distributions
from pathlib import Path

import pytest
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[3]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
LOCKS = ("requirements.lock", "requirements-test.lock")
# Ours; what Python's own venv brings; and what torch's build for CUDA pins itself.
BROUGHT_ALONG = r"millrace-service==|pip==|torch==.*\+cu|cuda-|nvidia-|triton=="


def test_direct_dependencies_are_pinned_as_in_the_lock():
    product = [*PROJECT["project"]["dependencies"], *PROJECT["build-system"]["requires"]]
    groups = PROJECT["dependency-groups"]
    assert not_in([*product, *groups["setup"]], "requirements.lock") == []
    assert not_in(groups["test"], "requirements-test.lock") == []


def not_in(pins: list[str], lock: str) -> list[str]:
    lines = set((ROOT / lock).read_text().splitlines())
    return [pin for pin in pins if re.sub(r"\[.*?\]", "", pin) not in lines]


def test_what_is_installed_is_what_the_locks_pin():
    """On every Python: a package that only another one needs would come without its pin."""
    pinned = {line for lock in LOCKS for line in (ROOT / lock).read_text().splitlines()}
    installed = {f"{canonicalize_name(d.name)}=={d.version.removesuffix('+cpu')}" for d in distributions()}
    assert {i for i in installed - pinned if not re.match(BROUGHT_ALONG, i)} == set()


@pytest.mark.parametrize("lock", LOCKS)
def test_lock_names_no_host(lock: str):
    assert "://" not in (ROOT / lock).read_text()


def test_the_start_script_takes_the_pythons_of_the_project():
    with (ROOT / "pyproject.toml").open("rb") as file:
        wanted = tomllib.load(file)["project"]["requires-python"]
    [(oldest, newest)] = re.findall(r"^oldest=(\d+) newest=(\d+)", (ROOT / "millrace").read_text(), re.MULTILINE)
    assert wanted == f">=3.{oldest},<3.{int(newest) + 1}"


def test_scripts_parse():
    for script in ("millrace", ".ci/run", "deploy/lock"):
        subprocess.run(["bash", "-n", str(ROOT / script)], check=True)
