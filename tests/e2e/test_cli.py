"""The command line on real services with a small network: explore, look, export, interrupt, resume."""

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest
from running_service import service_environment, wait_for

pytestmark = pytest.mark.e2e

RUN = [sys.executable, "-c", "from cli.main import run; run()"]


class Cli:
    """Commands on one state directory."""

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


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    return Cli(tmp_path / "home")


def test_explore_look_and_export(cli: Cli, tmp_path: Path):
    found = json.loads(cli("explore", "gpt2", "--budget", "30", "--verify", "2", "--json"))
    exploration, front = found["exploration"], found["front"]
    assert (exploration["state"], exploration["evaluated"]) == ("done", 30)
    assert sum(design["csim"] is not None for design in front) == 2
    # Looking starts no service: nothing is evaluated or simulated while the database is read.
    assert json.loads(cli("pareto", exploration["id"], "--json"))["front"] == front
    assert exploration["id"] in cli("pareto")
    table = cli("pareto", exploration["id"])
    assert "●" in table
    assert "passed" in table
    verified = next(design["id"] for design in front if design["csim"])
    shown = json.loads(cli("design", "show", verified, "--json"))
    assert shown["knobs"] == next(d["knobs"] for d in front if d["id"] == verified)
    cli("design", "export", verified, "--out", str(tmp_path / "d"))
    assert (tmp_path / "d" / "hls" / "top.cpp").is_file()
    assert "is not empty" in cli("design", "export", verified, "--out", str(tmp_path / "d"), code=2)


def test_export_compiles_what_was_not_compiled(cli: Cli, tmp_path: Path):
    front = json.loads(cli("explore", "gpt2", "--budget", "16", "--verify", "0", "--json"))["front"]
    cli("design", "export", front[0]["id"], "--out", str(tmp_path / "d"))
    assert (tmp_path / "d" / "design.json").is_file()


def test_a_design_that_differs_from_pytorch_exits_with_1(cli: Cli):
    assert "FAILED" in cli("explore", "gpt2", "--budget", "16", "--verify", "1", code=1, CSIM="fail")


def test_ctrl_c_keeps_designs_and_leaves_no_process(cli: Cli, tmp_path: Path):
    evaluations = tmp_path / "evaluations"
    process = cli.start("explore", "gpt2", "--budget", "40", SLOW_SECONDS=0.2, EVALUATIONS=evaluations)
    wait_for(lambda: evaluations.is_file() and len(evaluations.read_text().splitlines()) > 18, 60, "evaluations")
    children = psutil.Process(process.pid).children(recursive=True)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "go on with: millrace explore --resume exp_" in errors
    assert psutil.wait_procs(children, timeout=10)[1] == []
    identifier = errors.split()[-1]
    resumed = json.loads(cli("explore", "--resume", identifier, "--json"))
    assert (resumed["exploration"]["state"], resumed["exploration"]["evaluated"]) == ("done", 40)


def test_models(cli: Cli, tmp_path: Path):
    assert "gpt2-medium" in cli("model", "list")
    config = tmp_path / "tiny" / "config.json"
    config.parent.mkdir()
    config.write_text(json.dumps({"model_type": "gpt2", "n_embd": 64, "n_head": 4, "n_layer": 2}))
    assert json.loads(cli("model", "add", str(config), "--json"))["name"] == "tiny"
    assert json.loads(cli("model", "show", "tiny", "--json"))["config"]["n_embd"] == 64
    assert "not a file" in cli("model", "add", str(tmp_path), code=2)


def test_wrong_use_is_explained(cli: Cli):
    assert "known are" in cli("explore", "gpt17", code=2)
    assert "u55c" in cli("explore", "gpt2", "--platform", "u99", code=2)
    assert "there is no exploration" in cli("pareto", "exp_none", code=2)
    assert "millrace up" in cli("explore", "gpt2", "--detach", code=2)
    assert "millrace up" in cli("explore", "gpt2", "--url", "http://127.0.0.1:9", code=3)
