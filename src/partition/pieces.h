// Ops rewritten so that each piece does one simple thing.
#pragma once

#include <vector>

#include "partition/program.h"

namespace hone {

// A choice by position alone, such as Concat makes it.
[[nodiscard]] bool chooses_by_position(const Scalar& value);
// Splits an op whose value is such a choice into ops for parts of its result; one op otherwise.
[[nodiscard]] std::vector<Op> split_choices(const Op& op, const TensorProgram& program);
// A sum over taps of which only every s-th counts (a strided transposed convolution), as ops
// without such conditions: one for each residue of an output axis. One op otherwise.
[[nodiscard]] std::vector<Op> split_phases(const Op& op, const TensorProgram& program);
// A sum in which a condition allows one value of a reduction axis only, without that axis.
void drop_determined_axes(Op& op, const TensorProgram& program);
// Splits output axes until div and mod of an axis by a number that divides its extent are gone.
void split_axes(Op& op, const TensorProgram& program);

}  // namespace hone
