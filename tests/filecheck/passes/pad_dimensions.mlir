// RUN: millrace-opt %s -p pad-dimensions --knobs '{"default_tile_size": 8}' --split-input-file --verify-diagnostics | filecheck %s
// RUN: millrace-opt %s -p pad-dimensions --knobs '{"default_tile_size": 8, "max_padding": 0}' --split-input-file --verify-diagnostics | filecheck %s --check-prefix OFF

// 19 rows and 29 columns offer no lanes: they become 20 and 32. The tensors that the network is given get longer with
// them, and the sum over the columns skips what lies behind the 29th.
// CHECK: func.func @reduce(%x: tensor<20x32xf32> {dataflow.value = #dataflow.value<"x", input from "x" valid [19, 29]>},
// CHECK-SAME: %w: tensor<32x16xf32> {dataflow.value = #dataflow.value<"w", param from "w" valid [29, 16]>})
// CHECK-SAME: -> (tensor<20x16xf32> {dataflow.output = #dataflow.output<"y" = "y"[d0, d1] as [19, 16]>})
// OFF: func.func @reduce(%x: tensor<19x29xf32> {dataflow.value = #dataflow.value<"x", input from "x">},
// OFF-NOT: valid
func.func @reduce(%x: tensor<19x29xf32> {dataflow.value = #dataflow.value<"x", input from "x">},
                  %w: tensor<29x16xf32> {dataflow.value = #dataflow.value<"w", param from "w">})
    -> (tensor<19x16xf32> {dataflow.output = #dataflow.output<"y" = "y"[d0, d1] as [19, 16]>}) {
  // CHECK: dataflow.task @fc
  // CHECK-NEXT: space<parallel 20 : 0, parallel 16 : 1, reduction 32 : 2>
  // CHECK-NEXT: valid<[19, 16, 29], masked: [d2]>
  %h = dataflow.task @fc space<parallel 19 : 0, parallel 16 : 1, reduction 29 : 2> reduce add from 0.0 : f32
    ins("x"[d0, d2] = %x : tensor<19x29xf32>, "w"[d2, d1] = %w : tensor<29x16xf32>)
    -> ("h"[d0, d1] : tensor<19x16xf32>) {
  ^bb0(%a: f32, %b: f32):
    %p = arith.mulf %a, %b : f32
    dataflow.yield %p : f32
  }
  // Nothing is added up here: what is computed behind the 19th row is left alone.
  // CHECK: dataflow.task @relu
  // CHECK-NEXT: space<parallel 20 : 0, parallel 16 : 1>
  // CHECK-NEXT: valid<[19, 16], masked: []>
  %y = dataflow.task @relu space<parallel 19 : 0, parallel 16 : 1>
    ins("h"[d0, d1] = %h : tensor<19x16xf32>) -> ("y"[d0, d1] : tensor<19x16xf32>) {
  ^bb0(%a: f32):
    dataflow.yield %a : f32
  }
  func.return %y : tensor<19x16xf32>
}

// -----

// A weight that is padded with zeros adds nothing to a sum of integer products: no mask.
// CHECK: dataflow.task @integers
// CHECK-NEXT: space<parallel 16 : 0, reduction 32 : 1>
// CHECK-NEXT: valid<[16, 29], masked: []>
func.func @whole(%x: tensor<29xi8> {dataflow.value = #dataflow.value<"x", input from "x">},
                 %w: tensor<29x16xi8> {dataflow.value = #dataflow.value<"w", param from "w">})
    -> (tensor<16xi32> {dataflow.output = #dataflow.output<"y" = "y"[d0] as [16]>}) {
  %y = dataflow.task @integers space<parallel 16 : 0, reduction 29 : 1> reduce add from 0 : i32
    ins("x"[d1] = %x : tensor<29xi8>, "w"[d1, d0] = %w : tensor<29x16xi8>) -> ("y"[d0] : tensor<16xi32>) {
  ^bb0(%a: i8, %b: i8):
    %wide = arith.extsi %a : i8 to i32
    %factor = arith.extsi %b : i8 to i32
    %p = arith.muli %wide, %factor : i32
    dataflow.yield %p : i32
  }
  func.return %y : tensor<16xi32>
}

// -----

// CHECK: tiled is tiled already; run pad-dimensions before tile-tasks
func.func @late(%x: tensor<29xf32> {dataflow.value = #dataflow.value<"x", input from "x">})
    -> (tensor<29xf32> {dataflow.output = #dataflow.output<"y" = "y"[d0] as [29]>}) {
  %y = dataflow.task @tiled space<parallel 29 : 0> nest<[d0 29 x 1], unroll: [1]>
    ins("x"[d0] = %x : tensor<29xf32>) -> ("y"[d0] : tensor<29xf32>) {
  ^bb0(%a: f32):
    dataflow.yield %a : f32
  }
  func.return %y : tensor<29xf32>
}

// -----

// Neither lines, nor windows of them, nor their taps get longer: the 19th line is the last. What lines consist of does.
// CHECK: func.func @windows(%x: tensor<19x32xf32>
// CHECK: dataflow.task @slide window d0
// CHECK-NEXT: space<parallel 19 : 0, parallel 32 : 1, parallel 3 : 2>
// CHECK-NEXT: valid<[19, 29, 3], masked: []>
func.func @windows(%x: tensor<19x29xf32> {dataflow.value = #dataflow.value<"x", input from "x">})
    -> (tensor<19x29x3xf32> {dataflow.output = #dataflow.output<"y" = "y"[d0, d1, d2] as [19, 29, 3]>}) {
  %s = dataflow.task @slide window d0 <[d2], stride: 1, dilation: 1, padding: 1, repeat: 1, fill: "0.0">
    space<parallel 19 : 0, parallel 29 : 1, parallel 3 : 2>
    ins("x"[d0, d1] = %x : tensor<19x29xf32>) -> ("s"[d0, d1, d2] : tensor<19x29x3xf32>)
  %y = dataflow.task @relu space<parallel 19 : 0, parallel 29 : 1, parallel 3 : 2>
    ins("s"[d0, d1, d2] = %s : tensor<19x29x3xf32>) -> ("y"[d0, d1, d2] : tensor<19x29x3xf32>) {
  ^bb0(%a: f32):
    dataflow.yield %a : f32
  }
  func.return %y : tensor<19x29x3xf32>
}
