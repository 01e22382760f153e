"""From a PyTorch network to a LinalgGraph: everything that needs torch or torch-mlir runs in a subprocess."""
