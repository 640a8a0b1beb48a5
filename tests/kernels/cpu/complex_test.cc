#include <gtest/gtest.h>

#include "tests/kernels/cpu/op_cases.h"

namespace shoal::kernels::cpu {
namespace {

TEST(ComplexTest, RealNumbersHaveAnImaginaryPartOfZero) {
  ExpectUnary(
      "real", []<class T>(Complex<T> x) { return x.re; }, []<Real T>(T x) { return x; },
      [](Bool8 x) { return x; });
  ExpectUnary(
      "imag", []<class T>(Complex<T> x) { return x.im; }, []<Real T>(T) { return T{0}; },
      [](Bool8) { return Bool8::kFalse; });
  ExpectUnary(
      "conjugate",
      []<class T>(Complex<T> x) {
        return Complex<T>{x.re, -x.im};
      },
      []<Real T>(T x) { return x; });
}

}  // namespace
}  // namespace shoal::kernels::cpu
