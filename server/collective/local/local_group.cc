#include "server/collective/local/local_group.h"

#include <numeric>
#include <utility>

#include "server/collective/local/group.h"

namespace shoal::collective {
namespace {

class LocalCommunicator final : public Communicator {
 public:
  LocalCommunicator(std::shared_ptr<Group> group, int member)
      : group_(std::move(group)),
        member_(member),
        ranks_(static_cast<size_t>(group_->FirstRank(member + 1) - group_->FirstRank(member))) {
    std::iota(ranks_.begin(), ranks_.end(), group_->FirstRank(member));
  }
  ~LocalCommunicator() override { group_->Leave(member_); }

  int Size() const override { return group_->size(); }
  absl::Span<const int> LocalRanks() const override { return ranks_; }
  void SendRecv(const Args& args, absl::Span<const Transfer> transfers, Done done) override {
    group_->SendRecv(member_, args, transfers, std::move(done));
  }
  void Abort() noexcept override { group_->Abort(member_); }

 private:
  void Start(Operation operation, const Args& args, Ranks ranks, Done done) override {
    group_->Start(member_, {operation, &args, group_->size()}, ranks, std::move(done));
  }

  const std::shared_ptr<Group> group_;  // With the other members and the callbacks under way.
  const int member_;
  std::vector<int> ranks_;
};

}  // namespace

std::vector<std::unique_ptr<Communicator>> MakeLocalGroup(const LocalGroupOptions& options) {
  const auto group = std::make_shared<Group>(options);
  std::vector<std::unique_ptr<Communicator>> members;
  for (size_t member = 0; member < options.ranks_per_member.size(); ++member) {
    members.push_back(std::make_unique<LocalCommunicator>(group, static_cast<int>(member)));
  }
  return members;
}

}  // namespace shoal::collective
