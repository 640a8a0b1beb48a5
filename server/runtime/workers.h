#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "server/device/device.h"
#include "server/memory/budget.h"
#include "server/plan/distribution.h"
#include "server/runtime/stored_array.h"

namespace shoal::runtime {

/// One embedded worker: a device and the stream on which its pieces run.
struct Worker {
  WorkerId id;
  /// What lies in its memory beyond the workspace of its running pieces: shards, and what a stage
  /// keeps for the next. Made by Workers.
  std::unique_ptr<memory::Budget> stored;
  std::unique_ptr<device::Device> device;
  std::unique_ptr<device::Stream> stream;  ///< After the device: it goes first.
  /// The way to its memory where the host cannot touch it, which is `stream`; null: it can. Set by
  /// Workers.
  device::Stream* way = nullptr;
};

/// The embedded workers, by id.
///
/// Thread-safety: fixed after construction; all calls from any thread.
class Workers {
 public:
  explicit Workers(std::vector<Worker> workers);
  /// Waits for all that is queued: a Done of one worker may hold memory of another.
  ~Workers();

  int count() const { return static_cast<int>(workers_.size()); }
  Worker& operator[](WorkerId id) { return workers_[static_cast<size_t>(id.value)]; }
  const Worker& operator[](WorkerId id) const { return workers_[static_cast<size_t>(id.value)]; }
  absl::Span<const Worker> all() const { return workers_; }
  /// Whether the host can touch the memory of each.
  bool host_addressable() const { return host_addressable_; }

  /// All workers, in rank order.
  const std::vector<WorkerId>& ids() const { return ids_; }

  /// The worker with the most free memory; of equals the first.
  WorkerId Emptiest() const;

  /// Fills in the workers that `distribution` leaves open.
  ///
  /// Errors:
  ///   NOT_FOUND  it names a worker that does not exist.
  absl::Status Complete(plan::Distribution* distribution) const;

  /// An array of that type, its shards allocated, contents undefined.
  ///
  /// Errors:
  ///   RESOURCE_EXHAUSTED  a worker has no room for its shard; nothing stays allocated.
  absl::StatusOr<std::shared_ptr<StoredArray>> NewArray(plan::ArrayType type,
                                                        plan::Distribution distribution) const;

 private:
  std::vector<Worker> workers_;
  std::vector<WorkerId> ids_;
  bool host_addressable_ = true;
};

}  // namespace shoal::runtime
