"""`vitis-run --mode hls --csim|--cosim|--package --config <file> --work_dir <folder>`, and `--tcl <script>`."""

from pathlib import Path

from vitis_standin import hls, vitis_hls
from vitis_standin.call import Call
from vitis_standin.config_file import Setting, last, read_config, values
from vitis_standin.hls import Component

_STEPS = ("--csim", "--cosim", "--package", "--impl", "--tcl")
_VALUED = {"--mode", "--config", "--work_dir", "--part", "--platform", "--freqhz"}
_MHZ = "MHz"


def run(call: Call) -> int:
    options, steps, rest = dict[str, str](), list[str](), list[str]()
    waiting = list(call.argv)
    while waiting:
        word = waiting.pop(0)
        if word in _STEPS:
            steps.append(word)
        elif word in _VALUED and waiting:
            options[word] = waiting.pop(0)
        elif word.startswith("-"):
            call.die("vitis-run 60-1520", f"unrecognised option '{word.lstrip('-')}'")
        else:
            rest.append(word)
    if options.get("--mode") != "hls" or len(steps) != 1:
        call.die("vitis-run 60-1520", "give --mode hls and one of --csim, --cosim, --package, --impl, --tcl")
    if steps == ["--tcl"]:
        if len(rest) != 1:
            call.die("vitis-run 60-1520", "--tcl needs one script")
        return vitis_hls.source(call, Path(rest[0]))
    if rest:
        call.die("vitis-run 60-1520", f"too many positional options: {rest[0]}")
    return _step(call, steps[0], options)


def _step(call: Call, step: str, options: dict[str, str]) -> int:
    call.info("vitis-run 60-1548", "Creating build summary session with primary output")
    settings = read_config(call, Path(options.get("--config", "")))
    component = component_of(call, settings, options.get("--work_dir", ""), Path(options["--config"]).parent)
    if step == "--csim":
        hls.csim(call, component)
    elif step == "--cosim":
        component.argv = last(settings, "hls.cosim.argv")
        hls.cosim(call, component)
    elif step == "--package":
        package(call, component, settings, Path(options["--config"]).parent)
    else:
        call.die("vitis-run 60-1520", "--impl is not what a stand-in does")
    call.info("vitis-run 60-791", "Total elapsed time: 0h 0m 8s")
    return 0


def component_of(call: Call, settings: list[Setting], work_dir: str, folder: Path) -> Component:
    """The component that a configuration describes; its paths are relative to the file."""
    if not work_dir:
        call.die(f"{call.tool} 60-1520", "the option '--work_dir' is required")
    build = Path(work_dir)
    clock = last(settings, "hls.clock", "10ns")
    period = 1e3 / float(clock.removesuffix(_MHZ)) if clock.endswith(_MHZ) else float(clock.removesuffix("ns"))
    component = Component(
        build,
        build / "hls",
        last(settings, "hls.syn.top"),
        [folder / name for name in values(settings, "hls.syn.file")],
        [folder / name for name in values(settings, "hls.tb.file")],
        last(settings, "part"),
        period,
        last(settings, "hls.flow_target", "vivado"),
    )
    for file in (*component.files, *component.tb):
        if not file.is_file():
            call.die(f"{call.tool} 60-602", f"Source file does not exist: {file}")
    component.solution.mkdir(parents=True, exist_ok=True)
    return component


def package(call: Call, component: Component, settings: list[Setting], folder: Path) -> None:
    if last(settings, "hls.package.output.format", "ip_catalog") != "xo":
        return
    hls.export(call, component, folder / last(settings, "hls.package.output.file", f"{component.top}.xo"))
