#pragma once

#include <optional>

#include "absl/status/statusor.h"
#include "shoal/call.h"
#include "shoal/info.h"
#include "shoal/v1/array.pb.h"
#include "shoal/v1/cluster.pb.h"
#include "shoal/v1/compute.pb.h"

// Between the public types and the messages. What comes from the server is checked: a wrong value
// is INTERNAL, never a crash.
namespace shoal::internal {

struct Spec {
  Dtype dtype = Dtype::kUint8;
  Shape shape;
  int64_t bytes = 0;
};

void ToProto(Dtype dtype, const Shape& shape, v1::ArraySpec* spec);
void ToProto(const ArrayRef& reference, v1::ArrayRef* proto);
void ToProto(const Distribution& distribution, v1::Distribution* proto);
void ToProto(const Store& store, v1::Store* proto);
void ToProto(const Param& param, v1::Param* proto);
v1::Route ToProto(Route route);

/// Errors: INTERNAL  unknown dtype, impossible shape.
absl::StatusOr<Spec> FromProto(const v1::ArraySpec& proto);
absl::StatusOr<ArrayInfo> FromProto(const v1::ArrayInfo& proto);
ServerInfo FromProto(const v1::GetServerInfoResponse& proto);
WorkerList FromProto(const v1::ListWorkersResponse& proto);
ThroughputReport FromProto(const v1::GetThroughputResponse& proto);
Timing FromProto(const v1::Timing& proto);

}  // namespace shoal::internal
