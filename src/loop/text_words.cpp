// The words of the text form.
#include <algorithm>
#include <array>

#include "loop/text.h"

namespace hone::loop {
namespace {

constexpr std::array<std::string_view, 17> kWords = {
    "align", "alloc", "and", "false",    "for",  "if",       "inf",  "kernel", "let",
    "nan",   "not",   "or",  "parallel", "pass", "prefetch", "true", "unroll"};

}  // namespace

std::string to_text(Type type) {
  std::string text(name_of(type.element));
  return type.lanes == 1 ? text : text + "x" + std::to_string(type.lanes);
}

bool is_word(std::string_view name) { return std::ranges::find(kWords, name) != kWords.end(); }

std::string_view word_of(LoopKind kind) {
  constexpr std::array<std::string_view, 3> words = {"for", "parallel", "unroll"};
  return words[static_cast<size_t>(kind)];
}

std::string_view word_of(Scope scope) {
  constexpr std::array<std::string_view, 5> words = {"in", "out", "constant", "thread", "register"};
  return words[static_cast<size_t>(scope)];
}

std::string_view fold_word(Fn fn) {
  switch (fn) {
    case Fn::kAdd:
      return "add";
    case Fn::kMul:
      return "mul";
    case Fn::kMax:
      return "max";
    case Fn::kMin:
      return "min";
    case Fn::kAnd:
      return "and";
    case Fn::kOr:
      return "or";
    default:
      return {};
  }
}

}  // namespace hone::loop
