#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"
#include "server/collective/check.h"
#include "server/collective/communicator.h"
#include "server/collective/local/local_group.h"
#include "server/collective/local/meeting.h"
#include "server/collective/local/plan.h"

namespace shoal::collective {

/// What the members of a local group share: calls that gather, calls that move, and the watchdog.
///
/// A call gathers until every member has come (at once where one member owns all ranks), is
/// checked as a whole, then becomes a Motion: its streams meet, its plan is carried out, everybody
/// is told, the streams go on.
///
/// Life: shared by the members' communicators and the callbacks under way.
/// Thread-safety: all calls from any thread. No callback runs under a lock.
class Group : public std::enable_shared_from_this<Group> {
 public:
  using Ranks = Communicator::Ranks;
  using Done = device::Done;

  explicit Group(const LocalGroupOptions& options);
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  ~Group();

  int size() const { return size_; }
  /// The first rank of `member`; that of the one behind the last is `size()`.
  int FirstRank(int member) const { return first_ranks_[static_cast<size_t>(member)]; }

  void Start(int member, const CallView& view, Ranks ranks, Done done);
  void SendRecv(int member, const Args& args, absl::Span<const Transfer> transfers, Done done);
  void Abort(int member);
  /// The communicator of `member` is gone: as Abort where that would be noticed.
  void Leave(int member);

 private:
  using Clock = std::chrono::steady_clock;
  using Deadline = Clock::time_point;

  /// One member's part in a call.
  struct Part {
    bool has_come = false;
    Operation operation = Operation::kBarrier;
    Args args;  ///< Its counts are those below.
    std::vector<int64_t> counts;
    absl::Status fault;
    Done done;
  };
  struct Call {
    absl::InlinedVector<Part, 1> parts;  ///< By member.
    absl::InlinedVector<RankBuffers, 8> ranks;
    size_t come_count = 0;
    Deadline deadline = Deadline::max();
  };
  struct Motion {
    Plan plan;
    std::atomic<bool> stopped = false;
    std::atomic<bool> finished = false;
    std::shared_ptr<Meeting> meeting = std::make_shared<Meeting>();
    /// Tells whoever waits; true when all bytes have moved.
    absl::AnyInvocable<void(bool) &&> finish;
    Deadline deadline = Deadline::max();
  };
  /// One SendRecv: done when no side of it is open.
  struct Exchange {
    int member = 0;
    size_t open_sides = 0;
    absl::Status status;
    Done done;
    Deadline deadline = Deadline::max();
  };
  /// One end of a transfer, waiting for the other.
  struct Side {
    std::shared_ptr<Exchange> exchange;
    bool is_send = false;
    kernels::DType dtype = kernels::DType::kUint8;
    device::ConstSpan send;
    device::Span recv;
    device::Stream* stream = nullptr;
  };
  using Streams = absl::InlinedVector<device::Stream*, 8>;
  using Pair = std::pair<Side, Side>;  ///< Send, receive.

  size_t member_count() const { return first_ranks_.size() - 1; }
  bool Owns(int member, int rank) const {
    return rank >= FirstRank(member) && rank < FirstRank(member + 1);
  }
  std::shared_ptr<Call> Join(int member, Part part, Ranks ranks);  // Needs mutex_.
  absl::Status CheckWhole(const Call& call) const;
  void Complete(const std::shared_ptr<Call>& call);
  void Move(const std::shared_ptr<Motion>& motion, Streams streams, Duration timeout);
  void Work(const std::shared_ptr<Motion>& motion);
  void Carry(const std::shared_ptr<Motion>& motion);

  absl::Status CheckTransfers(int member, absl::Span<const Transfer> transfers) const;
  void Match(std::pair<int, int> ends, Side side, std::vector<Pair>& pairs);  // Needs mutex_.
  void MovePair(const Pair& pair, Duration timeout);
  void CloseSide(const std::shared_ptr<Exchange>& exchange, const absl::Status& status);

  void Break(const std::vector<absl::Status>& statuses);
  absl::Status BrokenStatus(int member) const;

  static Deadline DeadlineIn(Duration timeout);
  void Watch(Deadline deadline);      // Needs mutex_.
  Deadline EarliestDeadline() const;  // Needs mutex_.
  void WatchdogMain();

  const LocalGroupOptions options_;
  std::vector<int> first_ranks_;  ///< By member, and the size behind them; fixed.
  int size_ = 0;

  std::mutex order_;  ///< Held while the streams of one meeting are paused. Taken before no other.
  mutable std::mutex mutex_;
  std::vector<absl::Status> broken_;    ///< By member; all OK until the group breaks.
  std::vector<uint64_t> next_tickets_;  ///< By member.
  absl::btree_map<uint64_t, std::shared_ptr<Call>> gathering_;  ///< By ticket.
  absl::flat_hash_set<std::shared_ptr<Motion>> motions_;
  absl::flat_hash_map<std::pair<int, int>, std::deque<Side>> waiting_;  ///< By source, destination.

  std::condition_variable watch_;
  Deadline watched_ = Deadline::max();  ///< What the watchdog sleeps for.
  bool closing_ = false;
  std::thread watchdog_;  ///< Started when first a call does not end at once.
};

}  // namespace shoal::collective
