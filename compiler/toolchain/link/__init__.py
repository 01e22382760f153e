"""Reports of v++ link and Vivado: what a placed and routed design takes, and how fast it may run."""
