// Expressions as text: names first, then stages, tensors in the order of their numbers.
#include <algorithm>
#include <climits>

#include "expr/printer.h"
#include "expr/text.h"
#include "support/lexer.h"

namespace hone {

std::string PrintNames::axis(AxisId id) const {
  const int step = static_cast<int>(steps.size()) + id.value;
  const std::vector<std::string>& list = id.value < 0 ? steps : axes;
  const int at = id.value < 0 ? step : id.value;
  if (at < 0 || at >= static_cast<int>(list.size())) return "#" + std::to_string(id.value);
  return list[static_cast<size_t>(at)];
}

std::string PrintNames::tensor(int id) const {
  const bool known = id >= 0 && id < static_cast<int>(tensors.size());
  return known ? tensors[static_cast<size_t>(id)] : "#" + std::to_string(id);
}

std::string PrintNames::table(TableId id) const {
  const bool known = id.value >= 0 && id.value < static_cast<int>(tables.size());
  return known ? tables[static_cast<size_t>(id.value)] : "#" + std::to_string(id.value);
}

std::string UniqueNames::add(const std::string& wish, const char* otherwise) {
  const std::string base = wish.empty() ? otherwise : wish;
  std::string name = base;
  for (int i = 2; !taken_.insert(name).second; ++i) name = base + "_" + std::to_string(i);
  return name;
}

namespace {

class ExprPrinter {
 public:
  explicit ExprPrinter(const TensorExpr& expr) : expr_(expr) {
    name_all();
    for (const TensorDecl& tensor : expr.tensors) collect(tensor.shape);
    for (const Stage& stage : expr.stages) collect(stage);
  }

  std::string run() {
    text_ = "(";
    for (int i = 0; i < expr_.operand_count; ++i)
      text_ += (i == 0 ? "" : ", ") + names_.tensor(i) + ": " + type_text(i);
    text_ += ") -> (";
    for (size_t i = 0; i < expr_.outputs.size(); ++i)
      text_ += (i == 0 ? "" : ", ") + names_.tensor(expr_.outputs[i]);
    text_ += ")" + equalities() + " {\n";
    for (size_t i = 0; i < expr_.tables.size(); ++i) print_table(i);
    for (const Stage& stage : expr_.stages) print_stage(stage);
    return text_ + "}\n";
  }

  const PrintNames& names() const { return names_; }

 private:
  void name_all() {
    UniqueNames unique;
    for (const TensorDecl& tensor : expr_.tensors)
      names_.tensors.push_back(name_text(unique.add(tensor.name, "t")));
    for (const Table& table : expr_.tables)
      names_.tables.push_back(name_text(unique.add(table.name, "entries")));
  }

  // Axes must not be called like a symbol of the expression.
  void collect(const Shape& shape) {
    for (const Dim& dim : shape) dim.collect_symbols(symbols_);
  }
  void collect(const Index& index) {
    index.offset().collect_symbols(symbols_);
    for (const IndexTerm& term : index.terms()) {
      term.coefficient.collect_symbols(symbols_);
      term.atom->divisor.collect_symbols(symbols_);
      if (term.atom->read) collect(*term.atom->read);
      collect(term.atom->left);
      collect(term.atom->right);
    }
  }
  void collect(const ScalarNode& node) {
    if (!seen_.insert(&node).second) return;
    collect(node.index);
    for (const Index& index : node.indices) collect(index);
    if (node.outside) collect(*node.outside);
    for (const Scalar& arg : node.args) collect(*arg);
  }
  void collect(const Stage& stage) {
    for (const Axis& axis : stage.reduce) axis.extent.collect_symbols(symbols_);
    stage.step.extent.collect_symbols(symbols_);
    if (stage.body.valid()) collect(*stage.body);
    if (stage.update.valid()) collect(*stage.update);
    for (const Index& index : stage.target) collect(index);
    for (const Stage& inner : stage.inner) collect(inner);
  }

  [[nodiscard]] const TensorDecl& decl(int tensor) const {
    return expr_.tensors[static_cast<size_t>(tensor)];
  }
  std::string type_text(int tensor) const {
    return std::string(name_of(decl(tensor).type)) + to_string(decl(tensor).shape);
  }

  std::string equalities() const {
    std::string text;
    for (const DimEquality& e : expr_.equalities) {
      text += text.empty() ? " where " : ", ";
      text += e.left.to_string() + " == " + e.right.to_string();
      if (!e.what.empty()) text += " " + string_text(e.what);
    }
    return text;
  }

  std::string margin() const { return std::string(2 + 2 * names_.steps.size(), ' '); }

  void print_table(size_t i) {
    const Table& table = expr_.tables[i];
    std::string entries;
    for (const int64_t entry : table.indices)
      entries += (entries.empty() ? "" : ", ") + std::to_string(entry);
    for (const Literal& entry : table.literals)
      entries += (entries.empty() ? "" : ", ") + entry.to_string();
    text_ += margin() + (table.literals.empty() ? "itable " : "table ") + names_.tables[i] +
             " = [" + entries + "]\n";
  }

  // Declares the axes, so that they have names from here on.
  std::string axes_text(const std::vector<Axis>& axes, UniqueNames& unique) {
    std::string text = "[";
    for (const Axis& axis : axes) {
      names_.axes.push_back(name_text(unique.add(axis.name, "i")));
      text += (text.size() == 1 ? "" : ", ") + names_.axes.back() + " < " + axis.extent.to_string();
    }
    return text + "]";
  }

  std::set<std::string> taken() const {
    std::set<std::string> names = symbols_;
    names.insert(step_names_.begin(), step_names_.end());
    return names;
  }

  void print_stage(const Stage& stage) {
    if (stage.kind == Stage::Kind::kScan) return print_scan(stage);
    names_.axes.clear();
    UniqueNames unique(taken());
    const TensorDecl& result = decl(stage.result);
    text_ += margin() + names_.tensor(stage.result) + ": " + std::string(name_of(result.type)) +
             axes_text(stage.axes, unique) + " = ";
    const bool scatter = stage.kind == Stage::Kind::kScatter;
    const std::string over = axes_text(stage.reduce, unique);
    if (!scatter && stage.combiner != Combiner::kNone)
      text_ += std::string(name_of(stage.combiner)) + over + " ";
    const bool position = stage.combiner >= Combiner::kArgMaxFirst;
    const auto expected = position ? std::nullopt : std::optional(result.type);
    text_ += print_scalar(stage.body, names_, expected);
    if (scatter) text_ += scatter_text(stage, over, result.type);
    text_ += "\n";
  }

  std::string scatter_text(const Stage& stage, const std::string& over, ElementType type) const {
    const std::string combiner = stage.combiner == Combiner::kSum ? "add"
                                 : stage.combiner == Combiner::kProduct
                                     ? "mul"
                                     : std::string(name_of(stage.combiner));
    std::string text = "\n" + margin() + "  scatter " + combiner + over + " [";
    for (size_t i = 0; i < stage.target.size(); ++i)
      text += (i == 0 ? "" : ", ") + print_index(stage.target[i], names_);
    return text + "] <- " + print_scalar(stage.update, names_, type);
  }

  // The least tensor that a statement defines; statements stand in the order of these numbers.
  static int first_result(const Stage& stage) {
    if (stage.kind != Stage::Kind::kScan) return stage.result;
    int first = INT_MAX;
    for (const Stage::Carried& c : stage.carried) first = std::min(first, c.state);
    for (const Stage& inner : stage.inner) first = std::min(first, first_result(inner));
    for (const Stage::Collected& c : stage.collected) first = std::min(first, c.result);
    return first;
  }

  void print_scan(const Stage& scan) {
    UniqueNames unique(taken());
    std::set<std::string> before = step_names_;
    const std::string step = unique.add(scan.step.name, "t");
    text_ += margin() + "scan " + name_text(step) + " < " + scan.step.extent.to_string() + " {\n";
    names_.steps.push_back(name_text(step));
    step_names_.insert(step);
    print_scan_body(scan);
    for (const Stage::Carried& c : scan.carried)
      text_ += margin() + "next " + names_.tensor(c.state) + " = " + names_.tensor(c.next) + "\n";
    names_.steps.pop_back();
    step_names_ = std::move(before);
    text_ += margin() + "}\n";
  }

  void print_scan_body(const Stage& scan) {
    std::vector<const Stage::Carried*> finals;
    for (const Stage::Carried& c : scan.carried)
      if (c.final != -1) finals.push_back(&c);
    std::ranges::sort(finals, {}, [](const Stage::Carried* c) { return c->final; });
    auto carry = scan.carried.begin();
    auto stage = scan.inner.begin();
    auto final = finals.begin();
    auto collect_at = scan.collected.begin();
    while (true) {
      const int a = carry != scan.carried.end() ? carry->state : INT_MAX;
      const int b = stage != scan.inner.end() ? first_result(*stage) : INT_MAX;
      const int c = final != finals.end() ? (*final)->final : INT_MAX;
      const int d = collect_at != scan.collected.end() ? collect_at->result : INT_MAX;
      if (a != INT_MAX && a <= std::min({b, c, d})) {
        text_ += margin() + "carry " + names_.tensor(a) + ": " + type_text(a) + " = " +
                 names_.tensor(carry++->init) + "\n";
      } else if (stage != scan.inner.end() && b <= std::min(c, d)) {
        print_stage(*stage++);
      } else if (c != INT_MAX && c <= d) {
        text_ += margin() + "final " + names_.tensor(c) + " = " + names_.tensor((*final++)->state) +
                 "\n";
      } else if (d != INT_MAX) {
        text_ += margin() + "collect " + names_.tensor(d) + " = " +
                 names_.tensor(collect_at++->source) + "\n";
      } else {
        return;
      }
    }
  }

  const TensorExpr& expr_;
  PrintNames names_;
  std::string text_;
  std::set<std::string> symbols_;
  std::set<std::string> step_names_;
  std::set<const ScalarNode*> seen_;
};

}  // namespace

std::string to_text(const TensorExpr& expr) { return ExprPrinter(expr).run(); }

std::string to_text(const Index& index, const std::vector<std::string>& axes) {
  PrintNames names;
  names.axes = axes;
  return print_index(index, names);
}

std::string to_text(const Scalar& scalar, const TensorExpr& expr,
                    const std::vector<std::string>& axes) {
  PrintNames names = ExprPrinter(expr).names();
  names.axes = axes;
  return print_scalar(scalar, names, std::nullopt);
}

}  // namespace hone
