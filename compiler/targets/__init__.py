"""Emission: a TaskGraph as HLS C++, Vitis configuration, packed parameters, testbench and host program."""
