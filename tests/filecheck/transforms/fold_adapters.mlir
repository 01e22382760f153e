// RUN: millrace-opt %s -p fold-adapters --split-input-file --verify-diagnostics | filecheck %s

!a = !itensor.itensor<1x4xf32, iter_space: [6,2]*[1,4], iter_map: (d0,d1)->(d0,d1)>
!split = !itensor.itensor<1x4xf32, iter_space: [2,3,2]*[3,1,4], iter_map: (d0,d1,d2)->(d0+d1,d2)>
!flat = !itensor.itensor<4xf32, iter_space: [12]*[4], iter_map: (d0)->(d0)>

// CHECK-LABEL: func.func @undone
func.func @undone(%x: !a) {
  // Back to where it came from: nothing is left. Back in another text: a cast.
  // CHECK-NEXT: %y, %z = itensor.fork @fork ins(%x :
  %y, %z = itensor.fork @fork ins(%x : !a) -> (!a, !a)
  %f = itensor.reassociate %y [[0, 1]] : !a to !flat
  %g = itensor.reassociate %f [[0, 1]] : !flat to !a
  // CHECK-NEXT: itensor.fork @first ins(%y :
  itensor.fork @first ins(%g : !a)
  %h = itensor.reassociate %z [[0, 1]] : !a to !flat
  %i = itensor.reassociate %h [[0, 1]] : !flat to !split
  // CHECK-NEXT: %[[CAST:.*]] = itensor.cast %z : {{.*}} to !itensor.itensor<1x4xf32, iter_space: [2,3,2]*[3,1,4],
  // CHECK-NEXT: itensor.fork @second ins(%[[CAST]] :
  itensor.fork @second ins(%i : !split)
  // CHECK-NEXT: func.return
  func.return
}

// CHECK-LABEL: func.func @repeated
func.func @repeated(%x: !a) {
  // CHECK-NEXT: %[[ONE:.*]] = itensor.cast %x :
  // CHECK-SAME: to !itensor.itensor<1x4xf32, iter_space: [2,3,2]*[3,1,4],
  // CHECK-NEXT: itensor.fork @drain ins(%[[ONE]] :
  %b = itensor.cast %x : !a to !a
  %c = itensor.cast %b : !a to !split
  itensor.fork @drain ins(%c : !split)
  func.return
}

// CHECK-LABEL: func.func @needed
func.func @needed(%x: !a) {
  // CHECK-NEXT: %f = itensor.reassociate %x
  // CHECK-NEXT: itensor.fork @drain ins(%f :
  %f = itensor.reassociate %x [[0, 1]] : !a to !flat
  itensor.fork @drain ins(%f : !flat)
  func.return
}

// -----

!a = !itensor.itensor<1x4xf32, iter_space: [6,2]*[1,4], iter_map: (d0,d1)->(d0,d1)>
!t = !itensor.itensor<1x4xf32, iter_space: [2,6]*[4,1], iter_map: (d0,d1)->(d1,d0)>
func.func @not_a_cast(%x: !a) {
  // CHECK: the streams differ; use itensor.converter instead
  %b = itensor.cast %x : !a to !t
  itensor.fork @drain ins(%b : !t)
  func.return
}
