"""Passes over the IR of one design, one file each, and the pipeline that they make."""
