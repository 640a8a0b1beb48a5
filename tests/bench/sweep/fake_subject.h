#pragma once

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/subject.h"

namespace shoal::bench {

/// How a FakeSubject errs.
struct Faults {
  bool flip_reply = false;     ///< One bit of each reply is another.
  bool stale_reply = false;    ///< Nothing is written to the reply.
  bool flip_stored = false;    ///< One bit of what is put is lost.
  int fail_after = INT32_MAX;  ///< Calls that go well before one fails.
};

/// Moves bytes within the test, and can be told to do it badly.
class FakeSubject final : public Subject {
 public:
  FakeSubject(std::string name, Faults faults) : name_(std::move(name)), faults_(faults) {}

  const std::string& Name() const override { return name_; }
  const std::string& Plane() const override { return plane_; }
  bool Carries(Op /*op*/, int64_t bytes) const override { return bytes <= carries_bytes_max; }
  bool Overlaps() const override { return overlaps; }
  pid_t ServerPid() const override { return 0; }
  absl::StatusOr<std::unique_ptr<Lane>> NewLane() override {
    return std::make_unique<FakeLane>(faults_, this);
  }

  int64_t carries_bytes_max = INT64_MAX;
  bool overlaps = false;
  std::atomic<int> in_flight_max = 0;  ///< Most calls that one lane ever held at once.
  std::atomic<int64_t> released_count = 0;

 private:
  class FakeLane final : public Lane {
   public:
    FakeLane(Faults faults, FakeSubject* subject) : faults_(faults), subject_(subject) {}

    absl::Status Start(const Call& call, int64_t tag) override {
      if (faults_.fail_after-- == 0) return absl::UnavailableError("told to fail");
      std::vector<std::byte>& slot = slots_[call.slot];
      if (call.op != Op::kGet) {
        slot.resize(static_cast<size_t>(call.request_bytes()));
        wire::GatherPieces(call.request(), {slot.data()}, nullptr);
        if (faults_.flip_stored && !slot.empty()) slot.back() ^= std::byte{1};
      }
      if (call.result != nullptr && !faults_.stale_reply) {
        const Bytes reply = call.reply();
        std::copy_n(slot.begin(), reply.size(), reply.begin());
        if (faults_.flip_reply && !reply.empty()) reply.front() ^= std::byte{1};
      }
      held_.push_back(tag);
      const auto held = static_cast<int>(held_.size());
      int most = subject_->in_flight_max.load();
      while (held > most && !subject_->in_flight_max.compare_exchange_weak(most, held)) continue;
      return absl::OkStatus();
    }

    // One at a time, so that a caller which does not wait again is found out.
    absl::Status Await(std::vector<int64_t>* ended) override {
      if (held_.empty()) return absl::FailedPreconditionError("nothing is in flight");
      ended->push_back(held_.front());
      held_.erase(held_.begin());
      return absl::OkStatus();
    }

    absl::Status Release(int slot) override {
      subject_->released_count += static_cast<int64_t>(slots_.erase(slot));
      return absl::OkStatus();
    }

   private:
    Faults faults_;
    FakeSubject* const subject_;
    std::map<int, std::vector<std::byte>> slots_;
    std::vector<int64_t> held_;
  };

  const std::string name_;
  const std::string plane_ = "tcp";
  const Faults faults_;
};

}  // namespace shoal::bench
