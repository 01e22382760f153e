"""The one table of what an uploaded network may hold, and why: what is above would not be imported within 5 minutes and
4 GB, or kills a recursive reader; what honest networks have lies well below.
"""

# Files.
MAX_ONNX_BYTES = 1 << 30  # weights of 250 million parameters, which the importer holds about twice
MAX_PT2_BYTES = 1 << 30
MAX_MLIR_BYTES = 16 << 20  # text without weights: GPT-2's twelve layers have 1 MiB

# ONNX.
MAX_NODES = 8192  # 2,000 layers have 6,000; an import takes about 7 ms a node
MAX_TENSORS = 8192  # each float one is an argument of the network
MAX_INPUTS = 1024  # without initialisers: the KV cache of 80 layers has 160
MAX_OPERANDS = 2048  # of one node
MAX_PARTS = 1 << 19  # fields of the whole file: a node has 15, and stepping over one takes a microsecond
MAX_NAME = 1024  # bytes: PyTorch's longest paths have 300
MAX_TEXT = 4096  # bytes of an attribute: the equation of an Einsum is read in more than linear time
MAX_RANK = 8
MAX_ELEMENTS = 1 << 28  # of one tensor: 1 GiB as f32
MAX_INDICES = 4096  # elements of an integer tensor: shapes and axes are short
MAX_VALUES = 1 << 30  # elements of all values together: each is computed, lowered and compared
MAX_ALIVE = 3 << 27  # elements that the reference holds at once: 1.5 GiB as f32
MAX_PRODUCTS = 1 << 40  # multiplications of the reference: GPT-2's twelve layers on 1,024 tokens have 2^37

# Linalg text.
MAX_OPERATIONS = 1 << 16  # scalar ones included
MAX_FUNCTIONS = 16  # the network is one; the others would only be read
MAX_TEXT_RANK = 16  # dimensions of a tensor: reshapes in between have more than MAX_RANK
MAX_ARGUMENTS = 4096  # of one function or region
MAX_ALIASES = 1 << 16  # a module with its locations has one alias for each line of its source
MAX_ALIAS_DEPTH = 32  # readers and printers recurse
MAX_EXPANDED = 64 << 20  # bytes of the text with every alias written out: what printing it would take
MAX_NESTING = 64  # brackets in brackets: readers recurse
MAX_MAP = 2048  # bytes of an affine map or set: a map of eight loops has 60
MAX_INTEGER_BITS = 64  # wider ones are multiplied in quadratic time
MAX_DIGITS = 64  # of a number in text: they are read in quadratic time
MAX_CONTENT = 3 << 27  # elements of all arguments and results: the compiled reference frees none
MAX_STEPS = 1 << 35  # iterations of all loop nests: the compiled reference takes about 2 ns for one

# Archives of torch.export.
MAX_MEMBERS = 20_000
MAX_DIRECTORY = 16 << 20  # bytes of the list of members
MAX_UNPACKED = 2 << 30
MAX_RATIO = 200  # weights compress by less than 2; zeros by 1000
MAX_PROGRAM = 32 << 20  # bytes of the exported program's JSON, without weights: GPT-2 has 2 MiB
MAX_PICKLE = 16 << 20  # bytes of sample inputs

# Calibration data.
MAX_SAMPLES = 4096  # the interpreter computes each: networks of MLPerf Tiny take 20 to 200 ms
MAX_SAMPLES_BYTES = 512 << 20

# The look itself.
SCAN_SECONDS = 2.0  # of processor time: 6,000 nodes take 0.2
SCAN_MEMORY_BYTES = 512 << 20
SCAN_WALL_SECONDS = 30.0  # on a machine that is busy with builds
