#include "server/collective/local/meeting.h"

#include <utility>

#include "base/check.h"

namespace shoal::collective {

void Meeting::Begin(std::mutex& order, absl::Span<device::Stream* const> streams,
                    absl::AnyInvocable<void() &&> work) {
  {
    const std::lock_guard in_order(order);
    {
      const std::lock_guard lock(mutex_);
      expected_ = streams.size();
      resumes_.reserve(streams.size());
      if (state_ == State::kGathering) work_ = std::move(work);
    }
    // A busy stream comes later, on its own thread: the meeting must live until then.
    for (device::Stream* const stream : streams) {
      stream->Pause([self = shared_from_this()](device::Resume resume) {
        self->OnReached(std::move(resume));
      });
    }
  }
  std::unique_lock lock(mutex_);
  beginning_ = false;
  Advance(std::move(lock));
}

void Meeting::OnReached(device::Resume resume) {
  std::unique_lock lock(mutex_);
  resumes_.push_back(std::move(resume));
  Advance(std::move(lock));
}

void Meeting::Advance(std::unique_lock<std::mutex> lock) {
  if (beginning_) return;
  switch (state_) {
    case State::kGathering: {
      if (resumes_.size() < expected_) return;
      state_ = State::kWorking;
      absl::AnyInvocable<void()&&> work = std::move(work_);
      lock.unlock();
      std::move(work)();
      return;
    }
    case State::kWorking:
      return;
    case State::kEnded: {
      std::vector<device::Resume> resumes = std::exchange(resumes_, {});
      lock.unlock();
      for (device::Resume& resume : resumes) std::move(resume)();
      return;
    }
  }
}

void Meeting::End() {
  std::unique_lock lock(mutex_);
  SHOAL_CHECK(state_ == State::kWorking);
  state_ = State::kEnded;
  Advance(std::move(lock));
}

bool Meeting::Cancel() {
  std::unique_lock lock(mutex_);
  if (state_ != State::kGathering) return false;
  state_ = State::kEnded;
  // What the work holds (buffers, callbacks) goes after the lock.
  const absl::AnyInvocable<void()&&> dropped = std::move(work_);
  Advance(std::move(lock));
  return true;
}

}  // namespace shoal::collective
