"""Set-up of `.venv`: where torch comes from, how much room it takes, how it goes on. uv, pip and Python are made up.

Real ones are set up by tests/fresh.
"""

import importlib.util
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[3]
ROOM = 100 * 10**9  # bytes free, whatever this machine has

# Has a CPU build where one of the arguments names CPU_PLACE; notes each call; FAIL in the folder has an installation
# fail, and one hangs where `installing` is a pipe to tell its process through.
UV = """#!/bin/sh
echo "$@" >> {folder}/calls
case "$*" in
"cache dir") echo {folder}/cache ;;
"pip compile"*)
    case "$*" in
    *cpu-place*) echo torch==2.13.0+cpu ;;
    *no-answer*|*torch-backend*) echo "error: dns" >&2; exit 2 ;;
    *) echo torch==2.13.0 ;;
    esac ;;
"pip install"*)
    if [ -e {folder}/installing ]; then echo $$ > {folder}/installing; exec sleep 600; fi
    if [ -e {folder}/FAIL ]; then echo "No space left on device"; exit 2; fi ;;
esac
"""
# Stands in for `.venv/bin/python`: pip's settings, the installation of uv, what is loaded once; notes each call.
PYTHON = """#!/bin/sh
echo "$@" >> {folder}/calls
case "$*" in
*"config list"*) cat {folder}/pip.conf ;;
esac
"""


@pytest.fixture
def setup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module, on a checkout of its own, whose environments are made of stand-ins."""
    spec = importlib.util.spec_from_file_location("environment", ROOT / "deploy" / "environment.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    venv = tmp_path / "checkout" / ".venv"
    venv.parent.mkdir()
    monkeypatch.delenv("MILLRACE_TORCH_INDEX", raising=False)
    for name, value in {
        "ROOT": venv.parent,
        "VENV": venv,
        "PYTHON": venv / "bin" / "python",
        "UV": venv / "bin" / "uv",
        "UNFINISHED": venv / ".unfinished",
        "CACHE": venv / ".cache",
    }.items():
        monkeypatch.setattr(module, name, value)
    usage = shutil.disk_usage
    monkeypatch.setattr(module.shutil, "disk_usage", lambda path: usage(path)._replace(free=ROOM))
    (tmp_path / "pip.conf").write_text("")
    (tmp_path / "calls").touch()
    make = tmp_path / "make"  # stands in for the Python that `millrace` has found
    make.write_text(
        f"#!/bin/sh\nmkdir -p {venv}/bin\ncp {tmp_path}/python {tmp_path}/uv {venv}/bin\n"
        f"echo executable = {make} > {venv}/pyvenv.cfg\necho $@ >> {tmp_path}/calls\n"
    )
    for path, script in ((tmp_path / "python", PYTHON), (tmp_path / "uv", UV)):
        path.write_text(script.format(folder=tmp_path))
    for path in ("make", "python", "uv"):
        (tmp_path / path).chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(make))
    return module


def calls(folder: Path, command: str) -> list[str]:
    return [line for line in (folder / "calls").read_text().splitlines() if line.startswith(command)]


def test_the_parts_are_installed_from_their_locks(setup: ModuleType, tmp_path: Path):
    assert setup.main("product", "1") == 0
    assert "requirements-test.lock" not in (tmp_path / "calls").read_text()
    assert setup.main("test", "2") == 0
    *_, tests = calls(tmp_path, "pip install")
    assert "requirements.lock" in tests
    assert "requirements-test.lock" in tests
    assert not setup.UNFINISHED.exists()


def test_parts_that_are_asked_for_together_are_installed_together(setup: ModuleType, tmp_path: Path):
    assert setup.main("product", "1", "test", "2") == 0
    packages, _itself = calls(tmp_path, "pip install --python")
    assert packages.index("requirements.lock") < packages.index("requirements-test.lock")
    assert {part: (setup.VENV / f".ready-{part}").read_text() for part in ("product", "test")} == {
        "product": "1",
        "test": "2",
    }


def test_what_the_importer_loads_is_kept_compiled_once_all_is_installed(setup: ModuleType, tmp_path: Path):
    assert setup.main("product", "1") == 0
    *_, installed, loaded = (tmp_path / "calls").read_text().splitlines()
    assert "--editable" in installed
    assert loaded == "-m compiler.frontend.warm"
    assert setup.main("test", "2") == 0
    assert len(calls(tmp_path, loaded)) == 1


def test_of_an_environment_of_another_python_nothing_stays(setup: ModuleType):
    assert setup.main("product", "1") == 0
    assert setup.main("test", "2") == 0
    (setup.VENV / "lib" / "python3.9").mkdir(parents=True)
    (setup.VENV / "pyvenv.cfg").write_text("executable = /usr/bin/python3.9\n")
    assert setup.main("product", "1") == 0
    assert not (setup.VENV / "lib").exists()
    assert not (setup.VENV / ".ready-test").exists()


def test_a_changed_lock_keeps_the_environment(setup: ModuleType):
    (setup.VENV / "lib" / "python3.9").mkdir(parents=True)
    (setup.VENV / "pyvenv.cfg").write_text(f"executable = {sys.executable}\n")
    (setup.VENV / ".ready-product").write_text("0")
    assert setup.main("product", "1") == 0
    assert (setup.VENV / "lib" / "python3.9").exists()


@pytest.mark.parametrize(
    ("configured", "option"),
    [
        (":env:.find-links='/cpu-place'", "--find-links=/cpu-place"),
        ("global.extra-index-url='http://a/simple\\nhttp://cpu-place/simple'", "--index=http://cpu-place/simple"),
        ("global.index-url='http://cpu-place/simple'", "--default-index=http://cpu-place/simple"),
    ],
)
def test_a_cpu_build_is_taken_where_pip_s_configuration_offers_one(
    setup: ModuleType, tmp_path: Path, configured: str, option: str, capsys: pytest.CaptureFixture[str]
):
    (tmp_path / "pip.conf").write_text(configured)
    assert setup.main("product", "1") == 0
    assert all(option in call for call in calls(tmp_path, "pip install"))
    assert "CUDA" not in capsys.readouterr().err


def test_else_the_size_is_said_before_anything_is_downloaded_and_the_way_to_avoid_it(
    setup: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    assert setup.main("product", "1") == 0
    said, _, done = capsys.readouterr().err.partition("packages")
    assert f"takes {setup.SIZES['product', 'cuda'].disk} GB" in said
    assert "MILLRACE_TORCH_INDEX" in said
    assert done


def test_an_index_that_is_named_is_asked(setup: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MILLRACE_TORCH_INDEX", "http://cpu-place")
    assert setup.main("product", "1") == 0
    assert all("--index=http://cpu-place" in call for call in calls(tmp_path, "pip install"))


@pytest.mark.parametrize("place", ["http://cuda", "http://no-answer"])
def test_an_index_without_a_cpu_build_is_refused(
    setup: ModuleType, tmp_path: Path, place: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("MILLRACE_TORCH_INDEX", place)
    assert setup.main("product", "1") == 3
    assert f"MILLRACE_TORCH_INDEX={place} has no CPU build of torch==" in capsys.readouterr().err
    assert not calls(tmp_path, "pip install")


def test_too_little_room_is_said_before_it_starts(
    setup: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    usage = setup.shutil.disk_usage
    monkeypatch.setattr(setup.shutil, "disk_usage", lambda path: usage(path)._replace(free=int(1e9)))
    assert setup.main("product", "1") == 3
    assert "1.0 are free" in capsys.readouterr().err
    assert not calls(tmp_path, "pip install")
    monkeypatch.setattr(setup.shutil, "disk_usage", usage)
    assert setup.main("product", "1") == 0  # room was made


def test_what_was_downloaded_before_an_interruption_need_not_fit_again(
    setup: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    needed = setup.SIZES["product", "cuda"].disk * 1e9
    usage = setup.shutil.disk_usage
    (tmp_path / "FAIL").touch()
    monkeypatch.setattr(setup.shutil, "disk_usage", lambda path: usage(path)._replace(free=int(needed * 1.1)))
    assert setup.main("product", "1") == 3
    (tmp_path / "FAIL").unlink()
    monkeypatch.setattr(setup.shutil, "disk_usage", lambda path: usage(path)._replace(free=int(needed * 0.5)))
    assert setup.main("product", "1") == 0


def test_a_failed_installation_shows_why_and_leaves_its_downloads(
    setup: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    (tmp_path / "FAIL").touch()
    assert setup.main("product", "1") == 3
    said = capsys.readouterr().err
    assert "No space left on device" in said
    assert "goes on where this one stopped" in said
    setup.CACHE.mkdir()
    (setup.CACHE / "wheel").touch()
    (setup.VENV / "lib").mkdir()
    (setup.VENV / "lib" / "half").touch()
    (tmp_path / "FAIL").unlink()
    kept: list[bool] = []
    find_torch = setup._find_torch
    monkeypatch.setattr(
        setup, "_find_torch", lambda *given: kept.append((setup.CACHE / "wheel").exists()) or find_torch(*given)
    )
    assert setup.main("product", "1") == 0
    assert kept == [True]
    assert not setup.CACHE.exists()
    assert not (setup.VENV / "lib").exists()


def start(setup: ModuleType, folder: Path) -> subprocess.Popen[str]:
    """A set-up in a process of its own."""
    names = ("ROOT", "VENV", "PYTHON", "UV", "UNFINISHED", "CACHE")
    places = "\n".join(f"e.{name} = Path({str(getattr(setup, name))!r})" for name in names)
    driver = folder / "driver.py"
    driver.write_text(
        "import sys\nfrom pathlib import Path\nsys.path.insert(0, sys.argv[1])\nimport environment as e\n"
        f"{places}\nsys.executable = {sys.executable!r}\n"
        f"usage = e.shutil.disk_usage\ne.shutil.disk_usage = lambda path: usage(path)._replace(free={ROOM})\n"
        "sys.exit(e.main('product', '1'))\n"
    )
    command = [str(ROOT / ".venv" / "bin" / "python"), str(driver), str(ROOT / "deploy")]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)


def test_of_two_at_once_one_waits_and_does_nothing(setup: ModuleType, tmp_path: Path):
    gate = tmp_path / "gate"  # the first set-up's environment is made when the test opens it
    os.mkfifo(gate)
    make = tmp_path / "make"
    make.write_text(make.read_text().replace("#!/bin/sh\n", f"#!/bin/sh\ncat {gate} > /dev/null\n"))
    first = start(setup, tmp_path)
    with gate.open("w"):  # opens once the first is at it
        second = start(setup, tmp_path)
        assert second.stderr is not None
        assert "another set-up is running" in second.stderr.readline()
    for process in (first, second):
        process.communicate(timeout=120)
        assert process.returncode == 0
    assert len(calls(tmp_path, "-m venv")) == 1


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_ends_what_runs_and_the_next_set_up_goes_on(
    setup: ModuleType, tmp_path: Path, how: signal.Signals, capsys: pytest.CaptureFixture[str]
):
    os.mkfifo(tmp_path / "installing")
    process = start(setup, tmp_path)
    installer = int((tmp_path / "installing").read_text())  # as soon as it writes there
    process.send_signal(how)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "goes on where it stopped" in said
    with pytest.raises(ProcessLookupError):
        os.kill(installer, 0)
    (tmp_path / "installing").unlink()
    assert setup.main("product", "1") == 0
    assert "the last set-up was interrupted: going on" in capsys.readouterr().err


def test_somebody_else_s_folder_is_said(
    setup: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    def refuse(*_given: object, **_options: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "mkdir", refuse)
    assert setup.main("product", "1") == 3
    assert "clone Millrace to a folder that is yours" in capsys.readouterr().err
