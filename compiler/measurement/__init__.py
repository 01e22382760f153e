"""Measuring a design on a board through XRT, and on the simulated board by the same steps."""
