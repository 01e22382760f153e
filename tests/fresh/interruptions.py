"""Set-ups that do not run through: killed, stopped, two at once, on a full disk."""

import os
import signal
import subprocess
from collections.abc import Mapping
from time import monotonic, sleep

from chroot import kill, wait
from measure import on_disk, received
from trial import Clone, StepError, Trial, expect, expect_text, set_up_seconds

SET_UP = "./millrace --help"
_POLL_S = 0.05
_LIMIT_S = 1800.0
_FIRST, _FURTHER = 3, 20  # packages of about a hundred
_SMALL_GB = {"cpu": 4, "cuda": 16}  # the disk of `full_disk`; its image is sparse
_MOST_AGAIN = 0.1  # of all packages, downloaded a second time after two interruptions
_LEFT_MB = 600  # more than the environment and the installer take, less than the packages

Reply = tuple[str, Mapping[str, str]]


def interrupted(trial: Trial) -> Reply:
    """Killed when the first packages have come, then Ctrl-C further on, then let go on; downloads begin with an empty
    cache.
    """
    trial.user_clone()
    clone = trial.new_clone("/srv/interrupted")
    start = received()
    process = clone.start(SET_UP, trial.cpu)
    _wait_until(clone, _FIRST, process)
    kill(process)
    killed = received()
    process = clone.start(SET_UP, trial.cpu)
    _wait_until(clone, _FURTHER, process)
    os.killpg(process.pid, signal.SIGINT)
    if (code := wait(process, 60)) != 130:
        raise StepError(f"exit code {code} instead of 130 after Ctrl-C")
    stopped = received()
    expect_text(clone.log.read_text(errors="replace"), "set-up interrupted; the same command goes on")
    kept = len(_unpacked(clone))
    done = expect(clone.run(SET_UP, trial.cpu), 0)
    expect_text(done.output, "going on", "ready after")
    then, unpacked = received(), _unpacked(clone)
    gb = sum(sum(sizes) for sizes in unpacked.values())
    again = sum(sum(sizes[1:]) for sizes in unpacked.values())
    trial.remove(clone)
    if again > _MOST_AGAIN * gb:
        raise StepError(f"{again:.2f} of {gb:.2f} GB were unpacked again")
    facts = {
        "GB until killed": f"{killed - start:.2f}",
        "GB until Ctrl-C": f"{stopped - killed:.2f}",
        "GB then": f"{then - stopped:.2f}",
        "s then": set_up_seconds(done),
        "MB unpacked again": f"{1000 * again:.0f}",
    }
    return f"killed, Ctrl-C, done; of {len(unpacked)} packages {kept} were there", facts


def _unpacked(clone: Clone) -> dict[str, list[float]]:
    """GB of each copy of a package in uv's cache: a second one was downloaded for nothing. Some may be, of those that
    were whole when set-up was killed but not written down yet.
    """
    found: dict[str, list[float]] = {}
    for folder in (clone.cache / "uv" / "archive-v0").glob("*"):
        for sign in folder.glob("*.dist-info"):
            found.setdefault(sign.name, []).append(on_disk(folder)[0])
    return found


def _wait_until(clone: Clone, packages: int, process: "subprocess.Popen[bytes]") -> None:
    """Until so many of the packages have come: the listing of a folder, which is there before the next has come."""
    begun, folder = monotonic(), clone.cache / "uv" / "archive-v0"
    while not folder.is_dir() or sum(1 for _ in folder.iterdir()) < packages:
        if process.poll() is not None or monotonic() - begun > _LIMIT_S:
            if process.poll() is None:
                kill(process)
            raise StepError(f"set-up was not interrupted: it ended, or did not come to {packages} packages")
        sleep(_POLL_S)


def two_at_once(trial: Trial) -> Reply:
    """Both begin on the bare machine: one installs, the other waits."""
    clone = trial.root_clone()
    begun = monotonic()
    processes = [clone.start(SET_UP, trial.cpu) for _ in range(2)]
    try:
        codes = [wait(process, _LIMIT_S) for process in processes]
    finally:
        for process in processes:
            if process.poll() is None:
                kill(process)
    if codes != [0, 0]:
        raise StepError(f"exit codes {codes} instead of [0, 0], see {clone.log}")
    return "both exit codes 0", {"s both": f"{monotonic() - begun:.0f}"}


def apt_killed(trial: Trial) -> Reply:
    """Killed while apt unpacks: dpkg's database is left as a loss of power would leave it."""
    clone = trial.root_clone()
    process = clone.start(SET_UP, trial.cpu)
    unpacked = trial.chroot.inside("/usr/lib/gcc")  # in the middle of what is installed
    while not unpacked.exists():
        if process.poll() is not None:
            raise StepError("set-up was not killed: it ended before apt unpacked a compiler")
        sleep(_POLL_S / 10)
    kill(process)
    done = expect(clone.run(SET_UP, trial.cpu), 0)
    return "killed, then exit code 0", {"s then": set_up_seconds(done)}


def full_disk(trial: Trial) -> Reply:
    """The clone and its home lie on a small disk that is all but full. It is said before anything large is
    downloaded; with room, the same command goes on.
    """
    trial.user_clone()
    clone = trial.new_clone("/srv/small")
    image = trial.chroot.root.with_name("small.img")
    with image.open("wb") as file:
        file.truncate(_SMALL_GB["cpu" if trial.wheels else "cuda"] << 30)
    subprocess.run(["mkfs.ext4", "-q", "-m", "0", str(image)], check=True)
    fill = f"fallocate -l $(($(df --output=avail -B1M /mnt/small | tail -n 1) - {_LEFT_MB}))M /mnt/small/filler"
    steps = [
        f"cp -a {clone.home}/. /mnt/small && {fill} && cd /mnt/small/millrace",
        f"code=0; {SET_UP} || code=$?; echo full: $code; df -h /mnt/small; rm /mnt/small/filler",
        f"code=0; {SET_UP} || code=$?; echo room: $code",
    ]
    start = received()
    done = trial.chroot.run(
        " && ".join(f"{{ {step}; }}" for step in steps),
        trial.log,
        home="/mnt/small",
        environment=trial.cpu,
        mounts={"/mnt/small": str(image)},
    )
    image.unlink()
    trial.remove(clone)
    expect_text(expect(done, 0).output, "full: 3", "too little room", "room: 0")
    said = next(line for line in done.output.splitlines() if "too little room" in line)
    return said, {"GB": f"{received() - start:.2f}", "s with room": set_up_seconds(done)}
