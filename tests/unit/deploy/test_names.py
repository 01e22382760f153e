"""What deploy/, the compose file and the documentation name exists: settings, commands, modules; and no registry."""

import re
from importlib.util import find_spec
from pathlib import Path

import pytest
from deploy_files import ROOT, our_commands, texts, variables
from typer.testing import CliRunner

from cli.main import app
from worker.settings import Settings

# Read by the start script, the command line, the tests, or docker-compose.yml itself.
OTHERS = {
    "MILLRACE_PYTHON", "MILLRACE_TORCH_INDEX", "MILLRACE_SERVER", "MILLRACE_API_KEY", "MILLRACE_TEST_POSTGRES_URL",
    "MILLRACE_TEST_REDIS_URL",
    "MILLRACE_DATABASE_PASSWORD", "MILLRACE_REDIS_PASSWORD", "MILLRACE_METRICS_KEY_FILE", "MILLRACE_VITIS",
}  # fmt: skip
SETTINGS = {f"MILLRACE_{name.upper()}" for name in Settings.model_fields}
TEXTS = dict(texts())


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_variables_exist(path: Path) -> None:
    assert variables(TEXTS[path]) - SETTINGS - OTHERS == set()


def test_every_setting_is_documented() -> None:
    internal = {"MILLRACE_STAGES", "MILLRACE_WEB_DIST", "MILLRACE_LEASE_SECONDS", "MILLRACE_REAP_SECONDS"}
    described = {name for path, text in TEXTS.items() if path.suffix == ".md" for name in variables(text)}
    assert SETTINGS - internal - described == set()


@pytest.mark.parametrize(("name", "command"), list(our_commands()))
def test_commands_of_images_exist(name: str, command: list[str]) -> None:
    if command[0] == "millrace":
        assert CliRunner().invoke(app, [*command[1:], "--help"]).exit_code == 0
        return
    assert command[:2] == ["python", "-m"]
    found = find_spec(command[2])
    assert found is not None
    if found.submodule_search_locations is not None:  # a package
        assert find_spec(f"{command[2]}.__main__") is not None


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_image_names_a_registry(path: Path) -> None:
    images = re.findall(r"^\s*(?:image:|FROM)\s+(\S+)", TEXTS[path], re.MULTILINE)
    assert [image for image in images if re.match(r"[\w-]+(?:\.[\w-]+)+(?::\d+)?/", image)] == []
