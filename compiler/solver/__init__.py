"""The mathematical programs that the compiler solves, behind one module."""
