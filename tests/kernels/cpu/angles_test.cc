#include <gtest/gtest.h>

#include <concepts>
#include <cstdint>
#include <vector>

#include "kernels/math/inverse_trig.h"
#include "kernels/math/trig.h"
#include "tests/kernels/cpu/op_cases.h"

// The functions themselves are held to their bounds in tests/kernels/math; here the kernels are
// held to the functions.
namespace shoal::kernels::cpu {
namespace {

TEST(AnglesTest, AreTheFunctionsOfEachElement) {
  ExpectUnary("sin", []<std::floating_point T>(T x) { return math::Sin(x); });
  ExpectUnary("cos", []<std::floating_point T>(T x) { return math::Cos(x); });
  ExpectUnary("tan", []<std::floating_point T>(T x) { return math::Tan(x); });
  ExpectUnary("asin", []<std::floating_point T>(T x) { return math::Asin(x); });
  ExpectUnary("acos", []<std::floating_point T>(T x) { return math::Acos(x); });
  ExpectUnary("atan", []<std::floating_point T>(T x) { return math::Atan(x); });
  ExpectBinary("atan2", []<std::floating_point T>(T x, T y) { return math::Atan2(x, y); });
}

/// The sines of all, in one run.
std::vector<double> Sines(const std::vector<double>& angles) {
  std::vector<double> sines(angles.size());
  const support::OneKernel one = support::OneOp({*FindOp("sin"), DType::kFloat64}, {angles.data()},
                                                {sines.data(), static_cast<int64_t>(sines.size())});
  RunMap(one.kernel, one.args(), {0, one.count});
  return sines;
}

// An angle beyond the cheap reduction brings the whole piece to the general form.
TEST(AnglesTest, AnUncommonAngleChangesNoOther) {
  std::vector<double> angles(2000);
  for (size_t i = 0; i < angles.size(); ++i) angles[i] = 0.01 * static_cast<double>(i) - 7;
  const std::vector<double> alone = Sines(angles);
  std::vector<double> mixed = angles;
  for (const size_t at : {0U, 300U, 1999U}) mixed[at] = 1e300;
  const std::vector<double> together = Sines(mixed);
  for (size_t i = 0; i < angles.size(); ++i) {
    const double expected = mixed[i] == angles[i] ? alone[i] : math::Sin(1e300);
    EXPECT_EQ(together[i], expected) << i;
  }
}

}  // namespace
}  // namespace shoal::kernels::cpu
