// RUN: millrace-opt %s -p size-fifos --split-input-file --verify-diagnostics | filecheck %s
// RUN: millrace-opt %s -p size-fifos --knobs '{"fifo": "normal"}' --split-input-file --verify-diagnostics | filecheck %s --check-prefix NORMAL
// RUN: millrace-opt %s -p size-fifos --knobs '{"fifo": "whole"}' --split-input-file --verify-diagnostics | filecheck %s --check-prefix WHOLE

!s = !itensor.itensor<1xf32, iter_space: [64]*[1], iter_map: (d0)->(d0)>
func.func @reconvergence(%x: tensor<64xf32> {dataflow.value = #dataflow.value<"x", input from "x">})
    -> (tensor<64xf32> {dataflow.output = #dataflow.output<"y" = "y"[d0] as [64]>}) {
  // Both copies meet in the task, which walks them at an even pace: a few tokens are in flight, and a shift register of
  // 32 holds them, which costs what the least does. `whole` holds all 64.
  // CHECK:      %fork_x_in = itensor.stream {{.*}}, depth: 32>
  // CHECK:      %add_in0 = itensor.stream {{.*}}, depth: 32>
  // CHECK-NEXT: %add_in1 = itensor.stream {{.*}}, depth: 32>
  // `normal` lets no task wait that computes, so the stream behind `add` holds what is inside its pipeline too: as many.
  // NORMAL-DAG: %fork_x_in = itensor.stream {{.*}}, depth: 32>
  // NORMAL-DAG: %add_in0 = itensor.stream {{.*}}, depth: 32>
  // NORMAL-DAG: %store_y_in = itensor.stream {{.*}}, depth: 32>
  // WHOLE:      %add_in0 = itensor.stream {{.*}}, depth: 64>
  // WHOLE-NEXT: %add_in1 = itensor.stream {{.*}}, depth: 64>
  // CHECK:      itensor.fork @fork_x ins(%fork_x_in : !itensor.stream<vector<1xf32>, depth: 32>) outs(%add_in0 : !itensor.stream<vector<1xf32>, depth: 32>,
  %y = dataflow.kernel @kernel0 (%m: tensor<64xf32> = %x : tensor<64xf32>) {
    %a = dataflow.load @load_x "x" packing<channels: 1, tokens_per_word: 16, words_per_token: 1> ins(%m : tensor<64xf32>) -> (!s)
    %b, %c = itensor.fork @fork_x ins(%a : !s) -> (!s, !s)
    %d = dataflow.task @add space<parallel 64 : 0> nest<[d0 64 x 1], unroll: [1]>
      ins("x"[d0] = %b : !s, "x"[d0] = %c : !s) -> ("y"[d0] : !s) {
    ^bb0(%e: f32, %f: f32):
      %s = arith.addf %e, %f : f32
      dataflow.yield %s : f32
    }
    %n = dataflow.store @store_y "y" packing<channels: 1, tokens_per_word: 16, words_per_token: 1> ins(%d : !s) -> (tensor<64xf32>)
    dataflow.yield %n : tensor<64xf32>
  } : tensor<64xf32>
  func.return %y : tensor<64xf32>
}

// -----

!s = !itensor.itensor<1x2xf32, iter_space: [4,2]*[1,2], iter_map: (d0,d1)->(d0,d1)>
!t = !itensor.itensor<1x2xf32, iter_space: [2,2,2]*[2,1,2], iter_map: (d0,d1,d2)->(d0+d1,d2)>
!c = !itensor.itensor<1x2xf32, iter_space: [2,4]*[2,1], iter_map: (d0,d1)->(d1,d0)>

func.func @all(%x: tensor<4x4xf32> {dataflow.value = #dataflow.value<"x", input from "x">})
    -> (tensor<4x4xf32> {dataflow.output = #dataflow.output<"y" = "y"[d0, d1] as [4, 4]>}) {
  // Streams are named after their readers; the cast is gone, the order that it cast from is what its stream carries.
  // CHECK:      %y = dataflow.kernel @kernel0 (
  // CHECK-NEXT:     %x_1: tensor<4x4xf32> = %x : tensor<4x4xf32>) {
  // CHECK-DAG:    %convert_x_to_fork_in = itensor.stream @convert_x_to_fork_in carries <1x2xf32, iter_space: [2,4]*[2,1], iter_map: (d0,d1)->(d1,d0)> :
  // CHECK-DAG:    %fork_x_in = itensor.stream @fork_x_in carries <1x2xf32, iter_space: [4,2]*[1,2], iter_map: (d0,d1)->(d0,d1)> :
  // CHECK-DAG:    %add_in0 = itensor.stream @add_in0 carries <1x2xf32, iter_space: [4,2]*[1,2], iter_map: (d0,d1)->(d0,d1)> :
  // CHECK-DAG:    %add_in1 = itensor.stream @add_in1 carries <1x2xf32, iter_space: [4,2]*[1,2], iter_map: (d0,d1)->(d0,d1)> :
  // CHECK-DAG:    %store_y_in = itensor.stream @store_y_in carries <1x2xf32, iter_space: [2,2,2]*[2,1,2], iter_map: (d0,d1,d2)->(d0+d1,d2)> :
  // CHECK:        dataflow.load @load_x "x" packing<{{.*}}> ins(%x_1 : tensor<4x4xf32>) outs(%convert_x_to_fork_in : !itensor.stream<vector<1x2xf32>, depth: {{.*}}>)
  // CHECK-NEXT:   itensor.converter @convert_x_to_fork single<dim: 0, length: 4, delay: 0, steps: 16, columns: 1, fill: [0, 8, 1], drain: [8, 8, 1]> ins(%convert_x_to_fork_in : {{.*}}) outs(%fork_x_in : {{.*}})
  // CHECK-NEXT:   itensor.fork @fork_x ins(%fork_x_in : {{.*}}) outs(%add_in0 : {{.*}}, %add_in1 : {{.*}})
  // CHECK-NEXT:   dataflow.task @add
  // CHECK:            ins("x"[d0, d1] = %add_in0 : !itensor.stream<vector<1x2xf32>, depth: {{.*}}>,
  // CHECK-NEXT:         "x"[d0, d1] = %add_in1 : !itensor.stream<vector<1x2xf32>, depth: {{.*}}>)
  // CHECK-NEXT:       outs("y"[d0, d1] = %store_y_in : !itensor.stream<vector<1x2xf32>, depth: {{.*}}>) {
  // CHECK:        %[[Y:.*]] = dataflow.store @store_y "y" packing<{{.*}}> ins(%store_y_in : {{.*}}) -> (tensor<4x4xf32>)
  // CHECK-NEXT:   dataflow.yield %[[Y]] : tensor<4x4xf32>
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
func.func @no_dmas(%x: tensor<4xf32> {dataflow.value = #dataflow.value<"x", input from "x">})
    -> (tensor<4xf32> {dataflow.output = #dataflow.output<"y" = "y"[d0] as [4]>}) {
  // CHECK: x is not packed; run materialize-dmas
  %y = dataflow.kernel @kernel0 (%a: !s = %x : tensor<4xf32>) {
    %y = dataflow.task @copy space<parallel 4 : 0> nest<[d0 4 x 1], unroll: [1]> ins("x"[d0] = %a : !s) -> ("y"[d0] : !s) {
    ^bb0(%e: f32):
      dataflow.yield %e : f32
    }
    dataflow.yield %y : !s
  } : tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

!s = !itensor.itensor<1xf32, iter_space: [4]*[1], iter_map: (d0)->(d0)>
func.func @no_forks(%x: tensor<4xf32> {dataflow.value = #dataflow.value<"x", input from "x">})
    -> (tensor<4xf32> {dataflow.output = #dataflow.output<"y" = "y"[d0] as [4]>}) {
  // CHECK: load_x has 2 readers of x; run insert-forks
  %y = dataflow.kernel @kernel0 (%m: tensor<4xf32> = %x : tensor<4xf32>) {
    %a = dataflow.load @load_x "x" packing<channels: 1, tokens_per_word: 4, words_per_token: 1> ins(%m : tensor<4xf32>) -> (!s)
    %b = dataflow.task @add space<parallel 4 : 0> nest<[d0 4 x 1], unroll: [1]>
      ins("x"[d0] = %a : !s, "x"[d0] = %a : !s) -> ("y"[d0] : !s) {
    ^bb0(%e: f32, %f: f32):
      %s = arith.addf %e, %f : f32
      dataflow.yield %s : f32
    }
    %n = dataflow.store @store_y "y" packing<channels: 1, tokens_per_word: 4, words_per_token: 1> ins(%b : !s) -> (tensor<4xf32>)
    dataflow.yield %n : tensor<4xf32>
  } : tensor<4xf32>
  func.return %y : tensor<4xf32>
}
