"""C simulation: the emitted C++ of a design, built with g++ against the stand-in headers and run."""
