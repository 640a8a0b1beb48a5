#include "server/collective/local/combine.h"

#include <array>
#include <complex>
#include <cstring>
#include <type_traits>

#include "base/check.h"
#include "kernels/half.h"

namespace shoal::collective {
namespace {

using kernels::DType;
using Sources = absl::Span<const std::byte* const>;

struct Float16 {
  uint16_t bits;
};
struct Bfloat16 {
  uint16_t bits;
};
struct Bool {
  uint8_t value;
};

float Widen(Float16 value) { return kernels::Float16ToFloat(value.bits); }
float Widen(Bfloat16 value) { return kernels::Bfloat16ToFloat(value.bits); }
void Narrow(float value, Float16& out) { out.bits = kernels::FloatToFloat16(value); }
void Narrow(float value, Bfloat16& out) { out.bits = kernels::FloatToBfloat16(value); }

// One element of each operation, on the type it is computed in.
template <typename T>
T Apply(ReduceOp op, T a, T b) {
  if constexpr (std::is_same_v<T, Bool>) {
    const bool is_or = op == ReduceOp::kSum || op == ReduceOp::kMax;
    const bool x = a.value != 0;
    const bool y = b.value != 0;
    return {static_cast<uint8_t>(is_or ? x | y : x & y)};
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
    // Written out: std::complex's own product takes detours for infinities.
    if (op == ReduceOp::kSum) return {a.real() + b.real(), a.imag() + b.imag()};
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
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
  if constexpr (std::is_same_v<T, Float16> || std::is_same_v<T, Bfloat16>) {
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
  switch (dtype) {
    case DType::kBool:
      return FoldBy<Bool>(op, sources, target.data, count);
    case DType::kInt8:
      return FoldBy<int8_t>(op, sources, target.data, count);
    case DType::kInt16:
      return FoldBy<int16_t>(op, sources, target.data, count);
    case DType::kInt32:
      return FoldBy<int32_t>(op, sources, target.data, count);
    case DType::kInt64:
      return FoldBy<int64_t>(op, sources, target.data, count);
    case DType::kUint8:
      return FoldBy<uint8_t>(op, sources, target.data, count);
    case DType::kUint16:
      return FoldBy<uint16_t>(op, sources, target.data, count);
    case DType::kUint32:
      return FoldBy<uint32_t>(op, sources, target.data, count);
    case DType::kUint64:
      return FoldBy<uint64_t>(op, sources, target.data, count);
    case DType::kFloat16:
      return FoldBy<Float16>(op, sources, target.data, count);
    case DType::kBfloat16:
      return FoldBy<Bfloat16>(op, sources, target.data, count);
    case DType::kFloat32:
      return FoldBy<float>(op, sources, target.data, count);
    case DType::kFloat64:
      return FoldBy<double>(op, sources, target.data, count);
    case DType::kComplex64:
      return FoldBy<std::complex<float>>(op, sources, target.data, count);
    case DType::kComplex128:
      return FoldBy<std::complex<double>>(op, sources, target.data, count);
  }
}

}  // namespace shoal::collective
