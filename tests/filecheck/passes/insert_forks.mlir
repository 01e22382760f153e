// RUN: millrace-opt %s -p insert-forks --split-input-file --verify-diagnostics | filecheck %s

!s = !itensor.itensor<1xf32, iter_space: [4]*[1], iter_map: (d0)->(d0)>
!t = !itensor.itensor<1xf32, iter_space: [2,2]*[2,1], iter_map: (d0,d1)->(d0+d1)>

func.func @copies(%x: tensor<4xf32> {dataflow.value = #dataflow.value<"x", input from "x">})
    -> (tensor<4xf32> {dataflow.output = #dataflow.output<"y" = "y.1"[d0] as [4]>}) {
  // CHECK:      %y = dataflow.kernel @kernel0 (
  // An argument with two readers, both behind casts: copies are in the order of the task's inputs.
  // CHECK:        %x_2, %x_3 = itensor.fork @fork_x ins(%x_1 :
  // CHECK-NEXT:   %[[FIRST:.*]] = itensor.cast %x_2 :
  // CHECK-NEXT:   %[[SECOND:.*]] = itensor.cast %x_3 :
  // CHECK-NEXT:   %y_1 = dataflow.task @add
  // CHECK:            ins("x"[d0] = %[[FIRST]] :
  // CHECK-NEXT:         "x"[d0] = %[[SECOND]] :
  // A result that is read and leaves, and one that nobody reads: it is drained.
  // CHECK:        %y_2, %y_3 = itensor.fork @fork_y_1 ins(%y_1 :
  // CHECK-NEXT:   %z = dataflow.task @unused
  // CHECK:            ins("y.1"[d0] = %y_2 :
  // CHECK:        itensor.fork @fork_z ins(%z : !itensor.itensor<1xf32, iter_space: [2,2]*[2,1], iter_map: (d0,d1)->(d0+d1)>)
  // CHECK-NEXT:   dataflow.yield %y_3 :
  %y = dataflow.kernel @kernel0 (%a: !s = %x : tensor<4xf32>) {
    %second = itensor.cast %a : !s to !t
    %first = itensor.cast %a : !s to !t
    %y = dataflow.task @add space<parallel 4 : 0> nest<[d0 2 x 2, d0 2 x 1], unroll: [1]>
      ins("x"[d0] = %first : !t, "x"[d0] = %second : !t) -> ("y.1"[d0] : !t) {
    ^bb0(%e: f32, %f: f32):
      %s = arith.addf %e, %f : f32
      dataflow.yield %s : f32
    }
    %z = dataflow.task @unused space<parallel 4 : 0> nest<[d0 2 x 2, d0 2 x 1], unroll: [1]>
      ins("y.1"[d0] = %y : !t) -> ("z"[d0] : !t) {
    ^bb0(%e: f32):
      dataflow.yield %e : f32
    }
    dataflow.yield %y : !t
  } : tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

!s = !itensor.itensor<1xf32, iter_space: [4]*[1], iter_map: (d0)->(d0)>
!t = !itensor.itensor<1xf32, iter_space: [2,2]*[2,1], iter_map: (d0,d1)->(d0+d1)>

func.func @shared_cast(%x: tensor<4xf32> {dataflow.value = #dataflow.value<"x", input from "x">})
    -> (tensor<4xf32> {dataflow.output = #dataflow.output<"y" = "y"[d0] as [4]>}) {
  // A cast is only another text: copies are made in front of it, and each reader casts its own.
  // CHECK:        %x_2, %x_3 = itensor.fork @fork_x ins(%x_1 : !itensor.itensor<1xf32, iter_space: [4]*[1],
  // CHECK-NEXT:   itensor.cast %x_2 :
  // CHECK-NEXT:   itensor.cast %x_3 :
  %y = dataflow.kernel @kernel0 (%a: !s = %x : tensor<4xf32>) {
    %b = itensor.cast %a : !s to !t
    %y = dataflow.task @add space<parallel 4 : 0> nest<[d0 2 x 2, d0 2 x 1], unroll: [1]>
      ins("x"[d0] = %b : !t, "x"[d0] = %b : !t) -> ("y"[d0] : !t) {
    ^bb0(%e: f32, %f: f32):
      %s = arith.addf %e, %f : f32
      dataflow.yield %s : f32
    }
    dataflow.yield %y : !t
  } : tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

!s = !itensor.itensor<1xf32, iter_space: [4]*[1], iter_map: (d0)->(d0)>

func.func @twice(%x: tensor<4xf32> {dataflow.value = #dataflow.value<"x", input from "x">})
    -> (tensor<4xf32> {dataflow.output = #dataflow.output<"y" = "y"[d0] as [4]>}) {
  // CHECK: insert-forks expects streams that are not copied yet; it runs once
  %y = dataflow.kernel @kernel0 (%a: !s = %x : tensor<4xf32>) {
    %b, %c = itensor.fork @fork_x ins(%a : !s) -> (!s, !s)
    %y = dataflow.task @add space<parallel 4 : 0> nest<[d0 4 x 1], unroll: [1]>
      ins("x"[d0] = %b : !s, "x"[d0] = %c : !s) -> ("y"[d0] : !s) {
    ^bb0(%e: f32, %f: f32):
      %s = arith.addf %e, %f : f32
      dataflow.yield %s : f32
    }
    dataflow.yield %y : !s
  } : tensor<4xf32>
  func.return %y : tensor<4xf32>
}
