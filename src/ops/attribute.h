// Attributes of a node: values known when the model is read, or symbols in a proof.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "tensor/buffer.h"
#include "tensor/dim.h"

namespace hone {

class Graph;

// What hone does not interpret (types, sparse tensors), as the bytes of its protobuf.
struct OpaqueAttribute {
  std::string bytes;
  friend bool operator==(const OpaqueAttribute&, const OpaqueAttribute&) = default;
};

using Attribute =
    std::variant<int64_t, float, std::string, std::vector<int64_t>, std::vector<float>,
                 std::vector<std::string>, Buffer, std::vector<Buffer>,
                 std::shared_ptr<const Graph>, std::vector<std::shared_ptr<const Graph>>,
                 std::vector<Dim>,  // integers left symbolic, in rules and proofs
                 OpaqueAttribute>;

// Ordered by name, so that printing and hashing do not depend on the file.
using Attributes = std::map<std::string, Attribute>;

}  // namespace hone
