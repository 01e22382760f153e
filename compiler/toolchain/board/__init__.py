"""What a board and its runtime (XRT) report: sensors, checks, power over time, profiles."""
