"""`v++ -l`: system link, placement, routing, and the binary, with the messages and files of a real run."""

import re
from pathlib import Path
from typing import Protocol

from vitis_standin import texts
from vitis_standin.call import Call
from vitis_standin.config_file import Setting
from vitis_standin.connectivity import connect
from vitis_standin.faults import fail, fault, timing
from vitis_standin.link_reports import kernel_util, xclbin_info
from vitis_standin.sources import XoKernel, read_xo

_DEFAULT_MHZ = 300.0
_SCALED = 0.82  # the clock that a link of a real design came down to: 220 MHz to 177 MHz
_RUNS, _REPORTS = "link/vivado/vpl/prj/prj.runs/impl_1", "reports/link"


class Options(Protocol):
    inputs: list[Path]

    @property
    def settings(self) -> list[Setting]: ...

    def get(self, name: str, default: str = "") -> str: ...


def link(call: Call, options: Options) -> int:
    output, folder = Path(options.get("output")), Path(options.get("temp_dir", "_x"))
    call.info("v++ 60-629", "Linking for hardware target")
    call.info("v++ 60-423", f"  Target device: {options.get('platform')}")
    call.info("v++ 60-1443", "[04:38:43] Run run_link: Step system_link: Started")
    kernels = _kernels(call, options.inputs)
    units = connect(call, options, kernels)
    _step(call, "system_link", "00:00:24")
    kind = fault(call, "link")
    _begin(call, kind)
    if options.get("target") == "hw":
        _implement(call, folder, kind)
    requested = _requested(options)
    if kind == "timing_scaled" and any(s.name == "clock.freqHz" for s in options.settings):
        timing(call)  # a fixed clock can not be lowered
        return 1
    achieved = requested * _SCALED if kind in {"timing_scaled", "hopeless_qor"} else requested
    if options.get("target") == "hw":
        _settle_clock(call, requested, achieved)
        _write_reports(folder, call.version, kernels, achieved < requested, kind)
    return _finish(call, output, kind, xclbin_info(options.get("platform"), call.version, units, requested, achieved))


def _kernels(call: Call, inputs: list[Path]) -> dict[str, XoKernel]:
    if not inputs:
        call.die("v++ 60-2500", "Valid input file of type XO is required")
    found: dict[str, XoKernel] = {}
    for file in inputs:
        if not file.is_file():
            call.die("v++ 60-602", f"Source file does not exist: {file}")
        kernel = read_xo(file)
        if kernel is None:
            call.die("v++ 60-2500", f"{file} is no XO file")
        call.info("SYSTEM_LINK 82-70", f"Extracting xo v3 file {file}")
        found[kernel.name] = kernel
    return found


def _requested(options: Options) -> float:
    """Of clock 0: `250`, `0:250`, `0:250|1:500`, or of a fixed clock in Hz."""
    fixed = options.get("clock.freqHz")
    if fixed:
        return float(fixed.partition(":")[0]) / 1e6
    for part in filter(None, options.get("kernel_frequency").split("|")):
        clock, _, mhz = part.rpartition(":")
        if clock in {"", "0"}:
            return float(mhz)
    return _DEFAULT_MHZ


def _begin(call: Call, kind: str | None) -> None:
    call.info("v++ 60-1443", "[04:39:20] Run run_link: Step vpl: Started")
    call.say("[04:39:34] Run vpl: Step create_project: Started")
    call.say("[04:42:42] Run vpl: Step synth: Started")
    call.work("link", 0.2)
    if kind:
        fail(call, "link", kind)
    call.say(
        "[06:52:17] Finished 2nd of 6 tasks (FPGA linking synthesized kernels to platform). Elapsed time: 02h 12m 56s "
    )
    call.say("\n[06:52:17] Starting logic optimization..")


def _implement(call: Call, folder: Path, kind: str | None) -> None:
    """The assessment comes after opt_design; placement and routing take the rest of the time."""
    runs = folder / _RUNS
    runs.mkdir(parents=True, exist_ok=True)
    qor = texts.qor_bad() if kind == "hopeless_qor" else texts.text_of(texts.QOR_GOOD) or ""
    (runs / "qor_assessment_post_opt_design.rpt").write_text(_of_version(qor, call.version))
    call.say("[07:13:57] Finished 3rd of 6 tasks (FPGA logic optimization). Elapsed time: 00h 21m 39s ")
    call.say("\n[07:13:57] Starting logic placement..")
    call.work("link", 0.4)
    call.say("[12:19:01] Finished 4th of 6 tasks (FPGA logic placement). Elapsed time: 05h 05m 04s ")
    call.say("\n[12:19:01] Starting logic routing..")
    call.work("link", 0.4)
    call.say("[15:10:23] Run vpl: FINISHED. Run Status: impl Complete!")


def _settle_clock(call: Call, requested: float, achieved: float) -> None:
    if achieved < requested:
        call.say(
            "WARNING: [AUTO-FREQ-SCALING-04] One or more timing paths failed timing requirements. The kernel clock "
            f"ulp_ucs/aclk_kernel_00 has an original frequency equal to {requested:g} MHz. The frequency has been "
            f"automatically changed to {achieved:.1f} MHz to enable proper functionality. The clock Id is 0."
        )
    _step(call, "vpl", "10:31:03")
    call.info(
        "v++ 60-1230",
        "The compiler selected the following frequencies for the runtime controllable kernel clock(s) and scalable "
        "system clock(s): System (SYSTEM) clock: hbm_aclk = 450, Kernel (KERNEL) clock: ulp_ucs/aclk_kernel_01 = 500, "
        f"Kernel (DATA) clock: ulp_ucs/aclk_kernel_00 = {int(achieved)}",
    )


def _step(call: Call, name: str, elapsed: str) -> None:
    call.info("v++ 60-1441", f"[04:39:07] Run run_link: Step {name}: Completed")
    call.say(
        f"Time (s): cpu = 00:00:23 ; elapsed = {elapsed} . Memory (MB): peak = 458.316 ; gain = 0.000 ; "
        "free physical = 321472 ; free virtual = 791933"
    )


def _write_reports(folder: Path, version: str, kernels: dict[str, XoKernel], missed: bool, kind: str | None) -> None:
    runs, reports = folder / _RUNS, folder / _REPORTS / "imp"
    reports.mkdir(parents=True, exist_ok=True)
    timing_text = texts.text_of(texts.TIMING_MISSED) if missed else texts.timing_met()
    written = {
        runs / "dr_timing_summary.rpt": timing_text,
        reports / "impl_1_kernel_util_routed.rpt": kernel_util(list(kernels)),
        reports / "impl_1_slr_util_routed.rpt": texts.text_of(texts.SLR_UTIL),
        reports / "impl_1_hw_bb_locked_power_routed.rpt": texts.text_of(texts.POWER),
    }
    for file, text in written.items():
        whole = _of_version(text, version)
        file.write_text(whole[: len(whole) // 2] if kind == "truncated" else whole)


def _of_version(text: str | None, version: str) -> str:
    return re.sub(r"Vivado v\.\d{4}\.\d", f"Vivado v.{version}", text or "")


def _finish(call: Call, output: Path, kind: str | None, info: str) -> int:
    if kind != "no_report":
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_bytes(b"xclbin2\0" + info.encode())
        Path(f"{output}.info").write_text(info[: len(info) // 3] if kind == "truncated" else info)
        call.info("v++ 60-586", f"Created {output}")
    call.info("v++ 60-1307", "Run completed. Additional information can be found in:")
    call.info("v++ 60-791", "Total elapsed time: 10h 31m 58s")
    call.info("v++ 60-1653", "Closing dispatch client.")
    return 0
