#pragma once

#include <utility>

#include "base/check.h"
#include "kernels/dtype.h"

namespace shoal::kernels::cpu {

/// What `function` returns, for each dtype alike.
template <class Function>
using ForDTypeResult = decltype(std::declval<Function&>().template operator()<DType::kBool>());

/// Calls `function.template operator()<kDType>()` for the dtype given at run time: the one switch
/// over all dtypes from which code for each is made.
template <class Function>
ForDTypeResult<Function> ForDType(DType dtype, Function&& function) {
  switch (dtype) {
    case DType::kBool:
      return function.template operator()<DType::kBool>();
    case DType::kInt8:
      return function.template operator()<DType::kInt8>();
    case DType::kInt16:
      return function.template operator()<DType::kInt16>();
    case DType::kInt32:
      return function.template operator()<DType::kInt32>();
    case DType::kInt64:
      return function.template operator()<DType::kInt64>();
    case DType::kUint8:
      return function.template operator()<DType::kUint8>();
    case DType::kUint16:
      return function.template operator()<DType::kUint16>();
    case DType::kUint32:
      return function.template operator()<DType::kUint32>();
    case DType::kUint64:
      return function.template operator()<DType::kUint64>();
    case DType::kFloat16:
      return function.template operator()<DType::kFloat16>();
    case DType::kBfloat16:
      return function.template operator()<DType::kBfloat16>();
    case DType::kFloat32:
      return function.template operator()<DType::kFloat32>();
    case DType::kFloat64:
      return function.template operator()<DType::kFloat64>();
    case DType::kComplex64:
      return function.template operator()<DType::kComplex64>();
    case DType::kComplex128:
      return function.template operator()<DType::kComplex128>();
  }
  SHOAL_UNREACHABLE("dtype out of range");
}

/// The same for real dtypes only: `function` need not compile for the others.
template <class Function>
ForDTypeResult<Function> ForRealDType(DType dtype, Function&& function) {
  return ForDType(dtype, [&function]<DType kDType>() -> ForDTypeResult<Function> {
    if constexpr (ClassOf(kDType) == DTypeClass::kComplex) {
      SHOAL_UNREACHABLE("not a real dtype");
    } else {
      return function.template operator()<kDType>();
    }
  });
}

}  // namespace shoal::kernels::cpu
