#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <span>
#include <type_traits>
#include <vector>

#include "base/check.h"
#include "hwy/contrib/sort/vqsort.h"
#include "kernels/cpu/for_dtype.h"
#include "kernels/cpu/op_code.h"
#include "kernels/cpu/sort.h"
#include "kernels/cpu/sort32.h"
#include "kernels/cpu/sort_key.h"
#include "kernels/op_table.h"

namespace shoal::kernels::cpu {
namespace {

constexpr size_t kValuesOf16Bits = 65'536;

// Rows of 16-bit elements: the shortest are sorted by comparison; then a radix sort of two passes
// is faster, until clearing and reading 65536 counters costs less than its second pass. No vectors:
// they need AVX-512 to beat this.
constexpr size_t kRadixElementsMin = 100;
constexpr size_t kCountingElementsMin = 20'000;

void SortBools(std::span<uint8_t> row) {
  size_t trues = 0;
  for (const uint8_t x : row) trues += x != 0 ? 1U : 0U;
  const size_t falses = row.size() - trues;
  std::memset(row.data(), 0, falses);
  std::memset(row.data() + falses, 1, trues);
}

// Four counters per value: repeated values would otherwise wait for their own last increment.
template <class T>
void CountingSortBytes(std::span<T> row) {
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
void CountingSort16(std::span<typename Mapping::Stored> row) {
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

/// One stable pass of a radix sort (least significant digit first), by the byte at `shift` of the
/// key's distance from the smallest key.
template <class Mapping>
void RadixPass(std::span<const typename Mapping::Stored> from, typename Mapping::Stored* to,
               int shift) {
  using Key = typename Mapping::Key;
  constexpr int kLowest = std::numeric_limits<Key>::min();
  const auto digit = [shift](typename Mapping::Stored x) {
    return static_cast<size_t>((int{Mapping::ToKey(x)} - kLowest) >> shift & 0xff);
  };
  std::array<uint32_t, 257> begins = {};
  for (const auto x : from) ++begins[digit(x) + 1];
  std::partial_sum(begins.begin(), begins.end(), begins.begin());
  for (const auto x : from) to[begins[digit(x)]++] = x;
}

template <class Mapping>
void Sort16(std::span<typename Mapping::Stored> row) {
  using Stored = typename Mapping::Stored;
  if (row.size() < kRadixElementsMin) {
    std::sort(row.begin(), row.end(),
              [](Stored x, Stored y) { return Mapping::ToKey(x) < Mapping::ToKey(y); });
  } else if (row.size() < kCountingElementsMin) {
    std::vector<Stored> scratch(row.size());
    RadixPass<Mapping>(row, scratch.data(), 0);
    RadixPass<Mapping>(scratch, row.data(), 8);
  } else {
    CountingSort16<Mapping>(row);
  }
}

void SortWithVqsort(const hwy::Sorter& sorter, auto* keys, size_t count) {
  using Key = std::remove_pointer_t<decltype(keys)>;
  if constexpr (sizeof(Key) == 4) {
    if (CompressStoreIsSlow()) {
      SortWithoutCompressStore(keys, count);
      return;
    }
  }
  sorter(keys, count, hwy::SortAscending());
}

// Keys and elements have the same size, so they take turns in the same memory.
template <class Mapping>
void SortByKeys(const hwy::Sorter& sorter, std::span<typename Mapping::Stored> row) {
  constexpr bool kMapped = !std::is_same_v<Mapping, IntegerKey<typename Mapping::Stored>>;
  if constexpr (kMapped) {
    for (auto& x : row) x = Mapping::ToKey(x);
  }
  SortWithVqsort(sorter, row.data(), row.size());
  if constexpr (kMapped) {
    for (auto& x : row) x = Mapping::FromKey(x);
  }
}

template <DType kDType>
void SortRow(const hwy::Sorter& sorter, std::span<typename SortKey<kDType>::Stored> row) {
  using Mapping = SortKey<kDType>;
  constexpr size_t kItem = sizeof(typename Mapping::Stored);
  if constexpr (kDType == DType::kBool) {
    SortBools(row);
  } else if constexpr (kItem == 1) {
    CountingSortBytes(row);
  } else if constexpr (kItem == 2) {
    Sort16<Mapping>(row);
  } else {
    SortByKeys<Mapping>(sorter, row);
  }
}

template <DType kDType>
void SortRowsOf(const SortArgs& args) {
  const auto elements = static_cast<size_t>(args.row_elements);
  auto* row_begin = static_cast<typename SortKey<kDType>::Stored*>(args.data);
  const hwy::Sorter sorter;
  for (int64_t i = 0; i < args.row_count; ++i, row_begin += elements) {
    SortRow<kDType>(sorter, {row_begin, elements});
  }
}

}  // namespace

void SortRows(const SortArgs& args) {
  SHOAL_CHECK(args.row_count >= 0 && args.row_elements >= 0);
  if (args.row_count == 0 || args.row_elements < 1) return;
  ForRealDType(args.dtype, [&args]<DType kDType>() { SortRowsOf<kDType>(args); });
}

template <>
const SortCode& SortCodeOf<OpIndex("sort")>() {
  static_assert(kOpTable[OpIndex("sort")].dtypes == kRealDTypes, "what ForRealDType covers");
  static constexpr SortCode kCode = {.rows = &SortRows, .merge = &MergeRuns};
  return kCode;
}

void RunSort(const OpInfo& op, const SortArgs& args) {
  SHOAL_CHECK(op.form == OpForm::kSort && op.Supports(args.dtype));
  FindSortCode(IndexOf(op))->rows(args);
}

void RunMerge(const OpInfo& op, const MergeArgs& args) {
  SHOAL_CHECK(op.form == OpForm::kSort && op.Supports(args.dtype));
  FindSortCode(IndexOf(op))->merge(args);
}

}  // namespace shoal::kernels::cpu
