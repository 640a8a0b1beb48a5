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
         node.kind == NodeKind::kScalar;
}

/// Fuses what leads to some nodes into one kernel, up to arrays that exist already.
class Fusion {
 public:
  /// `places` of the nodes that are arrays; elementwise nodes have none.
  Fusion(const Graph& graph, const std::vector<std::optional<Place>>& places)
      : graph_(graph), places_(places) {}

  absl::StatusOr<Step> Fuse(const std::vector<NodeId>& roots) {
    Collect(roots);
    NumberLeaves();
    NumberSteps();
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
        values_[id] = step_.kernel.ScalarValue(step_.scalars.size());
        AddScalar(node.type.dtype, node.slot);
      } else if (node.slot >= 0) {
        params_[id] = static_cast<int16_t>(step_.scalars.size());
        for (size_t i = 0; i < node.op->params.size(); ++i) {
          AddScalar(node.type.dtype, node.slot + static_cast<int32_t>(i));
        }
      }
    }
  }

  void AddScalar(DType dtype, int32_t slot) {
    step_.kernel.scalars.push_back(dtype);
    step_.scalars.push_back(graph_.scalars[static_cast<size_t>(slot)]);
  }

  void NumberSteps() {
    for (const NodeId id : needed_) {
      const Node& node = NodeOf(id);
      if (IsLeaf(id) || node.kind == NodeKind::kScalar) continue;
      MapStep step = {.op = node.op, .dtype = {}, .result = node.type.dtype};
      step.dtype = NodeOf(node.operands.back()).type.dtype;  // Conditions come first.
      for (size_t i = 0; i < node.operands.size(); ++i) {
        step.operands[i] = values_.at(node.operands[i]);
      }
      if (const auto params = params_.find(id); params != params_.end()) {
        step.first_param = params->second;
      }
      values_[id] = step_.kernel.StepValue(step_.kernel.steps.size());
      step_.kernel.steps.push_back(step);
    }
  }

  const Graph& graph_;
  const std::vector<std::optional<Place>>& places_;
  std::vector<NodeId> needed_;
  absl::flat_hash_map<NodeId, int16_t> values_;
  absl::flat_hash_map<NodeId, int16_t> params_;
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
    SHOAL_ASSIGN_OR_RETURN(
        Step step, Fusion(graph_, places_).Fuse({node.operands.begin(), node.operands.end()}));
    step.form = node.op->form;
    step.op = node.op;
    step.domain = NodeOf(node.operands[0]).type.shape;
    const Place place = NewPlace(id);
    step.outputs.push_back(place);
    places_[static_cast<size_t>(id)] = place;
    plan_.steps.push_back(std::move(step));
    return absl::OkStatus();
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
      SHOAL_ASSIGN_OR_RETURN(Step step, Fusion(graph_, places_).Fuse(roots));
      step.domain = domain;
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
