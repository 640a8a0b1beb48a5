#include "server/threads/team.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/check.h"
#include "base/start_thread.h"

namespace shoal::threads {
namespace {

// Pieces of a larger whole follow each other within this time, and a sleeping thread takes 30 us
// or more to come back.
constexpr std::chrono::microseconds kSpin{20};
constexpr int kRelaxesPerClockRead = 32;

void RelaxOnce() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

/// Spins until `done()` or for kSpin.
template <typename Condition>
void SpinUntil(const Condition& done) {
  const auto end = std::chrono::steady_clock::now() + kSpin;
  do {
    for (int i = 0; i < kRelaxesPerClockRead; ++i) {
      if (done()) return;
      RelaxOnce();
    }
  } while (std::chrono::steady_clock::now() < end);
}

}  // namespace

struct Team::Job {
  Job(int64_t count, absl::FunctionRef<void(int64_t)> chunk_body)
      : chunk_count(count), body(chunk_body) {}

  bool HasChunks() const { return next.load(std::memory_order_relaxed) < chunk_count; }
  void Work() {
    for (int64_t i = next++; i < chunk_count; i = next++) body(i);
  }

  const int64_t chunk_count;
  const absl::FunctionRef<void(int64_t)> body;
  std::atomic<int64_t> next = 0;
  // Counted under the team's mutex on the way in; on the way out too when the caller sleeps.
  std::atomic<int> helpers_inside = 0;
};

Team::Team(int helper_count_max) : helper_count_max_(helper_count_max) {
  SHOAL_CHECK(helper_count_max >= 0);
}

Team::~Team() {
  {
    const std::lock_guard lock(mutex_);
    SHOAL_CHECK(jobs_.empty());
    stopping_ = true;
    offers_.fetch_add(1, std::memory_order_relaxed);
  }
  wake_.notify_all();
  for (std::thread& helper : helpers_) helper.join();
}

void Team::ParallelFor(int64_t chunk_count, absl::FunctionRef<void(int64_t)> body) {
  if (chunk_count <= 1 || helper_count_max_ == 0) {
    for (int64_t i = 0; i < chunk_count; ++i) body(i);
    return;
  }
  Job job(chunk_count, body);
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(&job);
    Offer(static_cast<int>(std::min<int64_t>(chunk_count - 1, helper_count_max_)));
  }
  job.Work();
  std::unique_lock lock(mutex_);
  jobs_.erase(std::find(jobs_.begin(), jobs_.end(), &job));
  // The last chunks of the helpers are about as long as this thread's last one was: they are worth
  // a short wait without sleeping.
  if (job.helpers_inside != 0) {
    lock.unlock();
    SpinUntil([&] { return job.helpers_inside == 0; });
    lock.lock();
  }
  left_.wait(lock, [&] { return job.helpers_inside == 0; });
}

void Team::Post(absl::AnyInvocable<void() &&> work) {
  SHOAL_CHECK(helper_count_max_ > 0);
  {
    const std::lock_guard lock(mutex_);
    posted_.push_back(std::move(work));
    Offer(static_cast<int>(posted_.size()));
    if (!helpers_.empty()) return;
    work = std::move(posted_.back());  // Nothing else is there: what came before ran as this will.
    posted_.pop_back();
  }
  std::move(work)();
}

absl::Status Team::StartFirst() {
  SHOAL_CHECK(helper_count_max_ > 0);
  const std::lock_guard lock(mutex_);
  return helpers_.empty() ? StartHelper() : absl::OkStatus();
}

int Team::helper_count() const {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(helpers_.size());
}

void Team::Offer(int wanted) {
  offers_.fetch_add(1, std::memory_order_relaxed);
  // A team that is being destroyed makes do with the helpers it has.
  const int startable = stopping_ ? 0 : helper_count_max_ - static_cast<int>(helpers_.size());
  for (int i = 0; i < std::min(wanted - idle_, startable); ++i) {
    if (!StartHelper().ok()) break;  // Those that are there do it, or the caller.
  }
  for (int i = 0; i < std::min(wanted, sleeping_); ++i) wake_.notify_one();
}

absl::Status Team::StartHelper() {
  auto helper = StartThread([this] { HelperMain(); });
  if (!helper.ok()) return helper.status();
  helpers_.push_back(*std::move(helper));
  return absl::OkStatus();
}

Team::Job* Team::OpenJob() {
  for (Job* const job : jobs_) {
    if (job->HasChunks()) return job;
  }
  return nullptr;
}

void Team::HelperMain() {
  std::unique_lock lock(mutex_);
  bool has_spun = false;
  while (true) {
    if (!posted_.empty()) {
      absl::AnyInvocable<void()&&> work = std::move(posted_.front());
      posted_.pop_front();
      lock.unlock();
      std::move(work)();
      work = nullptr;
      lock.lock();
    } else if (Job* const job = OpenJob(); job != nullptr) {
      ++job->helpers_inside;
      lock.unlock();
      job->Work();
      lock.lock();
      // The job dies as soon as its caller sees 0.
      if (--job->helpers_inside == 0) left_.notify_all();
    } else if (stopping_) {
      return;
    } else if (!has_spun) {
      has_spun = true;
      const uint64_t offers_seen = offers_.load(std::memory_order_relaxed);
      ++idle_;
      lock.unlock();
      SpinWhileIdle(offers_seen);
      lock.lock();
      --idle_;
      continue;
    } else {
      ++idle_;
      ++sleeping_;
      wake_.wait(lock);
      --sleeping_;
      --idle_;
    }
    has_spun = false;
  }
}

void Team::SpinWhileIdle(uint64_t offers_seen) const {
  SpinUntil([&] { return offers_.load(std::memory_order_relaxed) != offers_seen; });
}

}  // namespace shoal::threads
