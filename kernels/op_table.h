#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "kernels/map.h"
#include "kernels/registry.h"

// The op table. A new op is a row here and its code in one file of kernels/cpu (see
// kernels/cpu/op_code.h); everything else (planner, service, docs, tests) reads AllOps(). A row
// that breaks a rule of TableIsSound, or whose code is missing for any dtype of its mask, does not
// build.
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

inline constexpr std::array<ParamInfo, 1> kAxpyParams = {
    {{.name = "a", .doc = "The factor of x.", .rule = ParamRule::kElement}}};

inline constexpr std::array kOpTable = {
    OpInfo{.name = "echo",
           .doc = "The arrays themselves, byte for byte; of none, nothing.",
           .form = OpForm::kMap,
           .inputs_min = 0,
           .inputs_max = kMapInputsMax,
           .any_dtype = true,
           .dtypes = kEveryDType,
           .dtype_rule = DTypeRule::kSame,
           .params = {},
           .cost_ns_per_element = 0.05},
    OpInfo{.name = "axpy",
           .doc = "a * x + y, product and sum each rounded (float16 and bfloat16: in float32).",
           .form = OpForm::kMap,
           .inputs_min = 2,
           .inputs_max = 2,
           .any_dtype = false,
           .dtypes = kNumberDTypes,
           .dtype_rule = DTypeRule::kSame,
           .params = kAxpyParams,
           .cost_ns_per_element = 0.1},
    OpInfo{.name = "add",
           .doc = "x + y; integers wrap, bool is or.",
           .form = OpForm::kMap,
           .inputs_min = 2,
           .inputs_max = 2,
           .any_dtype = false,
           .dtypes = kEveryDType,
           .dtype_rule = DTypeRule::kSame,
           .params = {},
           .cost_ns_per_element = 0.1},
    OpInfo{.name = "multiply",
           .doc = "x * y; integers wrap, bool is and.",
           .form = OpForm::kMap,
           .inputs_min = 2,
           .inputs_max = 2,
           .any_dtype = false,
           .dtypes = kEveryDType,
           .dtype_rule = DTypeRule::kSame,
           .params = {},
           .cost_ns_per_element = 0.1},
    OpInfo{.name = "sum",
           .doc = "Sum of all elements by the canonical tree; small integers and bool widen.",
           .form = OpForm::kReduce,
           .inputs_min = 1,
           .inputs_max = 1,
           .any_dtype = false,
           .dtypes = kEveryDType,
           .dtype_rule = DTypeRule::kSumWidened,
           .params = {},
           .cost_ns_per_element = 0.06},
    OpInfo{.name = "dot",
           .doc = "Sum of x * y by the canonical tree, in the inputs' dtype; bool is any(x & y).",
           .form = OpForm::kReduce,
           .inputs_min = 2,
           .inputs_max = 2,
           .any_dtype = false,
           .dtypes = kEveryDType,
           .dtype_rule = DTypeRule::kSame,
           .params = {},
           .cost_ns_per_element = 0.1},
    OpInfo{.name = "sort",
           .doc = "Each row ascending: -0 before +0, every NaN last.",
           .form = OpForm::kSort,
           .inputs_min = 1,
           .inputs_max = 1,
           .any_dtype = false,
           .dtypes = kRealDTypes,
           .dtype_rule = DTypeRule::kSame,
           .params = {},
           .cost_ns_per_element = 6.0},
};

inline constexpr size_t kOpCount = kOpTable.size();

/// The row of that name, in constant expressions; a name that is not there does not compile.
consteval size_t OpIndex(std::string_view name) {
  for (size_t i = 0; i < kOpCount; ++i) {
    if (kOpTable[i].name == name) return i;
  }
  throw "no op of that name in the table";
}

/// True when every column of the row is filled in and consistent.
constexpr bool RowIsSound(const OpInfo& op) {
  const bool counts = op.inputs_min >= (op.any_dtype ? 0 : 1) && op.inputs_min <= op.inputs_max &&
                      op.inputs_max <= kMapInputsMax && op.params.size() <= kParamsMax;
  const bool dtypes = op.dtypes != 0 && (op.dtypes & ~kEveryDType) == 0 &&
                      (!op.any_dtype || op.dtypes == kEveryDType);
  // Maps and sorts write elements of the type that they read (kernels/map.h, kernels/sort.h).
  const bool keeps = op.form == OpForm::kReduce || op.dtype_rule == DTypeRule::kSame;
  bool params = true;
  for (const ParamInfo& param : op.params) {
    params = params && !param.name.empty() && !param.doc.empty();
  }
  return !op.name.empty() && op.doc.ends_with('.') && op.cost_ns_per_element > 0.0 && counts &&
         dtypes && keeps && params;
}

constexpr bool TableIsSound() {
  for (size_t i = 0; i < kOpCount; ++i) {
    if (!RowIsSound(kOpTable[i])) return false;
    for (size_t j = 0; j < i; ++j) {
      if (kOpTable[i].name == kOpTable[j].name) return false;
    }
  }
  return true;
}
static_assert(TableIsSound(), "a row of the op table lacks a column or repeats a name");

}  // namespace shoal::kernels
