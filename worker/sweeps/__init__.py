"""Sweeps: what a run explores, when one is due, webhooks."""
