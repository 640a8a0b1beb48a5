#include "server/device/cpu/cpu_stream.h"

#include <utility>

#include "base/check.h"

namespace shoal::device {

CpuStream::CpuStream(const CpuContext& context, Duration inline_cost_max,
                     std::atomic<int>* stream_count)
    : context_(context),
      inline_cost_max_(inline_cost_max),
      stream_count_(stream_count),
      runner_(1) {}

CpuStream::~CpuStream() {
  {
    std::unique_lock lock(mutex_);
    idle_.wait(lock, [this] { return !in_hand_.load(std::memory_order_relaxed); });
  }
  stream_count_->fetch_sub(1);
}

void CpuStream::CopyIn(ConstSpan host, Span device, Done done) {
  Copy(host, device, std::move(done));
}

void CpuStream::CopyOut(ConstSpan device, Span host, Done done) {
  Copy(device, host, std::move(done));
}

void CpuStream::Copy(ConstSpan source, Span target, Done done) {
  SHOAL_CHECK(source.bytes == target.bytes);
  Submit({EstimatedCopyCost(source.bytes), CopyItem{source, target, std::move(done)}});
}

void CpuStream::Launch(Work work, CancelFlag cancelled, Done done) {
  const Duration cost = EstimatedCost(work);
  Submit({cost, LaunchItem{std::move(work), cancelled, std::move(done)}});
}

void CpuStream::Pause(absl::AnyInvocable<void(Resume) &&> reached) {
  Submit({Duration::zero(), PauseItem{std::move(reached)}});
}

void CpuStream::Submit(Item item) {
  {
    const std::lock_guard lock(mutex_);
    const bool was_in_hand = in_hand_.load(std::memory_order_relaxed);
    in_hand_.store(true, std::memory_order_relaxed);
    if (was_in_hand || item.cost > inline_cost_max_) {
      queue_.push_back(std::move(item));
      if (!was_in_hand) runner_.Post([this] { WorkOff(Duration::max()); });
      return;
    }
  }
  const Duration left = inline_cost_max_ - item.cost;
  if (RunItem(std::move(item))) WorkOff(left);
}

// Needs the stream in hand, and gives it away.
void CpuStream::WorkOff(Duration budget) {
  while (std::optional<Item> item = TakeItem(budget)) {
    if (budget != Duration::max()) budget -= item->cost;
    if (!RunItem(*std::move(item))) return;
  }
}

// The next item if it is within the budget. Without one the stream is not in hand any more, and
// may be gone.
std::optional<CpuStream::Item> CpuStream::TakeItem(Duration budget) {
  const std::lock_guard lock(mutex_);
  if (queue_.empty()) {
    in_hand_.store(false, std::memory_order_release);
    idle_.notify_all();
    return std::nullopt;
  }
  if (queue_.front().cost > budget) {
    runner_.Post([this] { WorkOff(Duration::max()); });
    return std::nullopt;
  }
  std::optional<Item> item = std::move(queue_.front());
  queue_.pop_front();
  return item;
}

// False when the stream is not in hand any more.
bool CpuStream::RunItem(Item item) {
  if (auto* const copy = std::get_if<CopyItem>(&item.what)) {
    RunCopy(copy->source, copy->target, *context_.team);
    std::move(copy->done)(absl::OkStatus());
    return true;
  }
  if (auto* const launch = std::get_if<LaunchItem>(&item.what)) {
    absl::Status status = RunWork(launch->work, launch->cancelled, context_);
    std::move(launch->done)(std::move(status));
    return true;
  }
  auto& pause = std::get<PauseItem>(item.what);
  {
    const std::lock_guard lock(mutex_);
    pause_ = PauseState::kReached;
  }
  std::move(pause.reached)([this] { OnResume(); });
  const std::lock_guard lock(mutex_);
  const bool resumed = pause_ == PauseState::kResumed;
  pause_ = resumed ? PauseState::kNone : PauseState::kPaused;
  return resumed;
}

void CpuStream::OnResume() {
  {
    const std::lock_guard lock(mutex_);
    SHOAL_CHECK(pause_ == PauseState::kReached || pause_ == PauseState::kPaused);
    if (pause_ == PauseState::kReached) {
      // The thread that called `reached` goes on: no recursion, however many pauses follow.
      pause_ = PauseState::kResumed;
      return;
    }
    pause_ = PauseState::kNone;
  }
  WorkOff(inline_cost_max_);
}

}  // namespace shoal::device
