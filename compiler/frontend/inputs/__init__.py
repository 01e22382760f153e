"""Models from files: ONNX, linalg text, torch.export archives. One module a format; `source` tells them apart."""
