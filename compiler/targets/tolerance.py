"""How far a design's results may be from PyTorch's: one number a precision, for `tb.cpp` and `compiler.proof`."""

from compiler.options import Precision

# Largest error allowed, relative to the largest magnitude of the result. f32: sums in another order than PyTorch's.
# Quantised: the same, and an activation that falls the other side of a rounding boundary moves by one step of its
# scale.
TOLERANCE: dict[Precision, float] = {"f32": 1e-4, "w8a8": 5e-3, "w4a8": 5e-3, "w8a8kv8": 5e-3, "w4a8kv8": 5e-3}
