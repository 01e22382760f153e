"""The client that a service serves: a wheel as the specification has it, and one that pip takes."""

import base64
import csv
import hashlib
import io
import subprocess
import venv
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from packaging.utils import parse_wheel_filename

from api.services.client_wheel import SOURCES, Wheel, client_wheel

MB = 1_000_000


@pytest.fixture
def wheel() -> Wheel:
    return client_wheel()


def test_the_page_links_the_wheel_which_needs_no_key(client: TestClient, wheel: Wheel) -> None:
    page = client.get("/client/").text
    assert f'href="{wheel.name}#sha256={wheel.digest}"' in page
    assert f"http://127.0.0.1:8642/client/{wheel.name}" in page
    answer = client.get(f"/client/{wheel.name}")
    assert hashlib.sha256(answer.content).hexdigest() == wheel.digest


def test_another_version_is_not_there(client: TestClient, wheel: Wheel) -> None:
    answer = client.get("/client/millrace_fpga-9.9-py3-none-any.whl")
    assert answer.status_code == 404
    assert wheel.name in answer.json()["detail"]


def test_it_is_small_and_always_the_same(wheel: Wheel) -> None:
    assert len(wheel.content) < MB
    client_wheel.cache_clear()
    assert client_wheel() == wheel
    assert str(parse_wheel_filename(wheel.name)[0]) == "millrace-fpga"


def test_its_record_is_of_what_it_holds(wheel: Wheel) -> None:
    with zipfile.ZipFile(io.BytesIO(wheel.content)) as archive:
        [record] = (name for name in archive.namelist() if name.endswith("/RECORD"))
        rows = {name: (digest, size) for name, digest, size in csv.reader(archive.read(record).decode().splitlines())}
        assert set(rows) == set(archive.namelist())
        for name in set(rows) - {record}:
            content = archive.read(name)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
            assert rows[name] == (f"sha256={digest}", str(len(content)))


def test_it_holds_the_package_whole_and_nothing_else(wheel: Wheel) -> None:
    with zipfile.ZipFile(io.BytesIO(wheel.content)) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name}
        [metadata] = (archive.read(name).decode() for name in archive.namelist() if name.endswith("/METADATA"))
    assert held == {f"millrace/{p.name}" for p in (SOURCES / "millrace").iterdir() if p.suffix in (".py", ".typed")}
    fields = Parser().parsestr(metadata)
    assert fields.get_all("Provides-Extra") == ["pandas", "plot", "notebook", "torch"]
    assert fields["Requires-Python"] == ">=3.10"
    assert "import millrace" in fields.get_payload()


@pytest.mark.slow
def test_pip_installs_it_into_an_empty_environment(wheel: Wheel, tmp_path: Path) -> None:
    file = tmp_path / wheel.name
    file.write_bytes(wheel.content)
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv" / "bin" / "python"
    install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(file)]
    done = subprocess.run(install, capture_output=True, text=True, check=False)
    if done.returncode and "No matching distribution found for httpx" in done.stderr:
        pytest.skip("no package index can be reached")
    assert done.returncode == 0, done.stderr
    code = "import millrace, sys; print(millrace.__version__, 'pandas' in sys.modules)"
    said = subprocess.run([str(python), "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert said.stdout.split() == [str(parse_wheel_filename(wheel.name)[1]), "False"]
