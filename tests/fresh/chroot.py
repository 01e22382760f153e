"""A bare Debian in a folder, and commands that run in it."""

import os
import re
import shutil
import signal
import ssl
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

from machines import Machine, find_python_here

CERTIFICATES = "/usr/local/share/certificates-of-the-host.pem"  # not where the package ca-certificates writes
PYTHON_HERE = "/opt/python"
USER = 1000  # `dev`, without rights
_ENTER = Path(__file__).with_name("enter.sh")
_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"


class MachineError(Exception):
    """A machine can not be made here: what is missing, and what to do."""


@dataclass(frozen=True, slots=True)
class Done:
    """A command that ended: its exit code, and what it wrote."""

    code: int
    output: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Chroot:
    """The folder `root`; `mounts` are folders of this machine by where they are seen inside."""

    root: Path
    path: str = _PATH
    mounts: Mapping[str, str] = field(default_factory=dict[str, str])

    def inside(self, path: str) -> Path:
        """Where a path of the chroot lies on this machine."""
        return self.root / path.lstrip("/")

    def start(
        self,
        command: str,
        log: Path,
        *,
        user: int = 0,
        home: str = "/root",
        folder: str = "/",
        environment: Mapping[str, str] | None = None,
        mounts: Mapping[str, str] | None = None,
    ) -> subprocess.Popen[bytes]:
        """Start the shell command in `folder`, with nothing of this machine's environment. What it writes is added to
        the log. The process leads a group of its own.
        """
        variables = {"HOME": home, "PATH": self.path, "TERM": "dumb", **(environment or {})}
        mounted = [f"{source}={target}" for target, source in {**self.mounts, **(mounts or {})}.items()]
        enter = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "bash", str(_ENTER), str(self.root)]
        given = [f"{name}={value}" for name, value in variables.items()]
        shell = ["/usr/bin/env", "-i", *given, "/bin/bash", "-c", f"cd {folder} && {command}"]
        with log.open("ab") as output:
            output.write(f"\n$ {command}    # in {folder}, user {user}\n".encode())
            output.flush()
            return subprocess.Popen(
                [*enter, str(user), *mounted, "--", *shell],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )

    def run(
        self,
        command: str,
        log: Path,
        *,
        user: int = 0,
        home: str = "/root",
        folder: str = "/",
        environment: Mapping[str, str] | None = None,
        mounts: Mapping[str, str] | None = None,
        limit_s: float = 5400,
    ) -> Done:
        """`start`, and wait. What runs after `limit_s` is killed: exit code -9."""
        begun, written = monotonic(), log.stat().st_size if log.exists() else 0
        process = self.start(command, log, user=user, home=home, folder=folder, environment=environment, mounts=mounts)
        code = wait(process, limit_s)
        with log.open("rb") as output:
            output.seek(written)
            text = output.read().decode(errors="replace")
        return Done(code, text, monotonic() - begun)


def wait(process: subprocess.Popen[bytes], limit_s: float) -> int:
    """The exit code. Nothing is left of the process where this is interrupted or the limit is over."""
    try:
        return process.wait(limit_s)
    except subprocess.TimeoutExpired:
        return kill(process)
    except BaseException:
        kill(process)
        raise


def kill(process: subprocess.Popen[bytes]) -> int:
    """End the whole group at once, as a loss of power would."""
    os.killpg(process.pid, signal.SIGKILL)
    return process.wait()


def make_chroot(machine: Machine, root: Path, bases: Path, log: Path, mounts: Mapping[str, str]) -> Chroot:
    """A machine on which nothing was installed, made anew; debootstrap's result is kept in `bases` for the next time.
    Raises MachineError.
    """
    base = _make_base(machine, bases, log)
    remove(root)
    root.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["cp", "--archive", str(base), str(root)], check=True)
    _connect(machine, root)
    chroot = open_chroot(machine, root, mounts)
    prepare = ["useradd --create-home --uid 1000 --shell /bin/bash dev"]
    if machine.packages:
        prepare.append("apt-get update -qq")
        prepare.append(f"apt-get install -qq --no-install-recommends {' '.join(machine.packages)}")
        prepare.append("apt-get clean && rm -r /var/lib/apt/lists")
    if machine.of_this_machine:
        chroot.inside("/etc/ld.so.conf.d/python.conf").write_text(f"{PYTHON_HERE}/lib\n")
        prepare.append("ldconfig")
    for command in prepare:
        if (done := chroot.run(command, log)).code:
            raise MachineError(f"{machine.name} could not be made: `{command}` ended with {done.code}, see {log}")
    return chroot


def open_chroot(machine: Machine, root: Path, mounts: Mapping[str, str]) -> Chroot:
    """One that was made before. Raises MachineError."""
    if not machine.of_this_machine:
        return Chroot(root, _PATH, mounts)
    python = find_python_here(machine.python)
    if python is None:
        raise MachineError(f"{machine.name} needs a Python {machine.python} of this machine: install one with pyenv")
    return Chroot(root, f"{PYTHON_HERE}/bin:{_PATH}", {**mounts, PYTHON_HERE: str(python)})


def remove(root: Path) -> None:
    """Nothing is mounted below it: mounts end with the command that they were made for."""
    if root.exists():
        shutil.rmtree(root)


def _make_base(machine: Machine, bases: Path, log: Path) -> Path:
    base = bases / machine.suite
    if base.exists():
        return base
    bases.mkdir(parents=True, exist_ok=True)
    if shutil.which("debootstrap") is None:
        raise MachineError("debootstrap is missing: apt install debootstrap")
    with TemporaryDirectory(dir=bases) as folder, log.open("ab") as output:
        target = Path(folder) / machine.suite
        script = [machine.script] if machine.script else []
        # In a mount namespace of its own: it mounts /proc, and leaves it so when it is killed.
        command = ["unshare", "--mount", "debootstrap", "--variant=minbase", machine.suite, str(target)]
        done = subprocess.run([*command, _mirrors()[0][0], *script], stdout=output, stderr=output, check=False)
        if done.returncode:
            raise MachineError(f"debootstrap could not make {machine.suite}: see {log}")
        target.replace(base)
    return base


def _connect(machine: Machine, root: Path) -> None:
    """Where packages come from and who is trusted: as on this machine, which is the host."""
    release = _release()
    lines = [
        f"deb {uri} {suite.replace(release, machine.suite)} {components}\n" for uri, suite, components in _mirrors()
    ]
    (root / "etc/apt/sources.list").write_text("".join(lines))
    for name in ("resolv.conf", "hosts"):
        shutil.copyfile(f"/etc/{name}", root / "etc" / name)
    bundle = os.environ.get("SSL_CERT_FILE") or ssl.get_default_verify_paths().cafile
    if bundle is None:
        raise MachineError("this machine has no bundle of certificate authorities: apt install ca-certificates")
    shutil.copyfile(bundle, root / CERTIFICATES.lstrip("/"))
    (root / "etc/pip.conf").write_text(f"[global]\ncert = {CERTIFICATES}\n")
    # Services of packages would take the ports of this machine's.
    policy = root / "usr/sbin/policy-rc.d"
    policy.write_text("#!/bin/sh\nexit 101\n")
    policy.chmod(0o755)


def _release() -> str:
    found = re.search(r"^VERSION_CODENAME=(\w+)", Path("/etc/os-release").read_text(), re.MULTILINE)
    return found[1] if found else ""


def _mirrors() -> Sequence[tuple[str, str, str]]:
    """What this machine's apt reads of Debian's own: (address, suite, components), the release itself first."""
    release, found = _release(), list[tuple[str, str, str]]()
    for file in Path("/etc/apt/sources.list.d").glob("*.sources"):
        for stanza in file.read_text().split("\n\n"):
            fields = dict(re.findall(r"^(\w[\w-]*): *(.*)$", stanza, re.MULTILINE))
            uri = fields.get("URIs", "").split()
            found += [
                (uri[0], suite, fields.get("Components", "")) for suite in fields.get("Suites", "").split() if uri
            ]
    for file in (Path("/etc/apt/sources.list"), *Path("/etc/apt/sources.list.d").glob("*.list")):
        text = file.read_text() if file.exists() else ""
        found += re.findall(r"^deb +(?:\[.*?\] +)?(\S+) +(\S+) +(.*)$", text, re.MULTILINE)
    own = [source for source in found if re.fullmatch(rf"{release}(-updates|-security)?", source[1])]
    if not any(suite == release for _, suite, _ in own):
        raise MachineError("apt on this machine names no mirror of Debian in /etc/apt/sources.list*")
    return sorted(own, key=lambda source: source[1] != release)
