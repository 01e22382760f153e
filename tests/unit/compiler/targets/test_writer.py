from compiler.targets.writer import CppWriter, Namer, identifier


def test_names_are_legal_and_unique() -> None:
    namer = Namer(["x"])
    assert [namer.name(h) for h in ("x", "h0.attn.q", "h0.attn.q", "float", "3d", "")] == [
        "x_1",
        "h0_attn_q",
        "h0_attn_q_1",
        "float_1",
        "v3d",
        "v",
    ]
    assert identifier("gpt2-decode64") == "gpt2_decode64"


def test_blocks_indent_and_pragmas_stand_at_the_margin() -> None:
    out = CppWriter()
    with out.block("for (;;)"):
        out.pragma("unroll")
        out.line("f();")
    assert out.text() == "for (;;) {\n#pragma HLS unroll\n  f();\n}\n"


def test_long_calls_break_between_arguments() -> None:
    out = CppWriter()
    out.statement("call", [f"hls::stream<float>& argument{k}" for k in range(6)], ";")
    lines = out.text().splitlines()
    assert lines[0] == "call("
    assert all(len(line) <= 118 for line in lines)
    assert " ".join(line.strip() for line in lines[1:]).count("hls::stream<float>& argument") == 6
    assert lines[-1].endswith("argument5);")
