// Models as text, for people, golden tests and rules; large constants are kept beside the text.
//
//   model {ir_version = 8, opset = 17, opset "com.microsoft" = 1, meta "author" = "me"}
//   graph main(%x: f32[N, 3]) -> (%y) {
//     const %w: f32[3, 4] = data 0            # the first of the blobs
//     const %axes: i64[1] = [1]
//     %h: f32[N, 4] = MatMul(%x, %w)
//     %y: f32[N, 4] = Relu(%h) {} @ {name = "relu"}
//     %z: f32[4] = inline (x: f32[N, 4]) -> (s) { s: f32[j < 4] = sum[i < N] x[i, j] } (%y)
//   }
//
// After an operator's inputs come its attributes, then, behind "@", what the source says about
// the node. `_` is an absent input or output. Attribute values: 3, 3.0, "s", [1, 2], [1.0],
// ["s"], ints[], floats[], strings[], tensor T = [..] | data K, tensors[..], dims[N, 2*K],
// graph .. { .. }, graphs[..], opaque "..".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "graph/model.h"

namespace hone {

struct ModelText {
  std::string text;
  std::vector<Buffer> blobs;
};
struct PrintOptions {
  int64_t max_inline_elements = 16;  // larger constants go to the blobs
};
[[nodiscard]] ModelText to_text(const Model& model, const PrintOptions& options = {});
// One graph, constants beyond the limit shown as "data ..." only; for people.
[[nodiscard]] std::string to_text(const Graph& graph);

// The parsed graph is verified and inferred. `where` in an Error is "line:column".
[[nodiscard]] Results<Model> parse_model(std::string_view text, const std::vector<Buffer>& blobs,
                                         const OperatorTable& table);

}  // namespace hone
