#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "kernels/dtype.h"
#include "kernels/scalar.h"

namespace shoal::kernels {

/// How an op's work is spread over elements: what the planner, the devices and the combine step
/// need to know of it.
enum class OpForm : uint8_t {
  kMap,     ///< Output element i depends on element i of each input.
  kReduce,  ///< Terms made elementwise, folded by the canonical tree (kernels/reduce.h).
  kSort,    ///< Along the last axis; within one row every element may move.
};

/// How the output's dtype follows from the common dtype of the inputs.
enum class DTypeRule : uint8_t {
  kSame,
  kSumWidened,  ///< NumPy's `sum`: bool and signed to int64, unsigned to uint64, floats stay.
};

/// Which values a scalar parameter may take.
enum class ParamRule : uint8_t {
  /// A value of the array's dtype, as a literal in NEP 50: rounded to it for floats (an integer
  /// through float64), and for integers only whole numbers in the dtype's range are accepted, which
  /// stay exact. Complex: a real number.
  kElement,
};

/// A named scalar that comes beside the arrays.
struct ParamInfo {
  std::string_view name;
  std::string_view doc;  ///< One phrase.
  ParamRule rule = ParamRule::kElement;
};

/// One line of the op table (kernels/op_table.h).
///
/// Everything that lists, types, plans, documents or tests ops reads this record; the per-dtype
/// code is bound to it by name in kernels/cpu, and a line without its code does not build.
struct OpInfo {
  std::string_view name;
  std::string_view doc;  ///< One sentence, as `shoal info` prints it.
  OpForm form = OpForm::kMap;
  int8_t inputs_min = 1;
  int8_t inputs_max = 1;
  bool any_dtype = false;  ///< True: elements are moved, never looked at.
  uint32_t dtypes = 0;     ///< Bit 1 << number of each dtype it is built for.
  DTypeRule dtype_rule = DTypeRule::kSame;
  std::span<const ParamInfo> params;  ///< All required.
  /// One core, float32, in cache: decides whether a call runs inline or is queued; no promise.
  double cost_ns_per_element = 0.0;

  /// Arrays that one call of the kernel reads: an op that only moves takes them one by one.
  constexpr int KernelInputs() const { return any_dtype ? 1 : inputs_min; }

  constexpr bool Supports(DType dtype) const {
    return (dtypes >> static_cast<int>(dtype) & 1U) != 0;
  }
};

/// Every op, in the order of the table. The span lives for ever.
std::span<const OpInfo> AllOps();

/// The op of that name, or null. Cost: one hash.
const OpInfo* FindOp(std::string_view name);

/// The place of `op` in AllOps(). `op` must be an element of it, not a copy.
int64_t IndexOf(const OpInfo& op);

/// The output dtype for inputs of `input`.
///
/// Errors:
///   UNIMPLEMENTED  the op is not built for that dtype; the message lists those it is built for.
absl::StatusOr<DType> OutputDType(const OpInfo& op, DType input);

/// Checks the values of all parameters, given in the table's order, for inputs of `dtype`.
///
/// Errors:
///   INVALID_ARGUMENT  wrong number of them, or a value its rule forbids; the message names the
///                     parameter, the value and what is allowed.
absl::Status ValidateParams(const OpInfo& op, DType dtype, std::span<const Scalar> params);

}  // namespace shoal::kernels
