// RUN: millrace-opt %s -p materialize-dmas --split-input-file --verify-diagnostics | filecheck %s

!x = !itensor.itensor<1x1xf32, iter_space: [2,2,8]*[1,1,1], iter_map: (d0,d1,d2)->(d0,d2)>
!w = !itensor.itensor<32x1xf32, iter_space: [2,2,8]*[1,32,1], iter_map: (d0,d1,d2)->(d1,d2)>
!h = !itensor.itensor<1x32xf32, iter_space: [2,2]*[1,32], iter_map: (d0,d1)->(d0,d1)>

func.func @product(%x: tensor<2x8xf32> {dataflow.value = #dataflow.value<"x", input from "x">},
                   %w: tensor<64x8xf32> {dataflow.value = #dataflow.value<"fc.w", param from "w">})
    -> (tensor<2x64xf32> {dataflow.output = #dataflow.output<"y" = "h"[d0, d1] as [128]>}) {
  // The packing of the boundary is that of the DMAs.
  // CHECK:      %y = dataflow.kernel @kernel0 (
  // CHECK-NEXT:     %a_hbm: tensor<2x8xf32> = %x : tensor<2x8xf32>,
  // CHECK-NEXT:     %b_hbm: tensor<64x8xf32> = %w : tensor<64x8xf32>) {
  // CHECK-NEXT:   %a = dataflow.load @load_x "x" packing<channels: 1, tokens_per_word: 8, words_per_token: 1> ins(%a_hbm : tensor<2x8xf32>) -> (!itensor.itensor<1x1xf32, iter_space: [2,2,8]*[1,1,1], iter_map: (d0,d1,d2)->(d0,d2)>)
  // CHECK-NEXT:   %b = dataflow.load @load_fc_w "fc.w" packing<channels: 2, tokens_per_word: 1, words_per_token: 1> ins(%b_hbm : tensor<64x8xf32>)
  // CHECK-NEXT:   %h = dataflow.task @fc
  // CHECK:            ins("x"[d0, d2] = %a :
  // CHECK:        %h_hbm = dataflow.store @store_h "h" packing<channels: 1, tokens_per_word: 1, words_per_token: 2> ins(%h : {{.*}}) -> (tensor<2x64xf32>)
  // CHECK-NEXT:   dataflow.yield %h_hbm : tensor<2x64xf32>
  %y = dataflow.kernel @kernel0 (
      %a: !x = %x : tensor<2x8xf32> packing<channels: 1, tokens_per_word: 8, words_per_token: 1>,
      %b: !w = %w : tensor<64x8xf32> packing<channels: 2, tokens_per_word: 1, words_per_token: 1>) {
    %h = dataflow.task @fc space<parallel 2 : 0, parallel 64 : 1, reduction 8 : 2>
      nest<[d0 2 x 1, d1 2 x 32, d2 8 x 1], unroll: [1, 32, 1]> reduce add from 0.0 : f32
      ins("x"[d0, d2] = %a : !x, "fc.w"[d1, d2] = %b : !w) -> ("h"[d0, d1] : !h) {
    ^bb0(%e: f32, %f: f32):
      %p = arith.mulf %e, %f : f32
      dataflow.yield %p : f32
    }
    dataflow.yield %h : !h
  } : tensor<2x64xf32> packing<channels: 1, tokens_per_word: 1, words_per_token: 2>
  func.return %y : tensor<2x64xf32>
}

// -----

!s = !itensor.itensor<1xf32, iter_space: [4]*[1], iter_map: (d0)->(d0)>
func.func @twice(%x: tensor<4xf32> {dataflow.value = #dataflow.value<"x", input from "x">}) {
  // CHECK: a tensor enters kernel @k more than once; run plan-loads before materialize-dmas
  dataflow.kernel @k (%a: !s = %x : tensor<4xf32> packing<channels: 1, tokens_per_word: 16, words_per_token: 1>,
                      %b: !s = %x : tensor<4xf32> packing<channels: 1, tokens_per_word: 16, words_per_token: 1>) {
    itensor.fork @drain_a ins(%a : !s)
    itensor.fork @drain_b ins(%b : !s)
    dataflow.yield
  }
  func.return
}

// -----

!s = !itensor.itensor<1xf32, iter_space: [4]*[1], iter_map: (d0)->(d0)>
func.func @not_packed(%x: tensor<4xf32> {dataflow.value = #dataflow.value<"x", input from "x">}) {
  // CHECK: kernel @k does not say how its tensors are packed; run pack-widen before materialize-dmas
  dataflow.kernel @k (%a: !s = %x : tensor<4xf32>) {
    itensor.fork @drain ins(%a : !s)
    dataflow.yield
  }
  func.return
}
