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

// CHECK: element type f16 is not supported; use one of f32, i32, i8, i4, i1
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
  %y = itensor.converter @c ins(%x : !a) -> (!split)
  func.return
}

// -----

!a = !itensor.itensor<2x2xf32, iter_space: [4,4]*[2,2], iter_map: (d0,d1)->(d0,d1)>
!small = !itensor.itensor<2x2xf32, iter_space: [2,4]*[2,2], iter_map: (d0,d1)->(d0,d1)>
func.func @converter_of_another_tensor(%x: !a) {
  // CHECK: stream different tensors, [8, 8] f32 and [4, 8] f32
  %y = itensor.converter @c ins(%x : !a) -> (!small)
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
