#pragma once

#include <cstdint>

#include "kernels/math/bits.h"

// Made by scripts/math_coefficients.py: change that.
namespace shoal::kernels::math::poly {

// ln(2). Times an exponent the first part is exact.
template <class T>
inline constexpr T kLn2High = sizeof(T) == sizeof(float) ? T(0x1.62e4p-1F) : T(0x1.62e42fefa38p-1);
template <class T>
inline constexpr T kLn2Low = sizeof(T) == sizeof(float) ? T(0x1.7f7d1cp-20F)
                                                        : T(0x1.ef35793c7673p-45);

// ln(2) in full parts, for sums of two.
template <class T>
inline constexpr T kLn2 = sizeof(T) == sizeof(float) ? T(0x1.62e43p-1F) : T(0x1.62e42fefa39efp-1);
template <class T>
inline constexpr T kLn2Rest = sizeof(T) == sizeof(float) ? T(-0x1.05c61p-29F)
                                                         : T(0x1.abc9e3b39803fp-56);

// log2(e).
template <class T>
inline constexpr T kLog2E = sizeof(T) == sizeof(float) ? T(0x1.715476p+0F)
                                                       : T(0x1.71547652b82fep+0);
template <class T>
inline constexpr T kLog2ERest = sizeof(T) == sizeof(float) ? T(0x1.4ae0cp-26F)
                                                           : T(0x1.777d0ffda0d24p-56);

// log10(e).
template <class T>
inline constexpr T kLog10E = sizeof(T) == sizeof(float) ? T(0x1.bcb7b2p-2F)
                                                        : T(0x1.bcb7b1526e50ep-2);
template <class T>
inline constexpr T kLog10ERest = sizeof(T) == sizeof(float) ? T(-0x1.5b235ep-27F)
                                                            : T(0x1.95355baaafad3p-57);

// log10(2). Times an exponent the first part is exact.
template <class T>
inline constexpr T kLog10Of2High = sizeof(T) == sizeof(float) ? T(0x1.3442p-2F)
                                                              : T(0x1.34413509f78p-2);
template <class T>
inline constexpr T kLog10Of2Low = sizeof(T) == sizeof(float) ? T(-0x1.95ec1p-19F)
                                                             : T(0x1.fef311f12b358p-46);

// pi / 2.
template <class T>
inline constexpr T kHalfPi = sizeof(T) == sizeof(float) ? T(0x1.921fb6p+0F)
                                                        : T(0x1.921fb54442d18p+0);
template <class T>
inline constexpr T kHalfPiRest = sizeof(T) == sizeof(float) ? T(-0x1.777a5cp-25F)
                                                            : T(0x1.1a62633145c07p-54);
template <class T>
inline constexpr T kHalfPiRest2 = sizeof(T) == sizeof(float) ? T(-0x1.ee59dap-50F)
                                                             : T(-0x1.f1976b7ed8fbcp-110);

// 2 / pi.
template <class T>
inline constexpr T kTwoOverPi = sizeof(T) == sizeof(float) ? T(0x1.45f306p-1F)
                                                           : T(0x1.45f306dc9c883p-1);

// tan(pi / 8), from which on atan's arguments are turned by pi / 4.
template <class T>
inline constexpr T kTanEighthPi = sizeof(T) == sizeof(float) ? T(0x1.a8279ap-2F)
                                                             : T(0x1.a827999fcef32p-2);

// 2 / 3.
template <class T>
inline constexpr T kTwoThirds = sizeof(T) == sizeof(float) ? T(0x1.555556p-1F)
                                                           : T(0x1.5555555555555p-1);
template <class T>
inline constexpr T kTwoThirdsRest = sizeof(T) == sizeof(float) ? T(-0x1.555556p-26F)
                                                               : T(0x1.5555555555555p-55);

// 1 / 3.
template <class T>
inline constexpr T kThird = sizeof(T) == sizeof(float) ? T(0x1.555556p-2F)
                                                       : T(0x1.5555555555555p-2);

// Cube roots of 1/2 and 1/4.
template <class T>
inline constexpr T kCbrtHalf = sizeof(T) == sizeof(float) ? T(0x1.965feap-1F)
                                                          : T(0x1.965fea53d6e3dp-1);
template <class T>
inline constexpr T kCbrtQuarter = sizeof(T) == sizeof(float) ? T(0x1.428a3p-1F)
                                                             : T(0x1.428a2f98d728bp-1);

// erfc(2) exp(4) 5.
template <class T>
inline constexpr T kErfcScaledAt2 = sizeof(T) == sizeof(float) ? T(0x1.46e80ep+0F)
                                                               : T(0x1.46e80e2277953p+0);
template <class T>
inline constexpr T kErfcScaledAt2Rest = sizeof(T) == sizeof(float) ? T(0x1.13bcaap-27F)
                                                                   : T(0x1.9d66d1cf6a25p-54);

// exp(r) = 1 + r + r^2 / 2 + r^3 p(r) for |r| <= ln(2) / 2; error 2^-63.5.
SHOAL_MATH_INLINE double ExpTail(double z) {
  return Horner(z, 0x1.555555555555dp-3, 0x1.555555555556fp-5, 0x1.111111110e2dep-7,
                0x1.6c16c16c07cebp-10, 0x1.a01a01b715608p-13, 0x1.a01a01fd0a777p-16,
                0x1.71dde7630638cp-19, 0x1.27e40afe75fa9p-22, 0x1.af7abba11e88p-26,
                0x1.20d26b55d4f47p-29);
}

// exp(r) = 1 + r + r^2 / 2 + r^3 p(r) for |r| <= ln(2) / 2; error 2^-27.8.
SHOAL_MATH_INLINE float ExpTail(float z) {
  return Horner(z, 0x1.555466p-3F, 0x1.5552fep-5F, 0x1.125834p-7F, 0x1.6ff0c4p-10F);
}

// exp(r) = 1 + r + r^2 / 2 + r^3 p(r) for |r| <= ln(2) / 2; error 2^-39.2.
SHOAL_MATH_INLINE double ExpTailShort(double z) {
  return Horner(z, 0x1.55555588ea74p-3, 0x1.555555e5c9cd1p-5, 0x1.11108f89cc438p-7,
                0x1.6c14b97e77e3fp-10, 0x1.a1a22eee06276p-13, 0x1.a3cbf2e0fa5cbp-16);
}

// sinh(r) = r + r z p(z) with z = r^2, |r| <= ln(2) / 2; error 2^-61.7.
SHOAL_MATH_INLINE double SinhTail(double z) {
  return Horner(z, 0x1.5555555555559p-3, 0x1.111111110f69dp-7, 0x1.a01a01afeeb92p-13,
                0x1.71ddf8352086ap-19, 0x1.af5efea8a83dp-26);
}

// sinh(r) = r + r z p(z) with z = r^2, |r| <= ln(2) / 2; error 2^-37.5.
SHOAL_MATH_INLINE float SinhTail(float z) {
  return Horner(z, 0x1.555556p-3F, 0x1.1110b2p-7F, 0x1.a17026p-13F);
}

// cosh(r) = 1 + z / 2 + z^2 p(z) with z = r^2, |r| <= ln(2) / 2; error 2^-70.0.
SHOAL_MATH_INLINE double CoshTail(double z) {
  return Horner(z, 0x1.5555555555558p-5, 0x1.6c16c16c15018p-10, 0x1.a01a01ad76278p-16,
                0x1.27e4cc22d27a2p-22, 0x1.1f8bc3da957a5p-29);
}

// cosh(r) = 1 + z / 2 + z^2 p(z) with z = r^2, |r| <= ln(2) / 2; error 2^-33.2.
SHOAL_MATH_INLINE float CoshTail(float z) { return Horner(z, 0x1.5554e6p-5F, 0x1.6d4f7ap-10F); }

// log(m) = 2s + s z p(z) with s = (m - 1) / (m + 1), z = s^2, m in [sqrt(1/2), sqrt(2)]; error
// 2^-59.5.
SHOAL_MATH_INLINE double LogTail(double z) {
  return Horner(z, 0x1.5555555555592p-1, 0x1.999999997fea9p-2, 0x1.24924941e477ep-2,
                0x1.c71c5213203b9p-3, 0x1.74663d02f1e49p-3, 0x1.39a1e907a1232p-3,
                0x1.2f03a9f080102p-3);
}

// log(m) = 2s + s z p(z) with s = (m - 1) / (m + 1), z = s^2, m in [sqrt(1/2), sqrt(2)]; error
// 2^-44.9.
SHOAL_MATH_INLINE double LogTailShort(double z) {
  return Horner(z, 0x1.555555561d982p-1, 0x1.999996ab03c44p-2, 0x1.2494113d4d463p-2,
                0x1.c62b4c840ae6fp-3, 0x1.911284203ab3fp-3);
}

// log(m) = 2s + 2/3 s z + s z^2 p(z), all else as in LogTail; error 2^-73.6.
SHOAL_MATH_INLINE double LogTailLong(double z) {
  return Horner(z, 0x1.9999999999996p-2, 0x1.249249249302ep-2, 0x1.c71c71c58123dp-3,
                0x1.745d183200451p-3, 0x1.3b1362ca58226p-3, 0x1.1120b2cc69f4p-3,
                0x1.de33dbe13ba4bp-4, 0x1.eb0dde1e63964p-4);
}

// log(1 + f) = f - f^2 / 2 + f^3 p(f) for 1 + f in [sqrt(1/2), sqrt(2)]; error 2^-27.4.
SHOAL_MATH_INLINE float LogTail(float z) {
  return Horner(z, 0x1.555554p-2F, -0x1.000226p-2F, 0x1.99a00ap-3F, -0x1.54724ap-3F, 0x1.22d9f8p-3F,
                -0x1.0d84e2p-3F, 0x1.055c48p-3F, -0x1.38b9b2p-4F);
}

// sin(r) = r + r z p(z) with z = r^2, |r| <= pi / 4; error 2^-68.7.
SHOAL_MATH_INLINE double SinTail(double z) {
  return Horner(z, -0x1.5555555555555p-3, 0x1.111111111110bp-7, -0x1.a01a01a018a51p-13,
                0x1.71de3a532e3f9p-19, -0x1.ae64528a749afp-26, 0x1.61208a50da5dcp-33,
                -0x1.aaa14a19fe359p-41);
}

// sin(r) = r + r z p(z) with z = r^2, |r| <= pi / 4; error 2^-28.0.
SHOAL_MATH_INLINE float SinTail(float z) {
  return Horner(z, -0x1.555546p-3F, 0x1.110736p-7F, -0x1.99422p-13F);
}

// cos(r) = 1 - z / 2 + z^2 p(z) with z = r^2, |r| <= pi / 4; error 2^-64.0.
SHOAL_MATH_INLINE double CosTail(double z) {
  return Horner(z, 0x1.555555555554bp-5, -0x1.6c16c16c14f6cp-10, 0x1.a01a019c8098cp-16,
                -0x1.27e4f7e8040acp-22, 0x1.1ee9d5ca1b8p-29, -0x1.8fa39606d3e0ep-37);
}

// cos(r) = 1 - z / 2 + z^2 p(z) with z = r^2, |r| <= pi / 4; error 2^-33.0.
SHOAL_MATH_INLINE float CosTail(float z) {
  return Horner(z, 0x1.55554ap-5F, -0x1.6c0c2ep-10F, 0x1.99ea12p-16F);
}

// atan(t) = t + t z p(z) with z = t^2, |t| <= tan(pi / 8); error 2^-59.4.
SHOAL_MATH_INLINE double AtanTail(double z) {
  return Horner(z, -0x1.555555555553dp-2, 0x1.99999999957acp-3, -0x1.24924922a9764p-3,
                0x1.c71c70e4b7754p-4, -0x1.745cf8b96d69ep-4, 0x1.3b1116de2c6d1p-4,
                -0x1.10eba0774dc25p-4, 0x1.df0e04834ec58p-5, -0x1.9ccd46a481d64p-5,
                0x1.37c8615f7338cp-5, -0x1.254e72790c18fp-6);
}

// atan(t) = t + t z p(z) with z = t^2, |t| <= tan(pi / 8); error 2^-30.5.
SHOAL_MATH_INLINE float AtanTail(float z) {
  return Horner(z, -0x1.55554ap-2F, 0x1.999194p-3F, -0x1.23b504p-3F, 0x1.b1ea4ep-4F,
                -0x1.f1e392p-5F);
}

// asin(s) = s + s z p(z) with z = s^2, |s| <= 1/2; error 2^-59.9.
SHOAL_MATH_INLINE double AsinTail(double z) {
  return Horner(z, 0x1.5555555555577p-3, 0x1.333333332e106p-4, 0x1.6db6db7213ef6p-5,
                0x1.f1c71a947b43dp-6, 0x1.6e8bdeeb6e309p-6, 0x1.1c49efad5be77p-6,
                0x1.ca1f9c1de2b4cp-7, 0x1.75851c9b4e3fbp-7, 0x1.613ebe920f77ap-7,
                0x1.e5d6b77f972acp-9, 0x1.63a53813959f1p-6, -0x1.58092dcd38cd9p-6,
                0x1.0b4a33b05d77bp-5);
}

// asin(s) = s + s z p(z) with z = s^2, |s| <= 1/2; error 2^-27.6.
SHOAL_MATH_INLINE float AsinTail(float z) {
  return Horner(z, 0x1.5555c8p-3F, 0x1.3301e4p-4F, 0x1.747e42p-5F, 0x1.8c28a2p-6F, 0x1.596cc8p-5F);
}

// 1 / cbrt(m) for m in [1, 2], a first guess; error 2^-17.4.
SHOAL_MATH_INLINE double InverseCbrt(double z) {
  return Horner(z, 0x1.c7f3696f25c02p+0, -0x1.90e7503454be7p+0, 0x1.3e68cef596264p+0,
                -0x1.321c7da98c15ep-1, 0x1.3fa295c59a584p-3, -0x1.16d7224cb1371p-6);
}

// 1 / cbrt(m) for m in [1, 2], a first guess; error 2^-14.7.
SHOAL_MATH_INLINE float InverseCbrt(float z) {
  return Horner(z, 0x1.ab859p+0F, -0x1.2c41ep+0F, 0x1.64164ap-1F, -0x1.c51852p-3F, 0x1.d46f68p-6F);
}

// erf(x) = x + x p(z) with z = x^2, |x| <= 1/2; error 2^-65.3.
SHOAL_MATH_INLINE double ErfTail(double z) {
  return Horner(z, 0x1.06eba8214db69p-3, -0x1.812746b0379e6p-2, 0x1.ce2f21a042b25p-4,
                -0x1.b82ce3127f4e3p-6, 0x1.565bcd0a9a3a5p-8, -0x1.c02db238f1992p-11,
                0x1.f9a2a579fafd5p-14, -0x1.f4bb82aae150bp-17, 0x1.b7745a0a39fe6p-20,
                -0x1.39edbb8f4584bp-23);
}

// erf(x) = x + x p(z) with z = x^2, |x| <= 1/2; error 2^-29.5.
SHOAL_MATH_INLINE float ErfTail(float z) {
  return Horner(z, 0x1.06eba8p-3F, -0x1.812732p-2F, 0x1.ce24f8p-4F, -0x1.b663c4p-6F,
                0x1.3532bap-8F);
}

// erfc(x) exp(x^2) (1 + 2x) = kErfcScaledAt2 + t p(t) for t = (x - 2) / (x + 2), x >= 1/2; error
// 2^-59.7.
SHOAL_MATH_INLINE double ErfcScaled(double z) {
  return Horner(
      z, -0x1.7bf5ec1700635p-4, -0x1.5407bebf32445p-3, 0x1.4ffa1e14e28bep-3, -0x1.bc2b956198a4ap-5,
      -0x1.07423404c24d1p-7, 0x1.1dd2ec90bff0ap-7, 0x1.4d461d636b7d9p-10, -0x1.7de521213f548p-10,
      -0x1.dc693f0b3680dp-12, 0x1.b0c89f12c50cp-13, 0x1.3cc184eb4fe61p-13, -0x1.95b46b5371cb9p-20,
      -0x1.319f178c0718bp-15, -0x1.c4637cf556944p-17, 0x1.f63ed0cf31b95p-19, 0x1.5b807e3a5242cp-18,
      0x1.839beb388edd6p-20, -0x1.34b5088b255bdp-21, -0x1.a3d23a22320bep-21, -0x1.e3df499a0515fp-22,
      0x1.439a413f7e505p-23, 0x1.5627397122299p-22, -0x1.0239a32721fccp-25, -0x1.756f25f4dadd8p-24,
      0x1.8e331ef866cf6p-27, 0x1.8487397dca03p-28);
}

// erfc(x) exp(x^2) (1 + 2x) = kErfcScaledAt2 + t p(t) for t = (x - 2) / (x + 2), x >= 1/2; error
// 2^-27.9.
SHOAL_MATH_INLINE float ErfcScaled(float z) {
  return Horner(z, -0x1.7bf5dcp-4F, -0x1.5407bcp-3F, 0x1.4ff966p-3F, -0x1.bc2e54p-5F,
                -0x1.06e856p-7F, 0x1.1e4f6ap-7F, 0x1.41417ap-10F, -0x1.8c9e26p-10F, -0x1.5e399p-12F,
                0x1.1eeb4cp-12F);
}

// 64 zeros, then the bits of 2 / pi after the point.
SHOAL_MATH_INLINE uint32_t TwoOverPiWord(uint32_t index) {
  static constexpr uint32_t kWords[] = {
      0x00000000U, 0x00000000U, 0xa2f9836eU, 0x4e441529U, 0xfc2757d1U, 0xf534ddc0U, 0xdb629599U,
      0x3c439041U, 0xfe5163abU, 0xdebbc561U, 0xb7246e3aU, 0x424dd2e0U, 0x06492eeaU, 0x09d1921cU,
      0xfe1deb1cU, 0xb129a73eU, 0xe88235f5U, 0x2ebb4484U, 0xe99c7026U, 0xb45f7e41U, 0x3991d639U,
      0x835339f4U, 0x9c845f8bU, 0xbdf9283bU, 0x1ff897ffU, 0xde05980fU, 0xef2f118bU, 0x5a0a6d1fU,
      0x6d367ecfU, 0x27cb09b7U, 0x4f463f66U, 0x9e5fea2dU, 0x7527bac7U, 0xebe5f17bU, 0x3d0739f7U,
      0x8a5292eaU, 0x6bfb5fb1U, 0x1f8d5d08U, 0x56033046U, 0xfc7b6babU};
  return kWords[index];
}

}  // namespace shoal::kernels::math::poly
