// RUN: millrace-opt %s -p "bind-multipliers{multiplier=dsp}" | filecheck %s
// RUN: millrace-opt %s -p "bind-multipliers{multiplier=dsp_packed}" | filecheck %s --check-prefix PACKED
// RUN: millrace-opt %s -p "bind-multipliers{multiplier=booth}" --verify-diagnostics | filecheck %s --check-prefix UNKNOWN

// UNKNOWN: multiplier 'booth' is unknown; use one of fabric, dsp
func.func @products(%x: tensor<4xi8>, %y: tensor<4xf32>) {
  // CHECK: dataflow.task @integer multiplier dsp
  // PACKED: dataflow.task @integer multiplier dsp_packed
  %a = dataflow.task @integer space<parallel 4 : 0>
    ins("x"[d0] = %x : tensor<4xi8>, "x"[d0] = %x : tensor<4xi8>) -> ("a"[d0] : tensor<4xi8>) {
  ^bb0(%e: i8, %f: i8):
    %p = arith.muli %e, %f : i8
    dataflow.yield %p : i8
  }
  // CHECK: dataflow.task @float
  // CHECK-NEXT: space
  %b = dataflow.task @float space<parallel 4 : 0> ins("y"[d0] = %y : tensor<4xf32>) -> ("b"[d0] : tensor<4xf32>) {
  ^bb0(%e: f32):
    %p = arith.mulf %e, %e : f32
    dataflow.yield %p : f32
  }
  func.return
}
