#include <chrono>

#include <gtest/gtest.h>

#include "helpers/random_loops.h"
#include "loop/overlap.h"
#include "loop/text.h"
#include "loop/verify.h"

namespace hone::loop {
namespace {

struct Verdict {
  std::string errors, unclear;  // one a line
  int64_t unchecked = 0;
};

Verdict verdict(const Function& function) {
  VerifyNotes notes;
  Verdict result;
  for (const Error& error : verify(function, &notes)) result.errors += error.reason + "\n";
  for (const std::string& note : notes.unclear) result.unclear += note + "\n";
  result.unchecked = notes.unchecked;
  return result;
}

Verdict verdict(const std::string& body) {
  const auto function = parse_function(
      "kernel k(x: f32[64] in, at: i64[64] in, y: f32[64] out, z: i64[64] out; n)\n" + body);
  if (!function) return {function.error().to_string() + "\n", "", 0};
  return verdict(*function);
}

// Nothing to say at all.
void expect_fine(const std::string& body) {
  const Verdict v = verdict(body);
  EXPECT_EQ(v.errors, "") << body;
  EXPECT_EQ(v.unclear, "") << body;
  EXPECT_EQ(v.unchecked, 0) << body;
}

void expect_error(const std::string& body, const std::string& reason) {
  EXPECT_EQ(verdict(body).errors, reason + "\n") << body;
}

void expect_unclear(const std::string& body, const std::string& note) {
  const Verdict v = verdict(body);
  EXPECT_EQ(v.errors, "") << body;
  EXPECT_EQ(v.unclear, note + "\n") << body;
}

// --- types

// A kernel whose only statement stores an expression that no constructor would make.
std::string problem_of(ExprNode node) {
  Function f;
  f.name = "k";
  const BufferId y = f.add_buffer({"y", node.type.element, 64, Scope::kOut, 64});
  f.body = {make_store(y, 0, Expr(std::make_shared<const ExprNode>(std::move(node))))};
  return verdict(f).errors;
}

ExprNode node_of(ExprNode::Kind kind, Type type, std::vector<Expr> args) {
  ExprNode node{};
  node.kind = kind;
  node.type = type;
  node.args = std::move(args);
  return node;
}

Expr number(ElementType element, int lanes) { return Expr::number({element, lanes}, Literal(1)); }

TEST(LoopVerify, OperandsAgree) {
  using enum ElementType;
  using enum ExprNode::Kind;
  EXPECT_EQ(problem_of(node_of(kApply, {kF32, 4}, {number(kF32, 4), number(kF32, 8)})),
            "f32x4(1) + f32x8(1): an operand is f32x8, not 4 lanes wide\n");
  EXPECT_EQ(problem_of(node_of(kApply, {kF32, 4}, {number(kF32, 4), number(kI32, 4)})),
            "f32x4(1) + i32x4(1): an operand is f32x4, not i32\n");
  EXPECT_EQ(problem_of(node_of(kApply, {kI32, 4}, {number(kF32, 4), number(kF32, 4)})),
            "f32x4(1) + f32x4(1): the result is i32x4, not f32\n");
  EXPECT_EQ(
      problem_of(node_of(kFma, {kF32, 4}, {number(kF32, 4), number(kF32, 4), number(kF64, 4)})),
      "fma(f32x4(1), f32x4(1), f64x4(1)): an operand is f64x4, not f32x4\n");
  ExprNode select = node_of(kApply, {kF32, 4}, {number(kF32, 4), number(kF32, 4), number(kF32, 4)});
  select.fn = Fn::kSelect;
  EXPECT_EQ(problem_of(select),
            "select(f32x4(1), f32x4(1), f32x4(1)): an operand is f32x4, not bool\n");
  EXPECT_EQ(problem_of(node_of(kBroadcast, {kF32, 4}, {number(kF64, 1)})),
            "x4(f64(1)): the operand is f64, not f32\n");
  EXPECT_EQ(problem_of(node_of(kFold, {kF32, 2}, {number(kF32, 8)})),
            "fold_add(f32x8(1)): the result is f32x2, not f32\n");
  EXPECT_EQ(problem_of(node_of(kRamp, {kI64, 4}, {number(kI32, 1), Expr(1)})),
            "ramp(i32(1), 1, 4): an operand is i32, not i64\n");
  EXPECT_EQ(problem_of(node_of(kApply, {kF32, 4}, {number(kF32, 4)})),
            "an expression has 1 operands\n");
}

TEST(LoopVerify, ShufflesNameTheirLanes) {
  using enum ElementType;
  EXPECT_EQ(problem_of(*Expr::shuffle(number(kF32, 2), number(kF32, 2), {0, 4})),
            "shuffle(f32x2(1), f32x2(1), [0, 4]): there is no lane 4 among 4\n");
  EXPECT_EQ(problem_of(*Expr::shuffle(number(kF32, 2), number(kF64, 2), {0, 1})),
            "shuffle(f32x2(1), f64x2(1), [0, 1]): an operand is f64x2, not f32\n");
  ExprNode wide = *Expr::shuffle(number(kF32, 2), number(kF32, 2), {0, 1});
  wide.type.lanes = 4;
  EXPECT_EQ(problem_of(wide),
            "shuffle(f32x2(1), f32x2(1), [0, 1]): the result has 4 lanes, 2 are named\n");
  EXPECT_EQ(problem_of(*Expr::shuffle(number(kF32, 2), Expr(), {0, 1})), "an operand is missing\n");
}

TEST(LoopVerify, FunctionsAreDefinedOnTheirTypes) {
  expect_error("  z[0] = exp(at[0])\n", "exp(at[0]): exp is not defined on i64");
  expect_error("  y[0] = bit_and(x[0], x[1])\n",
               "bit_and(x[0], x[1]): bit_and is not defined on f32");
}

TEST(LoopVerify, StoresAgreeWithTheirBuffer) {
  expect_error("  y[0] = at[0]\n", "y[0]: the value is i64, not f32");
  expect_error("  y[x[0]] = x[0]\n", "y[x[0]]: the index is f32, not i64");
  expect_error("  y[0 :4 if x[0 :4]] = x[0 :4]\n",
               "y[0 :4 if x[0 :4]]: the mask is f32x4, not boolx4");
  expect_error("  if at[0]\n    y[0] = x[0]\n", "a condition is i64, not bool");
  expect_error("  x[0] = x[1]\n", "a store to x, which is only read");
}

// --- scopes

TEST(LoopVerify, NamesAreUsedInTheirScope) {
  Function f = *parse_function("kernel k(y: i64[8] out)\n  for i = 0 .. 3\n    y[i] = i\n");
  f.body.push_back(f.body[0].body[0]);
  EXPECT_EQ(verdict(f).errors, "the variable i is used outside of its scope\n");

  f = *parse_function(
      "kernel k(y: i64[8] out)\n  alloc t: i64[4] thread\n    t[0] = 1\n  y[0] = 0\n");
  f.body.push_back(f.body[0].body[0]);
  EXPECT_EQ(verdict(f).errors, "a store to t is outside of its scope\n");

  f = *parse_function("kernel k(y: i64[8] out; n)\n  y[0] = $n\n");
  f.extents.clear();
  EXPECT_EQ(verdict(f).errors, "there is no extent 0\n");
}

TEST(LoopVerify, AWrongValueIsOneError) {
  expect_error("  let v = exp(at[0])\n  y[0] = to_f32(v)\n",
               "exp(at[0]): exp is not defined on i64");
  Function f = *parse_function("kernel k(y: i64[8] out)\n  let v = 1\n  y[0] = v\n");
  f.body[0].value = Expr::var(f.body[0].var) + Expr(1);
  EXPECT_EQ(verdict(f).errors, "the variable v is used outside of its scope\n");
}

TEST(LoopVerify, AVariableMayBeDefinedAgainElsewhere) {
  Function f = *parse_function("kernel k(y: i64[8] out)\n  for i = 0 .. 3\n    y[i] = i\n");
  f.body.push_back(f.body[0]);
  EXPECT_EQ(verdict(f).errors, "");
}

TEST(LoopVerify, Declarations) {
  Function f;
  f.name = "k";
  f.add_buffer({"y", ElementType::kI64, 8, Scope::kOut, 48});
  f.buffers.push_back({"w", ElementType::kI64, 8, Scope::kConstant, 64});
  EXPECT_EQ(verdict(f).errors,
            "the alignment of y is no power of two\n"
            "the buffer w is no argument, but its scope is constant\n");
}

// --- loops

TEST(LoopVerify, OneParallelLoopOutsideOfOthers) {
  expect_error("  parallel i = 0 .. 2\n    y[i] = x[i]\n  parallel i = 0 .. 2\n    z[i] = at[i]\n",
               "the parallel loop i is not the only one");
  expect_error("  for i = 0 .. 2\n    parallel j = 0 .. 2\n      y[j] = x[j]\n",
               "the parallel loop j is inside of another loop");
}

TEST(LoopVerify, UnrolledLoopsAreConstant) {
  expect_error("  unroll i = 0 .. $n\n    if i < 3\n      y[i] = x[i]\n",
               "the extent of the loop i is not constant, but it is unrolled");
}

TEST(LoopVerify, RegistersHaveConstantIndices) {
  const std::string head = "  alloc r: f32[8] register\n";
  expect_fine(head + "  unroll i = 0 .. 2\n    let j = i*4\n    r[j :4] = x[j :4]\n");
  expect_fine(head + "  for i = 1 .. 2\n    r[i] = x[i]\n");
  expect_error(head + "  for i = 0 .. 2\n    r[i*4 :4] = x[i*4 :4]\n",
               "r[i*4 :4]: a register buffer is indexed by what is not constant after unrolling");
  expect_error(head + "  for i = 0 .. 2\n    unroll u = i .. + 2\n      r[u] = x[u]\n",
               "r[u]: a register buffer is indexed by what is not constant after unrolling");
}

// --- bounds

TEST(LoopVerify, AffineAccesses) {
  expect_fine("  for i = 0 .. 8\n    y[i*8 :8] = x[56 - i*8 :8]\n");
  expect_error("  for i = 0 .. 8\n    y[i*8 :8] = x[i*8 + 1 :8]\n",
               "x[i*8 + 1 :8] reads elements 1 .. 64 of 64");
  expect_error("  for i = 0 .. 8\n    y[i*8 - 1] = x[i]\n",
               "y[i*8 - 1] writes elements -1 .. 55 of 64");
  expect_error("  y[0 :8] = x[4 :8*9]\n", "x[4 :8*9] reads elements 4 .. 67 of 64");
  expect_error("  y[0 :8] = x[6 :8*-1]\n", "x[6 :8*-1] reads elements -1 .. 6 of 64");
  expect_fine("  y[0 :8] = x[63 :8*-9]\n");
  expect_fine("  for i = 0 .. 0\n    y[i + 99] = x[i]\n");
}

TEST(LoopVerify, LoopsThatBeginAnywhere) {
  expect_fine("  for i = 0 .. 8\n    for j = i*8 .. + 8\n      y[j] = x[j]\n");
  expect_error("  for i = 0 .. 8\n    for j = i*8 .. + 9\n      y[j] = x[j]\n",
               "x[j] reads elements 0 .. 64 of 64\ny[j] writes elements 0 .. 64 of 64");
}

TEST(LoopVerify, QuotientsAndRemainders) {
  expect_fine("  for t = 0 .. 64\n    let q = t/8\n    let r = t%8\n    y[r*8 + q] = x[t]\n");
  expect_fine("  for t = 0 .. 24\n    y[t/12*32 + t%12/4*10 + t%4*3] = x[0]\n");
  // Never 7 and 7 at once: with r <= 6 the last is 6*8 + 7 at t = 62.
  expect_fine("  for t = 0 .. 63\n    y[t%8*8 + t/8] = x[t]\n");
  expect_error("  for t = 0 .. 64\n    y[t%8*8 + t/8 + 1] = x[t]\n",
               "y[t%8*8 + t/8 + 1] writes elements 1 .. 64 of 64");
  expect_fine(
      "  for i = 0 .. 4\n    for j = 0 .. 16\n      let f = i*16 + j\n      y[f/8*8 + f%8] = "
      "x[f]\n");
  // Not digits, but bounded all the same.
  expect_fine("  for t = 0 .. 64\n    y[(t + 3)/2 + 30] = x[(t + 3)%64]\n");
  expect_fine("  for t = 0 .. 60\n    let q = (t + 3)/4\n    y[q*4 - 3 + (t + 3)%4] = x[t]\n");
}

TEST(LoopVerify, DividendsAreNotNegative) {
  expect_error("  for i = 0 .. 4\n    y[(i - 2)/2 + 1] = x[i]\n",
               "(i - 2)/2: the dividend is negative");
  expect_fine("  for i = 0 .. 4\n    if 2 <= i\n      y[(i - 2)/2 + 1] = x[i]\n");
  expect_unclear("  for i = 0 .. 4\n    if at[i] < 3\n      y[(i - 2)/2 + 1] = x[i]\n",
                 "(i - 2)/2: the dividend may be negative");
}

TEST(LoopVerify, MinimaAndMaxima) {
  expect_fine("  for i = 0 .. 80\n    y[min(i, 63)] = x[max(i - 16, 0)]\n");
  expect_fine("  for i = 0 .. 9\n    for j = 0 .. min(8, 64 - i*8)\n      y[i*8 + j] = x[j]\n");
  expect_fine("  for i = 0 .. 9\n    let b = min(i*8, 56)\n    y[b :8] = x[b :8]\n");
}

TEST(LoopVerify, Conditions) {
  expect_fine("  for i = 0 .. 99\n    if i < 64\n      y[i] = x[i]\n");
  expect_fine("  for i = 0 .. 99\n    if not(64 <= i) and 3 <= i\n      y[i - 3] = x[i]\n");
  expect_fine(
      "  for i = 0 .. 9\n    let whole = i < 8\n    if whole\n      y[i*8 :8] = x[i*8 :8]\n");
  expect_fine("  for i = 0 .. 8\n    if i == 7\n      y[i*9] = x[i]\n");
  // Padding: a window of 3x3 around each point of an 8x8 image.
  expect_fine(R"(  for h = 0 .. 8
    for w = 0 .. 8
      for kh = 0 .. 3
        for kw = 0 .. 3
          if 1 <= h + kh and h + kh < 9 and 1 <= w + kw and w + kw < 9
            y[h*8 + w] = x[h*8 + kh*8 + w + kw - 9]
)");
  expect_error("  for i = 0 .. 99\n    if i < 65\n      y[i] = x[0]\n",
               "y[i] writes elements 0 .. 64 of 64");
  expect_unclear("  for i = 0 .. 99\n    if at[0] < i\n      y[i] = x[0]\n",
                 "y[i] may write elements 0 .. 98 of 64");
  expect_unclear(
      "  for i = 0 .. 9\n    for j = 0 .. 9\n      if i + j < 9\n        y[i*8 + j] = x[0]\n",
      "y[i*8 + j] may write elements 0 .. 64 of 64");
}

TEST(LoopVerify, MasksAndChosenPlaces) {
  expect_fine(
      "  for i = 0 .. 9\n    let m = ramp(i*8, 1, 8) < x8(60)\n    y[i*8 :8 if m] = x[i*8 :8 if "
      "m]\n");
  expect_error(
      "  for i = 0 .. 9\n    let m = ramp(0, 1, 8) < x8(1)\n    y[i*8 :8 if m] = x[0 :8]\n",
      "y[i*8 :8 if m] writes elements 0 .. 64 of 64");
  expect_fine("  for i = 0 .. 99\n    y[select(i < 64, i, 0)] = x[select(64 <= i, 0, i)]\n");
  expect_fine(
      "  for i = 0 .. 9\n    y[0 :8] = x[select(ramp(i*8, 1, 8) < x8(64), ramp(i*8, 1, 8), "
      "x8(0))]\n");
}

TEST(LoopVerify, VectorIndices) {
  expect_fine("  for i = 0 .. 8\n    y[i*8 :8] = x[ramp(i, 8, 8)]\n");
  expect_fine("  for i = 0 .. 8\n    y[i*8 :8] = x[ramp(i*8, 1, 8)/x8(2)]\n");
  expect_error("  for i = 0 .. 8\n    y[i*8 :8] = x[ramp(i, 9, 8)]\n",
               "x[ramp(i, 9, 8)] reads elements 0 .. 70 of 64");
}

TEST(LoopVerify, DataIsUncheckedUnlessClamped) {
  EXPECT_EQ(verdict("  y[0] = x[at[0]]\n").unchecked, 1);
  EXPECT_EQ(verdict("  let j = at[0]\n  y[j + 1] = x[at[at[2]]]\n").unchecked, 3);
  expect_fine("  y[0] = x[min(max(at[0], 0), 63)]\n");
  expect_fine("  if 0 <= at[0]\n    let j = at[0]\n    if j < 64 and 0 <= j\n      y[j] = x[j]\n");
}

TEST(LoopVerify, OpenExtents) {
  expect_fine("  for i = 0 .. $n\n    if i < 64\n      y[i] = x[i]\n");
  expect_unclear("  for i = 0 .. $n\n    y[i] = x[0]\n", "y[i] may write elements 0 .. ? of 64");
}

TEST(LoopVerify, PrefetchesMayLeaveTheirBuffer) {
  expect_fine("  for i = 0 .. 8\n    prefetch x[i*8 + 64]\n    y[i] = x[i]\n");
  expect_error("  prefetch x[x[0]]\n", "the index of a prefetch is f32, not i64");
}

// --- races

TEST(LoopVerify, TasksWriteTheirOwnElements) {
  expect_fine("  parallel t = 0 .. 8\n    y[t*8 :8] = x[t*8 :8]\n");
  expect_fine("  parallel t = 0 .. 8\n    for r = 0 .. 8\n      y[r*8 + t] = x[t*8 + r]\n");
  expect_fine("  parallel t = 0 .. 7\n    y[t*9] = x[t]\n    y[t*9 + 1] = x[t]\n");
  expect_error("  parallel t = 0 .. 4\n    y[t*8 :16] = x[t*8 :16]\n",
               "two tasks write the same element: y[t*8 :16]");
  expect_error("  parallel t = 0 .. 4\n    y[0] = x[t]\n",
               "two tasks write the same element: y[0]");
  expect_error("  parallel t = 0 .. 8\n    y[t*4] = x[t]\n    y[t*2 + t*2 + 8] = x[t]\n",
               "two tasks write the same element: y[t*2 + t*2 + 8] and y[t*4]");
  expect_error("  parallel t = 0 .. 8\n    y[t + 1] = x[t] + y[t]\n",
               "a task reads what another one writes: y[t] and y[t + 1]");
  // Strides that never meet, although their spans overlap.
  expect_fine("  parallel t = 0 .. 2\n    for i = 0 .. 32\n      y[i*2 + t] = x[i]\n");
  expect_error("  parallel t = 0 .. 2\n    for i = 0 .. 20\n      y[i*3 + t*6] = x[i]\n",
               "two tasks write the same element: y[i*3 + t*6]");
  expect_fine("  parallel t = 0 .. 1\n    y[0] = x[t]\n");
}

TEST(LoopVerify, TasksAsDigits) {
  expect_fine(R"(  parallel t = 0 .. 8
    let c = t%4
    let r = t/4
    for i = 0 .. 4
      y[(r*4 + i)*8 + c*2 :2] = x[0 :2]
)");
  expect_error(R"(  parallel t = 0 .. 8
    let c = t%4
    let r = t/4
    for i = 0 .. 5
      y[r*32 + i*8 + c*2 :2] = x[0 :2]
)",
               "y[r*32 + i*8 + c*2 :2] writes elements 0 .. 71 of 64\n"
               "two tasks write the same element: y[r*32 + i*8 + c*2 :2]");
  expect_error("  parallel t = 0 .. 8\n    let q = t/2\n    y[q] = x[t]\n",
               "two tasks write the same element: y[q]");
  expect_fine("  parallel t = 0 .. 7\n    let q = t/3\n    let r = t%3\n    y[r*3 + q] = x[t]\n");
  expect_fine(R"(  parallel t = 0 .. 24
    let a = t%2
    let q = t/2
    let b = q%3
    let c = q/3
    y[c*6 + b*2 + a] = x[t]
)");
}

// Rows of 7 in lines of 9, written in blocks of 25 rows of which 5 at a time, the first 5 apart.
TEST(LoopVerify, TasksInPaddedLines) {
  const std::string text = R"(kernel k(y: f32[81] out)
  parallel d = 0 .. 2
    unroll u = 0 .. 5
      y[(d*25 + u)/7*2 + d*25 + u + 10] = f32(0)
    for m = 1 .. + min(25, 49 - d*25)/5 - 1
      unroll u = 0 .. 5
        y[(m*5 + d*25 + u)/7*2 + (m*5 + d*25 + u) + 10] = f32(0)
    if d == 1
      for u = 45 .. 49
        y[u/7*2 + u + 10] = f32(0)
)";
  const Verdict fine = verdict(*parse_function(text));
  EXPECT_EQ(fine.errors + fine.unclear, "");
  std::string wrong = text;
  wrong.replace(wrong.find("(d*25 + u)/7*2 + d*25"), 21, "(d*24 + u)/7*2 + d*24");
  EXPECT_NE(verdict(*parse_function(wrong)).unclear, "");
}

TEST(LoopVerify, TasksWithTails) {
  // The last task has less to do.
  expect_fine(R"(  parallel t = 0 .. 4
    if t < 3
      for i = 0 .. 2
        y[t*16 + i*8 :8] = x[0 :8]
    if t == 3
      y[t*16 :8] = x[0 :8]
)");
  expect_error(R"(  parallel t = 0 .. 4
    if t < 3
      y[t*16 :16] = x[0 :16]
    if t == 3
      y[t*16 - 4 :8] = x[0 :8]
)",
               "two tasks write the same element: y[t*16 - 4 :8] and y[t*16 :16]");
  expect_unclear(R"(  parallel t = 0 .. 4
    y[t*12 :16 if x[0 :16] < f32x16(0)] = x[0 :16]
)",
                 "two tasks may write the same element: y[t*12 :16 if x[0 :16] < f32x16(0)]");
  expect_unclear("  parallel t = 0 .. 4\n    y[min(max(at[t], 0), 63)] = x[t]\n",
                 "two tasks may write the same element: y[min(max(at[t], 0), 63)]");
}

TEST(LoopVerify, MemoryOfAThreadIsItsOwn) {
  expect_fine(
      "  parallel t = 0 .. 4\n    alloc s: f32[8] thread\n    s[0 :8] = x[0 :8]\n    y[t*8 :8] = "
      "s[0 :8]\n");
}

TEST(LoopVerify, OverlapSearch) {
  const auto search = [](std::vector<OverlapTerm> all, int64_t target) {
    int steps = 1000;
    return find_overlap(std::move(all), target, steps);
  };
  // 6 a + 10 b + 15 c = 1 has solutions, but only large ones.
  const auto terms = [](int64_t most) {
    return std::vector<OverlapTerm>{
        {6, {-most, most}, false}, {10, {-most, most}, false}, {15, {-most, most}, true}};
  };
  EXPECT_EQ(search(terms(1), 1), Overlap::kFound);  // 6 + 10 - 15
  EXPECT_EQ(search(terms(1), 2), Overlap::kNone);
  EXPECT_EQ(search({{4, {-9, 9}, true}, {6, {-9, 9}, false}}, 3), Overlap::kNone);
  EXPECT_EQ(search({{4, {-9, 9}, true}, {6, {-9, 9}, false}}, 0), Overlap::kFound);
  EXPECT_EQ(search({{4, {-1, 1}, true}, {6, {-9, 9}, false}}, 0), Overlap::kNone);
  EXPECT_EQ(search({{4, {-9, 9}, true}, {1, {-kFar, kFar}, false}}, 0), Overlap::kUnknown);
}

// --- all of it

TEST(LoopVerify, RandomKernelsHaveNoErrors) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const Function f = random_loops(seed);
    const Errors errors = verify(f);
    ASSERT_TRUE(errors.empty()) << errors[0].to_string() << "\n" << to_text(f);
  }
}

TEST(LoopVerify, TimeDoesNotGrowWithUnrolling) {
  const std::string text = R"(kernel k(x: f32[1000000] in, y: f32[1000000] out)
  parallel t = 0 .. 10
    unroll a = 0 .. 10
      unroll b = 0 .. 10
        unroll c = 0 .. 10
          unroll d = 0 .. 10
            unroll e = 0 .. 10
              y[t*100000 + a*10000 + b*1000 + c*100 + d*10 + e] = x[t + a + b + c + d + e]
)";
  const Function f = *parse_function(text);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_TRUE(verify(f).empty());
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(100));
}

}  // namespace
}  // namespace hone::loop
