"""Sweeps: schedule, runs, comparison with the last good run, webhooks."""
