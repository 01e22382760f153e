// RUN: millrace-opt %s -p "pack-widen{hbm-channels=2}" --split-input-file --verify-diagnostics | filecheck %s

!x = !itensor.itensor<1x1xf32, iter_space: [2,2,8]*[1,1,1], iter_map: (d0,d1,d2)->(d0,d2)>
!w = !itensor.itensor<32x1xf32, iter_space: [2,2,8]*[1,32,1], iter_map: (d0,d1,d2)->(d1,d2)>
!h = !itensor.itensor<1x32xf32, iter_space: [2,2]*[1,32], iter_map: (d0,d1)->(d0,d1)>

func.func @product(%x: tensor<2x8xf32> {dataflow.value = #dataflow.value<"x", input from "x">},
                   %w: tensor<64x8xf32> {dataflow.value = #dataflow.value<"fc.w", param from "w">})
    -> (tensor<2x64xf32> {dataflow.output = #dataflow.output<"y" = "h"[d0, d1] as [128]>}) {
  // x is read again behind d1, so a word holds no more than the 8 tokens between; the weight's tokens of 1024 bits
  // fill both ports, those of h take two words of the one port that results have.
  // CHECK:      %y = dataflow.kernel @kernel0 (
  // CHECK-NEXT:     %a: !itensor.itensor<1x1xf32, {{.*}}> = %x : tensor<2x8xf32> packing<channels: 1, tokens_per_word: 8, words_per_token: 1>,
  // CHECK-NEXT:     %b: !itensor.itensor<32x1xf32, {{.*}}> = %w : tensor<64x8xf32> packing<channels: 2, tokens_per_word: 1, words_per_token: 1>) {
  // CHECK:      } : tensor<2x64xf32> packing<channels: 1, tokens_per_word: 1, words_per_token: 2>
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
                  %s: tensor<f32> {dataflow.value = #dataflow.value<"s", scalar from "s">}) {
  // What is passed by value is not packed.
  // CHECK:      dataflow.kernel @k (
  // CHECK-NEXT:     %a: !itensor.itensor<1xf32, {{.*}}> = %x : tensor<4xf32> packing<channels: 1, tokens_per_word: 16, words_per_token: 1>,
  // CHECK-NEXT:     %b: tensor<f32> = %s : tensor<f32>) {
  dataflow.kernel @k (%a: !s = %x : tensor<4xf32>, %b: tensor<f32> = %s : tensor<f32>) {
    %y = dataflow.task @scale space<parallel 4 : 0> nest<[d0 4 x 1], unroll: [1]>
      ins("x"[d0] = %a : !s, "s"[] = %b : tensor<f32>) -> ("y"[d0] : !s) {
    ^bb0(%e: f32, %f: f32):
      %p = arith.mulf %e, %f : f32
      dataflow.yield %p : f32
    }
    dataflow.yield
  }
  func.return
}

// -----

!s = !itensor.itensor<1xf32, iter_space: [4]*[1], iter_map: (d0)->(d0)>
func.func @too_wide(%x: tensor<4xf32> {dataflow.value = #dataflow.value<"x", input from "x">}) {
  // CHECK: kernel @k: tokens of 32 bits do not fit #dataflow.packing<channels: 1, tokens_per_word: 17, words_per_token: 1>
  dataflow.kernel @k (%a: !s = %x : tensor<4xf32> packing<channels: 1, tokens_per_word: 17, words_per_token: 1>) {
    itensor.fork @drain ins(%a : !s)
    dataflow.yield
  }
  func.return
}

// -----

!s = !itensor.itensor<1xf32, iter_space: [4]*[1], iter_map: (d0)->(d0)>
func.func @by_value(%x: tensor<4xf32> {dataflow.value = #dataflow.value<"x", input from "x">},
                    %s: tensor<f32> {dataflow.value = #dataflow.value<"s", scalar from "s">}) {
  // CHECK: kernel @k: exactly what streams is packed, not tensor<f32>
  dataflow.kernel @k (%b: tensor<f32> = %s : tensor<f32> packing<channels: 1, tokens_per_word: 1, words_per_token: 1>) {
    dataflow.yield
  }
  func.return
}
