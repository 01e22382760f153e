"""What is computed about a design from plain values: tiling, fusion, FIFO depths, TaskGraph, latency, area, energy."""
