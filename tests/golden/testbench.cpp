// Testbench: tb [design directory] [folder for the outputs]. Runs the kernels in sequence on params/ and tb/.
#include <sys/stat.h>

#include <string>

#include "layer_norm_kernels.h"
#include "memory_image.h"

int main(int argc, char** argv) {
  const std::string design = argc > 1 ? argv[1] : folder_of(__FILE__) + "/..";
  const std::string results = argc > 2 ? argv[2] : design + "/out";
  const std::vector<unsigned char> scalars = read_bytes(design + "/params/scalars.bin", 4);
  MemoryImage x_0 = read_image(design + "/tb/x.0.bin", 5);
  MemoryImage total_0(1);
  MemoryImage x_k1_0 = read_image(design + "/tb/x_k1.0.bin", 4);
  MemoryImage c_0(4);
  MemoryImage squares_0(1);
  MemoryImage beta_k3_0 = read_image(design + "/params/beta_k3.0.bin", 6);
  MemoryImage gamma_k3_0 = read_image(design + "/params/gamma_k3.0.bin", 6);
  MemoryImage x_k3_0 = read_image(design + "/tb/x_k3.0.bin", 4);
  MemoryImage y_0(4);

  layer_norm_k0(x_0.data(), total_0.data());
  layer_norm_k1(total_0.data(), x_k1_0.data(), c_0.data());
  layer_norm_k2(c_0.data(), squares_0.data());
  layer_norm_k3(
      beta_k3_0.data(), c_0.data(), gamma_k3_0.data(), squares_0.data(), x_k3_0.data(), y_0.data(),
      scalar<float>(scalars, 0));

  mkdir(results.c_str(), 0777);
  write_image(results + "/y.0.bin", y_0);
  return 0;
}
