"""`parse_report`: any report of the tools, recognised by its content, never by its name.

A new kind of report is a row of `RECOGNISERS`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from compiler.errors import ReportError
from compiler.toolchain.board.power_profile import is_power_profile, parse_power_profile
from compiler.toolchain.board.profile_summary import is_profile_summary, parse_profile_summary
from compiler.toolchain.board.prometheus import is_prometheus, parse_prometheus
from compiler.toolchain.board.run_summary import is_run_summary, parse_run_summary
from compiler.toolchain.board.validate import is_validation, parse_validation
from compiler.toolchain.board.xbutil_json import is_xbutil_json, parse_xbutil_json
from compiler.toolchain.board.xbutil_text import is_xbutil_text, parse_xbutil_text
from compiler.toolchain.hls.cosim import is_cosim_rpt, parse_cosim
from compiler.toolchain.hls.csynth_xml import is_csynth_xml, parse_csynth_xml
from compiler.toolchain.hls.deadlock import is_deadlock_text, parse_deadlock
from compiler.toolchain.hls.design_size import is_design_size, parse_design_size
from compiler.toolchain.hls.module_rpt import is_module_rpt, parse_module_rpt
from compiler.toolchain.hls.summary_rpt import is_summary_rpt, parse_summary_rpt
from compiler.toolchain.link.kernel_util import is_kernel_util, parse_kernel_util
from compiler.toolchain.link.qor_assessment import is_qor_assessment, parse_qor_assessment
from compiler.toolchain.link.slr_util import is_slr_util, parse_slr_util
from compiler.toolchain.link.system_estimate import is_system_estimate, parse_system_estimate
from compiler.toolchain.link.timing_summary import is_timing_summary, parse_timing_summary
from compiler.toolchain.link.vivado_power import is_vivado_power, parse_vivado_power
from compiler.toolchain.link.xclbin_info import is_xclbin_info, parse_xclbin_info
from compiler.toolchain.logs.hls_log import is_hls_log, parse_hls_log
from compiler.toolchain.logs.vpp_log import is_vpp_log, parse_vpp_log
from compiler.toolchain.report import Report
from compiler.toolchain.source import Source, read_source


@dataclass(frozen=True, slots=True)
class Recogniser:
    """`kind` is what people call the report; `matches` looks at the text only and never raises."""

    kind: str
    matches: Callable[[Source], bool]
    parse: Callable[[Source], Report]


# The first that matches counts.
RECOGNISERS: tuple[Recogniser, ...] = (
    Recogniser("csynth.xml", is_csynth_xml, parse_csynth_xml),
    Recogniser("csynth_design_size.xml", is_design_size, parse_design_size),
    Recogniser("csynth.rpt (Synthesis Summary)", is_summary_rpt, parse_summary_rpt),
    Recogniser("<module>_csynth.rpt", is_module_rpt, parse_module_rpt),
    Recogniser("<top>_cosim.rpt", is_cosim_rpt, parse_cosim),
    Recogniser("kernel_util_routed.json/.rpt/.xutil", is_kernel_util, parse_kernel_util),
    Recogniser("slr_util_routed.rpt", is_slr_util, parse_slr_util),
    Recogniser("dr_timing_summary.rpt", is_timing_summary, parse_timing_summary),
    Recogniser("qor_assessment.rpt", is_qor_assessment, parse_qor_assessment),
    Recogniser("power_routed.rpt", is_vivado_power, parse_vivado_power),
    Recogniser("system_estimate.xtxt", is_system_estimate, parse_system_estimate),
    Recogniser("<name>.xclbin.info", is_xclbin_info, parse_xclbin_info),
    Recogniser("a log of v++", is_vpp_log, parse_vpp_log),
    Recogniser("vitis_hls.log", is_hls_log, parse_hls_log),
    Recogniser("xbutil examine", is_xbutil_text, parse_xbutil_text),
    Recogniser("xbutil examine as JSON", is_xbutil_json, parse_xbutil_json),
    Recogniser("xbutil validate", is_validation, parse_validation),
    Recogniser("the text of a board exporter", is_prometheus, parse_prometheus),
    Recogniser("power_profile.csv", is_power_profile, parse_power_profile),
    Recogniser("summary.csv", is_profile_summary, parse_profile_summary),
    Recogniser("xrt.run_summary", is_run_summary, parse_run_summary),
    # Last: the logs that hold such a text say more than it.
    Recogniser("the text of a deadlock", is_deadlock_text, parse_deadlock),
)


def parse_report(path: Path) -> Report:
    """The report at `path`. Raises ReportError for a file of no known kind, a truncated one and one too large."""
    return parse_source(read_source(path))


def parse_source(source: Source) -> Report:
    for recogniser in RECOGNISERS:
        if recogniser.matches(source):
            return recogniser.parse(source)
    kinds = ", ".join(r.kind for r in RECOGNISERS)
    raise ReportError(
        f"{source.name} is no report that can be read: it starts with {source.start}; give one of: {kinds}"
    )
