// RUN: millrace-opt %s -p bind-multipliers --knobs '{"multiplier": "dsp"}' --split-input-file --verify-diagnostics | filecheck %s
// RUN: millrace-opt %s -p bind-multipliers --knobs '{"multiplier": "dsp_packed"}' --split-input-file --verify-diagnostics | filecheck %s --check-prefix PACKED

!i = !itensor.itensor<1xi8, iter_space: [4]*[1], iter_map: (d0)->(d0)>
!f = !itensor.itensor<1xf32, iter_space: [4]*[1], iter_map: (d0)->(d0)>

func.func @products(%x: tensor<4xi8> {dataflow.value = #dataflow.value<"x", input from "x">},
                    %y: tensor<4xf32> {dataflow.value = #dataflow.value<"y", input from "y">})
    -> (tensor<4xi8> {dataflow.output = #dataflow.output<"a" = "a"[d0] as [4]>},
        tensor<4xf32> {dataflow.output = #dataflow.output<"b" = "b"[d0] as [4]>}) {
  %a, %b = dataflow.kernel @kernel0 (%c: !i = %x : tensor<4xi8>, %d: !f = %y : tensor<4xf32>) {
    %s, %t = itensor.fork @fork_x ins(%c : !i) -> (!i, !i)
    // CHECK: dataflow.task @integer multiplier dsp
    // PACKED: dataflow.task @integer multiplier dsp_packed
    %a = dataflow.task @integer space<parallel 4 : 0> nest<[d0 4 x 1], unroll: [1]>
      ins("x"[d0] = %s : !i, "x"[d0] = %t : !i) -> ("a"[d0] : !i) {
    ^bb0(%e: i8, %f: i8):
      %p = arith.muli %e, %f : i8
      dataflow.yield %p : i8
    }
    // CHECK: dataflow.task @float
    // CHECK-NEXT: space
    // PACKED: dataflow.task @float
    // PACKED-NEXT: space
    %b = dataflow.task @float space<parallel 4 : 0> nest<[d0 4 x 1], unroll: [1]>
      ins("y"[d0] = %d : !f) -> ("b"[d0] : !f) {
    ^bb0(%e: f32):
      %p = arith.mulf %e, %e : f32
      dataflow.yield %p : f32
    }
    dataflow.yield %a, %b : !i, !f
  } : tensor<4xi8>, tensor<4xf32>
  func.return %a, %b : tensor<4xi8>, tensor<4xf32>
}

// -----

func.func @on_tensors(%x: tensor<4xi8> {dataflow.value = #dataflow.value<"x", input from "x">})
    -> (tensor<4xi8> {dataflow.output = #dataflow.output<"y" = "y"[d0] as [4]>}) {
  // CHECK: bind-multipliers expects every operation in a kernel; run linalg-to-dataflow first
  %y = dataflow.task @square space<parallel 4 : 0> nest<[d0 4 x 1], unroll: [1]>
    ins("x"[d0] = %x : tensor<4xi8>) -> ("y"[d0] : tensor<4xi8>) {
  ^bb0(%e: i8):
    %p = arith.muli %e, %e : i8
    dataflow.yield %p : i8
  }
  func.return %y : tensor<4xi8>
}
