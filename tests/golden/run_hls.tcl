# Synthesises every kernel of layer_norm for AMD Alveo U55C and exports <kernel>.xo:
#   vitis_hls -f run_hls.tcl                  2022.2 to 2024.1
#   vitis-run --mode hls --tcl run_hls.tcl    2023.2 and later
# MILLRACE_STEPS in the environment says what to run: "csim csynth cosim export" or some of them; MILLRACE_KERNELS
# names the kernels, all without it.
set folder [file normalize [file dirname [info script]]]
set kernels {layer_norm_k0 layer_norm_k1 layer_norm_k2}
set steps {csynth export}
if {[info exists ::env(MILLRACE_STEPS)]} {
  set steps $::env(MILLRACE_STEPS)
}
set chosen $kernels
if {[info exists ::env(MILLRACE_KERNELS)]} {
  set chosen $::env(MILLRACE_KERNELS)
}
cd $folder

# Components replace projects and solutions; 2025.1 warns of the old commands, 2022.2 lacks the new one.
proc open_build {name} {
  if {[llength [info commands open_component]]} {
    open_component -reset $name -flow_target vitis
  } else {
    open_project -reset $name
    open_solution -reset solution -flow_target vitis
  }
}

foreach kernel $chosen {
  open_build build_$kernel
  set_top $kernel
  add_files $kernel.cpp -cflags {-std=c++14}
  add_files layer_norm_tasks.cpp -cflags {-std=c++14}
  add_files -tb tb.cpp -cflags {-std=c++14}
  foreach other $kernels {
    if {$other ne $kernel} {
      add_files -tb $other.cpp -cflags {-std=c++14}
    }
  }
  set_part {xcu55c-fsvh2892-2L-e}
  create_clock -period 4.000 -name default
  foreach step $steps {
    switch $step {
      csim { csim_design -argv [file dirname $folder] }
      csynth { csynth_design }
      cosim { cosim_design -argv [file dirname $folder] }
      export { export_design -format xo -output $folder/$kernel.xo }
      default { error "unknown step $step; the steps are csim, csynth, cosim, export" }
    }
  }
}
exit
