# Dies of layer_norm. Vivado runs it before place_design: link.cfg names it.

# A die's own region: the platform has one for each die, else it is made here.
proc die {slr} {
  set pblock [get_pblocks -quiet pblock_dynamic_$slr]
  if {[llength $pblock] == 0} {
    set pblock [get_pblocks -quiet millrace_$slr]
  }
  if {[llength $pblock] == 0} {
    set pblock [create_pblock millrace_$slr]
    resize_pblock $pblock -add $slr
  }
  return $pblock
}

proc place {slr unit instances} {
  foreach instance $instances {
    set cells [get_cells -quiet -hierarchical -filter "NAME =~ */$unit/inst/$instance"]
    if {[llength $cells] == 0} {
      puts "WARNING: floorplan.tcl: $unit has no instance $instance; Vivado places it where it likes"
      continue
    }
    add_cells_to_pblock [die $slr] $cells -clear_locs
  }
}

place SLR1 k2_1 {
  load_k2_f32x4_U0
  gmem_beta_k2_0_m_axi_U
  load_f32x4_U0
  gmem_c_0_m_axi_U
  load_k2_f32x4_1_U0
  gmem_gamma_k2_0_m_axi_U
  load_float_U0
  gmem_squares_0_m_axi_U
  convert_in1_float_U0
  load_f32x4_1_U0
  gmem_x_k2_0_m_axi_U
  op_y_U0
  convert_squares_to_op_y_in1_in_U
  op_y_in0_U
  op_y_in1_U
  op_y_in3_U
  op_y_in4_U
  op_y_in5_U
}
place SLR2 k2_1 {
  store_f32x4_U0
  store_y_in_U
}
