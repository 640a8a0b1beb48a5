#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "server/collective/communicator.h"
#include "server/runtime/stored_array.h"
#include "server/runtime/workers.h"

namespace shoal::runtime {

/// Moves shards between workers through the group that all of them form.
///
/// Thread-safety: all calls from any thread, a Done's included; it takes care that the group hears
///   one at a time.
class Mover {
 public:
  /// Rank r of `group` is worker r. Borrows `workers`.
  Mover(Workers* workers, std::unique_ptr<collective::Communicator> group)
      : workers_(workers), group_(std::move(group)) {}

  /// Fills `target` with the elements of `source`, an array of the same type laid out otherwise.
  ///
  /// Lifetime: both live until `done`.
  void Copy(const StoredArray& source, StoredArray* target, device::Done done);

  /// The bytes that such a copy takes from one worker to another.
  static int64_t MovedBytes(const StoredArray& source, const StoredArray& target);

  /// Fills the other replicas of a replicated array from the first.
  void Replicate(StoredArray* array, device::Done done);

 private:
  struct Hop;
  struct Order {
    std::vector<collective::Transfer> transfers;
    device::Done done;
  };
  static std::vector<Hop> PlanCopy(const StoredArray& source, const StoredArray& target);
  void Send(Order order);
  collective::Transfer MakeTransfer(const Shard& from, const Shard& to, plan::Range elements,
                                    int64_t item_bytes);

  Workers* const workers_;
  std::mutex mutex_;
  std::deque<Order> orders_;  // Of those who came while another was telling the group.
  bool sending_ = false;      // A thread tells the group, and will tell it all orders.
  const std::unique_ptr<collective::Communicator> group_;
};

}  // namespace shoal::runtime
