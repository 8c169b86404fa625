// Operators on tensors of strings.
#include <algorithm>
#include <regex>
#include <set>

#include "ops/kernels.h"
#include "ops/table.h"

namespace hone {
namespace {

const Buffer& text_input(std::span<const Buffer> inputs, size_t i) {
  const Buffer& x = input(inputs, i);
  if (x.type() != ElementType::kString)
    throw_invalid("input " + std::to_string(i) + " must hold strings");
  return x;
}

void require_ascii(const std::string& text) {
  if (std::any_of(text.begin(), text.end(), [](char ch) { return (ch & 0x80) != 0; }))
    throw_unsupported("text beyond ASCII: hone has no Unicode tables");
}

std::vector<std::string> strings_attribute(const OpContext& c, const std::string& name) {
  const auto at = c.attributes().find(name);
  if (at == c.attributes().end()) return {};
  const auto* values = std::get_if<std::vector<std::string>>(&at->second);
  if (values == nullptr) throw_invalid("attribute " + name + " is not a list of strings");
  return *values;
}

std::vector<Buffer> run_concat(const OpContext&, std::span<const Buffer> inputs) {
  const Buffer& a = text_input(inputs, 0);
  const Buffer& b = text_input(inputs, 1);
  const Shape left = to_shape(a.dims());
  const Shape right = to_shape(b.dims());
  const std::vector<int64_t> dims = *to_ints(broadcast({&left, &right}));
  const auto place = [&](const Buffer& x, int64_t flat) {
    int64_t result = 0;
    int64_t stride = 1;
    for (size_t d = dims.size(); d-- > 0; flat /= dims[d]) {
      const size_t skip = dims.size() - x.dims().size();
      if (d < skip) break;
      const int64_t extent = x.dims()[d - skip];
      result += (extent == 1 ? 0 : flat % dims[d]) * stride;
      stride *= extent;
    }
    return static_cast<size_t>(result);
  };
  std::vector<std::string> joined;
  for (int64_t i = 0; i < checked_count(dims); ++i)
    joined.push_back(a.strings()[place(a, i)] + b.strings()[place(b, i)]);
  return {Buffer::of_strings(dims, std::move(joined))};
}

bool is_blank(char ch) {
  return ch == ' ' || (ch >= '\t' && ch <= '\r') || (ch >= '\x1c' && ch <= '\x1f');
}

// Between runs of blanks; after `most` splits the rest stays whole.
std::vector<std::string> split_blanks(const std::string& text, int64_t most) {
  std::vector<std::string> parts;
  size_t i = 0;
  while (true) {
    while (i < text.size() && is_blank(text[i])) ++i;
    if (i == text.size()) return parts;
    if (most >= 0 && static_cast<int64_t>(parts.size()) == most) {
      parts.push_back(text.substr(i));
      return parts;
    }
    const size_t begin = i;
    while (i < text.size() && !is_blank(text[i])) ++i;
    parts.push_back(text.substr(begin, i - begin));
  }
}

std::vector<std::string> split_at(const std::string& text, const std::string& delimiter,
                                  int64_t most) {
  if (delimiter.empty()) return split_blanks(text, most);
  std::vector<std::string> parts;
  size_t begin = 0;
  while (most < 0 || static_cast<int64_t>(parts.size()) < most) {
    const size_t end = text.find(delimiter, begin);
    if (end == std::string::npos) break;
    parts.push_back(text.substr(begin, end - begin));
    begin = end + delimiter.size();
  }
  parts.push_back(text.substr(begin));
  return parts;
}

std::vector<Buffer> run_split(const OpContext& c, std::span<const Buffer> inputs) {
  const Buffer& x = text_input(inputs, 0);
  const std::string delimiter = c.string_attribute("delimiter", "");
  const int64_t most = c.int_attribute("maxsplit", -1);
  std::vector<std::vector<std::string>> parts;
  size_t width = 0;
  for (const std::string& text : x.strings()) {
    parts.push_back(split_at(text, delimiter, most));
    width = std::max(width, parts.back().size());
  }
  std::vector<std::string> padded;
  Buffer counts = Buffer::allocate(ElementType::kI64, x.dims());
  for (size_t i = 0; i < parts.size(); ++i) {
    counts.as_mutable<int64_t>()[i] = static_cast<int64_t>(parts[i].size());
    parts[i].resize(width);
    padded.insert(padded.end(), parts[i].begin(), parts[i].end());
  }
  std::vector<int64_t> dims = x.dims();
  dims.push_back(static_cast<int64_t>(width));
  return first_outputs(c, {Buffer::of_strings(dims, std::move(padded)), counts});
}

std::vector<Buffer> run_regex(const OpContext& c, std::span<const Buffer> inputs) {
  const Buffer& x = text_input(inputs, 0);
  const std::string pattern = c.string_attribute("pattern", "");
  require_ascii(pattern);
  Buffer result = Buffer::allocate(ElementType::kBool, x.dims());
  try {
    // Breadth-first matching: like RE2 without back references, and never exponential.
    const std::regex regex(pattern, std::regex::ECMAScript | std::regex_constants::__polynomial);
    for (size_t i = 0; i < x.strings().size(); ++i) {
      require_ascii(x.strings()[i]);
      result.as_mutable<uint8_t>()[i] = std::regex_match(x.strings()[i], regex) ? 1 : 0;
    }
  } catch (const std::regex_error& error) {
    throw_unsupported("the pattern \"" + pattern + "\": " + error.what());
  }
  return {result};
}

std::string change_case(std::string text, const std::string& action) {
  const auto shift = [](char ch, char first, int by) {
    return ch >= first && ch < first + 26 ? static_cast<char>(ch + by) : ch;
  };
  for (char& ch : text) {
    if (action == "LOWER") ch = shift(ch, 'A', 'a' - 'A');
    if (action == "UPPER") ch = shift(ch, 'a', 'A' - 'a');
  }
  return text;
}

// Removes stop words, changes case, and drops the elements that are empty then.
std::vector<Buffer> run_normalizer(const OpContext& c, std::span<const Buffer> inputs) {
  const Buffer& x = text_input(inputs, 0);
  const bool matrix = x.rank() == 2 && x.dims()[0] == 1;
  if (x.rank() != 1 && !matrix) throw_invalid("the input must be [C] or [1, C]");
  const std::string action = c.string_attribute("case_change_action", "NONE");
  if (action != "LOWER" && action != "UPPER" && action != "NONE")
    throw_invalid("unknown case_change_action \"" + action + "\"", "LOWER, UPPER or NONE");
  const bool sensitive = c.int_attribute("is_case_sensitive", 0) != 0;
  std::set<std::string> stops;
  // Without regard to case, both sides are compared in one case.
  const std::string one_case = action == "NONE" ? "LOWER" : action;
  for (const std::string& word : strings_attribute(c, "stopwords")) {
    require_ascii(word);
    stops.insert(sensitive ? word : change_case(word, one_case));
  }
  std::vector<std::string> kept;
  for (const std::string& text : x.strings()) {
    require_ascii(text);
    if (!text.empty() && !stops.contains(sensitive ? text : change_case(text, one_case)))
      kept.push_back(change_case(text, action));
  }
  if (kept.empty()) kept.emplace_back();
  const auto count = static_cast<int64_t>(kept.size());
  return {Buffer::of_strings(matrix ? std::vector<int64_t>{1, count} : std::vector<int64_t>{count},
                             std::move(kept))};
}

OperatorDef text_operator(OperatorDef def) {
  def.opaque_reason = "strings have no expression form";
  return def;
}

std::function<std::vector<TensorType>(OpContext&)> same_shape(ElementType type) {
  return [type](OpContext& c) { return std::vector<TensorType>{{type, c.shape(0)}}; };
}

}  // namespace

void register_strings(OperatorTable& table) {
  table.add(text_operator({.name = "StringConcat",
                           .since = 20,
                           .doc = "Joins strings element by element.",
                           .inputs = "x, y",
                           .outputs = "z",
                           .kernel = run_concat,
                           .infer =
                               [](OpContext& c) {
                                 return std::vector<TensorType>{
                                     {ElementType::kString, broadcast({&c.shape(0), &c.shape(1)})}};
                               },
                           .example = "StringConcat(x: string[2], y: string[2])"}));
  table.add(text_operator(
      {.name = "StringSplit",
       .since = 20,
       .doc = "Splits strings at a delimiter; the pieces stand along a new axis.",
       .inputs = "x",
       .outputs = "pieces, counts",
       .attributes = "delimiter: string, maxsplit: int",
       .kernel = run_split,
       .infer =
           [](OpContext& c) {
             Shape pieces = c.shape(0);
             pieces.push_back(kUnknownDim);
             return std::vector<TensorType>{{ElementType::kString, pieces},
                                            {ElementType::kI64, c.shape(0)}};
           },
       .example = "StringSplit(x: string[2]) {delimiter = \",\"} -> (pieces, counts)"}));
  table.add(text_operator({.name = "RegexFullMatch",
                           .since = 20,
                           .doc = "Whether strings match a regular expression as a whole.",
                           .inputs = "x",
                           .attributes = "pattern: string",
                           .kernel = run_regex,
                           .infer = same_shape(ElementType::kBool),
                           .example = "RegexFullMatch(x: string[2]) {pattern = \"a+b\"}"}));
  table.add(text_operator(
      {.name = "StringNormalizer",
       .since = 10,
       .doc = "Changes case and removes stop words.",
       .inputs = "x",
       .attributes = "case_change_action: string = \"NONE\", is_case_sensitive: int = 0, "
                     "locale: string, stopwords: strings",
       .kernel = run_normalizer,
       .infer =
           [](OpContext& c) {
             return std::vector<TensorType>{{ElementType::kString, c.rank(0) == 2
                                                                       ? Shape{1, kUnknownDim}
                                                                       : Shape{kUnknownDim}}};
           },
       .example = "StringNormalizer(x: string[3]) {case_change_action = \"UPPER\"}"}));
}

}  // namespace hone
