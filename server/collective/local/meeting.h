#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/types/span.h"
#include "server/device/stream.h"

namespace shoal::collective {

/// Brings several streams to one point, runs something there, and lets them go on.
///
/// Thread-safety: all calls from any thread.
class Meeting : public std::enable_shared_from_this<Meeting> {
 public:
  /// Pauses `streams` (distinct; borrowed until they have been resumed). Once all have come,
  /// `work` runs once, on the thread on which the last one came, which may be this one.
  ///
  /// `order` is held while they are paused, though not while `work` runs: were two meetings over
  /// common streams begun at once, one stream could wait for the first and another for the second,
  /// and neither would ever move again.
  void Begin(std::mutex& order, absl::Span<device::Stream* const> streams,
             absl::AnyInvocable<void() &&> work);

  /// Lets the streams go on. Once, at the end of `work` or later.
  void End();

  /// Calls the meeting off and lets the streams go on; false when `work` has begun, or is about
  /// to, and is left alone.
  bool Cancel();

 private:
  enum class State : uint8_t { kGathering, kWorking, kEnded };

  void OnReached(device::Resume resume);
  void Advance(std::unique_lock<std::mutex> lock);

  std::mutex mutex_;
  State state_ = State::kGathering;
  bool beginning_ = true;  ///< `Begin` is still pausing streams: nothing may run in between.
  size_t expected_ = 0;
  std::vector<device::Resume> resumes_;
  absl::AnyInvocable<void() &&> work_;
};

}  // namespace shoal::collective
