// Runs one operator of the standard table on buffers, all of whose contents are known.
#pragma once

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "expr/evaluate.h"
#include "ops/kernels.h"
#include "ops/table.h"

namespace hone {

struct Call {
  std::string op;
  int opset = 28;
  std::vector<Buffer> inputs;  // an empty handle: absent
  Attributes attributes{};
  size_t outputs = 1;
};

inline Result<std::vector<Buffer>> run(const Call& call) {
  static const OperatorTable table = OperatorTable::standard();
  const OperatorDef* def = table.find("", call.op);
  if (def == nullptr) return fail(ErrorKind::kUnsupported, call.op, "is not in the table");
  std::vector<OperandInfo> operands;
  std::vector<Buffer> present;
  for (const Buffer& input : call.inputs) {
    OperandInfo info;
    if (!input.empty_handle()) {
      info = {true, input.tensor_type(), {input, std::nullopt}};
      present.push_back(input);
    }
    operands.push_back(info);
  }
  OpContext context(call.op, call.opset, operands, call.attributes, call.outputs);
  const Result<TensorExpr> expr = instantiate(*def, context);
  if (!expr && expr.error().kind == ErrorKind::kUnsupported && def->kernel)
    return def->kernel(context, call.inputs);
  if (!expr) return std::unexpected(expr.error());
  return evaluate(*expr, present);
}

inline Buffer f32(std::vector<int64_t> dims, const std::vector<double>& values) {
  return of_doubles(ElementType::kF32, std::move(dims), values);
}
inline Buffer i64(std::vector<int64_t> dims, const std::vector<double>& values) {
  return of_doubles(ElementType::kI64, std::move(dims), values);
}

inline void expect_values(const Buffer& got, const std::vector<int64_t>& dims,
                          const std::vector<double>& want, double tolerance = 1e-5) {
  ASSERT_EQ(got.dims(), dims);
  for (size_t i = 0; i < want.size(); ++i) {
    const double value = got.as_double(static_cast<int64_t>(i));
    if (std::isnan(want[i])) {
      EXPECT_TRUE(std::isnan(value)) << "element " << i << " is " << value;
    } else if (std::isinf(want[i])) {
      EXPECT_EQ(value, want[i]) << "element " << i;
    } else {
      EXPECT_NEAR(value, want[i], tolerance * std::max(1.0, std::abs(want[i]))) << "element " << i;
    }
  }
}

// The first output of a call that must succeed.
inline void expect_result(const Call& call, const std::vector<int64_t>& dims,
                          const std::vector<double>& want, double tolerance = 1e-5) {
  const Result<std::vector<Buffer>> got = run(call);
  ASSERT_TRUE(got) << call.op << ": " << got.error().to_string();
  expect_values((*got)[0], dims, want, tolerance);
}

inline void expect_error(const Call& call, ErrorKind kind, const std::string& part) {
  const Result<std::vector<Buffer>> got = run(call);
  ASSERT_FALSE(got) << call.op << " should fail";
  EXPECT_EQ(got.error().kind, kind) << got.error().to_string();
  EXPECT_NE(got.error().to_string().find(part), std::string::npos) << got.error().to_string();
}

}  // namespace hone
