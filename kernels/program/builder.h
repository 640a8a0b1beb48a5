#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "kernels/program/graph.h"
#include "kernels/program/promotion.h"

namespace shoal::kernels::program {

/// What a program's expression stands for while it is typed.
struct Value {
  NodeId node = -1;  ///< -1: a number that is not part of the graph yet.
  Scalar number;     ///< Then its value.
  /// Set: without a dtype of its own. A node may be so too: what a function makes of numbers.
  std::optional<WeakKind> weak;
};

/// All that makes a node what it is.
struct NodeKey {
  NodeKind kind = NodeKind::kInput;
  const OpInfo* op = nullptr;
  ArrayType type;
  absl::InlinedVector<NodeId, 3> operands;
  int32_t slot = -1;
  FoldShape fold = {};

  friend bool operator==(const NodeKey&, const NodeKey&) = default;
  template <class H>
  friend H AbslHashValue(H state, const NodeKey& key) {
    return H::combine(std::move(state), key.kind, key.op, key.type.dtype, key.type.shape,
                      key.operands, key.slot, key.fold);
  }
};

/// Limits of one program, checked as it grows.
struct GraphLimits {
  int32_t nodes = 1024;
};

/// Makes a typed graph op by op: promotion, conversion, broadcasting, common subexpressions.
///
/// Its errors have no place in a text; who has one adds it.
///
/// Errors of all that return a status:
///   INVALID_ARGUMENT    wrong number of operands, shapes that do not fit each other, a number that
///                       the array's dtype does not have.
///   UNIMPLEMENTED       the op is not built for the operands' dtypes, or not inside of programs.
///   RESOURCE_EXHAUSTED  more nodes than the limit.
/// Thread-safety: one thread at a time.
class GraphBuilder {
 public:
  explicit GraphBuilder(GraphLimits limits = {}) : limits_(limits) {}

  /// The next argument.
  Value Input(const ArrayType& type);

  /// A number without a dtype.
  static Value Number(const Scalar& number, WeakKind kind) { return {-1, number, kind}; }

  /// The op applied to the operands; a reduction goes over all elements. `params` in the table's
  /// order, as many as the op has.
  absl::StatusOr<Value> Apply(const OpInfo& op, absl::Span<const Value> operands,
                              absl::Span<const Scalar> params = {});

  /// The op, of form kReduce, over the rows of its operands as `fold` sees their elements: an array
  /// of `result`, which has as many elements as the fold has results.
  absl::StatusOr<Value> Reduce(const OpInfo& op, absl::Span<const Value> operands, FoldShape fold,
                               const Shape& result);

  /// The row of `fold` in which each element of an array of `shape` lies, int64.
  absl::StatusOr<Value> Index(const Shape& shape, FoldShape fold);

  /// The operand in that dtype, which is then its own.
  absl::StatusOr<Value> Convert(const Value& operand, DType dtype);

  /// Adds an output.
  absl::Status Output(std::string name, const Value& value);

  const ArrayType& TypeOf(const Value& value) const { return graph_.nodes[NodeOf(value)].type; }

  /// What makes a value that is a node; null: no op.
  const OpInfo* OpOf(const Value& value) const { return graph_.nodes[NodeOf(value)].op; }

  /// "float32 (3, 4)", "the integer 7": for messages.
  std::string Describe(const Value& value) const;

  /// The graph. The builder is empty afterwards.
  Graph Finish() &&;

 private:
  static size_t NodeOf(const Value& value) { return static_cast<size_t>(value.node); }

  absl::StatusOr<NodeId> Add(Node node);
  absl::StatusOr<NodeId> AddScalar(DType dtype, const Scalar& number);
  absl::StatusOr<NodeId> AsNode(const Value& value, DType dtype);
  absl::StatusOr<DType> CommonDType(absl::Span<const Value> operands) const;
  absl::StatusOr<Shape> CommonShape(absl::Span<const NodeId> operands) const;
  absl::StatusOr<Value> ApplyMap(const OpInfo& op, absl::Span<const Value> operands,
                                 absl::Span<const Scalar> params);
  std::optional<std::vector<Value>> FactorsOf(const Value& term) const;
  absl::StatusOr<Value> ReduceAll(const OpInfo& op, absl::Span<const Value> operands);
  absl::StatusOr<Value> ApplySort(const OpInfo& op, absl::Span<const Value> operands);
  absl::StatusOr<std::vector<NodeId>> Converted(absl::Span<const Value> operands, DType dtype);

  const GraphLimits limits_;
  Graph graph_;
  absl::flat_hash_map<NodeKey, NodeId> known_;  // A common subexpression is one node.
};

}  // namespace shoal::kernels::program
