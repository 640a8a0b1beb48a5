#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"

namespace shoal::threads {

/// A caller and up to N helper threads that share the chunks of one piece of work.
///
/// No helper exists before it is first wanted; an idle one spins for some microseconds, then
/// sleeps. A caller never waits for a helper that has not started a chunk: where the helpers are
/// late, or the system has no more threads, the caller does the work alone.
///
/// Thread-safety: all calls from any thread; several callers share the helpers.
class Team {
 public:
  /// A team with at most `helper_count_max` >= 0 helpers.
  explicit Team(int helper_count_max);
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;
  /// Finishes what was posted, then joins the helpers. No `ParallelFor` may be running.
  ~Team();

  /// Threads that may work on one `ParallelFor`, the caller among them.
  int width() const { return helper_count_max_ + 1; }

  /// Runs `body(i)` once for every i in [0, chunk_count), on this thread and the helpers, taken in
  /// ascending order; returns when all have returned.
  ///
  /// `body` may run on several threads at once and may itself call `ParallelFor`.
  void ParallelFor(int64_t chunk_count, absl::FunctionRef<void(int64_t)> body);

  /// Starts a first helper now: with one, Post never runs anything on the caller's thread. Needs a
  /// team with helpers.
  ///
  /// Errors: RESOURCE_EXHAUSTED  the system has no more threads.
  absl::Status StartFirst();

  /// Runs `work` once on a helper, which starts posted work in order; here and now where there is
  /// no helper and none can be had. Needs a team with helpers.
  void Post(absl::AnyInvocable<void() &&> work);

  /// Helper threads that exist now.
  int helper_count() const;

 private:
  struct Job;

  void HelperMain();
  void SpinWhileIdle(uint64_t offers_seen) const;
  // These need mutex_.
  void Offer(int wanted);
  absl::Status StartHelper();
  Job* OpenJob();

  const int helper_count_max_;
  std::atomic<uint64_t> offers_ = 0;  ///< Counts what was offered; idle helpers watch it.
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable left_;  ///< A helper has left a job.
  std::vector<Job*> jobs_;        ///< Open to helpers; each lives on its caller's stack.
  std::deque<absl::AnyInvocable<void() &&>> posted_;
  int idle_ = 0;      ///< Helpers that spin or sleep.
  int sleeping_ = 0;  ///< Those of them that must be woken.
  bool stopping_ = false;
  std::vector<std::thread> helpers_;
};

}  // namespace shoal::threads
