// Code placed in a loop nest: a dense tile of up to two axes inside, on which instructions work
// as on vectors, and loops around it. What a loop does not change is computed outside of it.
#pragma once

#include <string>
#include <vector>

#include "expr/vm/code.h"
#include "expr/vm/memory.h"

namespace hone::vm {

// The innermost axes and the largest tile of them; a slot of -1: none.
struct Tile {
  int row = -1, col = -1;
  int64_t rows = 1, cols = 1;
  [[nodiscard]] int64_t capacity() const { return rows * cols; }
};

struct Loop {
  int slot;
  int64_t extent;
  int64_t step;  // 1, or the tile's size on this axis
};

struct Instruction {
  enum class Form : uint8_t {
    kSingle,     // one element, the same for the whole tile
    kBroadcast,  // that element repeated, for kernels on whole arrays
    kLinear,     // a linear function of the tile's axes and of vectors
    kLoad,       // a strided box of memory
    kGather,     // elements anywhere
    kApply,      // a kernel
    kChoose,     // a select whose condition is one element: one branch or the other
  } form;
  int value;
  int level;  // depends on the loops before this one: 0 .. loops.size()
};

struct Schedule {
  Code code;
  std::vector<Loop> loops;  // outermost first, the tile's axes among them
  Tile tile;
  std::vector<bool> is_vector;              // per value: it varies in the tile
  std::vector<Instruction> instructions;    // by level
  std::vector<size_t> level_begin;          // first instruction of a level or deeper
  std::vector<size_t> single_at, array_at;  // registers of a value; array_at: kNone for none
  size_t register_bytes = 0;
  static constexpr size_t kNone = static_cast<size_t>(-1);

  [[nodiscard]] std::string to_string() const;
};

// `order` lists the slots to loop over, outermost first; others stay where the caller put them.
// Roots get arrays.
[[nodiscard]] Schedule make_schedule(Code code, const std::vector<int>& order, const Tile& tile);

}  // namespace hone::vm
