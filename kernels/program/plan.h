#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "kernels/map.h"
#include "kernels/program/graph.h"
#include "kernels/reduce.h"
#include "kernels/shape.h"

namespace shoal::kernels::program {

/// An array that a step reads or writes.
struct Place {
  enum class Kind : uint8_t { kInput, kOutput, kTemporary };
  Kind kind = Kind::kInput;
  int32_t index = 0;

  friend bool operator==(const Place&, const Place&) = default;
};

/// A part of a program that is run at one go: one pass over its arrays.
struct Step {
  OpForm form = OpForm::kMap;  ///< kMap, kReduce or kSort.
  const OpInfo* op = nullptr;  ///< Of a reduction or a sort.
  /// kMap: from `inputs` to `outputs`, all of the shape `domain`. kReduce: from `inputs` to the
  /// op's inputs, whose terms it folds to the one output. kSort: the identity.
  MapKernel kernel;
  std::vector<Scalar> scalars;  ///< The kernel's.
  Shape domain;                 ///< Inputs of another shape are broadcast to it.
  FoldShape fold;               ///< kReduce: the domain's elements as blocks, rows, columns.
  std::vector<Place> inputs;
  std::vector<Place> outputs;
};

/// A program as steps, in order: each reads arguments, and outputs and temporaries of steps before.
struct Plan {
  std::vector<Step> steps;
  std::vector<ArrayType> outputs;
  std::vector<std::string> output_names;
  std::vector<ArrayType> temporaries;  ///< Results of reductions, and what is then sorted.

  /// Whether the output may be exactly the memory of an argument of its size: nothing reads the
  /// argument after the output has been written over it.
  bool WritesInPlace() const;
};

/// Cuts the graph into steps. Everything elementwise between arguments, reductions and outputs is
/// fused into the step that needs it; what two steps need is computed twice rather than stored, so
/// that a program takes little memory but its outputs: results of reductions, and arrays that it
/// computes and then sorts.
///
/// Errors:
///   UNIMPLEMENTED       the index of an array's elements, broadcast over another array.
///   RESOURCE_EXHAUSTED  a step would need more than 32 arrays or 256 numbers.
absl::StatusOr<Plan> MakePlan(const Graph& graph);

}  // namespace shoal::kernels::program
