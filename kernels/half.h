#pragma once

#include <bit>
#include <cstdint>

// Conversions of float16 (IEEE binary16) and bfloat16 (the upper half of a float32), as bit
// patterns. To float32 is exact; from it rounds to nearest, ties to even, subnormals included. A
// NaN keeps its sign and the upper bits of its payload and becomes quiet, as the F16C instructions
// do. Plain selects on integers, so that loops over them vectorise.
namespace shoal::kernels {

constexpr float Float16ToFloat(uint16_t half) {
  constexpr uint32_t kSmallestNormal = 113U << 23;  // 2^-14 as a float32.
  const uint32_t sign = (half & 0x8000U) << 16;
  const uint32_t shifted = (half & 0x7fffU) << 13;
  const uint32_t exponent = shifted & (0x1fU << 23);
  const uint32_t normal = shifted + ((127U - 15U) << 23);
  const uint32_t special =
      (shifted + ((255U - 31U) << 23)) | ((shifted & 0x7fffffU) != 0 ? 1U << 22 : 0U);
  // A subnormal is its fraction times 2^-24: add the implicit one, then take it away exactly.
  const float fraction =
      std::bit_cast<float>(shifted | kSmallestNormal) - std::bit_cast<float>(kSmallestNormal);
  const uint32_t finite = exponent == 0 ? std::bit_cast<uint32_t>(fraction) : normal;
  return std::bit_cast<float>(sign | (exponent == 0x1fU << 23 ? special : finite));
}

constexpr uint16_t FloatToFloat16(float value) {
  constexpr uint32_t kSmallestNormal = 113U << 23;  // 2^-14
  constexpr uint32_t kInfinity = 255U << 23;
  constexpr uint32_t kTooLarge = 143U << 23;  // 2^16; what rounds up to it overflows by itself.
  constexpr uint32_t kUnitOfSubnormals = 126U << 23;  // 0.5: its last bit is worth 2^-24.
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (bits & 0x80000000U) >> 16;
  const uint32_t magnitude = bits & 0x7fffffffU;
  const uint32_t odd = magnitude >> 13 & 1U;
  const uint32_t normal = (magnitude - ((127U - 15U) << 23) + 0xfffU + odd) >> 13;
  // The addition aligns the fraction at 2^-24 and rounds it as the hardware does: to nearest even.
  const uint32_t small = magnitude < kSmallestNormal ? magnitude : 0U;
  const float aligned = std::bit_cast<float>(small) + std::bit_cast<float>(kUnitOfSubnormals);
  const uint32_t subnormal = std::bit_cast<uint32_t>(aligned) - kUnitOfSubnormals;
  const uint32_t nan = 0x7e00U | (magnitude >> 13 & 0x3ffU);
  const uint32_t finite = magnitude < kSmallestNormal ? subnormal : normal;
  const uint32_t number = magnitude >= kTooLarge ? 0x7c00U : finite;
  return static_cast<uint16_t>(sign | (magnitude > kInfinity ? nan : number));
}

constexpr float Bfloat16ToFloat(uint16_t half) {
  const uint32_t bits = static_cast<uint32_t>(half) << 16;
  const bool nan = (bits & 0x7fffffffU) > 255U << 23;
  return std::bit_cast<float>(nan ? bits | 1U << 22 : bits);
}

constexpr uint16_t FloatToBfloat16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t rounded = (bits + 0x7fffU + (bits >> 16 & 1U)) >> 16;
  const uint32_t nan = bits >> 16 | 0x40U;
  return static_cast<uint16_t>((bits & 0x7fffffffU) > 255U << 23 ? nan : rounded);
}

/// The float32 nearest to `value` towards zero, its last bit set if inexact ("round to odd"):
/// rounding that to float16 or bfloat16 gives what rounding `value` itself would have given.
constexpr float RoundToOdd(double value) {
  const auto nearest = static_cast<float>(value);
  const uint32_t bits = std::bit_cast<uint32_t>(nearest);
  if (static_cast<double>(nearest) == value || value != value) return nearest;
  const double magnitude = value < 0 ? -value : value;
  const double rounded = static_cast<double>(nearest < 0 ? -nearest : nearest);
  return std::bit_cast<float>((rounded > magnitude ? bits - 1U : bits) | 1U);
}

constexpr uint16_t DoubleToFloat16(double value) { return FloatToFloat16(RoundToOdd(value)); }
constexpr uint16_t DoubleToBfloat16(double value) { return FloatToBfloat16(RoundToOdd(value)); }

}  // namespace shoal::kernels
