#pragma once

#include <condition_variable>
#include <mutex>
#include <unordered_set>

#include "base/time.h"
#include "client/src/deadline.h"

namespace shoal::internal {

/// Lets the destructor of a Client stop what its own threads are doing.
///
/// Thread-safety: all methods.
class Shutdown {
 public:
  /// Cancels the calls that are registered, refuses later ones, and ends all waits.
  void Begin();
  bool begun() const;

  /// Waits that long, but not beyond `deadline`. False: the deadline came first, or shutdown.
  bool Wait(Duration duration, const Deadline& deadline);

  /// A call that `Begin` cancels while this object lives.
  class Registration {
   public:
    Registration(Shutdown* shutdown, grpc::ClientContext* context);
    ~Registration();
    Registration(const Registration&) = delete;
    Registration& operator=(const Registration&) = delete;

   private:
    Shutdown* const shutdown_;  // Null: nothing to register with.
    grpc::ClientContext* const context_;
  };

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool begun_ = false;
  std::unordered_set<grpc::ClientContext*> contexts_;
};

/// What an API call hands to everything that it does.
struct CallEnv {
  Deadline deadline;
  Shutdown* shutdown = nullptr;  ///< Ends waits between attempts. Never null in a Client.
  bool cancellable = false;      ///< In a thread of the Client's: `shutdown` cancels it.
};

}  // namespace shoal::internal
