"""What deploy/ holds, read."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
KUBERNETES = DEPLOY / "kubernetes"


def load(path: Path) -> Any:
    return yaml.safe_load(path.read_text())


def manifests() -> Iterator[tuple[str, dict[str, Any]]]:
    """Every Kubernetes object with a name for it, kustomizations left out."""
    for document in _documents():
        if document["kind"] != "Kustomization":
            yield f"{document['kind']}/{document['metadata']['name']}", document


@cache
def _documents() -> list[Any]:
    """Read once, in C: every process that runs tests asks when it collects them."""
    paths = sorted(KUBERNETES.rglob("*.yaml"))
    return [document for path in paths for document in yaml.load_all(path.read_text(), yaml.CSafeLoader)]


def pod_specs() -> Iterator[tuple[str, dict[str, Any]]]:
    """The pods that the manifests make."""
    for name, manifest in manifests():
        spec = manifest.get("spec", {})
        template = spec.get("jobTargetRef", spec).get("template")
        if template is not None:
            yield name, template["spec"]


def compose() -> dict[str, Any]:
    return load(ROOT / "docker-compose.yml")


def our_commands() -> Iterator[tuple[str, list[str]]]:
    """What our images are told to run."""
    for name, service in compose()["services"].items():
        if "build" in service:
            yield f"compose {name}", service["command"]
    for name, spec in pod_specs():
        for container in spec["containers"]:
            yield name, container["args"]


def texts() -> Iterator[tuple[Path, str]]:
    """Every file that a person deploys with, and the pages that say how."""
    files = (p for p in DEPLOY.rglob("*") if p.is_file() and not {"secrets", "__pycache__"} & {*p.parts})
    for path in (
        *files,
        ROOT / "docker-compose.yml",
        ROOT / "README.md",
        *(ROOT / "docs" / name for name in ("README.md", "installing.md", "running.md")),
    ):
        yield path, path.read_text()


def variables(text: str) -> set[str]:
    """`MILLRACE_*` variables that are named in a text."""
    return set(re.findall(r"\bMILLRACE_[A-Z0-9]+(?:_[A-Z0-9]+)*\b", text))
