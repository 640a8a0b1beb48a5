#include "kernels/program/reductions.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "kernels/registry.h"

namespace shoal::kernels::program {
namespace {

absl::StatusOr<Value> Apply(GraphBuilder& builder, std::string_view op,
                            const std::vector<Value>& operands) {
  return builder.Apply(*FindOp(op), operands);
}

Value Whole(int64_t number) { return GraphBuilder::Number(number, WeakKind::kInt); }

Shape ShapeOf(const GraphBuilder& builder, const Value& value) {
  return value.node < 0 ? Shape() : builder.TypeOf(value).shape;
}

/// Which axes are reduced.
absl::StatusOr<std::vector<bool>> Reduced(const Shape& shape, const ReduceOptions& options) {
  const int64_t rank = shape.rank();
  std::vector<bool> reduced(static_cast<size_t>(rank), !options.axes.has_value());
  if (!options.axes.has_value()) return reduced;
  for (const int64_t axis : *options.axes) {
    if (axis < -rank || axis >= rank) {
      return absl::InvalidArgumentError(
          absl::StrCat("axis ", axis, " of an array of shape ", shape.ToString()));
    }
    auto place = reduced[static_cast<size_t>(axis < 0 ? axis + rank : axis)];
    if (place) return absl::InvalidArgumentError(absl::StrCat("axis ", axis, " stands twice"));
    place = true;
  }
  return reduced;
}

/// Axes that are left, each with whether it is still to be reduced.
struct Axes {
  std::vector<int64_t> extents;
  std::vector<bool> reduced;

  bool IsReduced(size_t axis) const { return reduced[axis]; }
  static int64_t Product(const std::vector<int64_t>& extents, size_t begin, size_t end) {
    int64_t product = 1;
    for (size_t i = begin; i < end; ++i) product *= extents[i];
    return product;
  }

  /// Takes the innermost run of reduced axes away, and gives the fold over it.
  std::optional<FoldShape> TakeFold() {
    size_t end = extents.size();
    while (end > 0 && !reduced[end - 1]) --end;
    size_t begin = end;
    while (begin > 0 && reduced[begin - 1]) --begin;
    if (begin == end) return std::nullopt;
    const FoldShape fold = {.blocks = Product(extents, 0, begin),
                            .rows = Product(extents, begin, end),
                            .columns = Product(extents, end, extents.size())};
    const auto at = [](auto& list, size_t i) {
      return list.begin() + static_cast<std::ptrdiff_t>(i);
    };
    extents.erase(at(extents, begin), at(extents, end));
    reduced.erase(at(reduced, begin), at(reduced, end));
    return fold;
  }
};

/// The operand's shape after the reduction.
Shape ResultShape(const Shape& shape, const std::vector<bool>& reduced, bool keepdims) {
  std::vector<int64_t> extents;
  for (size_t i = 0; i < reduced.size(); ++i) {
    if (!reduced[i]) extents.push_back(shape.extents()[i]);
    if (reduced[i] && keepdims) extents.push_back(1);
  }
  return *Shape::Create(extents);  // No more of anything than the operand has.
}

bool IsHalfValue(const GraphBuilder& builder, const Value& x) {
  return x.node >= 0 && IsHalf(builder.TypeOf(x).dtype);
}

/// Integers as float64, as NumPy's mean; halves as float32, in which they are added.
absl::StatusOr<Value> AsFloat(GraphBuilder& builder, const Value& x) {
  if (x.node < 0) return builder.Convert(x, DType::kFloat64);
  const DType dtype = builder.TypeOf(x).dtype;
  if (IsHalf(dtype)) return builder.Convert(x, DType::kFloat32);
  const bool is_float = ClassOf(dtype) == DTypeClass::kFloat || IsComplex(dtype);
  return is_float ? absl::StatusOr<Value>(x) : builder.Convert(x, DType::kFloat64);
}

/// |x| squared.
absl::StatusOr<Value> SquaredMagnitude(GraphBuilder& builder, const Value& x) {
  if (x.node < 0 || !IsComplex(builder.TypeOf(x).dtype)) return Apply(builder, "square", {x});
  SHOAL_ASSIGN_OR_RETURN(const Value re, Apply(builder, "real", {x}));
  SHOAL_ASSIGN_OR_RETURN(const Value im, Apply(builder, "imag", {x}));
  SHOAL_ASSIGN_OR_RETURN(const Value re_square, Apply(builder, "square", {re}));
  SHOAL_ASSIGN_OR_RETURN(const Value im_square, Apply(builder, "square", {im}));
  return Apply(builder, "add", {re_square, im_square});
}

/// The result in the dtype that NumPy gives it: halves are halves again.
absl::StatusOr<Value> AsFloatOf(GraphBuilder& builder, const Value& result, const Value& x) {
  return IsHalfValue(builder, x) ? builder.Convert(result, builder.TypeOf(x).dtype) : result;
}

/// How many elements each result is made of.
absl::StatusOr<int64_t> CountOf(const Shape& shape, const ReduceOptions& options) {
  SHOAL_ASSIGN_OR_RETURN(const std::vector<bool> reduced, Reduced(shape, options));
  int64_t count = 1;
  for (size_t i = 0; i < reduced.size(); ++i) {
    if (reduced[i]) count *= shape.extents()[i];
  }
  return count;
}

/// The mean of what is a float already.
absl::StatusOr<Value> MeanOfFloat(GraphBuilder& builder, const Value& x, int64_t less,
                                  const ReduceOptions& options) {
  SHOAL_ASSIGN_OR_RETURN(const int64_t count, CountOf(ShapeOf(builder, x), options));
  SHOAL_ASSIGN_OR_RETURN(const Value sum, Reduce(builder, "sum", x, options));
  const auto divisor = static_cast<double>(std::max(count - less, int64_t{0}));
  return Apply(builder, "divide", {sum, GraphBuilder::Number(divisor, WeakKind::kFloat)});
}

absl::StatusOr<Value> ArgExtreme(GraphBuilder& builder, const Value& x,
                                 const ReduceOptions& options, std::string_view extreme) {
  if (options.axes.has_value() && options.axes->size() != 1) {
    return absl::InvalidArgumentError("takes one axis, or none");
  }
  ReduceOptions kept = options;
  kept.keepdims = true;
  SHOAL_ASSIGN_OR_RETURN(const Value best, Reduce(builder, extreme, x, kept));
  SHOAL_ASSIGN_OR_RETURN(const Value equal, Apply(builder, "equal", {x, best}));
  SHOAL_ASSIGN_OR_RETURN(const Value nan, Apply(builder, "isnan", {x}));
  SHOAL_ASSIGN_OR_RETURN(const Value hit, Apply(builder, "logical_or", {equal, nan}));
  SHOAL_ASSIGN_OR_RETURN(const Value index, IndexOf(builder, x, options));
  SHOAL_ASSIGN_OR_RETURN(const int64_t count, CountOf(ShapeOf(builder, x), options));
  SHOAL_ASSIGN_OR_RETURN(const Value place, Apply(builder, "where", {hit, index, Whole(count)}));
  return Reduce(builder, "min", place, options);
}

}  // namespace

absl::StatusOr<Value> Reduce(GraphBuilder& builder, std::string_view op, const Value& operand,
                             const ReduceOptions& options) {
  const Shape shape = ShapeOf(builder, operand);
  SHOAL_ASSIGN_OR_RETURN(const std::vector<bool> reduced, Reduced(shape, options));
  const Shape result = ResultShape(shape, reduced, options.keepdims);
  const OpInfo& info = *FindOp(op);
  if (!options.axes.has_value()) {
    return builder.Reduce(info, {&operand, 1}, {.rows = shape.element_count()}, result);
  }
  Axes axes = {{shape.extents().begin(), shape.extents().end()}, reduced};
  std::optional<FoldShape> fold = axes.TakeFold();
  // Over no axis each element is reduced alone.
  if (!fold.has_value()) fold = FoldShape{shape.element_count(), 1, 1};
  Value value = operand;
  // Between two folds a half would be rounded.
  const std::optional<FoldShape> second = axes.TakeFold();
  const bool widens = second.has_value() && IsHalfValue(builder, operand);
  if (widens) {
    SHOAL_ASSIGN_OR_RETURN(value, builder.Convert(operand, DType::kFloat32));
  }
  for (std::optional<FoldShape> next = second; fold.has_value(); next = axes.TakeFold()) {
    const Shape flat = next.has_value() ? *Shape::Create({fold->result_count()}) : result;
    SHOAL_ASSIGN_OR_RETURN(value, builder.Reduce(info, {&value, 1}, *fold, flat));
    fold = next;
  }
  return widens ? builder.Convert(value, builder.TypeOf(operand).dtype) : value;
}

absl::StatusOr<Value> CountNonzero(GraphBuilder& builder, const Value& x,
                                   const ReduceOptions& options) {
  SHOAL_ASSIGN_OR_RETURN(const Value nonzero, builder.Convert(x, DType::kBool));
  return Reduce(builder, "sum", nonzero, options);
}

absl::StatusOr<Value> Any(GraphBuilder& builder, const Value& x, const ReduceOptions& options) {
  SHOAL_ASSIGN_OR_RETURN(const Value count, CountNonzero(builder, x, options));
  return Apply(builder, "greater", {count, Whole(0)});
}

absl::StatusOr<Value> All(GraphBuilder& builder, const Value& x, const ReduceOptions& options) {
  SHOAL_ASSIGN_OR_RETURN(const Value zero, Apply(builder, "logical_not", {x}));
  SHOAL_ASSIGN_OR_RETURN(const Value count, Reduce(builder, "sum", zero, options));
  return Apply(builder, "equal", {count, Whole(0)});
}

absl::StatusOr<Value> Mean(GraphBuilder& builder, const Value& x, const ReduceOptions& options) {
  SHOAL_ASSIGN_OR_RETURN(const Value real, AsFloat(builder, x));
  SHOAL_ASSIGN_OR_RETURN(const Value mean, MeanOfFloat(builder, real, 0, options));
  return AsFloatOf(builder, mean, x);
}

// NumPy's, in two passes: the mean of the squared distances from the mean.
absl::StatusOr<Value> Variance(GraphBuilder& builder, const Value& x,
                               const ReduceOptions& options) {
  ReduceOptions kept = options;
  kept.keepdims = true;
  SHOAL_ASSIGN_OR_RETURN(const Value real, AsFloat(builder, x));
  SHOAL_ASSIGN_OR_RETURN(const Value mean, MeanOfFloat(builder, real, 0, kept));
  SHOAL_ASSIGN_OR_RETURN(const Value distance, Apply(builder, "subtract", {real, mean}));
  SHOAL_ASSIGN_OR_RETURN(const Value square, SquaredMagnitude(builder, distance));
  SHOAL_ASSIGN_OR_RETURN(const Value variance, MeanOfFloat(builder, square, options.ddof, options));
  return AsFloatOf(builder, variance, x);
}

absl::StatusOr<Value> Deviation(GraphBuilder& builder, const Value& x,
                                const ReduceOptions& options) {
  SHOAL_ASSIGN_OR_RETURN(const Value variance, Variance(builder, x, options));
  return Apply(builder, "sqrt", {variance});
}

absl::StatusOr<Value> Norm(GraphBuilder& builder, const Value& x, const ReduceOptions& options) {
  SHOAL_ASSIGN_OR_RETURN(const Value real, AsFloat(builder, x));
  SHOAL_ASSIGN_OR_RETURN(const Value square, SquaredMagnitude(builder, real));
  SHOAL_ASSIGN_OR_RETURN(const Value sum, Reduce(builder, "sum", square, options));
  SHOAL_ASSIGN_OR_RETURN(const Value norm, Apply(builder, "sqrt", {sum}));
  return AsFloatOf(builder, norm, x);
}

absl::StatusOr<Value> PeakToPeak(GraphBuilder& builder, const Value& x,
                                 const ReduceOptions& options) {
  SHOAL_ASSIGN_OR_RETURN(const Value greatest, Reduce(builder, "max", x, options));
  SHOAL_ASSIGN_OR_RETURN(const Value least, Reduce(builder, "min", x, options));
  return Apply(builder, "subtract", {greatest, least});
}

absl::StatusOr<Value> ArgMax(GraphBuilder& builder, const Value& x, const ReduceOptions& options) {
  return ArgExtreme(builder, x, options, "max");
}

absl::StatusOr<Value> ArgMin(GraphBuilder& builder, const Value& x, const ReduceOptions& options) {
  return ArgExtreme(builder, x, options, "min");
}

absl::StatusOr<Value> IndexOf(GraphBuilder& builder, const Value& x, const ReduceOptions& options) {
  const Shape shape = ShapeOf(builder, x);
  if (!options.axes.has_value()) return builder.Index(shape, {.rows = shape.element_count()});
  SHOAL_ASSIGN_OR_RETURN(const std::vector<bool> reduced, Reduced(shape, options));
  Axes axes = {{shape.extents().begin(), shape.extents().end()}, reduced};
  const std::optional<FoldShape> fold = axes.TakeFold();
  if (options.axes->size() != 1) return absl::InvalidArgumentError("takes one axis, or none");
  return builder.Index(shape, *fold);
}

}  // namespace shoal::kernels::program
