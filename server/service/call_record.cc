#include "server/service/call_record.h"

#include <variant>

#include "server/runtime/clock.h"

namespace shoal::service {

std::vector<std::string> ThroughputNames() {
  std::vector<std::string> names;
  for (const kernels::OpInfo& op : kernels::AllOps()) names.emplace_back(op.name);
  names.emplace_back("put");
  names.emplace_back("get");
  names.emplace_back("program");
  return names;
}

int32_t ThroughputIndex(const plan::Call& call) {
  if (call.op == nullptr) return GetIndex() + 1;
  return static_cast<int32_t>(call.op - kernels::AllOps().data());
}

int32_t PutIndex() { return static_cast<int32_t>(kernels::AllOps().size()); }
int32_t GetIndex() { return PutIndex() + 1; }

telemetry::CallKey KeyOf(int32_t op, plan::Route route, telemetry::Plane plane) {
  return {op, static_cast<telemetry::Route>(route), plane};  // The numbers are the wire's in both.
}

void Record(runtime::Engine& engine, CallRecord record, int64_t count) {
  record.ended = runtime::Now();
  for (telemetry::CallObserver* observer : engine.observers) observer->OnCalls(record, count);
}

telemetry::Plane PlaneOf(const plan::Call& call) {
  for (const plan::Argument& argument : call.arguments) {
    if (std::holds_alternative<plan::LeasedBytes>(argument.value)) return telemetry::Plane::kLease;
  }
  return telemetry::Plane::kInline;
}

}  // namespace shoal::service
