// RUN: millrace-opt %s -p join-loads --knobs '{"engines": "shared", "loads": "joint"}' --split-input-file --verify-diagnostics | filecheck %s
// RUN: millrace-opt %s -p join-loads --knobs '{"engines": "shared"}' --split-input-file --verify-diagnostics | filecheck %s --check-prefix OWN

// Both products read a weight of their own straight from its load, once: one load brings them, turn by turn. What they
// multiply comes from memory in one turn and from a product in the other.
// CHECK:      func.func @twice
// CHECK:      dataflow.engine @engine0 serves [@up, @down] joint [1]
// CHECK-NEXT: dataflow.yield
// OWN-NOT:    joint
func.func @twice(%x: tensor<4x8xf32> {dataflow.value = #dataflow.value<"x", input from "x">}, %w1: tensor<8x8xf32> {dataflow.value = #dataflow.value<"w1", param from "w1">}, %w2: tensor<8x8xf32> {dataflow.value = #dataflow.value<"w2", param from "w2">}) -> (tensor<4x8xf32> {dataflow.output = #dataflow.output<"y" = "y"[d0, d1] as [4, 8]>}) {
  %y = dataflow.kernel @kernel0 (
      %x_1: !itensor.itensor<4x2xf32, iter_space: [4]*[2], iter_map: (d0)->(0,d0)> = %x : tensor<4x8xf32>,
      %w1_1: !itensor.itensor<2x2xf32, iter_space: [4,4]*[2,2], iter_map: (d0,d1)->(d0,d1)> = %w1 : tensor<8x8xf32>,
      %w2_1: !itensor.itensor<2x2xf32, iter_space: [4,4]*[2,2], iter_map: (d0,d1)->(d0,d1)> = %w2 : tensor<8x8xf32>) {
    %h = dataflow.task @up
        space<parallel 4 : 0, parallel 8 : 1, reduction 8 : 2>
        nest<[d2 4 x 2, d1 4 x 2], unroll: [4, 2, 2]>
        reduce add from 0.000000e+00 : f32
        ins("x"[d0, d2] = %x_1 : !itensor.itensor<4x2xf32, iter_space: [4]*[2], iter_map: (d0)->(0,d0)>,
          "w1"[d2, d1] = %w1_1 : !itensor.itensor<2x2xf32, iter_space: [4,4]*[2,2], iter_map: (d0,d1)->(d0,d1)>)
        -> ("h"[d0, d1] : !itensor.itensor<4x2xf32, iter_space: [4]*[2], iter_map: (d0)->(0,d0)>) {
    ^bb0(%0: f32, %1: f32):
      %2 = arith.mulf %0, %1 : f32
      dataflow.yield %2 : f32
    }
    %y_1 = dataflow.task @down
        space<parallel 4 : 0, parallel 8 : 1, reduction 8 : 2>
        nest<[d2 4 x 2, d1 4 x 2], unroll: [4, 2, 2]>
        reduce add from 0.000000e+00 : f32
        ins("h"[d0, d2] = %h : !itensor.itensor<4x2xf32, iter_space: [4]*[2], iter_map: (d0)->(0,d0)>,
          "w2"[d2, d1] = %w2_1 : !itensor.itensor<2x2xf32, iter_space: [4,4]*[2,2], iter_map: (d0,d1)->(d0,d1)>)
        -> ("y"[d0, d1] : !itensor.itensor<4x2xf32, iter_space: [4]*[2], iter_map: (d0)->(0,d0)>) {
    ^bb0(%0: f32, %1: f32):
      %2 = arith.mulf %0, %1 : f32
      dataflow.yield %2 : f32
    }
    dataflow.engine @engine0 serves [@up, @down]
    dataflow.yield %y_1 : !itensor.itensor<4x2xf32, iter_space: [4]*[2], iter_map: (d0)->(0,d0)>
  } : tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}

// -----

// What is multiplied behind all turns by lanes of its own has a load of its own, too.
// CHECK:      func.func @last
// CHECK:      dataflow.engine @engine0 serves [@up, @down] joint [1]
// CHECK-NEXT: dataflow.yield
// OWN-NOT:    joint
func.func @last(%x: tensor<4x8xf32> {dataflow.value = #dataflow.value<"x", input from "x">}, %w1: tensor<8x8xf32> {dataflow.value = #dataflow.value<"w1", param from "w1">}, %w2: tensor<8x8xf32> {dataflow.value = #dataflow.value<"w2", param from "w2">}, %w3: tensor<8x8xf32> {dataflow.value = #dataflow.value<"w3", param from "w3">}) -> (tensor<4x8xf32> {dataflow.output = #dataflow.output<"y" = "y"[d0, d1] as [4, 8]>}) {
  %y = dataflow.kernel @kernel0 (
      %x_1: !itensor.itensor<4x2xf32, iter_space: [4]*[2], iter_map: (d0)->(0,d0)> = %x : tensor<4x8xf32>,
      %w1_1: !itensor.itensor<2x2xf32, iter_space: [4,4]*[2,2], iter_map: (d0,d1)->(d0,d1)> = %w1 : tensor<8x8xf32>,
      %w2_1: !itensor.itensor<2x2xf32, iter_space: [4,4]*[2,2], iter_map: (d0,d1)->(d0,d1)> = %w2 : tensor<8x8xf32>,
      %w3_1: !itensor.itensor<2x2xf32, iter_space: [4,4]*[2,2], iter_map: (d0,d1)->(d1,d0)> = %w3 : tensor<8x8xf32>) {
    %h = dataflow.task @up
        space<parallel 4 : 0, parallel 8 : 1, reduction 8 : 2>
        nest<[d2 4 x 2, d1 4 x 2], unroll: [4, 2, 2]>
        reduce add from 0.000000e+00 : f32
        ins("x"[d0, d2] = %x_1 : !itensor.itensor<4x2xf32, iter_space: [4]*[2], iter_map: (d0)->(0,d0)>,
          "w1"[d2, d1] = %w1_1 : !itensor.itensor<2x2xf32, iter_space: [4,4]*[2,2], iter_map: (d0,d1)->(d0,d1)>)
        -> ("h"[d0, d1] : !itensor.itensor<4x2xf32, iter_space: [4]*[2], iter_map: (d0)->(0,d0)>) {
    ^bb0(%0: f32, %1: f32):
      %2 = arith.mulf %0, %1 : f32
      dataflow.yield %2 : f32
    }
    %g = dataflow.task @down
        space<parallel 4 : 0, parallel 8 : 1, reduction 8 : 2>
        nest<[d2 4 x 2, d1 4 x 2], unroll: [4, 2, 2]>
        reduce add from 0.000000e+00 : f32
        ins("h"[d0, d2] = %h : !itensor.itensor<4x2xf32, iter_space: [4]*[2], iter_map: (d0)->(0,d0)>,
          "w2"[d2, d1] = %w2_1 : !itensor.itensor<2x2xf32, iter_space: [4,4]*[2,2], iter_map: (d0,d1)->(d0,d1)>)
        -> ("g"[d0, d1] : !itensor.itensor<4x2xf32, iter_space: [4]*[2], iter_map: (d0)->(0,d0)>) {
    ^bb0(%0: f32, %1: f32):
      %2 = arith.mulf %0, %1 : f32
      dataflow.yield %2 : f32
    }
    %y_1 = dataflow.task @turned
        space<parallel 4 : 0, parallel 8 : 1, reduction 8 : 2>
        nest<[d2 4 x 2, d1 4 x 2], unroll: [4, 2, 2]>
        reduce add from 0.000000e+00 : f32
        ins("g"[d0, d2] = %g : !itensor.itensor<4x2xf32, iter_space: [4]*[2], iter_map: (d0)->(0,d0)>,
          "w3"[d1, d2] = %w3_1 : !itensor.itensor<2x2xf32, iter_space: [4,4]*[2,2], iter_map: (d0,d1)->(d1,d0)>)
        -> ("y"[d0, d1] : !itensor.itensor<4x2xf32, iter_space: [4]*[2], iter_map: (d0)->(0,d0)>) {
    ^bb0(%0: f32, %1: f32):
      %2 = arith.mulf %0, %1 : f32
      dataflow.yield %2 : f32
    }
    dataflow.engine @engine0 serves [@up, @down]
    dataflow.yield %y_1 : !itensor.itensor<4x2xf32, iter_space: [4]*[2], iter_map: (d0)->(0,d0)>
  } : tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}

// -----

// A weight that is given anew in each launch lies in an image of its own.
// CHECK:      func.func @given
// CHECK-NOT:  joint
// CHECK:      dataflow.yield
func.func @given(%x: tensor<4x8xf32> {dataflow.value = #dataflow.value<"x", input from "x">}, %w1: tensor<8x8xf32> {dataflow.value = #dataflow.value<"w1", param from "w1">}, %w2: tensor<8x8xf32> {dataflow.value = #dataflow.value<"w2", input from "w2">}) -> (tensor<4x8xf32> {dataflow.output = #dataflow.output<"y" = "y"[d0, d1] as [4, 8]>}) {
  %y = dataflow.kernel @kernel0 (
      %x_1: !itensor.itensor<4x2xf32, iter_space: [4]*[2], iter_map: (d0)->(0,d0)> = %x : tensor<4x8xf32>,
      %w1_1: !itensor.itensor<2x2xf32, iter_space: [4,4]*[2,2], iter_map: (d0,d1)->(d0,d1)> = %w1 : tensor<8x8xf32>,
      %w2_1: !itensor.itensor<2x2xf32, iter_space: [4,4]*[2,2], iter_map: (d0,d1)->(d0,d1)> = %w2 : tensor<8x8xf32>) {
    %h = dataflow.task @up
        space<parallel 4 : 0, parallel 8 : 1, reduction 8 : 2>
        nest<[d2 4 x 2, d1 4 x 2], unroll: [4, 2, 2]>
        reduce add from 0.000000e+00 : f32
        ins("x"[d0, d2] = %x_1 : !itensor.itensor<4x2xf32, iter_space: [4]*[2], iter_map: (d0)->(0,d0)>,
          "w1"[d2, d1] = %w1_1 : !itensor.itensor<2x2xf32, iter_space: [4,4]*[2,2], iter_map: (d0,d1)->(d0,d1)>)
        -> ("h"[d0, d1] : !itensor.itensor<4x2xf32, iter_space: [4]*[2], iter_map: (d0)->(0,d0)>) {
    ^bb0(%0: f32, %1: f32):
      %2 = arith.mulf %0, %1 : f32
      dataflow.yield %2 : f32
    }
    %y_1 = dataflow.task @down
        space<parallel 4 : 0, parallel 8 : 1, reduction 8 : 2>
        nest<[d2 4 x 2, d1 4 x 2], unroll: [4, 2, 2]>
        reduce add from 0.000000e+00 : f32
        ins("h"[d0, d2] = %h : !itensor.itensor<4x2xf32, iter_space: [4]*[2], iter_map: (d0)->(0,d0)>,
          "w2"[d2, d1] = %w2_1 : !itensor.itensor<2x2xf32, iter_space: [4,4]*[2,2], iter_map: (d0,d1)->(d0,d1)>)
        -> ("y"[d0, d1] : !itensor.itensor<4x2xf32, iter_space: [4]*[2], iter_map: (d0)->(0,d0)>) {
    ^bb0(%0: f32, %1: f32):
      %2 = arith.mulf %0, %1 : f32
      dataflow.yield %2 : f32
    }
    dataflow.engine @engine0 serves [@up, @down]
    dataflow.yield %y_1 : !itensor.itensor<4x2xf32, iter_space: [4]*[2], iter_map: (d0)->(0,d0)>
  } : tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}

// -----

// Rows are computed in two parts, and weights are read again for the second.
// CHECK:      func.func @again
// CHECK-NOT:  joint
// CHECK:      dataflow.yield
func.func @again(%x: tensor<4x8xf32> {dataflow.value = #dataflow.value<"x", input from "x">}, %w1: tensor<8x8xf32> {dataflow.value = #dataflow.value<"w1", param from "w1">}, %w2: tensor<8x8xf32> {dataflow.value = #dataflow.value<"w2", param from "w2">}) -> (tensor<4x8xf32> {dataflow.output = #dataflow.output<"y" = "y"[d0, d1] as [4, 8]>}) {
  %y = dataflow.kernel @kernel0 (
      %x_1: !itensor.itensor<2x2xf32, iter_space: [4,2]*[2,2], iter_map: (d0,d1)->(d1,d0)> = %x : tensor<4x8xf32>,
      %w1_1: !itensor.itensor<2x2xf32, iter_space: [4,2,4]*[2,1,2], iter_map: (d0,d1,d2)->(d0,d2)> = %w1 : tensor<8x8xf32>,
      %w2_1: !itensor.itensor<2x2xf32, iter_space: [4,2,4]*[2,1,2], iter_map: (d0,d1,d2)->(d0,d2)> = %w2 : tensor<8x8xf32>) {
    %h = dataflow.task @up
        space<parallel 4 : 0, parallel 8 : 1, reduction 8 : 2>
        nest<[d2 4 x 2, d0 2 x 2, d1 4 x 2], unroll: [2, 2, 2]>
        reduce add from 0.000000e+00 : f32
        ins("x"[d0, d2] = %x_1 : !itensor.itensor<2x2xf32, iter_space: [4,2]*[2,2], iter_map: (d0,d1)->(d1,d0)>,
          "w1"[d2, d1] = %w1_1 : !itensor.itensor<2x2xf32, iter_space: [4,2,4]*[2,1,2], iter_map: (d0,d1,d2)->(d0,d2)>)
        -> ("h"[d0, d1] : !itensor.itensor<2x2xf32, iter_space: [2,4]*[2,2], iter_map: (d0,d1)->(d0,d1)>) {
    ^bb0(%0: f32, %1: f32):
      %2 = arith.mulf %0, %1 : f32
      dataflow.yield %2 : f32
    }
    %h_1 = itensor.converter @convert_h_to_down_in0 single<dim: 0, length: 4, delay: 0, steps: 16, columns: 1, fill: [0, 8, 1], drain: [8, 8, 1]> ins(%h : !itensor.itensor<2x2xf32, iter_space: [2,4]*[2,2], iter_map: (d0,d1)->(d0,d1)>) -> (!itensor.itensor<2x2xf32, iter_space: [4,2]*[2,2], iter_map: (d0,d1)->(d1,d0)>)
    %y_1 = dataflow.task @down
        space<parallel 4 : 0, parallel 8 : 1, reduction 8 : 2>
        nest<[d2 4 x 2, d0 2 x 2, d1 4 x 2], unroll: [2, 2, 2]>
        reduce add from 0.000000e+00 : f32
        ins("h"[d0, d2] = %h_1 : !itensor.itensor<2x2xf32, iter_space: [4,2]*[2,2], iter_map: (d0,d1)->(d1,d0)>,
          "w2"[d2, d1] = %w2_1 : !itensor.itensor<2x2xf32, iter_space: [4,2,4]*[2,1,2], iter_map: (d0,d1,d2)->(d0,d2)>)
        -> ("y"[d0, d1] : !itensor.itensor<2x2xf32, iter_space: [2,4]*[2,2], iter_map: (d0,d1)->(d0,d1)>) {
    ^bb0(%0: f32, %1: f32):
      %2 = arith.mulf %0, %1 : f32
      dataflow.yield %2 : f32
    }
    dataflow.engine @engine0 serves [@up, @down]
    dataflow.yield %y_1 : !itensor.itensor<2x2xf32, iter_space: [2,4]*[2,2], iter_map: (d0,d1)->(d0,d1)>
  } : tensor<4x8xf32>
  func.return %y : tensor<4x8xf32>
}

// -----

func.func @on_tensors(%x: tensor<4xf32> {dataflow.value = #dataflow.value<"x", input from "x">})
    -> (tensor<4xf32> {dataflow.output = #dataflow.output<"y" = "y"[d0] as [4]>}) {
  // CHECK: join-loads expects every operation in a kernel; run linalg-to-dataflow first
  %y = dataflow.task @square space<parallel 4 : 0> nest<[d0 4 x 1], unroll: [1]>
    ins("x"[d0] = %x : tensor<4xf32>) -> ("y"[d0] : tensor<4xf32>) {
  ^bb0(%e: f32):
    %p = arith.mulf %e, %e : f32
    dataflow.yield %p : f32
  }
  func.return %y : tensor<4xf32>
}
