// Replacing parts of scalars.
#pragma once

#include <functional>
#include <map>

#include "expr/scalar.h"

namespace hone {

// Rebuilds a scalar from the leaves up. `change` is asked about every node before its parts are
// visited, and gives the replacement, or an invalid scalar to go on. Shared nodes are visited once.
class Rewriter {
 public:
  using Change = std::function<Scalar(const Scalar&)>;
  explicit Rewriter(Change change) : change_(std::move(change)) {}
  Scalar operator()(const Scalar& scalar);

 private:
  Index index(const Index& index);
  Scalar rebuild(const Scalar& scalar);

  Change change_;
  std::map<const ScalarNode*, Scalar> done_;
};

}  // namespace hone
