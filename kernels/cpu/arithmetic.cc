// The elementwise arithmetic: add, multiply, axpy.
#include <cstddef>
#include <utility>

#include "kernels/cpu/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/arithmetic.cc"
#include "hwy/foreach_target.h"  // Includes this file again for each instruction set.
//
#include "kernels/cpu/map_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shoal::kernels::cpu::HWY_NAMESPACE {

struct Add {
  static constexpr bool kSignless = true;
  template <class T>
  struct Of {
    explicit Of(const Params&) {}
    SHOAL_INLINE T operator()(T x, T y) const { return Plus(x, y); }
  };
};

struct Multiply {
  static constexpr bool kSignless = true;
  template <class T>
  struct Of {
    explicit Of(const Params&) {}
    SHOAL_INLINE T operator()(T x, T y) const { return Times(x, y); }
  };
};

// The factor of a complex array is real and scales both parts: a complex product with a + 0i would
// turn an infinite part into NaN.
struct Axpy {
  static constexpr bool kSignless = true;
  template <class T>
  struct Of {
    explicit Of(const Params& params) : a(ParamAs<T>(params[0])) {}
    SHOAL_INLINE T operator()(T x, T y) const { return Plus(Times(a, x), y); }
    T a;
  };
  template <class T>
  struct Of<Complex<T>> {
    explicit Of(const Params& params) : a(ParamAs<T>(params[0])) {}
    SHOAL_INLINE Complex<T> operator()(Complex<T> x, Complex<T> y) const {
      return {a * x.re + y.re, a * x.im + y.im};
    }
    T a;
  };
};

constexpr MapCode kAdd = MakeMapCode<OpIndex("add"), Add>();
constexpr MapCode kMultiply = MakeMapCode<OpIndex("multiply"), Multiply>();
constexpr MapCode kAxpy = MakeMapCode<OpIndex("axpy"), Axpy>();
const MapCode& AddCode() { return kAdd; }
const MapCode& MultiplyCode() { return kMultiply; }
const MapCode& AxpyCode() { return kAxpy; }

}  // namespace shoal::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shoal::kernels::cpu {

HWY_EXPORT(AddCode);
HWY_EXPORT(MultiplyCode);
HWY_EXPORT(AxpyCode);

template <>
const MapCode& MapCodeOf<OpIndex("add")>() {
  return HWY_DYNAMIC_DISPATCH(AddCode)();
}
template <>
const MapCode& MapCodeOf<OpIndex("multiply")>() {
  return HWY_DYNAMIC_DISPATCH(MultiplyCode)();
}
template <>
const MapCode& MapCodeOf<OpIndex("axpy")>() {
  return HWY_DYNAMIC_DISPATCH(AxpyCode)();
}

}  // namespace shoal::kernels::cpu
#endif
