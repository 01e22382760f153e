// RUN: millrace-opt %s -p "set-fifo-depths{streams=drain_in depths=9}" | filecheck %s
// RUN: millrace-opt %s -p "set-fifo-depths{streams=drain_in,other depths=9,2}" --verify-diagnostics | filecheck %s --check-prefix OTHER

// OTHER: set-fifo-depths takes one depth for every stream and no others; look at other

!f = !itensor.stream<vector<1xf32>, depth: 2>
func.func @chain(%x: tensor<64xf32>) {
  // CHECK: %drain_in = itensor.stream {{.*}}, depth: 9>
  // CHECK: dataflow.load @load_x {{.*}} outs(%drain_in : !itensor.stream<vector<1xf32>, depth: 9>)
  dataflow.kernel @kernel0 (%m: tensor<64xf32> = %x : tensor<64xf32>) {
    %drain_in = itensor.stream @drain_in carries <1xf32, iter_space: [64]*[1], iter_map: (d0)->(d0)> : !f
    dataflow.load @load_x "x" packing<channels: 1, tokens_per_word: 16, words_per_token: 1> ins(%m : tensor<64xf32>) outs(%drain_in : !f)
    itensor.fork @drain ins(%drain_in : !f)
    dataflow.yield
  }
  func.return
}
