#include "server/collective/local/combine.h"

#include <array>
#include <bit>
#include <complex>
#include <cstring>
#include <type_traits>

#include "base/check.h"

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

float Widen(Bfloat16 value) { return std::bit_cast<float>(uint32_t{value.bits} << 16); }

float Widen(Float16 value) {
  const uint32_t sign = (value.bits & 0x8000U) << 16;
  const uint32_t rest = value.bits & 0x7FFFU;
  if (rest >= 0x7C00U) return std::bit_cast<float>(sign | 0x7F800000U | (rest & 0x3FFU) << 13);
  // Shifted into place the exponent is short of float's bias by 112; a multiplication corrects
  // it exactly, and makes subnormals normal.
  constexpr float kBias = 0x1p112F;
  return std::bit_cast<float>(std::bit_cast<uint32_t>(std::bit_cast<float>(rest << 13) * kBias) |
                              sign);
}

void Narrow(float value, Bfloat16& out) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7FFFFFFFU) > 0x7F800000U) {
    out.bits = 0x7FC0;
    return;
  }
  out.bits = static_cast<uint16_t>((bits + 0x7FFFU + (bits >> 16 & 1U)) >> 16);
}

void Narrow(float value, Float16& out) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const auto sign = static_cast<uint16_t>(bits >> 16 & 0x8000U);
  const uint32_t magnitude = bits & 0x7FFFFFFFU;
  if (magnitude > 0x7F800000U) {
    out.bits = 0x7E00;
  } else if (magnitude >= 0x477FF000U) {  // 65520 and more round to infinity.
    out.bits = sign | 0x7C00;
  } else if (magnitude < 0x38800000U) {
    // Below the smallest normal number: adding 0.5 makes float's own rounding cut the bits off.
    const float shifted = std::bit_cast<float>(magnitude) + 0.5F;
    out.bits = static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3F000000U));
  } else {
    const uint32_t rounded = magnitude + 0xFFFU + (magnitude >> 13 & 1U);
    out.bits = static_cast<uint16_t>(sign | ((rounded - 0x38000000U) >> 13));
  }
}

// One element of each operation, on the type it is computed in.
template <typename T>
T Apply(ReduceOp op, T a, T b) {
  if constexpr (std::is_same_v<T, Bool>) {
    const bool is_or = op == ReduceOp::kSum || op == ReduceOp::kMax;
    return {static_cast<uint8_t>(is_or ? a.value | b.value : a.value & b.value)};
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

void Combine(DType dtype, ReduceOp op, Sources sources, std::byte* target, int64_t count) {
  SHOAL_CHECK(count <= kCombineElementsMax && !sources.empty() && IsDefined(op, dtype));
  switch (dtype) {
    case DType::kBool:
      return FoldBy<Bool>(op, sources, target, count);
    case DType::kInt8:
      return FoldBy<int8_t>(op, sources, target, count);
    case DType::kInt16:
      return FoldBy<int16_t>(op, sources, target, count);
    case DType::kInt32:
      return FoldBy<int32_t>(op, sources, target, count);
    case DType::kInt64:
      return FoldBy<int64_t>(op, sources, target, count);
    case DType::kUint8:
      return FoldBy<uint8_t>(op, sources, target, count);
    case DType::kUint16:
      return FoldBy<uint16_t>(op, sources, target, count);
    case DType::kUint32:
      return FoldBy<uint32_t>(op, sources, target, count);
    case DType::kUint64:
      return FoldBy<uint64_t>(op, sources, target, count);
    case DType::kFloat16:
      return FoldBy<Float16>(op, sources, target, count);
    case DType::kBfloat16:
      return FoldBy<Bfloat16>(op, sources, target, count);
    case DType::kFloat32:
      return FoldBy<float>(op, sources, target, count);
    case DType::kFloat64:
      return FoldBy<double>(op, sources, target, count);
    case DType::kComplex64:
      return FoldBy<std::complex<float>>(op, sources, target, count);
    case DType::kComplex128:
      return FoldBy<std::complex<double>>(op, sources, target, count);
  }
}

}  // namespace shoal::collective
