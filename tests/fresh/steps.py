"""What is tried on a machine, in this order."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from time import time

import interruptions
from chroot import USER, Done
from results import Outcomes
from trial import WHEELS, Clone, StepError, Trial, expect, expect_text, set_up_seconds


@dataclass(frozen=True, slots=True)
class Found:
    """What a step found: a sentence, numbers by name, and tests."""

    message: str = ""
    facts: Mapping[str, str] = field(default_factory=dict[str, str])
    tests: Outcomes = field(default_factory=dict[str, str])
    passed: bool = True


@dataclass(frozen=True, slots=True)
class Step:
    """`bare`: on a machine on which nothing was installed; it is made anew for it. `leaves`: whether it is no longer
    bare afterwards.
    """

    name: str
    what: str
    run: Callable[[Trial], Found]
    bare: bool = False
    leaves: bool = True


def user_missing(trial: Trial) -> Found:
    """One message that names all that is missing, and nothing left behind."""
    clone = trial.clone("/home/dev", USER)
    before = _files(clone)
    done = expect(clone.run("./millrace demo", trial.cpu), 3)
    wanted = ["g\\+\\+"] if trial.machine.of_this_machine else ["Python 3", "python3-venv", "g\\+\\+"]
    expect_text(done.output, "this machine lacks:", "sudo apt install .*g\\+\\+", *wanted)
    if done.output.count("millrace:") != 2:
        raise StepError("it said more than what is missing and what to do")
    if left := _files(clone) - before:
        raise StepError(f"it left {', '.join(sorted(left))}")
    command = next(line for line in done.output.splitlines() if "sudo" in line)
    return Found(command.removeprefix("millrace: "))


def _files(clone: Clone) -> set[str]:
    home = clone.chroot.inside(clone.home)
    return {str(path.relative_to(home)) for path in home.rglob("*") if path.name != "index"}


def root_demo(trial: Trial) -> Found:
    """The README's first command on a bare machine, as root."""
    return _demo(trial.root_clone(), trial)


def user_demo(trial: Trial) -> Found:
    """The same without rights, where the system's packages are there."""
    return _demo(trial.user_clone(), trial)


def _demo(clone: Clone, trial: Trial) -> Found:
    begun = time()
    done = expect(clone.run("./millrace demo", trial.cpu), 0)
    ready = (clone.venv / ".ready-product").stat().st_mtime - begun
    facts = {
        "s until set up": f"{ready:.0f}",
        "s of these without apt": set_up_seconds(done),
        "s demo": f"{done.seconds - ready:.0f}",
        "torch": _torch(done),
    }
    equal = re.search(r"reference: all (\d+) tokens", done.output)
    if equal is None:
        raise StepError("the demo's tokens are not PyTorch's")
    return Found(f"{equal[1]} of {equal[1]} tokens are PyTorch's", {**facts, **clone.sizes()})


def _closing(done: Done) -> str:
    return " ".join(done.output.strip().splitlines()[-1:])


def _torch(done: Done) -> str:
    found = re.search(r"torch is (.*)", done.output)
    return found[1] if found else ""


def export(trial: Trial) -> Found:
    """A design of an exploration as a directory, checked there."""
    clone = trial.root_clone()
    expect(clone.run("./millrace explore gpt2 --budget 24 --verify 0", trial.cpu), 0)
    exploration = _json(clone, "./millrace pareto --json")[0]["id"]
    design = _json(clone, f"./millrace pareto {exploration} --json")["front"][0]["id"]
    folder = f"{clone.home}/exported"
    expect(clone.run(f"rm -rf {folder} && ./millrace design export {design} --out {folder}"), 0)
    done = expect(clone.run(f"./millrace csim {folder}"), 0)
    version = clone.run(".venv/bin/python --version").output.split()[-1]
    return Found(f"{design} with Python {version}: {_closing(done)}", {"Python": version})


def _json(clone: Clone, command: str):
    file = f"{clone.home}/reply.json"
    expect(clone.run(f"{command} >{file}"), 0)
    return json.loads(clone.chroot.inside(file).read_text())


def root_test(trial: Trial) -> Found:
    """Everything, as root."""
    return _test(trial.root_clone(), trial, "")


def user_test(trial: Trial) -> Found:
    """The quick subset, without rights."""
    return _test(trial.user_clone(), trial, "--quick")


def _test(clone: Clone, trial: Trial, arguments: str) -> Found:
    done, tests = trial.run_tests(clone, arguments)
    facts = {"s set-up": set_up_seconds(done), **clone.sizes()}
    return Found(_closing(done), facts, tests, passed=done.code == 0 and bool(tests))


def torch_cpu(trial: Trial) -> Found:
    """Set-up where pip's configuration names a folder with the CPU build."""
    if trial.wheels is None:
        return Found(f"not done: no CPU build of torch for Python {trial.machine.python} here")
    return _torch_of(trial, {"PIP_FIND_LINKS": WHEELS}, "CPU")


def torch_cuda(trial: Trial) -> Found:
    """Set-up that finds PyPI only."""
    return _torch_of(trial, {}, "CUDA")


def _torch_of(trial: Trial, environment: Mapping[str, str], build: str) -> Found:
    """With a home of its own: nothing that was downloaded before is used."""
    trial.user_clone()
    clone = trial.new_clone(f"/srv/{build.lower()}")
    done = expect(clone.run("./millrace --help", environment), 0)
    facts = {"s set-up": set_up_seconds(done), "torch": _torch(done), **clone.sizes()}
    if re.search(r"torch is", done.output):
        expect_text(done.output, f"torch is .*{build}")
    trial.remove(clone)
    return Found(_torch(done), facts)


def _interrupted(run: Callable[[Trial], tuple[str, Mapping[str, str]]]) -> Callable[[Trial], Found]:
    return lambda trial: Found(*run(trial))


STEPS = (
    Step("user-missing", "without rights: what is missing, in one message", user_missing, bare=True, leaves=False),
    Step("two-at-once", "two set-ups of one bare machine at once", _interrupted(interruptions.two_at_once), bare=True),
    Step("apt-killed", "set-up killed while apt unpacks, then on", _interrupted(interruptions.apt_killed), bare=True),
    Step("root-demo", "demo as root on the bare machine", root_demo, bare=True),
    Step("export", "design export, csim of what was exported", export),
    Step("interrupted", "set-up killed, then Ctrl-C, then on", _interrupted(interruptions.interrupted)),
    Step("full-disk", "set-up on a disk that is too small, then with room", _interrupted(interruptions.full_disk)),
    Step("torch-cpu", "set-up with an index that has the CPU build of torch", torch_cpu),
    Step("torch-cuda", "set-up without one", torch_cuda),
    Step("user-demo", "demo without rights", user_demo),
    Step("user-test", "test --quick without rights", user_test),
    Step("root-test", "test, the whole, as root", root_test),
)
