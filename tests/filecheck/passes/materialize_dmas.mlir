// RUN: millrace-opt %s -p materialize-dmas --knobs '{"hbm_channels": 2}' --split-input-file --verify-diagnostics | filecheck %s
// RUN: millrace-opt %s -p materialize-dmas --knobs '{"weights": "resident"}' --split-input-file --verify-diagnostics | filecheck %s --check-prefix=KEPT

!x = !itensor.itensor<1x1xf32, iter_space: [2,2,8]*[1,1,1], iter_map: (d0,d1,d2)->(d0,d2)>
!w = !itensor.itensor<32x1xf32, iter_space: [2,2,8]*[1,32,1], iter_map: (d0,d1,d2)->(d1,d2)>
!h = !itensor.itensor<1x32xf32, iter_space: [2,2]*[1,32], iter_map: (d0,d1)->(d0,d1)>

func.func @product(%x: tensor<2x8xf32> {dataflow.value = #dataflow.value<"x", input from "x">},
                   %w: tensor<64x8xf32> {dataflow.value = #dataflow.value<"fc.w", param from "w">})
    -> (tensor<2x64xf32> {dataflow.output = #dataflow.output<"y" = "h"[d0, d1] as [128]>}) {
  // x is read again behind d1, so a word holds no more than the 8 tokens between; the weight's tokens of 1024 bits
  // fill both ports, those of h take two words of the one port that results have.
  // CHECK:      %h = dataflow.kernel @kernel0 (
  // CHECK-NEXT:     %x_1: tensor<2x8xf32> = %x : tensor<2x8xf32>,
  // CHECK-NEXT:     %fc_w_1: tensor<64x8xf32> = %fc_w : tensor<64x8xf32>) {
  // CHECK-NEXT:   %x_2 = dataflow.load @load_x "x" packing<channels: 1, tokens_per_word: 8, words_per_token: 1> ins(%x_1 : tensor<2x8xf32>) -> (!itensor.itensor<1x1xf32, iter_space: [2,2,8]*[1,1,1], iter_map: (d0,d1,d2)->(d0,d2)>)
  // CHECK-NEXT:   %fc_w_2 = dataflow.load @load_fc_w "fc.w" packing<channels: 2, tokens_per_word: 1, words_per_token: 1> ins(%fc_w_1 : tensor<64x8xf32>)
  // CHECK-NEXT:   %[[H:.*]] = dataflow.task @fc
  // CHECK:            ins("x"[d0, d2] = %x_2 :
  // CHECK:        %[[Y:.*]] = dataflow.store @store_h "h" packing<channels: 1, tokens_per_word: 1, words_per_token: 2> ins(%[[H]] : {{.*}}) -> (tensor<2x64xf32>)
  // CHECK-NEXT:   dataflow.yield %[[Y]] : tensor<2x64xf32>
  // CHECK-NEXT: } : tensor<2x64xf32>
  // A parameter that stays on the chip needs no packing; inputs and what a launch chooses a row of are loaded all the
  // same.
  // KEPT:      dataflow.load @load_x "x" packing
  // KEPT-NEXT: dataflow.rom @load_fc_w "fc.w" ins(%fc_w_1 : tensor<64x8xf32>) -> (!itensor.itensor<32x1xf32,
  // KEPT:      dataflow.load @load_x "x" packing
  // KEPT:      dataflow.load @load_x "x" packing
  %y = dataflow.kernel @kernel0 (%a: !x = %x : tensor<2x8xf32>, %b: !w = %w : tensor<64x8xf32>) {
    %h = dataflow.task @fc space<parallel 2 : 0, parallel 64 : 1, reduction 8 : 2>
      nest<[d0 2 x 1, d1 2 x 32, d2 8 x 1], unroll: [1, 32, 1]> reduce add from 0.0 : f32
      ins("x"[d0, d2] = %a : !x, "fc.w"[d1, d2] = %b : !w) -> ("h"[d0, d1] : !h) {
    ^bb0(%e: f32, %f: f32):
      %p = arith.mulf %e, %f : f32
      dataflow.yield %p : f32
    }
    dataflow.yield %h : !h
  } : tensor<2x64xf32>
  func.return %y : tensor<2x64xf32>
}

// -----

!s = !itensor.itensor<1xf32, iter_space: [4]*[1], iter_map: (d0)->(d0)>
func.func @scalar(%x: tensor<4xf32> {dataflow.value = #dataflow.value<"x", input from "x">},
                  %s: tensor<f32> {dataflow.value = #dataflow.value<"s", scalar from "s">})
    -> (tensor<4xf32> {dataflow.output = #dataflow.output<"y" = "y"[d0] as [4]>}) {
  // What is passed by value is not loaded.
  // CHECK:      %y = dataflow.kernel @kernel0 (
  // CHECK-NEXT:     %x_1: tensor<4xf32> = %x : tensor<4xf32>,
  // CHECK-NEXT:     %s_1: tensor<f32> = %s : tensor<f32>) {
  // CHECK-NEXT:   dataflow.load @load_x
  // CHECK-NEXT:   dataflow.task @scale
  // CHECK:              "s"[] = %s_1 : tensor<f32>)
  %y = dataflow.kernel @kernel0 (%a: !s = %x : tensor<4xf32>, %b: tensor<f32> = %s : tensor<f32>) {
    %y = dataflow.task @scale space<parallel 4 : 0> nest<[d0 4 x 1], unroll: [1]>
      ins("x"[d0] = %a : !s, "s"[] = %b : tensor<f32>) -> ("y"[d0] : !s) {
    ^bb0(%e: f32, %f: f32):
      %p = arith.mulf %e, %f : f32
      dataflow.yield %p : f32
    }
    dataflow.yield %y : !s
  } : tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

func.func @on_tensors(%x: tensor<4xf32> {dataflow.value = #dataflow.value<"x", input from "x">})
    -> (tensor<4xf32> {dataflow.output = #dataflow.output<"y" = "y"[d0] as [4]>}) {
  // CHECK: materialize-dmas expects every operation in a kernel; run linalg-to-dataflow first
  %y = dataflow.task @copy space<parallel 4 : 0> nest<[d0 4 x 1], unroll: [1]>
    ins("x"[d0] = %x : tensor<4xf32>) -> ("y"[d0] : tensor<4xf32>) {
  ^bb0(%e: f32):
    dataflow.yield %e : f32
  }
  func.return %y : tensor<4xf32>
}

// -----

!r = !itensor.itensor<1xf32, iter_space: [6]*[1], iter_map: (d0)->(d0)>
func.func @row(%x: tensor<6xf32> {dataflow.value = #dataflow.value<"x", param from "x" row "position" of 4>})
    -> (tensor<6xf32> {dataflow.output = #dataflow.output<"y" = "y"[d0] as [6]>}) {
  // A launch reads one of four rows, of whole words: 16 tokens would fit in one, 2 divide a row.
  // CHECK: #dataflow.value<"x", param from "x" row "position" of 4>
  // CHECK: dataflow.load @load_x "x" packing<channels: 1, tokens_per_word: 2, words_per_token: 1>
  // CHECK: dataflow.store @store_y "y" packing<channels: 1, tokens_per_word: 16, words_per_token: 1>
  %y = dataflow.kernel @kernel0 (%a: !r = %x : tensor<6xf32>) {
    %y = dataflow.task @copy space<parallel 6 : 0> nest<[d0 6 x 1], unroll: [1]> ins("x"[d0] = %a : !r) -> ("y"[d0] : !r) {
    ^bb0(%e: f32):
      dataflow.yield %e : f32
    }
    dataflow.yield %y : !r
  } : tensor<6xf32>
  func.return %y : tensor<6xf32>
}
