// A compiled model as a file: a shared library that needs nothing but the C library, or an object,
// with a C header.
#pragma once

#include <string>

#include "driver/plan.h"
#include "machine/cpu.h"

namespace hone {

struct LibraryOptions {
  Cpu cpu;
  std::string name;     // of the functions: <name>_create and so on; a C identifier
  std::string output;   // a path that ends in .so or .o
  std::string header;   // path; empty: none
  std::string weights;  // path of a file for the weights; empty: they are part of the library
};

// A C identifier made of the file's name: "out/resnet-18.so" gives "resnet_18".
[[nodiscard]] std::string library_name(const std::string& path);

// The same plan and options give the same bytes. A model with steps that are not native is an
// error.
[[nodiscard]] Result<void> write_library(const Plan& plan, const LibraryOptions& options);

}  // namespace hone
