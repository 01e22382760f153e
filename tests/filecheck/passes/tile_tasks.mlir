// RUN: millrace-opt %s -p tile-tasks --knobs '{"default_tile_size": 4, "overall_unroll": 10}' --split-input-file --verify-diagnostics | filecheck %s
// RUN: millrace-opt %s -p tile-tasks --knobs '{"order": "reduction-outer", "overrides": [{"op": "fc", "tile": 8, "unroll": 1}, {"op": "relu", "unroll": 4}]}' --split-input-file --verify-diagnostics | filecheck %s --check-prefix OVERRIDE
// RUN: millrace-opt %s -p tile-tasks --knobs '{"overrides": [{"op": "fc", "order": [0, 2]}]}' --split-input-file --verify-diagnostics | filecheck %s --check-prefix ORDER
// RUN: millrace-opt %s -p tile-tasks --knobs '{"overrides": [{"op": "upp", "weights": "resident"}]}' --split-input-file --verify-diagnostics | filecheck %s --check-prefix NOWHERE

func.func @mlp(%x: tensor<8xf32> {dataflow.value = #dataflow.value<"x", input from "x">},
               %w: tensor<8x16xf32> {dataflow.value = #dataflow.value<"w", param from "w">})
    -> (tensor<8xf32> {dataflow.output = #dataflow.output<"y" = "y"[d0] as [8]>}) {
  // The unroll target goes to the slower task: it gets the whole tile of 4 x 4 points, the other one none.
  // CHECK: dataflow.task @fc
  // CHECK: nest<[d0 2 x 4, d1 4 x 4], unroll: [4, 4]>
  // OVERRIDE: dataflow.task @fc
  // OVERRIDE: nest<[d1 2 x 8, d1 8 x 1, d0 8 x 1], unroll: [1, 1]>
  // ORDER: order [0, 2] of fc is not a permutation of its loop groups [0, 1]
// NOWHERE: there is no operation 'upp' to override
  %h = dataflow.task @fc space<parallel 8 : 0, reduction 16 : 1> reduce add from 0.0 : f32
    ins("x"[d0] = %x : tensor<8xf32>, "w"[d0, d1] = %w : tensor<8x16xf32>) -> ("h"[d0] : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %p = arith.mulf %a, %b : f32
    dataflow.yield %p : f32
  }
  // CHECK: dataflow.task @relu
  // CHECK: nest<[d0 2 x 4, d0 4 x 1], unroll: [1]>
  // OVERRIDE: dataflow.task @relu
  // OVERRIDE: nest<[d0 2 x 4], unroll: [4]>
  %y = dataflow.task @relu space<parallel 8 : 0> ins("h"[d0] = %h : tensor<8xf32>) -> ("y"[d0] : tensor<8xf32>) {
  ^bb0(%a: f32):
    dataflow.yield %a : f32
  }
  func.return %y : tensor<8xf32>
}

// -----

// CHECK: a design is one func.func, this module has 2
func.func @one() {
  func.return
}
func.func @two() {
  func.return
}

// -----

func.func @windows(%x: tensor<32x2xf32> {dataflow.value = #dataflow.value<"x", input from "x">},
                   %w: tensor<4x2x3xf32> {dataflow.value = #dataflow.value<"w", param from "w">})
    -> (tensor<32x4xf32> {dataflow.output = #dataflow.output<"y" = "y"[d0, d1] as [32, 4]>}) {
  // Windows come one after the other, in the tokens that the product takes of their taps.
  // CHECK: dataflow.task @slide window d0
  // CHECK: nest<[d0 32 x 1, d1 2 x 1], unroll: [1, 1, 3]>
  // CHECK: dataflow.task @conv
  // CHECK: nest<[d0 8 x 4, d2 2 x 1, d0 4 x 1], unroll: [1, 4, 1, 3]>
  %s = dataflow.task @slide window d0 <[d2], stride: 1, dilation: 1, padding: 1, repeat: 1, fill: "0.0">
    space<parallel 32 : 0, parallel 2 : 1, parallel 3 : 2>
    ins("x"[d0, d1] = %x : tensor<32x2xf32>) -> ("s"[d0, d1, d2] : tensor<32x2x3xf32>)
  %y = dataflow.task @conv space<parallel 32 : 0, parallel 4 : 1, reduction 2 : 2, reduction 3 : 3> reduce add from 0.0 : f32
    ins("s"[d0, d2, d3] = %s : tensor<32x2x3xf32>, "w"[d1, d2, d3] = %w : tensor<4x2x3xf32>)
    -> ("y"[d0, d1] : tensor<32x4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %p = arith.mulf %a, %b : f32
    dataflow.yield %p : f32
  }
  func.return %y : tensor<32x4xf32>
}
