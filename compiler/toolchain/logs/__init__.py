"""Logs of v++ and Vitis HLS: how a run ended, and why."""
