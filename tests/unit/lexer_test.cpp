#include "support/lexer.h"

#include <random>

#include <gtest/gtest.h>

namespace hone {
namespace {

std::string listing(std::string_view text) {
  Lexer lexer(text);
  std::string out;
  while (!lexer.sees(Token::Kind::kEnd)) {
    const Token token = lexer.take();
    constexpr std::string_view kinds = "_nds'";
    out += kinds[static_cast<size_t>(token.kind)];
    out += "<" + token.text + ">";
  }
  return out;
}

Error error_of(std::string_view text) {
  try {
    listing(text);
  } catch (const Failure& failure) {
    return failure.error;
  }
  return {ErrorKind::kUnknown, "", "no error", ""};
}

TEST(Lexer, SplitsNamesNumbersStringsAndSigns) {
  EXPECT_EQ(listing("y_1: f32[i<N]"), "n<y_1>'<:>n<f32>'<[>n<i>'<<>n<N>'<]>");
  EXPECT_EQ(listing("ai.onnx::Conv"), "n<ai>'<.>n<onnx>'<::>n<Conv>");
  EXPECT_EQ(listing("a->b <= c <- d && e||f != g == h"),
            "n<a>'<->>n<b>'<<=>n<c>'<<->n<d>'<&&>n<e>'<||>n<f>'<!=>n<g>'<==>n<h>");
  EXPECT_EQ(listing(R"("a\n\"\x41\\")"), "s<a\n\"A\\>");
}

TEST(Lexer, NumbersStayAsWritten) {
  EXPECT_EQ(listing("3 0.50 1e-5 5p-20 2.5E+3"), "d<3>d<0.50>d<1e-5>d<5p-20>d<2.5E+3>");
  EXPECT_EQ(listing("0..n 2e 3p x.5"), "d<0>'<..>n<n>d<2>n<e>d<3>n<p>n<x>'<.>d<5>");
}

TEST(Lexer, CommentsAndLineBreaksSeparateOnly) {
  EXPECT_EQ(listing("a # b c\n  d\r\n#e"), "n<a>n<d>");
}

TEST(Lexer, KeepsTheCommentBlockAboveAToken) {
  Lexer lexer("# far away\n\n# Scaled\n#   swish.\nop x # beside\ny");
  EXPECT_EQ(lexer.comment(), "Scaled swish.");
  lexer.take();
  EXPECT_EQ(lexer.comment(), "");
  lexer.take();
  EXPECT_EQ(lexer.comment(), "") << "a comment beside a token says nothing about the next line";
}

TEST(Lexer, QuotedNamesAreNeverKeywords) {
  Lexer lexer("`scan` scan `batch size`");
  EXPECT_FALSE(lexer.sees("scan"));
  EXPECT_EQ(lexer.take().text, "scan");
  EXPECT_TRUE(lexer.sees("scan"));
  lexer.take();
  EXPECT_EQ(lexer.take().text, "batch size");
}

TEST(Lexer, NameTextReadsBackAsTheSameName) {
  for (const std::string name : {"x", "sum", "batch size", "a`b\\c\n", "", "3d", "\xc3\xa9"}) {
    Lexer lexer(name_text(name).c_str());
    const std::string text = name_text(name);
    Lexer again(text);
    EXPECT_EQ(again.expect(Token::Kind::kName, "name").text, name);
    again.expect_end();
  }
  EXPECT_EQ(name_text("x"), "x");
  EXPECT_EQ(name_text("sum"), "`sum`");
}

TEST(Lexer, ErrorsNameLineAndColumn) {
  EXPECT_EQ(error_of("ab\n  \x01").to_string(),
            "2:3: unexpected character: \\x01 (names with other characters go in backquotes)");
  EXPECT_EQ(error_of("x \"abc").where, "1:3");
  EXPECT_EQ(error_of("\"\\q\"").reason, "unknown escape");
  EXPECT_EQ(error_of("`a\nb`").where, "1:1");
  Lexer lexer("a\n b", "my.ops");
  lexer.take();
  try {
    lexer.expect("->");
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.error.to_string(), "my.ops:2:2: expected '->', found b");
  }
}

TEST(Lexer, RefusesDeepNesting) {
  Lexer lexer("x");
  const auto descend = [&](auto&& self, int levels) -> void {
    const Nested nested(lexer);
    if (levels > 1) self(self, levels - 1);
  };
  EXPECT_NO_THROW(descend(descend, kMaxNesting));
  EXPECT_THROW(descend(descend, kMaxNesting + 1), Failure);
  EXPECT_NO_THROW(descend(descend, kMaxNesting)) << "levels are given back after a failure";
}

TEST(Lexer, AnyBytesAreSafe) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    std::string text(random() % 40, '\0');
    for (char& c : text) c = static_cast<char>(random() % (round % 2 == 0 ? 256 : 128));
    try {
      listing(text);
    } catch (const Failure& failure) {
      EXPECT_FALSE(failure.error.where.empty());
    }
  }
}

}  // namespace
}  // namespace hone
