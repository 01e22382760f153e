// Testbench: tb [design directory] [folder for the outputs]. Runs the kernels in sequence on params/ and tb/.
#include <sys/stat.h>

#include <string>

#include "layer_norm_kernels.h"
#include "memory_image.h"

int main(int argc, char** argv) {
  const std::string design = argc > 1 ? argv[1] : folder_of(__FILE__) + "/..";
  const std::string results = argc > 2 ? argv[2] : design + "/out";
  const std::vector<unsigned char> scalars = read_bytes(design + "/params/scalars.bin", 4);
  MemoryImage beta_0 = read_image(design + "/params/beta.0.bin", 1);
  MemoryImage gamma_0 = read_image(design + "/params/gamma.0.bin", 1);
  MemoryImage x_0 = read_image(design + "/tb/x.0.bin", 5);
  MemoryImage y_0(5);

  layer_norm_k0(beta_0.data(), gamma_0.data(), x_0.data(), y_0.data(), scalar<float>(scalars, 0));

  mkdir(results.c_str(), 0777);
  write_image(results + "/y.0.bin", y_0);
  return 0;
}
