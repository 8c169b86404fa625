// Any text as an expression, a dimension, a model and an operator file. What parses must print as
// text that parses back to the same.
#include "expr/text.h"

#include <cstdio>
#include <cstdlib>

#include "graph/text.h"
#include "ops/user_ops.h"

namespace hone {
namespace {

const OperatorTable& table() {
  static const OperatorTable kTable = OperatorTable::standard();
  return kTable;
}

[[noreturn]] void fail_with(const char* what, const std::string& why, const std::string& text) {
  std::fprintf(stderr, "%s: %s\n%s\n", what, why.c_str(), text.c_str());
  std::abort();
}

// Every error says where and why.
void check_error(const Error& error) {
  if (error.where.empty() || error.reason.empty()) fail_with("an error", "is empty", error.where);
}

void try_expr(std::string_view text) {
  const Result<TensorExpr> expr = parse_expr(text);
  if (!expr) return check_error(expr.error());
  const std::string printed = to_text(*expr);
  const Result<TensorExpr> again = parse_expr(printed);
  if (!again) fail_with("printed expression does not parse", again.error().to_string(), printed);
  if (!(*again == *expr)) fail_with("expression differs", to_text(*again), printed);
}

void try_dim(std::string_view text) {
  const Result<Dim> dim = parse_dim(text);
  if (!dim) return check_error(dim.error());
  const std::string printed = dim->to_string();
  const Result<Dim> again = parse_dim(printed);
  if (!again) fail_with("printed dimension does not parse", again.error().to_string(), printed);
  if (!(*again == *dim)) fail_with("dimension differs", again->to_string(), printed);
}

void try_model(std::string_view text) {
  const Results<Model> model = parse_model(text, {}, table());
  if (!model) return check_error(model.error().at(0));
  const ModelText printed = to_text(*model);
  const Results<Model> again = parse_model(printed.text, printed.blobs, table());
  if (!again)
    fail_with("printed model does not parse", again.error().at(0).to_string(), printed.text);
  if (!equal(model->graph, again->graph))
    fail_with("model differs", to_text(*again).text, printed.text);
}

void try_operators(std::string_view text) {
  const Result<std::vector<OperatorDef>> defs = parse_operators(std::string(text), "my.ops");
  if (!defs) check_error(defs.error());
}

}  // namespace
}  // namespace hone

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  hone::try_expr(text);
  hone::try_dim(text);
  hone::try_model(text);
  hone::try_operators(text);
  return 0;
}
