"""What of ONNX is refused by its name alone; without the onnx package, so that it can be asked at the door."""

DOMAINS = frozenset({"", "ai.onnx"})

OF_DATA = (
    "where it reads or writes depends on the data. Start the network behind it (for an embedding: look the rows up on "
    "the host)"
)
_NO_PERMUTATION = "it reads a tensor neither by single indices in some order nor by windows"
# Why a node can not become a loop nest of the graph; any other node is for torch-mlir and the lowering to judge.
REFUSED: dict[str, str] = {
    **dict.fromkeys(
        ("DeformConv", "LpPool", "MaxRoiPool", "RoiAlign", "GridSample", "Col2Im", "MaxUnpool"),
        f"{_NO_PERMUTATION}",
    ),
    **dict.fromkeys(
        ("GatherElements", "GatherND", "Scatter", "ScatterElements", "ScatterND", "TopK", "NonZero"),
        OF_DATA,
    ),
    **dict.fromkeys(("If", "Loop", "Scan", "SequenceMap"), "it has a control flow of its own; export without it"),
    **dict.fromkeys(("RNN", "LSTM", "GRU"), "it is a recurrence; export one step of it"),
    **dict.fromkeys(
        (
            "QuantizeLinear",
            "DequantizeLinear",
            "DynamicQuantizeLinear",
            "MatMulInteger",
            "QLinearMatMul",
            "ConvInteger",
            "QLinearConv",
        ),
        "the network is quantised already; export it in f32, and Millrace quantises it (--precision w8a8)",
    ),
    **dict.fromkeys(
        ("RegexFullMatch", "StringConcat", "StringNormalizer", "StringSplit", "TfIdfVectorizer"),
        "it computes with texts; do it on the host",
    ),
    **dict.fromkeys(("RandomNormal", "RandomUniform", "Bernoulli", "Multinomial"), "it is random"),
}
