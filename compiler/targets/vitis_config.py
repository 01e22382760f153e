"""Configuration of the Vitis tools: synthesis of each kernel (both command forms), linking with HBM connectivity."""

from compiler.platforms.platform import Platform
from compiler.targets.interface import Image, Interface, Kernel

FLAGS = "-std=c++14"


def _sources(interface: Interface, kernel: Kernel) -> tuple[str, str]:
    return f"{kernel.name}.cpp", f"{interface.name}_tasks.cpp"


def hls_cfg(interface: Interface, kernel: Kernel, platform: Platform) -> str:
    """For `v++ -c --mode hls --config <file>` (from 2023.1; the only form from 2024.2 on)."""
    files = _sources(interface, kernel)
    lines = [
        f"# {kernel.name} for {platform.title}",
        f"part={platform.part}",
        "",
        "[hls]",
        "flow_target=vitis",
        f"clock={platform.clock_mhz:g}MHz",
        f"syn.top={kernel.name}",
        *(f"syn.file={f}" for f in files),
        *(f"syn.file_cflags={f},{FLAGS}" for f in files),
        "tb.file=tb.cpp",
        *(f"tb.file={k.name}.cpp" for k in interface.kernels if k is not kernel),
        f"tb.file_cflags=tb.cpp,{FLAGS}",
        "package.output.format=xo",
        f"package.output.file={kernel.name}.xo",
        "package.output.syn=false",
    ]
    return "\n".join(lines) + "\n"


def run_hls_tcl(interface: Interface, platform: Platform) -> str:
    """For `vitis_hls -f run_hls.tcl` (to 2023.2): every kernel; `-tclargs csim` runs C simulation first."""
    tops = " ".join(k.name for k in interface.kernels)
    return f"""# Synthesises every kernel of {interface.name} for {platform.title} and exports <kernel>.xo.
# vitis_hls -f run_hls.tcl [-tclargs csim]
set folder [file normalize [file dirname [info script]]]
set kernels {{{tops}}}
cd $folder

foreach kernel $kernels {{
  open_project -reset build_$kernel
  set_top $kernel
  add_files "$kernel.cpp {interface.name}_tasks.cpp" -cflags "{FLAGS}"
  add_files -tb tb.cpp -cflags "{FLAGS}"
  foreach other $kernels {{
    if {{$other ne $kernel}} {{
      add_files -tb $other.cpp -cflags "{FLAGS}"
    }}
  }}
  open_solution -reset solution -flow_target vitis
  set_part {{{platform.part}}}
  create_clock -period {1e3 / platform.clock_mhz:.3f} -name default
  if {{[lsearch $argv csim] >= 0}} {{
    csim_design -argv [file dirname $folder]
  }}
  csynth_design
  export_design -format xo -output $folder/$kernel.xo
  close_project
}}
exit
"""


def hbm_channels(interface: Interface, platform: Platform) -> dict[tuple[str, int], int]:
    """HBM pseudo-channel of each image's channels: heaviest traffic first, each to the channel with least so far."""
    traffic: dict[tuple[str, int], int] = {}
    images: dict[str, Image] = {i.name: i for i in interface.images}
    for kernel in interface.kernels:
        for port in kernel.ports:
            key = (port.image.name, port.channel)
            traffic[key] = traffic.get(key, 0) + port.traffic
    load = [0] * platform.hbm.channels
    space = [platform.hbm.channel_bytes] * platform.hbm.channels
    placed: dict[tuple[str, int], int] = {}
    for key in sorted(traffic, key=lambda k: (-traffic[k], k)):
        size = images[key[0]].dma.words * 64
        fitting = [c for c in range(len(load)) if space[c] >= size] or list(range(len(load)))
        channel = min(fitting, key=lambda c: (load[c], c))
        placed[key] = channel
        load[channel] += traffic[key]
        space[channel] -= size
    return placed


def link_cfg(interface: Interface, platform: Platform) -> str:
    """For `v++ -l`: one compute unit per kernel, each m_axi port on its HBM channel, the clock."""
    placed = hbm_channels(interface, platform)
    lines = [f"platform={platform.shell}", "", "[connectivity]"]
    lines += [f"nk={k.name}:1:{k.name}_1" for k in interface.kernels]
    lines += [
        f"sp={k.name}_1.{p.name}:HBM[{placed[p.image.name, p.channel]}]" for k in interface.kernels for p in k.ports
    ]
    frequency = round(platform.clock_mhz * 1e6)
    lines += ["", "[clock]"]
    lines += [f"freqHz={frequency}:{k.name}_1" for k in interface.kernels]
    return "\n".join(lines) + "\n"
