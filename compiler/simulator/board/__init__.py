"""The simulated board: pyxrt's interface over the emitted C++ of a design, run by a process of its own."""
