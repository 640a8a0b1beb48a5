#include "kernels/program/functions.h"

#include <algorithm>
#include <array>
#include <numbers>
#include <optional>
#include <string>
#include <utility>

#include "base/status.h"
#include "kernels/program/numbers.h"
#include "kernels/registry.h"

namespace shoal::kernels::program {
namespace {

using Operands = absl::Span<const Value>;

absl::StatusOr<Value> Apply(GraphBuilder& builder, std::string_view op,
                            const std::vector<Value>& operands) {
  return builder.Apply(*FindOp(op), operands);
}

Value Number(double number) { return GraphBuilder::Number(number, WeakKind::kFloat); }
Value Whole(int64_t number) { return GraphBuilder::Number(number, WeakKind::kInt); }

absl::StatusOr<Value> Clip(GraphBuilder& builder, Operands x) {
  SHOAL_ASSIGN_OR_RETURN(const Value above, Apply(builder, "maximum", {x[0], x[1]}));
  return Apply(builder, "minimum", {above, x[2]});
}

absl::StatusOr<Value> Reciprocal(GraphBuilder& builder, Operands x) {
  return Apply(builder, "divide", {Number(1.0), x[0]});
}

absl::StatusOr<Value> Degrees(GraphBuilder& builder, Operands x) {
  return Apply(builder, "multiply", {x[0], Number(180.0 / std::numbers::pi)});
}

absl::StatusOr<Value> Radians(GraphBuilder& builder, Operands x) {
  return Apply(builder, "multiply", {x[0], Number(std::numbers::pi / 180.0)});
}

/// The exponent, if it is a real number and not an array.
std::optional<double> ExponentOf(const Value& value) {
  if (value.node >= 0 || value.weak == WeakKind::kComplex) return std::nullopt;
  return ToDouble(value.number);
}

// A float exponent makes integers floats, as any float number does.
absl::StatusOr<Value> BaseOf(GraphBuilder& builder, Operands x) {
  if (x[1].weak != WeakKind::kFloat || x[0].node < 0) return x[0];
  return builder.Convert(x[0], PromoteWeak(builder.TypeOf(x[0]).dtype, WeakKind::kFloat));
}

bool IsWhole(DType dtype) {
  const DTypeClass of = ClassOf(dtype);
  return of != DTypeClass::kFloat && of != DTypeClass::kComplex;
}

// Like NumPy, exponents for which there is something better than a power take that.
absl::StatusOr<Value> Power(GraphBuilder& builder, Operands x) {
  const OpInfo& power = *FindOp("power");
  if (const std::optional<Value> folded = FoldNumbers(power, x)) return *folded;
  SHOAL_ASSIGN_OR_RETURN(const Value base, BaseOf(builder, x));
  const std::optional<double> exponent = ExponentOf(x[1]);
  if (exponent == 2.0) return Apply(builder, "square", {base});
  if (exponent == 1.0) return Apply(builder, "positive", {base});
  if (exponent == 0.5) return Apply(builder, "sqrt", {base});
  const bool whole = base.node >= 0 && IsWhole(builder.TypeOf(base).dtype);
  if (whole && exponent.has_value() && *exponent < 0) {
    return absl::InvalidArgumentError(
        "integers have no negative powers; a float exponent makes them floats");
  }
  if (exponent == -1.0) return Reciprocal(builder, {&base, 1});
  return builder.Apply(power, {base, x[1]});
}

// log(e^x + e^y), without overflow: the larger one and what the smaller one adds to it. For two
// infinities of one sign the difference is not 0 but NaN.
absl::StatusOr<Value> LogAddExp(GraphBuilder& builder, Operands x) {
  SHOAL_ASSIGN_OR_RETURN(const Value larger, Apply(builder, "maximum", {x[0], x[1]}));
  SHOAL_ASSIGN_OR_RETURN(const Value difference, Apply(builder, "subtract", {x[0], x[1]}));
  SHOAL_ASSIGN_OR_RETURN(const Value distance, Apply(builder, "absolute", {difference}));
  SHOAL_ASSIGN_OR_RETURN(const Value exponent, Apply(builder, "negative", {distance}));
  SHOAL_ASSIGN_OR_RETURN(const Value ratio, Apply(builder, "exp", {exponent}));
  SHOAL_ASSIGN_OR_RETURN(const Value rest, Apply(builder, "log1p", {ratio}));
  SHOAL_ASSIGN_OR_RETURN(const Value sum, Apply(builder, "add", {larger, rest}));
  SHOAL_ASSIGN_OR_RETURN(const Value equal, Apply(builder, "equal", {x[0], x[1]}));
  SHOAL_ASSIGN_OR_RETURN(const Value twice,
                         Apply(builder, "add", {larger, Number(std::numbers::ln2)}));
  return Apply(builder, "where", {equal, twice, sum});
}

absl::StatusOr<Value> CountNonzero(GraphBuilder& builder, Operands x) {
  SHOAL_ASSIGN_OR_RETURN(const Value zero, Apply(builder, "logical_not", {x[0]}));
  SHOAL_ASSIGN_OR_RETURN(const Value nonzero, Apply(builder, "logical_not", {zero}));
  return Apply(builder, "sum", {nonzero});
}

absl::StatusOr<Value> Any(GraphBuilder& builder, Operands x) {
  SHOAL_ASSIGN_OR_RETURN(const Value count, CountNonzero(builder, x));
  return Apply(builder, "greater", {count, Whole(0)});
}

absl::StatusOr<Value> All(GraphBuilder& builder, Operands x) {
  SHOAL_ASSIGN_OR_RETURN(const Value zero, Apply(builder, "logical_not", {x[0]}));
  SHOAL_ASSIGN_OR_RETURN(const Value count, Apply(builder, "sum", {zero}));
  return Apply(builder, "equal", {count, Whole(0)});
}

/// Integers as float64, as NumPy's mean.
absl::StatusOr<Value> AsFloat(GraphBuilder& builder, const Value& x) {
  if (x.node < 0) return builder.Convert(x, DType::kFloat64);
  const DType dtype = builder.TypeOf(x).dtype;
  const bool is_float = ClassOf(dtype) == DTypeClass::kFloat || IsComplex(dtype);
  return is_float ? absl::StatusOr<Value>(x) : builder.Convert(x, DType::kFloat64);
}

absl::StatusOr<Value> Mean(GraphBuilder& builder, Operands x) {
  SHOAL_ASSIGN_OR_RETURN(const Value real, AsFloat(builder, x[0]));
  SHOAL_ASSIGN_OR_RETURN(const Value sum, Apply(builder, "sum", {real}));
  const auto count = static_cast<double>(builder.TypeOf(real).shape.element_count());
  return Apply(builder, "divide", {sum, Number(count)});
}

// NumPy's, in two passes: the mean of the squared distances from the mean.
absl::StatusOr<Value> Variance(GraphBuilder& builder, Operands x) {
  SHOAL_ASSIGN_OR_RETURN(const Value real, AsFloat(builder, x[0]));
  SHOAL_ASSIGN_OR_RETURN(const Value mean, Mean(builder, {&real, 1}));
  SHOAL_ASSIGN_OR_RETURN(const Value distance, Apply(builder, "subtract", {real, mean}));
  SHOAL_ASSIGN_OR_RETURN(const Value square, Apply(builder, "square", {distance}));
  return Mean(builder, {&square, 1});
}

absl::StatusOr<Value> Deviation(GraphBuilder& builder, Operands x) {
  SHOAL_ASSIGN_OR_RETURN(const Value variance, Variance(builder, x));
  return Apply(builder, "sqrt", {variance});
}

absl::StatusOr<Value> Norm(GraphBuilder& builder, Operands x) {
  SHOAL_ASSIGN_OR_RETURN(const Value real, AsFloat(builder, x[0]));
  SHOAL_ASSIGN_OR_RETURN(const Value square, Apply(builder, "square", {real}));
  SHOAL_ASSIGN_OR_RETURN(const Value sum, Apply(builder, "sum", {square}));
  return Apply(builder, "sqrt", {sum});
}

constexpr auto kFunctions = std::to_array<Function>({
    {"clip", "x, but at least y and at most z.", 3, 3, &Clip},
    {"reciprocal", "1 / x, of integers as float64.", 1, 1, &Reciprocal},
    {"degrees", "Radians as degrees.", 1, 1, &Degrees},
    {"rad2deg", "As degrees.", 1, 1, &Degrees},
    {"radians", "Degrees as radians.", 1, 1, &Radians},
    {"deg2rad", "As radians.", 1, 1, &Radians},
    {"power", "x to the power of y; for the exponents 2, 1, 0.5, -1 as square, x, sqrt, 1 / x.", 2,
     2, &Power},
    {"pow", "As power.", 2, 2, &Power},
    {"logaddexp", "log(exp(x) + exp(y)), without overflow on the way.", 2, 2, &LogAddExp},
    {"count_nonzero", "How many elements are not 0.", 1, 1, &CountNonzero},
    {"any", "Whether an element is not 0.", 1, 1, &Any},
    {"all", "Whether no element is 0.", 1, 1, &All},
    {"mean", "The sum of all elements, integers as float64, divided by their number.", 1, 1, &Mean},
    {"average", "As mean.", 1, 1, &Mean},
    {"var", "The mean of the squared distances from the mean.", 1, 1, &Variance},
    {"std", "The square root of var.", 1, 1, &Deviation},
    {"norm", "The square root of the sum of squares.", 1, 1, &Norm},
});

// Other names, NumPy's and the array API's.
using Alias = std::pair<absl::string_view, std::string_view>;
constexpr auto kAliases = std::to_array<Alias>({
    {"abs", "absolute"},
    {"conj", "conjugate"},
    {"mod", "remainder"},
    {"neg", "negative"},
    {"true_divide", "divide"},
    {"bitwise_not", "invert"},
    {"bitwise_invert", "invert"},
    {"bitwise_left_shift", "left_shift"},
    {"bitwise_right_shift", "right_shift"},
    {"round", "rint"},
    {"arcsin", "asin"},
    {"arccos", "acos"},
    {"arctan", "atan"},
    {"arctan2", "atan2"},
    {"arcsinh", "asinh"},
    {"arccosh", "acosh"},
    {"arctanh", "atanh"},
});

}  // namespace

absl::Span<const Function> AllFunctions() { return kFunctions; }

const Function* FindFunction(absl::string_view name) {
  const auto* found = std::find_if(kFunctions.begin(), kFunctions.end(),
                                   [&](const Function& function) { return function.name == name; });
  return found == kFunctions.end() ? nullptr : found;
}

const OpInfo* FindOpOrAlias(absl::string_view name) {
  for (const auto& [alias, op] : kAliases) {
    if (alias == name) return FindOp(op);
  }
  return FindOp({name.data(), name.size()});
}

}  // namespace shoal::kernels::program
