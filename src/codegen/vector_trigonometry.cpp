#include <cmath>

#include "codegen/polynomials.h"
#include "codegen/vector_math.h"

namespace hone {
namespace {

using namespace polynomials;

// pi / 2 in three floats.
constexpr double kHalfPi1 = 0x1.921fb6p+0, kHalfPi2 = -0x1.777a5cp-25, kHalfPi3 = -0x1.ee59dap-50;
constexpr double kShifter = 0x1.8p23;
// Below this the reduction by three floats keeps all bits that matter.
constexpr double kLargest = 30000;

// `common`, or per lane the C library's function where any lane is too large for it.
Reals with_rare_calls(const Reals& common, const Reals& x, const char* library) {
  Builder& b = *x.b;
  Value* large = b.CreateNot(x.magnitude() < kLargest);
  Value* any = x.v->getType()->isVectorTy() ? b.CreateOrReduce(large) : large;
  llvm::Function* function = b.GetInsertBlock()->getParent();
  llvm::BasicBlock* before = b.GetInsertBlock();
  auto* rare = llvm::BasicBlock::Create(b.getContext(), "large", function);
  auto* after = llvm::BasicBlock::Create(b.getContext(), "joined", function);
  b.CreateCondBr(any, rare, after);
  b.SetInsertPoint(rare);
  Value* called = b.call_per_lane(library, {x.v});
  b.CreateBr(after);
  b.SetInsertPoint(after);
  llvm::PHINode* result = b.CreatePHI(x.v->getType(), 2);
  result->addIncoming(common.v, before);
  result->addIncoming(called, rare);
  return x.with(result);
}

// sin(x + quarter * pi / 2)
Reals circular(const Reals& x, int quarter) {
  const Reals shifted = fma(x, M_2_PI, kShifter);
  const Reals n = shifted - kShifter;
  const Reals r = fma(n, -kHalfPi3, fma(n, -kHalfPi2, fma(n, -kHalfPi1, x)));
  const Reals square = r * r;
  const Reals sine = fma(square * r, polynomial(square, kSin), r);
  const Reals cosine =
      fma(square * square, polynomial(square, kCos), fma(square, -0.5, x.constant(1)));
  const Integers turns = shifted.bits() + quarter;
  const Reals chosen = sine.or_where((turns & 1).is(1), cosine);
  return (chosen.bits() ^ ((turns & 2) << 30)).as_float(x);
}

}  // namespace

Reals emit_sin(const Reals& x) {
  if (!x.b->target.fma) return x.with(x.b->call_per_lane("sinf", {x.v}));
  return with_rare_calls(circular(x, 0), x, "sinf");
}

Reals emit_cos(const Reals& x) {
  if (!x.b->target.fma) return x.with(x.b->call_per_lane("cosf", {x.v}));
  return with_rare_calls(circular(x, 1), x, "cosf");
}

}  // namespace hone
