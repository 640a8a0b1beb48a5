// The session's traffic: what SessionCore does in its threads.
#include <sys/prctl.h>

#include <utility>

#include "base/check.h"
#include "client/src/session_core.h"

namespace shoal::internal {
namespace {

using Event = transport::Stream::Event;

}  // namespace

void SessionCore::Send(const Outgoing& outgoing) {
  if (outgoing.close) {
    stream_->CloseSend();
    return;
  }
  SessionWriter writer;
  if (outgoing.open) writer.Open(setup_.options.ordered);
  for (const Outgoing::Tasks& tasks : outgoing.tasks) {
    writer.Tasks(tasks.first, tasks.count, *tasks.encoded);
  }
  writer.Cancel(outgoing.cancels);
  stream_->Send(writer.Take(), /*last=*/false);
}

void SessionCore::ReadLoop() {
  {
    Lock lock(mutex_);
    writing_ = false;
    Pump(&lock);  // The first message, which begins the call.
  }
  bool ended = false;
  for (bool over = false; !over;) {
    switch (stream_->Wait()) {
      case Event::kMessage:
        TakeReply();
        break;
      case Event::kSent: {
        Lock lock(mutex_);
        writing_ = false;
        write_ended_ = write_ended_ || !stream_->can_send();
        over = ended;
        Pump(&lock);
        break;
      }
      case Event::kEnded: {
        // Nothing more can be sent, but another thread may just have begun to.
        const Lock lock(mutex_);
        ended = true;
        write_ended_ = true;
        over = !writing_;
        break;
      }
    }
  }
  Finish();
}

void SessionCore::TakeReply() {
  const absl::Status decoded = DecodeSessionReply(stream_->message(), setup_.pool.get(), &reply_);
  deliveries_ = Deliveries();
  {
    Lock lock(mutex_);
    ++counters_.messages_received;
    absl::Status sorted = decoded.ok() ? Sort(&reply_, &deliveries_) : decoded;
    if (!sorted.ok()) {
      Break(std::move(sorted));
      stream_->Cancel();
    }
    // First what keeps the server busy, then what keeps us busy.
    Pump(&lock);
  }
  Deliver(&reply_, &deliveries_);
  const Lock lock(mutex_);
  Settle(reply_, deliveries_);
}

/// Finds whom each result concerns, and forgets the tasks.
absl::Status SessionCore::Sort(SessionReply* reply, Deliveries* deliveries) {
  if (reply->credits.has_value()) window_ = std::max<int64_t>(*reply->credits, 1);
  const auto extend = [](std::vector<Run>* runs, BulkGroup* group, size_t at) {
    if (!runs->empty() && runs->back().group == group && runs->back().end == at) {
      ++runs->back().end;
    } else {
      runs->push_back({group, at, at + 1});
    }
  };
  const auto unknown = [] {
    return absl::InternalError("the server answered a task that is not under way");
  };
  for (size_t i = 0; i < reply->done.size(); ++i) {
    const uint64_t id = reply->done[i];
    if (BulkGroup* group = table_.RemoveBulk(id); group != nullptr) {
      extend(&deliveries->done_runs, group, i);
    } else if (auto ended = table_.Remove(id); ended.has_value()) {
      deliveries->singles.emplace_back(std::move(ended->callback), TaskResult{id, {}, {}});
    } else {
      return unknown();
    }
    ++delivering_;
  }
  for (size_t i = 0; i < reply->results.size(); ++i) {
    auto ended = table_.Remove(reply->results[i].id);
    if (!ended.has_value()) return unknown();
    if (ended->group != nullptr) {
      extend(&deliveries->result_runs, ended->group, i);
    } else {
      deliveries->singles.emplace_back(std::move(ended->callback), std::move(reply->results[i]));
    }
    ++delivering_;
  }
  return absl::OkStatus();
}

void SessionCore::Deliver(SessionReply* reply, Deliveries* deliveries) {
  for (auto& [callback, result] : deliveries->singles) {
    if (callback) std::move(callback)(std::move(result));
  }
  const auto done = absl::MakeConstSpan(reply->done);
  for (const Run& run : deliveries->done_runs) {
    if (!run.group->on_report) continue;
    run.group->on_report({done.subspan(run.begin, run.end - run.begin), {}});
  }
  const auto results = absl::MakeSpan(reply->results);
  for (const Run& run : deliveries->result_runs) {
    if (!run.group->on_report) continue;
    run.group->on_report({{}, results.subspan(run.begin, run.end - run.begin)});
  }
}

/// Counts what has been delivered.
void SessionCore::Settle(const SessionReply& reply, const Deliveries& deliveries) {
  const auto settle = [this](BulkGroup* group, int64_t ended) {
    group->pending -= ended;
    delivering_ -= ended;
    if (group->pending == 0) groups_.erase(group);
  };
  for (const Run& run : deliveries.done_runs) {
    const auto count = static_cast<int64_t>(run.end - run.begin);
    run.group->ok_count += count;
    settle(run.group, count);
  }
  for (const Run& run : deliveries.result_runs) {
    for (size_t i = run.begin; i < run.end; ++i) {
      const absl::Status& status = reply.results[i].status;
      ++(status.ok() ? run.group->ok_count : run.group->failed_count);
      if (!status.ok() && run.group->first_error.ok()) run.group->first_error = status;
    }
    settle(run.group, static_cast<int64_t>(run.end - run.begin));
  }
  delivering_ -= static_cast<int64_t>(deliveries.singles.size());
  changed_.notify_all();
}

/// Takes no more tasks, for this reason.
void SessionCore::Break(absl::Status status) {
  if (broken_.ok()) broken_ = std::move(status);
  changed_.notify_all();
}

/// The stream has ended: so do all tasks.
void SessionCore::Finish() {
  absl::Status how = stream_->Finish();
  deliveries_ = Deliveries();
  reply_ = SessionReply();
  {
    Lock lock(mutex_);
    const bool asked = closed_ && table_.count() == 0 && unsubmitted_ == 0;
    if (how.ok() && !asked) how = absl::UnavailableError("the server ended the session");
    if (!how.ok()) Break(how);
    for (const uint64_t id : table_.Ids()) reply_.results.push_back({id, broken_, {}});
    SHOAL_CHECK(Sort(&reply_, &deliveries_).ok());
    waiting_.clear();
    for (const auto& [group, reference] : groups_) group->broken = true;
    for (const FloodSource& flood : floods_) {
      // These never had an id, so that there is nobody to tell but the flood's caller.
      flood.group->pending -= flood.group->unsubmitted;
    }
    unsubmitted_ = 0;
  }
  Deliver(&reply_, &deliveries_);
  Lock lock(mutex_);
  Settle(reply_, deliveries_);
  floods_.clear();
  groups_.clear();
  ended_ = true;
  changed_.notify_all();
}

void SessionCore::TimerLoop() {
  // The kernel's default slack is as long as the delay itself. Advice only.
  prctl(PR_SET_TIMERSLACK, 1000UL, 0UL, 0UL, 0UL);
  Lock lock(mutex_);
  while (!timer_stopping_) {
    if (!timer_at_.has_value()) {
      timer_changed_.wait(lock);
      continue;
    }
    const std::chrono::steady_clock::time_point until(timer_at_->time_since_epoch());
    if (std::chrono::steady_clock::now() < until) {
      timer_changed_.wait_until(lock, until);
      continue;
    }
    timer_at_.reset();
    Pump(&lock);
  }
}

}  // namespace shoal::internal
