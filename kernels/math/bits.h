#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

// What the elementary functions are made of: operations that every target rounds the same way
// (IEEE 754's + - * / sqrt and fma, to nearest), integers, and selects. Nothing branches, so a loop
// over any function here becomes vector code, and nothing depends on how wide the vectors are.
//
// Of NaNs it matters only that they are NaNs: which bits one has is the caller's to settle.
#ifdef __CUDACC__
#define SHOAL_MATH_INLINE __host__ __device__ __forceinline__
#else
#define SHOAL_MATH_INLINE [[gnu::always_inline]] inline
#endif

namespace shoal::kernels::math {

template <std::floating_point T>
struct FormatOf;
template <>
struct FormatOf<float> {
  using Bits = uint32_t;
  static constexpr int kFractionBits = 23;
  static constexpr Bits kBias = 127;
};
template <>
struct FormatOf<double> {
  using Bits = uint64_t;
  static constexpr int kFractionBits = 52;
  static constexpr Bits kBias = 1023;
};

/// The unsigned integer of T's size. Signed quantities are kept in it as two's complement: shifts
/// to the right of signed 64-bit numbers are what AVX2 lacks.
template <class T>
using Bits = typename FormatOf<T>::Bits;

template <class T>
inline constexpr Bits<T> kSignBit = Bits<T>{1} << (8 * sizeof(T) - 1);
template <class T>
inline constexpr T kInfinity = std::numeric_limits<T>::infinity();
template <class T>
inline constexpr T kNaN = std::numeric_limits<T>::quiet_NaN();

template <class T>
SHOAL_MATH_INLINE Bits<T> BitsOf(T x) {
  return std::bit_cast<Bits<T>>(x);
}
template <class T>
SHOAL_MATH_INLINE T FromBits(Bits<T> bits) {
  return std::bit_cast<T>(bits);
}

/// a * b + c, rounded once.
SHOAL_MATH_INLINE float Fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
SHOAL_MATH_INLINE double Fma(double a, double b, double c) { return __builtin_fma(a, b, c); }

SHOAL_MATH_INLINE float SquareRoot(float x) { return __builtin_sqrtf(x); }
SHOAL_MATH_INLINE double SquareRoot(double x) { return __builtin_sqrt(x); }

/// |x|; of a NaN, a NaN.
template <class T>
SHOAL_MATH_INLINE T Abs(T x) {
  return FromBits<T>(BitsOf(x) & ~kSignBit<T>);
}

/// x with its sign changed if that of `sign` is set.
template <class T>
SHOAL_MATH_INLINE T FlipSign(T x, T sign) {
  return FromBits<T>(BitsOf(x) ^ (BitsOf(sign) & kSignBit<T>));
}

/// a + b x + c x^2 + ..., innermost term first, each step rounded once.
template <class T>
SHOAL_MATH_INLINE T Horner(T /*x*/, T a) {
  return a;
}
template <class T, class... Rest>
SHOAL_MATH_INLINE T Horner(T x, T a, Rest... rest) {
  return Fma(Horner(x, rest...), x, a);
}

/// Adding it rounds a number of magnitude at most 2^(fraction bits - 1) to an integer, ties to
/// even, and leaves that integer in the low bits of the sum.
template <class T>
inline constexpr T kRounder = static_cast<T>(Bits<T>{3} << (FormatOf<T>::kFractionBits - 1));

/// An integer as a number and as two's complement.
template <class T>
struct Integer {
  T value;
  Bits<T> bits;
};

/// The integer nearest to x * factor, as long as it has two bits less than T's fraction.
template <class T>
SHOAL_MATH_INLINE Integer<T> NearestInteger(T x, T factor) {
  const T sum = Fma(x, factor, kRounder<T>);
  return {sum - kRounder<T>, BitsOf(sum) - BitsOf(kRounder<T>)};
}

/// The number of a small unsigned integer: of at most T's fraction bits.
template <class T>
SHOAL_MATH_INLINE T FromInteger(Bits<T> n) {
  constexpr T kUnit = static_cast<T>(Bits<T>{1} << FormatOf<T>::kFractionBits);
  return FromBits<T>(BitsOf(kUnit) | n) - kUnit;
}

/// 2^n for an n whose power is a normal number.
template <class T>
SHOAL_MATH_INLINE T PowerOfTwo(Bits<T> n) {
  return FromBits<T>((n + FormatOf<T>::kBias) << FormatOf<T>::kFractionBits);
}

/// x * 2^n, rounded once but for subnormal results (twice), for |n| up to nearly twice the
/// exponents there are. Two factors, because 2^n alone would overflow where the product is large or
/// subnormal.
template <class T>
SHOAL_MATH_INLINE T Scale(T x, Bits<T> n) {
  constexpr int kFractionBits = FormatOf<T>::kFractionBits;
  // Both exponent fields: of half of n, rounded down, and of the rest. What is wrong above them
  // (the shift knows no sign) is shifted out.
  const Bits<T> biased = n + 2 * FormatOf<T>::kBias;
  const Bits<T> half = biased >> 1;
  return x * FromBits<T>(half << kFractionBits) * FromBits<T>((biased - half) << kFractionBits);
}

/// A number as the unevaluated sum of two, the second at most about an ulp of the first.
template <class T>
struct Two {
  T high;
  T low;
};

/// a + b exactly, for |a| >= |b| or a = 0.
template <class T>
SHOAL_MATH_INLINE Two<T> FastTwoSum(T a, T b) {
  const T sum = a + b;
  return {sum, b - (sum - a)};
}

/// a + b exactly.
template <class T>
SHOAL_MATH_INLINE Two<T> TwoSum(T a, T b) {
  const T sum = a + b;
  const T of_b = sum - a;
  return {sum, (a - (sum - of_b)) + (b - of_b)};
}

/// a * b exactly, unless it underflows.
template <class T>
SHOAL_MATH_INLINE Two<T> TwoProduct(T a, T b) {
  const T product = a * b;
  return {product, Fma(a, b, -product)};
}

/// a * b to about twice T's precision. "Loose": the second half may be several ulps of the first,
/// which saves an addition in three where a further product or a sum follows.
template <class T>
SHOAL_MATH_INLINE Two<T> LooseProduct(Two<T> a, Two<T> b) {
  const Two<T> product = TwoProduct(a.high, b.high);
  return {product.high, Fma(a.high, b.low, Fma(a.low, b.high, product.low))};
}

/// a / b to about twice T's precision, as loose.
template <class T>
SHOAL_MATH_INLINE Two<T> Quotient(Two<T> a, Two<T> b) {
  const T inverse = T{1} / b.high;
  const T quotient = a.high * inverse;
  const T rest = Fma(-quotient, b.high, a.high) + Fma(-quotient, b.low, a.low);
  return {quotient, rest * inverse};
}

/// The square root of a, which is positive, to about twice T's precision.
template <class T>
SHOAL_MATH_INLINE Two<T> SquareRoot(Two<T> a) {
  const T root = SquareRoot(a.high);
  return {root, (Fma(-root, root, a.high) + a.low) / (root + root)};
}

template <class T>
SHOAL_MATH_INLINE T Sum(Two<T> x) {
  return x.high + x.low;
}

}  // namespace shoal::kernels::math
