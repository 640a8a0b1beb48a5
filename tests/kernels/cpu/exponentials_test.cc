#include <gtest/gtest.h>

#include <concepts>

#include "kernels/math/exp.h"
#include "kernels/math/hyperbolic.h"
#include "tests/kernels/cpu/op_cases.h"

// The functions themselves are held to their bounds in tests/kernels/math; here the kernels are
// held to the functions.
namespace shoal::kernels::cpu {
namespace {

TEST(ExponentialsTest, AreTheFunctionsOfEachElement) {
  ExpectUnary("exp", []<std::floating_point T>(T x) { return math::Exp(x); });
  ExpectUnary("exp2", []<std::floating_point T>(T x) { return math::Exp2(x); });
  ExpectUnary("expm1", []<std::floating_point T>(T x) { return math::Expm1(x); });
  ExpectUnary("sinh", []<std::floating_point T>(T x) { return math::Sinh(x); });
  ExpectUnary("cosh", []<std::floating_point T>(T x) { return math::Cosh(x); });
  ExpectUnary("tanh", []<std::floating_point T>(T x) { return math::Tanh(x); });
}

}  // namespace
}  // namespace shoal::kernels::cpu
