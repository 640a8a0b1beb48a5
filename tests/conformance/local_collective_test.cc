#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/units.h"
#include "server/collective/local/local_group.h"
#include "server/device/cpu/cpu_device.h"
#include "server/memory/arena.h"
#include "server/threads/team.h"
#include "tests/conformance/collective_suite.h"

namespace shoal::collective {
namespace {

struct LocalWorldOptions {
  std::vector<int> ranks_per_member;
  /// Everything is queued: each call goes to the team, in as many chunks as there are, and each
  /// copy to its stream's own thread. Otherwise all of it runs on the test's thread.
  bool queued = false;
};

class LocalWorld final : public World {
 public:
  explicit LocalWorld(const LocalWorldOptions& options)
      : arena_(*memory::Arena::Create({"arena", 256 * kMiB, true})), team_(2) {
    LocalGroupOptions group;
    group.ranks_per_member = options.ranks_per_member;
    if (options.queued) {
      group.team = &team_;
      group.spread_bytes_min = 0;
      group.inline_bytes_max = 0;
    }
    members_ = MakeLocalGroup(group);
    for (int rank = 0; rank < Size(); ++rank) {
      device::CpuDeviceOptions device;
      device.memory_bytes = 64 * kMiB;
      if (options.queued) device.inline_cost_max = Duration(-1);
      devices_.push_back(std::make_unique<device::CpuDevice>(arena_.get(), device));
      streams_.push_back(*devices_.back()->NewStream());
    }
  }
  ~LocalWorld() override {
    members_.clear();
    streams_.clear();
  }

  int Size() const override { return members_.front()->Size(); }
  std::vector<Communicator*> Members() override {
    std::vector<Communicator*> members;
    for (const auto& member : members_) members.push_back(member.get());
    return members;
  }
  device::Device& DeviceOf(int rank) override { return *devices_[static_cast<size_t>(rank)]; }
  device::Stream& StreamOf(int rank) override { return *streams_[static_cast<size_t>(rank)]; }

 private:
  std::unique_ptr<memory::Arena> arena_;
  threads::Team team_;
  std::vector<std::unique_ptr<device::CpuDevice>> devices_;
  std::vector<std::unique_ptr<device::Stream>> streams_;
  std::vector<std::unique_ptr<Communicator>> members_;
};

std::vector<WorldParam> Worlds() {
  std::vector<WorldParam> worlds;
  const auto add = [&](std::string name, LocalWorldOptions options) {
    worlds.push_back({std::move(name), [options = std::move(options)] {
                        return std::make_unique<LocalWorld>(options);
                      }});
  };
  for (const int size : {1, 2, 3, 4, 7}) {
    add(absl::StrCat("OneMember", size), {{size}, false});
    add(absl::StrCat("MemberARank", size), {std::vector<int>(static_cast<size_t>(size), 1), false});
  }
  // What is queued takes the same code whatever the number of ranks, and much longer.
  add("OneMemberQueued3", {{3}, true});
  add("MixedQueued6", {{2, 1, 3}, true});
  return worlds;
}

INSTANTIATE_TEST_SUITE_P(Local, CollectiveSuite, testing::ValuesIn(Worlds()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace shoal::collective
