// RUN: millrace-opt %s | filecheck %s
// One token of an itensor or a FIFO: the loops around it are exactly its iteration space.

!b = !itensor.itensor<4x2xf32, iter_space: [4,2]*[2,4], iter_map: (d0,d1)->(d1,d0)>
!again = !itensor.itensor<4x2xf32, iter_space: [4,2,2]*[2,1,4], iter_map: (d0,d1,d2)->(d2,d0)>
!one = !itensor.itensor<4x2xf32, iter_space: [1]*[4], iter_map: (d0)->(d0,0)>
!s = !itensor.stream<vector<4x2xf32>, depth: 2>

// CHECK-LABEL: func.func @copy
func.func @copy(%x: !b) {
  // CHECK:      %e = itensor.instance : !itensor.itensor<4x2xf32, iter_space: [4,2]*[2,4], iter_map: (d0,d1)->(d1,d0)>
  %e = itensor.instance : !b
  // CHECK-NEXT: %y = dataflow.expanded_task @copy inits(%d = %e : !itensor.itensor<4x2xf32, {{.*}}>) {
  %y = dataflow.expanded_task @copy inits(%d = %e : !b) {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %r = scf.for %i = %c0 to %c8 step %c2 iter_args(%p = %d) -> (!b) {
      %q = scf.for %j = %c0 to %c8 step %c4 iter_args(%o = %p) -> (!b) {
        // CHECK: %v = itensor.read %x : !itensor.itensor<4x2xf32, {{.*}}> -> vector<4x2xf32>
        %v = itensor.read %x : !b -> vector<4x2xf32>
        // CHECK: %w = itensor.write %v into %o : vector<4x2xf32> into !itensor.itensor<4x2xf32, {{.*}}>
        %w = itensor.write %v into %o : vector<4x2xf32> into !b
        scf.yield %w : !b
      }
      scf.yield %q : !b
    }
    // CHECK: dataflow.yield %r : !itensor.itensor<4x2xf32, {{.*}}>
    dataflow.yield %r : !b
  }
  itensor.fork @drain ins(%y : !b)
  func.return
}

// A tripcount of 1 needs no loop; a tensor is read into an init; a loop that re-reads may have any step.
// CHECK-LABEL: func.func @tensors
func.func @tensors(%x: !one, %y: !again) {
  %place = tensor.empty() : tensor<4x2xf32>
  // CHECK: %v = itensor.read %x init %place : tensor<4x2xf32> from : !itensor.itensor<4x2xf32, {{.*}}> -> tensor<4x2xf32>
  %v = itensor.read %x init %place : tensor<4x2xf32> from : !one -> tensor<4x2xf32>
  // CHECK: %e = itensor.empty : !itensor.itensor<4x2xf32,
  %e = itensor.empty : !one
  // CHECK: %w = itensor.write %v into %e : tensor<4x2xf32> into !itensor.itensor<4x2xf32,
  %w = itensor.write %v into %e : tensor<4x2xf32> into !one
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c32 = arith.constant 32 : index
  %c16 = arith.constant 16 : index
  scf.for %i = %c0 to %c8 step %c2 {
    scf.for %j = %c0 to %c32 step %c16 {
      scf.for %k = %c0 to %c8 step %c4 {
        %t = itensor.read %y : !again -> vector<4x2xf32>
      }
    }
  }
  func.return
}

// CHECK-LABEL: func.func @streams
func.func @streams() {
  // Tasks may hold tasks; on streams they have no results.
  %s = itensor.stream @s carries <4x2xf32, iter_space: [4,2]*[2,4], iter_map: (d0,d1)->(d1,d0)> : !s
  // CHECK: %t = itensor.stream_cast %s carries <4x2xf32, iter_space: [8]*[1], iter_map: (d0)->(0,0)>
  // CHECK-SAME: : !itensor.stream<vector<4x2xf32>, depth: 2> to !itensor.stream<vector<4x2xf32>, depth: 2>
  %t = itensor.stream_cast %s carries <4x2xf32, iter_space: [8]*[1], iter_map: (d0)->(0,0)> : !s to !s
  // CHECK: dataflow.expanded_task @outer {
  dataflow.expanded_task @outer {
    dataflow.expanded_task @writer {
      %c0 = arith.constant 0 : index
      %c2 = arith.constant 2 : index
      %c4 = arith.constant 4 : index
      %c8 = arith.constant 8 : index
      // CHECK: %m = itensor.buffer ping_pong : memref<4x2xf32>
      %m = itensor.buffer ping_pong : memref<4x2xf32>
      // CHECK: %n = itensor.buffer : memref<i32>
      %n = itensor.buffer : memref<i32>
      %v = arith.constant dense<0.0> : vector<4x2xf32>
      scf.for %i = %c0 to %c8 step %c2 {
        scf.for %j = %c0 to %c8 step %c4 {
          // CHECK: itensor.stream_write %v into %s : vector<4x2xf32> into !itensor.stream<vector<4x2xf32>, depth: 2>
          itensor.stream_write %v into %s : vector<4x2xf32> into !s
        }
      }
      dataflow.yield
    }
    dataflow.expanded_task @reader {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      scf.for %i = %c0 to %c8 step %c1 {
        // CHECK: itensor.stream_read %t : !itensor.stream<vector<4x2xf32>, depth: 2> -> vector<4x2xf32>
        %v = itensor.stream_read %t : !s -> vector<4x2xf32>
      }
      dataflow.yield
    }
    dataflow.yield
  }
  func.return
}
