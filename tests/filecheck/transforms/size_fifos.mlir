// RUN: millrace-opt %s -p size-fifos | filecheck %s
// RUN: millrace-opt %s -p "size-fifos{strategy=normal}" | filecheck %s --check-prefix NORMAL
// RUN: millrace-opt %s -p "size-fifos{strategy=whole}" | filecheck %s --check-prefix WHOLE
// RUN: millrace-opt %s -p "size-fifos{strategy=tight}" --verify-diagnostics | filecheck %s --check-prefix UNKNOWN

// UNKNOWN: FIFO strategy 'tight' is unknown; use one of conservative, normal, whole

!f = !itensor.stream<vector<1xf32>, depth: 2>
func.func @reconvergence(%x: tensor<64xf32>) {
  // Both copies meet in the task, which walks them at an even pace: a few tokens are in flight. `whole` holds all 64.
  // CHECK:      %fork_x_in = itensor.stream {{.*}}, depth: 16>
  // CHECK-NEXT: %add_in0 = itensor.stream {{.*}}, depth: 4>
  // CHECK-NEXT: %add_in1 = itensor.stream {{.*}}, depth: 4>
  // `normal` lets no task wait that computes, so the stream behind `add` holds what is inside its pipeline too.
  // NORMAL:     %fork_x_in = itensor.stream {{.*}}, depth: 16>
  // NORMAL:     %add_in0 = itensor.stream {{.*}}, depth: 4>
  // NORMAL:     %drain_in = itensor.stream {{.*}}, depth: 11>
  // WHOLE:      %add_in0 = itensor.stream {{.*}}, depth: 64>
  // WHOLE-NEXT: %add_in1 = itensor.stream {{.*}}, depth: 64>
  // CHECK:      itensor.fork @fork_x ins(%fork_x_in : !itensor.stream<vector<1xf32>, depth: {{[0-9]+}}>) outs(%add_in0 : !itensor.stream<vector<1xf32>, depth: {{[0-9]+}}>,
  dataflow.kernel @kernel0 (%m: tensor<64xf32> = %x : tensor<64xf32>) {
    %fork_x_in = itensor.stream @fork_x_in carries <1xf32, iter_space: [64]*[1], iter_map: (d0)->(d0)> : !f
    %add_in0 = itensor.stream @add_in0 carries <1xf32, iter_space: [64]*[1], iter_map: (d0)->(d0)> : !f
    %add_in1 = itensor.stream @add_in1 carries <1xf32, iter_space: [64]*[1], iter_map: (d0)->(d0)> : !f
    %drain_in = itensor.stream @drain_in carries <1xf32, iter_space: [64]*[1], iter_map: (d0)->(d0)> : !f
    dataflow.load @load_x "x" packing<channels: 1, tokens_per_word: 16, words_per_token: 1> ins(%m : tensor<64xf32>) outs(%fork_x_in : !f)
    itensor.fork @fork_x ins(%fork_x_in : !f) outs(%add_in0 : !f, %add_in1 : !f)
    dataflow.task @add space<parallel 64 : 0> nest<[d0 64 x 1], unroll: [1]>
      ins("x"[d0] = %add_in0 : !f, "x"[d0] = %add_in1 : !f) outs("y"[d0] = %drain_in : !f) {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      dataflow.yield %s : f32
    }
    itensor.fork @drain ins(%drain_in : !f)
    dataflow.yield
  }
  func.return
}
