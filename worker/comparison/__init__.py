"""The end of a sweep's run: its explorations compared with those of the last good run."""
