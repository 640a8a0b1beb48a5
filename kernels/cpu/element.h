#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "kernels/cpu/op_code.h"
#include "kernels/dtype.h"
#include "kernels/half.h"

// The C++ types that kernels compute in, and what they have in common. Everything here is inlined
// into loops that are compiled once per instruction set, hence the attribute.
#define SHOAL_INLINE [[gnu::always_inline]] inline

namespace shoal::kernels::cpu {

/// A bool as it lies in memory. Any byte but 0 counts as true: C++'s own bool would make the bytes
/// of a careless peer undefined behaviour.
enum class Bool8 : uint8_t { kFalse = 0, kTrue = 1 };

SHOAL_INLINE constexpr bool IsTrue(Bool8 x) { return static_cast<uint8_t>(x) != 0; }
SHOAL_INLINE constexpr Bool8 ToBool8(bool x) { return x ? Bool8::kTrue : Bool8::kFalse; }

/// As it lies in memory; std::complex multiplies through a library call that is not inlined.
template <std::floating_point T>
struct Complex {
  T re;
  T im;
};

template <class T>
inline constexpr bool kIsComplex = false;
template <class T>
inline constexpr bool kIsComplex<Complex<T>> = true;

template <DType kDType>
struct ElementOf;
template <>
struct ElementOf<DType::kBool> : std::type_identity<Bool8> {};
template <>
struct ElementOf<DType::kInt8> : std::type_identity<int8_t> {};
template <>
struct ElementOf<DType::kInt16> : std::type_identity<int16_t> {};
template <>
struct ElementOf<DType::kInt32> : std::type_identity<int32_t> {};
template <>
struct ElementOf<DType::kInt64> : std::type_identity<int64_t> {};
template <>
struct ElementOf<DType::kUint8> : std::type_identity<uint8_t> {};
template <>
struct ElementOf<DType::kUint16> : std::type_identity<uint16_t> {};
template <>
struct ElementOf<DType::kUint32> : std::type_identity<uint32_t> {};
template <>
struct ElementOf<DType::kUint64> : std::type_identity<uint64_t> {};
template <>
struct ElementOf<DType::kFloat16> : std::type_identity<float> {};
template <>
struct ElementOf<DType::kBfloat16> : std::type_identity<float> {};
template <>
struct ElementOf<DType::kFloat32> : std::type_identity<float> {};
template <>
struct ElementOf<DType::kFloat64> : std::type_identity<double> {};
template <>
struct ElementOf<DType::kComplex64> : std::type_identity<Complex<float>> {};
template <>
struct ElementOf<DType::kComplex128> : std::type_identity<Complex<double>> {};

/// The type that elements of the dtype are computed in: float for the halves.
template <DType kDType>
using Element = typename ElementOf<kDType>::type;

/// A half as it lies in memory.
struct Float16 {
  uint16_t bits;
};
struct Bfloat16 {
  uint16_t bits;
};

constexpr float Widen(Float16 value) { return Float16ToFloat(value.bits); }
constexpr float Widen(Bfloat16 value) { return Bfloat16ToFloat(value.bits); }
constexpr void Narrow(float value, Float16& half) { half.bits = FloatToFloat16(value); }
constexpr void Narrow(float value, Bfloat16& half) { half.bits = FloatToBfloat16(value); }

template <DType kDType>
struct StoredOf : ElementOf<kDType> {};
template <>
struct StoredOf<DType::kFloat16> : std::type_identity<Float16> {};
template <>
struct StoredOf<DType::kBfloat16> : std::type_identity<Bfloat16> {};

/// The type of elements as they lie in memory. Where it is not `Element`, Widen and Narrow lead
/// there and back.
template <DType kDType>
using Stored = typename StoredOf<kDType>::type;

static_assert(
    []<size_t... i>(std::index_sequence<i...>) {
      return ((sizeof(Stored<kAllDTypes[i]>) == static_cast<size_t>(ItemBytes(kAllDTypes[i]))) &&
              ...);
    }(std::make_index_sequence<kAllDTypes.size()>()),
    "a dtype's elements are not of its size");
static_assert(
    []<size_t... i>(std::index_sequence<i...>) {
      return ((IsHalf(kAllDTypes[i]) ||
               std::is_same_v<Stored<kAllDTypes[i]>, Element<kAllDTypes[i]>>)&&...);
    }(std::make_index_sequence<kAllDTypes.size()>()),
    "only halves are computed in another type");

template <class T>
struct SignlessOf : std::type_identity<T> {};
template <std::signed_integral T>
struct SignlessOf<T> : std::make_unsigned<T> {};

/// The unsigned type for integers: arithmetic that wraps has the same bits for both signs, is
/// defined, and is compiled once.
template <class T>
using Signless = typename SignlessOf<T>::type;

/// The one NaN that results hold. Which NaN an addition passes on otherwise depends on the order
/// of its operands, which compilers choose.
template <class T>
SHOAL_INLINE constexpr T Canonical(T x) {
  if constexpr (std::floating_point<T>) {
    return x == x ? x : std::numeric_limits<T>::quiet_NaN();
  } else if constexpr (kIsComplex<T>) {
    return {Canonical(x.re), Canonical(x.im)};
  } else {
    return x;
  }
}

// Sum and product of elements: C++ promotes small integers to int, in which uint16_t * uint16_t
// can overflow, so integers are computed in at least 32 unsigned bits.
template <std::unsigned_integral T>
using Wide = std::conditional_t<(sizeof(T) < 4), uint32_t, T>;

template <std::unsigned_integral T>
SHOAL_INLINE constexpr T Plus(T x, T y) {
  return static_cast<T>(Wide<T>{x} + Wide<T>{y});
}
template <std::floating_point T>
SHOAL_INLINE constexpr T Plus(T x, T y) {
  return x + y;
}
SHOAL_INLINE constexpr Bool8 Plus(Bool8 x, Bool8 y) {
  return ToBool8((static_cast<uint8_t>(x) | static_cast<uint8_t>(y)) != 0);
}
template <class T>
SHOAL_INLINE constexpr Complex<T> Plus(Complex<T> x, Complex<T> y) {
  return {x.re + y.re, x.im + y.im};
}

template <std::unsigned_integral T>
SHOAL_INLINE constexpr T Times(T x, T y) {
  return static_cast<T>(Wide<T>{x} * Wide<T>{y});
}
template <std::floating_point T>
SHOAL_INLINE constexpr T Times(T x, T y) {
  return x * y;
}
SHOAL_INLINE constexpr Bool8 Times(Bool8 x, Bool8 y) {
  return ToBool8((static_cast<uint8_t>(x) != 0) & (static_cast<uint8_t>(y) != 0));
}
template <class T>
using BitsOf = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;

template <std::unsigned_integral T>
SHOAL_INLINE constexpr T Negated(T x) {
  return static_cast<T>(Wide<T>{0} - Wide<T>{x});
}
template <std::floating_point T>
SHOAL_INLINE constexpr T Negated(T x) {
  return -x;
}
template <class T>
SHOAL_INLINE constexpr Complex<T> Negated(Complex<T> x) {
  return {-x.re, -x.im};
}

template <std::unsigned_integral T>
SHOAL_INLINE constexpr T Minus(T x, T y) {
  return static_cast<T>(Wide<T>{x} - Wide<T>{y});
}
template <std::floating_point T>
SHOAL_INLINE constexpr T Minus(T x, T y) {
  return x - y;
}
template <class T>
SHOAL_INLINE constexpr Complex<T> Minus(Complex<T> x, Complex<T> y) {
  return {x.re - y.re, x.im - y.im};
}

// x - y as x + (-y), the sign flipped as an integer. g++ 12 fuses a product, its neighbour's
// product and the alternating - and + of a complex product into one instruction (fmaddsub) although
// contraction is off; it does not see through this.
template <std::floating_point T>
SHOAL_INLINE constexpr T MinusUnfused(T x, T y) {
  using Bits = BitsOf<T>;
  constexpr Bits kSign = Bits{1} << (8 * sizeof(T) - 1);
  return x + std::bit_cast<T>(std::bit_cast<Bits>(y) ^ kSign);
}
template <class T>
SHOAL_INLINE constexpr Complex<T> Times(Complex<T> x, Complex<T> y) {
  return {MinusUnfused(x.re * y.re, x.im * y.im), x.re * y.im + x.im * y.re};
}

/// A parameter as an element (complex: its real part).
template <class T>
SHOAL_INLINE constexpr T ParamAs(const Param& param) {
  if constexpr (std::integral<T>) {
    return static_cast<T>(param.integer);
  } else {
    return static_cast<T>(param.real);
  }
}

}  // namespace shoal::kernels::cpu
