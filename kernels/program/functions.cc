#include "kernels/program/functions.h"

#include <algorithm>
#include <array>
#include <numbers>
#include <string>
#include <utility>

#include "base/status.h"
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

constexpr std::array<Function, 12> kFunctions = {{
    {"clip", "x, but at least y and at most z.", 3, 3, &Clip},
    {"reciprocal", "1 / x, of integers as float64.", 1, 1, &Reciprocal},
    {"degrees", "Radians as degrees.", 1, 1, &Degrees},
    {"radians", "Degrees as radians.", 1, 1, &Radians},
    {"count_nonzero", "How many elements are not 0.", 1, 1, &CountNonzero},
    {"any", "Whether an element is not 0.", 1, 1, &Any},
    {"all", "Whether no element is 0.", 1, 1, &All},
    {"mean", "The sum of all elements, integers as float64, divided by their number.", 1, 1, &Mean},
    {"average", "As mean.", 1, 1, &Mean},
    {"var", "The mean of the squared distances from the mean.", 1, 1, &Variance},
    {"std", "The square root of var.", 1, 1, &Deviation},
    {"norm", "The square root of the sum of squares.", 1, 1, &Norm},
}};

// Other names, NumPy's and the array API's.
constexpr std::array<std::pair<absl::string_view, std::string_view>, 10> kAliases = {{
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
}};

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
