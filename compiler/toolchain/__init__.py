"""Readers of what Vitis HLS, v++, Vivado and XRT write: each report becomes a typed value, or says why it is none."""
