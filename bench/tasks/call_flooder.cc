#include <algorithm>
#include <chrono>
#include <utility>

#include "base/status.h"
#include "bench/ceilings/ceilings.h"
#include "bench/sweep/workload.h"
#include "bench/tasks/flooder.h"

namespace shoal::bench {
namespace {

using Clock = std::chrono::steady_clock;

class CallFlooder final : public Flooder {
 public:
  CallFlooder(CallFlooderOptions options, std::unique_ptr<Subject> subject,
              std::unique_ptr<Lane> lane)
      : options_(std::move(options)), subject_(std::move(subject)), lane_(std::move(lane)) {}

  const std::string& Name() const override { return subject_->Name(); }
  const std::string& Mode() const override { return options_.mode; }
  pid_t ServerPid() const override { return subject_->ServerPid(); }
  int64_t CountMax() const override { return options_.count_max; }

  absl::StatusOr<FloodResult> Flood(int64_t count) override {
    SHOAL_RETURN_IF_ERROR(FillWindow());
    const auto window = options_.mode == "alone" ? size_t{1} : window_.size();
    std::vector<size_t> free;
    for (size_t i = 0; i < window; ++i) free.push_back(i);

    FloodResult result;
    result.latencies.reserve(static_cast<size_t>(count));
    const Clock::time_point begun = Clock::now();
    for (int64_t i = 0; i < count; ++i) {
      if (free.empty()) SHOAL_RETURN_IF_ERROR(Await(&free, &result));
      Place& place = window_[free.back()];
      place.started = Clock::now();
      const Call call{.op = Op::kEcho,
                      .arguments = {place.request.get()},
                      .result = place.reply.get(),
                      .slot = static_cast<int>(free.back())};
      SHOAL_RETURN_IF_ERROR(lane_->Start(call, static_cast<int64_t>(free.back())));
      free.pop_back();
    }
    result.sent = Clock::now() - begun;
    while (free.size() < window) SHOAL_RETURN_IF_ERROR(Await(&free, &result));
    result.roundtrip = Clock::now() - begun;
    const auto ended = static_cast<int64_t>(result.latencies.size());
    result.wrong += ended == count ? 0 : std::max(ended, count) - std::min(ended, count);
    return result;
  }

 private:
  struct Place {
    std::unique_ptr<Memory> request;
    std::unique_ptr<Memory> reply;
    Clock::time_point started;
  };

  // Fresh payloads for a flood; within it they are sent again and again.
  absl::Status FillWindow() {
    window_.resize(static_cast<size_t>(options_.in_flight));
    for (Place& place : window_) {
      if (place.request == nullptr) {
        SHOAL_ASSIGN_OR_RETURN(place.request, lane_->Allocate(options_.bytes));
        SHOAL_ASSIGN_OR_RETURN(place.reply, lane_->Allocate(options_.bytes));
      }
      FillRandom(++number_, place.request->bytes());
    }
    return absl::OkStatus();
  }

  absl::Status Await(std::vector<size_t>* free, FloodResult* result) {
    done_.clear();
    SHOAL_RETURN_IF_ERROR(lane_->Await(&done_));
    const Clock::time_point now = Clock::now();
    for (const int64_t tag : done_) {
      Place& place = window_[static_cast<size_t>(tag)];
      result->latencies.push_back(now - place.started);
      const bool same = place.request->bytes() == place.reply->bytes();
      result->wrong += same ? 0 : 1;
      // The next reply to come here is not this one again.
      for (std::byte& byte : place.reply->bytes()) byte = std::byte{0};
      free->push_back(static_cast<size_t>(tag));
    }
    return absl::OkStatus();
  }

  const CallFlooderOptions options_;
  const std::unique_ptr<Subject> subject_;
  std::vector<Place> window_;  // Outlives the lane: it may still have calls in flight.
  const std::unique_ptr<Lane> lane_;
  std::vector<int64_t> done_;
  uint64_t number_ = 0;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Flooder>> NewCallFlooder(const CallFlooderOptions& options) {
  SHOAL_ASSIGN_OR_RETURN(std::unique_ptr<Subject> subject,
                         NewCeiling(options.ceiling, options.plane));
  SHOAL_ASSIGN_OR_RETURN(std::unique_ptr<Lane> lane, subject->NewLane());
  return std::make_unique<CallFlooder>(options, std::move(subject), std::move(lane));
}

}  // namespace shoal::bench
