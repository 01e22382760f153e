"""docker-compose.yml and the images that it builds."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from deploy_files import DEPLOY, ROOT, compose

SERVICES: dict[str, dict[str, Any]] = compose()["services"]
OURS = {name: service for name, service in SERVICES.items() if "build" in service}
BIN = Path(sys.executable).parent


def targets() -> list[str]:
    return re.findall(r"^FROM \S+ AS (\w+)$", (DEPLOY / "Dockerfile").read_text(), re.MULTILINE)


def test_compose_file_follows_the_specification() -> None:
    tool = [str(BIN / "check-jsonschema"), "--builtin-schema", "vendor.compose-spec"]
    done = subprocess.run([*tool, str(ROOT / "docker-compose.yml")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_dockerfile_passes_the_lint() -> None:
    tool = [str(BIN / "hadolint"), "--no-color", "--config", str(DEPLOY / ".hadolint.yaml")]
    done = subprocess.run([*tool, str(DEPLOY / "Dockerfile")], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_service_has_a_target_of_the_dockerfile() -> None:
    assert {service["build"]["target"] for service in OURS.values()} == {"api", "worker", "scheduler", "node"}
    assert set(targets()) >= {service["build"]["target"] for service in OURS.values()}


def test_images_run_what_compose_runs() -> None:
    text = (DEPLOY / "Dockerfile").read_text()
    for service in OURS.values():
        stage = text.split(f" AS {service['build']['target']}\n")[1].partition("\nFROM ")[0]
        assert f"CMD {service['command']}".replace("'", '"') in stage


def test_what_an_image_needs_is_not_kept_from_the_build() -> None:
    kept = (ROOT / ".dockerignore").read_text().splitlines()
    needed = ["api", "cli", "compiler", "db", "dse", "worker", "web/dist", "README.md", "LICENSE", "NOTICE"]
    assert kept[0] == "*"
    assert {f"!{name}" for name in (*needed, "pyproject.toml", "requirements.lock")} <= set(kept)
    assert [name for name in needed if not (ROOT / name).exists()] == []


@pytest.mark.parametrize("name", SERVICES)
def test_every_service_is_bounded_and_confined(name: str) -> None:
    service = SERVICES[name]
    assert service["deploy"]["resources"]["limits"]["memory"]
    if name == "postgres":  # its image prepares its folder as root
        return
    assert service["read_only"]
    assert service["cap_drop"] == ["ALL"]
    assert "no-new-privileges:true" in service["security_opt"]


def test_no_port_is_open_to_the_network() -> None:
    ports = [str(port) for service in SERVICES.values() for port in service.get("ports", ())]
    assert ports
    assert all(port.startswith("127.0.0.1:") for port in ports)


def test_no_secret_has_a_default() -> None:
    text = (ROOT / "docker-compose.yml").read_text()
    secrets = re.findall(r"\$\{(\w*(?:PASSWORD|SECRET)\w*)([^}]*)\}", text)
    assert secrets
    assert [(name, rest) for name, rest in secrets if not rest.startswith(":?") and rest != ":-"] == []


def test_dependencies_and_volumes_exist() -> None:
    found = compose()
    named = set(found["volumes"])
    for name, service in SERVICES.items():
        for volume in service.get("volumes", ()):
            source = volume.partition(":")[0]
            assert source.startswith(("/", ".", "$")) or source in named, (name, volume)
            if source.startswith("./"):
                assert (ROOT / source).is_dir(), volume
        assert set(service.get("depends_on", ())) <= set(SERVICES)
        for waited in service.get("depends_on", ()):
            assert "healthcheck" in SERVICES[waited]


def test_workers_have_time_to_give_back() -> None:
    for name in ("worker", "vitis"):
        assert int(SERVICES[name]["stop_grace_period"].removesuffix("s")) >= 30


def test_uploads_do_not_wait_in_memory() -> None:
    api = SERVICES["api"]
    mounted = {volume.split(":")[1] for volume in api["volumes"]}
    assert api["environment"]["TMPDIR"] in mounted - set(api["tmpfs"])


def test_who_checks_webhooks_and_who_calls_them_know_the_same_hosts() -> None:
    listed = [SERVICES[name]["environment"]["MILLRACE_WEBHOOK_HOSTS"] for name in ("api", "scheduler")]
    assert listed[0] == listed[1]


def test_no_password_is_on_a_command_line() -> None:
    """The host's users can read the command lines of its containers."""
    for name, service in SERVICES.items():
        for part in service.get("command", []):
            line = part.partition("<<")[0]  # what follows is standard input
            assert "PASSWORD" not in line, f"{name}: {line}"
