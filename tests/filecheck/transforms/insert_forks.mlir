// RUN: millrace-opt %s -p insert-forks --split-input-file --verify-diagnostics | filecheck %s

!s = !itensor.itensor<1xf32, iter_space: [4]*[1], iter_map: (d0)->(d0)>
!t = !itensor.itensor<1xf32, iter_space: [2,2]*[2,1], iter_map: (d0,d1)->(d0+d1)>

func.func @copies(%x: tensor<4xf32> {dataflow.value = #dataflow.value<"x", input from "x">})
    -> (tensor<4xf32> {dataflow.output = #dataflow.output<"y" = "y.1"[d0] as [4]>}) {
  // CHECK:      %y = dataflow.kernel @kernel0 (
  // An argument with two readers, both behind casts: copies are in the order of the task's inputs.
  // CHECK:        %a_1, %a_2 = itensor.fork @fork_x ins(%a :
  // CHECK-NEXT:   %second = itensor.cast %a_2 :
  // CHECK-NEXT:   %first = itensor.cast %a_1 :
  // CHECK-NEXT:   %y_1 = dataflow.task @add
  // CHECK:            ins("x"[d0] = %first :
  // CHECK-NEXT:         "x"[d0] = %second :
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

func.func @shared_cast(%x: tensor<4xf32> {dataflow.value = #dataflow.value<"x", input from "x">}) {
  // CHECK: insert-forks expects one reader behind itensor.cast, one has 0; adapt for each reader
  dataflow.kernel @kernel0 (%a: !s = %x : tensor<4xf32>) {
    %b = itensor.cast %a : !s to !t
    itensor.fork @drain ins(%a : !s)
    dataflow.yield
  }
  func.return
}
