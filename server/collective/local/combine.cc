#include "server/collective/local/combine.h"

#include <array>
#include <cstring>
#include <type_traits>

#include "base/check.h"
#include "kernels/cpu/element.h"
#include "kernels/cpu/for_dtype.h"

namespace shoal::collective {
namespace {

using kernels::DType;
using Sources = absl::Span<const std::byte* const>;

// One element of each operation, on the type it is computed in.
template <typename T>
T Apply(ReduceOp op, T a, T b) {
  if constexpr (std::is_same_v<T, kernels::cpu::Bool8>) {
    const bool is_or = op == ReduceOp::kSum || op == ReduceOp::kMax;
    return is_or ? kernels::cpu::Plus(a, b) : kernels::cpu::Times(a, b);
  } else if constexpr (std::is_integral_v<T>) {
    switch (op) {
      // In 64 bits without sign: nothing overflows and 16-bit operands are not promoted to int.
      case ReduceOp::kSum:
        return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
      case ReduceOp::kProduct:
        return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
      case ReduceOp::kMin:
        return b < a ? b : a;
      case ReduceOp::kMax:
        return a < b ? b : a;
    }
  } else if constexpr (std::is_floating_point_v<T>) {
    switch (op) {
      case ReduceOp::kSum:
        return a + b;
      case ReduceOp::kProduct:
        return a * b;
      case ReduceOp::kMin:
        return a < b || a != a ? a : b;
      case ReduceOp::kMax:
        return a > b || a != a ? a : b;
    }
  } else {
    static_assert(kernels::cpu::kIsComplex<T>);
    if (op == ReduceOp::kSum) return {a.re + b.re, a.im + b.im};
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
  SHOAL_UNREACHABLE("reduce op out of range");
}

template <ReduceOp op, typename T>
void Fold(Sources sources, T* target, int64_t count) {
  std::memcpy(target, sources[0], static_cast<size_t>(count) * sizeof(T));
  for (const std::byte* const bytes : sources.subspan(1)) {
    const auto* const source = reinterpret_cast<const T*>(bytes);
    for (int64_t i = 0; i < count; ++i) target[i] = Apply<T>(op, target[i], source[i]);
  }
}

template <ReduceOp op, typename T>
void FoldHalves(Sources sources, T* target, int64_t count) {
  std::array<float, kCombineElementsMax> sums;
  for (int64_t i = 0; i < count; ++i) {
    sums[static_cast<size_t>(i)] = Widen(reinterpret_cast<const T*>(sources[0])[i]);
  }
  for (const std::byte* const bytes : sources.subspan(1)) {
    const auto* const source = reinterpret_cast<const T*>(bytes);
    for (int64_t i = 0; i < count; ++i) {
      float& sum = sums[static_cast<size_t>(i)];
      sum = Apply<float>(op, sum, Widen(source[i]));
    }
  }
  for (int64_t i = 0; i < count; ++i) Narrow(sums[static_cast<size_t>(i)], target[i]);
}

template <ReduceOp op, typename T>
void FoldAs(Sources sources, std::byte* target, int64_t count) {
  if constexpr (requires(T value) { Widen(value); }) {
    FoldHalves<op>(sources, reinterpret_cast<T*>(target), count);
  } else {
    Fold<op>(sources, reinterpret_cast<T*>(target), count);
  }
}

template <typename T>
void FoldBy(ReduceOp op, Sources sources, std::byte* target, int64_t count) {
  switch (op) {
    case ReduceOp::kSum:
      return FoldAs<ReduceOp::kSum, T>(sources, target, count);
    case ReduceOp::kProduct:
      return FoldAs<ReduceOp::kProduct, T>(sources, target, count);
    case ReduceOp::kMin:
      return FoldAs<ReduceOp::kMin, T>(sources, target, count);
    case ReduceOp::kMax:
      return FoldAs<ReduceOp::kMax, T>(sources, target, count);
  }
}

}  // namespace

void Combine(DType dtype, ReduceOp op, Sources sources, device::Span target) {
  const int64_t count = target.bytes / kernels::ItemBytes(dtype);
  SHOAL_CHECK(count <= kCombineElementsMax && !sources.empty() && IsDefined(op, dtype));
  kernels::cpu::ForDType(dtype, [&]<DType kDType>() {
    FoldBy<kernels::cpu::Stored<kDType>>(op, sources, target.data, count);
  });
}

}  // namespace shoal::collective
