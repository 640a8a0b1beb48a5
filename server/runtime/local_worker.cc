#include "server/runtime/local_worker.h"

#include <algorithm>

#include "base/check.h"

namespace shoal::runtime {
namespace {

TaskBody* BodyOf(uint64_t tag) { return reinterpret_cast<TaskBody*>(tag); }

}  // namespace

LocalWorker::LocalWorker(const worker::Options& options)
    : state_(options), lanes_(static_cast<size_t>(options.lanes)) {}

void LocalWorker::Assign(Instant now, absl::Span<const core::Assignment> assignments,
                         LinkActions* actions) {
  Handle(now, worker::AttemptsAssigned{++batch_, assignments}, actions);
}

void LocalWorker::Drop(Instant now, absl::Span<const AttemptId> attempts, LinkActions* actions) {
  Handle(now, worker::AttemptsDropped{attempts}, actions);
}

void LocalWorker::EndLaunches(Instant now, absl::Span<const core::AttemptEnd> ends,
                              LinkActions* actions) {
  Handle(now, worker::LaunchesEnded{ends}, actions);
}

void LocalWorker::SetStored(Instant now, int64_t bytes, LinkActions* actions) {
  Handle(now, worker::MemoryChanged{bytes}, actions);
}

void LocalWorker::Tick(Instant now, LinkActions* actions) { Handle(now, worker::Tick{}, actions); }

void LocalWorker::Handle(Instant now, const worker::Event& event, LinkActions* actions) {
  scratch_.Clear();
  state_.Handle(now, event, &scratch_);
  SHOAL_CHECK(scratch_.fetches.empty() && scratch_.releases.empty());  // Inputs are already here.
  // First, since they are of what the lanes held before this event: where a deadline passes as the
  // launch ends, the lane has its next batch at once.
  for (const worker::Interrupt& interrupt : scratch_.interrupts) InterruptLaunch(interrupt);
  for (const worker::LaunchBatch& batch : scratch_.batches) {
    auto& lane = lanes_[static_cast<size_t>(batch.lane)];
    lane.assign(scratch_.launches.begin() + batch.begin,
                scratch_.launches.begin() + batch.begin + batch.count);
    for (const worker::Launch& launch : lane) {
      TaskBody* body = BodyOf(launch.tag);
      Hold(body);
      actions->launches.push_back({body, {seat_, launch.attempt, launch.piece}});
    }
  }
  actions->reports.insert(actions->reports.end(), scratch_.reports.begin(), scratch_.reports.end());
}

void LocalWorker::InterruptLaunch(const worker::Interrupt& interrupt) const {
  const auto& lane = lanes_[static_cast<size_t>(interrupt.lane)];
  const auto launch = std::find_if(lane.begin(), lane.end(), [&](const worker::Launch& running) {
    return running.attempt == interrupt.attempt;
  });
  SHOAL_CHECK(launch != lane.end());  // The core interrupts only what runs on that lane.
  Interrupt(BodyOf(launch->tag));
}

}  // namespace shoal::runtime
