#include "server/collective/local/group.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/start_thread.h"
#include "base/status.h"
#include "server/collective/check.h"
#include "server/collective/local/execute.h"

namespace shoal::collective {

Group::Group(const LocalGroupOptions& options) : options_(options) {
  for (const int rank_count : options.ranks_per_member) {
    SHOAL_CHECK(rank_count >= 1);
    first_ranks_.push_back(size_);
    size_ += rank_count;
  }
  SHOAL_CHECK(size_ >= 1);
  first_ranks_.push_back(size_);
  broken_.resize(member_count());
  next_tickets_.resize(member_count());
}

Group::~Group() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  watch_.notify_all();
  if (watchdog_.get_id() == std::this_thread::get_id()) {
    watchdog_.detach();  // It drops the last reference in Break, and touches nothing afterwards.
  } else if (watchdog_.joinable()) {
    watchdog_.join();
  }
}

void Group::Start(int member, const CallView& view, Ranks ranks, Done done) {
  SHOAL_CHECK(static_cast<int>(ranks.size()) == FirstRank(member + 1) - FirstRank(member));
  Part part;
  part.has_come = true;
  part.operation = view.operation;
  part.counts.assign(view.args->counts.begin(), view.args->counts.end());
  part.args = *view.args;
  part.args.counts = part.counts;  // Stays valid: moving a vector keeps its elements in place.
  part.fault = CheckArgs(view);
  for (size_t i = 0; i < ranks.size() && part.fault.ok(); ++i) {
    SHOAL_CHECK(ranks[i].stream != nullptr);
    const int rank = FirstRank(member) + static_cast<int>(i);
    part.fault = CheckRank(view, rank, ranks[i]);
  }
  part.done = std::move(done);
  Done refused;
  absl::Status broken;
  std::shared_ptr<Call> call;
  {
    const std::lock_guard lock(mutex_);
    broken = broken_[static_cast<size_t>(member)];
    if (broken.ok()) {
      call = Join(member, std::move(part), ranks);
    } else {
      refused = std::move(part.done);
    }
  }
  if (!broken.ok()) {
    std::move(refused)(std::move(broken));
  } else if (call != nullptr) {
    Complete(call);
  }
}

// The call when its last part has come, else null.
std::shared_ptr<Group::Call> Group::Join(int member, Part part, Ranks ranks) {
  const uint64_t ticket = next_tickets_[static_cast<size_t>(member)]++;
  std::shared_ptr<Call>& call = gathering_[ticket];
  if (call == nullptr) {
    call = std::make_shared<Call>();
    call->parts.resize(member_count());
    call->ranks.resize(static_cast<size_t>(size_));
  }
  std::copy(ranks.begin(), ranks.end(), call->ranks.begin() + FirstRank(member));
  const Duration timeout = part.args.timeout;
  call->parts[static_cast<size_t>(member)] = std::move(part);
  if (++call->come_count == member_count()) {
    std::shared_ptr<Call> complete = std::move(call);
    gathering_.erase(ticket);
    return complete;
  }
  call->deadline = std::min(call->deadline, DeadlineIn(timeout));
  Watch(call->deadline);
  return nullptr;
}

absl::Status Group::CheckWhole(const Call& call) const {
  const Part& first = call.parts[0];
  for (size_t member = 1; member < call.parts.size(); ++member) {
    const Part& other = call.parts[member];
    SHOAL_RETURN_IF_ERROR(CheckSame({first.operation, &first.args, size_},
                                    {other.operation, &other.args, size_},
                                    FirstRank(static_cast<int>(member))));
  }
  for (const Part& part : call.parts) SHOAL_RETURN_IF_ERROR(part.fault);
  return absl::OkStatus();
}

void Group::Complete(const std::shared_ptr<Call>& call) {
  const Part& first = call->parts[0];
  const auto motion = std::make_shared<Motion>();
  absl::Status status = CheckWhole(*call);
  if (status.ok()) {
    motion->plan = MakePlan(first.operation, first.args, call->ranks);
    status = CheckOverlaps(motion->plan, call->ranks);
  }
  if (!status.ok()) {
    for (Part& part : call->parts) std::move(part.done)(status);
    return;
  }
  Streams streams;
  Duration timeout = first.args.timeout;
  for (const RankBuffers& rank : call->ranks) streams.push_back(rank.stream);
  for (const Part& part : call->parts) timeout = std::min(timeout, part.args.timeout);
  motion->finish = [this, call](bool moved) {
    for (size_t member = 0; member < call->parts.size(); ++member) {
      std::move(call->parts[member].done)(moved ? absl::OkStatus()
                                                : BrokenStatus(static_cast<int>(member)));
    }
  };
  Move(motion, std::move(streams), timeout);
}

void Group::Move(const std::shared_ptr<Motion>& motion, Streams streams, Duration timeout) {
  std::sort(streams.begin(), streams.end());
  streams.erase(std::unique(streams.begin(), streams.end()), streams.end());
  {
    std::unique_lock lock(mutex_);
    if (!broken_[0].ok()) {  // Since the call came.
      lock.unlock();
      std::move(motion->finish)(false);
      return;
    }
    motions_.insert(motion);
  }
  // Should the group break before this: the meeting is called off and only lets the streams pass.
  motion->meeting->Begin(order_, streams,
                         [self = shared_from_this(), motion] { self->Work(motion); });
  if (motion->finished) return;
  const std::lock_guard lock(mutex_);
  if (!motions_.contains(motion)) return;
  motion->deadline = DeadlineIn(timeout);
  Watch(motion->deadline);
}

void Group::Work(const std::shared_ptr<Motion>& motion) {
  const bool is_large = motion->plan.MovedBytes() > options_.inline_bytes_max;
  if (is_large && options_.team != nullptr && options_.team->width() > 1) {
    options_.team->Post([self = shared_from_this(), motion] { self->Carry(motion); });
  } else {
    Carry(motion);
  }
}

void Group::Carry(const std::shared_ptr<Motion>& motion) {
  const bool moved =
      Execute(motion->plan, {options_.team, options_.spread_bytes_min, &motion->stopped});
  {
    const std::lock_guard lock(mutex_);
    motions_.erase(motion);
  }
  motion->finished = true;
  std::move(motion->finish)(moved);
  motion->meeting->End();
}

void Group::Abort(int member) {
  std::vector<absl::Status> statuses(
      member_count(),
      absl::UnavailableError(absl::StrCat("rank ", FirstRank(member), " aborted the group")));
  statuses[static_cast<size_t>(member)] = absl::AbortedError("the group was aborted here");
  Break(statuses);
}

void Group::Leave(int member) {
  {
    const std::lock_guard lock(mutex_);
    // A sole owner that has nothing under way is missed by nobody.
    if (member_count() == 1 && motions_.empty() && waiting_.empty()) return;
  }
  std::vector<absl::Status> statuses(
      member_count(),
      absl::UnavailableError(absl::StrCat("rank ", FirstRank(member), " left the group")));
  statuses[static_cast<size_t>(member)] = absl::AbortedError("the communicator was destroyed");
  Break(statuses);
}

void Group::Break(const std::vector<absl::Status>& statuses) {
  // A callback may destroy the last communicator. Null while the destructor waits for the watchdog.
  const std::shared_ptr<Group> self = weak_from_this().lock();
  absl::btree_map<uint64_t, std::shared_ptr<Call>> calls;
  absl::flat_hash_map<std::pair<int, int>, std::deque<Side>> sides;
  std::vector<std::shared_ptr<Motion>> motions;
  {
    const std::lock_guard lock(mutex_);
    if (!broken_[0].ok()) return;
    broken_ = statuses;
    calls.swap(gathering_);
    sides.swap(waiting_);
    for (const auto& motion : motions_) {
      motion->stopped = true;
      motions.push_back(motion);
    }
  }
  for (const auto& [ticket, call] : calls) {
    for (size_t member = 0; member < call->parts.size(); ++member) {
      Part& part = call->parts[member];
      if (part.has_come) std::move(part.done)(statuses[member]);
    }
  }
  for (auto& [ends, queue] : sides) {
    for (const Side& side : queue) {
      CloseSide(side.exchange, statuses[static_cast<size_t>(side.exchange->member)]);
    }
  }
  for (const auto& motion : motions) {
    if (!motion->meeting->Cancel()) continue;  // It moves, stops soon, and then tells.
    {
      const std::lock_guard lock(mutex_);
      motions_.erase(motion);
    }
    motion->finished = true;
    std::move(motion->finish)(false);
  }
}

absl::Status Group::BrokenStatus(int member) const {
  const std::lock_guard lock(mutex_);
  return broken_[static_cast<size_t>(member)];
}

Group::Deadline Group::DeadlineIn(Duration timeout) {
  const Deadline now = Clock::now();
  return timeout < Deadline::max() - now ? now + timeout : Deadline::max();
}

void Group::Watch(Deadline deadline) {
  if (deadline >= watched_) return;
  watched_ = deadline;
  if (!watchdog_.joinable()) {
    auto watchdog = StartThread([this] { WatchdogMain(); });
    if (watchdog.ok()) {
      watchdog_ = *std::move(watchdog);
    } else {
      watched_ = Deadline::max();  // Tried again with the next call; this one has no timeout.
    }
  } else {
    watch_.notify_all();
  }
}

Group::Deadline Group::EarliestDeadline() const {
  Deadline earliest = Deadline::max();
  for (const auto& [ticket, call] : gathering_) earliest = std::min(earliest, call->deadline);
  for (const auto& motion : motions_) {
    if (!motion->stopped) earliest = std::min(earliest, motion->deadline);
  }
  for (const auto& [ends, queue] : waiting_) {
    for (const Side& side : queue) earliest = std::min(earliest, side.exchange->deadline);
  }
  return earliest;
}

void Group::WatchdogMain() {
  const std::vector<absl::Status> statuses(
      member_count(), absl::DeadlineExceededError("a call of the group did not end in time"));
  std::unique_lock lock(mutex_);
  while (!closing_) {
    watched_ = EarliestDeadline();
    if (watched_ == Deadline::max()) {
      watch_.wait(lock);
    } else if (watched_ > Clock::now()) {
      watch_.wait_until(lock, watched_);
    } else {
      lock.unlock();
      Break(statuses);
      return;  // A broken group has no more deadlines, and this one may be gone.
    }
  }
}

}  // namespace shoal::collective
