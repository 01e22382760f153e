"""The style of each pipeline, named and achieved: what the C++ asks for, and what Vitis HLS says that it built.

A design is certified under the styles that it names. HLS takes a style as a wish: one that it does not keep makes the
certificate void, so the build fails. What HLS does not say is unknown, and no failure.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from compiler.errors import ReportError
from compiler.toolchain.hls.csynth import CsynthReport, Loop, Module, style_of
from compiler.toolchain.logs.messages import messages
from compiler.toolchain.logs.pipeline_styles import LEVERS, PipelineSaid, pipelines_said
from compiler.toolchain.report import Failure
from compiler.toolchain.source import read_source

_FUNCTION = re.compile(r"^void (\w+)\(.*?^\}", re.DOTALL | re.MULTILINE)
_PRAGMA = re.compile(r"#pragma HLS pipeline\b[^\n]*\bstyle\s*=\s*(\w+)", re.IGNORECASE)
# HLS renames: a template's `_s`, a word of VHDL `_r`, a second call of a function `_1`.
_OWN_MODULE = re.compile(r"(_[rs])?(_\d+)?(_Pipeline_\w+)?")


@dataclass(frozen=True, slots=True)
class TaskStyle:
    """`achieved` is None where HLS does not say it; `said` is its message's code or the report, "" for neither."""

    task: str
    named: str
    achieved: str | None = None
    said: str = ""

    def to_json(self) -> dict[str, Any]:
        """As in a verdict."""
        return asdict(self)


def named_styles(code: Path) -> dict[str, str]:
    """The style that the pragma of each task names, by the task's function, from the .cpp in `code`."""
    functions = (match for file in sorted(code.glob("*.cpp")) for match in _FUNCTION.finditer(file.read_text()))
    return {match[1]: style[1] for match in functions if (style := _PRAGMA.search(match[0]))}


def achieved_styles(
    named: Mapping[str, str], log: Path, reports: Iterable[CsynthReport]
) -> tuple[tuple[TaskStyle, ...], tuple[Failure, ...]]:
    """The tasks of `named` that a kernel's log and reports know, and a failure for each that has another style."""
    said: dict[str, list[PipelineSaid]] = {}
    words: dict[str, list[str]] = {}
    for message in _said(log):
        said.setdefault(_task_of(message.module, named), []).append(message)
    for module in (module for report in reports for module in report.modules):
        words.setdefault(_task_of(module.name, named), []).extend(_styles_in(module))
    styles: list[TaskStyle] = []
    failures: list[Failure] = []
    for task in (task for task in named if task in said or task in words):
        about = (task, named[task], said.get(task, []), words.get(task, []))
        styles.append(_style(*about))
        failures += list(_broken(*about))[:1]
    return tuple(styles), tuple(failures)


def unknown(styles: Iterable[TaskStyle]) -> str | None:
    """What a person should know of pipelines whose style HLS does not say; None where it says all."""
    every = list(styles)
    left = [style for style in every if style.achieved is None]
    if not left:
        return None
    named = ", ".join(sorted({style.named for style in left}))
    return f"HLS does not say which style {len(left)} of {len(every)} pipelines have; the design names {named}"


def _said(log: Path) -> list[PipelineSaid]:
    try:
        return list(pipelines_said(messages(read_source(log))))
    except ReportError:
        return []


def _styles_in(module: Module) -> Iterator[str]:
    if style := style_of(module.pipeline):
        yield style
    yield from _in_loops(module.loops)


def _in_loops(loops: Iterable[Loop]) -> Iterator[str]:
    for loop in loops:
        if loop.style is not None:
            yield loop.style
        yield from _in_loops(loop.loops)


def _task_of(module: str, tasks: Iterable[str]) -> str:
    """The task whose function became `module`, or whose pipeline; "" for what is no task's."""
    own = (t for t in tasks if module.startswith(t) and _OWN_MODULE.fullmatch(module, len(t)))
    return max(own, key=len, default="")


def _style(task: str, named: str, said: list[PipelineSaid], words: list[str]) -> TaskStyle:
    if words:
        return TaskStyle(task, named, words[0], "csynth report")
    free = next((s for s in said if s.free_running), None)
    return TaskStyle(task, named) if free is None else TaskStyle(task, named, "frp", free.code)


def _broken(task: str, named: str, said: list[PipelineSaid], words: list[str]) -> Iterator[Failure]:
    for message in said:
        if message.free_running and named != "frp":
            yield _failure(task, named, "is frp", message.code, "")
        if not message.free_running and named == "frp":
            because = f"is not frp, because {message.because}" if message.because else "is not frp"
            yield _failure(task, named, because, message.code, LEVERS.get(message.number, "remove that cause"))
    for word in words:
        if word != named:
            yield _failure(task, named, f"is {word}", "csynth report", "")


def _failure(task: str, named: str, found: str, where: str, lever: str) -> Failure:
    text = f"task {task} names style={named}, but the pipeline that HLS built {found}"
    rename = "name the style that it has in the task's timing, and compile again: its FIFOs are certified for that one"
    return Failure("pipeline", text, where, f"{lever}, or {rename}" if lever else rename)
