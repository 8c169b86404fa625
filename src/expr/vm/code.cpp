#include "expr/vm/code.h"

#include <algorithm>

#include "support/error.h"

namespace hone::vm {
namespace {

int64_t multiply_add(int64_t a, int64_t b, int64_t c) {
  int64_t product = 0, sum = 0;
  if (__builtin_mul_overflow(a, b, &product) || __builtin_add_overflow(product, c, &sum))
    throw_invalid("an index expression leaves the range of 64-bit integers");
  return sum;
}

void add_scaled(std::vector<std::pair<int, int64_t>>& to,
                const std::vector<std::pair<int, int64_t>>& from, int64_t factor) {
  for (const auto& [key, coefficient] : from) {
    auto at = std::lower_bound(to.begin(), to.end(), key,
                               [](const auto& term, int k) { return term.first < k; });
    if (at == to.end() || at->first != key) at = to.insert(at, {key, 0});
    at->second = multiply_add(coefficient, factor, at->second);
    if (at->second == 0) to.erase(at);
  }
}

void erase_slot(Linear& linear, int slot) {
  std::erase_if(linear.slots, [slot](const auto& term) { return term.first == slot; });
}

}  // namespace

int64_t Linear::coefficient(int slot) const {
  for (const auto& [s, c] : slots)
    if (s == slot) return c;
  return 0;
}

void Linear::add(const Linear& other, int64_t factor) {
  if (factor == 0) return;
  offset = multiply_add(other.offset, factor, offset);
  add_scaled(slots, other.slots, factor);
  add_scaled(values, other.values, factor);
}

Linear linear_of_slot(int slot, int64_t coefficient) {
  Linear linear;
  if (coefficient != 0) linear.slots.push_back({slot, coefficient});
  return linear;
}

Linear linear_of_value(int value) {
  Linear linear;
  linear.values.push_back({value, 1});
  return linear;
}

bool operator==(const Value& a, const Value& b) {
  return a.op == b.op && a.type == b.type && a.constant == b.constant && a.linear == b.linear &&
         a.divisor == b.divisor && a.tensor == b.tensor && a.checks == b.checks &&
         a.may_miss == b.may_miss && a.kernel.arrays == b.kernel.arrays && a.tag == b.tag &&
         a.args == b.args && a.is_select == b.is_select;
}

std::vector<uint64_t> Code::dependences() const {
  std::vector<uint64_t> result(values.size(), 0);
  for (size_t v = 0; v < values.size(); ++v) {
    const auto include = [&](const Linear& linear) {
      for (const auto& [slot, c] : linear.slots) result[v] |= uint64_t{1} << slot;
      for (const auto& [value, c] : linear.values) result[v] |= result[static_cast<size_t>(value)];
    };
    include(values[v].linear);
    for (const Check& check : values[v].checks) include(check.index);
    for (const int arg : values[v].args) result[v] |= result[static_cast<size_t>(arg)];
  }
  return result;
}

namespace {

void mark_needed(const Code& code, std::vector<bool>& needed) {
  for (size_t v = code.values.size(); v-- > 0;) {
    if (!needed[v]) continue;
    const auto mark = [&](const Linear& linear) {
      for (const auto& [value, c] : linear.values) needed[static_cast<size_t>(value)] = true;
    };
    mark(code.values[v].linear);
    for (const Check& check : code.values[v].checks) mark(check.index);
    for (const int arg : code.values[v].args) needed[static_cast<size_t>(arg)] = true;
  }
}

}  // namespace

Code Code::restricted_to(std::vector<int> new_roots) const {
  std::vector<bool> needed(values.size(), false);
  for (const int root : new_roots) needed[static_cast<size_t>(root)] = true;
  mark_needed(*this, needed);
  std::vector<int> renamed(values.size(), -1);
  Code result{space, {}, {}, seed};
  for (size_t v = 0; v < values.size(); ++v) {
    if (!needed[v]) continue;
    renamed[v] = static_cast<int>(result.values.size());
    result.values.push_back(values[v]);
  }
  // Renaming keeps the order, so sorted terms stay sorted.
  for_each_linear(result, [&](Linear& linear) {
    for (auto& [value, c] : linear.values) value = renamed[static_cast<size_t>(value)];
  });
  for (Value& value : result.values)
    for (int& arg : value.args) arg = renamed[static_cast<size_t>(arg)];
  for (const int root : new_roots) result.roots.push_back(renamed[static_cast<size_t>(root)]);
  return result;
}

namespace {

bool can_merge(Code& code, const Linear& address, int outer, int inner) {
  const int64_t extent = code.space.extents[static_cast<size_t>(inner)];
  int64_t together = 0;
  if (__builtin_mul_overflow(extent, code.space.extents[static_cast<size_t>(outer)], &together))
    return false;
  const auto fits = [&](const Linear& linear) {
    int64_t joined = 0;
    return !__builtin_mul_overflow(linear.coefficient(inner), extent, &joined) &&
           linear.coefficient(outer) == joined;
  };
  bool all = fits(address);
  for_each_linear(code, [&](const Linear& linear) { all = all && fits(linear); });
  return all;
}

bool merge_once(Code& code, Linear& address, int begin, int end) {
  std::vector<int64_t>& extents = code.space.extents;
  for (int outer = begin; outer < end; ++outer)
    for (int inner = end - 1; inner >= begin; --inner) {
      const auto o = static_cast<size_t>(outer), i = static_cast<size_t>(inner);
      if (outer == inner || extents[o] <= 1 || extents[i] <= 1) continue;
      if (!can_merge(code, address, outer, inner)) continue;
      extents[i] *= extents[o];
      extents[o] = 1;
      for_each_linear(code, [&](Linear& linear) { erase_slot(linear, outer); });
      erase_slot(address, outer);
      return true;
    }
  return false;
}

}  // namespace

void merge_axes(Code& code, Linear& address) {
  const Space& space = code.space;
  for (int slot = 0; slot < space.loops(); ++slot) {
    if (space.extents[static_cast<size_t>(slot)] != 1) continue;
    for_each_linear(code, [&](Linear& linear) { erase_slot(linear, slot); });
    erase_slot(address, slot);
  }
  while (merge_once(code, address, 0, space.outputs)) {
  }
  while (merge_once(code, address, space.outputs, space.loops())) {
  }
}

std::string to_string(const Linear& linear) {
  std::string text;
  const auto add = [&](int64_t coefficient, const std::string& name) {
    if (!text.empty())
      text += coefficient < 0 ? " - " : " + ";
    else if (coefficient < 0)
      text += "-";
    const std::string magnitude = std::to_string(coefficient < 0 ? -coefficient : coefficient);
    text += name.empty() ? magnitude : magnitude == "1" ? name : magnitude + "*" + name;
  };
  for (const auto& [slot, c] : linear.slots) add(c, "i" + std::to_string(slot));
  for (const auto& [value, c] : linear.values) add(c, "%" + std::to_string(value));
  if (linear.offset != 0 || text.empty()) add(linear.offset, "");
  return text;
}

std::string to_string(const Value& value, int id) {
  std::string text = "%" + std::to_string(id) + ": " + std::string(name_of(value.type)) + " = ";
  switch (value.op) {
    case Value::Op::kConstant:
      return text + value.name;
    case Value::Op::kLinear:
      return text + to_string(value.linear);
    case Value::Op::kFloorDivide:
      return text + "(" + to_string(value.linear) + ") / " + std::to_string(value.divisor);
    case Value::Op::kRead:
      text += value.name + "[" + to_string(value.linear) + "]";
      for (const Check& check : value.checks)
        text += " if 0 <= " + to_string(check.index) + " < " + std::to_string(check.extent);
      if (!value.args.empty()) text += " else %" + std::to_string(value.args[0]);
      return text;
    case Value::Op::kApply:
      break;
  }
  text += value.name + "(";
  for (size_t i = 0; i < value.args.size(); ++i)
    text += (i == 0 ? "%" : ", %") + std::to_string(value.args[i]);
  return text + ")";
}

}  // namespace hone::vm
