// 64-bit hashing that is the same on every machine and run.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace hone {

constexpr uint64_t mix_hash(uint64_t x) {
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93U;
  x ^= x >> 32;
  x *= 0xd6e8feb86659fd93U;
  x ^= x >> 32;
  return x;
}

constexpr uint64_t combine_hash(uint64_t seed, uint64_t value) {
  return mix_hash(std::rotl(seed, 23) ^ (value + 0x9e3779b97f4a7c15U));
}

inline uint64_t hash_bytes(std::span<const std::byte> bytes, uint64_t seed = 0) {
  uint64_t h = combine_hash(seed, bytes.size());
  size_t i = 0;
  for (; i + 8 <= bytes.size(); i += 8) {
    uint64_t word;
    std::memcpy(&word, bytes.data() + i, 8);
    h = combine_hash(h, word);
  }
  uint64_t tail = 0;
  if (i < bytes.size()) std::memcpy(&tail, bytes.data() + i, bytes.size() - i);
  return combine_hash(h, tail);
}

inline uint64_t hash_text(std::string_view text, uint64_t seed = 0) {
  return hash_bytes(std::as_bytes(std::span(text.data(), text.size())), seed);
}

}  // namespace hone
