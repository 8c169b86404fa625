#include "expr/vm/contract.h"

#include "expr/field.h"
#include "expr/vm/dispatch.h"

namespace hone::vm {
namespace {

// A register tile of Rows x 16 elements, summed over all k, then added to acc. Written once with
// vectors of 32 bytes, which a baseline compiler halves. (Wider ones than the instruction set has
// go through memory in GCC 12, twenty times slower.)
template <typename T, int Rows>
[[gnu::always_inline]] inline void register_tile(const ContractBlock& block, const T* a, const T* b,
                                                 T* acc) {
  constexpr int kVectorBytes = 32;
  constexpr int kVectors = kContractColumns * sizeof(T) / kVectorBytes;
  typedef T Vector __attribute__((vector_size(kVectorBytes), aligned(sizeof(T)), may_alias));
  Vector sum[Rows][kVectors] = {};
  for (int64_t k = 0; k < block.k; ++k) {
    const auto* row = reinterpret_cast<const Vector*>(b + k * kContractColumns);
    for (int r = 0; r < Rows; ++r) {
      const T factor = a[r * block.a_row + k * block.a_step];
      for (int v = 0; v < kVectors; ++v) sum[r][v] += factor * row[v];
    }
  }
  for (int r = 0; r < Rows; ++r) {
    auto* to = reinterpret_cast<Vector*>(acc + r * block.width);
    for (int v = 0; v < kVectors; ++v) to[v] += sum[r][v];
  }
}

template <typename T, int Rows>
[[gnu::always_inline]] inline void contract_blocks(const ContractBlock& block) {
  const T* a = reinterpret_cast<const T*>(block.a);
  const T* b = reinterpret_cast<const T*>(block.b);
  T* acc = reinterpret_cast<T*>(block.acc);
  for (int64_t n = 0; n < block.width;
       n += kContractColumns, b += block.panel_rows * kContractColumns) {
    int64_t m = 0;
    for (; m + Rows <= block.m; m += Rows)
      register_tile<T, Rows>(block, a + m * block.a_row, b, acc + m * block.width + n);
    for (; m < block.m; ++m)
      register_tile<T, 1>(block, a + m * block.a_row, b, acc + m * block.width + n);
  }
}

template <typename T>
void contract(const ContractBlock& block) {
  contract_blocks<T, 4>(block);
}

#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) void contract_f32_avx2(const ContractBlock& block) {
  contract_blocks<float, 6>(block);
}
__attribute__((target("avx2,fma"))) void contract_f64_avx2(const ContractBlock& block) {
  contract_blocks<double, 3>(block);
}
__attribute__((target("avx2"))) void contract_u32_avx2(const ContractBlock& block) {
  contract_blocks<uint32_t, 4>(block);
}
bool has_avx2() { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
#endif

// Products are below 2^122, so 32 of them fit an unsigned 128-bit sum before it is folded.
void contract_field(const ContractBlock& block) {
  const auto* a = reinterpret_cast<const Field*>(block.a);
  const auto* b = reinterpret_cast<const Field*>(block.b);
  auto* acc = reinterpret_cast<Field*>(block.acc);
  constexpr int64_t kLazy = 32;
  for (int64_t m = 0; m < block.m; ++m)
    for (int64_t n = 0; n < block.width; n += 4) {
      Field* to = acc + m * block.width + n;
      const Field* panel =
          b + (n / kContractColumns) * block.panel_rows * kContractColumns + n % kContractColumns;
      for (int64_t k0 = 0; k0 < block.k; k0 += kLazy) {
        unsigned __int128 sum[4] = {};
        for (int64_t k = k0; k < std::min(k0 + kLazy, block.k); ++k) {
          const uint64_t factor = a[m * block.a_row + k * block.a_step].value;
          for (int c = 0; c < 4; ++c)
            sum[c] +=
                static_cast<unsigned __int128>(factor) * panel[k * kContractColumns + c].value;
        }
        for (int c = 0; c < 4; ++c) to[c] = to[c] + fold_into_field(sum[c]);
      }
    }
}

}  // namespace

ContractKernel find_contract(ElementType type) {
  switch (type) {
#if defined(__x86_64__)
    case ElementType::kF32:
      return has_avx2() ? contract_f32_avx2 : contract<float>;
    case ElementType::kF64:
      return has_avx2() ? contract_f64_avx2 : contract<double>;
    // Unsigned, so that sums wrap; the bits are those of the signed result.
    case ElementType::kI32:
    case ElementType::kU32:
      return has_avx2() ? contract_u32_avx2 : contract<uint32_t>;
#else
    case ElementType::kF32:
      return contract<float>;
    case ElementType::kF64:
      return contract<double>;
    case ElementType::kI32:
    case ElementType::kU32:
      return contract<uint32_t>;
#endif
    case ElementType::kField:
      return contract_field;
    case ElementType::kI64:
    case ElementType::kU64:
      return contract<uint64_t>;
    default:
      return nullptr;
  }
}

}  // namespace hone::vm
