// Constants that kernels read: tensors as they are or packed, and tables.
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
  std::vector<int64_t> order;
  packed.order(order);
  Buffer result = Buffer::allocate(source.type(), {packed.elements});
  const size_t size = size_of(source.type());
  std::byte* to = result.mutable_data();
  const std::byte* from = source.data();
  if (size == 4) {
    for (size_t i = 0; i < order.size(); ++i)
      if (order[i] >= 0) std::memcpy(to + i * 4, from + order[i] * 4, 4);
    return result;
  }
  for (size_t i = 0; i < order.size(); ++i)
    if (order[i] >= 0)
      std::memcpy(to + i * size, from + static_cast<size_t>(order[i]) * size, size);
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
