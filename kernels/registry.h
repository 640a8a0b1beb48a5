#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/check.h"
#include "kernels/dtype.h"
#include "kernels/scalar.h"

namespace shoal::kernels {

/// How an op's work is spread over elements: what the planner, the devices and the combine step
/// need to know of it.
enum class OpForm : uint8_t {
  kMove,    ///< The inputs themselves, whatever their elements.
  kMap,     ///< Output element i depends on element i of each input.
  kReduce,  ///< Terms made elementwise, folded by the canonical tree (kernels/reduce.h).
  kSort,    ///< Along the last axis; within one row every element may move.
};

/// From the common dtype of the inputs (NEP 50) to the one that they are computed in.
enum class Promotion : uint8_t {
  kNone,        ///< The common dtype itself.
  kNumber,      ///< bool as int8.
  kFloat,       ///< bool and integers of 8 or 16 bits as float32, larger ones as float64.
  kTrueDivide,  ///< bool and integers as float64.
};

/// How the output's dtype follows from the one that is computed in.
enum class DTypeRule : uint8_t {
  kSame,
  kSumWidened,  ///< NumPy's `sum`: bool and signed to int64, unsigned to uint64, floats stay.
  kBool,
  kRealPart,  ///< Of complex numbers the float dtype of their parts; others stay.
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

/// How far an elementwise op's results are from the true values at most, in units of the last
/// place. 0: every operation that `doc` names is rounded once, as IEEE 754 has it.
struct UlpBound {
  double float32 = 0.0;
  double float64 = 0.0;
};

/// One line of the op table (kernels/op_table.h).
///
/// Everything that lists, types, plans, documents or tests ops reads this record; the per-dtype
/// code is bound to it by name in kernels/cpu, and a line without its code does not build.
struct OpInfo {
  std::string_view name;
  std::string_view symbol = {};  ///< The operator that programs may write instead, or empty.
  std::string_view doc;          ///< One sentence, as `shoal info` prints it.
  OpForm form = OpForm::kMap;
  int8_t inputs_min = 1;
  int8_t inputs_max = 1;
  bool condition = false;  ///< True: the first input is bool and takes no part in promotion.
  uint32_t dtypes = 0;     ///< Bit 1 << number of each dtype it is built for.
  Promotion promotion = Promotion::kNone;
  DTypeRule dtype_rule = DTypeRule::kSame;
  std::span<const ParamInfo> params = {};  ///< All required.
  bool needs_elements = false;             ///< A reduction that has no value of no elements.
  UlpBound error = {};  ///< Of halves, which are float32 rounded once more, as float32.
  /// One core, float32, in cache: decides whether a call runs inline or is queued; no promise.
  double cost_ns_per_element = 0.0;

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

/// The dtype that inputs of the common dtype `common` are converted to before the op computes.
///
/// Errors:
///   UNIMPLEMENTED  the op is not built for that dtype; the message lists those it is built for.
absl::StatusOr<DType> ComputeDType(const OpInfo& op, DType common);

/// The float dtype of a complex number's parts; another dtype itself.
constexpr DType RealPart(DType dtype) {
  if (dtype == DType::kComplex64) return DType::kFloat32;
  return dtype == DType::kComplex128 ? DType::kFloat64 : dtype;
}

/// The output's dtype, for inputs that are computed in `dtype`.
constexpr DType OutputDType(const OpInfo& op, DType dtype) {
  switch (op.dtype_rule) {
    case DTypeRule::kSame:
      return dtype;
    case DTypeRule::kBool:
      return DType::kBool;
    case DTypeRule::kRealPart:
      return RealPart(dtype);
    case DTypeRule::kSumWidened:
      if (IsUnsignedInteger(dtype)) return DType::kUint64;
      return IsSignedInteger(dtype) || dtype == DType::kBool ? DType::kInt64 : dtype;
  }
  SHOAL_UNREACHABLE("dtype rule out of range");
}

/// Whether the number, as a literal, is a value of that dtype: integers must be whole and in range,
/// real dtypes have no imaginary part; floats take every value, rounded.
bool IsValueOf(DType dtype, const Scalar& number);

/// Checks the values of all parameters, given in the table's order, for inputs of `dtype`.
///
/// Errors:
///   INVALID_ARGUMENT  wrong number of them, or a value its rule forbids; the message names the
///                     parameter, the value and what is allowed.
absl::Status ValidateParams(const OpInfo& op, DType dtype, std::span<const Scalar> params);

}  // namespace shoal::kernels
