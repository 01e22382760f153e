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
