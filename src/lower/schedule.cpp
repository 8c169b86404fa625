#include "lower/schedule.h"

#include <charconv>

#include "support/error.h"

namespace hone {
namespace {

// Splits off the text before the next `sign`.
std::string_view take(std::string_view& text, char sign) {
  const size_t at = text.find(sign);
  const std::string_view head = text.substr(0, at);
  text = at == std::string_view::npos ? std::string_view() : text.substr(at + 1);
  return head;
}

template <typename T>
bool number(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

bool set_field(std::string_view key, std::string_view value, NestSchedule& nest) {
  if (key == "vector") {
    const std::string_view axis = take(value, ':');
    const std::string_view lanes = take(value, 'x');
    return number(axis, nest.vector_axis) && number(lanes, nest.lanes) &&
           number(value, nest.vectors);
  }
  if (key == "rows") {
    const std::string_view axis = take(value, ':');
    return number(axis, nest.row_axis) && number(value, nest.rows);
  }
  if (key == "unroll") return number(value, nest.unroll);
  if (key == "k_block") return number(value, nest.k_block);
  if (key == "m_block") return number(value, nest.m_block);
  if (key == "n_block") return number(value, nest.n_block);
  if (key == "prefetch") {
    int on = 0;
    const bool read = number(value, on);
    nest.prefetch = on != 0;
    return read;
  }
  if (key == "pack") {
    while (!value.empty()) {
      int tensor = 0;
      if (!number(take(value, ','), tensor)) return false;
      nest.pack.push_back(tensor);
    }
    return true;
  }
  return false;
}

}  // namespace

std::string to_text(const Schedule& schedule) {
  std::string out;
  for (const NestSchedule& nest : schedule.nests) {
    out += "nest";
    if (nest.vector_axis >= 0)
      out += " vector=" + std::to_string(nest.vector_axis) + ":" + std::to_string(nest.lanes) +
             "x" + std::to_string(nest.vectors);
    if (nest.row_axis >= 0)
      out += " rows=" + std::to_string(nest.row_axis) + ":" + std::to_string(nest.rows);
    if (nest.unroll > 1) out += " unroll=" + std::to_string(nest.unroll);
    if (nest.k_block > 0) out += " k_block=" + std::to_string(nest.k_block);
    if (nest.m_block > 0) out += " m_block=" + std::to_string(nest.m_block);
    if (nest.n_block > 0) out += " n_block=" + std::to_string(nest.n_block);
    if (nest.prefetch) out += " prefetch=1";
    for (size_t i = 0; i < nest.pack.size(); ++i)
      out += (i == 0 ? " pack=" : ",") + std::to_string(nest.pack[i]);
    out += "\n";
  }
  return out;
}

Result<Schedule> parse_schedule(std::string_view text) {
  Schedule schedule;
  for (int line_number = 1; !text.empty(); ++line_number) {
    std::string_view line = take(text, '\n');
    if (line.empty()) continue;
    const std::string where = "schedule, line " + std::to_string(line_number);
    if (take(line, ' ') != "nest")
      return fail(ErrorKind::kInvalid, where, "a line begins with 'nest'");
    NestSchedule& nest = schedule.nests.emplace_back();
    while (!line.empty()) {
      std::string_view word = take(line, ' ');
      if (word.empty()) continue;
      const std::string shown(word);
      const std::string_view key = take(word, '=');
      if (!set_field(key, word, nest))
        return fail(ErrorKind::kInvalid, where, "cannot read '" + shown + "'",
                    "e.g. vector=3:8x2 rows=2:6 unroll=4 k_block=256 pack=1");
    }
  }
  return schedule;
}

}  // namespace hone
