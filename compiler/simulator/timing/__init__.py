"""Cycle-exact timing of a network of pipelined processes and bounded FIFOs (design 3.4)."""
