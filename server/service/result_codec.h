#pragma once

#include <cstdint>

#include "server/runtime/call_run.h"
#include "server/telemetry/throughput.h"
#include "shoal/v1/array.pb.h"
#include "shoal/v1/compute.pb.h"

namespace shoal::service {

/// One output for a reply. Returned bytes are copied into the message, unless `streamed`: then
/// they follow as chunks.
void EncodeOutput(const runtime::CallOutput& output, bool streamed, v1::Output* message);

void EncodeTiming(const telemetry::PhaseTimes& phases, v1::Timing* message);

struct ResultFormat {
  bool want_timing = false;
  bool streamed = false;  ///< As EncodeOutput.
};

/// Outputs, backend, worker count, and timing where the call wants it.
void EncodeResult(const runtime::Engine& engine, const runtime::CallResult& result,
                  ResultFormat format, v1::ApplyResponse* response);

void EncodeArrayInfo(const runtime::StoredArray& array, v1::ArrayInfo* info);

/// Bytes of all outputs that the caller is given, wherever they lie; stored ones are not.
int64_t ReturnedBytes(const runtime::CallResult& result);

/// Bytes of all arguments of a call, wherever they lie.
int64_t ArgumentBytes(const plan::Call& call);

}  // namespace shoal::service
