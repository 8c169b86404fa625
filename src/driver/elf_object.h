// Data as a relocatable object file (ELF, 64 bits, little endian): tables that point into each
// other and to functions elsewhere, and large constants that are written without a copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "support/error.h"

namespace hone {

class ElfObject {
 public:
  enum class Machine : uint8_t { kX64, kArm64 };
  enum class Section : uint8_t { kTables, kWeights };
  // A place in the object; nothing is a null pointer.
  struct Place {
    Section section = Section::kTables;
    uint64_t offset = 0;
    bool valid = false;
  };

  explicit ElfObject(Machine machine) : machine_(machine) {}

  // Adds bytes to the tables, aligned to 16.
  Place add(std::span<const std::byte> bytes);
  Place add_text(const std::string& text);  // with a zero at its end
  template <typename T>
  Place add_array(std::span<const T> items) {
    static_assert(std::is_trivially_copyable_v<T>);
    return add(std::as_bytes(items));
  }
  // The weights, borrowed until write(); aligned to 64. At most once.
  Place set_weights(std::span<const std::byte> bytes);

  // The 8 bytes at `where` become the address of `target`, or of a symbol of another object.
  void point(Place where, uint64_t field, Place target);
  void point_to_symbol(Place where, uint64_t field, const std::string& name);
  // Names a place, for other objects of the same library only.
  void define(const std::string& name, Place place, uint64_t size);

  // Throws a Failure when the file cannot be written.
  void write(const std::string& path) const;

  struct Relocation {
    uint64_t at;
    int symbol;  // -1: the tables, -2: the weights, else an index of symbols_
    uint64_t addend;
  };
  struct Symbol {
    std::string name;
    Place place;  // invalid: defined elsewhere
    uint64_t size = 0;
  };

 private:
  int symbol_number(const std::string& name);

  Machine machine_;
  std::vector<std::byte> tables_;
  std::span<const std::byte> weights_;
  std::vector<Relocation> relocations_;
  std::vector<Symbol> symbols_;
};

}  // namespace hone
