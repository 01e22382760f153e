"""The itensor compiler: PyTorch to stream-based dataflow accelerators. `pipeline.py` is the whole story."""
