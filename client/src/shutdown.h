#pragma once

#include <condition_variable>
#include <mutex>

#include "base/time.h"
#include "client/src/deadline.h"
#include "transport/cancellation.h"
#include "transport/channel.h"

namespace shoal::internal {

/// Lets the destructor of a Client stop what its own threads are doing.
///
/// Thread-safety: all methods.
class Shutdown {
 public:
  /// Cancels the calls of `cancellation`, refuses later ones, and ends all waits.
  void Begin();
  bool begun() const { return cancellation_.cancelled(); }

  /// Waits that long, but not beyond `deadline`. False: the deadline came first, or shutdown.
  bool Wait(Duration duration, const Deadline& deadline);

  /// For calls that `Begin` is to cancel.
  transport::Cancellation* cancellation() { return &cancellation_; }

 private:
  transport::Cancellation cancellation_;
  std::mutex mutex_;
  std::condition_variable changed_;
};

/// What an API call hands to everything that it does.
struct CallEnv {
  Deadline deadline;
  Shutdown* shutdown = nullptr;  ///< Ends waits between attempts. Never null in a Client.
  bool cancellable = false;      ///< In a thread of the Client's: `shutdown` cancels it.

  transport::CallTerms Terms() const {
    return {.deadline = deadline.at(),
            .cancellation = cancellable ? shutdown->cancellation() : nullptr};
  }
};

}  // namespace shoal::internal
