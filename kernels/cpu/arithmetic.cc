// The elementwise arithmetic but for division.
#include <concepts>

#include "kernels/cpu/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/arithmetic.cc"
#include "hwy/foreach_target.h"  // Includes this file again for each instruction set.
//
#include "kernels/cpu/map_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shoal::kernels::cpu::HWY_NAMESPACE {

struct Add : PlainSignless<Add> {
  template <class T>
  SHOAL_INLINE static T Call(T x, T y) {
    return Plus(x, y);
  }
};

struct Subtract : PlainSignless<Subtract> {
  template <class T>
  SHOAL_INLINE static T Call(T x, T y) {
    return Minus(x, y);
  }
};

struct Multiply : PlainSignless<Multiply> {
  template <class T>
  SHOAL_INLINE static T Call(T x, T y) {
    return Times(x, y);
  }
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

struct Fma : Plain<Fma> {
  SHOAL_INLINE static float Call(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
  SHOAL_INLINE static double Call(double x, double y, double z) { return __builtin_fma(x, y, z); }
};

struct Negative : PlainSignless<Negative> {
  template <class T>
  SHOAL_INLINE static T Call(T x) {
    return Negated(x);
  }
};

struct Positive : PlainSignless<Positive> {
  template <class T>
  SHOAL_INLINE static T Call(T x) {
    return x;
  }
};

struct Absolute : Plain<Absolute> {
  template <std::floating_point T>
  SHOAL_INLINE static T Call(T x) {
    return std::fabs(x);
  }
  template <std::signed_integral T>
  SHOAL_INLINE static T Call(T x) {
    return x < 0 ? static_cast<T>(Negated(static_cast<Signless<T>>(x))) : x;
  }
  template <std::unsigned_integral T>
  SHOAL_INLINE static T Call(T x) {
    return x;
  }
  SHOAL_INLINE static Bool8 Call(Bool8 x) { return ToBool8(IsTrue(x)); }
};

struct Sign : Plain<Sign> {
  template <std::floating_point T>
  SHOAL_INLINE static T Call(T x) {
    const T sign = x > 0 ? T{1} : T{0};
    return x < 0 ? T{-1} : x == x ? sign : x;
  }
  template <std::integral T>
  SHOAL_INLINE static T Call(T x) {
    return static_cast<T>((x > 0) - (x < 0));
  }
};

struct Square : PlainSignless<Square> {
  template <class T>
  SHOAL_INLINE static T Call(T x) {
    return Times(x, x);
  }
};

// IEEE 754 has it rounded correctly, so all that compute it agree.
struct Sqrt : Plain<Sqrt> {
  template <class T>
  SHOAL_INLINE static T Call(T x) {
    return std::sqrt(x);
  }
};

#define SHOAL_OPS(X)      \
  X(Add, "add")           \
  X(Subtract, "subtract") \
  X(Multiply, "multiply") \
  X(Axpy, "axpy")         \
  X(Fma, "fma")           \
  X(Negative, "negative") \
  X(Positive, "positive") \
  X(Absolute, "absolute") \
  X(Sign, "sign")         \
  X(Square, "square")     \
  X(Sqrt, "sqrt")

SHOAL_OPS(SHOAL_MAKE_MAP_CODE)

}  // namespace shoal::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shoal::kernels::cpu {

SHOAL_OPS(SHOAL_BIND_MAP_CODE)

}  // namespace shoal::kernels::cpu
#endif
#undef SHOAL_OPS
