// The half of Group that matches sends with receives.
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "server/collective/local/group.h"

namespace shoal::collective {

absl::Status Group::CheckTransfers(int member, absl::Span<const Transfer> transfers) const {
  const auto in_group = [&](int rank) { return rank >= 0 && rank < size_; };
  for (const Transfer& transfer : transfers) {
    if (!in_group(transfer.source) || !in_group(transfer.destination)) {
      return absl::InvalidArgumentError(absl::StrCat("send/recv: rank ", transfer.source,
                                                     " to rank ", transfer.destination,
                                                     " leaves the group of ", size_));
    }
    if (!Owns(member, transfer.source) && !Owns(member, transfer.destination)) {
      return absl::InvalidArgumentError(absl::StrCat("send/recv: neither rank ", transfer.source,
                                                     " nor rank ", transfer.destination,
                                                     " is owned here"));
    }
    SHOAL_CHECK(!Owns(member, transfer.source) || transfer.send_stream != nullptr);
    SHOAL_CHECK(!Owns(member, transfer.destination) || transfer.recv_stream != nullptr);
  }
  return absl::OkStatus();
}

void Group::SendRecv(int member, const Args& args, absl::Span<const Transfer> transfers,
                     Done done) {
  absl::Status refused = CheckTransfers(member, transfers);
  const auto exchange = std::make_shared<Exchange>();
  exchange->member = member;
  exchange->open_sides = 1;  // Held open until all sides have been queued.
  exchange->done = std::move(done);
  std::vector<Pair> pairs;
  if (refused.ok()) {
    const std::lock_guard lock(mutex_);
    refused = broken_[static_cast<size_t>(member)];
    for (size_t i = 0; i < transfers.size() && refused.ok(); ++i) {
      const Transfer& transfer = transfers[i];
      const std::pair<int, int> ends(transfer.source, transfer.destination);
      if (Owns(member, transfer.source)) {
        Match(ends, {exchange, true, args.dtype, transfer.send, {}, transfer.send_stream}, pairs);
      }
      if (Owns(member, transfer.destination)) {
        Match(ends, {exchange, false, args.dtype, {}, transfer.recv, transfer.recv_stream}, pairs);
      }
    }
  }
  for (const Pair& pair : pairs) MovePair(pair, args.timeout);
  CloseSide(exchange, refused);
  const std::lock_guard lock(mutex_);
  if (exchange->open_sides == 0) return;
  exchange->deadline = DeadlineIn(args.timeout);
  Watch(exchange->deadline);
}

void Group::Match(std::pair<int, int> ends, Side side, std::vector<Pair>& pairs) {
  ++side.exchange->open_sides;
  const auto entry = waiting_.try_emplace(ends).first;
  std::deque<Side>& queue = entry->second;
  if (queue.empty() || queue.front().is_send == side.is_send) {
    queue.push_back(std::move(side));
    return;
  }
  Side other = std::move(queue.front());
  queue.pop_front();
  if (queue.empty()) waiting_.erase(entry);
  if (side.is_send) {
    pairs.emplace_back(std::move(side), std::move(other));
  } else {
    pairs.emplace_back(std::move(other), std::move(side));
  }
}

void Group::MovePair(const Pair& pair, Duration timeout) {
  const auto& [sender, receiver] = pair;
  const auto motion = std::make_shared<Motion>();
  absl::Status status;
  if (sender.dtype != receiver.dtype || sender.send.bytes != receiver.recv.bytes) {
    status = absl::InvalidArgumentError(
        absl::StrCat("send/recv: ", sender.send.bytes, " bytes of ",
                     std::string(Name(sender.dtype)), " were sent, ", receiver.recv.bytes, " of ",
                     std::string(Name(receiver.dtype)), " expected"));
  } else {
    const RankBuffers buffers{sender.send, receiver.recv, nullptr};
    motion->plan = MakePlan(Operation::kBroadcast, {}, {&buffers, 1});
    status = CheckOverlaps(motion->plan, {&buffers, 1});
  }
  if (!status.ok()) {
    CloseSide(sender.exchange, status);
    CloseSide(receiver.exchange, status);
    return;
  }
  motion->finish = [this, from = sender.exchange, to = receiver.exchange](bool moved) {
    CloseSide(from, moved ? absl::OkStatus() : BrokenStatus(from->member));
    CloseSide(to, moved ? absl::OkStatus() : BrokenStatus(to->member));
  };
  Move(motion, {sender.stream, receiver.stream}, timeout);
}

void Group::CloseSide(const std::shared_ptr<Exchange>& exchange, const absl::Status& status) {
  Done done;
  {
    const std::lock_guard lock(mutex_);
    exchange->status.Update(status);
    if (--exchange->open_sides > 0) return;
    done = std::move(exchange->done);
  }
  std::move(done)(exchange->status);
}

}  // namespace shoal::collective
