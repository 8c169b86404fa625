// A register-tiled matrix product as loop IR: the shape that contractions are made of.
#pragma once

#include "loop/ir.h"

namespace hone::testing {

struct MicroKernelShape {
  int rows = 6, vectors = 2, lanes = 8;
  int64_t depth = 256;
  int64_t unroll = 1;  // of the loop over k
};

// c[rows][vectors * lanes] += sum over k of a[k][rows] * b[k][vectors * lanes], a and b packed.
inline loop::Function make_microkernel(const MicroKernelShape& shape) {
  using loop::Expr;
  using loop::LoopKind;
  using loop::Scope;
  constexpr ElementType kType = ElementType::kF32;
  const int columns = shape.vectors * shape.lanes;
  loop::Function f;
  f.name = "microkernel";
  const auto a = f.add_buffer({"a", kType, shape.depth * shape.rows, Scope::kIn});
  const auto b = f.add_buffer({"b", kType, shape.depth * columns, Scope::kIn});
  const auto c = f.add_buffer({"c", kType, int64_t{shape.rows} * columns, Scope::kOut});
  const auto acc = f.add_buffer({"acc", kType, int64_t{shape.rows} * columns, Scope::kRegister});
  const auto k = f.add_var("k"), i = f.add_var("i"), j = f.add_var("j"), u = f.add_var("u");
  const Expr row = Expr::var(i), vector = Expr::var(j);
  const Expr depth = Expr::var(k) * shape.unroll + Expr::var(u);
  const Expr tile = (row * shape.vectors + vector) * shape.lanes;
  const auto over_tile = [&](loop::Stmt body) {
    return make_for(LoopKind::kUnrolled, i, shape.rows,
                    {make_for(LoopKind::kUnrolled, j, shape.vectors, {std::move(body)})});
  };
  const Expr left = Expr::load(kType, a, depth * shape.rows + row);
  const Expr right = Expr::load(kType, b, depth * columns + vector * shape.lanes, shape.lanes);
  const Expr sum = Expr::load(kType, acc, tile, shape.lanes);
  const loop::Stmt step = over_tile(make_store(acc, tile, Expr::fma(left, right, sum)));
  f.body = {
      make_alloc(acc, {over_tile(make_store(acc, tile, Expr::load(kType, c, tile, shape.lanes))),
                       make_for(LoopKind::kSerial, k, shape.depth / shape.unroll,
                                {make_for(LoopKind::kUnrolled, u, shape.unroll, {step})}),
                       over_tile(make_store(c, tile, sum))})};
  return f;
}

}  // namespace hone::testing
