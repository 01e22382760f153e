"""`vitis_hls -f <script>`, `vitis-run --mode hls --tcl <script>`: Tcl with the commands of Vitis HLS."""

import os
from functools import partial
from pathlib import Path

import tcl
from vitis_standin import hls
from vitis_standin.call import Call, ToolExit
from vitis_standin.hls import Component

# Options of each command, and whether they take a value (UG1399, "Vitis HLS Command Reference").
_OPTIONS: dict[str, dict[str, bool]] = {
    "open_project": {"-reset": False, "-diagnostic": False, "-flow_target": True},
    "open_solution": {"-reset": False, "-flow_target": True},
    "open_component": {"-reset": False, "-flow_target": True},
    "set_top": {},
    "add_files": {"-tb": False, "-cflags": True, "-csimflags": True, "-blackbox": False},
    "set_part": {},
    "create_clock": {"-period": True, "-name": True},
    "csim_design": {"-argv": True, "-O": False, "-clean": False, "-ldflags": True, "-setup": False},
    "csynth_design": {"-dump_post_cfg": False, "-synthesis_check": False},
    "cosim_design": {"-argv": True, "-O": False, "-rtl": True, "-tool": True, "-trace_level": True, "-ldflags": True},
    "export_design": {"-format": True, "-output": True, "-flow": True, "-rtl": True, "-version": True},
    "close_project": {},
    "config_export": {"-format": True, "-output": True},
    "exit": {},
}
_FIRST_COMPONENTS = (2023, 2)


class Session:
    """The state of one script: the open component."""

    def __init__(self, call: Call) -> None:
        self.call = call
        self.component: Component | None = None
        self.project: Path | None = None
        self._options: dict[str, str] = {}
        self._rest: list[str] = []

    def run(self, command: str, *arguments: str) -> str:
        """One command of the tool; errors end the script as they do there."""
        self.call.info("HLS 200-1510", f"Running: {' '.join((command, *arguments))} ")
        self._options, self._rest = self._parse(command, arguments)
        getattr(self, f"_{command}")()
        return ""

    def _parse(self, command: str, arguments: tuple[str, ...]) -> tuple[dict[str, str], list[str]]:
        known, options, rest, waiting = _OPTIONS[command], dict[str, str](), list[str](), list(arguments)
        while waiting:
            word = waiting.pop(0)
            if not word.startswith("-"):
                rest.append(word)
            elif word not in known:
                self.call.die("HLS 200-101", f"'{command}': Unknown option '{word}'.")
            else:
                options[word] = waiting.pop(0) if known[word] and waiting else ""
        return options, rest

    @property
    def _open(self) -> Component:
        if self.component is None:
            self.call.die("HLS 200-100", "no component or solution is open")
        return self.component

    def _open_project(self) -> None:
        if self.call.number >= (2025, 1):
            self.call.say("WARNING: [HLS 200-2199] open_project is deprecated; use open_component")
        self.project = Path(self._rest[0])

    def _open_solution(self) -> None:
        if self.project is None:
            self.call.die("HLS 200-100", "'open_solution': no project is open")
        self._begin(
            Component(self.project, self.project / self._rest[0], flow=self._options.get("-flow_target", "vivado"))
        )

    def _open_component(self) -> None:
        folder = Path(self._rest[0])
        self._begin(Component(folder, folder / "hls", flow=self._options.get("-flow_target", "vivado")))

    def _begin(self, component: Component) -> None:
        component.solution.mkdir(parents=True, exist_ok=True)
        self.component = component

    def _set_top(self) -> None:
        self._open.top = self._rest[0]

    def _add_files(self) -> None:
        for name in self._rest[0].split():
            if not Path(name).is_file():
                what = "test bench" if "-tb" in self._options else "design"
                self.call.say(f"WARNING: [HLS 200-40] Cannot find {what} file '{name}'")
            (self._open.tb if "-tb" in self._options else self._open.files).append(Path(name))

    def _set_part(self) -> None:
        self._open.part = self._rest[0].strip("{}")

    def _create_clock(self) -> None:
        self._open.period = float(self._options["-period"])

    def _csim_design(self) -> None:
        hls.csim(self.call, self._open)

    def _csynth_design(self) -> None:
        steps = os.environ.get("MILLRACE_STEPS", "")
        hls.csynth(self.call, self._open, "cosim" if "cosim" in steps else "csynth")

    def _cosim_design(self) -> None:
        self._open.argv = self._options.get("-argv", "")
        hls.cosim(self.call, self._open)

    def _export_design(self) -> None:
        if self._options.get("-format") != "xo":
            self.call.die("HLS 200-101", f"'export_design': unknown format '{self._options.get('-format')}'")
        hls.export(self.call, self._open, Path(self._options.get("-output", f"{self._open.top}.xo")))

    def _close_project(self) -> None:
        self.component = None

    def _config_export(self) -> None: ...

    def _exit(self) -> None:
        raise ToolExit(int(self._rest[0]) if self._rest else 0)


def run(call: Call) -> int:
    """vitis_hls [-f <script>] [-l <log>]."""
    script, log, waiting = "", "vitis_hls.log", list(call.argv)
    while waiting:
        word = waiting.pop(0)
        if word in {"-f", "-l"} and waiting:
            script, log = (waiting.pop(0), log) if word == "-f" else (script, waiting.pop(0))
        elif word.startswith("-"):
            call.die("HLS 200-101", f"'vitis_hls': Unknown option '{word}'.")
    if not script:
        call.die("HLS 200-101", "'vitis_hls': give a script with -f: there is no display for the GUI")
    with Path(log).open("w") as call.log:
        if call.number >= (2023, 2):
            call.log.flush()
        return source(call, Path(script))


def source(call: Call, script: Path) -> int:
    """Runs a script; the exit code."""
    _banner(call)
    if not script.is_file():
        call.say(f'couldn\'t read file "{script}": no such file or directory\n    while executing\n"source {script}"')
        return 1
    session, code = Session(call), 0
    try:
        tcl.source(script, {command: partial(session.run, command) for command in _commands(call)})
    except tcl.TclError as error:
        call.say(f'{error}\n    while executing\n"source {script}"')
        return 1
    except ToolExit as end:
        code = end.code
    if code:
        call.say(f'{code}\n    while executing\n"source {script}"\n    invoked from within\n"hls::main {script}"')
    call.info(
        "HLS 200-112",
        "Total CPU user time: 1.94 seconds. Total CPU system time: 0.47 seconds. Total elapsed time: 12.32 seconds; "
        "peak allocated memory: 1.071 GB.",
    )
    call.info("Common 17-206", f"Exiting {call.tool} at Tue Oct 28 00:25:16 2025...")
    return code


def _commands(call: Call) -> list[str]:
    """Those of the version: components came with the unified tools."""
    return [name for name in _OPTIONS if name != "open_component" or call.number >= _FIRST_COMPONENTS]


def _banner(call: Call) -> None:
    call.say(f"\n****** Vitis HLS - High-Level Synthesis from C, C++ and OpenCL v{call.version} (64-bit)")
    call.say("  **** SW Build 4023990 on Oct 11 2023")
    call.say("    ** Copyright 1986-2022 Xilinx, Inc. All Rights Reserved.\n")
    call.info("HLS 200-10", f"Running '{call.root}/bin/{call.tool}'")
    if call.tool == "vitis_hls" and call.number >= (2023, 2):
        call.info(
            "HLS 200-2053", "The vitis_hls executable is being deprecated. Consider using vitis-run --mode hls --tcl"
        )
