"""Reports of Vitis HLS: C synthesis and RTL co-simulation."""
