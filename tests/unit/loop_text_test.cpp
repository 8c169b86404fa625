#include <fstream>

#include <gtest/gtest.h>

#include "helpers/random_loops.h"
#include "loop/equal.h"
#include "loop/text.h"
#include "loop/verify.h"

namespace hone::loop {
namespace {

std::string reprinted(std::string_view text) {
  const auto parsed = parse_function(text);
  return parsed ? to_text(*parsed) : parsed.error().to_string();
}

std::string error_of(std::string_view text) {
  const auto parsed = parse_function(text);
  return parsed ? "no error" : parsed.error().to_string();
}

constexpr std::string_view kExample =
    R"(kernel example(x: f32[4096] in, w: f16[64] constant, y: f32[4096] out align 4; n, m)
  parallel i = 0 .. 512
    alloc acc: f32[16] register
    for k = 2 .. 7
      unroll u = 0 .. 2
        acc[u*8 :8] = fma(x8(x[k]), x[i*8 + u*8 - 4 :8], acc[u*8 :8])
    prefetch x[i*8 + 64]
    let v = max(acc[0 :8], f32x8(1/2))
    for j = i/4 .. + i%4 + 1
      y[j :8*-3 if v < f32x8(-inf)] = v
    alloc t: i32[64] thread align 16
      t[0] = to_i32(fold_add(v))
    if i < $n and not(i == 3)
      y[ramp(i, 2, 8)] = shuffle(v, acc[8 :8], [0, 8, 1, 9, 2, 10, 3, 11])
)";

TEST(LoopText, ReadsWhatItPrints) { EXPECT_EQ(reprinted(kExample), kExample); }

std::string expression(std::string_view text) {
  const std::string head =
      "kernel k(x: f32[9] in, a: i64[9] in, b: bool[9] in, o: i64[9] out; n)\n  let i = a[0]\n  "
      "let j = a[1]\n  let v = x[0 :4]\n  let e = ";
  const std::string out = reprinted(head + std::string(text) + "\n");
  return out.starts_with(head) ? out.substr(head.size(), out.size() - head.size() - 1) : out;
}

TEST(LoopText, KeepsEveryFormOfExpression) {
  for (const std::string_view text : {
           "i + j*3 - 4",
           "i - (4)",
           "i - (j - i)",
           "i + (j + 1)",
           "i - j + 1",
           "(i + j)*(i - j)",
           "i*(j/3)%5",
           "i*(j%4)",
           "-i",
           "-(3)",
           "-3",
           "-(i + 1)",
           "i + -9223372036854775808",
           "9223372036854775807",
           "min(i, max(j, $n))",
           "i < j and j <= 3 or not(b[0])",
           "i < -3",
           "(i < j) == (j < i)",
           "true",
           "bool(1)",
           "f64x4(3p-30/7*sqrt(2))",
           "f32(nan)",
           "f32(-inf)",
           "bf16(-5/2)",
           "x4(i)",
           "x4(i) + ramp(0, j, 4)",
           "ramp(i, -1, 4)",
           "v * v + v",
           "x[x4(i)]",
           "x[i :4*0]",
           "x[i :4*2 if v < f32x4(0)]",
           "x[i :1*2]",
           "fma(v, v, v)",
           "fold_max(v)",
           "fold_or(v < v)",
           "select(v < v, v, v)",
           "to_i8(x[i])",
           "wrap_u8(i)",
           "shuffle(v, v, [3, 4])",
           "exp(pow(v, v))",
           "bit_xor(i, shift_left(j, 2))",
       })
    EXPECT_EQ(expression(text), text);
}

TEST(LoopText, ReadsWhatPeopleWrite) {
  EXPECT_EQ(expression("((i)) *  2+j # a comment"), "i*2 + j");
  EXPECT_EQ(expression("i<-3"), "i < -3");
  EXPECT_EQ(expression("v * x[1]"), "v * x4(x[1])");
  EXPECT_EQ(expression("f32(0.5)"), "f32(1/2)");
}

TEST(LoopText, SaysWhereTextIsWrong) {
  const std::string head = "kernel k(x: f32[9] in, y: f32[9] out)\n";
  EXPECT_EQ(error_of("loop k()"), "1:1: expected 'kernel', found loop");
  EXPECT_EQ(error_of("kernel k(x: f33[9] in)"), "1:13: unknown type f33");
  EXPECT_EQ(error_of("kernel k(x: f32[9] thread)"), "1:10: an argument is in, out or constant");
  EXPECT_EQ(error_of(head + "  y[0] = z[0]\n"), "2:10: no buffer named z is in scope");
  EXPECT_EQ(error_of(head + "  y[i] = x[0]\n"), "2:5: no variable named i is in scope");
  EXPECT_EQ(error_of(head + "  for i = 0 .. 3\n    y[i] = x[0]\n  y[i] = x[0]\n"),
            "4:5: no variable named i is in scope");
  EXPECT_EQ(error_of(head + "  y[0] = x[0 :8]\n"), "2:4: the value has 8 lanes, the place has 1");
  EXPECT_EQ(error_of(head + "  let v = x[0 :8] + x[0 :4]\n"), "2:19: operands of 8 and of 4 lanes");
  EXPECT_EQ(error_of(head + "  y[0] = min(x[0])\n"), "2:10: min takes 2 operands, found 1");
  EXPECT_EQ(error_of(head + "  y[0] = foo(x[0])\n"), "2:10: unknown function foo");
  EXPECT_EQ(error_of(head + "  y[0] = x[0] +\n"),
            "3:1: expected an expression, found the end of the text");
  EXPECT_EQ(error_of(head + "  y[0] = x[0]\n    y[1] = x[0]\n"),
            "3:5: this line stands further right than the one before it");
  EXPECT_EQ(error_of(head + "  y[0] = 0.5\n"),
            "2:10: 0.5 is not a 64-bit integer (numbers of other types have their type around "
            "them: f32(0.5))");
  EXPECT_EQ(error_of(head + "  let i = 3\n  for j = i .. 5\n    y[j] = x[j]\n"),
            "3:13: the end of a loop is a number where it begins at another number (write `begin "
            ".. + extent`)");
}

TEST(LoopText, HostileTextIsAnError) {
  const std::string head = "kernel k(y: i64[9] out)\n  y[0] = ";
  EXPECT_NE(error_of(head + std::string(100000, '(')), "no error");
  EXPECT_NE(error_of(head + std::string(100000, '-')), "no error");
  std::string chain = head;
  for (int i = 0; i < 100000; ++i) chain += "1+";
  EXPECT_NE(error_of(chain), "no error");
}

TEST(LoopText, NamesThatHideOthersHaveTheirNumber) {
  Function f;
  f.name = "for";
  const BufferId y = f.add_buffer({"let", ElementType::kI64, 9, Scope::kOut, 64});
  const VarId outer = f.add_var("i");
  const VarId inner = f.add_var("i");
  const VarId later = f.add_var("i");
  const Stmt first = make_store(y, Expr::var(outer), Expr::var(inner));
  const Stmt second = make_store(y, Expr::var(later), Expr::var(later));
  f.body = {make_for(LoopKind::kSerial, outer, 3, {make_for(LoopKind::kSerial, inner, 3, {first})}),
            make_for(LoopKind::kSerial, later, 3, {second})};
  const std::string text = to_text(f);
  EXPECT_EQ(text, R"(kernel `for`(`let`: i64[9] out)
  for i = 0 .. 3
    for i@1 = 0 .. 3
      `let`[i] = i@1
  for i = 0 .. 3
    `let`[i] = i
)");
  const auto back = parse_function(text);
  ASSERT_TRUE(back) << back.error().to_string();
  EXPECT_TRUE(equal(f, *back));
}

TEST(LoopText, EqualityDistinguishes) {
  const Function f = *parse_function(kExample);
  EXPECT_TRUE(equal(f, f));
  for (const auto& [from, to] :
       std::vector<std::pair<std::string, std::string>>{{"align 4;", "align 8;"},
                                                        {"2 .. 7", "2 .. 8"},
                                                        {"unroll u", "for u"},
                                                        {"1/2", "1/4"},
                                                        {"*-3", "*-2"},
                                                        {"11]", "12]"},
                                                        {"fold_add", "fold_max"},
                                                        {"to_i32", "wrap_i32"},
                                                        {"x8(x[k])", "x8(x[i])"}}) {
    std::string text(kExample);
    text.replace(text.find(from), from.size(), to);
    const auto other = parse_function(text);
    ASSERT_TRUE(other) << other.error().to_string();
    EXPECT_FALSE(equal(f, *other)) << from;
  }
}

// The lines behind a marker in docs/ARCHITECTURE.md, without their indentation.
std::vector<std::string> documented(const std::string& marker) {
  std::ifstream file(HONE_SOURCE_DIR "/docs/ARCHITECTURE.md");
  std::vector<std::string> blocks;
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    if (line == marker) {
      blocks.emplace_back();
      inside = true;
    } else if (inside && line.starts_with("    ")) {
      blocks.back() += line.substr(4) + "\n";
    } else {
      inside = false;
    }
  }
  return blocks;
}

TEST(LoopText, WhatTheDocumentationShowsIsTrue) {
  const auto blocks = documented("<!-- loop -->");
  EXPECT_FALSE(blocks.empty());
  for (const std::string& block : blocks) {
    const auto function = parse_function(block);
    ASSERT_TRUE(function) << function.error().to_string();
    EXPECT_EQ(to_text(*function), block);
    VerifyNotes notes;
    EXPECT_TRUE(verify(*function, &notes).empty());
    EXPECT_TRUE(notes.unclear.empty());
    EXPECT_EQ(notes.unchecked, 0);
  }
}

TEST(LoopText, RandomFunctionsReadBack) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const Function f = random_loops(seed);
    const std::string text = to_text(f);
    const auto back = parse_function(text);
    ASSERT_TRUE(back) << back.error().to_string() << "\n" << text;
    ASSERT_TRUE(equal(f, *back)) << text << to_text(*back);
    ASSERT_EQ(to_text(*back).size(), text.size());
  }
}

}  // namespace
}  // namespace hone::loop
