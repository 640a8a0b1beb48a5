#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "hwy/targets.h"
#include "kernels/dtype.h"
#include "kernels/half.h"

// What the kernel tests share: arrays as bytes with awkward values in them, and single elements
// read and written by dtype, one at a time and without vectors, for the naive references.
namespace shoal::kernels::cpu {

using Bytes = std::vector<std::byte>;

inline constexpr int64_t kAwkwardSizes[] = {0,  1,  2,   3,    8,    31,   32,    33,
                                            63, 64, 500, 4095, 4096, 4097, 10'000};

inline bool IsFloat(DType d) { return d >= DType::kFloat16 && d <= DType::kFloat64; }
inline bool IsSigned(DType d) { return d >= DType::kInt8 && d <= DType::kInt64; }

template <class T>
T Load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

template <class T>
void Store(std::byte* at, T value) {
  std::memcpy(at, &value, sizeof(T));
}

/// The integer or bool at `at`, extended to 64 bits by its sign.
inline uint64_t LoadInteger(DType dtype, const std::byte* at) {
  uint64_t value = 0;
  const auto bytes = static_cast<size_t>(ItemBytes(dtype));
  std::memcpy(&value, at, bytes);
  if (dtype == DType::kBool) return value != 0;
  if (!IsSigned(dtype) || bytes == 8) return value;
  const uint64_t sign = uint64_t{1} << (8 * bytes - 1);
  return (value ^ sign) - sign;
}

inline void StoreInteger(DType dtype, std::byte* at, uint64_t value) {
  if (dtype == DType::kBool) value = value != 0;
  std::memcpy(at, &value, static_cast<size_t>(ItemBytes(dtype)));
}

/// The real float at `at`; exact.
inline double LoadFloat(DType dtype, const std::byte* at) {
  if (dtype == DType::kFloat16) return double{Float16ToFloat(Load<uint16_t>(at))};
  if (dtype == DType::kBfloat16) return double{Bfloat16ToFloat(Load<uint16_t>(at))};
  if (dtype == DType::kFloat32) return double{Load<float>(at)};
  return Load<double>(at);
}

/// Rounds to nearest; every NaN becomes the canonical one.
inline void StoreFloat(DType dtype, std::byte* at, double value) {
  if (std::isnan(value)) value = std::numeric_limits<double>::quiet_NaN();
  if (dtype == DType::kFloat16) Store(at, DoubleToFloat16(value));
  if (dtype == DType::kBfloat16) Store(at, DoubleToBfloat16(value));
  if (dtype == DType::kFloat32) Store(at, static_cast<float>(value));
  if (dtype == DType::kFloat64) Store(at, value);
}

using Patterns = std::array<uint64_t, 11>;

/// The bit patterns of every kind of special float, signalling NaNs and NaNs with payloads too.
constexpr Patterns SpecialPatterns(DType dtype) {
  if (dtype == DType::kFloat16) {
    return {0, 0x8000, 1, 0x83ff, 0x7bff, 0x7c00, 0xfc00, 0x7e00, 0xfe01, 0x7c01, 0x3c00};
  }
  if (dtype == DType::kBfloat16) {
    return {0, 0x8000, 1, 0x807f, 0x7f7f, 0x7f80, 0xff80, 0x7fc0, 0xffc1, 0x7f81, 0x3f80};
  }
  if (dtype == DType::kFloat32) {
    return {0,          0x80000000, 1,          0x807fffff, 0x7f7fffff, 0x7f800000,
            0xff800000, 0x7fc00000, 0xffc12345, 0x7f800001, 0x3f800000};
  }
  return {0,
          0x8000000000000000,
          1,
          0x800fffffffffffff,
          0x7fefffffffffffff,
          0x7ff0000000000000,
          0xfff0000000000000,
          0x7ff8000000000000,
          0xfff8000000012345,
          0x7ff0000000000001,
          0x3ff0000000000000};
}

enum class Fill : uint8_t {
  kFinite,   ///< Floats of moderate size, integers and bools of every value.
  kAwkward,  ///< Also special floats and the limits of integers, every few elements.
};

/// Writes a random real number (one half of a complex one).
inline void StoreRandom(DType dtype, std::byte* at, Fill fill, std::mt19937_64& random) {
  if (!IsFloat(dtype)) {
    // Small values now and then, so that sorts see equal elements and products do not all wrap.
    const uint64_t value = random();
    if (fill == Fill::kAwkward && value % 5 == 0) {
      const uint64_t top = uint64_t{1} << (8 * ItemBytes(dtype) - 1);
      const std::array<uint64_t, 5> limits = {0, top, top - 1, ~uint64_t{0}, ~uint64_t{0} - 1};
      StoreInteger(dtype, at, limits[(value >> 32) % limits.size()]);
      return;
    }
    StoreInteger(dtype, at, value % 4 == 0 ? value >> 32 & 3 : value >> 8);
    return;
  }
  if (fill == Fill::kAwkward && random() % 5 == 0) {
    const Patterns patterns = SpecialPatterns(dtype);
    const uint64_t pattern = patterns[random() % patterns.size()];
    std::memcpy(at, &pattern, static_cast<size_t>(ItemBytes(dtype)));
    return;
  }
  const auto steps = static_cast<double>(static_cast<int64_t>(random()));
  StoreFloat(dtype, at, std::ldexp(steps, -61) + 0.25);  // Between -3.75 and 4.25.
}

inline DType PartOf(DType dtype) {
  if (dtype == DType::kComplex64) return DType::kFloat32;
  return dtype == DType::kComplex128 ? DType::kFloat64 : dtype;
}

inline Bytes RandomArray(DType dtype, int64_t count, Fill fill, uint64_t seed) {
  std::mt19937_64 random(seed);
  const DType part = PartOf(dtype);
  Bytes array(static_cast<size_t>(count * ItemBytes(dtype)));
  for (size_t at = 0; at < array.size(); at += static_cast<size_t>(ItemBytes(part))) {
    StoreRandom(part, array.data() + at, fill, random);
  }
  return array;
}

/// A copy that starts `offset` elements behind a cache line, with a guard of 0xee bytes around it.
class Placed {
 public:
  Placed(const Bytes& bytes, DType dtype, int64_t offset)
      : size_(bytes.size()),
        start_(64 + static_cast<size_t>(offset * ItemBytes(PartOf(dtype)))),
        memory_(start_ + size_ + 128, std::byte{0xee}) {
    start_ += (64 - reinterpret_cast<uintptr_t>(memory_.data()) % 64) % 64;
    std::copy(bytes.begin(), bytes.end(), data());
  }
  Placed(const Placed&) = delete;
  Placed& operator=(const Placed&) = delete;

  std::byte* data() { return memory_.data() + start_; }
  Bytes Read() { return Bytes(data(), data() + size_); }
  bool GuardsHold() const {
    const auto begin = memory_.begin();
    const auto guard = [](std::byte b) { return b == std::byte{0xee}; };
    const auto inside = static_cast<std::ptrdiff_t>(start_);
    return std::all_of(begin, begin + inside, guard) &&
           std::all_of(begin + inside + static_cast<std::ptrdiff_t>(size_), memory_.end(), guard);
  }

 private:
  size_t size_;
  size_t start_;
  Bytes memory_;
};

/// Runs `body(name)` once with each instruction set that the kernels are built for and this machine
/// has, forced in turn.
template <class Body>
void ForEachInstructionSet(Body body) {
  const int64_t supported = hwy::SupportedTargets();
  for (const int64_t target : {int64_t{HWY_EMU128}, int64_t{HWY_AVX2}, int64_t{HWY_AVX3}}) {
    if (target != HWY_EMU128 && (supported & target) == 0) continue;
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().DeInit();
    body(std::string(hwy::TargetName(target)));
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().DeInit();
}

}  // namespace shoal::kernels::cpu
