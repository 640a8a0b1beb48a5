#include "kernels/map.h"

#include "base/check.h"
#include "kernels/registry.h"

namespace shoal::kernels {

DType MapKernel::DTypeOf(int16_t value) const {
  auto index = static_cast<size_t>(value);
  if (index < inputs.size()) return inputs[index];
  index -= inputs.size();
  if (index < scalars.size()) return scalars[index];
  index -= scalars.size();
  return index == 0 ? DType::kInt64 : steps[index - 1].result;
}

MapKernel OpKernel(const OpInfo& op, DType dtype) {
  SHOAL_CHECK(op.form == OpForm::kMap && op.Supports(dtype));
  MapKernel kernel;
  kernel.inputs.assign(static_cast<size_t>(op.inputs_min), dtype);
  if (op.condition) kernel.inputs[0] = DType::kBool;
  kernel.scalars.assign(op.params.size(), dtype);
  MapStep step = {.op = &op, .dtype = dtype, .result = OutputDType(op, dtype)};
  for (size_t i = 0; i < kernel.inputs.size(); ++i) step.operands[i] = static_cast<int16_t>(i);
  if (!op.params.empty()) step.first_param = 0;
  kernel.steps.push_back(step);
  kernel.outputs.push_back(kernel.StepValue(0));
  return kernel;
}

MapKernel IdentityKernel(DType dtype) {
  MapKernel kernel;
  kernel.inputs.push_back(dtype);
  kernel.outputs.push_back(0);
  return kernel;
}

double CostOf(const MapKernel& kernel) {
  constexpr double kConversion = 0.05;
  double cost = kConversion;
  for (const MapStep& step : kernel.steps) {
    // The table's figures are for float32.
    const double scale = static_cast<double>(ItemBytes(step.dtype)) / 4.0;
    cost += scale * (step.op == nullptr ? kConversion : step.op->cost_ns_per_element);
  }
  return cost;
}

}  // namespace shoal::kernels
