// RUN: millrace-opt %s -p linalg-to-dataflow --split-input-file --verify-diagnostics | filecheck %s

func.func @scaled(%x: tensor<8xf32> {dataflow.value = #dataflow.value<"x", input from "x">},
                  %s: tensor<f32> {dataflow.value = #dataflow.value<"s", scalar from "s">})
    -> (tensor<8xf32> {dataflow.output = #dataflow.output<"y" = "y"[d0] as [8]>}) {
  // The scalar is passed by value, so it stays a tensor; x streams as the nest walks it.
  // CHECK:      %y = dataflow.kernel @kernel0 (
  // CHECK-NEXT:     %x_1: !itensor.itensor<2xf32, iter_space: [2,2]*[4,2], iter_map: (d0,d1)->(d0+d1)> = %x : tensor<8xf32>,
  // CHECK-NEXT:     %s_1: tensor<f32> = %s : tensor<f32>) {
  // CHECK-NEXT:   %y_1 = dataflow.task @scale
  // CHECK:            ins("x"[d0] = %x_1 : !itensor.itensor<2xf32, {{.*}}>,
  // CHECK-NEXT:         "s"[] = %s_1 : tensor<f32>)
  // CHECK-NEXT:       -> ("y"[d0] : !itensor.itensor<2xf32, {{.*}}>) {
  // CHECK:        dataflow.yield %y_1 : !itensor.itensor
  // CHECK-NEXT: } : tensor<8xf32>
  // CHECK-NEXT: func.return %y : tensor<8xf32>
  %y = dataflow.task @scale space<parallel 8 : 0> nest<[d0 2 x 4, d0 2 x 2], unroll: [2]>
    ins("x"[d0] = %x : tensor<8xf32>, "s"[] = %s : tensor<f32>) -> ("y"[d0] : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %p = arith.mulf %a, %b : f32
    dataflow.yield %p : f32
  }
  func.return %y : tensor<8xf32>
}

// -----

func.func @untiled(%x: tensor<8xf32> {dataflow.value = #dataflow.value<"x", input from "x">})
    -> (tensor<8xf32> {dataflow.output = #dataflow.output<"y" = "y"[d0] as [8]>}) {
  // CHECK: copy has no nest; run tile-tasks first
  %y = dataflow.task @copy space<parallel 8 : 0> ins("x"[d0] = %x : tensor<8xf32>) -> ("y"[d0] : tensor<8xf32>) {
  ^bb0(%a: f32):
    dataflow.yield %a : f32
  }
  func.return %y : tensor<8xf32>
}

// -----

func.func @windows(%x: tensor<32x2xf32> {dataflow.value = #dataflow.value<"x", input from "x">},
                   %w: tensor<4x2x3xf32> {dataflow.value = #dataflow.value<"w", param from "w">})
    -> (tensor<32x4xf32> {dataflow.output = #dataflow.output<"y" = "y"[d0, d1] as [32, 4]>}) {
  // Each line is read once, all taps of it follow: 32 lines and as many windows, since they are padded.
  // CHECK: dataflow.task @slide window d0
  // CHECK: ins("x"[d0, d1] = %{{.*}} : !itensor.itensor<1x2xf32, iter_space: [32]*[1], iter_map: (d0)->(d0,0)>)
  // CHECK: -> ("s"[d0, d1, d2] : !itensor.itensor<1x2x1xf32, iter_space: [32,3]*[1,1], iter_map: (d0,d1)->(d0,0,d1)>)
  %s = dataflow.task @slide window d0 <[d2], stride: 1, dilation: 1, padding: 1, repeat: 1, fill: "0.0">
    space<parallel 32 : 0, parallel 2 : 1, parallel 3 : 2> nest<[d0 32 x 1, d2 3 x 1], unroll: [1, 2, 1]>
    ins("x"[d0, d1] = %x : tensor<32x2xf32>) -> ("s"[d0, d1, d2] : tensor<32x2x3xf32>)
  %y = dataflow.task @conv space<parallel 32 : 0, parallel 4 : 1, reduction 2 : 2, reduction 3 : 3> nest<[d0 32 x 1, d3 3 x 1, d1 4 x 1], unroll: [1, 1, 2, 1]> reduce add from 0.0 : f32
    ins("s"[d0, d2, d3] = %s : tensor<32x2x3xf32>, "w"[d1, d2, d3] = %w : tensor<4x2x3xf32>)
    -> ("y"[d0, d1] : tensor<32x4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %p = arith.mulf %a, %b : f32
    dataflow.yield %p : f32
  }
  func.return %y : tensor<32x4xf32>
}
