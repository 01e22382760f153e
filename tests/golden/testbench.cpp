// Testbench: tb [design directory] [folder for the outputs] [ARGUMENT=VALUE]... Runs the kernels in sequence on
// params/ and tb/ and compares the outputs with the expected ones in tb/. Arguments of the launch that are not given
// have their largest values. Ends with 0 where all are within their tolerance, 1 where one is not, 2 where a file or
// a value can not be used.
#include <sys/stat.h>

#include <string>

#include "layer_norm_kernels.h"
#include "compare_image.h"
#include "memory_image.h"

int main(int argc, char** argv) {
  const std::string design = argc > 1 ? argv[1] : find_design(argv[0]);
  const std::string results = argc > 2 ? argv[2] : design + "/out";
  const std::vector<unsigned char> scalars = read_bytes(design + "/params/scalars.bin", 4);
  MemoryImage x_0 = read_image(design + "/tb/x.0.bin", 4);
  MemoryImage total_0(1);
  total_0.reserve(4);  // as many as co-simulation copies, of all of its port
  MemoryImage x_k1_0 = read_image(design + "/tb/x_k1.0.bin", 4);
  MemoryImage squares_0(1);
  MemoryImage c_0(4);
  MemoryImage beta_k2_0 = read_image(design + "/params/beta_k2.0.bin", 1);
  beta_k2_0.reserve(4);  // as many as co-simulation copies, of all of its port
  MemoryImage gamma_k2_0 = read_image(design + "/params/gamma_k2.0.bin", 1);
  MemoryImage x_k2_0 = read_image(design + "/tb/x_k2.0.bin", 4);
  MemoryImage y_0(4);

  layer_norm_k0(x_0.data(), total_0.data());
  layer_norm_k1(total_0.data(), x_k1_0.data(), squares_0.data(), c_0.data());
  layer_norm_k2(
      beta_k2_0.data(), c_0.data(), gamma_k2_0.data(), squares_0.data(), x_k2_0.data(), y_0.data(),
      scalar<float>(scalars, 0));

  mkdir(results.c_str(), 0777);
  write_image(results + "/y.0.bin", y_0);

  bool passed = true;
  passed &= Comparison("y", 0.0001)
          .add<float>(y_0, read_image(design + "/tb/y.0.expected.bin", 4))
          .report();
  return passed ? 0 : 1;
}
