"""Dialects of one design in xDSL: itensor (streams of tensors) and dataflow (kernels, tasks, DMAs)."""
