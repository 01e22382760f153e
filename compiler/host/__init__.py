"""The host program: runs a design, or a whole network through designs, on a board with pyxrt or on a simulated one.

A package of its own: the standard library and numpy, Python 3.10, nothing of Millrace. Every design carries a copy in
`host/runtime`, so its modules import each other relatively.
"""
