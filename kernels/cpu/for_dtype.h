#pragma once

#include <utility>

#include "base/check.h"
#include "kernels/dtype.h"

namespace shoal::kernels::cpu {

/// Calls `function.template operator()<kDType>()` for the real dtype given at run time.
template <class Function>
decltype(auto) ForRealDType(DType dtype, Function&& function) {
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
    case DType::kComplex128:
      break;
  }
  SHOAL_UNREACHABLE("not a real dtype");
}

}  // namespace shoal::kernels::cpu
