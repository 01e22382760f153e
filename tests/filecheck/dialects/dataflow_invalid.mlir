// RUN: millrace-opt %s --split-input-file --verify-diagnostics --parsing-diagnostics | filecheck %s

func.func @shape(%x: tensor<8xf32>) {
  // CHECK: task @t, port x: tensor<8xf32> where the loops span [4]
  %y = dataflow.task @t space<parallel 4 : 0> ins("x"[d0] = %x : tensor<8xf32>) -> ("y"[d0] : tensor<4xf32>) {
  ^bb0(%a: f32):
    dataflow.yield %a : f32
  }
  func.return
}

// -----

func.func @coverage(%x: tensor<8xf32>) {
  // CHECK: task @t: the nest covers 4 of 8 points of d0
  %y = dataflow.task @t space<parallel 8 : 0> nest<[d0 2 x 2], unroll: [2]>
    ins("x"[d0] = %x : tensor<8xf32>) -> ("y"[d0] : tensor<8xf32>) {
  ^bb0(%a: f32):
    dataflow.yield %a : f32
  }
  func.return
}

// -----

func.func @step(%x: tensor<8xf32>) {
  // CHECK: task @t: a loop of the nest over d0 advances by 4 where 2 points are covered
  %y = dataflow.task @t space<parallel 8 : 0> nest<[d0 2 x 4], unroll: [2]>
    ins("x"[d0] = %x : tensor<8xf32>) -> ("y"[d0] : tensor<8xf32>) {
  ^bb0(%a: f32):
    dataflow.yield %a : f32
  }
  func.return
}

// -----

func.func @dtype(%x: tensor<8xi8>) {
  // CHECK: task @t: the body reads f32 from a port of i8
  %y = dataflow.task @t space<parallel 8 : 0> ins("x"[d0] = %x : tensor<8xi8>) -> ("y"[d0] : tensor<8xf32>) {
  ^bb0(%a: f32):
    dataflow.yield %a : f32
  }
  func.return
}

// -----

func.func @unreduced(%x: tensor<8xf32>) {
  // CHECK: task @t: reduction loops need `reduce`, and nothing else does
  %y = dataflow.task @t space<reduction 8 : 0> ins("x"[d0] = %x : tensor<8xf32>) -> ("y"[] : tensor<f32>) {
  ^bb0(%a: f32):
    dataflow.yield %a : f32
  }
  func.return
}

// -----

func.func @unindexed(%x: tensor<8xf32>) {
  // CHECK: task @t: the output must be indexed by exactly the parallel loops
  %y = dataflow.task @t space<parallel 8 : 0> ins("x"[d0] = %x : tensor<8xf32>) -> ("y"[] : tensor<f32>) {
  ^bb0(%a: f32):
    dataflow.yield %a : f32
  }
  func.return
}

// -----

func.func @body(%x: tensor<8xf32>) {
  // CHECK: math.cbrt in the body of a task; a body holds operations of SCALAR_OPS only
  %y = dataflow.task @t space<parallel 8 : 0> ins("x"[d0] = %x : tensor<8xf32>) -> ("y"[d0] : tensor<8xf32>) {
  ^bb0(%a: f32):
    %b = math.cbrt %a : f32
    dataflow.yield %b : f32
  }
  func.return
}

// -----

func.func @chunks(%x: tensor<3x4xf32>) {
  // CHECK: task @t: loop d0 needs one iteration for each output
  %y = dataflow.task @t chunk d0 space<parallel 3 : 0, parallel 4 : 1>
    ins("x"[d0, d1] = %x : tensor<3x4xf32>) -> ("y"[d1] : tensor<4xf32>)
  func.return
}

// -----

func.func @axis(%x: tensor<3x4xf32>) {
  // CHECK: task @t: d2 is beyond the 2 loops of the space
  %y = dataflow.task @t chunk d2 space<parallel 1 : 0, parallel 4 : 1>
    ins("x"[d0, d1] = %x : tensor<3x4xf32>) -> ("y"[d1] : tensor<4xf32>)
  func.return
}

// -----

func.func @chunk_of_two(%x: tensor<1x4xf32>) {
  // CHECK: task @t: a chunk splits one value, a concat makes one
  %y = dataflow.task @t chunk d0 space<parallel 1 : 0, parallel 4 : 1>
    ins("x"[d0, d1] = %x : tensor<1x4xf32>, "x"[d0, d1] = %x : tensor<1x4xf32>) -> ("y"[d1] : tensor<4xf32>)
  func.return
}

// -----

func.func @body_of_itself(%x: tensor<8xf32>) {
  // CHECK: arith.addf in the body of a task reads what is not made before it
  %y = dataflow.task @t space<parallel 8 : 0> ins("x"[d0] = %x : tensor<8xf32>) -> ("y"[d0] : tensor<8xf32>) {
  ^bb0(%a: f32):
    %b = arith.addf %a, %b : f32
    dataflow.yield %b : f32
  }
  func.return
}

// -----

func.func @no_result(%x: tensor<8xf32>) {
  // CHECK: the body of a task yields one result
  %y = dataflow.task @t space<parallel 8 : 0> ins("x"[d0] = %x : tensor<8xf32>) -> ("y"[d0] : tensor<8xf32>) {
  ^bb0(%a: f32):
    dataflow.yield
  }
  func.return
}

// -----

!wrong = !itensor.itensor<1xf32, iter_space: [8]*[1], iter_map: (d0)->(d0)>
!right = !itensor.itensor<2xf32, iter_space: [4]*[2], iter_map: (d0)->(d0)>
func.func @walk(%x: !wrong) {
  // CHECK: task @t, port x: streams as itensor<1xf32, {{.*}}> where the nest walks itensor<2xf32, {{.*}}>; insert itensor.converter
  %y = dataflow.task @t space<parallel 8 : 0> nest<[d0 4 x 2], unroll: [2]> ins("x"[d0] = %x : !wrong) -> ("y"[d0] : !right) {
  ^bb0(%a: f32):
    dataflow.yield %a : f32
  }
  func.return
}

// -----

!s = !itensor.itensor<1xf32, iter_space: [8]*[1], iter_map: (d0)->(d0)>
func.func @untiled(%x: !s) {
  // CHECK: task @t has no nest; run tile-tasks first
  %y = dataflow.task @t space<parallel 8 : 0> ins("x"[d0] = %x : !s) -> ("y"[d0] : !s) {
  ^bb0(%a: f32):
    dataflow.yield %a : f32
  }
  func.return
}

// -----

!s = !itensor.itensor<1xf32, iter_space: [8]*[1], iter_map: (d0)->(d0)>
func.func @boundary(%x: tensor<4xf32>) {
  // CHECK: kernel @k: !itensor.itensor<1xf32, {{.*}}> inside does not stream tensor<4xf32> outside
  dataflow.kernel @k (%a: !s = %x : tensor<4xf32>) {
    dataflow.yield
  }
  func.return
}

// -----

func.func @names(%x: tensor<4xf32>) {
  // CHECK: Redefinition of symbol "load_x"
  dataflow.kernel @k (%a: tensor<4xf32> = %x : tensor<4xf32>) {
    %b = dataflow.load @load_x "x" packing<channels: 1, tokens_per_word: 4, words_per_token: 1> ins(%a : tensor<4xf32>)
      -> (!itensor.itensor<1xf32, iter_space: [4]*[1], iter_map: (d0)->(d0)>)
    %c = dataflow.load @load_x "x" packing<channels: 1, tokens_per_word: 4, words_per_token: 1> ins(%a : tensor<4xf32>)
      -> (!itensor.itensor<1xf32, iter_space: [4]*[1], iter_map: (d0)->(d0)>)
    dataflow.yield
  }
  func.return
}

// -----

func.func @transfer(%a: tensor<4xf32>) {
  // CHECK: @load_x moves tensor<4xf32> but streams itensor<1xf32, iter_space: [8]*[1], iter_map: (d0)->(d0)>
  %b = dataflow.load @load_x "x" packing<channels: 1, tokens_per_word: 4, words_per_token: 1> ins(%a : tensor<4xf32>)
    -> (!itensor.itensor<1xf32, iter_space: [8]*[1], iter_map: (d0)->(d0)>)
  func.return
}

// -----

func.func @held(%a: tensor<4xf32>) {
  // CHECK: @load_w moves tensor<4xf32> but streams itensor<1xf32, iter_space: [8]*[1], iter_map: (d0)->(d0)>
  %b = dataflow.rom @load_w "w" ins(%a : tensor<4xf32>) -> (!itensor.itensor<1xf32, iter_space: [8]*[1], iter_map: (d0)->(d0)>)
  func.return
}

// -----

// CHECK: either a word holds tokens or a token takes words, not both
func.func private @packing() attributes {packing = #dataflow.packing<channels: 1, tokens_per_word: 4, words_per_token: 2>}

// -----

// CHECK: expected a loop like d0
func.func private @loop() attributes {map = #dataflow.map<"w"[row]>}

// -----

func.func @index(%x: tensor<8xf32>) {
  // CHECK: task @t: the body asks for loop d1; there are 1
  %y = dataflow.task @t space<parallel 8 : 0> ins("x"[d0] = %x : tensor<8xf32>) -> ("y"[d0] : tensor<8xi32>) {
  ^bb0(%a: f32):
    %at = dataflow.index d1 : i32
    dataflow.yield %at : i32
  }
  func.return
}

// -----

func.func @no_bits(%x: tensor<8xi32>) {
  // CHECK: an i32 is narrowed to 2 to 31 bits, not to 32
  %y = dataflow.task @t space<parallel 8 : 0> ins("x"[d0] = %x : tensor<8xi32>) -> ("y"[d0] : tensor<8xi32>) {
  ^bb0(%a: i32):
    %n = dataflow.narrow %a to 32 : i32
    dataflow.yield %n : i32
  }
  func.return
}

// -----

func.func @no_loop(%x: tensor<8xf32>) {
  // CHECK: e0 is no loop; they are called d0, d1 and so on
  %y = dataflow.task @t space<parallel 8 : 0> ins("x"[d0] = %x : tensor<8xf32>) -> ("y"[d0] : tensor<8xi32>) {
  ^bb0(%a: f32):
    %at = dataflow.index e0 : i32
    dataflow.yield %at : i32
  }
  func.return
}

// -----

func.func @one_layer() {
  // CHECK: layers are at least two, and something is carried from one to the next
  dataflow.layers 1 carries ["y" to "x"]
  func.return
}

// -----

func.func @nothing_carried() {
  // CHECK: layers are at least two, and something is carried from one to the next
  dataflow.layers 2 carries []
  func.return
}

// -----

func.func @no_room() {
  // CHECK: a FIFO between layers holds at least one token
  dataflow.layers 2 carries ["y" to "x"] depths [2, 0, 2]
  func.return
}

// -----

func.func @windows_outside(%x: tensor<2x8xf32>) {
  // CHECK: task @t: a padding of 3 makes windows of 3 lines that lie outside of all lines
  %w = dataflow.task @t window d0 <[d2], stride: 2, dilation: 1, padding: 3, repeat: 1, fill: "0.0">
    space<parallel 4 : 0, parallel 2 : 1, parallel 3 : 2>
    ins("x"[d1, d0] = %x : tensor<2x8xf32>) -> ("w"[d0, d1, d2] : tensor<4x2x3xf32>)
  func.return
}

// -----

func.func @windows_behind(%x: tensor<2x6xf32>) {
  // CHECK: task @t: the last of 4 windows begins at 6, behind all 6 lines
  %w = dataflow.task @t window d0 <[d2], stride: 2, dilation: 1, padding: 0, repeat: 1, fill: "0.0">
    space<parallel 4 : 0, parallel 2 : 1, parallel 3 : 2>
    ins("x"[d1, d0] = %x : tensor<2x6xf32>) -> ("w"[d0, d1, d2] : tensor<4x2x3xf32>)
  func.return
}

// -----

func.func @windows_of_taps(%x: tensor<2x8xf32>) {
  // CHECK: t: the taps of windows must be the last loop, d2
  %w = dataflow.task @t window d0 <[d1], stride: 2, dilation: 1, padding: 1, repeat: 1, fill: "0.0">
    space<parallel 4 : 0, parallel 2 : 1, parallel 3 : 2>
    ins("x"[d1, d0] = %x : tensor<2x8xf32>) -> ("w"[d0, d1, d2] : tensor<4x2x3xf32>)
  func.return
}

// -----

func.func @windows_fill(%x: tensor<2x8xf32>) {
  // CHECK: expected a number in quotes, like
  %w = dataflow.task @t window d0 <[d2], stride: 2, dilation: 1, padding: 1, repeat: 1, fill: "zero">
    space<parallel 4 : 0, parallel 2 : 1, parallel 3 : 2>
    ins("x"[d1, d0] = %x : tensor<2x8xf32>) -> ("w"[d0, d1, d2] : tensor<4x2x3xf32>)
  func.return
}

// -----

func.func @windows_of_several_loops(%x: tensor<2x8xf32>) {
  // CHECK: windows have one loop over taps
  %w = dataflow.task @t window d0 <[d1, d2], stride: 2, dilation: 1, padding: 1, repeat: 1, fill: "0.0">
    space<parallel 4 : 0, parallel 2 : 1, parallel 3 : 2>
    ins("x"[d1, d0] = %x : tensor<2x8xf32>) -> ("w"[d0, d1, d2] : tensor<4x2x3xf32>)
  func.return
}

// -----

func.func @windows_in_another_order(%x: tensor<2x8xf32>) {
  // CHECK: task @t: windows are walked loop by loop as the space has them
  %w = dataflow.task @t window d0 <[d2], stride: 2, dilation: 1, padding: 1, repeat: 1, fill: "0.0">
    space<parallel 4 : 0, parallel 2 : 1, parallel 3 : 2> nest<[d1 2 x 1, d0 4 x 1], unroll: [1, 1, 3]>
    ins("x"[d1, d0] = %x : tensor<2x8xf32>) -> ("w"[d0, d1, d2] : tensor<4x2x3xf32>)
  func.return
}

// -----

func.func @windows_side_by_side(%x: tensor<2x8xf32>) {
  // CHECK: task @t: windows are walked loop by loop as the space has them
  %w = dataflow.task @t window d0 <[d2], stride: 2, dilation: 1, padding: 1, repeat: 1, fill: "0.0">
    space<parallel 4 : 0, parallel 2 : 1, parallel 3 : 2> nest<[d0 2 x 2, d1 2 x 1], unroll: [2, 1, 3]>
    ins("x"[d1, d0] = %x : tensor<2x8xf32>) -> ("w"[d0, d1, d2] : tensor<4x2x3xf32>)
  func.return
}
