#include "server/plan/typing.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status.h"

namespace shoal::plan {
namespace {

using kernels::DType;
using kernels::OpForm;
using kernels::OpInfo;

std::string OpName(const OpInfo& op) { return std::string(op.name); }
std::string DTypeName(DType dtype) { return std::string(kernels::Name(dtype)); }

/// NumPy's rule: from the last axis backwards, extents are equal or one of them is 1.
bool AreBroadcastable(const Shape& a, const Shape& b) {
  auto left = a.extents().rbegin();
  auto right = b.extents().rbegin();
  for (; left != a.extents().rend() && right != b.extents().rend(); ++left, ++right) {
    if (*left != *right && *left != 1 && *right != 1) return false;
  }
  return true;
}

absl::StatusOr<Shape> CommonShape(const OpInfo& op, const Shape& a, const Shape& b) {
  if (a == b) return a;
  const bool reduces = op.form == OpForm::kReduce;
  // A single element goes with every shape that has at least as many axes.
  if (!reduces && b.element_count() == 1 && b.rank() <= a.rank()) return a;
  if (!reduces && a.element_count() == 1 && a.rank() <= b.rank()) return b;
  const std::string shapes = absl::StrCat(a.ToString(), " and ", b.ToString());
  if (!reduces && AreBroadcastable(a, b)) {
    return absl::UnimplementedError(
        absl::StrCat(OpName(op), ": broadcasting ", shapes,
                     " is not built yet; equal shapes and single elements are"));
  }
  return absl::InvalidArgumentError(
      absl::StrCat(OpName(op), ": shapes ", shapes, " do not fit each other"));
}

}  // namespace

absl::Status CheckArity(const OpInfo& op, size_t argument_count) {
  const auto count = static_cast<int64_t>(argument_count);
  if (count >= op.inputs_min && count <= op.inputs_max) return absl::OkStatus();
  const std::string wanted = op.inputs_min == op.inputs_max
                                 ? absl::StrCat(int{op.inputs_min})
                                 : absl::StrCat(int{op.inputs_min}, " to ", int{op.inputs_max});
  return absl::InvalidArgumentError(
      absl::StrCat(OpName(op), " takes ", wanted, " arguments, not ", argument_count));
}

absl::StatusOr<absl::InlinedVector<ArrayType, 1>> OutputTypes(const OpInfo& op,
                                                              absl::Span<const ArrayType> inputs) {
  SHOAL_RETURN_IF_ERROR(CheckArity(op, inputs.size()));
  absl::InlinedVector<ArrayType, 1> outputs;
  if (op.any_dtype) {
    outputs.assign(inputs.begin(), inputs.end());
    return outputs;
  }
  for (const ArrayType& input : inputs.subspan(1)) {
    if (input.dtype == inputs[0].dtype) continue;
    return absl::UnimplementedError(
        absl::StrCat(OpName(op), ": mixed dtypes ", DTypeName(inputs[0].dtype), " and ",
                     DTypeName(input.dtype), " are not built yet; convert one before the call"));
  }
  SHOAL_ASSIGN_OR_RETURN(const DType dtype, kernels::OutputDType(op, inputs[0].dtype));
  Shape shape = inputs[0].shape;
  for (const ArrayType& input : inputs.subspan(1)) {
    SHOAL_ASSIGN_OR_RETURN(shape, CommonShape(op, shape, input.shape));
  }
  if (op.form == OpForm::kReduce) shape = Shape();
  if (op.form == OpForm::kSort && shape.rank() == 0) {
    return absl::InvalidArgumentError("sort: a scalar (shape ()) has no axis to sort along");
  }
  outputs.push_back({dtype, std::move(shape)});
  return outputs;
}

Duration EstimateCost(const OpInfo& op, int64_t elements) {
  double nanoseconds = op.cost_ns_per_element * static_cast<double>(elements);
  if (op.form == OpForm::kSort && elements > 1) {
    nanoseconds *= std::log2(static_cast<double>(elements));
  }
  // 2^53 ns is a hundred days: more needs no precision.
  return Duration(static_cast<int64_t>(std::min(nanoseconds, 0x1p53)));
}

}  // namespace shoal::plan
