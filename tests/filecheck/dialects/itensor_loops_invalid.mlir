// RUN: millrace-opt %s --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

!b = !itensor.itensor<4xf32, iter_space: [2]*[4], iter_map: (d0)->(d0)>
func.func @no_loop(%x: !b) {
  // CHECK: itensor.read stands in loops of (tripcount, step) [] where
  // CHECK-SAME: is walked by [(2, 4)]; the loops between an itensor and its read or write are exactly its iteration space
  %v = itensor.read %x : !b -> vector<4xf32>
  func.return
}

// -----

!b = !itensor.itensor<4xf32, iter_space: [2]*[4], iter_map: (d0)->(d0)>
func.func @wrong_step(%x: !b) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  scf.for %i = %c0 to %c2 step %c1 {
    // CHECK: itensor.read stands in loops of (tripcount, step) [(2, 1)] where
    %v = itensor.read %x : !b -> vector<4xf32>
  }
  func.return
}

// -----

!b = !itensor.itensor<4xf32, iter_space: [2]*[4], iter_map: (d0)->(d0)>
func.func @loop_inside_the_destination(%v: vector<4xf32>) {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c4 {
    %e = itensor.empty : !b
    // CHECK: itensor.write stands in loops of (tripcount, step) [] where
    %w = itensor.write %v into %e : vector<4xf32> into !b
  }
  func.return
}

// -----

!one = !itensor.itensor<4xf32, iter_space: []*[], iter_map: ()->(0)>
func.func @token(%x: !one) {
  // CHECK: itensor.read moves a vector<8xf32> where a token of {{.*}} is vector<4xf32>
  %v = itensor.read %x : !one -> vector<8xf32>
  func.return
}

// -----

!one = !itensor.itensor<4xf32, iter_space: []*[], iter_map: ()->(0)>
func.func @init(%x: !one) {
  // CHECK: itensor.read of a tensor needs an init, of a vector or scalar has none
  %v = itensor.read %x : !one -> tensor<4xf32>
  func.return
}

// -----

!one = !itensor.itensor<4xf32, iter_space: []*[], iter_map: ()->(0)>
func.func @two_readers(%x: !one) {
  // CHECK: itensor.read of an itensor that has another reader; insert itensor.fork
  %v = itensor.read %x : !one -> vector<4xf32>
  %w = itensor.read %x : !one -> vector<4xf32>
  func.return
}

// -----

!one = !itensor.itensor<4xf32, iter_space: []*[], iter_map: ()->(0)>
func.func @written_twice(%x: vector<4xf32>) {
  %e = itensor.instance : !one
  // CHECK: itensor.write: an itensor is written once, and what is written is carried on once
  %v = itensor.write %x into %e : vector<4xf32> into !one
  %w = itensor.write %x into %e : vector<4xf32> into !one
  func.return
}

// -----

!one = !itensor.itensor<4xf32, iter_space: []*[], iter_map: ()->(0)>
func.func @bounds(%x: !one, %n: index) {
  scf.for %i = %n to %n step %n {
    // CHECK: a loop around a stream needs constant bounds and step
    %v = itensor.read %x : !one -> vector<4xf32>
  }
  func.return
}

// -----

!one = !itensor.itensor<4xf32, iter_space: []*[], iter_map: ()->(0)>
func.func @task(%x: !one) {
  %e = itensor.empty : !one
  // CHECK: task @t: inits, their block arguments, what is yielded and the results must have the same types
  %t = dataflow.expanded_task @t inits(%d = %e : !one) {
    dataflow.yield
  }
  func.return
}

// -----

func.func @stream(%x: !itensor.itensor<4xf32, iter_space: [2]*[4], iter_map: (d0)->(d0)>) {
  %s = itensor.stream @s carries <4xf32, iter_space: [2]*[4], iter_map: (d0)->(d0)> : !itensor.stream<vector<4xf32>, depth: 2>
  itensor.fork @copy ins(%x : !itensor.itensor<4xf32, iter_space: [2]*[4], iter_map: (d0)->(d0)>) outs(%s : !itensor.stream<vector<4xf32>, depth: 2>)
  dataflow.expanded_task @t {
    // CHECK: itensor.stream_read runs 1 times on a FIFO that 2 tokens pass
    %v = itensor.stream_read %s : !itensor.stream<vector<4xf32>, depth: 2> -> vector<4xf32>
    dataflow.yield
  }
  func.return
}

// -----

func.func @stream_token(%v: vector<2xf32>) {
  %s = itensor.stream @s carries <4xf32, iter_space: [1]*[4], iter_map: (d0)->(d0)> : !itensor.stream<vector<4xf32>, depth: 2>
  itensor.fork @drain ins(%s : !itensor.stream<vector<4xf32>, depth: 2>)
  // CHECK: itensor.stream_write moves a vector<2xf32> through !itensor.stream<vector<4xf32>, depth: 2>; expected vector<4xf32>
  itensor.stream_write %v into %s : vector<2xf32> into !itensor.stream<vector<4xf32>, depth: 2>
  func.return
}

// -----

func.func @stream_cast(%x: !itensor.itensor<4xf32, iter_space: [2]*[4], iter_map: (d0)->(d0)>) {
  %s = itensor.stream @s carries <4xf32, iter_space: [2]*[4], iter_map: (d0)->(d0)> : !itensor.stream<vector<4xf32>, depth: 2>
  itensor.fork @copy ins(%x : !itensor.itensor<4xf32, iter_space: [2]*[4], iter_map: (d0)->(d0)>) outs(%s : !itensor.stream<vector<4xf32>, depth: 2>)
  // CHECK: the tokens differ; use itensor.converter instead
  %t = itensor.stream_cast %s carries <2xf32, iter_space: [4]*[2], iter_map: (d0)->(d0)> : !itensor.stream<vector<4xf32>, depth: 2> to !itensor.stream<vector<2xf32>, depth: 2>
  itensor.fork @drain ins(%t : !itensor.stream<vector<2xf32>, depth: 2>)
  func.return
}

// -----

func.func @buffer() {
  // CHECK: itensor.buffer needs a static shape
  %m = itensor.buffer : memref<?xf32>
  func.return
}

// -----

!s = !itensor.itensor<1xf32, iter_space: [4]*[1], iter_map: (d0)->(d0)>
func.func @yield(%x: !s) {
  // CHECK: dataflow.yield ends one of dataflow.kernel, dataflow.task, dataflow.expanded_task, not func.func
  dataflow.yield %x : !s
}
