// RUN: millrace-opt %s --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

// CHECK: dimension 1 advances by 4 where 2 elements are covered; a stream of the whole tensor has neither gaps nor overlaps
func.func private @gaps(!itensor.itensor<2x2xf32, iter_space: [4,4]*[2,4], iter_map: (d0,d1)->(d0,d1)>)

// -----

// CHECK: element extents, tripcounts and steps must be at least 1
func.func private @zero(!itensor.itensor<0x2xf32, iter_space: [4,4]*[2,2], iter_map: (d0,d1)->(d0,d1)>)

// -----

// CHECK: tripcounts, steps and iter_map differ in number of loops or dimensions
func.func private @rank(!itensor.itensor<2x2xf32, iter_space: [4]*[2], iter_map: (d0)->(d0)>)

// -----

// CHECK: iter_map names a loop that does not exist or that walks two dimensions
func.func private @twice(!itensor.itensor<2x2xf32, iter_space: [4,4]*[2,2], iter_map: (d0,d1)->(d0,d0)>)

// -----

// CHECK: element type f16 is not supported; use one of f32, i64, i32, i8, i4, i1
func.func private @half(!itensor.itensor<2xf16, iter_space: [4]*[2], iter_map: (d0)->(d0)>)

// -----

// CHECK: a FIFO holds at least one token
func.func private @depth(!itensor.stream<f32, depth: 0>)

// -----

!a = !itensor.itensor<2x2xf32, iter_space: [4,4]*[2,2], iter_map: (d0,d1)->(d0,d1)>
!t = !itensor.itensor<2x2xf32, iter_space: [4,4]*[2,2], iter_map: (d0,d1)->(d1,d0)>
func.func @cast(%x: !a) {
  // CHECK: the streams differ; use itensor.converter instead
  %y = itensor.cast %x : !a to !t
  func.return
}

// -----

!a = !itensor.itensor<2x2xf32, iter_space: [4,4]*[2,2], iter_map: (d0,d1)->(d0,d1)>
!split = !itensor.itensor<2x2xf32, iter_space: [2,2,4]*[4,2,2], iter_map: (d0,d1,d2)->(d0+d1,d2)>
func.func @converter_for_equal_streams(%x: !a) {
  // CHECK: converter @c: both streams are equal; use itensor.cast instead
  %y = itensor.converter @c ping_pong<dim: 0, length: 16, delay: 1, steps: 2, columns: 2, fill: [0, 2, 1], drain: [0, 2, 2]> ins(%x : !a) -> (!split)
  func.return
}

// -----

!a = !itensor.itensor<2x2xf32, iter_space: [4,4]*[2,2], iter_map: (d0,d1)->(d0,d1)>
!small = !itensor.itensor<2x2xf32, iter_space: [2,4]*[2,2], iter_map: (d0,d1)->(d0,d1)>
func.func @converter_of_another_tensor(%x: !a) {
  // CHECK: stream different tensors, [8, 8] f32 and [4, 8] f32
  %y = itensor.converter @c ping_pong<dim: 0, length: 16, delay: 1, steps: 2, columns: 2, fill: [0, 2, 1], drain: [0, 2, 2]> ins(%x : !a) -> (!small)
  func.return
}

// -----

!b = !itensor.itensor<4x2xf32, iter_space: [4,2]*[2,4], iter_map: (d0,d1)->(d1,d0)>
!c = !itensor.itensor<4x2xf32, iter_space: [4,2,2]*[2,1,4], iter_map: (d0,d1,d2)->(d2,d0)>
func.func @converter_that_overwrites(%y: !b) {
  // CHECK: converter @c: an element is overwritten 2 iterations before its last use
  %u = itensor.converter @c refill<dim: 0, length: 8, delay: 1, steps: 2, columns: 2, fill: [0, 2, 1], drain: [0, 2, 2]> ins(%y : !b) -> (!c)
  func.return
}

// -----

!b = !itensor.itensor<4x2xf32, iter_space: [4,2]*[2,4], iter_map: (d0,d1)->(d1,d0)>
!c = !itensor.itensor<4x2xf32, iter_space: [4,2,2]*[2,1,4], iter_map: (d0,d1,d2)->(d2,d0)>
func.func @converter_that_forgets(%y: !b) {
  // CHECK: converter @c: the drain moves 2 tokens where a round has 4
  %u = itensor.converter @c ping_pong<dim: 0, length: 16, delay: 1, steps: 2, columns: 2, fill: [0, 2, 1], drain: [0, 2, 1]> ins(%y : !b) -> (!c)
  func.return
}

// -----

!b = !itensor.itensor<4x2xf32, iter_space: [4,2]*[2,4], iter_map: (d0,d1)->(d1,d0)>
!c = !itensor.itensor<4x2xf32, iter_space: [4,2,2]*[2,1,4], iter_map: (d0,d1,d2)->(d2,d0)>
func.func @converter_that_reads_ahead(%y: !b) {
  // CHECK: converter @c: an element is read 2 iterations before it can be there
  %u = itensor.converter @c single<dim: 0, length: 8, delay: 0, steps: 6, columns: 1, fill: [1, 2, 1], drain: [0, 4, 1]> ins(%y : !b) -> (!c)
  func.return
}

// -----

!b = !itensor.itensor<4x2xf32, iter_space: [4,2]*[2,4], iter_map: (d0,d1)->(d1,d0)>
!c = !itensor.itensor<4x2xf32, iter_space: [4,2,2]*[2,1,4], iter_map: (d0,d1,d2)->(d2,d0)>
func.func @converter_of_another_kind(%y: !b) {
  // CHECK: expected one of single, ping_pong, refill, circular
  %u = itensor.converter @c triple<dim: 0, length: 24, delay: 1, steps: 2, columns: 2, fill: [0, 2, 1], drain: [0, 2, 2]> ins(%y : !b) -> (!c)
  func.return
}

// -----

!a = !itensor.itensor<2x2xf32, iter_space: [4,4]*[2,2], iter_map: (d0,d1)->(d0,d1)>
!t = !itensor.itensor<2x2xf32, iter_space: [4,4]*[2,2], iter_map: (d0,d1)->(d1,d0)>
func.func @fork(%x: !a) {
  // CHECK: fork @f: a copy has another type than what is copied
  %y, %z = itensor.fork @f ins(%x : !a) -> (!a, !t)
  func.return
}

// -----

func.func @unread() {
  // CHECK: stream @s has 0 writers; it needs exactly one
  %s = itensor.stream @s carries <f32, iter_space: [4]*[1], iter_map: (d0)->()> : !itensor.stream<f32, depth: 2>
  func.return
}

// -----

func.func @token() {
  // CHECK: stream @s is !itensor.stream<vector<4xf32>, depth: 2> where
  %s = itensor.stream @s carries <2xf32, iter_space: [4]*[2], iter_map: (d0)->(d0)> : !itensor.stream<vector<4xf32>, depth: 2>
  func.return
}
