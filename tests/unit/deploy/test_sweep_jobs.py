"""deploy/sweeps: a sweep as a job of GitLab, GitHub, systemd and Kubernetes."""

import configparser
import json
import subprocess
from collections.abc import Iterator
from typing import Any

import kubernetes_validate
import pytest
import typer
from deploy_files import DEPLOY, load
from needed import need

from cli.main import app

SWEEPS = DEPLOY / "sweeps"
KUBERNETES_VERSION = "1.31"


def unit(name: str) -> configparser.ConfigParser:
    parser = configparser.ConfigParser(strict=False, interpolation=None)
    parser.read(SWEEPS / name)
    return parser


def calls() -> Iterator[tuple[str, list[str]]]:
    yield "gitlab", load(SWEEPS / "gitlab-ci.yml")["millrace-sweep"]["script"][0].split()
    steps = load(SWEEPS / "github-actions.yml")["jobs"]["sweep"]["steps"]
    yield "github", steps[0]["run"].split()
    yield "systemd", unit("millrace-sweep.service")["Service"]["ExecStart"].split()
    yield "kubernetes", container()["args"]


def container() -> dict[str, Any]:
    job = load(SWEEPS / "cronjob.yaml")["spec"]["jobTemplate"]["spec"]
    return job["template"]["spec"]["containers"][0]


@pytest.mark.parametrize(("where", "call"), [*calls()], ids=[where for where, _ in calls()])
def test_each_runs_the_sweep_to_its_end(where: str, call: list[str]) -> None:
    program, *rest = call
    assert program in ("millrace", "/opt/millrace/millrace")
    command: Any = typer.main.get_command(app)
    for word in rest[:2]:
        command = command.commands[word]
    context = command.context_class(command, **command.context_settings)
    values, left, _ = command.make_parser(context).parse_args(rest[2:])
    assert not left
    assert values["name"] == "nightly"
    assert values["wait"]
    assert str(values["junit"]).endswith("sweep.xml")
    assert str(values["summary"]).endswith("sweep.md")


def test_gitlab_reads_the_report_also_of_a_failure() -> None:
    artifacts = load(SWEEPS / "gitlab-ci.yml")["millrace-sweep"]["artifacts"]
    assert (artifacts["when"], artifacts["reports"]["junit"]) == ("always", "sweep.xml")


def test_github_shows_the_summary_also_of_a_failure() -> None:
    workflow = load(SWEEPS / "github-actions.yml")
    _run, show, keep = workflow["jobs"]["sweep"]["steps"]
    assert show["if"] == keep["if"] == "always()"
    assert "sweep.md" in show["run"]
    assert workflow[True]["schedule"] == [{"cron": "0 3 * * *"}]  # YAML reads the key `on` as true


def test_kubernetes_takes_the_cron_job() -> None:
    manifest = load(SWEEPS / "cronjob.yaml")
    kubernetes_validate.validate(json.loads(json.dumps(manifest)), KUBERNETES_VERSION, strict=True)
    assert container()["securityContext"]["readOnlyRootFilesystem"] is True
    mounts = {mount["mountPath"] for mount in container()["volumeMounts"]}
    assert "/out" in mounts  # where the files go, for the rest can not be written


@pytest.mark.parametrize("name", ["millrace-sweep.service", "millrace-sweep.timer"])
def test_systemd_understands_it(name: str) -> None:
    need("systemd-analyze")
    done = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", str(SWEEPS / name)], capture_output=True, text=True, check=False
    )
    lines = [line for line in done.stderr.splitlines() if name in line and "is not executable" not in line]
    assert lines == []
