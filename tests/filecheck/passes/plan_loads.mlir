// RUN: millrace-opt %s -p plan-loads --split-input-file --verify-diagnostics | filecheck %s

!rows = !itensor.itensor<1x1xf32, iter_space: [4,4]*[1,1], iter_map: (d0,d1)->(d0,d1)>
!columns = !itensor.itensor<1x1xf32, iter_space: [4,4]*[1,1], iter_map: (d0,d1)->(d1,d0)>

func.func @shared(%x: tensor<4x4xf32> {dataflow.value = #dataflow.value<"x", input from "x">})
    -> (tensor<4x4xf32> {dataflow.output = #dataflow.output<"y" = "y"[d0, d1] as [16]>}) {
  // x is read in two orders: it is loaded once, in the order of the first reader, and converted for the second.
  // CHECK:      %y = dataflow.kernel @kernel0 (
  // CHECK-NEXT:     %x_1: !itensor.itensor<1x1xf32, iter_space: [4,4]*[1,1], iter_map: (d0,d1)->(d0,d1)> = %x : tensor<4x4xf32>) {
  // CHECK-NEXT:   %x_2 = itensor.converter @convert_x_to_add_in1 single<dim: 0, length: 4, delay: 0, steps: 32, columns: 1, fill: [0, 16, 1], drain: [16, 16, 1]> ins(%x_1 :
  // CHECK-NEXT:   %y_1 = dataflow.task @add
  // CHECK:            ins("x"[d0, d1] = %x_1 :
  // CHECK-NEXT:         "x"[d1, d0] = %x_2 :
  %y = dataflow.kernel @kernel0 (%a: !rows = %x : tensor<4x4xf32>, %b: !columns = %x : tensor<4x4xf32>) {
    %y = dataflow.task @add space<parallel 4 : 0, parallel 4 : 1> nest<[d0 4 x 1, d1 4 x 1], unroll: [1, 1]>
      ins("x"[d0, d1] = %a : !rows, "x"[d1, d0] = %b : !columns) -> ("y"[d0, d1] : !rows) {
    ^bb0(%e: f32, %f: f32):
      %s = arith.addf %e, %f : f32
      dataflow.yield %s : f32
    }
    dataflow.yield %y : !rows
  } : tensor<4x4xf32>
  func.return %y : tensor<4x4xf32>
}

// -----

!rows = !itensor.itensor<1x1xf32, iter_space: [4,4]*[1,1], iter_map: (d0,d1)->(d0,d1)>
!columns = !itensor.itensor<1x1xf32, iter_space: [4,4]*[1,1], iter_map: (d0,d1)->(d1,d0)>

func.func @stored(%x: tensor<4x4xf32> {dataflow.value = #dataflow.value<"x", input from "x">})
    -> (tensor<4x4xf32> {dataflow.output = #dataflow.output<"z" = "z"[d0, d1] as [16]>}) {
  // The second kernel reads y as the first one wrote it: by rows.
  // CHECK:      %z = dataflow.kernel @kernel1 (
  // CHECK-NEXT:     %[[Y:.*]]: !itensor.itensor<1x1xf32, iter_space: [4,4]*[1,1], iter_map: (d0,d1)->(d0,d1)> = %y : tensor<4x4xf32>) {
  // CHECK-NEXT:   itensor.converter @convert_y_to_turn_in0 single<dim: 0, length: 4, delay: 0, steps: 32, columns: 1, fill: [0, 16, 1], drain: [16, 16, 1]> ins(%[[Y]] :
  %y = dataflow.kernel @kernel0 (%a: !rows = %x : tensor<4x4xf32>) {
    %y = dataflow.task @copy space<parallel 4 : 0, parallel 4 : 1> nest<[d0 4 x 1, d1 4 x 1], unroll: [1, 1]>
      ins("x"[d0, d1] = %a : !rows) -> ("y"[d0, d1] : !rows) {
    ^bb0(%e: f32):
      dataflow.yield %e : f32
    }
    dataflow.yield %y : !rows
  } : tensor<4x4xf32>
  %z = dataflow.kernel @kernel1 (%a: !columns = %y : tensor<4x4xf32>) {
    %z = dataflow.task @turn space<parallel 4 : 0, parallel 4 : 1> nest<[d0 4 x 1, d1 4 x 1], unroll: [1, 1]>
      ins("y"[d1, d0] = %a : !columns) -> ("z"[d0, d1] : !rows) {
    ^bb0(%e: f32):
      dataflow.yield %e : f32
    }
    dataflow.yield %z : !rows
  } : tensor<4x4xf32>
  func.return %z : tensor<4x4xf32>
}

// -----

!rows = !itensor.itensor<1x1xf32, iter_space: [4,4]*[1,1], iter_map: (d0,d1)->(d0,d1)>
func.func @forked_already(%x: tensor<4x4xf32> {dataflow.value = #dataflow.value<"x", input from "x">}) {
  // CHECK: a tensor that enters a kernel several times has a task behind each of its arguments
  dataflow.kernel @kernel0 (%a: !rows = %x : tensor<4x4xf32>, %b: !rows = %x : tensor<4x4xf32>) {
    itensor.fork @drain_a ins(%a : !rows)
    itensor.fork @drain_b ins(%b : !rows)
    dataflow.yield
  }
  func.return
}

// -----

func.func @on_tensors(%x: tensor<4xf32> {dataflow.value = #dataflow.value<"x", input from "x">})
    -> (tensor<4xf32> {dataflow.output = #dataflow.output<"y" = "y"[d0] as [4]>}) {
  // CHECK: plan-loads expects every operation in a kernel; run linalg-to-dataflow first
  %y = dataflow.task @copy space<parallel 4 : 0> nest<[d0 4 x 1], unroll: [1]>
    ins("x"[d0] = %x : tensor<4xf32>) -> ("y"[d0] : tensor<4xf32>) {
  ^bb0(%e: f32):
    dataflow.yield %e : f32
  }
  func.return %y : tensor<4xf32>
}

// -----

!rows = !itensor.itensor<1x1xf32, iter_space: [4,4]*[1,1], iter_map: (d0,d1)->(d0,d1)>
!columns = !itensor.itensor<1x1xf32, iter_space: [4,4]*[1,1], iter_map: (d0,d1)->(d1,d0)>

func.func @next_layer(%x: tensor<4x4xf32> {dataflow.value = #dataflow.value<"x", input from "hidden">})
    -> (tensor<4x4xf32> {dataflow.output = #dataflow.output<"hidden_out" = "y"[d0, d1] as [4, 4]>}) {
  // The result is the next run's x, stored by rows: so x is loaded by rows, though its reader wants columns.
  // CHECK:      %y = dataflow.kernel @kernel0 (
  // CHECK-NEXT:     %x_1: !itensor.itensor<1x1xf32, iter_space: [4,4]*[1,1], iter_map: (d0,d1)->(d0,d1)> = %x : tensor<4x4xf32>) {
  // CHECK-NEXT:   %x_2 = itensor.converter @convert_x_to_turn_in0 {{.*}} ins(%x_1 :
  %y = dataflow.kernel @kernel0 (%a: !columns = %x : tensor<4x4xf32>) {
    %y = dataflow.task @turn space<parallel 4 : 0, parallel 4 : 1> nest<[d0 4 x 1, d1 4 x 1], unroll: [1, 1]>
      ins("x"[d1, d0] = %a : !columns) -> ("y"[d0, d1] : !rows) {
    ^bb0(%e: f32):
      dataflow.yield %e : f32
    }
    dataflow.yield %y : !rows
  } : tensor<4x4xf32>
  func.return %y : tensor<4x4xf32>
}
