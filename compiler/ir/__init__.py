"""A design as text: written after every pass, read back, spelled out in loops (design section 3, representation 3)."""
