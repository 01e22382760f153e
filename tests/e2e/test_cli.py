"""The command line on real services with a small network: explore, look, export, interrupt, resume."""

import json
import signal
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import psutil
import pytest
from processes import PATIENCE, wait_for
from running_service import service_environment, service_starter

pytestmark = pytest.mark.e2e

RUN = [sys.executable, "-c", "from cli.main import run; run()"]


class Cli:
    """Commands on one state directory: they join the service that runs there, or start their own."""

    def __init__(self, home: Path) -> None:
        self.environment = service_environment(home)

    def start(self, *arguments: str, **extra: Any) -> subprocess.Popen[str]:
        environment = self.environment | {k: str(v) for k, v in extra.items()}
        pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        return subprocess.Popen([*RUN, *arguments], env=environment, start_new_session=True, **pipes)

    def __call__(self, *arguments: str, code: int = 0, **extra: Any) -> str:
        with self.start(*arguments, **extra) as process:
            output, errors = process.communicate(timeout=120)
        assert process.returncode == code, output + errors
        return output or errors


@pytest.fixture(scope="module")
def joined(tmp_path_factory: pytest.TempPathFactory) -> Generator[Cli]:
    """Commands beside a running `up`."""
    folder = tmp_path_factory.mktemp("cli")
    with service_starter(folder) as start:
        yield Cli(start().home)


@pytest.fixture
def alone(tmp_path: Path) -> Cli:
    """Commands that bring their own service."""
    return Cli(tmp_path / "home")


def test_explore_look_and_export(joined: Cli, tmp_path: Path):
    few = ("--simulate", "3", "--calibration", "1", "--verify", "2")
    found = json.loads(joined("explore", "gpt2", "--budget", "30", *few, "--json"))
    exploration, front = found["exploration"], found["front"]
    assert (exploration["state"], exploration["evaluated"]) == ("done", 30)
    assert sum(design["csim"] is not None for design in front) == 2
    table = joined("pareto", exploration["id"])
    assert "●" in table
    assert "-20.0 %" in table
    assert "off by median 20.0 %" in table
    assert "passed" in table
    assert exploration["id"] in joined("pareto")
    verified = next(design for design in front if design["csim"])
    assert json.loads(joined("design", "show", verified["id"], "--json"))["knobs"] == verified["knobs"]
    joined("design", "export", verified["id"], "--out", str(tmp_path / "d"))
    assert (tmp_path / "d" / "hls" / "top.cpp").is_file()
    assert "is not empty" in joined("design", "export", verified["id"], "--out", str(tmp_path / "d"), code=2)


def test_export_compiles_what_was_not_compiled(joined: Cli, tmp_path: Path):
    none = ("--simulate", "0", "--calibration", "0", "--verify", "0")
    front = json.loads(joined("explore", "gpt2", "--budget", "16", *none, "--json"))["front"]
    joined("design", "export", front[0]["id"], "--out", str(tmp_path / "d"))
    assert (tmp_path / "d" / "design.json").is_file()


def test_models(joined: Cli, tmp_path: Path):
    assert "gpt2-medium" in joined("model", "list")
    config = tmp_path / "tiny" / "config.json"
    config.parent.mkdir()
    config.write_text(json.dumps({"model_type": "gpt2", "n_embd": 64, "n_head": 4, "n_layer": 2}))
    assert json.loads(joined("model", "add", str(config), "--json"))["name"] == "tiny"
    assert json.loads(joined("model", "show", "tiny", "--json"))["config"]["n_embd"] == 64


def test_what_the_service_refuses_is_wrong_use(joined: Cli):
    assert "known are" in joined("explore", "gpt17", code=2)
    assert "u55c" in joined("explore", "gpt2", "--platform", "u99", code=2)


def test_no_service_at_an_address(alone: Cli):
    assert "millrace up" in alone("explore", "gpt2", "--server", "http://127.0.0.1:9", code=3)


def test_ctrl_c_keeps_designs_and_leaves_no_process(alone: Cli, tmp_path: Path):
    evaluations = tmp_path / "evaluations"
    arguments = ("explore", "gpt2", "--budget", "40", "--simulate", "3", "--calibration", "0")
    process = alone.start(*arguments, SLOW_SECONDS=0.2, EVALUATIONS=evaluations)
    wait_for(lambda: evaluations.is_file() and len(evaluations.read_text().splitlines()) > 18, PATIENCE, "evaluations")
    children = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert "go on with: millrace explore --resume gpt2-decode-64-w4a8" in errors
    assert psutil.wait_procs(children, timeout=PATIENCE)[1] == []
    # A verdict of the resumed half is bad, so the answer is no; looking at it afterwards starts no service.
    identifier = errors.split()[-1]
    resumed = json.loads(alone("explore", "--resume", identifier, "--json", code=1, CSIM="fail"))
    assert (resumed["exploration"]["state"], resumed["exploration"]["evaluated"]) == ("done", 40)
    assert json.loads(alone("pareto", identifier, "--json", code=1)) == resumed
