#include "kernels/program/promotion.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace shoal::kernels::program {
namespace {

bool IsInteger(DType dtype) { return IsSignedInteger(dtype) || IsUnsignedInteger(dtype); }

DType SignedOf(int64_t bytes) {
  if (bytes == 2) return DType::kInt16;
  return bytes == 4 ? DType::kInt32 : DType::kInt64;
}

DType ComplexOf(DType part) {
  return part == DType::kFloat64 ? DType::kComplex128 : DType::kComplex64;
}

// Of two integers: the smallest that holds both; nothing holds int64 and uint64.
DType PromoteIntegers(DType a, DType b) {
  if (ItemBytes(a) < ItemBytes(b)) std::swap(a, b);
  if (IsSignedInteger(a) == IsSignedInteger(b) || a == b) return a;
  if (IsSignedInteger(a) && ItemBytes(a) > ItemBytes(b)) return a;
  const DType larger = IsUnsignedInteger(a) ? a : b;
  return ItemBytes(larger) == 8 ? DType::kFloat64 : SignedOf(2 * ItemBytes(larger));
}

// The float that has room for the integer's bits, as NumPy sees it.
DType PromoteToFloat(DType integer, DType real) {
  const int64_t bytes = std::max(ItemBytes(real), std::min(2 * ItemBytes(integer), int64_t{8}));
  if (bytes == ItemBytes(real)) return real;
  return bytes == 4 ? DType::kFloat32 : DType::kFloat64;
}

DType PromoteFloats(DType a, DType b) {
  if (a == b) return a;
  if (IsHalf(a) && IsHalf(b)) return DType::kFloat32;
  return ItemBytes(a) > ItemBytes(b) ? a : b;
}

DType PartOf(DType dtype) {
  if (dtype == DType::kComplex64) return DType::kFloat32;
  return dtype == DType::kComplex128 ? DType::kFloat64 : dtype;
}

}  // namespace

DType Promote(DType a, DType b) {
  if (ClassOf(a) > ClassOf(b)) std::swap(a, b);  // bool, integers, floats, complex.
  if (a == DType::kBool || a == b) return b;
  if (IsInteger(b)) return PromoteIntegers(a, b);
  if (IsComplex(b)) return ComplexOf(Promote(PartOf(a), PartOf(b)));
  return IsInteger(a) ? PromoteToFloat(a, b) : PromoteFloats(a, b);
}

DType PromoteWeak(DType array, WeakKind kind) {
  const bool whole = array == DType::kBool || IsInteger(array);
  switch (kind) {
    case WeakKind::kBool:
      return array;
    case WeakKind::kInt:
      return array == DType::kBool ? DType::kInt64 : array;
    case WeakKind::kFloat:
      return whole ? DType::kFloat64 : array;
    case WeakKind::kComplex:
      if (IsComplex(array)) return array;
      return whole ? DType::kComplex128 : ComplexOf(array);
  }
  SHOAL_UNREACHABLE("kind out of range");
}

DType DefaultDType(WeakKind kind) {
  switch (kind) {
    case WeakKind::kBool:
      return DType::kBool;
    case WeakKind::kInt:
      return DType::kInt64;
    case WeakKind::kFloat:
      return DType::kFloat64;
    case WeakKind::kComplex:
      return DType::kComplex128;
  }
  SHOAL_UNREACHABLE("kind out of range");
}

}  // namespace shoal::kernels::program
