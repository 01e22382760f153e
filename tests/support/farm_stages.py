"""Stages for tests of the farm: a build of stage csim or csynth does what its option `script` says.

A script is a list of steps, one for each attempt (the last one for all that follow): "ok", "tools" (a tree of processes
that never ends), "tree N" (one that lasts N seconds), "files N" (keeps N files), "sleep N", "crash", "memory", "disk",
"hog N" (a tool that takes N MiB, and is waited for), "scratch" (files that it does not remove, then "tools"), "linger"
(leaves a process behind), "say N" (N lines), "gate N" (N lines, then it holds until the test lets the build go, see
`RunningFarm.let_go`), or the name of a failure. Each attempt notes its beginning and its end in the file that RUNS
names.
"""

import errno
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, cast, get_args

from gates import gate
from service_stages import ServiceStages

from db.models import Build, Failure
from worker.farm import Farm
from worker.stages.context import JobContext
from worker.stages.outcome import Outcome, StageError


class FarmStages(ServiceStages):
    def run(self, farm: Farm, job: JobContext) -> Outcome:
        return scripted(farm, job) if job.build.stage in ("csim", "csynth") else super().run(farm, job)


STAGES = FarmStages()


def scripted(farm: Farm, job: JobContext) -> Outcome:
    """Do one attempt."""
    steps = job.build.options["script"]
    step = steps[min(job.build.attempt, len(steps)) - 1]
    note(job.build, "begin")
    job.log(f"attempt {job.build.attempt}: {step}")
    name, *rest = step.split()
    if name == "files":
        files = _keep(job, int(rest[0]))
        return Outcome(
            {"passed": True, "attempt": job.build.attempt}, {"stand-in": "1"}, files=tuple(farm.store.put_tree(files))
        )
    if name == "scratch":
        (job.scratch / "folder").mkdir()
        (job.scratch / "folder" / "file").write_bytes(os.urandom(1000))
        name = "tools"
    _do(name, *rest)
    if name == "gate":
        _hold(job.build.id)
    note(job.build, "end")
    return Outcome({"passed": True, "attempt": job.build.attempt}, {"stand-in": "1"})


def _keep(job: JobContext, count: int) -> Path:
    """A folder with files of random content."""
    folder = job.scratch / "kept"
    folder.mkdir()
    for number in range(count):
        (folder / f"{number}.bin").write_bytes(os.urandom(20_000))
    return folder


def note(build: Build, what: str) -> None:
    path = os.environ.get("RUNS")
    if path:
        line = f"{what} {build.id} {build.attempt} {time.time():.4f} {build.licence or '-'}\n"
        with Path(path).open("a") as file:
            file.write(line)


def _hold(build_id: str) -> None:
    while not gate(Path(os.environ["RUNS"]), build_id).exists():
        time.sleep(0.02)


def _do(step: str, number: str = "0") -> Any:
    if step in get_args(Failure):
        raise StageError(cast(Failure, step), f"no luck with the {step}")
    match step:
        case "sleep":
            time.sleep(float(number))
        case "tools":
            code = "import subprocess; subprocess.run(['sleep', '1000'])"
            subprocess.run([sys.executable, "-c", code], start_new_session=True, check=False)
        case "tree":
            code = f"import subprocess; subprocess.run(['sleep', '{number}'])"
            subprocess.run([sys.executable, "-c", code], start_new_session=True, check=True)
        case "hog":
            code = f"held = b'x' * ({number} << 20); import time; time.sleep(1000)"
            subprocess.run([sys.executable, "-c", code], check=True)
        case "linger":
            subprocess.Popen(["setsid", "sleep", "1000"])
        case "crash":
            print("the last words", flush=True)
            os._exit(42)
        case "memory":
            raise MemoryError
        case "disk":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        case "say" | "gate":
            for line in range(int(number)):
                print(f"line {line}", flush=True)
        case _:
            assert step == "ok", step
