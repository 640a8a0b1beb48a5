#include "server/plan/typing.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "kernels/program/builder.h"

namespace shoal::plan {
namespace {

using kernels::OpForm;
using kernels::OpInfo;
using kernels::program::Graph;
using kernels::program::GraphBuilder;
using kernels::program::Step;
using kernels::program::Value;

std::string OpName(const OpInfo& op) { return std::string(op.name); }

// 2^53 ns is a hundred days: more needs no precision.
Duration FromNanoseconds(double nanoseconds) {
  return Duration(static_cast<int64_t>(std::min(nanoseconds, 0x1p53)));
}

/// The op as a program of one expression.
absl::StatusOr<Graph> GraphOfOp(const Call& call, absl::Span<const ArrayType> inputs) {
  GraphBuilder builder;
  std::vector<Value> operands;
  for (const ArrayType& input : inputs) operands.push_back(builder.Input(input));
  const auto value = builder.Apply(*call.op, operands,
                                   absl::MakeConstSpan(call.params).first(call.op->params.size()));
  if (!value.ok()) {
    const absl::Status& error = value.status();
    return absl::Status(error.code(), absl::StrCat(OpName(*call.op), ": ", error.message()));
  }
  SHOAL_RETURN_IF_ERROR(builder.Output("", *value));
  return std::move(builder).Finish();
}

absl::StatusOr<Graph> GraphOfProgram(const Call& call, absl::Span<const ArrayType> inputs) {
  std::vector<kernels::program::ArgumentType> arguments;
  for (size_t i = 0; i < inputs.size(); ++i) {
    arguments.push_back({call.arguments[i].name, inputs[i]});
  }
  const ProgramCall& program = *call.program;
  return kernels::program::TypeProgram(
      program.syntax,
      {.arguments = arguments, .parameters = program.parameters, .outputs = program.outputs});
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

absl::StatusOr<TypedCall> TypeCall(const Call& call, absl::Span<const ArrayType> inputs) {
  TypedCall typed;
  if (call.op != nullptr) SHOAL_RETURN_IF_ERROR(CheckArity(*call.op, inputs.size()));
  if (call.Moves()) {
    typed.outputs.assign(inputs.begin(), inputs.end());
    return typed;
  }
  SHOAL_ASSIGN_OR_RETURN(const Graph graph, call.op != nullptr ? GraphOfOp(call, inputs)
                                                               : GraphOfProgram(call, inputs));
  SHOAL_ASSIGN_OR_RETURN(typed.plan, kernels::program::MakePlan(graph));
  typed.outputs.assign(typed.plan.outputs.begin(), typed.plan.outputs.end());
  return typed;
}

Duration EstimateCost(const OpInfo& op, int64_t elements) {
  double nanoseconds = op.cost_ns_per_element * static_cast<double>(elements);
  if (op.form == OpForm::kSort && elements > 1) {
    nanoseconds *= std::log2(static_cast<double>(elements));
  }
  return FromNanoseconds(nanoseconds);
}

Duration EstimateCost(const Step& step, int64_t elements) {
  const Duration own = step.op == nullptr ? Duration() : EstimateCost(*step.op, elements);
  if (step.kernel.steps.empty() && step.op != nullptr) return own;
  return own + FromNanoseconds(kernels::CostOf(step.kernel) * static_cast<double>(elements));
}

}  // namespace shoal::plan
