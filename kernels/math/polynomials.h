#pragma once

#include <cstdint>

#include "kernels/math/bits.h"

// Made by scripts/math_coefficients.py: change that.
namespace shoal::kernels::math::poly {

// ln(2). Times an exponent the first part is exact: 11 (8) bits of it are 0.
inline constexpr double kLn2High = 0x1.62e42fefa38p-1;
inline constexpr double kLn2Low = 0x1.ef35793c7673p-45;

inline constexpr float kLn2HighF = 0x1.62e4p-1F;
inline constexpr float kLn2LowF = 0x1.7f7d1cp-20F;

// ln(2) in full parts, for sums of two.
inline constexpr double kLn2 = 0x1.62e42fefa39efp-1;
inline constexpr double kLn2Rest = 0x1.abc9e3b39803fp-56;

inline constexpr float kLn2F = 0x1.62e43p-1F;
inline constexpr float kLn2RestF = -0x1.05c61p-29F;

// log2(e).
inline constexpr double kLog2E = 0x1.71547652b82fep+0;
inline constexpr double kLog2ERest = 0x1.777d0ffda0d24p-56;

inline constexpr float kLog2EF = 0x1.715476p+0F;
inline constexpr float kLog2ERestF = 0x1.4ae0cp-26F;

// log10(e).
inline constexpr double kLog10E = 0x1.bcb7b1526e50ep-2;
inline constexpr double kLog10ERest = 0x1.95355baaafad3p-57;

// log10(2); times an exponent the first part is exact.
inline constexpr double kLog10Of2High = 0x1.34413509f78p-2;
inline constexpr double kLog10Of2Low = 0x1.fef311f12b358p-46;

// pi / 2, and 2 / pi.
inline constexpr double kHalfPi = 0x1.921fb54442d18p+0;
inline constexpr double kHalfPiRest = 0x1.1a62633145c07p-54;
inline constexpr double kHalfPiRest2 = -0x1.f1976b7ed8fbcp-110;

inline constexpr double kTwoOverPi = 0x1.45f306dc9c883p-1;

// 2 / 3.
inline constexpr double kTwoThirds = 0x1.5555555555555p-1;
inline constexpr double kTwoThirdsRest = 0x1.5555555555555p-55;

// tan(pi / 8), where atan's arguments are turned by pi / 4.
inline constexpr double kTanEighthPi = 0x1.a827999fcef32p-2;

// Cube roots of 1/2 and 1/4.
inline constexpr double kCbrtHalf = 0x1.965fea53d6e3dp-1;
inline constexpr double kCbrtQuarter = 0x1.428a2f98d728bp-1;

// erfc(2) exp(4) 5.
inline constexpr double kErfcScaledAt2 = 0x1.46e80e2277953p+0;
inline constexpr double kErfcScaledAt2Rest = 0x1.9d66d1cf6a25p-54;

// 1 / 3.
inline constexpr double kThird = 0x1.5555555555555p-2;

// exp(r) = 1 + r + r^2 p(r) for |r| <= ln(2) / 2; error 2^-64.0.
SHOAL_MATH_INLINE double ExpTail(double z) {
  return Horner(z, 0x1p-1, 0x1.555555555555bp-3, 0x1.5555555555503p-5, 0x1.111111110ec18p-7,
                0x1.6c16c16c3048ep-10, 0x1.a01a01b3994b5p-13, 0x1.a01a0136bae9ap-16,
                0x1.71ddefdc20344p-19, 0x1.27e5b39062a5ep-22, 0x1.af6c617f1dc73p-26,
                0x1.1e3ec61da267bp-29);
}

// exp(r) = 1 + r + r^2 p(r) for |r| <= ln(2) / 2; error 2^-28.3.
SHOAL_MATH_INLINE float ExpTail(float z) {
  return Horner(z, 0x1.fffffcp-2F, 0x1.55549p-3F, 0x1.5558f4p-5F, 0x1.123a6cp-7F, 0x1.6a23acp-10F);
}

// exp(r) = 1 + r + r^2 p(r) for |r| <= ln(2) / 2; error 2^-39.7.
SHOAL_MATH_INLINE double ExpTailShort(double z) {
  return Horner(z, 0x1.000000005e7a5p-1, 0x1.5555557e0c3b8p-3, 0x1.5555541cf8f13p-5,
                0x1.1110a1f85d508p-7, 0x1.6c18d48e3ba7p-10, 0x1.a186086f7d2f8p-13,
                0x1.9e89095257b57p-16);
}

// sinh(r) = r + r z p(z) with z = r^2, |r| <= ln(2) / 2; error 2^-61.7.
SHOAL_MATH_INLINE double SinhTail(double z) {
  return Horner(z, 0x1.5555555555559p-3, 0x1.111111110f69dp-7, 0x1.a01a01afeeb92p-13,
                0x1.71ddf8352086ap-19, 0x1.af5efea8a83dp-26);
}

// sinh(r) = r + r z p(z) with z = r^2, |r| <= ln(2) / 2; error 2^-37.5.
SHOAL_MATH_INLINE double SinhTailShort(double z) {
  return Horner(z, 0x1.55555573878f9p-3, 0x1.1110b1b1da976p-7, 0x1.a17026c2f8e9fp-13);
}

// cosh(r) = 1 + z / 2 + z^2 p(z) with z = r^2, |r| <= ln(2) / 2; error 2^-70.0.
SHOAL_MATH_INLINE double CoshTail(double z) {
  return Horner(z, 0x1.5555555555558p-5, 0x1.6c16c16c15018p-10, 0x1.a01a01ad76278p-16,
                0x1.27e4cc22d27a2p-22, 0x1.1f8bc3da957a5p-29);
}

// cosh(r) = 1 + z / 2 + z^2 p(z) with z = r^2, |r| <= ln(2) / 2; error 2^-45.1.
SHOAL_MATH_INLINE double CoshTailShort(double z) {
  return Horner(z, 0x1.55555569ce232p-5, 0x1.6c165cccd0b08p-10, 0x1.a14cdf10a4d22p-16);
}

// log(m) = 2s + s z p(z) with s = (m - 1) / (m + 1), z = s^2, m in [sqrt(1/2), sqrt(2)]; error
// 2^-66.7.
SHOAL_MATH_INLINE double LogTail(double z) {
  return Horner(z, 0x1.5555555555555p-1, 0x1.9999999999dfcp-2, 0x1.249249242b7f8p-2,
                0x1.c71c7258ba42fp-3, 0x1.745cde492bc2fp-3, 0x1.3b20a8716e4ebp-3,
                0x1.0f5d0b0142e37p-3, 0x1.0f60dc23f2635p-3);
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

// log(1 + f) = f - f^2 / 2 + f^3 p(f) for 1 + f in [sqrt(1/2), sqrt(2)]; error 2^-30.3.
SHOAL_MATH_INLINE float LogTail(float z) {
  return Horner(z, 0x1.555548p-2F, -0x1.000006p-2F, 0x1.99a4b4p-3F, -0x1.555c52p-3F, 0x1.23377cp-3F,
                -0x1.fc218ep-4F, 0x1.e6eee8p-4F, -0x1.de3df8p-4F, 0x1.145cf2p-4F);
}

// sin(r) = r + r z p(z) with z = r^2, |r| <= pi / 4; error 2^-68.7.
SHOAL_MATH_INLINE double SinTail(double z) {
  return Horner(z, -0x1.5555555555555p-3, 0x1.111111111110bp-7, -0x1.a01a01a018a51p-13,
                0x1.71de3a532e3f9p-19, -0x1.ae64528a749afp-26, 0x1.61208a50da5dcp-33,
                -0x1.aaa14a19fe359p-41);
}

// cos(r) = 1 - z / 2 + z^2 p(z) with z = r^2, |r| <= pi / 4; error 2^-64.0.
SHOAL_MATH_INLINE double CosTail(double z) {
  return Horner(z, 0x1.555555555554bp-5, -0x1.6c16c16c14f6cp-10, 0x1.a01a019c8098cp-16,
                -0x1.27e4f7e8040acp-22, 0x1.1ee9d5ca1b8p-29, -0x1.8fa39606d3e0ep-37);
}

// sin(r) = r + r z p(z) with z = r^2, |r| <= pi / 4; error 2^-37.5.
SHOAL_MATH_INLINE double SinTailShort(double z) {
  return Horner(z, -0x1.5555554c6898dp-3, 0x1.11110863ae99cp-7, -0x1.a00f79c1e415ep-13,
                0x1.6cd0a806b9069p-19);
}

// cos(r) = 1 - z / 2 + z^2 p(z) with z = r^2, |r| <= pi / 4; error 2^-42.9.
SHOAL_MATH_INLINE double CosTailShort(double z) {
  return Horner(z, 0x1.5555554ed2c61p-5, -0x1.6c16b822e105dp-10, 0x1.a010da16d5c8cp-16,
                -0x1.241da33b0ae24p-22);
}

// atan(t) = t + t z p(z) with z = t^2, |t| <= tan(pi / 8); error 2^-59.4.
SHOAL_MATH_INLINE double AtanTail(double z) {
  return Horner(z, -0x1.555555555553dp-2, 0x1.99999999957acp-3, -0x1.24924922a9764p-3,
                0x1.c71c70e4b7754p-4, -0x1.745cf8b96d69ep-4, 0x1.3b1116de2c6d1p-4,
                -0x1.10eba0774dc25p-4, 0x1.df0e04834ec58p-5, -0x1.9ccd46a481d64p-5,
                0x1.37c8615f7338cp-5, -0x1.254e72790c18fp-6);
}

// asin(s) = s + s z p(z) with z = s^2, |s| <= 1/2; error 2^-59.9.
SHOAL_MATH_INLINE double AsinTail(double z) {
  return Horner(z, 0x1.5555555555577p-3, 0x1.333333332e106p-4, 0x1.6db6db7213ef6p-5,
                0x1.f1c71a947b43dp-6, 0x1.6e8bdeeb6e309p-6, 0x1.1c49efad5be77p-6,
                0x1.ca1f9c1de2b4cp-7, 0x1.75851c9b4e3fbp-7, 0x1.613ebe920f77ap-7,
                0x1.e5d6b77f972acp-9, 0x1.63a53813959f1p-6, -0x1.58092dcd38cd9p-6,
                0x1.0b4a33b05d77bp-5);
}

// atan(t) = t + t z p(z) with z = t^2, |t| <= tan(pi / 8); error 2^-40.2.
SHOAL_MATH_INLINE double AtanTailShort(double z) {
  return Horner(z, -0x1.5555554edd69fp-2, 0x1.999991fa3625ep-3, -0x1.2490c2b48aa66p-3,
                0x1.c6d1df75c5a31p-4, -0x1.708242f384e8cp-4, 0x1.1e5a28a5d6c6ep-4,
                -0x1.36a5909565429p-5);
}

// asin(s) = s + s z p(z) with z = s^2, |s| <= 1/2; error 2^-39.9.
SHOAL_MATH_INLINE double AsinTailShort(double z) {
  return Horner(z, 0x1.55555547df548p-3, 0x1.33334086aa66dp-4, 0x1.6db25d11a2323p-5,
                0x1.f2819976b40bdp-6, 0x1.66440a3cc412ep-6, 0x1.522dc7f58071dp-6,
                0x1.0556992503d6ep-9, 0x1.0d7bdee411e71p-5);
}

// 1 / cbrt(m) for m in [1, 2], a first guess; error 2^-17.4.
SHOAL_MATH_INLINE double InverseCbrt(double z) {
  return Horner(z, 0x1.c7f3696f25c02p+0, -0x1.90e7503454be7p+0, 0x1.3e68cef596264p+0,
                -0x1.321c7da98c15ep-1, 0x1.3fa295c59a584p-3, -0x1.16d7224cb1371p-6);
}

// erf(x) = x + x p(z) with z = x^2, |x| <= 1/2; error 2^-65.3.
SHOAL_MATH_INLINE double ErfTail(double z) {
  return Horner(z, 0x1.06eba8214db69p-3, -0x1.812746b0379e6p-2, 0x1.ce2f21a042b25p-4,
                -0x1.b82ce3127f4e3p-6, 0x1.565bcd0a9a3a5p-8, -0x1.c02db238f1992p-11,
                0x1.f9a2a579fafd5p-14, -0x1.f4bb82aae150bp-17, 0x1.b7745a0a39fe6p-20,
                -0x1.39edbb8f4584bp-23);
}

// erf(x) = x + x p(z) with z = x^2, |x| <= 1/2; error 2^-36.3.
SHOAL_MATH_INLINE double ErfTailShort(double z) {
  return Horner(z, 0x1.06eba820d788cp-3, -0x1.8127466e3b68p-2, 0x1.ce2ef1ab0958ep-4,
                -0x1.b82017553b6d7p-6, 0x1.54ceb21d1de64p-8, -0x1.9353ba22e7fdcp-11);
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
// 2^-35.7.
SHOAL_MATH_INLINE double ErfcScaledShort(double z) {
  return Horner(z, -0x1.7bf5ec356181dp-4, -0x1.5407bebc26046p-3, 0x1.4ffa219edf5bfp-3,
                -0x1.bc2b9be1b9131p-5, -0x1.074600562e914p-7, 0x1.1dd5a0710b357p-7,
                0x1.4e26ee1cc237cp-10, -0x1.7ebcb9323085dp-10, -0x1.e8f8b9919ab4ap-12,
                0x1.cf830b7f828dcp-13, 0x1.662c3f73edb8cp-13, -0x1.152910482cd23p-15,
                -0x1.84d2e00891623p-15, 0x1.e4c6b2ae9dde4p-17);
}

// 32 zeros, then the bits of 2 / pi after the point.
SHOAL_MATH_INLINE uint32_t TwoOverPiWord(uint32_t index) {
  constexpr uint32_t kWords[] = {
      0x00000000U, 0xa2f9836eU, 0x4e441529U, 0xfc2757d1U, 0xf534ddc0U, 0xdb629599U, 0x3c439041U,
      0xfe5163abU, 0xdebbc561U, 0xb7246e3aU, 0x424dd2e0U, 0x06492eeaU, 0x09d1921cU, 0xfe1deb1cU,
      0xb129a73eU, 0xe88235f5U, 0x2ebb4484U, 0xe99c7026U, 0xb45f7e41U, 0x3991d639U, 0x835339f4U,
      0x9c845f8bU, 0xbdf9283bU, 0x1ff897ffU, 0xde05980fU, 0xef2f118bU, 0x5a0a6d1fU, 0x6d367ecfU,
      0x27cb09b7U, 0x4f463f66U, 0x9e5fea2dU, 0x7527bac7U, 0xebe5f17bU, 0x3d0739f7U, 0x8a5292eaU,
      0x6bfb5fb1U, 0x1f8d5d08U, 0x56033046U, 0xfc7b6babU, 0xf0cfbc20U};
  return kWords[index];
}

}  // namespace shoal::kernels::math::poly
