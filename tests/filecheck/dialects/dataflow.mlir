// RUN: millrace-opt %s | filecheck %s
// A task in each of its stages, routing tasks, DMAs, and the attributes on their own.

!x = !itensor.itensor<1xf32, iter_space: [2,8]*[1,1], iter_map: (d0,d1)->(d1)>
!w = !itensor.itensor<4x1xf32, iter_space: [2,8]*[4,1], iter_map: (d0,d1)->(d0,d1)>
!h = !itensor.itensor<4xf32, iter_space: [2]*[4], iter_map: (d0)->(d0)>

// CHECK: func.func @on_tensors(%x: tensor<8xf32> {dataflow.value = #dataflow.value<"x", input from "hidden">},
// CHECK-SAME: %w: tensor<8x8xf32> {dataflow.value = #dataflow.value<"fc.w", param from "fc.weight">})
// CHECK-SAME: -> (tensor<8xf32> {dataflow.output = #dataflow.output<"y" = "h"[d0] as [1, 8]>}) {
func.func @on_tensors(%x: tensor<8xf32> {dataflow.value = #dataflow.value<"x", input from "hidden">},
                      %w: tensor<8x8xf32> {dataflow.value = #dataflow.value<"fc.w", param from "fc.weight">})
    -> (tensor<8xf32> {dataflow.output = #dataflow.output<"y" = "h"[d0] as [1, 8]>}) {
  // CHECK-NEXT: %h = dataflow.task @fc
  // CHECK-NEXT:     space<parallel 8 : 0, reduction 8 : 1>
  // CHECK-NEXT:     reduce add from 0.000000e+00 : f32
  // CHECK-NEXT:     ins("x"[d1] = %x : tensor<8xf32>,
  // CHECK-NEXT:       "fc.w"[d0, d1] = %w : tensor<8x8xf32>)
  // CHECK-NEXT:     -> ("h"[d0] : tensor<8xf32>) {
  // CHECK-NEXT: ^bb0(%{{.*}}: f32, %{{.*}}: f32):
  // CHECK-NEXT:   %{{.*}} = arith.mulf
  // CHECK-NEXT:   dataflow.yield %{{.*}} : f32
  %h = dataflow.task @fc space<parallel 8 : 0, reduction 8 : 1> reduce add from 0.0 : f32
    ins("x"[d1] = %x : tensor<8xf32>, "fc.w"[d0, d1] = %w : tensor<8x8xf32>) -> ("h"[d0] : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %p = arith.mulf %a, %b : f32
    dataflow.yield %p : f32
  }
  func.return %h : tensor<8xf32>
}

// CHECK: func.func @on_itensors
func.func @on_itensors(%x: tensor<8xf32>, %w: tensor<8x8xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: %y = dataflow.kernel @k (
  // CHECK-NEXT:     %a: !itensor.itensor<1xf32, {{.*}}> = %x : tensor<8xf32>,
  // CHECK-NEXT:     %b: !itensor.itensor<4x1xf32, {{.*}}> = %w : tensor<8x8xf32>) {
  %y = dataflow.kernel @k (%a: !x = %x : tensor<8xf32>, %b: !w = %w : tensor<8x8xf32>) {
    // CHECK-NEXT: %h = dataflow.task @fc
    // CHECK-NEXT:     space<parallel 8 : 0, reduction 8 : 1>
    // CHECK-NEXT:     nest<[d0 2 x 4, d1 8 x 1], unroll: [4, 1]>
    %h = dataflow.task @fc space<parallel 8 : 0, reduction 8 : 1> nest<[d0 2 x 4, d1 8 x 1], unroll: [4, 1]>
      reduce add from 0.0 : f32 ins("x"[d1] = %a : !x, "fc.w"[d0, d1] = %b : !w) -> ("h"[d0] : !h) {
    ^bb0(%e: f32, %f: f32):
      %p = arith.mulf %e, %f : f32
      dataflow.yield %p : f32
    }
    dataflow.yield %h : !h
  // CHECK: } : tensor<8xf32>
  } : tensor<8xf32>
  func.return %y : tensor<8xf32>
}

// CHECK: func.func @routing
func.func @routing(%fused: tensor<2x4xi8>, %past: tensor<3x4xi8>) {
  // CHECK-NEXT: %k, %v = dataflow.task @split chunk d0
  // CHECK-NEXT:     space<parallel 2 : 0, parallel 4 : 1>
  // CHECK-NEXT:     ins("fused"[d0, d1] = %fused : tensor<2x4xi8>)
  // CHECK-NEXT:     -> ("k"[d1] : tensor<4xi8>,
  // CHECK-NEXT:       "v"[d1] : tensor<4xi8>)
  %k, %v = dataflow.task @split chunk d0 space<parallel 2 : 0, parallel 4 : 1>
    ins("fused"[d0, d1] = %fused : tensor<2x4xi8>) -> ("k"[d1] : tensor<4xi8>, "v"[d1] : tensor<4xi8>)
  // CHECK-NEXT: %keys = dataflow.task @append concat d0
  %keys = dataflow.task @append concat d0 space<parallel 4 : 0, parallel 4 : 1>
    ins("past"[d0, d1] = %past : tensor<3x4xi8>, "k"[d1] = %k : tensor<4xi8>) -> ("keys"[d0, d1] : tensor<4x4xi8>)
  func.return
}

// CHECK: func.func @windows
func.func @windows(%x: tensor<2x8xf32>) {
  // CHECK-NEXT: %w = dataflow.task @w window d0 <[d2], stride: 2, dilation: 1, padding: 1, repeat: 1, fill: "-inf">
  // CHECK-NEXT:     space<parallel 4 : 0, parallel 2 : 1, parallel 3 : 2>
  // CHECK-NEXT:     nest<[d0 4 x 1, d1 2 x 1], unroll: [1, 1, 3]>
  // CHECK-NEXT:     ins("x"[d1, d0] = %x : tensor<2x8xf32>)
  // CHECK-NEXT:     -> ("w"[d0, d1, d2] : tensor<4x2x3xf32>)
  %w = dataflow.task @w window d0 <[d2], stride: 2, dilation: 1, padding: 1, repeat: 1, fill: "-inf">
    space<parallel 4 : 0, parallel 2 : 1, parallel 3 : 2> nest<[d0 4 x 1, d1 2 x 1], unroll: [1, 1, 3]>
    ins("x"[d1, d0] = %x : tensor<2x8xf32>) -> ("w"[d0, d1, d2] : tensor<4x2x3xf32>)
  // One tap has no loop.
  // CHECK-NEXT: %s = dataflow.task @s window d0 <[], stride: 2, dilation: 1, padding: 0, repeat: 1, fill: "0">
  %s = dataflow.task @s window d0 <[], stride: 2, dilation: 1, padding: 0, repeat: 1, fill: "0">
    space<parallel 4 : 0, parallel 2 : 1> ins("x"[d1, d0] = %x : tensor<2x8xf32>) -> ("s"[d0, d1] : tensor<4x2xf32>)
  func.return
}

// CHECK: func.func @memory
func.func @memory(%x: tensor<8xf32>) -> tensor<8xf32> {
  // CHECK-NEXT: %s = dataflow.load @load_x "x" packing<channels: 2, tokens_per_word: 8, words_per_token: 1> ins(%x : tensor<8xf32>) -> (!itensor.itensor<4xf32, {{.*}}>)
  %s = dataflow.load @load_x "x" packing<channels: 2, tokens_per_word: 8, words_per_token: 1> ins(%x : tensor<8xf32>) -> (!h)
  // CHECK-NEXT: %y = dataflow.store @store_y "y" packing<channels: 1, tokens_per_word: 4, words_per_token: 1> ins(%s : !itensor.itensor<4xf32, {{.*}}>) -> (tensor<8xf32>)
  %y = dataflow.store @store_y "y" packing<channels: 1, tokens_per_word: 4, words_per_token: 1> ins(%s : !h) -> (tensor<8xf32>)
  // CHECK-NEXT: %w = dataflow.rom @load_w "w" ins(%x : tensor<8xf32>) -> (!itensor.itensor<4xf32, {{.*}}>)
  %w = dataflow.rom @load_w "w" ins(%x : tensor<8xf32>) -> (!h)
  func.return %y : tensor<8xf32>
}

// CHECK: map = #dataflow.map<"w"[d1, d0]>, nest = #dataflow.nest<[d0 2 x 4], unroll: [4]>, space = #dataflow.space<parallel 8 : 0>
func.func private @attributes() attributes {map = #dataflow.map<"w"[d1, d0]>, nest = #dataflow.nest<[d0 2 x 4], unroll: [4]>, space = #dataflow.space<parallel 8 : 0>}

// CHECK: func.func @place
func.func @place(%x: tensor<8xi32>) {
  // CHECK: %{{.*}} = dataflow.index d0 : i32
  %y = dataflow.task @t space<parallel 8 : 0> ins("x"[d0] = %x : tensor<8xi32>) -> ("y"[d0] : tensor<8xi32>) {
  ^bb0(%a: i32):
    %at = dataflow.index d0 : i32
    // CHECK: %{{.*}} = dataflow.narrow %{{.*}} to 27 : i32
    %n = dataflow.narrow %a to 27 : i32
    %sum = arith.addi %n, %at : i32
    dataflow.yield %sum : i32
  }
  func.return
}

// CHECK: func.func @layers
func.func @layers() {
  // CHECK-NEXT: dataflow.layers 24 carries ["h0.y" to "x"]
  dataflow.layers 24 carries ["h0.y" to "x"]
  // CHECK-NEXT: dataflow.layers 2 carries ["y" to "x", "b" to "a"] depths [2, 64, 2, 2, 8, 2]
  dataflow.layers 2 carries ["y" to "x", "b" to "a"] depths [2, 64, 2, 2, 8, 2]
  // CHECK-NEXT: dataflow.layers 2 carries ["y" to "x"] outside ["embed", "head"] depths [2, 64, 2]
  dataflow.layers 2 carries ["y" to "x"] outside ["embed", "head"] depths [2, 64, 2]
  // CHECK-NEXT: dataflow.layers 8 carries [] told "count"
  dataflow.layers 8 carries [] told "count"
  func.return
}

// CHECK: out = #dataflow.output<"h1.k" = "h0.k"[d0] as [8] of layer 1>, w = #dataflow.value<"w", param from ["h0.w", "h1.w"]>
func.func private @of_layers() attributes {out = #dataflow.output<"h1.k" = "h0.k"[d0] as [8] of layer 1>, w = #dataflow.value<"w", param from ["h0.w", "h1.w"]>}
