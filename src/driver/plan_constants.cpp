// Constants that kernels read: tensors as they are or packed, and tables.
#include <algorithm>
#include <cstring>

#include "driver/planner.h"

namespace hone {

Planner::Argument Planner::argument(int root) {
  if (tensor(root).kind != ProgramTensor::Kind::kConstant) return {root, -1};
  return {-1, constant("tensor " + std::to_string(root), tensor(root).constant.aligned())};
}

int Planner::constant(const std::string& key, const Buffer& data) {
  const auto [at, added] = constant_numbers_.try_emplace(key, static_cast<int>(constants_.size()));
  if (added) constants_.push_back(data);
  return at->second;
}

Buffer Planner::pack(const PackedConstant& packed, const Buffer& source) {
  Buffer result = Buffer::allocate(source.type(), {packed.elements});
  const size_t size = size_of(source.type());
  std::byte* to = result.mutable_data();
  const std::byte* from = source.data();
  // Piece by piece: the order of all elements would take more memory than they do.
  constexpr int64_t kPiece = 1 << 16;
  std::vector<int64_t> order;
  for (int64_t first = 0; first < packed.elements; first += kPiece) {
    order.resize(static_cast<size_t>(std::min(kPiece, packed.elements - first)));
    packed.order(first, order);
    for (const int64_t element : order) {
      if (element >= 0) std::memcpy(to, from + static_cast<size_t>(element) * size, size);
      to += size;
    }
  }
  return result;
}

Planner::Argument Planner::table_argument(const Table& table) {
  std::string key = "table";
  for (const int64_t entry : table.indices) key += " " + std::to_string(entry);
  for (const Literal& entry : table.literals) key += " " + entry.to_string();
  if (!table.indices.empty()) return {-1, constant(key, Buffer::of_ints(table.indices))};
  std::vector<double> values;
  for (const Literal& entry : table.literals) values.push_back(entry.to_double());
  return {-1, constant(key, Buffer::of<double>(ElementType::kF64,
                                               {static_cast<int64_t>(values.size())}, values))};
}

}  // namespace hone
