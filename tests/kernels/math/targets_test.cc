// Bits are the same on every instruction set, and in a vector as alone: each function's loop is
// compiled as the kernels are, once for each set, and compared with single calls.
#include <cstddef>

#include "kernels/cpu/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/kernels/math/targets_test.cc"
#include "hwy/foreach_target.h"  // Includes this file again for each instruction set.
//
#include "hwy/highway.h"
#include "tests/kernels/math/functions.h"

HWY_BEFORE_NAMESPACE();
namespace shoal::kernels::math::HWY_NAMESPACE {

#define SHOAL_LOOPS(Name, Call)                                                \
  void Name##32(const float* x, const float* y, float* out, size_t count) {    \
    _Pragma("GCC ivdep") for (size_t i = 0; i < count; ++i) out[i] = Call;     \
    static_cast<void>(y);                                                      \
  }                                                                            \
  void Name##64(const double* x, const double* y, double* out, size_t count) { \
    _Pragma("GCC ivdep") for (size_t i = 0; i < count; ++i) out[i] = Call;     \
    static_cast<void>(y);                                                      \
  }
#define SHOAL_UNARY_LOOPS(Name, name) SHOAL_LOOPS(Name, math::Name(x[i]))
#define SHOAL_BINARY_LOOPS(Name, name) SHOAL_LOOPS(Name, math::Name(x[i], y[i]))
SHOAL_MATH_UNARY(SHOAL_UNARY_LOOPS)
SHOAL_MATH_BINARY(SHOAL_BINARY_LOOPS)

}  // namespace shoal::kernels::math::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace shoal::kernels::math {
namespace {

#define SHOAL_EXPORT(Name, name) \
  HWY_EXPORT(Name##32);          \
  HWY_EXPORT(Name##64);
SHOAL_MATH_UNARY(SHOAL_EXPORT)
SHOAL_MATH_BINARY(SHOAL_EXPORT)

template <class T>
std::vector<T> ManyNumbers(unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<T> numbers = SpecialNumbers<T>();
  while (numbers.size() < 3001) {
    numbers.push_back(FromBits<T>(static_cast<Bits<T>>(random())));
    for (const double range : {1.0, 10.0, 800.0}) {
      numbers.push_back(static_cast<T>(std::uniform_real_distribution(-range, range)(random)));
    }
  }
  return numbers;
}

/// Runs `loop` on each instruction set that the machine has.
template <class T, class Loop, class Single>
void ExpectSameBits(const char* name, const Loop& loop, const Single& single) {
  const std::vector<T> x = ManyNumbers<T>(1);
  const std::vector<T> y = ManyNumbers<T>(2);
  const int64_t supported = hwy::SupportedTargets();
  for (const int64_t target : {int64_t{HWY_EMU128}, int64_t{HWY_AVX2}, int64_t{HWY_AVX3}}) {
    if (target != HWY_EMU128 && (supported & target) == 0) continue;
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().DeInit();
    std::vector<T> got(x.size());
    loop(x.data(), y.data(), got.data(), x.size());
    for (size_t i = 0; i < x.size(); ++i) {
      const T want = single(x[i], y[i]);
      ASSERT_TRUE(BitsOf(got[i]) == BitsOf(want) || (std::isnan(got[i]) && std::isnan(want)))
          << name << " on " << hwy::TargetName(target) << " at " << std::hexfloat << x[i] << ", "
          << y[i] << ": " << got[i] << " instead of " << want;
    }
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().DeInit();
}

#define SHOAL_TEST(Name, single)                                     \
  TEST(TargetsTest, Name##HasTheSameBitsEverywhere) {                \
    ExpectSameBits<float>(                                           \
        #Name,                                                       \
        [](auto... a) {                                              \
          HWY_DYNAMIC_DISPATCH(Name##32)                             \
          (a...);                                                    \
        },                                                           \
        [](float x, [[maybe_unused]] float y) { return single; });   \
    ExpectSameBits<double>(                                          \
        #Name,                                                       \
        [](auto... a) {                                              \
          HWY_DYNAMIC_DISPATCH(Name##64)                             \
          (a...);                                                    \
        },                                                           \
        [](double x, [[maybe_unused]] double y) { return single; }); \
  }
#define SHOAL_UNARY_TEST(Name, name) SHOAL_TEST(Name, Name(x))
#define SHOAL_BINARY_TEST(Name, name) SHOAL_TEST(Name, Name(x, y))
SHOAL_MATH_UNARY(SHOAL_UNARY_TEST)
SHOAL_MATH_BINARY(SHOAL_BINARY_TEST)

}  // namespace
}  // namespace shoal::kernels::math
#endif
