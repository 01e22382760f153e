"""What the steps share: clones of the checkout on a machine, and set-ups in them."""

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from chroot import USER, Chroot, Done, MachineError
from machines import Machine
from measure import on_disk, received
from results import Outcomes, read_tests

WHEELS = "/opt/wheels"  # where a machine finds the CPU build of torch that this one has
CHECKOUT = Path(__file__).resolve().parents[2]


class StepError(Exception):
    """A step ended otherwise than it must: what was expected, and what came."""


@dataclass(frozen=True, slots=True)
class Clone:
    """A clone at `home`/millrace, of user `user`."""

    chroot: Chroot
    home: str
    user: int
    log: Path

    @property
    def folder(self) -> str:
        return f"{self.home}/millrace"

    @property
    def venv(self) -> Path:
        return self.chroot.inside(f"{self.folder}/.venv")

    @property
    def cache(self) -> Path:
        return self.chroot.inside(f"{self.home}/.cache")

    def run(self, command: str, environment: Mapping[str, str] | None = None, limit_s: float = 5400) -> Done:
        return self.chroot.run(
            command,
            self.log,
            user=self.user,
            home=self.home,
            folder=self.folder,
            environment=environment,
            limit_s=limit_s,
        )

    def start(self, command: str, environment: Mapping[str, str]) -> "subprocess.Popen[bytes]":
        return self.chroot.start(
            command, self.log, user=self.user, home=self.home, folder=self.folder, environment=environment
        )

    def sizes(self) -> dict[str, str]:
        """GB of the environment, of what pip and uv keep beyond it, and of the system's packages."""
        paths = (self.venv, self.cache, self.chroot.inside("/var"), self.chroot.inside("/usr"))
        venv, cache, var, usr = on_disk(*paths)
        return {"GB .venv": f"{venv:.2f}", "GB cache beyond": f"{cache:.2f}", "GB system": f"{var + usr:.2f}"}


@dataclass(frozen=True, slots=True)
class Trial:
    """One machine, and what is tried on it: `revision` of the checkout, with `shared` beside it where given.
    `tests` is what to run instead of all.
    """

    machine: Machine
    chroot: Chroot
    revision: str
    log: Path
    wheels: Path | None
    shared: Path | None
    tests: str

    @property
    def cpu(self) -> dict[str, str]:
        """The environment in which a set-up finds the CPU build of torch, where there is one for this Python."""
        return {"MILLRACE_TORCH_INDEX": WHEELS} if self.wheels else {}

    def clone(self, home: str, user: int = 0) -> Clone:
        """The clone in that home; made unless it is there."""
        clone = Clone(self.chroot, home, user, self.log)
        target = self.chroot.inside(clone.folder)
        if target.exists():
            return clone
        target.parent.mkdir(parents=True, exist_ok=True)
        git = ["git", "-c", "advice.detachedHead=false"]
        subprocess.run([*git, "clone", "--quiet", "--no-hardlinks", str(CHECKOUT), str(target)], check=True)
        subprocess.run([*git, "-C", str(target), "checkout", "--quiet", "--detach", self.revision], check=True)
        if self.shared:
            shutil.copytree(self.shared, target.with_name("shared"), dirs_exist_ok=True)
        if user:
            subprocess.run(["chown", "--recursive", f"{user}:{user}", str(target.parent)], check=True)
        return clone

    def new_clone(self, home: str) -> Clone:
        """root's, with an empty cache, also where a step that was interrupted left one."""
        shutil.rmtree(self.chroot.inside(home), ignore_errors=True)
        return self.clone(home)

    def remove(self, clone: Clone) -> None:
        """With its home, and so with what was downloaded for it."""
        shutil.rmtree(self.chroot.inside(clone.home))

    def root_clone(self) -> Clone:
        return self.clone("/root")

    def user_clone(self) -> Clone:
        """A user's, on a machine that has the system's packages."""
        if not any(self.chroot.inside("/usr/bin").glob("g++*")):
            expect(self.root_clone().run("./millrace --help", self.cpu), 0)
        return self.clone("/home/dev", USER)

    def run_tests(self, clone: Clone, arguments: str) -> tuple[Done, Outcomes]:
        """`./millrace test`, and what became of each test. Raises StepError where it found something."""
        report = f"{clone.home}/junit.xml"
        self.chroot.inside(report).unlink(missing_ok=True)
        done = clone.run(
            f"./millrace test {arguments} {self.tests}", {**self.cpu, "PYTEST_ADDOPTS": f"--junitxml={report}"}
        )
        return done, read_tests(self.chroot.inside(report))


def expect(done: Done, code: int) -> Done:
    """Raises StepError where the command ended otherwise."""
    if done.code != code:
        closing = " / ".join(done.output.strip().splitlines()[-3:])
        raise StepError(f"exit code {done.code} instead of {code}: {closing}")
    return done


def expect_text(output: str, *patterns: str) -> None:
    """Each regular expression, in what was written."""
    for pattern in patterns:
        if not re.search(pattern, output):
            raise StepError(f"it did not say `{pattern}`")


def set_up_seconds(done: Done) -> str:
    """What the start script says that it took, its parts added."""
    return str(sum(int(seconds) for seconds in re.findall(r"ready after (\d+) s", done.output)))


def find_wheels(place: str | None, machine: Machine) -> Path | None:
    """The folder, if it has a CPU build of torch for the machine's Python. Raises MachineError for no folder."""
    place = place or os.environ.get("MILLRACE_TORCH_INDEX") or os.environ.get("PIP_FIND_LINKS")
    if not place:
        return None
    folder = Path(place)
    if not folder.is_dir():
        raise MachineError(f"{place} is no folder of wheels")
    return folder.resolve() if any(folder.glob(f"torch-*+cpu-{machine.tag}-*.whl")) else None


class Meter:
    """GB on the network and on the disk since it was made."""

    def __init__(self, root: Path) -> None:
        self._root, self._received, self._disk = root, received(), on_disk(root)[0]

    def read(self) -> tuple[float, float]:
        """(disk, network)"""
        network = received() - self._received
        return on_disk(self._root)[0] - self._disk, network
