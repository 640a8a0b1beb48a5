#pragma once

#include <string>
#include <vector>

#include "base/time.h"
#include "kernels/registry.h"
#include "server/plan/call.h"
#include "server/runtime/engine.h"
#include "server/telemetry/throughput.h"

namespace shoal::service {

/// The names that the throughput table is made with: every op, then "put" and "get".
std::vector<std::string> ThroughputNames();

int32_t ThroughputIndex(const kernels::OpInfo* op);
int32_t PutIndex();
int32_t GetIndex();

/// What the throughput table learns of one finished call.
struct CallRecord {
  int32_t op = 0;  ///< One of the indices above.
  plan::Route route = plan::Route::kWorker;
  telemetry::Plane plane = telemetry::Plane::kInline;
  Instant begun;
  int64_t bytes_in = 0;
  int64_t bytes_out = 0;
  telemetry::PhaseTimes phases;
  bool failed = false;
};
void Record(runtime::Engine& engine, const CallRecord& record);

/// How a unary call's bytes came.
telemetry::Plane PlaneOf(const plan::Call& call);

}  // namespace shoal::service
