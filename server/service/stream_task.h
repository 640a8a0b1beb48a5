#pragma once

#include <memory>

#include "absl/status/status.h"
#include "server/plan/call.h"
#include "server/transport/call.h"
#include "wire/chunk.h"

namespace shoal::service {

/// What an ApplyStream does once its call is known.
///
/// Thread-safety: OnChunk one at a time; Abort and OnWritten may come meanwhile.
class StreamTask {
 public:
  virtual ~StreamTask() = default;

  /// Called first. `request` owns what the call's inline bytes point into. An error ends the call
  /// before the task is used.
  virtual absl::Status Open(plan::Call call, std::shared_ptr<const void> request) = 0;

  /// A chunk of an argument, or none with the call itself; `message` owns its bytes. Reads the next
  /// message when it is ready for it. An error ends the call.
  virtual absl::Status OnChunk(const wire::ChunkMessage& chunk, transport::Message message) = 0;

  /// The caller will send no more. An error ends the call.
  virtual absl::Status OnHalfClose() = 0;

  virtual void OnWritten(bool ok) = 0;

  /// Ends the call with `status` as soon as nothing runs for it any more.
  virtual void Abort(absl::Status status) = 0;
};

}  // namespace shoal::service
