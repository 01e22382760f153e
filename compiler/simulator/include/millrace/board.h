// The simulated board's process: device memory shared with the host, kernels run on request.
//
// Called as `board FD BYTES`, with FD the shared memory. Each line on stdin is a run, `KERNEL ARGUMENT...`, an argument
// being m<offset> into the memory or i<bits> of a scalar; the answer is a line on stdout. The end of stdin ends it.
// A run that goes wrong ends the process as it ends a C simulation (fiber.h).
#pragma once

#include <sys/mman.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace millrace {
namespace board {

struct Argument {
  unsigned char* memory;
  int32_t bits;
};

template <class T>
T as(const Argument& argument) {
  if constexpr (std::is_pointer_v<T>) {
    return reinterpret_cast<T>(argument.memory);
  } else if constexpr (std::is_class_v<T>) {  // hls::burst_maxi
    return T(reinterpret_cast<typename T::value_type*>(argument.memory));
  } else {
    static_assert(sizeof(T) == 4, "scalars of kernels have 32 bits");
    T value;
    std::memcpy(&value, &argument.bits, sizeof value);
    return value;
  }
}

/// A kernel by its name, callable with arguments of types known at run time only.
struct Kernel {
  const char* name;
  std::size_t arguments;
  void (*call)(const Argument*);
};

template <class... P, std::size_t... I>
void call(void (*function)(P...), const Argument* arguments, std::index_sequence<I...>) {
  function(as<P>(arguments[I])...);
}

template <class... P>
constexpr std::size_t arity(void (*)(P...)) {
  return sizeof...(P);
}

template <auto function>
Kernel kernel(const char* name) {
  constexpr std::size_t count = arity(function);
  return {name, count,
          [](const Argument* arguments) { call(function, arguments, std::make_index_sequence<count>()); }};
}

[[noreturn]] inline void refuse(const std::string& message) {
  std::cerr << "simulated board: " << message << std::endl;
  std::exit(2);
}

inline void run(const std::vector<Kernel>& kernels, const std::string& line, unsigned char* memory) {
  std::istringstream words(line);
  std::string name, word;
  words >> name;
  std::vector<Argument> arguments;
  while (words >> word) {
    const long long number = std::atoll(word.c_str() + 1);
    arguments.push_back(word[0] == 'm' ? Argument{memory + number, 0} : Argument{nullptr, int32_t(number)});
  }
  for (const Kernel& kernel : kernels) {
    if (kernel.name != name) continue;
    if (kernel.arguments != arguments.size()) refuse(name + " was given a wrong number of arguments");
    return kernel.call(arguments.data());
  }
  refuse("no kernel " + name);
}

inline int serve(const std::vector<Kernel>& kernels, int argc, char** argv) {
  if (argc != 3) refuse("give the descriptor and the size of the memory");
  void* memory = mmap(nullptr, std::size_t(std::atoll(argv[2])), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                      std::atoi(argv[1]), 0);
  if (memory == MAP_FAILED) refuse("the memory can not be mapped");
  for (std::string line; std::getline(std::cin, line);) {
    run(kernels, line, static_cast<unsigned char*>(memory));
    std::cout << "done" << std::endl;
  }
  return 0;
}

}  // namespace board
}  // namespace millrace
