// The interpreter's state and its two halves: expressions and statements.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "loop/ir.h"

namespace hone::loop {

// Memory for the values of one statement, given back all at once.
class Arena {
 public:
  std::byte* take(size_t bytes);
  void clear() { chunk_ = used_ = 0; }

 private:
  static constexpr size_t kChunk = size_t{1} << 16;
  struct Chunk {
    std::unique_ptr<std::byte[]> memory;
    size_t size;
  };
  std::vector<Chunk> chunks_;
  size_t chunk_ = 0, used_ = 0;
};

// Values are arrays of lanes in the type that an element type computes in.
class Interpreter {
 public:
  Interpreter(const Function& function, std::span<void* const> buffers,
              std::span<const int64_t> extents, int64_t begin, int64_t end);
  void run() { block(function_.body); }

 private:
  // interpret_statements.cpp
  void block(const Block& block);
  void statement(const Stmt& stmt);
  void loop(const Stmt& stmt);
  void store(const Stmt& stmt);
  void alloc(const Stmt& stmt);

  // interpret_values.cpp
  const std::byte* value(const Expr& expr);
  int64_t integer(const Expr& expr);
  const std::byte* number(const ExprNode& node);
  const std::byte* load(const ExprNode& node);
  const std::byte* ramp(const ExprNode& node);
  const std::byte* apply(const ExprNode& node);
  const std::byte* cast(const ExprNode& node);
  const std::byte* fma(const ExprNode& node);
  const std::byte* fold(const ExprNode& node);
  const std::byte* shuffle(const ExprNode& node);
  std::byte* lanes(const Type& type);

  // The elements that an access means, one per lane; -1 where the mask is off. A Failure where
  // one lies outside of the buffer.
  std::span<const int64_t> elements(BufferId buffer, const Expr& index, int lanes, int64_t stride,
                                    const Expr& mask, bool writes);
  [[noreturn]] void leaves(BufferId buffer, const Expr& index, int lanes, int64_t stride,
                           int64_t element, bool writes) const;

  const Function& function_;
  std::span<const int64_t> extents_;
  int64_t begin_, end_;
  std::vector<std::byte*> buffers_;
  std::vector<std::vector<std::byte>> vars_;
  Arena arena_;
};

// The type that values of an element type have: narrow ones compute in the one that holds them.
[[nodiscard]] ElementType lane_type(ElementType type);

}  // namespace hone::loop
