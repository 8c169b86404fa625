// What is computed by walking over a Dim: hash, symbols, substitution, value.
#include "support/hash.h"
#include "tensor/dim_builder.h"

namespace hone {
namespace {

using Kind = DimAtom::Kind;

uint64_t hash_of(const DimAtom& atom) {
  const uint64_t seed = mix_hash(static_cast<uint64_t>(atom.kind) + 1);
  if (atom.kind == Kind::kSymbol) return hash_text(atom.name, seed);
  return combine_hash(combine_hash(seed, atom.left.hash()), atom.right.hash());
}

Dim apply(Kind kind, const Dim& left, const Dim& right) {
  switch (kind) {
    case Kind::kFloorDiv:
      return floor_div(left, right);
    case Kind::kMod:
      return mod(left, right);
    case Kind::kMin:
      return min(left, right);
    default:
      return max(left, right);
  }
}

int64_t apply(Kind kind, int64_t left, int64_t right) {
  switch (kind) {
    case Kind::kFloorDiv:
      return floor_div(left, right);
    case Kind::kMod:
      return floor_mod(left, right);
    case Kind::kMin:
      return left < right ? left : right;
    default:
      return left < right ? right : left;
  }
}

Dim substitute(const DimAtom& atom, const std::map<std::string, Dim>& values) {
  if (atom.kind == Kind::kSymbol) {
    const auto found = values.find(atom.name);
    return found != values.end() ? found->second : Dim::symbol(atom.name);
  }
  return apply(atom.kind, atom.left.substitute(values), atom.right.substitute(values));
}

std::optional<int64_t> evaluate(const DimAtom& atom, const std::map<std::string, int64_t>& values) {
  if (atom.kind == Kind::kSymbol) {
    const auto found = values.find(atom.name);
    return found != values.end() ? std::optional(found->second) : std::nullopt;
  }
  const auto left = atom.left.evaluate(values);
  const auto right = atom.right.evaluate(values);
  if (!left || !right) return std::nullopt;
  return apply(atom.kind, *left, *right);
}

}  // namespace

uint64_t Dim::hash() const {
  uint64_t h = mix_hash(static_cast<uint64_t>(constant_));
  for (const DimTerm& term : terms()) {
    h = combine_hash(h, static_cast<uint64_t>(term.coefficient));
    h = combine_hash(h, term.factors.size());
    for (const DimAtomRef& factor : term.factors) h = combine_hash(h, hash_of(*factor));
  }
  return h;
}

void Dim::collect_symbols(std::set<std::string>& out) const {
  for (const DimTerm& term : terms()) {
    for (const DimAtomRef& factor : term.factors) {
      if (factor->kind == Kind::kSymbol) out.insert(factor->name);
      factor->left.collect_symbols(out);
      factor->right.collect_symbols(out);
    }
  }
}

Dim Dim::substitute(const std::map<std::string, Dim>& values) const {
  Dim sum = constant_;
  for (const DimTerm& term : terms()) {
    Dim product = term.coefficient;
    for (const DimAtomRef& factor : term.factors) {
      product *= hone::substitute(*factor, values);
    }
    sum += product;
  }
  return sum;
}

std::optional<int64_t> Dim::evaluate(const std::map<std::string, int64_t>& values) const {
  int64_t sum = constant_;
  for (const DimTerm& term : terms()) {
    int64_t product = term.coefficient;
    for (const DimAtomRef& factor : term.factors) {
      const auto value = hone::evaluate(*factor, values);
      if (!value) return std::nullopt;
      product = checked_mul(product, *value);
    }
    sum = checked_add(sum, product);
  }
  return sum;
}

}  // namespace hone
