#include "expr/elaborator.h"

namespace hone {

void Elaborator::fail(Position at, std::string reason, std::string hint) const {
  std::string where = file_.empty() ? to_string(at) : file_ + ":" + to_string(at);
  throw Failure{{ErrorKind::kInvalid, std::move(where), std::move(reason), std::move(hint)}};
}

ElementType Elaborator::type_of(const std::string& name, Position at) const {
  if (const auto type = element_type_of(name); type && *type != ElementType::kInvalid) return *type;
  if (const auto found = names_.types.find(name); found != names_.types.end()) return found->second;
  fail(at, "unknown element type " + name_text(name), "such as f32, i64 or bool");
}

int Elaborator::tensor_of(const std::string& name, Position at) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) fail(at, "there is no tensor " + name_text(name) + " here");
  return found->second;
}

std::optional<AxisId> Elaborator::axis_of(const std::string& name) const {
  if (const auto found = axes_.single.find(name); found != axes_.single.end()) return found->second;
  for (size_t i = steps_.size(); i-- > 0;)
    if (steps_[i] == name) return AxisId{static_cast<int>(i) - static_cast<int>(steps_.size())};
  return std::nullopt;
}

const std::vector<Dim>& Elaborator::dim_list_of(const Syntax& spread) const {
  const auto found = names_.dim_lists.find(spread.text);
  if (found == names_.dim_lists.end())
    fail(spread.at, "no operand has dimensions " + name_text(spread.text) + "..");
  return found->second;
}

int Elaborator::declare(const std::string& name, ElementType type, Shape shape) {
  expr_.tensors.push_back({name, type, std::move(shape)});
  return static_cast<int>(expr_.tensors.size()) - 1;
}

void Elaborator::make_visible(const std::string& name, int tensor, Position at) {
  if (tables_.contains(name) || !tensors_.emplace(name, tensor).second)
    fail(at, name_text(name) + " is defined twice");
  defined_at_.emplace(name, at);
}

}  // namespace hone
