"""What of ONNX is refused by its name alone; without the onnx package, so that it can be asked at the door."""

DOMAINS = frozenset({"", "ai.onnx"})

_NO_PERMUTATION = "its loops do not read single indices of a tensor in some order (a projected permutation)"
# Why a node can not become a loop nest of the graph; any other node is for torch-mlir and the lowering to judge.
REFUSED: dict[str, str] = {
    **dict.fromkeys(
        ("Conv", "ConvTranspose", "ConvInteger", "DeformConv"),
        f"{_NO_PERMUTATION}: a convolution reads windows. Start the network behind it (for a patch embedding: reshape "
        "the image to patches on the host and use MatMul)",
    ),
    **dict.fromkeys(
        ("MaxPool", "AveragePool", "LpPool", "MaxRoiPool", "RoiAlign", "Resize", "Upsample", "GridSample", "Col2Im"),
        f"{_NO_PERMUTATION}: it reads windows",
    ),
    **dict.fromkeys(("GlobalAveragePool", "GlobalMaxPool"), "write it as ReduceMean or ReduceMax"),
    **dict.fromkeys(
        ("Gather", "GatherElements", "GatherND", "Scatter", "ScatterElements", "ScatterND", "TopK", "NonZero"),
        "where it reads or writes depends on the data. Start the network behind it (for an embedding: look the rows "
        "up on the host)",
    ),
    **dict.fromkeys(("If", "Loop", "Scan", "SequenceMap"), "it has a control flow of its own; export without it"),
    **dict.fromkeys(("RNN", "LSTM", "GRU"), "it is a recurrence; export one step of it"),
    **dict.fromkeys(
        ("QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear", "MatMulInteger", "QLinearMatMul"),
        "networks from files are compiled in f32; export it unquantised",
    ),
    **dict.fromkeys(
        ("RegexFullMatch", "StringConcat", "StringNormalizer", "StringSplit", "TfIdfVectorizer"),
        "it computes with texts; do it on the host",
    ),
    **dict.fromkeys(("RandomNormal", "RandomUniform", "Bernoulli", "Multinomial"), "it is random"),
}
