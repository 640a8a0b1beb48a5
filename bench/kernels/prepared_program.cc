#include "bench/kernels/prepared_program.h"

#include <utility>

#include "base/check.h"
#include "base/status.h"
#include "kernels/cpu/reduce.h"
#include "kernels/language/parser.h"
#include "kernels/program/typing.h"

namespace shoal::bench {
namespace {

using kernels::OpForm;
using kernels::program::Place;
using kernels::program::Step;

}  // namespace

absl::StatusOr<std::unique_ptr<PreparedProgram>> PreparedProgram::Make(
    const KernelCase& which, absl::Span<const kernels::ArrayType> inputs) {
  SHOAL_CHECK(static_cast<int>(inputs.size()) == which.inputs);
  SHOAL_ASSIGN_OR_RETURN(const kernels::language::Syntax syntax,
                         kernels::language::Parse(which.program));
  std::vector<kernels::program::ArgumentType> arguments;
  for (const kernels::ArrayType& input : inputs) {
    arguments.push_back({arguments.empty() ? "x" : "y", input});
  }
  std::vector<kernels::program::Parameter> parameters;
  if (which.parameter) {
    parameters.push_back({"a", kCaseParameter, kernels::program::WeakKind::kFloat});
  }
  SHOAL_ASSIGN_OR_RETURN(
      const kernels::program::Graph graph,
      kernels::program::TypeProgram(
          syntax, {.arguments = arguments, .parameters = parameters, .outputs = {}}));
  SHOAL_ASSIGN_OR_RETURN(kernels::program::Plan plan, kernels::program::MakePlan(graph));
  if (plan.outputs.size() != 1) {
    return absl::UnimplementedError("only programs of one output are measured");
  }
  return std::unique_ptr<PreparedProgram>(new PreparedProgram(std::move(plan)));
}

PreparedProgram::PreparedProgram(kernels::program::Plan plan)
    : plan_(std::move(plan)), temporaries_(plan_.temporaries.size()) {
  for (const Step& step : plan_.steps) {
    std::vector<kernels::MapInput>& inputs = step_inputs_.emplace_back(step.inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) {
      // Arguments have the shape of what is computed from them; temporaries are single elements.
      inputs[i].single = step.inputs[i].kind != Place::Kind::kInput;
    }
  }
}

void* PreparedProgram::Written(const Place& place, const Memory& memory) {
  if (place.kind == Place::Kind::kOutput) return memory.output;
  SHOAL_CHECK(place.kind == Place::Kind::kTemporary);
  return temporaries_[static_cast<size_t>(place.index)].bytes.data();
}

const void* PreparedProgram::Read(const Place& place, const Memory& memory) {
  if (place.kind != Place::Kind::kInput) return Written(place, memory);
  return memory.inputs[static_cast<size_t>(place.index)];
}

absl::Status PreparedProgram::Run(absl::Span<const void* const> inputs, void* output,
                                  const device::CpuContext& context) {
  const Memory memory{inputs, output};
  for (size_t i = 0; i < plan_.steps.size(); ++i) {
    SHOAL_RETURN_IF_ERROR(RunStep(i, memory, context));
  }
  return absl::OkStatus();
}

absl::Status PreparedProgram::RunStep(size_t index, const Memory& memory,
                                      const device::CpuContext& context) {
  const Step& step = plan_.steps[index];
  if (step.form == OpForm::kSort) return RunSort(step, memory, context);
  std::vector<kernels::MapInput>& inputs = step_inputs_[index];
  for (size_t i = 0; i < inputs.size(); ++i) inputs[i].data = Read(step.inputs[i], memory);
  void* const output = Written(step.outputs[0], memory);
  kernels::MapArgs args;
  args.inputs = inputs;
  args.scalars = step.scalars;
  args.count = step.domain.element_count();
  if (step.form == OpForm::kMap) {
    args.outputs = {&output, 1};
    return device::RunWork(device::MapWork{.kernel = &step.kernel, .args = args}, nullptr, context);
  }
  kernels::ReducePartial partial;
  SHOAL_RETURN_IF_ERROR(device::RunWork(
      device::ReduceWork{.op = step.op, .kernel = &step.kernel, .args = args, .out = &partial},
      nullptr, context));
  kernels::cpu::Finish(*step.op, step.kernel.OutputDType(0), partial, output);
  return absl::OkStatus();
}

absl::Status PreparedProgram::RunSort(const Step& step, const Memory& memory,
                                      const device::CpuContext& context) {
  const int64_t count = step.domain.element_count();
  const int64_t bytes = count * kernels::ItemBytes(step.kernel.OutputDType(0));
  const auto* source = static_cast<const std::byte*>(Read(step.inputs[0], memory));
  auto* data = static_cast<std::byte*>(Written(step.outputs[0], memory));
  device::RunCopy({source, bytes}, {data, bytes}, *context.team);
  device::SortWork work;
  work.op = step.op;
  work.args = {step.kernel.OutputDType(0), data, 1, count};
  return device::RunWork(work, nullptr, context);
}

}  // namespace shoal::bench
