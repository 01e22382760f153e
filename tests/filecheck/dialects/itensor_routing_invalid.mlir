// RUN: millrace-opt %s --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

!whole = !itensor.itensor<1x4xf32, iter_space: [6,2]*[1,4], iter_map: (d0,d1)->(d0,d1)>
!part = !itensor.itensor<1x4xf32, iter_space: [2,2]*[1,4], iter_map: (d0,d1)->(d0,d1)>
func.func @missing(%x: !whole) {
  // CHECK: itensor.chunk @split: the parts do not add up to
  %p, %q = itensor.chunk @split dim 0 ins(%x : !whole) -> (!part, !part)
  func.return
}

// -----

!whole = !itensor.itensor<1x4xf32, iter_space: [6,2]*[1,4], iter_map: (d0,d1)->(d0,d1)>
!part = !itensor.itensor<1x4xf32, iter_space: [2,3]*[4,1], iter_map: (d0,d1)->(d1,d0)>
func.func @order(%x: !whole) {
  // CHECK: itensor.chunk @split: a part streams as
  // CHECK-SAME: where it is cut as
  %p, %q = itensor.chunk @split dim 0 ins(%x : !whole) -> (!part, !part)
  func.return
}

// -----

!whole = !itensor.itensor<1x4xf32, iter_space: [6,2]*[1,4], iter_map: (d0,d1)->(d0,d1)>
!half = !itensor.itensor<1x2xf32, iter_space: [6]*[1], iter_map: (d0)->(d0,0)>
!most = !itensor.itensor<1x2xf32, iter_space: [6,3]*[1,2], iter_map: (d0,d1)->(d0,d1)>
func.func @straddles(%x: !half, %y: !most) {
  // CHECK: concat @c: {{.*}} can not be cut into parts of 2 along dimension 1: a token straddles
  %p = itensor.concat @c dim 1 ins(%x : !half, %y : !most) -> (!whole)
  func.return
}

// -----

!rest = !itensor.itensor<1x4xf32, iter_space: [5,2]*[1,4], iter_map: (d0,d1)->(d0,d1)>
!row = !itensor.itensor<1x4xf32, iter_space: [2]*[4], iter_map: (d0)->(0,d0)>
func.func @unequal(%x: !rest, %y: !row) {
  // CHECK: join @j: the inputs stream differently
  %p = itensor.join @j dim 0 ins(%x : !rest, %y : !row) -> (!rest)
  func.return
}

// -----

!rows = !itensor.itensor<1x4xf32, iter_space: [6]*[1], iter_map: (d0)->(d0,0)>
!one_after_the_other = !itensor.itensor<1x4xf32, iter_space: [2,6]*[4,1], iter_map: (d0,d1)->(d1,d0)>
func.func @not_in_turn(%x: !rows, %y: !rows) {
  // CHECK: join @j makes itensor<1x4xf32, iter_space: [6,2]*[1,4], iter_map: (d0,d1)->(d0,d1)>, not
  %p = itensor.join @j dim 1 ins(%x : !rows, %y : !rows) -> (!one_after_the_other)
  func.return
}

// -----

!whole = !itensor.itensor<1x4xf32, iter_space: [6,2]*[1,4], iter_map: (d0,d1)->(d0,d1)>
!columns = !itensor.itensor<4xf32, iter_space: [2,6]*[4,8], iter_map: (d0,d1)->(d0+d1)>
func.func @another_order(%x: !whole) {
  // CHECK: itensor.reassociate: {{.*}} collapses to {{.*}}, not to
  %f = itensor.reassociate %x [[0, 1]] : !whole to !columns
  func.return
}

// -----

!block = !itensor.itensor<2x4xf32, iter_space: [3,2]*[2,4], iter_map: (d0,d1)->(d0,d1)>
!flat = !itensor.itensor<8xf32, iter_space: [6]*[8], iter_map: (d0)->(d0)>
func.func @token_of_two_rows(%x: !block) {
  // CHECK: itensor.reassociate: a token of {{.*}} is no run of neighbours once dimensions [0, 1] are collapsed
  %f = itensor.reassociate %x [[0, 1]] : !block to !flat
  func.return
}

// -----

!whole = !itensor.itensor<1x4xf32, iter_space: [6,2]*[1,4], iter_map: (d0,d1)->(d0,d1)>
!flat = !itensor.itensor<4xf32, iter_space: [12]*[4], iter_map: (d0)->(d0)>
func.func @groups(%x: !whole) {
  // CHECK: itensor.reassociate: groups {{\[\[}}1, 0]] do not cover the dimensions of {{.*}} in order
  %f = itensor.reassociate %x [[1, 0]] : !whole to !flat
  func.return
}
