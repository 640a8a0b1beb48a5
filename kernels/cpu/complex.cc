// Parts of complex numbers.

#include "kernels/cpu/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/complex.cc"
#include "hwy/foreach_target.h"  // Includes this file again for each instruction set.
//
#include "kernels/cpu/map_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shoal::kernels::cpu::HWY_NAMESPACE {

struct Real : PlainSignless<Real> {
  template <class T>
  SHOAL_INLINE static auto Call(T x) {
    if constexpr (kIsComplex<T>) {
      return x.re;
    } else {
      return x;
    }
  }
};

struct Imag : PlainSignless<Imag> {
  template <class T>
  SHOAL_INLINE static auto Call(T x) {
    if constexpr (kIsComplex<T>) {
      return x.im;
    } else {
      return T{};
    }
  }
};

struct Conjugate : PlainSignless<Conjugate> {
  template <class T>
  SHOAL_INLINE static T Call(T x) {
    if constexpr (kIsComplex<T>) {
      return {x.re, Negated(x.im)};
    } else {
      return x;
    }
  }
};

#define SHOAL_OPS(X) \
  X(Real, "real")    \
  X(Imag, "imag")    \
  X(Conjugate, "conjugate")

SHOAL_OPS(SHOAL_MAKE_MAP_CODE)

}  // namespace shoal::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shoal::kernels::cpu {

SHOAL_OPS(SHOAL_BIND_MAP_CODE)

}  // namespace shoal::kernels::cpu
#endif
#undef SHOAL_OPS
