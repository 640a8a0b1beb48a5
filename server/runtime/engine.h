#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "base/time.h"
#include "base/units.h"
#include "server/collective/communicator.h"
#include "server/memory/arena.h"
#include "server/memory/budget.h"
#include "server/runtime/catalogue.h"
#include "server/runtime/dispatcher.h"
#include "server/runtime/drain.h"
#include "server/runtime/leases.h"
#include "server/runtime/mover.h"
#include "server/runtime/workers.h"
#include "server/telemetry/call_observer.h"
#include "server/telemetry/log.h"
#include "server/telemetry/throughput.h"
#include "server/wire/call_codec.h"

namespace shoal::runtime {

/// What the service promises and refuses; published by GetServerInfo.
struct Limits {
  int64_t inline_bytes = 256 * kKiB;  ///< Payload of a unary message, in all arrays together.
  int64_t chunk_bytes = kMiB;         ///< Payload of a stream's message.
  int32_t credit_chunks = 8;          ///< Chunks that a client may have unacknowledged.
  int64_t session_tasks = 1 << 16;    ///< Tasks in flight on one session.
  int64_t queued_tasks = 1'000'000;   ///< Pieces that wait, of all clients.
  Duration resume_timeout = std::chrono::seconds(60);  ///< How long a broken-off upload is kept.
  int32_t arguments = 64;                              ///< Of one call.
  int64_t lease_bytes = 64 * kGiB;                     ///< Of one lease.

  /// The largest message: a chunk, or inline payload, with room for what goes around it.
  int64_t message_bytes() const { return std::max(chunk_bytes, inline_bytes) + 64 * kKiB; }
  wire::CallLimits call(bool may_stream) const { return {inline_bytes, arguments, may_stream}; }
};

/// The parts of a running service, wired together: what every handler works with.
///
/// Ownership: owns all of them, in the order in which they depend on each other.
/// Thread-safety: as its parts.
struct Engine {
  Limits limits;
  std::string backend;  ///< "cpu".
  DrainSignal drain;
  telemetry::Logger* logger = nullptr;
  telemetry::ThroughputTable* throughput = nullptr;  ///< To be read; it is one of the observers.
  /// Told of every call that ended, in this order. Fixed before the first call.
  std::vector<telemetry::CallObserver*> observers;

  std::unique_ptr<memory::Arena> arena;
  std::unique_ptr<memory::Budget> front_budget;  ///< Payload in the front end, and leases.
  std::unique_ptr<Workers> workers;
  std::unique_ptr<Mover> mover;
  std::unique_ptr<Catalogue> catalogue;
  std::unique_ptr<Leases> leases;
  std::unique_ptr<Dispatcher> dispatcher;

  std::atomic<int64_t> sessions = 0;  ///< That are open.

  /// `idle` is called once draining has begun and nothing is under way: no call, and no kernel that
  /// a call gave up.
  void WhenIdle(absl::AnyInvocable<void() &&> idle) {
    drain.WhenIdle(
        [this, idle = std::move(idle)]() mutable { dispatcher->Drain(std::move(idle)); });
  }

  /// Tells the scheduler what the workers' stored arrays, those of calls included, take now.
  void ReportStored() {
    for (const Worker& worker : workers->all()) {
      dispatcher->SetStored(worker.id, worker.stored->used_bytes());
    }
  }
};

/// Of the front end's budget, the part that leases, streams and sessions cannot take: an eighth,
/// but 2 MiB at least where that is no more than half.
int64_t FrontSpareBytes(int64_t front_bytes);

/// How long front-end memory is held.
enum class FrontUse : uint8_t {
  kBrief,  ///< As long as a unary call runs: may take the spare part as well.
  kHeld,   ///< As long as a client likes: until a stream is read, or a session's task had its turn.
};

/// Counts `bytes` against the front end's budget.
///
/// Errors:
///   RESOURCE_EXHAUSTED  no room; with QuotaFailure and RetryInfo, unless it is more than there is.
absl::StatusOr<memory::Reservation> ReserveFrontEnd(Engine& engine, int64_t bytes, FrontUse use);

/// Front-end payload memory, 64-byte aligned, counted against the front end's budget. Errors: as
/// ReserveFrontEnd.
absl::StatusOr<std::shared_ptr<memory::Block>> AllocateFrontEnd(Engine& engine, int64_t bytes,
                                                                FrontUse use);

}  // namespace shoal::runtime
