#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "kernels/ops/arithmetic.h"
#include "kernels/ops/arrays.h"
#include "kernels/ops/logic.h"
#include "kernels/ops/math.h"
#include "kernels/registry.h"

// The op table. A new op is a row in kernels/ops and its code in one file of kernels/cpu (see
// kernels/cpu/op_code.h); everything else (planner, service, docs, tests) reads AllOps(). A row
// that breaks a rule of TableIsSound, or whose code is missing for any dtype of its mask, does not
// build.
namespace shoal::kernels {

template <size_t... kCounts>
constexpr auto Concatenated(const std::array<OpInfo, kCounts>&... parts) {
  std::array<OpInfo, (kCounts + ...)> all;
  size_t at = 0;
  const auto append = [&](const auto& part) {
    for (const OpInfo& row : part) all[at++] = row;
  };
  (append(parts), ...);
  return all;
}

/// Every op: kernels/ops has the rows.
inline constexpr std::array kOpTable = Concatenated(kArrayOps, kArithmeticOps, kMathOps, kLogicOps);

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
  const bool counts = op.inputs_min >= (op.form == OpForm::kMove ? 0 : 1) &&
                      op.inputs_min <= op.inputs_max && op.inputs_max <= kOpInputsMax &&
                      op.params.size() <= kParamsMax;
  const bool dtypes = op.dtypes != 0 && (op.dtypes & ~kEveryDType) == 0 &&
                      (op.form != OpForm::kMove || op.dtypes == kEveryDType);
  // Sorts write elements of the type that they read (kernels/sort.h).
  const bool keeps = op.form != OpForm::kSort || op.dtype_rule == DTypeRule::kSame;
  const bool conditions = !op.condition || (op.form == OpForm::kMap && op.inputs_min > 1);
  // The bounds are of functions that have no integers; where one has, those are exact.
  const bool errors = (op.error.float32 > 0.0) == (op.error.float64 > 0.0) &&
                      (op.error.float32 == 0.0 || op.form == OpForm::kMap);
  bool params = true;
  for (const ParamInfo& param : op.params) {
    params = params && !param.name.empty() && !param.doc.empty();
  }
  return !op.name.empty() && op.doc.ends_with('.') && op.cost_ns_per_element > 0.0 && counts &&
         dtypes && keeps && conditions && errors && params;
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
