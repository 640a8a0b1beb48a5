#include <gtest/gtest.h>

#include <concepts>

#include "kernels/math/hyperbolic.h"
#include "kernels/math/log.h"
#include "tests/kernels/cpu/op_cases.h"

// The functions themselves are held to their bounds in tests/kernels/math; here the kernels are
// held to the functions.
namespace shoal::kernels::cpu {
namespace {

TEST(LogarithmsTest, AreTheFunctionsOfEachElement) {
  ExpectUnary("log", []<std::floating_point T>(T x) { return math::Log(x); });
  ExpectUnary("log1p", []<std::floating_point T>(T x) { return math::Log1p(x); });
  ExpectUnary("log2", []<std::floating_point T>(T x) { return math::Log2(x); });
  ExpectUnary("log10", []<std::floating_point T>(T x) { return math::Log10(x); });
  ExpectUnary("asinh", []<std::floating_point T>(T x) { return math::Asinh(x); });
  ExpectUnary("acosh", []<std::floating_point T>(T x) { return math::Acosh(x); });
  ExpectUnary("atanh", []<std::floating_point T>(T x) { return math::Atanh(x); });
}

}  // namespace
}  // namespace shoal::kernels::cpu
