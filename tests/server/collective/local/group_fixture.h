#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <utility>
#include <vector>

#include "base/units.h"
#include "server/collective/local/local_group.h"
#include "server/device/cpu/cpu_device.h"
#include "server/memory/arena.h"

namespace shoal::collective {

using Code = absl::StatusCode;

/// A Done that a test can wait for, once.
class Outcome {
 public:
  device::Done MakeDone() {
    return [this](absl::Status status) { promise_.set_value(std::move(status)); };
  }
  Code Wait() { return future_.get().code(); }
  bool IsReady() const {
    return future_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  }

 private:
  std::promise<absl::Status> promise_;
  std::future<absl::Status> future_ = promise_.get_future();
};

/// Three streams of one CPU device, for the ranks of small groups.
class GroupFixture : public testing::Test {
 protected:
  GroupFixture()
      : arena_(*memory::Arena::Create({"arena", 64 * kMiB, true})),
        device_(arena_.get(), {"worker", 1, 64 * kMiB, std::chrono::microseconds(20)}) {
    for (int i = 0; i < 3; ++i) streams_.push_back(*device_.NewStream());
  }

  std::vector<RankBuffers> Ranks(int count) {
    std::vector<RankBuffers> ranks(static_cast<size_t>(count));
    for (size_t i = 0; i < ranks.size(); ++i) ranks[i].stream = streams_[i].get();
    return ranks;
  }
  /// Stalls a stream; the returned Resume lets it go on.
  device::Resume Stall(size_t stream) {
    std::promise<device::Resume> reached;
    streams_[stream]->Pause([&](device::Resume resume) { reached.set_value(std::move(resume)); });
    return reached.get_future().get();
  }

  std::unique_ptr<memory::Arena> arena_;
  device::CpuDevice device_;
  std::vector<std::unique_ptr<device::Stream>> streams_;
};

}  // namespace shoal::collective
