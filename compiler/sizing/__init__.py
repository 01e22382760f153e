"""Depths of the FIFOs of a design: planned by a linear program, certified and tightened against the simulator."""
