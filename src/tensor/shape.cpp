// Shapes as a whole: counts, numbers, and binding of symbols to the shapes of a run.
#include <algorithm>

#include "support/error.h"
#include "tensor/dim_builder.h"

namespace hone {

Dim element_count(const Shape& shape) {
  Dim count = 1;
  for (const Dim& dim : shape) count *= dim;
  return count;
}

bool is_const(const Shape& shape) {
  return std::ranges::all_of(shape, [](const Dim& dim) { return dim.is_const(); });
}

Shape to_shape(const std::vector<int64_t>& dims) { return {dims.begin(), dims.end()}; }

std::optional<std::vector<int64_t>> to_ints(const Shape& shape) {
  if (!is_const(shape)) return std::nullopt;
  std::vector<int64_t> dims;
  for (const Dim& dim : shape) dims.push_back(dim.value());
  return dims;
}

bool unify(const Shape& declared, const std::vector<int64_t>& actual,
           std::map<std::string, int64_t>& bindings) {
  if (declared.size() != actual.size()) return false;
  for (size_t i = 0; i < actual.size(); ++i) {
    const DimAtom* atom = as_atom(declared[i]);
    if (atom == nullptr || atom->kind != DimAtom::Kind::kSymbol) continue;
    if (bindings.try_emplace(atom->name, actual[i]).first->second != actual[i]) return false;
  }
  for (size_t i = 0; i < actual.size(); ++i) {
    try {
      const auto expected = declared[i].evaluate(bindings);
      if (expected && *expected != actual[i]) return false;
    } catch (const Failure&) {
      return false;  // a division by 0 or an overflow: no actual dimension equals that
    }
  }
  return true;
}

}  // namespace hone
