"""What an earlier release left behind opens now: its database, its store, its design directories (tests/data)."""

import json
import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from compiler.options import Knobs

DATA = Path(__file__).resolve().parents[1] / "data"
MILLRACE = Path(sys.executable).with_name("millrace")

pytestmark = [pytest.mark.e2e, pytest.mark.slow]


@pytest.fixture(scope="module")
def left(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("earlier")
    with tarfile.open(DATA / "cdb5aca.tar.xz") as archive:
        archive.extractall(folder, filter="data") if hasattr(tarfile, "data_filter") else archive.extractall(folder)
    return folder


def millrace(left: Path, *arguments: str) -> str:
    environment = {**os.environ, "MILLRACE_HOME": str(left / "home")}
    command = [str(MILLRACE), *arguments]
    done = subprocess.run(command, cwd=left, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_design_directory_is_simulated_and_proven(left: Path) -> None:
    verdict = json.loads(millrace(left, "csim", "d", "--json"))
    assert verdict["passed"]
    assert verdict["edited"] == []
    simulation = json.loads(millrace(left, "simulate", "d", "--json"))
    assert simulation["deadlock"] is None
    assert simulation["cycles"] > 0


def test_designs_are_listed_exported_and_proven(left: Path) -> None:
    [exploration] = json.loads(millrace(left, "pareto", "--json"))
    assert (exploration["evaluated"], exploration["feasible"], exploration["front_size"]) == (12, 11, 7)
    front = json.loads(millrace(left, "pareto", exploration["id"], "--json"))
    best = min(front["front"], key=lambda design: design["energy_uj"])
    shown = json.loads(millrace(left, "design", "show", best["id"], "--json"))
    assert shown["simulation"]["state"] == "done"
    millrace(left, "design", "export", best["id"], "--out", "exported")
    assert json.loads((left / "exported" / "design.json").read_text())["knobs"] == {
        **Knobs().to_json(),
        **shown["knobs"],
    }
    assert json.loads(millrace(left, "csim", "exported", "--json"))["passed"]
