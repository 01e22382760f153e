// RUN: millrace-opt %s -p plan-loads,share-converters,insert-forks --split-input-file --verify-diagnostics | filecheck %s
// RUN: millrace-opt %s -p share-converters --split-input-file --verify-diagnostics | filecheck %s --check-prefix ALONE

!rows = !itensor.itensor<1x1xf32, iter_space: [4,4]*[1,1], iter_map: (d0,d1)->(d0,d1)>
!columns = !itensor.itensor<1x1xf32, iter_space: [4,4]*[1,1], iter_map: (d0,d1)->(d1,d0)>
!split = !itensor.itensor<1x1xf32, iter_space: [2,2,4]*[2,1,1], iter_map: (d0,d1,d2)->(d2,d0+d1)>

func.func @shared(%x: tensor<4x4xf32> {dataflow.value = #dataflow.value<"x", input from "x">})
    -> (tensor<4x4xf32> {dataflow.output = #dataflow.output<"z" = "z"[d0, d1] as [16]>}) {
  // Three readers by columns, one of them in another text: one converter, named after the first, and a fork behind it.
  // The reader by rows, which is the order of the load, reads from the fork in front.
  // CHECK:      %x_2, %x_3 = itensor.fork @fork_x ins(%x_1 :
  // CHECK-NEXT: %w = dataflow.task @straight
  // CHECK:          ins("x"[d0, d1] = %x_2 :
  // CHECK:      %x_4 = itensor.converter @convert_x_to_turn_in0 {{.*}} ins(%x_3 :
  // CHECK-NEXT: %x_5, %x_6, %x_7 = itensor.fork @fork_x_to_turn_in0 ins(%x_4 :
  // CHECK-NOT:  itensor.converter
  // CHECK:          ins("x"[d1, d0] = %x_5 :
  // CHECK:          ins("x"[d1, d0] = %x_6 :
  // CHECK:      %[[TEXT:.*]] = itensor.cast %x_7 : {{.*}} to !itensor.itensor<1x1xf32, iter_space: [2,2,4]*[2,1,1],
  // CHECK:          ins("x"[d1, d0] = %[[TEXT]] :
  %z = dataflow.kernel @kernel0 (%a: !rows = %x : tensor<4x4xf32>, %b: !columns = %x : tensor<4x4xf32>,
                                 %c: !columns = %x : tensor<4x4xf32>, %d: !split = %x : tensor<4x4xf32>) {
    %w = dataflow.task @straight space<parallel 4 : 0, parallel 4 : 1> nest<[d0 4 x 1, d1 4 x 1], unroll: [1, 1]>
      ins("x"[d0, d1] = %a : !rows) -> ("w"[d0, d1] : !rows) {
    ^bb0(%e: f32):
      dataflow.yield %e : f32
    }
    %y = dataflow.task @turn space<parallel 4 : 0, parallel 4 : 1> nest<[d0 4 x 1, d1 4 x 1], unroll: [1, 1]>
      ins("x"[d1, d0] = %b : !columns) -> ("y"[d0, d1] : !rows) {
    ^bb0(%e: f32):
      dataflow.yield %e : f32
    }
    %z = dataflow.task @add space<parallel 4 : 0, parallel 4 : 1> nest<[d0 4 x 1, d1 4 x 1], unroll: [1, 1]>
      ins("x"[d1, d0] = %c : !columns, "w"[d0, d1] = %w : !rows, "y"[d0, d1] = %y : !rows) -> ("z"[d0, d1] : !rows) {
    ^bb0(%e: f32, %f: f32, %g: f32):
      %i = arith.addf %e, %f : f32
      dataflow.yield %i : f32
    }
    %u = dataflow.task @unused space<parallel 4 : 0, parallel 4 : 1> nest<[d0 2 x 2, d0 2 x 1, d1 4 x 1], unroll: [1, 1]>
      ins("x"[d1, d0] = %d : !split) -> ("u"[d0, d1] : !itensor.itensor<1x1xf32, iter_space: [2,2,4]*[2,1,1], iter_map: (d0,d1,d2)->(d0+d1,d2)>) {
    ^bb0(%e: f32):
      dataflow.yield %e : f32
    }
    dataflow.yield %z : !rows
  } : tensor<4x4xf32>
  func.return %z : tensor<4x4xf32>
}

// -----

!rows = !itensor.itensor<1x1xf32, iter_space: [4,4]*[1,1], iter_map: (d0,d1)->(d0,d1)>
!columns = !itensor.itensor<1x1xf32, iter_space: [4,4]*[1,1], iter_map: (d0,d1)->(d1,d0)>
!again = !itensor.itensor<1x1xf32, iter_space: [2,4,4]*[1,1,1], iter_map: (d0,d1,d2)->(d2,d1)>

func.func @different(%x: tensor<4x4xf32> {dataflow.value = #dataflow.value<"x", input from "x">}) {
  // One reader wants each element twice: another stream, another converter.
  // CHECK: itensor.converter @convert_x_to_turn_in0
  // CHECK: itensor.converter @convert_x_to_outer_in0
  dataflow.kernel @kernel0 (%r: !rows = %x : tensor<4x4xf32>, %a: !columns = %x : tensor<4x4xf32>, %b: !again = %x : tensor<4x4xf32>) {
    %w = dataflow.task @straight space<parallel 4 : 0, parallel 4 : 1> nest<[d0 4 x 1, d1 4 x 1], unroll: [1, 1]>
      ins("x"[d0, d1] = %r : !rows) -> ("w"[d0, d1] : !rows) {
    ^bb0(%e: f32):
      dataflow.yield %e : f32
    }
    %y = dataflow.task @turn space<parallel 4 : 0, parallel 4 : 1> nest<[d0 4 x 1, d1 4 x 1], unroll: [1, 1]>
      ins("x"[d1, d0] = %a : !columns) -> ("y"[d0, d1] : !rows) {
    ^bb0(%e: f32):
      dataflow.yield %e : f32
    }
    %z = dataflow.task @outer space<parallel 2 : 0, parallel 4 : 1, parallel 4 : 2> nest<[d0 2 x 1, d1 4 x 1, d2 4 x 1], unroll: [1, 1, 1]>
      ins("x"[d2, d1] = %b : !again)
      -> ("z"[d0, d1, d2] : !itensor.itensor<1x1x1xf32, iter_space: [2,4,4]*[1,1,1], iter_map: (d0,d1,d2)->(d0,d1,d2)>) {
    ^bb0(%e: f32):
      dataflow.yield %e : f32
    }
    dataflow.yield
  }
  func.return
}

// -----

func.func @on_tensors(%x: tensor<4xf32> {dataflow.value = #dataflow.value<"x", input from "x">})
    -> (tensor<4xf32> {dataflow.output = #dataflow.output<"y" = "y"[d0] as [4]>}) {
  // ALONE: share-converters expects every operation in a kernel; run linalg-to-dataflow first
  %y = dataflow.task @copy space<parallel 4 : 0> nest<[d0 4 x 1], unroll: [1]>
    ins("x"[d0] = %x : tensor<4xf32>) -> ("y"[d0] : tensor<4xf32>) {
  ^bb0(%e: f32):
    dataflow.yield %e : f32
  }
  func.return %y : tensor<4xf32>
}
