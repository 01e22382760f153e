"""Synthesis of each kernel: `hls.cfg` for v++ and vitis-run, `run_hls.tcl` for the tools that take Tcl.

Option names as in UG1399's map from Tcl to configuration commands. Only those that every release from the first one
which has the command still knows: an unknown one ends the tool.
"""

from compiler.platforms.platform import Platform
from compiler.targets.interface import Interface, Kernel

FLAGS = "-std=c++14"


def hls_cfg(interface: Interface, kernel: Kernel, platform: Platform) -> str:
    """For `v++ -c --mode hls` and `vitis-run --mode hls` (from 2023.2)."""
    lines = [
        f"# {kernel.name} for {platform.title}, Vitis 2023.2 or later. In this folder:",
        f"#   v++ -c --mode hls --config <this file> --work_dir build_{kernel.name}       synthesis, {kernel.name}.xo",
        f"#   vitis-run --mode hls --csim --config <this file> --work_dir build_{kernel.name}    or --cosim",
        f"part={platform.part}",
        "",
        "[hls]",
        "flow_target=vitis",
        f"clock={platform.clock_mhz:g}MHz",
        f"syn.top={kernel.name}",
        f"syn.file={kernel.name}.cpp",
        f"syn.file={interface.name}_tasks.cpp",
        f"syn.cflags={FLAGS}",
        "tb.file=tb.cpp",
        *(f"tb.file={k.name}.cpp" for k in interface.kernels if k is not kernel),
        f"tb.cflags={FLAGS}",
        "csim.O=true",
        "cosim.O=true",
        "package.output.format=xo",
        f"package.output.file={kernel.name}.xo",
        "package.output.syn=true",
    ]
    return "\n".join(lines) + "\n"


def run_hls_tcl(interface: Interface, platform: Platform) -> str:
    """Every kernel, for `vitis_hls -f` (to 2024.1) and `vitis-run --mode hls --tcl` (from 2023.2).

    What runs is taken from the environment: the tools differ in how they pass arguments to a script.
    """
    tops = " ".join(k.name for k in interface.kernels)
    return f"""# Synthesises every kernel of {interface.name} for {platform.title} and exports <kernel>.xo:
#   vitis_hls -f run_hls.tcl                  2022.2 to 2024.1
#   vitis-run --mode hls --tcl run_hls.tcl    2023.2 and later
# MILLRACE_STEPS in the environment says what to run: "csim csynth cosim export" or some of them; MILLRACE_KERNELS
# names the kernels, all without it.
set folder [file normalize [file dirname [info script]]]
set kernels {{{tops}}}
set steps {{csynth export}}
if {{[info exists ::env(MILLRACE_STEPS)]}} {{
  set steps $::env(MILLRACE_STEPS)
}}
set chosen $kernels
if {{[info exists ::env(MILLRACE_KERNELS)]}} {{
  set chosen $::env(MILLRACE_KERNELS)
}}
cd $folder

# Components replace projects and solutions; 2025.1 warns of the old commands, 2022.2 lacks the new one.
proc open_build {{name}} {{
  if {{[llength [info commands open_component]]}} {{
    open_component -reset $name -flow_target vitis
  }} else {{
    open_project -reset $name
    open_solution -reset solution -flow_target vitis
  }}
}}

foreach kernel $chosen {{
  open_build build_$kernel
  set_top $kernel
  add_files $kernel.cpp -cflags {{{FLAGS}}}
  add_files {interface.name}_tasks.cpp -cflags {{{FLAGS}}}
  add_files -tb tb.cpp -cflags {{{FLAGS}}}
  foreach other $kernels {{
    if {{$other ne $kernel}} {{
      add_files -tb $other.cpp -cflags {{{FLAGS}}}
    }}
  }}
  set_part {{{platform.part}}}
  create_clock -period {1e3 / platform.clock_mhz:.3f} -name default
  foreach step $steps {{
    switch $step {{
      csim {{ csim_design -argv [file dirname $folder] }}
      csynth {{ csynth_design }}
      cosim {{ cosim_design -argv [file dirname $folder] }}
      export {{ export_design -format xo -output $folder/$kernel.xo }}
      default {{ error "unknown step $step; the steps are csim, csynth, cosim, export" }}
    }}
  }}
}}
exit
"""
