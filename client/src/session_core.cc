#include "client/src/session_core.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/start_thread.h"
#include "base/status.h"
#include "client/src/method.h"

namespace shoal::internal {
namespace {

using SteadyClock = std::chrono::steady_clock;

Instant Now() { return Instant(SteadyClock::now().time_since_epoch()); }

}  // namespace

SessionCore::SessionCore(Setup setup)
    : setup_(std::move(setup)),
      stream_(setup_.channel->MakeStream(IndexOf(Method::kSession), {})),
      coalescer_(setup_.options),
      window_(setup_.first_credits),
      writing_(true) {}  // Until the reader begins.

absl::StatusOr<std::unique_ptr<SessionCore>> SessionCore::Open(Setup setup) {
  std::unique_ptr<SessionCore> core(new SessionCore(std::move(setup)));
  SHOAL_ASSIGN_OR_RETURN(core->reader_, StartThread([core = core.get()] { core->ReadLoop(); }));
  return core;
}

SessionCore::~SessionCore() {
  stream_->Cancel();
  if (reader_.joinable()) reader_.join();
  {
    const std::lock_guard lock(mutex_);
    timer_stopping_ = true;
    timer_changed_.notify_all();
  }
  if (timer_.joinable()) timer_.join();
}

bool SessionCore::InCallback() const { return std::this_thread::get_id() == reader_.get_id(); }

absl::Status SessionCore::Admit(Lock* lock, int64_t task_bytes) {
  if (task_bytes > setup_.task_bytes_max) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a task of ", task_bytes, " bytes; the server takes at most ", setup_.task_bytes_max));
  }
  const auto has_room = [this] {
    return static_cast<int64_t>(waiting_.size()) < setup_.options.queue_tasks_max ||
           !broken_.ok() || closed_;
  };
  if (!has_room()) {
    // The thread that would make room is the one that asks.
    if (InCallback()) return absl::ResourceExhaustedError("too many tasks wait for the server");
    changed_.wait(*lock, has_room);
  }
  if (!broken_.ok()) return broken_;
  if (closed_) return absl::FailedPreconditionError("the session was closed");
  return absl::OkStatus();
}

absl::StatusOr<uint64_t> SessionCore::Submit(const PreparedCall& call, TaskCallback on_end) {
  const int64_t task_bytes = SessionWriter::TaskBytes(*call.encoded_);
  Lock lock(mutex_);
  if (absl::Status admitted = Admit(&lock, task_bytes); !admitted.ok()) return admitted;
  const uint64_t id = table_.Add(std::move(on_end));
  waiting_.push_back({id, call.encoded_});
  // The time matters only if nothing is on its way: else the end of that decides.
  coalescer_.Added(Now(), 1, task_bytes);
  if (!writing_) Pump(&lock);
  return id;
}

absl::StatusOr<TaskRange> SessionCore::SubmitBatch(absl::Span<const PreparedCall> calls,
                                                   BulkCallback on_report) {
  if (calls.empty()) return TaskRange();
  int64_t bytes = 0;
  int64_t bytes_max = 0;
  for (const PreparedCall& call : calls) {
    const int64_t task_bytes = SessionWriter::TaskBytes(*call.encoded_);
    bytes += task_bytes;
    bytes_max = std::max(bytes_max, task_bytes);
  }
  auto group = std::make_shared<BulkGroup>();
  group->on_report = std::move(on_report);
  const auto count = static_cast<int64_t>(calls.size());
  group->pending = count;

  Lock lock(mutex_);
  if (absl::Status admitted = Admit(&lock, bytes_max); !admitted.ok()) return admitted;
  const uint64_t first = table_.AddBulk(group, count);
  groups_.emplace(group.get(), group);
  uint64_t id = first;
  for (const PreparedCall& call : calls) waiting_.push_back({id++, call.encoded_});
  coalescer_.Added(Now(), count, bytes);
  if (!writing_) Pump(&lock);
  return TaskRange{first, count};
}

absl::StatusOr<FloodReport> SessionCore::Flood(const PreparedCall& call, int64_t count,
                                               BulkCallback on_report) {
  if (count < 0) return absl::InvalidArgumentError("a flood of fewer than no tasks");
  if (InCallback()) return absl::FailedPreconditionError("a callback must not wait for a flood");
  if (count == 0) return FloodReport();
  auto group = std::make_shared<BulkGroup>();
  group->on_report = std::move(on_report);
  group->pending = count;
  group->unsubmitted = count;
  const auto start = SteadyClock::now();

  Lock lock(mutex_);
  const int64_t task_bytes = SessionWriter::TaskBytes(*call.encoded_);
  if (absl::Status admitted = Admit(&lock, task_bytes); !admitted.ok()) return admitted;
  groups_.emplace(group.get(), group);
  floods_.push_back({group, call.encoded_});
  unsubmitted_ += count;
  if (!writing_) Pump(&lock);
  changed_.wait(lock, [&group] { return group->pending == 0; });
  if (group->broken) return broken_;
  const auto sent = group->sent_at.value_or(start) - start;
  return FloodReport{group->ok_count, group->failed_count, group->first_error, sent,
                     SteadyClock::now() - start};
}

void SessionCore::Cancel(uint64_t id) {
  Lock lock(mutex_);
  if (!table_.Contains(id)) return;
  const auto at = std::lower_bound(waiting_.begin(), waiting_.end(), id,
                                   [](const Waiting& task, uint64_t key) { return task.id < key; });
  if (at != waiting_.end() && at->id == id) {
    at->cancelled = true;  // The task goes first, then its cancellation.
    return;
  }
  cancels_.push_back(id);
  if (!writing_) Pump(&lock);
}

absl::Status SessionCore::Wait() {
  if (InCallback()) return absl::FailedPreconditionError("a callback must not wait for tasks");
  Lock lock(mutex_);
  changed_.wait(lock,
                [this] { return table_.count() == 0 && unsubmitted_ == 0 && delivering_ == 0; });
  return broken_;
}

absl::Status SessionCore::Close() {
  if (InCallback()) return absl::FailedPreconditionError("a callback must not wait for the end");
  Lock lock(mutex_);
  closed_ = true;
  changed_.notify_all();
  if (!writing_) Pump(&lock);
  changed_.wait(lock, [this] { return ended_; });
  return broken_;
}

int64_t SessionCore::pending_count() const {
  const Lock lock(mutex_);
  return table_.count() + unsubmitted_ + delivering_;
}

Session::Counters SessionCore::counters() const {
  const Lock lock(mutex_);
  return counters_;
}

// What to send.

/// How many of `wanted` tasks the credits allow now. Rather none than a few: while the server has
/// most of the window to work on, waiting for more credits costs nothing and saves messages.
int64_t SessionCore::Room(int64_t wanted) const {
  const int64_t unanswered = table_.count() - static_cast<int64_t>(waiting_.size());
  const int64_t room = window_ - unanswered;
  const int64_t enough = std::min(
      {wanted, std::max<int64_t>(window_ / 4, 1), int64_t{setup_.options.message_tasks_max}});
  return room >= enough ? std::min<int64_t>(room, setup_.options.message_tasks_max) : 0;
}

void SessionCore::ChooseTasks(Instant now, int64_t room, Outgoing* outgoing) {
  int64_t tasks = 0;
  int64_t bytes = 0;
  while (tasks < room && !waiting_.empty()) {
    Waiting& task = waiting_.front();
    const int64_t task_bytes = SessionWriter::TaskBytes(*task.encoded);
    if (tasks > 0 && bytes + task_bytes > setup_.options.message_bytes_max) break;
    ++tasks;
    bytes += task_bytes;
    if (task.cancelled) cancels_.push_back(task.id);
    auto& chosen = outgoing->tasks;
    if (!chosen.empty() && chosen.back().encoded == task.encoded &&
        chosen.back().first + static_cast<uint64_t>(chosen.back().count) == task.id) {
      ++chosen.back().count;
    } else {
      chosen.push_back({task.id, 1, std::move(task.encoded)});
    }
    waiting_.pop_front();
  }
  if (tasks > 0) coalescer_.Flushed(now, tasks, bytes);
  counters_.tasks_sent += tasks;
  changed_.notify_all();
}

void SessionCore::ChooseFlood(int64_t room, Outgoing* outgoing) {
  FloodSource& flood = floods_.front();
  const int64_t fit = std::max<int64_t>(
      setup_.options.message_bytes_max / SessionWriter::TaskBytes(*flood.encoded), 1);
  const int64_t count = std::min({room, flood.group->unsubmitted, fit});
  outgoing->tasks.push_back({table_.AddBulk(flood.group, count), count, flood.encoded});
  flood.group->unsubmitted -= count;
  unsubmitted_ -= count;
  counters_.tasks_sent += count;
  if (flood.group->unsubmitted > 0) return;
  outgoing->all_sent = flood.group;
  floods_.pop_front();
}

/// Fills the next message; false: there is nothing to be sent now.
bool SessionCore::Choose(Instant now, Outgoing* outgoing) {
  if (writing_ || write_ended_) return false;
  outgoing->open = !opened_;
  // Cancellations of tasks that leave with this message go with the next.
  outgoing->cancels.swap(cancels_);
  const int64_t unanswered = table_.count() - static_cast<int64_t>(waiting_.size());
  if (coalescer_.Due(now, unanswered)) {
    ChooseTasks(now, Room(static_cast<int64_t>(waiting_.size())), outgoing);
  }
  if (outgoing->tasks.empty() && !floods_.empty()) {
    if (const int64_t room = Room(floods_.front().group->unsubmitted); room > 0) {
      ChooseFlood(room, outgoing);
    }
  }
  if (outgoing->open || !outgoing->tasks.empty() || !outgoing->cancels.empty()) return true;
  outgoing->close = closed_ && waiting_.empty() && floods_.empty() && cancels_.empty();
  if (outgoing->close || ArmTimer(now)) return outgoing->close;
  // Without a thread that waits for the rest of a batch, rather too early than too late.
  ChooseTasks(now, Room(static_cast<int64_t>(waiting_.size())), outgoing);
  return !outgoing->tasks.empty();
}

void SessionCore::Pump(Lock* lock) {
  Outgoing outgoing;
  if (!Choose(Now(), &outgoing)) return;
  writing_ = true;
  opened_ = true;
  if (outgoing.close) {
    write_ended_ = true;
  } else {
    ++counters_.messages_sent;
  }
  // Nobody else sends while `writing_`, and the reader does not go before this is answered.
  lock->unlock();
  Send(outgoing);
  lock->lock();
  if (outgoing.all_sent != nullptr) outgoing.all_sent->sent_at = SteadyClock::now();
}

/// Has what waits looked at when it is due. False: no thread for that can be had.
bool SessionCore::ArmTimer(Instant now) {
  const std::optional<Instant> due = coalescer_.DueAt();
  // What is due already waits for credits, and is looked at when they come.
  if (!due.has_value() || *due <= now || (timer_at_.has_value() && *timer_at_ <= *due)) return true;
  if (!timer_.joinable()) {
    absl::StatusOr<std::thread> timer = StartThread([this] { TimerLoop(); });
    if (!timer.ok()) return false;
    timer_ = *std::move(timer);
  }
  timer_at_ = due;
  timer_changed_.notify_one();
  return true;
}

}  // namespace shoal::internal
