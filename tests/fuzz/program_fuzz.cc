// Programs as users write them: whatever the text, it is refused with a message that can be shown,
// or becomes steps whose kernels refer only to what they have.

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "base/check.h"
#include "kernels/language/parser.h"
#include "kernels/program/plan.h"
#include "kernels/program/typing.h"

namespace shoal::kernels::program {
namespace {

void CheckRefusal(const absl::Status& status) {
  const bool expected = absl::IsInvalidArgument(status) || absl::IsUnimplemented(status) ||
                        absl::IsResourceExhausted(status);
  SHOAL_CHECK(expected && !status.message().empty());
  for (const char c : status.message()) SHOAL_CHECK(c == '\n' || (c >= ' ' && c <= '~'));
}

void CheckKernel(const MapKernel& kernel) {
  for (size_t i = 0; i < kernel.steps.size(); ++i) {
    const MapStep& step = kernel.steps[i];
    const int inputs = step.op == nullptr ? 1 : step.op->inputs_min;
    for (int j = 0; j < inputs; ++j) {
      SHOAL_CHECK(step.operands[static_cast<size_t>(j)] < kernel.StepValue(i));
    }
    SHOAL_CHECK(step.op == nullptr || step.op->Supports(step.dtype));
  }
  for (const int16_t output : kernel.outputs) {
    SHOAL_CHECK(output >= 0 && static_cast<size_t>(output) < kernel.value_count());
  }
}

void Check(absl::string_view text) {
  const auto syntax = language::Parse(text);
  if (!syntax.ok()) return CheckRefusal(syntax.status());
  const std::vector<ArgumentType> arguments = {{"x", {DType::kFloat32, *Shape::Create({3, 4})}},
                                               {"y", {DType::kInt8, *Shape::Create({4})}},
                                               {"", {DType::kComplex64, *Shape::Create({})}}};
  for (size_t count = 0; count <= arguments.size(); ++count) {
    const auto graph =
        TypeProgram(*syntax, {.arguments = absl::MakeConstSpan(arguments).first(count),
                              .parameters = {},
                              .outputs = {}});
    if (!graph.ok()) {
      CheckRefusal(graph.status());
      continue;
    }
    const auto plan = MakePlan(*graph);
    if (!plan.ok()) {
      CheckRefusal(plan.status());
      continue;
    }
    for (const Step& step : plan->steps) CheckKernel(step.kernel);
  }
}

}  // namespace
}  // namespace shoal::kernels::program

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  shoal::kernels::program::Check({reinterpret_cast<const char*>(data), size});
  return 0;
}
