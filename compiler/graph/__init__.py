"""Plain frozen values: the mathematics of itensors, the network (LinalgGraph) and the accelerator (TaskGraph)."""
