#pragma once

#include <cstdint>
#include <vector>

#include "server/runtime/worker_link.h"
#include "server/worker/worker_state.h"

namespace shoal::runtime {

/// An embedded worker: its core lives here, and what the core launches is run by whoever brought
/// the event.
///
/// Cost: that of the core. Allocates only while it grows.
class LocalWorker final : public WorkerLink {
 public:
  explicit LocalWorker(const worker::Options& options);

  void Seated(const scheduler::Seat& seat) override { seat_ = seat; }
  void Assign(Instant now, absl::Span<const core::Assignment> assignments,
              LinkActions* actions) override;
  void Drop(Instant now, absl::Span<const AttemptId> attempts, LinkActions* actions) override;
  void EndLaunches(Instant now, absl::Span<const core::AttemptEnd> ends,
                   LinkActions* actions) override;
  void SetStored(Instant now, int64_t bytes, LinkActions* actions) override;
  void Tick(Instant now, LinkActions* actions) override;
  Instant NextWakeup() const override { return state_.NextWakeup(); }
  worker::WorkerState::Counts counts() const override { return state_.counts(); }

 private:
  void Handle(Instant now, const worker::Event& event, LinkActions* actions);
  void InterruptLaunch(const worker::Interrupt& interrupt) const;

  scheduler::Seat seat_;
  worker::WorkerState state_;
  worker::Actions scratch_;
  uint64_t batch_ = 0;
  // What each lane runs, to find an attempt that is to be interrupted.
  std::vector<std::vector<worker::Launch>> lanes_;
};

}  // namespace shoal::runtime
