#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/registry.h"
#include "server/plan/call.h"
#include "server/runtime/engine.h"
#include "server/telemetry/call_observer.h"

namespace shoal::service {

/// The names that the throughput table is made with: every op, then "put", "get" and "program".
std::vector<std::string> ThroughputNames();

int32_t ThroughputIndex(const plan::Call& call);
int32_t PutIndex();
int32_t GetIndex();

using telemetry::CallRecord;

/// What a record counts in.
telemetry::CallKey KeyOf(int32_t op, plan::Route route, telemetry::Plane plane);
inline telemetry::CallKey PutKey() {
  return KeyOf(PutIndex(), plan::Route::kWorker, telemetry::Plane::kStream);
}
inline telemetry::CallKey GetKey() {
  return KeyOf(GetIndex(), plan::Route::kWorker, telemetry::Plane::kStream);
}

/// Tells every observer of the engine of `count` calls that ended now and were alike: the one way
/// by which any call is counted or remembered.
void Record(runtime::Engine& engine, CallRecord record, int64_t count = 1);

/// How a unary call's bytes came.
telemetry::Plane PlaneOf(const plan::Call& call);

}  // namespace shoal::service
