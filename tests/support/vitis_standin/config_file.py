"""Configuration files of v++ and vitis-run: sections of `key=value`; an unknown key ends the tool."""

from dataclasses import dataclass
from pathlib import Path

from vitis_standin.call import Call

# Keys before the first section.
COMMON = {"part", "platform", "kernel_frequency", "freqhz", "target", "save-temps", "temp_dir", "log_dir", "report_dir"}
COMMON |= {"report_level", "jobs", "debug", "optimize", "profile_kernel", "messageDb", "user_ip_repo_paths"}

# UG1399, "HLS Config File Commands": those of the sections that designs use.
HLS = {"clock", "clock_uncertainty", "flow_target", "skip_syn"}
HLS |= {f"syn.{name}" for name in ("top", "file", "cflags", "file_cflags", "file_csimflags", "csimflags", "rtl.reset")}
HLS |= {f"syn.compile.{name}" for name in ("pipeline_loops", "pipeline_style", "name_max_length", "no_signed_zeros")}
HLS |= {f"syn.dataflow.{name}" for name in ("default_channel", "fifo_depth", "strict_mode", "start_fifo_depth")}
HLS |= {f"syn.interface.{name}" for name in ("m_axi_addr64", "m_axi_latency", "m_axi_max_widen_bitwidth")}
HLS |= {f"tb.{name}" for name in ("file", "cflags", "file_cflags")}
HLS |= {
    f"csim.{name}" for name in ("O", "argv", "clean", "ldflags", "mflags", "setup", "code_analyzer", "sanitize_address")
}
HLS |= {
    f"cosim.{name}" for name in ("O", "argv", "ldflags", "mflags", "rtl", "setup", "tool", "trace_level", "wave_debug")
}
HLS |= {f"cosim.{name}" for name in ("random_stall", "disable_deadlock_detection", "enable_dataflow_profiling")}
HLS |= {
    f"package.{name}" for name in ("output.format", "output.file", "output.syn", "ip.name", "ip.version", "ip.vendor")
}
HLS |= {"vivado.flow", "vivado.rtl", "vivado.clock", "vivado.report_level"}

SECTIONS: dict[str, set[str]] = {
    "": COMMON,
    "hls": HLS,
    "connectivity": {"nk", "sp", "sc", "stream_connect", "slr", "connect"},
    "clock": {"freqHz", "defaultFreqHz", "id", "defaultId", "tolerance", "default_tolerance", "freqhz"},
    "vivado": {"prop", "param", "impl.jobs", "synth.jobs", "impl.strategies"},
    "advanced": {"prop", "param", "misc"},
    "profile": {"data", "stall", "exec", "aie", "trace_memory"},
    "debug": {"chipscope", "protocol", "aie.chipscope"},
    "linker": {"slrs", "userPostSysLinkTcl"},
    "package": {"out_dir", "boot_mode"},
}


@dataclass(frozen=True)
class Setting:
    """`name` with its section: "hls.syn.top", "connectivity.nk"; those before the first section have none."""

    name: str
    value: str
    line: int


def read_config(call: Call, file: Path) -> list[Setting]:
    """All settings in order. Ends the tool for a file that is not there and for a key that it does not know."""
    if not file.is_file():
        call.die(f"{call.tool} 60-1464", f"The config file '{file}' does not exist")
    section, found = "", list[Setting]()
    for number, line in enumerate(file.read_text().splitlines(), 1):
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        if line.startswith("["):
            section = line.strip("[]")
            if section not in SECTIONS:
                call.die(f"{call.tool} 60-1520", f"unrecognised section '{section}' ({file}:{number})")
            continue
        key, equals, value = line.partition("=")
        name = f"{section}.{key}" if section else key
        if not equals or key.strip() not in SECTIONS[section]:
            call.die(f"{call.tool} 60-1520", f"unrecognised option '{name}' ({file}:{number})")
        found.append(Setting(name, value.strip(), number))
    return found


def values(settings: list[Setting], name: str) -> list[str]:
    return [setting.value for setting in settings if setting.name == name]


def last(settings: list[Setting], name: str, default: str = "") -> str:
    return (values(settings, name) or [default])[-1]
