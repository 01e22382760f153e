// RUN: millrace-opt %s -p fuse-kernels --split-input-file --verify-diagnostics | filecheck %s
// RUN: millrace-opt %s -p "fuse-kernels{budget=16}" --split-input-file --verify-diagnostics | filecheck %s --check-prefix SMALL
// RUN: millrace-opt %s -p "fuse-kernels{budget=16 plan=\"greedy\"}" --split-input-file --verify-diagnostics | filecheck %s --check-prefix SMALL
// RUN: millrace-opt %s -p "fuse-kernels{on_chip=0}" --split-input-file --verify-diagnostics | filecheck %s --check-prefix BOARD
// RUN: millrace-opt %s -p "fuse-kernels{plan=\"no_such\"}" --split-input-file --verify-diagnostics | filecheck %s --check-prefix UNKNOWN

!rows = !itensor.itensor<1x1xf32, iter_space: [4,4]*[1,1], iter_map: (d0,d1)->(d0,d1)>
!split = !itensor.itensor<1x1xf32, iter_space: [2,2,4]*[2,1,1], iter_map: (d0,d1,d2)->(d0+d1,d2)>
!columns = !itensor.itensor<1x1xf32, iter_space: [4,4]*[1,1], iter_map: (d0,d1)->(d1,d0)>

func.func @chain(%x: tensor<4x4xf32> {dataflow.value = #dataflow.value<"x", input from "x">})
    -> (tensor<4x4xf32> {dataflow.output = #dataflow.output<"z" = "z"[d0, d1] as [16]>}) {
  // Equal streams connect through a cast, unequal ones through a converter; x and z stay at the boundary.
  // CHECK:      %z = dataflow.kernel @kernel0 (
  // CHECK-NEXT:     %a: !itensor.itensor<1x1xf32, {{.*}}> = %x : tensor<4x4xf32>) {
  // CHECK-NEXT:   %h = dataflow.task @first
  // CHECK:        %h_1 = itensor.cast %h : !itensor.itensor<1x1xf32, iter_space: [4,4]*[1,1], {{.*}}> to !itensor.itensor<1x1xf32, iter_space: [2,2,4]*[2,1,1], {{.*}}>
  // CHECK-NEXT:   %y = dataflow.task @second
  // CHECK:        %y_1 = itensor.converter @convert_y_to_third_in0 single<dim: 0, length: 4, delay: 0, steps: 32, columns: 1, fill: [0, 16, 1], drain: [16, 16, 1]> ins(%y : {{.*}}) -> ({{.*}})
  // CHECK-NEXT:   %z_1 = dataflow.task @third
  // CHECK:            ins("y"[d1, d0] = %y_1 :
  // CHECK:        dataflow.yield %z_1
  // CHECK-NOT:  dataflow.kernel

  // The converter needs 64 bytes: with 16 the third task runs in a kernel of its own.
  // SMALL:      %y = dataflow.kernel @kernel0 (
  // SMALL:        itensor.cast
  // SMALL:        dataflow.yield
  // SMALL:      %z = dataflow.kernel @kernel1 (
  // SMALL-NEXT:     %{{.*}}: !itensor.itensor<1x1xf32, iter_space: [4,4]*[1,1], iter_map: (d0,d1)->(d1,d0)> = %y : tensor<4x4xf32>) {
  // SMALL-NOT:    itensor.converter

  // A board without memory for the converter: cut there too, where one kernel's budget would allow it.
  // BOARD:      %y = dataflow.kernel @kernel0 (
  // BOARD:      %z = dataflow.kernel @kernel1 (
  // BOARD-NOT:    itensor.converter

  // UNKNOWN: fusion plan 'no_such' is unknown; use one of greedy, traffic
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

!rows = !itensor.itensor<1x1xf32, iter_space: [4,4]*[1,1], iter_map: (d0,d1)->(d0,d1)>
func.func @fused_already(%x: tensor<4x4xf32> {dataflow.value = #dataflow.value<"x", input from "x">}) {
  // CHECK: fuse-kernels expects kernels of one task, @k has 2 operations; run it directly after linalg-to-dataflow
  dataflow.kernel @k (%a: !rows = %x : tensor<4x4xf32>) {
    %b, %c = itensor.fork @fork_a ins(%a : !rows) -> (!rows, !rows)
    itensor.fork @drain ins(%b : !rows)
    dataflow.yield
  }
  func.return
}
