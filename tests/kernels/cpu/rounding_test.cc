#include <gtest/gtest.h>

#include <cmath>

#include "tests/kernels/cpu/op_cases.h"

namespace shoal::kernels::cpu {
namespace {

constexpr auto kItself = []<Whole T>(T x) { return x; };

TEST(RoundingTest, WholeNumbersNearANumberIntegersAreThatAlready) {
  ExpectUnary(
      "floor", []<std::floating_point T>(T x) { return std::floor(x); }, kItself);
  ExpectUnary(
      "ceil", []<std::floating_point T>(T x) { return std::ceil(x); }, kItself);
  ExpectUnary(
      "trunc", []<std::floating_point T>(T x) { return std::trunc(x); }, kItself);
  ExpectUnary("rint", []<std::floating_point T>(T x) { return std::nearbyint(x); });
}

}  // namespace
}  // namespace shoal::kernels::cpu
