#include "lower/rewrite.h"

#include <algorithm>

namespace hone {
namespace {

bool reads_data(const Index& index) {
  return std::ranges::any_of(index.terms(), [](const IndexTerm& term) {
    return term.atom->kind == IndexAtom::Kind::kValue || reads_data(term.atom->left) ||
           reads_data(term.atom->right);
  });
}

}  // namespace

Scalar Rewriter::operator()(const Scalar& scalar) {
  if (!scalar.valid()) return scalar;
  if (const auto known = done_.find(&*scalar); known != done_.end()) return known->second;
  Scalar result = change_(scalar);
  if (!result.valid()) result = rebuild(scalar);
  done_.emplace(&*scalar, result);
  return result;
}

Index Rewriter::index(const Index& from) {
  if (!reads_data(from)) return from;
  Index result = from.offset();
  for (const IndexTerm& term : from.terms()) {
    const IndexAtom& atom = *term.atom;
    Index part;
    switch (atom.kind) {
      case IndexAtom::Kind::kAxis:
        part = atom.axis;
        break;
      case IndexAtom::Kind::kFloorDiv:
        part = floor_div(index(atom.left), atom.divisor);
        break;
      case IndexAtom::Kind::kMod:
        part = mod(index(atom.left), atom.divisor);
        break;
      case IndexAtom::Kind::kMin:
        part = min(index(atom.left), index(atom.right));
        break;
      case IndexAtom::Kind::kMax:
        part = max(index(atom.left), index(atom.right));
        break;
      case IndexAtom::Kind::kTable:
        part = Index::table(atom.table, index(atom.left));
        break;
      case IndexAtom::Kind::kValue:
        part = Index::value((*this)(Scalar(atom.read)));
        break;
    }
    result = result + part * term.coefficient;
  }
  return result;
}

Scalar Rewriter::rebuild(const Scalar& scalar) {
  const ScalarNode& node = *scalar;
  switch (node.kind) {
    case ScalarNode::Kind::kIndex:
      return Scalar::index(index(node.index));
    case ScalarNode::Kind::kTable:
      return Scalar::table(node.type, node.table, index(node.index));
    case ScalarNode::Kind::kRead: {
      std::vector<Index> indices;
      for (const Index& at : node.indices) indices.push_back(index(at));
      if (!node.outside) return Scalar::read(node.type, node.tensor, std::move(indices));
      return Scalar::read_or(node.type, node.tensor, std::move(indices),
                             (*this)(Scalar(node.outside)));
    }
    case ScalarNode::Kind::kApply:
      break;
    default:
      return scalar;
  }
  std::vector<Scalar> args;
  for (const Scalar& arg : node.args) args.push_back((*this)(arg));
  if (node.fn == Fn::kCast || node.fn == Fn::kCastWrap)
    return Scalar::cast(node.type, args[0], node.fn == Fn::kCast);
  return Scalar::apply(node.fn, std::move(args));
}

}  // namespace hone
