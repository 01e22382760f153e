"""Vitis: finds the installed tools, runs them within limits, and reads what they wrote."""
