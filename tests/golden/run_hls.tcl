# Synthesises every kernel of layer_norm for AMD Alveo U55C and exports <kernel>.xo.
# vitis_hls -f run_hls.tcl [-tclargs csim]
set folder [file normalize [file dirname [info script]]]
set kernels {layer_norm_k0 layer_norm_k1 layer_norm_k2 layer_norm_k3}
cd $folder

foreach kernel $kernels {
  open_project -reset build_$kernel
  set_top $kernel
  add_files "$kernel.cpp layer_norm_tasks.cpp" -cflags "-std=c++14"
  add_files -tb tb.cpp -cflags "-std=c++14"
  foreach other $kernels {
    if {$other ne $kernel} {
      add_files -tb $other.cpp -cflags "-std=c++14"
    }
  }
  open_solution -reset solution -flow_target vitis
  set_part {xcu55c-fsvh2892-2L-e}
  create_clock -period 4.000 -name default
  if {[lsearch $argv csim] >= 0} {
    csim_design -argv [file dirname $folder]
  }
  csynth_design
  export_design -format xo -output $folder/$kernel.xo
  close_project
}
exit
