"""Millrace on machines that have never seen it: bare Debians of several releases, each in a folder.

python3 tests/fresh/fresh.py debian12
python3 tests/fresh/fresh.py debian12 debian13 --steps user-missing,root-demo
python3 tests/fresh/fresh.py debian12 --steps torch-cpu,torch-cuda --revision HEAD~1

Needs root, Debian, debootstrap and git; Python's standard library only. A machine is a chroot in build/fresh/NAME with
a clone of the revision, and nothing else of this machine but its mirrors and its bundle of certificate authorities. A
step that is done is not done again for the same revision; logs lie in build/fresh/NAME/logs. One machine at a time is
on the disk. Exit code 1: something failed.
"""

import argparse
import fcntl
import json
import os
import signal
import subprocess
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from time import monotonic
from types import FrameType

from chroot import Chroot, MachineError, make_chroot, open_chroot, remove
from machines import Machine, load_machines
from report import differences, notes, table
from results import Records, Result
from steps import STEPS, Found, Step
from trial import CHECKOUT, WHEELS, Meter, StepError, Trial, find_wheels

BUILD = CHECKOUT / "build" / "fresh"


def main() -> int:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it, and what they start
    arguments = _arguments()
    machines = load_machines()
    steps = _choose(arguments.steps)
    revision = _git("rev-parse", "--verify", f"{arguments.revision}^{{commit}}")
    if arguments.revision == "HEAD" and _git("status", "--porcelain"):
        _say("what is not committed is not tried")
    results: list[Result] = []
    for name in arguments.machines or list(machines):
        try:
            with _alone(name):
                results += _try(machines[name], steps, revision, arguments)
        except MachineError as error:
            results.append(Result(name, "make", False, str(error), 0, 0, 0))
            _say(f"{name}: {error}")
    different = differences(results)
    if arguments.json:
        print(json.dumps({"results": [asdict(result) for result in results], "differences": different}))
    else:
        print(notes(results), table(results, {m.name: m.python for m in machines.values()}), sep="\n\n")
        print("\ntests that do not pass everywhere:", *(different or ["none"]), sep="\n    ")
    return 0 if all(result.passed for result in results) else 1


def _arguments() -> argparse.Namespace:
    names = ", ".join(step.name for step in STEPS)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("machines", nargs="*", metavar="MACHINE", help=f"of {', '.join(load_machines())} (all)")
    parser.add_argument("--steps", help=f"of {names} (all), in this order", metavar="STEP,STEP")
    parser.add_argument("--again", action="store_true", help="steps that are done too")
    parser.add_argument("--keep", action="store_true", help="leave the machine on the disk")
    parser.add_argument("--revision", default="HEAD", help="of this checkout (HEAD)")
    parser.add_argument("--wheels", help="a folder with CPU builds of torch (what MILLRACE_TORCH_INDEX or pip names)")
    parser.add_argument("--shared", type=Path, help="a folder to lie beside the clones as `shared`")
    parser.add_argument("--tests", default="", help="of root-test and user-test only these, as pytest takes them")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    if unknown := set(arguments.machines) - set(load_machines()):
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    if os.geteuid() != 0:
        parser.error("it makes chroots: run it as root")
    return arguments


def _choose(names: str | None) -> Sequence[Step]:
    wanted = names.split(",") if names else [step.name for step in STEPS]
    if unknown := set(wanted) - {step.name for step in STEPS}:
        sys.exit(f"fresh: no such step: {', '.join(sorted(unknown))}")
    return [step for step in STEPS if step.name in wanted]


@contextmanager
def _alone(name: str) -> Generator[None]:
    """Raises MachineError where another bench has the machine."""
    folder = BUILD / name
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise MachineError(f"another bench has {folder}: wait for it, or end it") from None
        yield


def _try(machine: Machine, steps: Sequence[Step], revision: str, arguments: argparse.Namespace) -> list[Result]:
    """The steps on one machine; those that are done come from the records."""
    folder = BUILD / machine.name
    records = Records(folder, revision)
    known = {} if arguments.again else records.read()
    wheels = find_wheels(arguments.wheels, machine)
    for step in steps:
        if step.name in known and known[step.name].passed:
            continue
        log = folder / "logs" / f"{step.name}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        log.unlink(missing_ok=True)
        chroot = _machine_for(step, machine, revision, {WHEELS: str(wheels)} if wheels else {}, folder)
        _say(f"{machine.name} {step.name}: {step.what} ...")
        result = _do(step, Trial(machine, chroot, revision, log, wheels, arguments.shared, arguments.tests))
        records.add(result)
        known[step.name] = result
        ended = "ok" if result.passed else "FAILED"
        _say(f"{machine.name} {step.name}: {ended} after {result.seconds:.0f} s: {result.message}")
    if not arguments.keep:
        remove(folder / "root")
    return [known[step.name] for step in steps]


def _machine_for(step: Step, machine: Machine, revision: str, mounts: dict[str, str], folder: Path) -> Chroot:
    """The chroot, made anew where the step needs it bare, or where it has another revision's clones."""
    root, state = folder / "root", folder / "state"
    wanted = f"bare {revision}" if step.bare else revision
    if root.exists() and state.exists() and state.read_text().endswith(wanted):
        chroot = open_chroot(machine, root, mounts)
    else:
        state.unlink(missing_ok=True)
        _say(f"{machine.name}: making it")
        chroot = make_chroot(machine, root, BUILD / "bases", folder / "logs" / "make.log", mounts)
        state.write_text(f"bare {revision}")
    if step.leaves:
        state.write_text(revision)
    return chroot


def _do(step: Step, trial: Trial) -> Result:
    meter, begun = Meter(trial.chroot.root), monotonic()
    try:
        found = step.run(trial)
    except StepError as error:
        found = Found(str(error), passed=False)
    seconds = monotonic() - begun
    disk, network = meter.read()
    return Result(
        trial.machine.name, step.name, found.passed, found.message, seconds, disk, network, found.facts, found.tests
    )


def _git(*arguments: str) -> str:
    return subprocess.check_output(["git", "-C", str(CHECKOUT), *arguments], text=True).strip()


def _say(text: str) -> None:
    print(f"fresh: {text}", file=sys.stderr, flush=True)


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _interrupt)  # what runs in a chroot leads a group of its own: it is ended here
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("fresh: interrupted; the same command goes on with the step that it was in")
