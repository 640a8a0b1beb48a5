#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/dtype.h"
#include "kernels/scalar.h"

// Elementwise functions: what they compute (MapKernel) and on which memory (MapArgs). Engines in
// the folders below run them; all give the same bits.
namespace shoal::kernels {

struct OpInfo;

inline constexpr int kOpInputsMax = 4;
inline constexpr int kParamsMax = 8;

/// One application of an op of form kMap, or a conversion, to values that were made before it.
struct MapStep {
  const OpInfo* op = nullptr;            ///< Element of AllOps(); null: a conversion to `result`.
  DType dtype = DType::kFloat32;         ///< Of the operands, but for a condition, which is bool.
  DType result = DType::kFloat32;        ///< OutputDType of the op.
  std::array<int16_t, 3> operands = {};  ///< Value numbers, as many as the op has inputs.
  int16_t first_param = -1;              ///< The op's parameters are the scalars from this one on.

  bool operator==(const MapStep&) const = default;
};

/// A function from elements to elements: element i of each output depends on element i of the
/// inputs, on scalars, and on i.
///
/// Values are numbered: the inputs, then the scalars, then the element's index (int64), then the
/// results of the steps. It knows no shapes and no scalar's value: one kernel serves arrays of
/// every size and all constants. Every step is defined for every value (docs/ops.md).
struct MapKernel {
  std::vector<DType> inputs;
  std::vector<DType> scalars;
  std::vector<MapStep> steps;
  std::vector<int16_t> outputs;  ///< Value numbers; one may appear twice.

  bool operator==(const MapKernel&) const = default;

  int16_t ScalarValue(size_t scalar) const { return static_cast<int16_t>(inputs.size() + scalar); }
  int16_t IndexValue() const { return ScalarValue(scalars.size()); }
  int16_t StepValue(size_t step) const { return ScalarValue(scalars.size() + 1 + step); }
  size_t value_count() const { return inputs.size() + scalars.size() + 1 + steps.size(); }

  DType DTypeOf(int16_t value) const;
  DType OutputDType(size_t output) const { return DTypeOf(outputs[output]); }
};

/// The kernel that applies one op to inputs that all have the dtype it computes in (a condition
/// bool). Its scalars are the op's parameters.
///
/// Requires: `op` is an element of AllOps() of form kMap that supports the dtype (checked).
MapKernel OpKernel(const OpInfo& op, DType dtype);

/// The kernel whose output is its one input.
MapKernel IdentityKernel(DType dtype);

/// Nanoseconds that one core needs for an element, by the op table; no promise.
double CostOf(const MapKernel& kernel);

/// One axis of the output's shape, as an input that is broadcast over it sees it.
struct BroadcastAxis {
  int64_t extent = 1;
  int64_t stride = 0;  ///< Elements of the input from one to the next; 0: the same one.
};

/// Where a kernel reads an input.
struct MapInput {
  const void* data = nullptr;  ///< Aligned to the element's size.
  /// Empty: element i of the input goes with element i of the output. Else the output's axes,
  /// innermost last, whose extents' product is a multiple of all indices; `data` is then the
  /// element that goes with index 0.
  std::span<const BroadcastAxis> axes;
  bool single = false;  ///< One element goes with all.
};

/// The memory of one contiguous piece of a kernel's output.
struct MapArgs {
  std::span<const MapInput> inputs;
  std::span<const Scalar> scalars;
  /// `count` elements each, aligned to their size, overlapping nothing; but a single output may be
  /// exactly the memory of an input that is not broadcast and has elements of the same size.
  std::span<void* const> outputs;
  int64_t first_index = 0;  ///< Of the output's first element, in the whole array.
  int64_t count = 0;        ///< 0 is allowed: nothing is touched.
};

}  // namespace shoal::kernels
