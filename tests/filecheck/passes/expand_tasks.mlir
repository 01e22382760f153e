// RUN: millrace-opt %s -p expand-tasks --split-input-file --verify-diagnostics | filecheck %s

!x = !itensor.itensor<1xf32, iter_space: [2,4]*[1,1], iter_map: (d0,d1)->(d1)>
!w = !itensor.itensor<2x1xf32, iter_space: [2,4]*[2,1], iter_map: (d0,d1)->(d0,d1)>
!h = !itensor.itensor<2xf32, iter_space: [2]*[2], iter_map: (d0)->(d0)>

func.func @product(%x: tensor<4xf32>, %w: tensor<4x4xf32>) -> tensor<4xf32> {
  // The loops inside the first reduction loop are three nests: set partial results, accumulate, write. Every read and
  // write stands in exactly the loops of its itensor. What leaves the kernel begins empty, what stays is an instance.
  // CHECK:      %y = dataflow.kernel @k (
  // CHECK:        %0 = itensor.empty : !itensor.itensor<2xf32, iter_space: [2]*[2], iter_map: (d0)->(d0)>
  // CHECK-NEXT:   %h = dataflow.expanded_task @fc inits(%1 = %0 : {{.*}}) {
  // CHECK:          %[[OUT:.*]] = scf.for %[[I:.*]] = %c0 to %c4 step %c2 iter_args(%[[DEST:.*]] = %1) -> ({{.*}}) {
  // CHECK-NEXT:       %acc = itensor.buffer : memref<2xf32>
  // CHECK-NEXT:       %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
  // CHECK-NEXT:       scf.for %[[L:.*]] = %c0 to %c2 step %c1 {
  // CHECK-NEXT:         memref.store %[[ZERO]], %acc[%[[L]]] : memref<2xf32>
  // CHECK:            scf.for %[[J:.*]] = %c0 to %c4 step %c1 {
  // CHECK-NEXT:         %[[X:.*]] = itensor.read %a : {{.*}} -> vector<1xf32>
  // CHECK-NEXT:         %[[W:.*]] = itensor.read %b : {{.*}} -> vector<2x1xf32>
  // CHECK-NEXT:         scf.for %[[L:.*]] = %c0 to %c2 step %c1 {
  // CHECK-NEXT:           %[[OLD:.*]] = memref.load %acc[%[[L]]] : memref<2xf32>
  // CHECK-NEXT:           %[[A:.*]] = vector.extract %[[X]][0] : f32 from vector<1xf32>
  // CHECK-NEXT:           %[[B:.*]] = vector.extract %[[W]][%[[L]], 0] : f32 from vector<2x1xf32>
  // CHECK-NEXT:           %[[P:.*]] = arith.mulf %[[A]], %[[B]] : f32
  // CHECK-NEXT:           %[[NEW:.*]] = arith.addf %[[OLD]], %[[P]] : f32
  // CHECK-NEXT:           memref.store %[[NEW]], %acc[%[[L]]] : memref<2xf32>
  // CHECK:            %[[WRITTEN:.*]] = itensor.write %{{.*}} into %[[DEST]] : vector<2xf32> into
  // CHECK-NEXT:       scf.yield %[[WRITTEN]]
  // CHECK:          dataflow.yield %[[OUT]]
  %y = dataflow.kernel @k (%a: !x = %x : tensor<4xf32>, %b: !w = %w : tensor<4x4xf32>) {
    %h = dataflow.task @fc space<parallel 4 : 0, reduction 4 : 1> nest<[d0 2 x 2, d1 4 x 1], unroll: [2, 1]>
      reduce add from 0.0 : f32 ins("x"[d1] = %a : !x, "w"[d0, d1] = %b : !w) -> ("h"[d0] : !h) {
    ^bb0(%e: f32, %f: f32):
      %p = arith.mulf %e, %f : f32
      dataflow.yield %p : f32
    }
    dataflow.yield %h : !h
  } : tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

!fused = !itensor.itensor<1x2xf32, iter_space: [2,2]*[1,2], iter_map: (d0,d1)->(d0,d1)>
!past = !itensor.itensor<1x2xf32, iter_space: [3,2]*[1,2], iter_map: (d0,d1)->(d0,d1)>
!keys = !itensor.itensor<1x2xf32, iter_space: [4,2]*[1,2], iter_map: (d0,d1)->(d0,d1)>
!k = !itensor.itensor<2xf32, iter_space: [2]*[2], iter_map: (d0)->(d0)>

func.func @routing(%x: tensor<2x4xf32>, %past: tensor<3x4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>) {
  // Parts keep the dimension along which they are cut; without it they are the same tokens in another shape.
  // CHECK:      %[[K:.*]], %[[V:.*]] = itensor.chunk @split dim 0 ins(%a : {{.*}}) -> (!itensor.itensor<1x2xf32, iter_space: [1,2]*[1,2],
  // CHECK-NEXT: %k = itensor.reassociate %[[K]] {{\[\[}}0, 1]] : {{.*}} to !itensor.itensor<2xf32, iter_space: [2]*[2], iter_map: (d0)->(d0)>
  // CHECK-NEXT: %v = itensor.reassociate %[[V]] {{\[\[}}0, 1]] :
  // CHECK-NEXT: %[[ROW:.*]] = itensor.reassociate %k {{\[\[}}0, 1]] :
  // CHECK-NEXT: %keys = itensor.concat @append dim 0 ins(%b : {{.*}}, %[[ROW]] : {{.*}}) ->
  %y, %z = dataflow.kernel @k (%a: !fused = %x : tensor<2x4xf32>, %b: !past = %past : tensor<3x4xf32>) {
    %k, %v = dataflow.task @split chunk d0 space<parallel 2 : 0, parallel 4 : 1> nest<[d0 2 x 1, d1 2 x 2], unroll: [1, 2]>
      ins("fused"[d0, d1] = %a : !fused) -> ("k"[d1] : !k, "v"[d1] : !k)
    %keys = dataflow.task @append concat d0 space<parallel 4 : 0, parallel 4 : 1> nest<[d0 4 x 1, d1 2 x 2], unroll: [1, 2]>
      ins("past"[d0, d1] = %b : !past, "k"[d1] = %k : !k) -> ("keys"[d0, d1] : !keys)
    dataflow.yield %keys, %v : !keys, !k
  } : tensor<4x4xf32>, tensor<4xf32>
  func.return %y, %z : tensor<4x4xf32>, tensor<4xf32>
}

// -----

!k = !itensor.itensor<2xf32, iter_space: [2]*[2], iter_map: (d0)->(d0)>
!pair = !itensor.itensor<2x1xf32, iter_space: [2,2]*[2,1], iter_map: (d0,d1)->(d0,d1)>

func.func @in_turn(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4x2xf32> {
  // The axis is the innermost loop: one token of each input in turn.
  // CHECK: itensor.join @zip dim 1 ins(
  %z = dataflow.kernel @k (%a: !k = %x : tensor<4xf32>, %b: !k = %y : tensor<4xf32>) {
    %z = dataflow.task @zip concat d1 space<parallel 4 : 0, parallel 2 : 1> nest<[d0 2 x 2, d1 2 x 1], unroll: [2, 1]>
      ins("x"[d0] = %a : !k, "y"[d0] = %b : !k) -> ("z"[d0, d1] : !pair)
    dataflow.yield %z : !pair
  } : tensor<4x2xf32>
  func.return %z : tensor<4x2xf32>
}

// -----

!s = !itensor.stream<vector<2xf32>, depth: 2>

func.func @on_streams(%x: tensor<4xf32>) -> tensor<4xf32> {
  // After bufferisation there is no destination: a task pops and pushes.
  // CHECK:      dataflow.expanded_task @double {
  // CHECK:        scf.for %{{.*}} = %c0 to %c4 step %c2 {
  // CHECK-NEXT:     %[[V:.*]] = itensor.stream_read %in : !itensor.stream<vector<2xf32>, depth: 2> -> vector<2xf32>
  // CHECK:          itensor.stream_write %{{.*}} into %out : vector<2xf32> into !itensor.stream<vector<2xf32>, depth: 2>
  // CHECK:        dataflow.yield
  %y = dataflow.kernel @k (%m: tensor<4xf32> = %x : tensor<4xf32>) {
    %in = itensor.stream @in carries <2xf32, iter_space: [2]*[2], iter_map: (d0)->(d0)> : !s
    %out = itensor.stream @out carries <2xf32, iter_space: [2]*[2], iter_map: (d0)->(d0)> : !s
    dataflow.load @load "x" packing<channels: 1, tokens_per_word: 2, words_per_token: 1> ins(%m : tensor<4xf32>) outs(%in : !s)
    dataflow.task @double space<parallel 4 : 0> nest<[d0 2 x 2], unroll: [2]> ins("x"[d0] = %in : !s) outs("y"[d0] = %out : !s) {
    ^bb0(%e: f32):
      %t = arith.addf %e, %e : f32
      dataflow.yield %t : f32
    }
    %n = dataflow.store @store "y" packing<channels: 1, tokens_per_word: 2, words_per_token: 1> ins(%out : !s) -> (tensor<4xf32>)
    dataflow.yield %n : tensor<4xf32>
  } : tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

func.func @untiled(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: expand-tasks expects tiled tasks, @double has no nest; run tile-tasks
  %y = dataflow.kernel @k (%m: tensor<4xf32> = %x : tensor<4xf32>) {
    %n = dataflow.task @double space<parallel 4 : 0> ins("x"[d0] = %m : tensor<4xf32>) -> ("y"[d0] : tensor<4xf32>) {
    ^bb0(%e: f32):
      %t = arith.addf %e, %e : f32
      dataflow.yield %t : f32
    }
    dataflow.yield %n : tensor<4xf32>
  } : tensor<4xf32>
  func.return %y : tensor<4xf32>
}

// -----

!lines = !itensor.itensor<1x2xf32, iter_space: [8]*[1], iter_map: (d0)->(d0,0)>
!taps = !itensor.itensor<1x2x3xf32, iter_space: [8]*[1], iter_map: (d0)->(d0,0,0)>

func.func @windows(%x: tensor<8x2xf32>) -> tensor<8x2x3xf32> {
  // Windows stay as they are: they are no rearrangement of an itensor, since lines are passed on several times.
  // CHECK: %s = dataflow.task @slide window d0
  %y = dataflow.kernel @k (%a: !lines = %x : tensor<8x2xf32>) {
    %s = dataflow.task @slide window d0 <[d2], stride: 1, dilation: 1, padding: 1, repeat: 1, fill: "0.0">
      space<parallel 8 : 0, parallel 2 : 1, parallel 3 : 2> nest<[d0 8 x 1], unroll: [1, 2, 3]>
      ins("x"[d0, d1] = %a : !lines) -> ("s"[d0, d1, d2] : !taps)
    dataflow.yield %s : !taps
  } : tensor<8x2x3xf32>
  func.return %y : tensor<8x2x3xf32>
}
