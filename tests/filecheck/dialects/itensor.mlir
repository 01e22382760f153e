// RUN: millrace-opt %s | filecheck %s
// The three itensors of the paper's figure on tensor<8x8xf32>, and every operation on them.

!a = !itensor.itensor<2x2xf32, iter_space: [4,4]*[2,2], iter_map: (d0,d1)->(d0,d1)>
!b = !itensor.itensor<4x2xf32, iter_space: [4,2]*[2,4], iter_map: (d0,d1)->(d1,d0)>
!c = !itensor.itensor<4x2xf32, iter_space: [4,2,2]*[2,1,4], iter_map: (d0,d1,d2)->(d2,d0)>
!a_split = !itensor.itensor<2x2xf32, iter_space: [2,2,4]*[4,2,2], iter_map: (d0,d1,d2)->(d0+d1,d2)>
!row = !itensor.itensor<1x8xi8, iter_space: [3]*[1], iter_map: (d0)->(d0,0)>
!scalar = !itensor.itensor<f32, iter_space: []*[], iter_map: ()->()>

// CHECK: func.func @types(%x: !itensor.itensor<2x2xf32, iter_space: [4,4]*[2,2], iter_map: (d0,d1)->(d0,d1)>,
// CHECK-SAME: %y: !itensor.itensor<4x2xf32, iter_space: [4,2,2]*[2,1,4], iter_map: (d0,d1,d2)->(d2,d0)>,
// CHECK-SAME: %z: !itensor.itensor<1x8xi8, iter_space: [3]*[1], iter_map: (d0)->(d0,0)>,
// CHECK-SAME: %s: !itensor.itensor<f32, iter_space: []*[], iter_map: ()->()>,
// CHECK-SAME: %f: !itensor.stream<vector<4x2xi4>, depth: 64>, %g: !itensor.stream<i1, depth: 1>
func.func @types(%x: !a, %y: !c, %z: !row, %s: !scalar,
                 %f: !itensor.stream<vector<4x2xi4>, depth: 64>, %g: !itensor.stream<i1, depth: 1>) {
  func.return
}

func.func @operations(%x: !a, %y: !b) {
  // CHECK: %t = itensor.cast %x : !itensor.itensor<2x2xf32, iter_space: [4,4]*[2,2], iter_map: (d0,d1)->(d0,d1)>
  // CHECK-SAME: to !itensor.itensor<2x2xf32, iter_space: [2,2,4]*[4,2,2], iter_map: (d0,d1,d2)->(d0+d1,d2)>
  %t = itensor.cast %x : !a to !a_split
  // CHECK: %u = itensor.converter @b_to_c ping_pong<dim: 0, length: 16, delay: 1, steps: 2, columns: 2, fill: [0, 2, 1], drain: [0, 2, 2]> ins(%y : !itensor.itensor<4x2xf32, {{.*}}>) -> (!itensor.itensor<4x2xf32, {{.*}}>)
  %u = itensor.converter @b_to_c ping_pong<dim: 0, length: 16, delay: 1, steps: 2, columns: 2, fill: [0, 2, 1], drain: [0, 2, 2]> ins(%y : !b) -> (!c)
  // CHECK: %v, %w = itensor.fork @fork_u ins(%u : {{.*}}) -> ({{.*}}, {{.*}})
  %v, %w = itensor.fork @fork_u ins(%u : !c) -> (!c, !c)
  // CHECK: itensor.fork @drain ins(%w : {{.*}}>)
  itensor.fork @drain ins(%w : !c)
  func.return
}

func.func @streams(%none: tensor<8x8xf32>) {
  // CHECK: %first = itensor.stream @first carries <4x2xf32, {{.*}}> because "at 4 tokens it can deadlock" : !itensor.stream<vector<4x2xf32>, depth: 8>
  // CHECK-NEXT: %in = itensor.stream @in carries <4x2xf32, iter_space: [4,2]*[2,4], iter_map: (d0,d1)->(d1,d0)> : !itensor.stream<vector<4x2xf32>, depth: 2>
  %first = itensor.stream @first carries <4x2xf32, iter_space: [4,2]*[2,4], iter_map: (d0,d1)->(d1,d0)> because "at 4 tokens it can deadlock" : !itensor.stream<vector<4x2xf32>, depth: 8>
  %in = itensor.stream @in carries <4x2xf32, iter_space: [4,2]*[2,4], iter_map: (d0,d1)->(d1,d0)> : !itensor.stream<vector<4x2xf32>, depth: 2>
  %out = itensor.stream @out carries <4x2xf32, iter_space: [4,2,2]*[2,1,4], iter_map: (d0,d1,d2)->(d2,d0)> : !itensor.stream<vector<4x2xf32>, depth: 2>
  dataflow.load @load "x" packing<channels: 1, tokens_per_word: 2, words_per_token: 1> ins(%none : tensor<8x8xf32>) outs(%first : !itensor.stream<vector<4x2xf32>, depth: 8>)
  // CHECK: itensor.fork @fork ins(%first : !itensor.stream<vector<4x2xf32>, depth: 8>) outs(%in : !itensor.stream<vector<4x2xf32>, depth: 2>)
  itensor.fork @fork ins(%first : !itensor.stream<vector<4x2xf32>, depth: 8>) outs(%in : !itensor.stream<vector<4x2xf32>, depth: 2>)
  // CHECK: itensor.converter @convert ping_pong<dim: 0, length: 16, delay: 1, steps: 2, columns: 2, fill: [0, 2, 1], drain: [0, 2, 2]> ins(%in : !itensor.stream<vector<4x2xf32>, depth: 2>) outs(%out : !itensor.stream<vector<4x2xf32>, depth: 2>)
  itensor.converter @convert ping_pong<dim: 0, length: 16, delay: 1, steps: 2, columns: 2, fill: [0, 2, 1], drain: [0, 2, 2]> ins(%in : !itensor.stream<vector<4x2xf32>, depth: 2>) outs(%out : !itensor.stream<vector<4x2xf32>, depth: 2>)
  itensor.fork @drain ins(%out : !itensor.stream<vector<4x2xf32>, depth: 2>)
  func.return
}
