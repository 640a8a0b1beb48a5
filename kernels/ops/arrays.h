#pragma once

#include <array>

#include "kernels/ops/rows.h"

// Rows: ops that are not elementwise.
namespace shoal::kernels {

inline constexpr std::array kArrayOps = {
    OpInfo{.name = "echo",
           .symbol = "",
           .doc = "The arrays themselves, byte for byte; of none, nothing.",
           .form = OpForm::kMove,
           .inputs_min = 0,
           .inputs_max = kOpInputsMax,
           .dtypes = kEveryDType,
           .dtype_rule = DTypeRule::kSame,
           .params = {},
           .cost_ns_per_element = 0.05},
    OpInfo{.name = "sum",
           .symbol = "",
           .doc = "Sum of all elements by the canonical tree; small integers and bool widen.",
           .form = OpForm::kReduce,
           .inputs_min = 1,
           .inputs_max = 1,
           .dtypes = kEveryDType,
           .dtype_rule = DTypeRule::kSumWidened,
           .params = {},
           .cost_ns_per_element = 0.06},
    OpInfo{.name = "dot",
           .symbol = "",
           .doc = "Sum of x * y by the canonical tree, in the inputs' dtype; bool is any(x & y).",
           .form = OpForm::kReduce,
           .inputs_min = 2,
           .inputs_max = 2,
           .dtypes = kEveryDType,
           .dtype_rule = DTypeRule::kSame,
           .params = {},
           .cost_ns_per_element = 0.1},
    OpInfo{.name = "sort",
           .symbol = "",
           .doc = "Each row ascending: -0 before +0, every NaN last.",
           .form = OpForm::kSort,
           .inputs_min = 1,
           .inputs_max = 1,
           .dtypes = kRealDTypes,
           .dtype_rule = DTypeRule::kSame,
           .params = {},
           .cost_ns_per_element = 6.0},
};

}  // namespace shoal::kernels
