"""From cleaned linalg text to the normal form of LinalgGraph. Pure Python on xDSL; no torch."""
