#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/device/device.h"
#include "server/runtime/operand.h"
#include "server/runtime/workers.h"
#include "wire/chunk.h"

// The seam between the host and memory that it cannot touch. Everything outside server/device that
// reads or writes an extent does so in place where `Extent::way` is null, and through what is
// declared here where it is not. Nothing here waits: copies are queued on the streams of the
// devices, and a Done tells their end.

namespace shoal::runtime {

/// One Done for several pieces of work: told once all have ended, with the first error.
///
/// Its owners are whoever queues the work and the Dones of the work.
/// Thread-safety: all calls from any thread.
class Join : public std::enable_shared_from_this<Join> {
 public:
  explicit Join(device::Done done) : done_(std::move(done)) {}

  /// The Done of one more piece of work. Before `Seal`, or within another part's Done.
  device::Done Part();
  /// No more parts will come from outside: `done` may be told, perhaps before this returns.
  void Seal() { End(absl::OkStatus()); }

 private:
  void End(const absl::Status& status);

  std::atomic<int64_t> open_ = 1;  // Parts, and one until it is sealed.
  std::mutex mutex_;
  absl::Status status_;
  device::Done done_;
};

/// Copies the array's bytes `bytes` to `host`. What the host can touch is copied at once.
///
/// Lifetime: array and `host` until `done`, which may be told before this returns.
void StageOut(const Operand& source, plan::Range bytes, std::byte* host, device::Done done);

/// Copies `pieces` to the array's bytes `bytes`, as many. What the host can touch is copied at
/// once.
///
/// Lifetime: as StageOut.
void StageIn(const wire::Pieces& pieces, const Operand& target, plan::Range bytes,
             device::Done done);

/// Whether work on `worker` can use the extent where it lies: its own memory, or, where the host
/// can touch both, anybody's.
inline bool Reaches(const Worker& worker, const Extent& extent) {
  return extent.worker == worker.id || (extent.way == nullptr && worker.way == nullptr);
}

/// Where `elements` lie in one piece in the worker's reach, or null.
std::byte* LocateFor(const Worker& worker, const Operand& operand, plan::Range elements);

/// The workspace that PieceMemory takes to read or write `elements` on `worker`, or, where that is
/// none, at most on any worker.
int64_t WorkspaceBytes(const Workers& workers, WorkerId worker, const Operand& operand,
                       plan::Range elements);

/// The memory that one piece of a stage works on: the operands' own where the worker reaches it in
/// one piece, else workspace of the worker, filled before the work and emptied after it. It goes
/// before the piece's Done is told.
///
/// Where no workspace is needed, it costs nothing: views, no allocation, one launch. Bytes that go
/// between two devices neither of which the host can touch pass through host memory of their size.
///
/// Lifetime: until the piece's Done; the operands live as long.
/// Thread-safety: one thread at a time.
class PieceMemory {
 public:
  PieceMemory();
  PieceMemory(PieceMemory&&) noexcept;
  PieceMemory& operator=(PieceMemory&&) noexcept;
  ~PieceMemory();

  /// Where the work reads `elements` of `source`.
  ///
  /// Errors: RESOURCE_EXHAUSTED  no workspace; nothing has been queued.
  absl::StatusOr<const std::byte*> Read(Worker& worker, const Operand& source,
                                        plan::Range elements);

  /// Where the work writes `elements` of `target`. Errors: as Read.
  absl::StatusOr<std::byte*> Write(Worker& worker, const Operand& target, plan::Range elements);

  /// Has `elements` of `source` copied to `data`, which the worker reaches, before the work.
  void Fill(Worker& worker, const Operand& source, plan::Range elements, std::byte* data);

  /// Has `data`, which the worker reaches, copied to `elements` of `target` after the work.
  void Empty(Worker& worker, std::byte* data, const Operand& target, plan::Range elements);

  /// Queues what was asked for: copies, `work` between them if there is any, then tells `done`.
  void Run(Worker& worker, std::optional<device::Work> work, device::CancelFlag cancelled,
           device::Done done);

 private:
  struct Steps;

  Steps& steps();
  absl::StatusOr<std::byte*> Allocate(Worker& worker, int64_t bytes);

  std::unique_ptr<Steps> steps_;  // Null: nothing has to be copied or allocated.
};

}  // namespace shoal::runtime
