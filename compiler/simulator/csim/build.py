"""Builds the emitted C++ of a design with g++ against the stand-in headers.

Every `*.cpp` of the `hls` folder is a translation unit. The kernels' files are compiled with a generated header that
turns each task call into the start of a fibre (include/millrace/fiber.h); the sources themselves stay free of it.
Fibres run at once, so tasks may close loops. The C simulation of Vitis runs the calls of a region one after the other
(AMD UG1399): there the first one of a loop reads an empty stream, and such a design can not be simulated with it.
"""

import json
import os
import platform
from collections import defaultdict
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path
from threading import Event

from compiler.errors import ToolError
from compiler.machine import most_jobs
from compiler.native import built, find_compiler, own_folder
from compiler.process import Finished, Limits, run_process
from compiler.simulator.csim.objects import Objects

INCLUDE_DIR = Path(__file__).resolve().parents[1] / "include"
RUNTIME_SOURCE = INCLUDE_DIR / "millrace" / "runtime.cpp"
PRELUDE_SOURCE = INCLUDE_DIR / "prelude.h"

# An index outside an array of a task ends the run: elsewhere it might change nothing here, and much in hardware.
# No contraction to fused multiply-add: floats must not depend on the machine that compiles. A frame larger than the
# guard page must probe the stack, or an overflow would corrupt a neighbour instead of being reported.
_ALWAYS = (
    "-std=c++17",
    "-ffp-contract=off",
    "-fstack-clash-protection",
    "-fsanitize=bounds",
    "-fsanitize-undefined-trap-on-error",
    "-Wno-unknown-pragmas",
    "-Wno-attributes",
)
# Of what -O2 does besides, value ranges, which show that most indices need no check, are worth their time (blocks of
# GPT-2: 28 % less to compile than with -O2, 13 % more to run).
FLAGS = (*_ALWAYS, "-O1", "-ftree-vrp")
# Compiling is most of a short simulation: a decode block of GPT-2 takes half as long to compile (1.8 s instead of 3.2)
# and 1.8 times as long to run (0.09 s instead of 0.05), its prefill of 128 rows 4.5 s instead of 2.6.
SHORT_FLAGS = (*_ALWAYS, "-Og", "-finline-functions-called-once")
SHORT_ITERATIONS = 100_000_000
"""A run of fewer iterations of a network's loops is short: a core does about 350 million a second."""

# What a task never wrote has no value in hardware. Left as the stack has it here, it would be 0 most of the time, and
# so what a design reads of it by mistake; filled with this pattern it is a number that no result hides.
_UNWRITTEN = "-ftrivial-auto-var-init=pattern"

TESTBENCH = "tb"
_MESSAGE_LINES = 40
_ASKING_SECONDS = 20
_GXX_BYTES = 400 << 20  # of one compiler; the largest task of GPT-2 takes half

Calls = Mapping[str, Sequence[tuple[str, str]]]
"""What each kernel calls, in that order: a function, and the task that this call of it is."""


def calls_of(design: Path) -> dict[str, list[tuple[str, str]]]:
    """Of a design directory, as its manifest says; raises OSError or KeyError where it is none."""
    kernels = json.loads((design / "params" / "manifest.json").read_text())["kernels"]
    if all("tasks" in kernel for kernel in kernels):
        return {k["name"]: [(task["function"], task["name"]) for task in k["tasks"]] for k in kernels}
    # Before equal tasks shared a function, each was one of its name.
    tasks = json.loads((design / "dataflow.json").read_text())["tasks"]
    return {k["name"]: [(t["name"], t["name"]) for t in tasks if t["kernel"] == n] for n, k in enumerate(kernels)}


def build(
    hls_dir: Path,
    build_dir: Path,
    calls: Calls,
    jobs: int | None = None,
    timeout_s: float = 600,
    compiler: str = "g++",
    main: Path | None = None,
    is_short: bool = False,
) -> Path:
    """Compile `hls_dir`/*.cpp and link them; returns the executable `build_dir`/csim.

    Kernels are defined in `<kernel>.cpp`, the functions that they call, which become fibres, declared in
    `<design>_tasks.h`. `main` replaces the design's testbench. `jobs` compilers run at a time, one
    per core by default, if there is memory for so many; `timeout_s` bounds each. What is run for a short time
    (`SHORT_ITERATIONS`) is compiled quickly rather than well. Raises ToolError with the compiler's first errors.
    """
    gxx, chosen = find_compiler(compiler), SHORT_FLAGS if is_short else FLAGS
    sources = sorted(hls_dir.glob("*.cpp"), key=lambda path: path.stat().st_size, reverse=True)
    if missing := {f"{kernel}.cpp" for kernel in calls} - {source.name for source in sources}:
        raise ToolError(f"{hls_dir} lacks {', '.join(sorted(missing))}; compile the design again")
    if main is not None:
        sources = [*(source for source in sources if source.stem != TESTBENCH), main]
    (build_dir / "obj").mkdir(parents=True, exist_ok=True)
    for kernel, called in calls.items():
        spawn_header(build_dir, kernel).write_text(spawn_header_text(called))

    base = compile_command(hls_dir, gxx, chosen)
    tasks_header = _tasks_header(hls_dir)
    declared = sorted(hls_dir.glob("*.h"))
    known = Objects(own_folder(PRELUDE_SOURCE), gxx, " ".join((*flags_of(gxx, chosen), _prelude(gxx, chosen).name)))
    objects = {source: build_dir / "obj" / f"{source.stem}.o" for source in sources}
    names: dict[Path, str] = {}
    commands: dict[Path, list[str]] = {}
    for source, target in objects.items():
        spawned = [spawn_header(build_dir, source.stem)] if source.stem in calls else []
        names[source] = known.name(source, (*declared, *spawned))
        if not known.give(names[source], target):
            extra = _kernel_flags(tasks_header, build_dir, source.stem) if spawned else []
            commands[source] = [*base, *extra, "-c", str(source.resolve()), "-o", str(target.relative_to(build_dir))]
    runtime = runtime_object(gxx)

    _compile_all(commands, build_dir, jobs or most_jobs(_GXX_BYTES), timeout_s)
    for source in commands:
        known.keep(names[source], objects[source])
    linked = [*(str(made.relative_to(build_dir)) for made in objects.values()), str(runtime)]
    _check(run_process([gxx, *linked, "-o", "csim"], build_dir, Limits(timeout_s)), "linking the C simulation")
    return build_dir / "csim"


@lru_cache
def flags_of(gxx: str, chosen: tuple[str, ...] = FLAGS) -> tuple[str, ...]:
    """Sources of a simulation are compiled with them: the `chosen` ones and, where this compiler can (g++ 12), one that
    fills what is never written.
    """
    asked = run_process([gxx, _UNWRITTEN, "-fsyntax-only", "-x", "c++", os.devnull], Path("/"), Limits(_ASKING_SECONDS))
    return (*chosen, _UNWRITTEN) if asked.returncode == 0 else chosen


def compile_command(hls_dir: Path, gxx: str, chosen: tuple[str, ...] = FLAGS) -> list[str]:
    """How a source of the design is compiled, but for its name."""
    headers = ["-include", str(_prelude(gxx, chosen)), "-I", str(INCLUDE_DIR), "-I", str(hls_dir.resolve())]
    return [gxx, *flags_of(gxx, chosen), *headers]


def _prelude(gxx: str, chosen: tuple[str, ...]) -> Path:
    """The header beside which the precompiled one lies. It is empty: what another compiler has made, or is made for
    other flags, this one passes over, and reads what the source includes. By its name it is no source of ours, by
    whose digest builds are told apart.
    """
    made = built(
        PRELUDE_SOURCE, "prelude.gch", [*flags_of(gxx, chosen), "-I", str(INCLUDE_DIR), "-x", "c++-header"], gxx
    )
    header = made.with_suffix("")
    if not header.exists():  # else it may be another user's
        header.touch()
    return header


def kernel_flags(hls_dir: Path, build_dir: Path, kernel: str) -> list[str]:
    """What a kernel's source needs besides. Raises ToolError where the design does not declare its tasks."""
    return _kernel_flags(_tasks_header(hls_dir), build_dir, kernel)


def _kernel_flags(tasks_header: Path, build_dir: Path, kernel: str) -> list[str]:
    included = (tasks_header, spawn_header(build_dir, kernel))
    return [flag for header in included for flag in ("-include", str(header.resolve()))]


def spawn_header(build_dir: Path, kernel: str) -> Path:
    """Where the header of a kernel lies."""
    return build_dir / f"csim_spawn_{kernel}.h"


def runtime_object(gxx: str) -> Path:
    """What every simulation is linked with."""
    return built(RUNTIME_SOURCE, "runtime.o", [*flags_of(gxx), "-I", str(INCLUDE_DIR), *_runtime_flags(), "-c"], gxx)


def spawn_header_text(called: Sequence[tuple[str, str]]) -> str:
    """The header that makes a fibre of each call of a kernel, which has the task's name. The calls of one function come
    in order, whenever the kernel runs.

    A macro does not expand inside itself, so the name in parentheses is the function.
    """
    tasks: dict[str, list[str]] = defaultdict(list)
    for function, task in called:
        tasks[function].append(task)
    lines: list[str] = []
    for function, names in tasks.items():
        quoted = [f'"{name}"' for name in names]
        name = quoted[0]
        if len(names) > 1:
            lines.append(f"static const char* const {function}_names[] = {{{', '.join(quoted)}}};")
            lines.append(f"static unsigned {function}_call = 0;")
            name = f"{function}_names[{function}_call++ % {len(names)}]"
        lines.append(f"#define {function}(...) ::millrace::task({name}, ({function}))(__VA_ARGS__)")
    return "\n".join(["#pragma once", '#include "millrace/fiber.h"', *lines, ""])


def _tasks_header(hls_dir: Path) -> Path:
    headers = sorted(hls_dir.glob("*_tasks.h"))
    if len(headers) != 1:
        raise ToolError(f"{hls_dir} holds {len(headers)} files *_tasks.h instead of one; compile the design again")
    return headers[0]


def _runtime_flags() -> list[str]:
    # A shadow stack (CET) does not follow the switch of stacks; one object without its mark turns it off for all.
    return ["-fcf-protection=none"] if platform.machine() in ("x86_64", "AMD64") else []


def _compile_all(commands: dict[Path, list[str]], cwd: Path, jobs: int, timeout_s: float) -> None:
    cancel = Event()

    def compile_one(source: Path) -> None:
        _check(run_process(commands[source], cwd, Limits(timeout_s), cancel=cancel), f"compiling {source.name}")

    with ThreadPoolExecutor(jobs) as pool:
        futures = [pool.submit(compile_one, source) for source in commands]
        try:
            for future in futures:
                future.result()
        except BaseException:  # also Ctrl-C: no compiler may outlive it
            cancel.set()
            pool.shutdown(cancel_futures=True)
            raise


def _check(finished: Finished, doing: str) -> None:
    if finished.stopped is not None:
        raise ToolError(f"{doing} was stopped ({finished.stopped}) after {finished.seconds:.0f} s")
    if finished.returncode != 0:
        lines = finished.stderr.splitlines()
        errors = [i for i, line in enumerate(lines) if "error:" in line or "undefined reference" in line]
        first = max(0, errors[0] - 2) if errors else max(0, len(lines) - _MESSAGE_LINES)
        raise ToolError(f"{doing} failed:\n" + "\n".join(lines[first : first + _MESSAGE_LINES]))
