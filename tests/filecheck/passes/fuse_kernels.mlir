// RUN: millrace-opt %s -p fuse-kernels --split-input-file --verify-diagnostics | filecheck %s
// RUN: millrace-opt %s -p fuse-kernels --knobs '{"fusion_budget": 16}' --split-input-file --verify-diagnostics | filecheck %s --check-prefix SMALL
// RUN: millrace-opt %s -p fuse-kernels --knobs '{"fusion_budget": 16, "fusion_plan": "greedy"}' --split-input-file --verify-diagnostics | filecheck %s --check-prefix SMALL
// RUN: millrace-opt %s -p fuse-kernels --knobs '{"overrides": [{"op": "third", "kernel": "begins"}]}' --split-input-file --verify-diagnostics | filecheck %s --check-prefix SMALL
// RUN: millrace-opt %s -p fuse-kernels --knobs '{"fusion_budget": 1000000000}' --split-input-file --verify-diagnostics | filecheck %s --check-prefix BOARD

!rows = !itensor.itensor<1x1xf32, iter_space: [4,4]*[1,1], iter_map: (d0,d1)->(d0,d1)>
!split = !itensor.itensor<1x1xf32, iter_space: [2,2,4]*[2,1,1], iter_map: (d0,d1,d2)->(d0+d1,d2)>
!columns = !itensor.itensor<1x1xf32, iter_space: [4,4]*[1,1], iter_map: (d0,d1)->(d1,d0)>

func.func @chain(%x: tensor<4x4xf32> {dataflow.value = #dataflow.value<"x", input from "x">})
    -> (tensor<4x4xf32> {dataflow.output = #dataflow.output<"z" = "z"[d0, d1] as [16]>}) {
  // Equal streams connect through a cast, unequal ones through a converter; x and z stay at the boundary.
  // CHECK:      %z = dataflow.kernel @kernel0 (
  // CHECK-NEXT:     %x_1: !itensor.itensor<1x1xf32, {{.*}}> = %x : tensor<4x4xf32>) {
  // CHECK-NEXT:   %h = dataflow.task @first
  // CHECK:        %h_1 = itensor.cast %h : !itensor.itensor<1x1xf32, iter_space: [4,4]*[1,1], {{.*}}> to !itensor.itensor<1x1xf32, iter_space: [2,2,4]*[2,1,1], {{.*}}>
  // CHECK-NEXT:   %y = dataflow.task @second
  // CHECK:        %y_1 = itensor.converter @convert_y_to_third_in0 single<dim: 0, length: 4, delay: 0, steps: 32, columns: 1, fill: [0, 16, 1], drain: [16, 16, 1]> ins(%y : {{.*}}) -> ({{.*}})
  // CHECK-NEXT:   %z_1 = dataflow.task @third
  // CHECK:            ins("y"[d1, d0] = %y_1 :
  // CHECK:        dataflow.yield %z_1
  // CHECK-NOT:  dataflow.kernel
  // CHECK:      func.return %z

  // The converter needs 64 bytes: with 16 the third task runs in a kernel of its own, as where one begins with it.
  // SMALL:      %y = dataflow.kernel @kernel0 (
  // SMALL:        itensor.cast
  // SMALL:        dataflow.yield
  // SMALL:      %z = dataflow.kernel @kernel1 (
  // SMALL-NEXT:     %{{.*}}: !itensor.itensor<1x1xf32, iter_space: [4,4]*[1,1], iter_map: (d0,d1)->(d1,d0)> = %y : tensor<4x4xf32>) {
  // SMALL-NOT:    itensor.converter

  %h = dataflow.kernel @k0 (%a: !rows = %x : tensor<4x4xf32>) {
    %h = dataflow.task @first space<parallel 4 : 0, parallel 4 : 1> nest<[d0 4 x 1, d1 4 x 1], unroll: [1, 1]>
      ins("x"[d0, d1] = %a : !rows) -> ("h"[d0, d1] : !rows) {
    ^bb0(%e: f32):
      dataflow.yield %e : f32
    }
    dataflow.yield %h : !rows
  } : tensor<4x4xf32>
  %y = dataflow.kernel @k1 (%a: !split = %h : tensor<4x4xf32>) {
    %y = dataflow.task @second space<parallel 4 : 0, parallel 4 : 1>
      nest<[d0 2 x 2, d0 2 x 1, d1 4 x 1], unroll: [1, 1]>
      ins("h"[d0, d1] = %a : !split) -> ("y"[d0, d1] : !split) {
    ^bb0(%e: f32):
      dataflow.yield %e : f32
    }
    dataflow.yield %y : !split
  } : tensor<4x4xf32>
  %z = dataflow.kernel @k2 (%a: !columns = %y : tensor<4x4xf32>) {
    %z = dataflow.task @third space<parallel 4 : 0, parallel 4 : 1> nest<[d0 4 x 1, d1 4 x 1], unroll: [1, 1]>
      ins("y"[d1, d0] = %a : !columns) -> ("z"[d0, d1] : !rows) {
    ^bb0(%e: f32):
      dataflow.yield %e : f32
    }
    dataflow.yield %z : !rows
  } : tensor<4x4xf32>
  func.return %z : tensor<4x4xf32>
}

// -----

!rows = !itensor.itensor<1x1xf32, iter_space: [8192,8192]*[1,1], iter_map: (d0,d1)->(d0,d1)>
!columns = !itensor.itensor<1x1xf32, iter_space: [8192,8192]*[1,1], iter_map: (d0,d1)->(d1,d0)>

func.func @large(%x: tensor<8192x8192xf32> {dataflow.value = #dataflow.value<"x", input from "x">})
    -> (tensor<8192x8192xf32> {dataflow.output = #dataflow.output<"y" = "y"[d0, d1] as [8192, 8192]>}) {
  // A converter of 256 MiB: one kernel's budget would allow it, the board has no such memory.
  // BOARD:      %h = dataflow.kernel @kernel0 (
  // BOARD:      %y = dataflow.kernel @kernel1 (
  // BOARD-NOT:    itensor.converter
  // BOARD:      func.return %y
  %h = dataflow.kernel @kernel0 (%a: !rows = %x : tensor<8192x8192xf32>) {
    %h = dataflow.task @copy space<parallel 8192 : 0, parallel 8192 : 1> nest<[d0 8192 x 1, d1 8192 x 1], unroll: [1, 1]>
      ins("x"[d0, d1] = %a : !rows) -> ("h"[d0, d1] : !rows) {
    ^bb0(%e: f32):
      dataflow.yield %e : f32
    }
    dataflow.yield %h : !rows
  } : tensor<8192x8192xf32>
  %y = dataflow.kernel @kernel1 (%a: !columns = %h : tensor<8192x8192xf32>) {
    %y = dataflow.task @turn space<parallel 8192 : 0, parallel 8192 : 1> nest<[d0 8192 x 1, d1 8192 x 1], unroll: [1, 1]>
      ins("h"[d1, d0] = %a : !columns) -> ("y"[d0, d1] : !rows) {
    ^bb0(%e: f32):
      dataflow.yield %e : f32
    }
    dataflow.yield %y : !rows
  } : tensor<8192x8192xf32>
  func.return %y : tensor<8192x8192xf32>
}

// -----

func.func @on_tensors(%x: tensor<4xf32> {dataflow.value = #dataflow.value<"x", input from "x">})
    -> (tensor<4xf32> {dataflow.output = #dataflow.output<"y" = "y"[d0] as [4]>}) {
  // CHECK: fuse-kernels expects every operation in a kernel; run linalg-to-dataflow first
  %y = dataflow.task @copy space<parallel 4 : 0> nest<[d0 4 x 1], unroll: [1]>
    ins("x"[d0] = %x : tensor<4xf32>) -> ("y"[d0] : tensor<4xf32>) {
  ^bb0(%e: f32):
    dataflow.yield %e : f32
  }
  func.return %y : tensor<4xf32>
}

// -----

!rows = !itensor.itensor<1xf32, iter_space: [4]*[1], iter_map: (d0)->(d0)>
func.func @forked_already(%x: tensor<4xf32> {dataflow.value = #dataflow.value<"x", input from "x">})
    -> (tensor<4xf32> {dataflow.output = #dataflow.output<"y" = "y"[d0] as [4]>}) {
  // CHECK: fuse-kernels expects streams that are not copied yet; run it before insert-forks
  %y = dataflow.kernel @kernel0 (%a: !rows = %x : tensor<4xf32>) {
    %b, %c = itensor.fork @fork_x ins(%a : !rows) -> (!rows, !rows)
    %y = dataflow.task @add space<parallel 4 : 0> nest<[d0 4 x 1], unroll: [1]>
      ins("x"[d0] = %b : !rows, "x"[d0] = %c : !rows) -> ("y"[d0] : !rows) {
    ^bb0(%e: f32, %f: f32):
      %s = arith.addf %e, %f : f32
      dataflow.yield %s : f32
    }
    dataflow.yield %y : !rows
  } : tensor<4xf32>
  func.return %y : tensor<4xf32>
}
