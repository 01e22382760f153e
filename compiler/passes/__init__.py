"""Infrastructure of passes: run them, verify between them, print stages."""
