#include <gtest/gtest.h>

#include <cmath>

#include "tests/kernels/cpu/op_cases.h"

namespace shoal::kernels::cpu {
namespace {

TEST(RoundingTest, WholeNumbersNearANumber) {
  ExpectUnary("floor", []<std::floating_point T>(T x) { return std::floor(x); });
  ExpectUnary("ceil", []<std::floating_point T>(T x) { return std::ceil(x); });
  ExpectUnary("trunc", []<std::floating_point T>(T x) { return std::trunc(x); });
  ExpectUnary("rint", []<std::floating_point T>(T x) { return std::nearbyint(x); });
}

TEST(RoundingTest, IntegersAreWholeAlready) {
  for (const char* op : {"floor", "ceil", "trunc"}) {
    ExpectUnary(op, []<std::integral T>(T x) { return x; });
  }
}

}  // namespace
}  // namespace shoal::kernels::cpu
