#include "ops/table.h"

#include <utility>

#include "support/check.h"

namespace hone {

#define HONE_FAMILY(stem) void register_##stem(OperatorTable& table);
#include "families.inc"
#undef HONE_FAMILY

OperatorTable OperatorTable::standard() {
  OperatorTable table;
#define HONE_FAMILY(stem) register_##stem(table);
#include "families.inc"
#undef HONE_FAMILY
  return table;
}

void OperatorTable::add(OperatorDef def) {
  std::string key = def.full_name();
  HONE_CHECK(!defs_.contains(key), key + " is defined twice");
  defs_.emplace(std::move(key), std::move(def));
}

const OperatorDef* OperatorTable::find(const std::string& domain, const std::string& name) const {
  const bool standard = domain.empty() || domain == "ai.onnx";
  const auto at = defs_.find(standard ? name : domain + "::" + name);
  return at == defs_.end() ? nullptr : &at->second;
}

std::vector<const OperatorDef*> OperatorTable::all() const {
  std::vector<const OperatorDef*> result;
  for (const auto& [name, def] : defs_) result.push_back(&def);
  return result;
}

Result<TensorExpr> instantiate(const OperatorDef& def, OpContext& context) {
  if (!def.define) return fail(ErrorKind::kUnsupported, def.full_name(), def.opaque_reason);
  try {
    return def.define(context);
  } catch (Failure& failure) {
    if (failure.error.where.empty()) failure.error.where = def.full_name();
    return std::unexpected(std::move(failure.error));
  }
}

}  // namespace hone
