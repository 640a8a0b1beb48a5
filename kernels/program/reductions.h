#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/program/builder.h"

// Reductions over axes, and what is made of them.
namespace shoal::kernels::program {

/// What a call of a reduction says beside its operand.
struct ReduceOptions {
  std::optional<std::vector<int64_t>> axes;  ///< Negative ones count from the end; none: all.
  bool keepdims = false;                     ///< Axes that were reduced stay, with extent 1.
  int64_t ddof = 0;                          ///< What a variance's divisor is less than the count.
};

/// A reduction by an op of form kReduce with one input.
///
/// Adjacent axes are one fold; of several folds the innermost is done first, so that the result
/// depends on shape and axes alone.
///
/// Errors:
///   INVALID_ARGUMENT  an axis that the operand does not have, or twice; no elements where the op
///                     needs some.
///   others            as GraphBuilder::Apply.
absl::StatusOr<Value> Reduce(GraphBuilder& builder, std::string_view op, const Value& operand,
                             const ReduceOptions& options);

absl::StatusOr<Value> CountNonzero(GraphBuilder& builder, const Value& x,
                                   const ReduceOptions& options);
absl::StatusOr<Value> Any(GraphBuilder& builder, const Value& x, const ReduceOptions& options);
absl::StatusOr<Value> All(GraphBuilder& builder, const Value& x, const ReduceOptions& options);
absl::StatusOr<Value> Mean(GraphBuilder& builder, const Value& x, const ReduceOptions& options);
absl::StatusOr<Value> Variance(GraphBuilder& builder, const Value& x, const ReduceOptions& options);
absl::StatusOr<Value> Deviation(GraphBuilder& builder, const Value& x,
                                const ReduceOptions& options);
absl::StatusOr<Value> Norm(GraphBuilder& builder, const Value& x, const ReduceOptions& options);
absl::StatusOr<Value> PeakToPeak(GraphBuilder& builder, const Value& x,
                                 const ReduceOptions& options);

/// The index, along the axis or of all elements, of the first greatest or least one; a NaN is both.
/// Takes one axis at most.
absl::StatusOr<Value> ArgMax(GraphBuilder& builder, const Value& x, const ReduceOptions& options);
absl::StatusOr<Value> ArgMin(GraphBuilder& builder, const Value& x, const ReduceOptions& options);

/// The index of each element among all, or along the one axis.
absl::StatusOr<Value> IndexOf(GraphBuilder& builder, const Value& x, const ReduceOptions& options);

}  // namespace shoal::kernels::program
