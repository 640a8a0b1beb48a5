#include "server/service/call_record.h"

#include <variant>

#include "server/runtime/clock.h"

namespace shoal::service {

std::vector<std::string> ThroughputNames() {
  std::vector<std::string> names;
  for (const kernels::OpInfo& op : kernels::AllOps()) names.emplace_back(op.name);
  names.emplace_back("put");
  names.emplace_back("get");
  return names;
}

int32_t ThroughputIndex(const kernels::OpInfo* op) {
  return static_cast<int32_t>(op - kernels::AllOps().data());
}

int32_t PutIndex() { return static_cast<int32_t>(kernels::AllOps().size()); }
int32_t GetIndex() { return PutIndex() + 1; }

void Record(runtime::Engine& engine, const CallRecord& record) {
  engine.throughput->Record({record.op, static_cast<telemetry::Route>(record.route), record.plane},
                            {.bytes_in = record.bytes_in,
                             .bytes_out = record.bytes_out,
                             .latency = runtime::Now() - record.begun,
                             .phases = record.phases,
                             .failed = record.failed});
}

telemetry::Plane PlaneOf(const plan::Call& call) {
  for (const plan::Argument& argument : call.arguments) {
    if (std::holds_alternative<plan::LeasedBytes>(argument.value)) return telemetry::Plane::kLease;
  }
  return telemetry::Plane::kInline;
}

}  // namespace shoal::service
