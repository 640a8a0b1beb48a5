#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "kernels/reduce.h"
#include "kernels/registry.h"
#include "kernels/scalar.h"
#include "kernels/shape.h"

namespace shoal::kernels::program {

using NodeId = int32_t;

enum class NodeKind : uint8_t {
  kInput,    ///< An argument.
  kScalar,   ///< A constant, or the value of a parameter: shape ().
  kMap,      ///< An op of that form; operands are broadcast to the node's shape.
  kConvert,  ///< The operand's elements in another dtype.
  kReduce,   ///< An op of that form over the rows of `fold`.
  kSort,     ///< An op of that form.
  kIndex,    ///< int64: the row of `fold` in which each element of the node's shape lies.
};

/// One value of a program. Every op in it is defined for all values of its operands, which have
/// the dtype that it computes in.
struct Node {
  NodeKind kind = NodeKind::kInput;
  const OpInfo* op = nullptr;  ///< Of kMap, kReduce, kSort.
  ArrayType type;
  absl::InlinedVector<NodeId, 3> operands;  ///< Nodes before this one.
  /// kInput: which argument; kScalar: which scalar; an op with parameters: its first one's scalar.
  int32_t slot = -1;
  FoldShape fold = {};  ///< Of kReduce, kIndex: the elements as blocks, rows, columns.
};

struct GraphOutput {
  std::string name;  ///< Empty: the program gives it none.
  NodeId node = 0;
};

/// The typed form of a program: one assignment a node (SSA), dtypes and shapes known.
struct Graph {
  std::vector<Node> nodes;
  std::vector<Scalar> scalars;
  std::vector<GraphOutput> outputs;
  int32_t input_count = 0;
};

}  // namespace shoal::kernels::program
