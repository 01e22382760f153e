"""`v++ -c --mode hls` and `v++ -l`: their command lines."""

import os
import re
from dataclasses import dataclass, field
from pathlib import Path

from vitis_standin import hls
from vitis_standin.call import Call
from vitis_standin.config_file import Setting, last, read_config
from vitis_standin.linking import link
from vitis_standin.vitis_run import component_of, package

_FLAGS = {"-c": "compile", "--compile": "compile", "-l": "link", "--link": "link", "-s": "save-temps"}
_FLAGS |= {"--save-temps": "save-temps", "-g": "debug", "--debug": "debug"}
_VALUED = {"-t": "target", "--target": "target", "-f": "platform", "--platform": "platform", "-o": "output"}
_VALUED |= {"--output": "output", "-R": "report_level", "--report_level": "report_level", "-j": "jobs"}
_VALUED |= {"--jobs": "jobs", "-O": "optimize", "--optimize": "optimize", "-k": "kernel", "--kernel": "kernel"}
_VALUED |= {
    f"--{n}": n for n in ("config", "kernel_frequency", "temp_dir", "log_dir", "report_dir", "mode", "work_dir")
}
_VALUED |= {
    f"--{n}": n for n in ("vivado.prop", "vivado.param", "connectivity.nk", "connectivity.sp", "connectivity.slr")
}
_VALUED |= {f"--{n}": n for n in ("advanced.prop", "advanced.param", "clock.freqHz", "part", "user_ip_repo_paths")}
_SINCE = {"mode": (2023, 1), "work_dir": (2023, 1), "freqhz": (2023, 2)}
_COMMAND_ONLY = {"config", "output", "compile", "link", "mode", "work_dir", "save-temps"}
_FREQUENCY = re.compile(r"(\d+(\.\d+)?|[01]:\d+(\.\d+)?(\|[01]:\d+(\.\d+)?)*)")


@dataclass
class Options:
    """`settings` are those of the command line, which win, and then of the files."""

    flags: set[str] = field(default_factory=set[str])
    settings: list[Setting] = field(default_factory=list[Setting])
    inputs: list[Path] = field(default_factory=list[Path])
    configs: list[Path] = field(default_factory=list[Path])

    def get(self, name: str, default: str = "") -> str:
        """The first counts."""
        return next((s.value for s in self.settings if s.name == name), default)


def run(call: Call) -> int:
    options = _parsed(call)
    if {"compile", "link"} <= options.flags or not {"compile", "link"} & options.flags:
        call.die("v++ 60-1520", "give one of --compile and --link")
    call.info("v++ 60-1306", "Additional information associated with this v++ run can be found at:")
    call.say("\tReports: _x/reports")
    call.info("v++ 74-78", f"Compiler Version string: {call.version}")
    if "link" in options.flags:
        _check_link(call, options)
        return link(call, options)
    return _compile(call, options)


def _parsed(call: Call) -> Options:
    options, waiting = Options(), list(call.argv)
    while waiting:
        word = waiting.pop(0)
        name, _, value = word.partition("=") if word.startswith("--") else (word, "", "")
        if name in _FLAGS:
            options.flags.add(_FLAGS[name])
        elif (known := _VALUED.get(name)) and _SINCE.get(known, ()) <= call.number:
            if not value and not waiting:
                call.die("v++ 60-1520", f"the required argument for option '{name}' is missing")
            options.settings.append(Setting(known, value or waiting.pop(0), 0))
        elif name.startswith("-"):
            call.die("v++ 60-1520", f"unrecognised option '{name}'")
        else:
            options.inputs.append(Path(word))
    for file in [s.value for s in options.settings if s.name == "config"]:
        options.configs.append(Path(file))
        options.settings += read_config(call, Path(file))
    return options


def _compile(call: Call, options: Options) -> int:
    """A component of Vitis HLS; the flow from kernels in C++ with -k is not what designs use."""
    if options.get("mode") != "hls" or len(options.configs) != 1 or options.inputs:
        call.die("v++ 60-1520", "compilation needs --mode hls and one --config, and no other inputs")
    folder = options.configs[0].parent
    settings = [s for s in options.settings if s.name not in _COMMAND_ONLY]
    component = component_of(call, settings, options.get("work_dir"), folder)
    hls.csynth(call, component)
    if last(settings, "hls.package.output.syn", "false") == "true":
        package(call, component, settings, folder)
    call.info("v++ 60-791", "Total elapsed time: 0h 0m 12s")
    return 0


def _check_link(call: Call, options: Options) -> None:
    if options.get("target") not in {"hw", "hw_emu", "sw_emu"}:
        call.die("v++ 60-1520", f"the argument ('{options.get('target')}') for option '--target' is invalid")
    if options.get("report_level", "0") not in {"0", "1", "2", "estimate"}:
        call.die(
            "v++ 60-1520", f"the argument ('{options.get('report_level')}') for option '--report_level' is invalid"
        )
    frequency = options.get("kernel_frequency")
    if frequency and not _FREQUENCY.fullmatch(frequency):
        call.die("v++ 60-1520", f"the argument ('{frequency}') for option '--kernel_frequency' is invalid")
    if not options.get("output").endswith(".xclbin"):
        call.die("v++ 60-2500", "the output of a link must be an .xclbin")
    _check_platform(call, options.get("platform"))


def _check_platform(call: Call, name: str) -> None:
    places = [Path(p) for p in os.environ.get("PLATFORM_REPO_PATHS", "").split(os.pathsep) if p]
    files = [p / name / f"{name}.xpfm" for p in places] if not name.endswith(".xpfm") else [Path(name)]
    found = next((file for file in files if file.is_file()), None)
    if found is None:
        valid = sorted(f.stem for p in places for f in p.glob("*/*.xpfm"))
        call.error(
            "v++ 60-1258",
            f"No valid platform was found that matches {name}. Please make sure that the platform is specified "
            "correctly, and the platform has the right version number. The platform repo paths are:",
        )
        call.say("".join(f"\t{place}\n" for place in places) + f"The valid platforms found are: {', '.join(valid)}")
        call.die("v++ 60-703", "Failed to finish linking")
    call.info("v++ 60-895", f"  Target platform: {found}")
