// Logic, bits, shifts and choice.
#include <concepts>

#include "kernels/cpu/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/logic.cc"
#include "hwy/foreach_target.h"  // Includes this file again for each instruction set.
//
#include "kernels/cpu/map_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace shoal::kernels::cpu::HWY_NAMESPACE {

template <class T>
SHOAL_INLINE bool IsNonzero(T x) {
  if constexpr (kIsComplex<T>) {
    return (x.re != 0) | (x.im != 0);
  } else if constexpr (std::same_as<T, Bool8>) {
    return IsTrue(x);
  } else {
    return x != 0;
  }
}

struct LogicalAnd : PlainSignless<LogicalAnd> {
  template <class T>
  SHOAL_INLINE static Bool8 Call(T x, T y) {
    return ToBool8(IsNonzero(x) & IsNonzero(y));
  }
};

struct LogicalOr : PlainSignless<LogicalOr> {
  template <class T>
  SHOAL_INLINE static Bool8 Call(T x, T y) {
    return ToBool8(IsNonzero(x) | IsNonzero(y));
  }
};

struct LogicalXor : PlainSignless<LogicalXor> {
  template <class T>
  SHOAL_INLINE static Bool8 Call(T x, T y) {
    return ToBool8(IsNonzero(x) != IsNonzero(y));
  }
};

struct LogicalNot : PlainSignless<LogicalNot> {
  template <class T>
  SHOAL_INLINE static Bool8 Call(T x) {
    return ToBool8(!IsNonzero(x));
  }
};

struct BitwiseAnd : PlainSignless<BitwiseAnd> {
  template <std::unsigned_integral T>
  SHOAL_INLINE static T Call(T x, T y) {
    return static_cast<T>(x & y);
  }
  SHOAL_INLINE static Bool8 Call(Bool8 x, Bool8 y) { return Times(x, y); }
};

struct BitwiseOr : PlainSignless<BitwiseOr> {
  template <std::unsigned_integral T>
  SHOAL_INLINE static T Call(T x, T y) {
    return static_cast<T>(x | y);
  }
  SHOAL_INLINE static Bool8 Call(Bool8 x, Bool8 y) { return Plus(x, y); }
};

struct BitwiseXor : PlainSignless<BitwiseXor> {
  template <std::unsigned_integral T>
  SHOAL_INLINE static T Call(T x, T y) {
    return static_cast<T>(x ^ y);
  }
  SHOAL_INLINE static Bool8 Call(Bool8 x, Bool8 y) { return ToBool8(IsTrue(x) != IsTrue(y)); }
};

struct Invert : PlainSignless<Invert> {
  template <std::unsigned_integral T>
  SHOAL_INLINE static T Call(T x) {
    return static_cast<T>(~x);
  }
  SHOAL_INLINE static Bool8 Call(Bool8 x) { return ToBool8(!IsTrue(x)); }
};

// As an unsigned number a negative count is too large too.
template <std::integral T>
SHOAL_INLINE bool IsCount(T count) {
  return static_cast<Signless<T>>(count) < 8 * sizeof(T);
}

struct LeftShift : PlainSignless<LeftShift> {
  template <std::unsigned_integral T>
  SHOAL_INLINE static T Call(T x, T count) {
    return IsCount(count) ? static_cast<T>(Wide<T>{x} << (count % (8 * sizeof(T)))) : T{0};
  }
};

struct RightShift : Plain<RightShift> {
  template <std::integral T>
  SHOAL_INLINE static T Call(T x, T count) {
    const auto places = static_cast<Signless<T>>(count) % (8 * sizeof(T));
    return IsCount(count) ? static_cast<T>(x >> places) : x < 0 ? static_cast<T>(-1) : T{0};
  }
};

struct Where : PlainSignless<Where> {
  template <class T>
  SHOAL_INLINE static T Call(Bool8 condition, T x, T y) {
    return IsTrue(condition) ? x : y;
  }
};

#define SHOAL_OPS(X)           \
  X(LogicalAnd, "logical_and") \
  X(LogicalOr, "logical_or")   \
  X(LogicalXor, "logical_xor") \
  X(LogicalNot, "logical_not") \
  X(BitwiseAnd, "bitwise_and") \
  X(BitwiseOr, "bitwise_or")   \
  X(BitwiseXor, "bitwise_xor") \
  X(Invert, "invert")          \
  X(LeftShift, "left_shift")   \
  X(RightShift, "right_shift") \
  X(Where, "where")

SHOAL_OPS(SHOAL_MAKE_MAP_CODE)

}  // namespace shoal::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace shoal::kernels::cpu {

SHOAL_OPS(SHOAL_BIND_MAP_CODE)

}  // namespace shoal::kernels::cpu
#endif
#undef SHOAL_OPS
