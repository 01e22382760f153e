// RUN: millrace-opt %s | filecheck %s
// Parts of a tensor, and other shapes of it.

!whole = !itensor.itensor<1x4xf32, iter_space: [6,2]*[1,4], iter_map: (d0,d1)->(d0,d1)>
!part = !itensor.itensor<1x4xf32, iter_space: [3,2]*[1,4], iter_map: (d0,d1)->(d0,d1)>
!rest = !itensor.itensor<1x4xf32, iter_space: [5,2]*[1,4], iter_map: (d0,d1)->(d0,d1)>
!row = !itensor.itensor<1x4xf32, iter_space: [2]*[4], iter_map: (d0)->(0,d0)>
!rows = !itensor.itensor<1x4xf32, iter_space: [6]*[1], iter_map: (d0)->(d0,0)>
!zipped = !itensor.itensor<1x4xf32, iter_space: [6,3]*[1,4], iter_map: (d0,d1)->(d0,d1)>

// CHECK-LABEL: func.func @parts
func.func @parts(%x: !whole, %y: !rest, %z: !row, %a: !rows, %b: !rows, %c: !rows) {
  // CHECK-NEXT: %p, %q = itensor.chunk @split dim 0 ins(%x : !itensor.itensor<1x4xf32, iter_space: [6,2]*[1,4], iter_map: (d0,d1)->(d0,d1)>)
  // CHECK-SAME: -> (!itensor.itensor<1x4xf32, iter_space: [3,2]*[1,4], iter_map: (d0,d1)->(d0,d1)>, !itensor.itensor<1x4xf32, iter_space: [3,2]*[1,4],
  %p, %q = itensor.chunk @split dim 0 ins(%x : !whole) -> (!part, !part)
  // CHECK-NEXT: %r = itensor.concat @append dim 0 ins(%y : {{.*}}, %z : {{.*}}) -> (!itensor.itensor<1x4xf32, iter_space: [6,2]*[1,4],
  %r = itensor.concat @append dim 0 ins(%y : !rest, %z : !row) -> (!whole)
  // CHECK-NEXT: %s = itensor.join @zip dim 1 ins(%a : {{.*}}, %b : {{.*}}, %c : {{.*}}) -> (!itensor.itensor<1x4xf32, iter_space: [6,3]*[1,4],
  %s = itensor.join @zip dim 1 ins(%a : !rows, %b : !rows, %c : !rows) -> (!zipped)
  func.return
}

!flat = !itensor.itensor<4xf32, iter_space: [12]*[4], iter_map: (d0)->(d0)>
!tall = !itensor.itensor<1x1x4xf32, iter_space: [2,3,2]*[1,1,4], iter_map: (d0,d1,d2)->(d0,d1,d2)>
!unit = !itensor.itensor<1xf32, iter_space: [1]*[1], iter_map: (d0)->(d0)>
!scalar = !itensor.itensor<f32, iter_space: []*[], iter_map: ()->()>

// CHECK-LABEL: func.func @shapes
func.func @shapes(%x: !whole, %s: !unit) {
  // Collapsed: 6 rows of 8 are 48 elements in a row. Expanded: 6 rows are 2 times 3.
  // CHECK-NEXT: %f = itensor.reassociate %x [[0, 1]] : !itensor.itensor<1x4xf32, iter_space: [6,2]*[1,4], iter_map: (d0,d1)->(d0,d1)> to !itensor.itensor<4xf32, iter_space: [12]*[4], iter_map: (d0)->(d0)>
  %f = itensor.reassociate %x [[0, 1]] : !whole to !flat
  // CHECK-NEXT: %t = itensor.reassociate %x [[0, 1], [2]] :
  %t = itensor.reassociate %x [[0, 1], [2]] : !whole to !tall
  // A tensor of one element may lose all its dimensions.
  // CHECK-NEXT: %u = itensor.reassociate %s [] : !itensor.itensor<1xf32, iter_space: [1]*[1], iter_map: (d0)->(d0)> to !itensor.itensor<f32, iter_space: []*[], iter_map: ()->()>
  %u = itensor.reassociate %s [] : !unit to !scalar
  func.return
}
