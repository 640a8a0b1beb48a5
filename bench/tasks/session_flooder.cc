#include <algorithm>
#include <chrono>
#include <deque>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "bench/tasks/flooder.h"
#include "shoal/client.h"

namespace shoal::bench {
namespace {

using Clock = std::chrono::steady_clock;

// When each task of a flood was handed over and when it ended.
class Record {
 public:
  explicit Record(int64_t count)
      : started_(static_cast<size_t>(count)), ended_(started_.size()), times_(started_.size()) {}

  // Before the task is submitted: it may end before Submit returns.
  void Started(int64_t index) { started_[static_cast<size_t>(index)] = Clock::now(); }
  void Started(int64_t first, int64_t count) {
    const Clock::time_point now = Clock::now();
    std::fill_n(started_.begin() + first, count, now);
  }

  // One thread at a time.
  void Ended(uint64_t index, bool ok, Clock::time_point now) {
    if (index >= ended_.size() || !ok) {
      ++faults_;
      return;
    }
    ended_[index] = now;
    ++times_[index];
  }

  FloodResult Result(Clock::time_point begun, Clock::time_point sent) const {
    FloodResult result;
    result.sent = sent - begun;
    result.wrong = faults_;
    result.latencies.reserve(started_.size());
    for (size_t i = 0; i < started_.size(); ++i) {
      if (times_[i] != 1) {
        ++result.wrong;
        continue;
      }
      result.latencies.push_back(ended_[i] - started_[i]);
      result.roundtrip = std::max<Duration>(result.roundtrip, ended_[i] - begun);
    }
    return result;
  }

 private:
  std::vector<Clock::time_point> started_;
  std::vector<Clock::time_point> ended_;
  std::vector<uint8_t> times_;
  int64_t faults_ = 0;
};

// Tasks submitted together, and what was reported of them. Their ids are consecutive, but the first
// is known only when SubmitBatch returns, and some may have ended by then.
struct Batch {
  struct Report {
    uint64_t id = 0;
    bool ok = false;
    Clock::time_point time;
  };
  int64_t first_index = 0;
  uint64_t first_id = 0;
  std::vector<Report> reports;  // Written by the session's thread.

  void Take(const BulkReport& report) {
    const Clock::time_point now = Clock::now();
    for (const uint64_t id : report.done) reports.push_back({id, true, now});
    for (const TaskResult& result : report.results) {
      reports.push_back({result.id, result.status.ok(), now});
    }
  }

  void Tell(Record* record) const {
    for (const Report& report : reports) {
      // An id of no task of ours becomes an index beyond the last.
      record->Ended(static_cast<uint64_t>(first_index) + (report.id - first_id), report.ok,
                    report.time);
    }
  }
};

class SessionFlooder final : public Flooder {
 public:
  SessionFlooder(const Server* server, SessionFlooderOptions options,
                 std::unique_ptr<Client> client, PreparedCall call)
      : server_(server),
        options_(std::move(options)),
        client_(std::move(client)),
        call_(std::move(call)) {}

  const std::string& Name() const override { return name_; }
  const std::string& Mode() const override { return options_.mode; }
  pid_t ServerPid() const override { return server_->pid(); }
  int64_t CountMax() const override { return options_.count_max; }

  absl::StatusOr<FloodResult> Flood(int64_t count) override {
    SHOAL_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session, client_->OpenSession());
    Record record(count);
    const Clock::time_point begun = Clock::now();
    std::deque<Batch> batches;
    SHOAL_RETURN_IF_ERROR(options_.mode == "batched"
                              ? SubmitBatches(session.get(), count, &record, &batches)
                              : SubmitEach(session.get(), count, &record));
    const Clock::time_point sent = Clock::now();
    SHOAL_RETURN_IF_ERROR(session->Wait());
    SHOAL_RETURN_IF_ERROR(session->Close());
    for (const Batch& batch : batches) batch.Tell(&record);
    return record.Result(begun, sent);
  }

 private:
  absl::Status SubmitEach(Session* session, int64_t count, Record* record) const {
    const bool alone = options_.mode == "alone";
    for (int64_t i = 0; i < count; ++i) {
      record->Started(i);
      const auto id = session->Submit(call_, [record, i](const TaskResult& result) {
        record->Ended(static_cast<uint64_t>(i), result.status.ok(), Clock::now());
      });
      if (!id.ok()) return id.status();
      if (alone) SHOAL_RETURN_IF_ERROR(session->Wait());
    }
    return absl::OkStatus();
  }

  absl::Status SubmitBatches(Session* session, int64_t count, Record* record,
                             std::deque<Batch>* batches) const {
    const std::vector<PreparedCall> calls(static_cast<size_t>(std::min(options_.batch, count)),
                                          call_);
    for (int64_t first = 0; first < count;) {
      const int64_t size = std::min<int64_t>(static_cast<int64_t>(calls.size()), count - first);
      Batch& batch = batches->emplace_back();
      batch.first_index = first;
      batch.reports.reserve(static_cast<size_t>(size));
      record->Started(first, size);
      const auto range =
          session->SubmitBatch(absl::MakeConstSpan(calls).first(static_cast<size_t>(size)),
                               [&batch](const BulkReport& report) { batch.Take(report); });
      if (!range.ok()) return range.status();
      batch.first_id = range->first;
      first += size;
    }
    return absl::OkStatus();
  }

  const std::string name_ = "shoal";
  const Server* const server_;
  const SessionFlooderOptions options_;
  const std::unique_ptr<Client> client_;
  const PreparedCall call_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Flooder>> NewSessionFlooder(const Server* server,
                                                           const SessionFlooderOptions& options) {
  ClientOptions client_options;
  client_options.address = server->address;
  client_options.plane = options.plane == "tcp" ? Plane::kTcp : Plane::kUnix;
  SHOAL_ASSIGN_OR_RETURN(std::unique_ptr<Client> client,
                         Client::Connect(std::move(client_options)));
  shoal::Call empty;
  empty.op = "echo";
  SHOAL_ASSIGN_OR_RETURN(PreparedCall call, PreparedCall::Make(empty));
  return std::make_unique<SessionFlooder>(server, options, std::move(client), std::move(call));
}

}  // namespace shoal::bench
