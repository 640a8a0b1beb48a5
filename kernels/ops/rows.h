#pragma once

#include <cstdint>

#include "kernels/map.h"
#include "kernels/registry.h"

// What the rows of the op table are written with.
namespace shoal::kernels {

constexpr uint32_t DTypeMask(DTypeClass of_class) {
  uint32_t mask = 0;
  for (const DType dtype : kAllDTypes) {
    if (ClassOf(dtype) == of_class) mask |= 1U << static_cast<int>(dtype);
  }
  return mask;
}

inline constexpr uint32_t kIntegerDTypes =
    DTypeMask(DTypeClass::kSigned) | DTypeMask(DTypeClass::kUnsigned);
inline constexpr uint32_t kFloatDTypes = DTypeMask(DTypeClass::kFloat);
inline constexpr uint32_t kComplexDTypes = DTypeMask(DTypeClass::kComplex);
inline constexpr uint32_t kBoolDType = DTypeMask(DTypeClass::kBool);
inline constexpr uint32_t kNumberDTypes = kIntegerDTypes | kFloatDTypes | kComplexDTypes;
inline constexpr uint32_t kRealDTypes = kBoolDType | kIntegerDTypes | kFloatDTypes;
inline constexpr uint32_t kEveryDType = kRealDTypes | kComplexDTypes;

// An elementwise op of `inputs` inputs; the columns not given are the usual ones.
constexpr OpInfo Elementwise(int8_t inputs, OpInfo row) {
  row.form = OpForm::kMap;
  row.inputs_min = row.inputs_max = inputs;
  if (row.cost_ns_per_element == 0.0) row.cost_ns_per_element = 0.1;
  return row;
}

// A test of each element, or a comparison.
constexpr OpInfo Predicate(int8_t inputs, OpInfo row) {
  row.dtype_rule = DTypeRule::kBool;
  return Elementwise(inputs, row);
}

}  // namespace shoal::kernels
