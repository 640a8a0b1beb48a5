#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <variant>

#include "base/time.h"
#include "server/device/cpu/cpu_work.h"
#include "server/device/stream.h"
#include "server/threads/team.h"

namespace shoal::device {

/// A queue of work on the CPU.
///
/// At most one thread has the stream in hand at any moment: the one that found it idle and brought
/// something small, the stream's own runner, or whoever resumes it. It works the queue off until
/// it is empty or, not being the runner, has spent its share of time; then the runner takes over.
class CpuStream final : public Stream {
 public:
  /// Borrows what `context` names. `stream_count` is lowered by the destructor.
  CpuStream(const CpuContext& context, Duration inline_cost_max, std::atomic<int>* stream_count);
  ~CpuStream() override;

  /// Before all else: nothing may ever have to run on the thread of whoever queues it.
  ///
  /// Errors: RESOURCE_EXHAUSTED  the system has no more threads.
  absl::Status StartRunner() { return runner_.StartFirst(); }

  void CopyIn(ConstSpan host, Span device, Done done) override;
  void CopyOut(ConstSpan device, Span host, Done done) override;
  void Copy(ConstSpan source, Span target, Done done) override;
  void Launch(Work work, CancelFlag cancelled, Done done) override;
  void Pause(absl::AnyInvocable<void(Resume) &&> reached) override;
  bool Idle() const override { return !in_hand_.load(std::memory_order_acquire); }

 private:
  struct CopyItem {
    ConstSpan source;
    Span target;
    Done done;
  };
  struct LaunchItem {
    Work work;
    CancelFlag cancelled;
    Done done;
  };
  struct PauseItem {
    absl::AnyInvocable<void(Resume) &&> reached;
  };
  struct Item {
    Duration cost;
    std::variant<CopyItem, LaunchItem, PauseItem> what;
  };
  enum class PauseState : uint8_t {
    kNone,
    kReached,  ///< The callback is on the stack of the thread that has the stream in hand.
    kResumed,  ///< As before, and the Resume came already.
    kPaused,   ///< Nobody has the stream in hand: the Resume takes it.
  };

  void Submit(Item item);
  void WorkOff(Duration budget);
  std::optional<Item> TakeItem(Duration budget);
  bool RunItem(Item item);
  void OnResume();

  const CpuContext context_;
  const Duration inline_cost_max_;
  std::atomic<int>* const stream_count_;

  std::mutex mutex_;
  std::condition_variable idle_;
  std::deque<Item> queue_;
  std::atomic<bool> in_hand_ = false;  ///< Written under mutex_.
  PauseState pause_ = PauseState::kNone;
  threads::Team runner_;  ///< One helper, for what is too large to run inline.
};

}  // namespace shoal::device
