"""Proof of one design: its emitted C++ runs, and every task and every result is compared with its definition."""
