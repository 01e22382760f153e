// RUN: millrace-opt %s -p lower-to-streams --split-input-file --verify-diagnostics | filecheck %s

!s = !itensor.itensor<1x2xf32, iter_space: [4,2]*[1,2], iter_map: (d0,d1)->(d0,d1)>
!t = !itensor.itensor<1x2xf32, iter_space: [2,2,2]*[2,1,2], iter_map: (d0,d1,d2)->(d0+d1,d2)>
!c = !itensor.itensor<1x2xf32, iter_space: [2,4]*[2,1], iter_map: (d0,d1)->(d1,d0)>

func.func @all(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // Streams are named after their readers; the cast is gone, the order that it cast from is what its stream carries.
  // CHECK:      %y = dataflow.kernel @kernel0 (
  // CHECK-NEXT:     %m: tensor<4x4xf32> = %x : tensor<4x4xf32>) {
  // CHECK-NEXT:   %convert_x_to_fork_in = itensor.stream @convert_x_to_fork_in carries <1x2xf32, iter_space: [2,4]*[2,1], iter_map: (d0,d1)->(d1,d0)> : !itensor.stream<vector<1x2xf32>, depth: 2>
  // CHECK-NEXT:   %fork_x_in = itensor.stream @fork_x_in carries <1x2xf32, iter_space: [4,2]*[1,2], iter_map: (d0,d1)->(d0,d1)> : !itensor.stream<vector<1x2xf32>, depth: 2>
  // CHECK-NEXT:   %add_in0 = itensor.stream @add_in0 carries <1x2xf32, iter_space: [4,2]*[1,2], iter_map: (d0,d1)->(d0,d1)> :
  // CHECK-NEXT:   %add_in1 = itensor.stream @add_in1 carries <1x2xf32, iter_space: [4,2]*[1,2], iter_map: (d0,d1)->(d0,d1)> :
  // CHECK-NEXT:   %store_y_in = itensor.stream
  // CHECK-NEXT:   dataflow.load @load_x "x" packing<{{.*}}> ins(%m : tensor<4x4xf32>) outs(%convert_x_to_fork_in : !itensor.stream<vector<1x2xf32>, depth: 2>)
  // CHECK-NEXT:   itensor.converter @convert_x_to_fork single<dim: 0, length: 4, delay: 0, steps: 16, columns: 1, fill: [0, 8, 1], drain: [8, 8, 1]> ins(%convert_x_to_fork_in : {{.*}}) outs(%fork_x_in : {{.*}})
  // CHECK-NEXT:   itensor.fork @fork_x ins(%fork_x_in : {{.*}}) outs(%add_in0 : {{.*}}, %add_in1 : {{.*}})
  // CHECK-NEXT:   dataflow.task @add
  // CHECK:            ins("x"[d0, d1] = %add_in0 : !itensor.stream<vector<1x2xf32>, depth: 2>,
  // CHECK-NEXT:         "x"[d0, d1] = %add_in1 : !itensor.stream<vector<1x2xf32>, depth: 2>)
  // CHECK-NEXT:       outs("y"[d0, d1] = %store_y_in : !itensor.stream<vector<1x2xf32>, depth: 2>) {
  // CHECK:        %n = dataflow.store @store_y "y" packing<{{.*}}> ins(%store_y_in : {{.*}}) -> (tensor<4x4xf32>)
  // CHECK-NEXT:   dataflow.yield %n : tensor<4x4xf32>
  %y = dataflow.kernel @kernel0 (%m: tensor<4x4xf32> = %x : tensor<4x4xf32>) {
    %a = dataflow.load @load_x "x" packing<channels: 1, tokens_per_word: 8, words_per_token: 1> ins(%m : tensor<4x4xf32>) -> (!c)
    %b = itensor.converter @convert_x_to_fork single<dim: 0, length: 4, delay: 0, steps: 16, columns: 1, fill: [0, 8, 1], drain: [8, 8, 1]> ins(%a : !c) -> (!s)
    %d, %e = itensor.fork @fork_x ins(%b : !s) -> (!s, !s)
    %f = itensor.cast %d : !s to !t
    %g = itensor.cast %e : !s to !t
    %r = dataflow.task @add space<parallel 4 : 0, parallel 4 : 1> nest<[d0 2 x 2, d0 2 x 1, d1 2 x 2], unroll: [1, 2]>
      ins("x"[d0, d1] = %f : !t, "x"[d0, d1] = %g : !t) -> ("y"[d0, d1] : !t) {
    ^bb0(%h: f32, %i: f32):
      %p = arith.addf %h, %i : f32
      dataflow.yield %p : f32
    }
    %n = dataflow.store @store_y "y" packing<channels: 1, tokens_per_word: 8, words_per_token: 1> ins(%r : !t) -> (tensor<4x4xf32>)
    dataflow.yield %n : tensor<4x4xf32>
  } : tensor<4x4xf32>
  func.return %y : tensor<4x4xf32>
}

// -----

!s = !itensor.itensor<1xf32, iter_space: [4]*[1], iter_map: (d0)->(d0)>
func.func @no_dmas(%x: tensor<4xf32>) {
  // CHECK: kernel @k takes itensors; run materialize-dmas before lower-to-streams
  dataflow.kernel @k (%a: !s = %x : tensor<4xf32>) {
    itensor.fork @drain ins(%a : !s)
    dataflow.yield
  }
  func.return
}

// -----

!s = !itensor.itensor<1xf32, iter_space: [4]*[1], iter_map: (d0)->(d0)>
func.func @no_forks(%x: tensor<4xf32>) {
  // CHECK: lower-to-streams expects one reader of every itensor, one has 2; run insert-forks first
  dataflow.kernel @k (%m: tensor<4xf32> = %x : tensor<4xf32>) {
    %a = dataflow.load @load_x "x" packing<channels: 1, tokens_per_word: 4, words_per_token: 1> ins(%m : tensor<4xf32>) -> (!s)
    itensor.fork @drain_a ins(%a : !s)
    itensor.fork @drain_b ins(%a : !s)
    dataflow.yield
  }
  func.return
}
