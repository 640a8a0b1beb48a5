#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "base/check.h"
#include "hwy/contrib/sort/vqsort.h"
#include "kernels/cpu/for_dtype.h"
#include "kernels/cpu/sort.h"
#include "kernels/cpu/sort_key.h"

namespace shoal::kernels::cpu {
namespace {

constexpr size_t kValuesOf16Bits = 65'536;

// Rows of 16-bit elements at least this long are counted: below it, clearing and reading the 65536
// counters costs more than sorting.
constexpr int64_t kCountedElementsMin = 100'000;

void CountBools(std::span<uint8_t> row) {
  size_t trues = 0;
  for (const uint8_t x : row) trues += x != 0 ? 1U : 0U;
  const size_t falses = row.size() - trues;
  std::memset(row.data(), 0, falses);
  std::memset(row.data() + falses, 1, trues);
}

// Four counters a value: repeated values would otherwise wait for their own last increment.
template <class T>
void CountBytes(std::span<T> row) {
  std::array<std::array<int64_t, 256>, 4> counts = {};
  size_t i = 0;
  for (; i + 4 <= row.size(); i += 4) {
    for (size_t j = 0; j < 4; ++j) ++counts[j][static_cast<uint8_t>(row[i + j])];
  }
  for (; i < row.size(); ++i) ++counts[0][static_cast<uint8_t>(row[i])];

  constexpr int kLowest = std::numeric_limits<T>::min();
  T* out = row.data();
  for (int value = kLowest; value < kLowest + 256; ++value) {
    const auto slot = static_cast<uint8_t>(value);
    const auto count =
        static_cast<size_t>(counts[0][slot] + counts[1][slot] + counts[2][slot] + counts[3][slot]);
    std::memset(out, value, count);
    out += count;
  }
}

template <class Mapping>
void CountHalfWords(std::span<typename Mapping::Stored> row) {
  using Key = typename Mapping::Key;
  constexpr int kLowest = std::numeric_limits<Key>::min();
  std::vector<int64_t> counts(kValuesOf16Bits);
  for (const auto x : row) ++counts[static_cast<size_t>(int{Mapping::ToKey(x)} - kLowest)];
  auto* out = row.data();
  for (size_t slot = 0; slot < kValuesOf16Bits; ++slot) {
    const auto key = static_cast<Key>(static_cast<int>(slot) + kLowest);
    out = std::fill_n(out, counts[slot], Mapping::FromKey(key));
  }
}

// Keys and elements have the same size, so they take turns in the same memory.
template <class Mapping>
void SortByKeys(const hwy::Sorter& sorter, std::span<typename Mapping::Stored> row) {
  constexpr bool kMapped = !std::is_same_v<Mapping, IntegerKey<typename Mapping::Stored>>;
  if constexpr (kMapped) {
    for (auto& x : row) x = Mapping::ToKey(x);
  }
  sorter(row.data(), row.size(), hwy::SortAscending());
  if constexpr (kMapped) {
    for (auto& x : row) x = Mapping::FromKey(x);
  }
}

template <DType kDType>
void SortRowsOf(const SortArgs& args) {
  using Mapping = SortKey<kDType>;
  using Stored = typename Mapping::Stored;
  const auto elements = static_cast<size_t>(args.row_elements);
  auto* row_begin = static_cast<Stored*>(args.data);
  if constexpr (kDType == DType::kBool) {
    for (int64_t i = 0; i < args.row_count; ++i, row_begin += elements) {
      CountBools({row_begin, elements});
    }
  } else if constexpr (sizeof(Stored) == 1) {
    for (int64_t i = 0; i < args.row_count; ++i, row_begin += elements) {
      CountBytes(std::span<Stored>(row_begin, elements));
    }
  } else {
    const bool counted = sizeof(Stored) == 2 && args.row_elements >= kCountedElementsMin;
    const hwy::Sorter sorter;
    for (int64_t i = 0; i < args.row_count; ++i, row_begin += elements) {
      const std::span<Stored> row(row_begin, elements);
      if constexpr (sizeof(Stored) == 2) {
        if (counted) {
          CountHalfWords<Mapping>(row);
          continue;
        }
      }
      SortByKeys<Mapping>(sorter, row);
    }
  }
}

}  // namespace

void SortRows(const SortArgs& args) {
  SHOAL_CHECK(args.row_count >= 0 && args.row_elements >= 0);
  if (args.row_count == 0 || args.row_elements < 1) return;
  ForRealDType(args.dtype, [&args]<DType kDType>() { SortRowsOf<kDType>(args); });
}

}  // namespace shoal::kernels::cpu
