#include "kernels/program/functions.h"

#include <algorithm>
#include <array>
#include <numbers>
#include <optional>
#include <string>
#include <utility>

#include "base/status.h"
#include "kernels/program/numbers.h"
#include "kernels/program/reductions.h"
#include "kernels/registry.h"

namespace shoal::kernels::program {
namespace {

using Operands = absl::Span<const Value>;

absl::StatusOr<Value> Apply(GraphBuilder& builder, std::string_view op,
                            const std::vector<Value>& operands) {
  return builder.Apply(*FindOp(op), operands);
}

Value Number(double number) { return GraphBuilder::Number(number, WeakKind::kFloat); }

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

/// Of complex numbers the length of the arrow.
absl::StatusOr<Value> Absolute(GraphBuilder& builder, Operands x) {
  if (x[0].node < 0 || !IsComplex(builder.TypeOf(x[0]).dtype)) {
    const OpInfo& absolute = *FindOp("absolute");
    return builder.Apply(absolute, x);
  }
  SHOAL_ASSIGN_OR_RETURN(const Value re, Apply(builder, "real", {x[0]}));
  SHOAL_ASSIGN_OR_RETURN(const Value im, Apply(builder, "imag", {x[0]}));
  return Apply(builder, "hypot", {re, im});
}

/// The op of that name as a reduction.
template <const char* kOp>
absl::StatusOr<Value> ReduceBy(GraphBuilder& builder, const Value& x,
                               const ReduceOptions& options) {
  return Reduce(builder, kOp, x, options);
}
constexpr char kSum[] = "sum";
constexpr char kProd[] = "prod";
constexpr char kMin[] = "min";
constexpr char kMax[] = "max";

constexpr Function Elementwise(absl::string_view name, absl::string_view doc, int8_t operands,
                               decltype(Function::make) make) {
  return {.name = name, .doc = doc, .operands = operands, .make = make};
}
constexpr Function Reduction(absl::string_view name, absl::string_view doc,
                             decltype(Function::reduce) reduce) {
  return {.name = name, .doc = doc, .operands = 1, .reduce = reduce};
}

constexpr auto kFunctions = std::to_array<Function>({
    Elementwise("absolute", "|x|; of the least integer itself.", 1, &Absolute),
    Elementwise("abs", "As absolute.", 1, &Absolute),
    Elementwise("clip", "x, but at least y and at most z.", 3, &Clip),
    Elementwise("reciprocal", "1 / x, of integers as float64.", 1, &Reciprocal),
    Elementwise("degrees", "Radians as degrees.", 1, &Degrees),
    Elementwise("rad2deg", "As degrees.", 1, &Degrees),
    Elementwise("radians", "Degrees as radians.", 1, &Radians),
    Elementwise("deg2rad", "As radians.", 1, &Radians),
    Elementwise("power",
                "x to the power of y; for the exponents 2, 1, 0.5, -1 as square, x, sqrt, 1 / x.",
                2, &Power),
    Elementwise("pow", "As power.", 2, &Power),
    Elementwise("logaddexp", "log(exp(x) + exp(y)), without overflow on the way.", 2, &LogAddExp),
    Reduction("sum", "The sum; small integers and bool widen.", &ReduceBy<kSum>),
    Reduction("prod", "The product; small integers and bool widen.", &ReduceBy<kProd>),
    Reduction("min", "The least element; NaN if one is.", &ReduceBy<kMin>),
    Reduction("amin", "As min.", &ReduceBy<kMin>),
    Reduction("max", "The greatest element; NaN if one is.", &ReduceBy<kMax>),
    Reduction("amax", "As max.", &ReduceBy<kMax>),
    Reduction("ptp", "The greatest element less the least.", &PeakToPeak),
    Reduction("argmin", "The index of the first least element, or of the first NaN.", &ArgMin),
    Reduction("argmax", "The index of the first greatest element, or of the first NaN.", &ArgMax),
    Reduction("count_nonzero", "How many elements are not 0.", &CountNonzero),
    Reduction("any", "Whether an element is not 0.", &Any),
    Reduction("all", "Whether no element is 0.", &All),
    Reduction("mean", "The sum, integers as float64, divided by the number of elements.", &Mean),
    Reduction("average", "As mean.", &Mean),
    Reduction("var", "The mean of the squared distances from the mean; ddof lowers the divisor.",
              &Variance),
    Reduction("std", "The square root of var.", &Deviation),
    Reduction("norm", "The square root of the sum of squares.", &Norm),
    Reduction("index", "The index of each element, among all or along an axis.", &IndexOf),
});

// Other names, NumPy's and the array API's.
using Alias = std::pair<absl::string_view, std::string_view>;
constexpr auto kAliases = std::to_array<Alias>({
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
