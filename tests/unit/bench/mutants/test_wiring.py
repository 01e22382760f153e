from bench.mutants.edits import changed_lines
from bench.mutants.source import functions_of
from bench.mutants.wiring import Kernel, depth, wiring

TASKS = """void load_a(hls::stream<float>& out, const ap_uint<512>* memory0) {
}

void load_b(hls::stream<float>& out, const ap_uint<512>* memory0) {
}

void added(hls::stream<float>& a, hls::stream<float>& b, hls::stream<f32x2>& sum) {
  const float a_token = a.read();
  const float b_token = b.read();
  const float total = a_token + b_token;
  sum.write(total);
}

void divided(hls::stream<float>& a, hls::stream<float>& b, hls::stream<f32x2>& quotient) {
  const float a_token = a.read();
  const float b_token = b.read();
  const float quotient_token = a_token / b_token;
  quotient.write(quotient_token);
}
"""
TEXT = """extern "C" {
void k0(const ap_uint<512>* a_0, const ap_uint<512>* b_0, float scale) {
  hls::stream<float, 4> a_in("a_in");
  hls::stream<float, 1> b_in("b_in");
  hls::stream<f32x2, 32> y("y");

  load_a(a_in, a_0);
  load_b(b_in, b_0);
  TASK(
      a_in, b_in, y);
}
}
"""


def kernel(task: str) -> Kernel:
    kinds = {"load_a": "load", "load_b": "load", "added": "compute", "divided": "compute"}
    functions = functions_of(TASKS, kinds)  # pyright: ignore[reportArgumentType]
    return Kernel("k0", TEXT.replace("TASK", task), functions, {"load_a": ["a_in"], "load_b": ["b_in"], task: ["y"]})


def test_the_writer_of_a_stream_offers_its_depth() -> None:
    made = kernel("divided")
    places = depth(made)
    assert {task: len(found) for task, found in places.items()} == {"load_a": 1, "load_b": 1, "divided": 1}
    lines = [new for edit in places["load_a"][0] for _, new in changed_lines(made.text, edit.apply(made.text))]
    assert lines == [f'hls::stream<float, {n}> a_in("a_in");' for n in (3, 5, 2, 8)]
    assert len(places["load_b"][0]) == 1  # a stream holds one token at least


def test_arguments_of_a_type_change_places() -> None:
    made = kernel("divided")
    stream, memory = wiring(made)["load_a"]
    assert [new for _, new in changed_lines(made.text, memory[0].apply(made.text))] == [
        "load_a(a_in, b_0);",
        "load_b(b_in, a_0);",
    ]
    assert memory[0].also == ("load_b",)
    assert {edit.also for edit in stream} == {("load_b",), ("divided",)}


def test_arguments_that_mean_the_same_stay() -> None:
    inside = [edit for place in wiring(kernel("divided"))["divided"] for edit in place if not edit.also]
    assert len(inside) == 1
    assert not [edit for place in wiring(kernel("added"))["added"] for edit in place if not edit.also]
