"""`millrace`, the start script, on machines that lack things: its own tools are there, all else is made up.

That it sets up real machines is shown by tests/fresh.
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
TOOLS = (
    "bash",
    "cat",
    "chmod",
    "dirname",
    "grep",
    "mkdir",
    "mktemp",
    "readlink",
    "rm",
    "sed",
    "sha256sum",
    "tail",
    "touch",
)
NEEDED = ("millrace", "pyproject.toml", "requirements.lock", "requirements-test.lock", "deploy/system-packages")

# Answers what the script asks of a Python, and sets up an environment whose `millrace` says who made it.
PYTHON = r"""#!/bin/sh
case "$*" in
*ensurepip*) exit {no_venv} ;;
*version_info*) exit {no_fit} ;;
esac
venv=$(dirname "$(dirname "$1")")/.venv
mkdir -p "$venv/bin"
echo "#!/bin/sh\necho made by {name}, asked for \$*" > "$venv/bin/millrace"
touch "$venv/bin/python"
chmod +x "$venv/bin/millrace" "$venv/bin/python"
echo "executable = $(readlink -f "$0")" > "$venv/pyvenv.cfg"
shift
echo "$1" "$3" >> "$venv/made"
while [ $# -gt 0 ]; do printf %s "$2" > "$venv/.ready-$1"; shift 2; done
"""


class Machine:
    """A checkout, a PATH, and a user who may not install."""

    def __init__(self, folder: Path) -> None:
        self.checkout, self.bin = folder / "checkout", folder / "bin"
        for path in NEEDED:
            (self.checkout / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / path, self.checkout / path)
        self.bin.mkdir()
        for tool in TOOLS:
            (self.bin / tool).symlink_to(shutil.which(tool) or pytest.fail(f"no {tool}"))
        self.give("id", "#!/bin/sh\necho 1000\n")

    def give(self, name: str, script: str = "#!/bin/sh\n") -> None:
        """A program in PATH."""
        path = self.bin / name
        path.unlink(missing_ok=True)
        path.write_text(script)
        path.chmod(0o755)

    def give_python(self, name: str, fits: bool = True, venv: bool = True) -> None:
        self.give(name, PYTHON.format(name=name, no_venv=int(not venv), no_fit=int(not fits)))

    def run(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(self.checkout / "millrace"), *arguments],
            env={"PATH": str(self.bin), **environment},
            capture_output=True,
            text=True,
            check=False,
        )


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_one_message_names_everything_that_is_missing_and_nothing_is_left(machine: Machine):
    done = machine.run("demo")
    assert done.returncode == 3
    assert "Python 3.11 to 3.14 with its module venv" in done.stderr
    assert "g++, which builds" in done.stderr
    assert done.stderr.count("run this again") == 1
    assert not (machine.checkout / ".venv").exists()


def test_a_python_without_venv_is_not_enough(machine: Machine):
    machine.give("g++")
    machine.give_python("python3", venv=False)
    done = machine.run("demo")
    assert done.returncode == 3
    assert "venv" in done.stderr
    assert "g++," not in done.stderr


def test_the_command_line_is_told_how_it_was_called(machine: Machine):
    machine.give("g++")
    machine.give_python("python3")
    machine.run("demo")
    (machine.checkout / ".venv/bin/millrace").write_text("#!/bin/sh\necho called $MILLRACE_PROGRAM\n")
    assert machine.run("demo").stdout == f"called {machine.checkout}/millrace\n"


def test_the_newest_that_fits_is_taken(machine: Machine):
    machine.give("g++")
    machine.give_python("python3.10", fits=False)
    machine.give_python("python3.12")
    machine.give_python("python3.13")
    machine.give_python("python3", fits=False)
    assert machine.run("demo").stdout == "made by python3.13, asked for demo\n"


def test_one_that_makes_environments_is_better_than_a_newer_one_that_does_not(machine: Machine):
    machine.give("g++")
    machine.give_python("python3.13", venv=False)
    machine.give_python("python3.12")
    assert "made by python3.12" in machine.run("demo").stdout


def test_a_name_without_a_python_behind_it_is_passed_over(machine: Machine):
    """As pyenv has them."""
    machine.give("g++")
    machine.give("python3.14", "#!/bin/sh\nexit 127\n")
    machine.give_python("python3")
    assert "made by python3," in machine.run("demo").stdout


def test_the_python_that_is_named_is_taken(machine: Machine):
    machine.give("g++")
    machine.give_python("python3.13")
    machine.give_python("mine")
    assert "made by mine" in machine.run("demo", MILLRACE_PYTHON="mine").stdout
    assert "made by mine" in machine.run("demo", MILLRACE_PYTHON="mine").stdout
    assert "made by mine" in machine.run("demo").stdout
    assert "made by python3.13" in machine.run("demo", MILLRACE_PYTHON="python3.13").stdout


@pytest.mark.parametrize("named", ["nowhere", "old", "bare"])
def test_a_named_python_that_does_not_do_is_refused(machine: Machine, named: str):
    machine.give("g++")
    machine.give_python("python3.13")
    machine.give_python("old", fits=False)
    machine.give_python("bare", venv=False)
    done = machine.run("demo", MILLRACE_PYTHON=named)
    assert done.returncode == 3
    assert f"MILLRACE_PYTHON={named}" in done.stderr
    assert not (machine.checkout / ".venv").exists()


def test_nothing_is_set_up_twice(machine: Machine):
    machine.give("g++")
    machine.give_python("python3")
    machine.run("demo")
    machine.give_python("python3.13")
    assert "made by python3," in machine.run("demo").stdout


def test_what_tests_need_is_set_up_with_the_product_where_neither_is_there(machine: Machine):
    machine.give("g++")
    machine.give_python("python3")
    for _ in range(2):
        assert machine.run("test").returncode == 0
    made = machine.checkout / ".venv" / "made"
    assert made.read_text() == "product test\n"
    (machine.checkout / "requirements-test.lock").write_text("pytest==9\n")
    shutil.copy(machine.bin / "python3", machine.checkout / ".venv" / "bin" / "python")
    assert machine.run("test").returncode == 0
    assert made.read_text() == "product test\ntest \n"


@pytest.mark.parametrize("change", ["lock", "moved", "unfinished", "python"])
def test_set_up_is_done_again(machine: Machine, change: str):
    machine.give("g++")
    machine.give_python("python3")
    machine.run("demo")
    machine.give_python("python3.13")
    if change == "lock":
        (machine.checkout / "requirements.lock").write_text("torch==3\n")
    elif change == "moved":
        machine.checkout = machine.checkout.rename(machine.checkout.with_name("elsewhere"))
    elif change == "unfinished":
        (machine.checkout / ".venv" / ".unfinished").touch()
    else:  # the distribution's Python went with an upgrade
        (machine.checkout / ".venv" / "bin" / "python").unlink()
    done = machine.run("demo")
    assert "made by python3.13" in done.stdout


def test_tests_run_without_what_they_lack_and_it_is_said(machine: Machine):
    machine.give("g++")
    machine.give_python("python3")
    assert machine.run("demo").returncode == 0
    shutil.copy(machine.bin / "python3", machine.checkout / ".venv" / "bin" / "python")
    done = machine.run("test")
    assert done.returncode == 0
    assert "Chromium, for the tests of the dashboard" in done.stderr
    assert "the tests that need it are skipped" in done.stderr
    assert os.access(machine.checkout / ".venv" / ".ready-test", os.R_OK)


@pytest.mark.skipif(shutil.which("apt-get") is None, reason="no machine with apt")
def test_a_package_that_apt_does_not_know_keeps_no_other_from_being_installed(machine: Machine):
    """Ubuntu has no Chromium among its packages."""
    for name in ("g++", "dpkg", "flock"):
        machine.give(name)
    machine.give_python("python3")
    assert machine.run("demo").returncode == 0
    shutil.copy(machine.bin / "python3", machine.checkout / ".venv" / "bin" / "python")
    machine.give("id", "#!/bin/sh\necho 0\n")
    machine.give("apt-cache", "#!/bin/sh\ncase $2 in chromium*) exit 100 ;; esac\n")
    made = f"echo '#!/bin/sh' > {machine.bin}/verilator; chmod +x {machine.bin}/verilator"
    machine.give("apt-get", f'#!/bin/sh\ncase "$*" in *chromium*) exit 100 ;; *" verilator "*) {made} ;; esac\n')
    done = machine.run("test")
    assert "installing with apt: " in done.stderr
    assert "against SystemVerilog" not in done.stderr
    lacks = done.stderr.partition("lacks:")[2]
    assert "Chromium" in lacks
    assert "the tests that need it are skipped" in lacks
    assert done.returncode == 0
