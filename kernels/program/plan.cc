#include "kernels/program/plan.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status.h"
#include "kernels/registry.h"

namespace shoal::kernels::program {
namespace {

constexpr size_t kStepArraysMax = 32;
constexpr size_t kStepScalarsMax = 256;

bool IsElementwise(const Node& node) {
  return node.kind == NodeKind::kMap || node.kind == NodeKind::kConvert ||
         node.kind == NodeKind::kScalar || node.kind == NodeKind::kIndex;
}

/// Fuses what leads to some nodes into one kernel, up to arrays that exist already.
class Fusion {
 public:
  /// `places` of the nodes that are arrays; elementwise nodes have none.
  Fusion(const Graph& graph, const std::vector<std::optional<Place>>& places, const Shape& domain)
      : graph_(graph), places_(places) {
    step_.domain = domain;
  }

  absl::StatusOr<Step> Fuse(const std::vector<NodeId>& roots) {
    Collect(roots);
    NumberLeaves();
    SHOAL_RETURN_IF_ERROR(NumberSteps());
    for (const NodeId root : roots) {
      step_.kernel.outputs.push_back(values_.at(root));
    }
    if (step_.inputs.size() > kStepArraysMax || step_.scalars.size() > kStepScalarsMax) {
      return absl::ResourceExhaustedError(
          absl::StrCat("one step of the program needs ", step_.inputs.size(), " arrays and ",
                       step_.scalars.size(), " numbers; at most ", kStepArraysMax, " and ",
                       kStepScalarsMax, " are possible"));
    }
    return std::move(step_);
  }

 private:
  const Node& NodeOf(NodeId id) const { return graph_.nodes[static_cast<size_t>(id)]; }
  bool IsLeaf(NodeId id) const { return places_[static_cast<size_t>(id)].has_value(); }

  // All nodes that the roots need, in the graph's order. No recursion: graphs may be deep.
  void Collect(const std::vector<NodeId>& roots) {
    std::vector<bool> needed(graph_.nodes.size());
    std::vector<NodeId> open = roots;
    while (!open.empty()) {
      const NodeId id = open.back();
      open.pop_back();
      if (needed[static_cast<size_t>(id)]) continue;
      needed[static_cast<size_t>(id)] = true;
      if (IsLeaf(id)) continue;
      SHOAL_CHECK(IsElementwise(NodeOf(id)));
      open.insert(open.end(), NodeOf(id).operands.begin(), NodeOf(id).operands.end());
    }
    for (size_t i = 0; i < needed.size(); ++i) {
      if (needed[i]) needed_.push_back(static_cast<NodeId>(i));
    }
  }

  void NumberLeaves() {
    for (const NodeId id : needed_) {
      if (!IsLeaf(id)) continue;
      values_[id] = static_cast<int16_t>(step_.inputs.size());
      step_.inputs.push_back(*places_[static_cast<size_t>(id)]);
      step_.kernel.inputs.push_back(NodeOf(id).type.dtype);
    }
    for (const NodeId id : needed_) {
      if (IsLeaf(id)) continue;
      const Node& node = NodeOf(id);
      if (node.kind == NodeKind::kScalar) {
        values_[id] = AddScalar(node.type.dtype, graph_.scalars[static_cast<size_t>(node.slot)]);
      } else if (node.kind == NodeKind::kIndex) {
        index_numbers_[id] = {AddScalar(DType::kInt64, node.fold.columns),
                              AddScalar(DType::kInt64, node.fold.rows)};
      } else if (node.slot >= 0) {
        params_[id] = static_cast<int16_t>(step_.scalars.size());
        for (size_t i = 0; i < node.op->params.size(); ++i) {
          AddScalar(node.type.dtype, graph_.scalars[static_cast<size_t>(node.slot) + i]);
        }
      }
    }
  }

  /// Its value number.
  int16_t AddScalar(DType dtype, const Scalar& scalar) {
    step_.kernel.scalars.push_back(dtype);
    step_.scalars.push_back(scalar);
    return step_.kernel.ScalarValue(step_.scalars.size() - 1);
  }

  absl::Status NumberSteps() {
    for (const NodeId id : needed_) {
      const Node& node = NodeOf(id);
      if (IsLeaf(id) || node.kind == NodeKind::kScalar) continue;
      if (node.kind == NodeKind::kIndex) {
        SHOAL_ASSIGN_OR_RETURN(values_[id], IndexValue(id));
        continue;
      }
      MapStep step = {.op = node.op, .dtype = {}, .result = node.type.dtype};
      step.dtype = NodeOf(node.operands.back()).type.dtype;  // Conditions come first.
      for (size_t i = 0; i < node.operands.size(); ++i) {
        step.operands[i] = values_.at(node.operands[i]);
      }
      if (const auto params = params_.find(id); params != params_.end()) {
        step.first_param = params->second;
      }
      values_[id] = AddStep(step);
    }
    return absl::OkStatus();
  }

  int16_t AddStep(const MapStep& step) {
    step_.kernel.steps.push_back(step);
    return step_.kernel.StepValue(step_.kernel.steps.size() - 1);
  }

  /// (index / columns) % rows, as much of it as is needed.
  absl::StatusOr<int16_t> IndexValue(NodeId id) {
    const Node& node = NodeOf(id);
    if (!(node.type.shape == step_.domain)) {
      return absl::UnimplementedError(
          absl::StrCat("the index of elements of shape ", node.type.shape.ToString(),
                       " is not built where they are broadcast to ", step_.domain.ToString()));
    }
    const auto [columns, rows] = index_numbers_.at(id);
    const auto apply = [this](const char* op, int16_t x, int16_t y) {
      return AddStep({.op = FindOp(op),
                      .dtype = DType::kInt64,
                      .result = DType::kInt64,
                      .operands = {x, y, 0}});
    };
    int16_t value = step_.kernel.IndexValue();
    if (node.fold.columns > 1) value = apply("floor_divide", value, columns);
    if (node.fold.blocks > 1) value = apply("remainder", value, rows);
    return value;
  }

  struct IndexNumbers {
    int16_t columns = 0;
    int16_t rows = 0;
  };

  const Graph& graph_;
  const std::vector<std::optional<Place>>& places_;
  std::vector<NodeId> needed_;
  absl::flat_hash_map<NodeId, int16_t> values_;
  absl::flat_hash_map<NodeId, int16_t> params_;
  absl::flat_hash_map<NodeId, IndexNumbers> index_numbers_;
  Step step_;
};

class Planner {
 public:
  explicit Planner(const Graph& graph) : graph_(graph), places_(graph.nodes.size()) {}

  absl::StatusOr<Plan> Run() {
    MarkNeeded();
    for (const GraphOutput& output : graph_.outputs) {
      plan_.outputs.push_back(NodeOf(output.node).type);
      plan_.output_names.push_back(output.name);
    }
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (graph_.nodes[i].kind == NodeKind::kInput) {
        places_[i] = Place{Place::Kind::kInput, graph_.nodes[i].slot};
      }
    }
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (needed_[i]) SHOAL_RETURN_IF_ERROR(MakeArray(static_cast<NodeId>(i)));
    }
    SHOAL_RETURN_IF_ERROR(MapOutputs());
    return std::move(plan_);
  }

 private:
  const Node& NodeOf(NodeId id) const { return graph_.nodes[static_cast<size_t>(id)]; }

  void MarkNeeded() {
    needed_.resize(graph_.nodes.size());
    for (const GraphOutput& output : graph_.outputs) {
      needed_[static_cast<size_t>(output.node)] = true;
    }
    for (size_t i = graph_.nodes.size(); i-- > 0;) {
      if (!needed_[i]) continue;
      for (const NodeId operand : graph_.nodes[i].operands) {
        needed_[static_cast<size_t>(operand)] = true;
      }
    }
  }

  /// The first output that is this node, or a new temporary.
  Place NewPlace(NodeId id) {
    for (size_t i = 0; i < graph_.outputs.size(); ++i) {
      if (graph_.outputs[i].node != id) continue;
      written_.push_back(i);
      return {Place::Kind::kOutput, static_cast<int32_t>(i)};
    }
    plan_.temporaries.push_back(NodeOf(id).type);
    return {Place::Kind::kTemporary, static_cast<int32_t>(plan_.temporaries.size() - 1)};
  }

  /// The step of a node that no elementwise step computes.
  absl::Status MakeArray(NodeId id) {
    const Node& node = NodeOf(id);
    if (node.kind != NodeKind::kReduce && node.kind != NodeKind::kSort) return absl::OkStatus();
    if (node.kind == NodeKind::kSort) SHOAL_RETURN_IF_ERROR(Materialise(node.operands[0]));
    SHOAL_ASSIGN_OR_RETURN(Step step, Fusion(graph_, places_, NodeOf(node.operands[0]).type.shape)
                                          .Fuse({node.operands.begin(), node.operands.end()}));
    step.form = node.op->form;
    step.op = node.op;
    step.fold = node.fold;
    AddStep(id, std::move(step));
    return absl::OkStatus();
  }

  /// Has what would be fused written to an array of its own.
  absl::Status Materialise(NodeId id) {
    if (places_[static_cast<size_t>(id)].has_value()) return absl::OkStatus();
    SHOAL_ASSIGN_OR_RETURN(Step step, Fusion(graph_, places_, NodeOf(id).type.shape).Fuse({id}));
    AddStep(id, std::move(step));
    return absl::OkStatus();
  }

  void AddStep(NodeId id, Step step) {
    const Place place = NewPlace(id);
    step.outputs.push_back(place);
    places_[static_cast<size_t>(id)] = place;
    plan_.steps.push_back(std::move(step));
  }

  /// One step for all outputs of a shape that are not there yet.
  absl::Status MapOutputs() {
    std::vector<bool> done(graph_.outputs.size());
    for (const size_t output : written_) done[output] = true;
    for (size_t i = 0; i < graph_.outputs.size(); ++i) {
      if (done[i]) continue;
      const Shape& domain = plan_.outputs[i].shape;
      std::vector<NodeId> roots;
      std::vector<Place> outputs;
      for (size_t j = i; j < graph_.outputs.size(); ++j) {
        if (done[j] || !(plan_.outputs[j].shape == domain)) continue;
        done[j] = true;
        roots.push_back(graph_.outputs[j].node);
        outputs.push_back({Place::Kind::kOutput, static_cast<int32_t>(j)});
      }
      SHOAL_ASSIGN_OR_RETURN(Step step, Fusion(graph_, places_, domain).Fuse(roots));
      step.outputs = std::move(outputs);
      plan_.steps.push_back(std::move(step));
    }
    return absl::OkStatus();
  }

  const Graph& graph_;
  std::vector<std::optional<Place>> places_;  // By node.
  std::vector<bool> needed_;                  // By node.
  std::vector<size_t> written_;               // Outputs that are there.
  Plan plan_;
};

}  // namespace

// The one step reads an input of the output's shape element by element, before it writes it.
bool Plan::WritesInPlace() const { return steps.size() == 1 && outputs.size() == 1; }

absl::StatusOr<Plan> MakePlan(const Graph& graph) { return Planner(graph).Run(); }

}  // namespace shoal::kernels::program
