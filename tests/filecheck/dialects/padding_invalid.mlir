// RUN: millrace-opt %s --split-input-file --verify-diagnostics | filecheck %s

// CHECK: task @sum: padded points reach the reduction; mask loops [0]
func.func @unmasked(%x: tensor<16xf32>) -> tensor<f32> {
  %y = dataflow.task @sum space<reduction 16 : 0> valid<[13], masked: []> reduce add from 0.0 : f32
    ins("x"[d0] = %x : tensor<16xf32>) -> ("y"[] : tensor<f32>) {
  ^bb0(%a: f32):
    dataflow.yield %a : f32
  }
  func.return %y : tensor<f32>
}

// -----

// CHECK: task @copy: masked [0] must be padded reduction loops []
func.func @masked_in_parallel(%x: tensor<16xf32>) -> tensor<16xf32> {
  %y = dataflow.task @copy space<parallel 16 : 0> valid<[13], masked: [d0]>
    ins("x"[d0] = %x : tensor<16xf32>) -> ("y"[d0] : tensor<16xf32>) {
  ^bb0(%a: f32):
    dataflow.yield %a : f32
  }
  func.return %y : tensor<16xf32>
}

// -----

// CHECK: task @copy: valid [17] must lie within the loops [16]
func.func @longer_than_the_loop(%x: tensor<16xf32>) -> tensor<16xf32> {
  %y = dataflow.task @copy space<parallel 16 : 0> valid<[17], masked: []>
    ins("x"[d0] = %x : tensor<16xf32>) -> ("y"[d0] : tensor<16xf32>) {
  ^bb0(%a: f32):
    dataflow.yield %a : f32
  }
  func.return %y : tensor<16xf32>
}
