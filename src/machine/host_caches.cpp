#include "machine/host_caches.h"

#include <fstream>
#include <string>

namespace hone {
namespace {

std::string read_word(const std::string& path) {
  std::ifstream file(path);
  std::string word;
  file >> word;
  return word;
}

// "32K", "8M"
int64_t parse_size(const std::string& text) {
  int64_t value = 0;
  size_t i = 0;
  for (; i < text.size() && text[i] >= '0' && text[i] <= '9' && value < (int64_t{1} << 40); ++i)
    value = value * 10 + (text[i] - '0');
  if (i < text.size() && text[i] == 'K') return value << 10;
  if (i < text.size() && text[i] == 'M') return value << 20;
  return value;
}

// How many CPUs "0-3,8-11" names.
int64_t count_cpus(const std::string& list) {
  int64_t count = 0;
  for (size_t at = 0; at < list.size();) {
    size_t end = list.find(',', at);
    if (end == std::string::npos) end = list.size();
    const std::string part = list.substr(at, end - at);
    const size_t dash = part.find('-');
    const int64_t first = parse_size(part);
    const int64_t last = dash == std::string::npos ? first : parse_size(part.substr(dash + 1));
    count += last - first + 1;
    at = end + 1;
  }
  return count > 0 ? count : 1;
}

}  // namespace

HostCaches host_caches() {
  HostCaches caches;
  for (int i = 0; i < 8; ++i) {
    const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(i) + "/";
    const std::string level = read_word(folder + "level");
    if (level.empty()) break;
    if (read_word(folder + "type") == "Instruction") continue;
    const int64_t size = parse_size(read_word(folder + "size"));
    if (level == "1") caches.l1_bytes = size;
    if (level == "2") caches.l2_bytes = size;
    if (level == "3") caches.l3_bytes = size / count_cpus(read_word(folder + "shared_cpu_list"));
  }
  return caches;
}

}  // namespace hone
