#include <gtest/gtest.h>

#include "tests/kernels/cpu/op_cases.h"

namespace shoal::kernels::cpu {
namespace {

TEST(ComplexTest, PartsAndConjugate) {
  ExpectUnary("real", []<class T>(Complex<T> x) { return x.re; });
  ExpectUnary("imag", []<class T>(Complex<T> x) { return x.im; });
  ExpectUnary("conjugate", []<class T>(Complex<T> x) { return Complex<T>{x.re, -x.im}; });
}

TEST(ComplexTest, RealNumbersHaveAnImaginaryPartOfZero) {
  ExpectUnary("real", []<Real T>(T x) { return x; });
  ExpectUnary("imag", []<Real T>(T) { return T{0}; });
  ExpectUnary("conjugate", []<Real T>(T x) { return x; });
}

}  // namespace
}  // namespace shoal::kernels::cpu
