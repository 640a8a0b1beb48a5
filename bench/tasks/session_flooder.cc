#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "bench/tasks/flooder.h"
#include "shoal/client.h"

namespace shoal::bench {
namespace {

using Clock = std::chrono::steady_clock;

// When each task of one session was handed over and when it ended. Its ids count from 1.
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

  // On the session's thread.
  void Ended(uint64_t id, bool ok, Clock::time_point now) {
    if (id < 1 || id > ended_.size() || !ok) {
      ++faults_;
      return;
    }
    ended_[id - 1] = now;
    ++times_[id - 1];
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
    SHOAL_RETURN_IF_ERROR(SubmitAll(session.get(), &record, count));
    const Clock::time_point sent = Clock::now();
    SHOAL_RETURN_IF_ERROR(session->Wait());
    SHOAL_RETURN_IF_ERROR(session->Close());
    return record.Result(begun, sent);
  }

 private:
  absl::Status SubmitAll(Session* session, Record* record, int64_t count) const {
    if (options_.mode == "batched") return SubmitBatches(session, record, count);
    const bool alone = options_.mode == "alone";
    for (int64_t i = 0; i < count; ++i) {
      record->Started(i);
      const auto id = session->Submit(call_, [record](const TaskResult& result) {
        record->Ended(result.id, result.status.ok(), Clock::now());
      });
      if (!id.ok()) return id.status();
      if (alone) SHOAL_RETURN_IF_ERROR(session->Wait());
    }
    return absl::OkStatus();
  }

  absl::Status SubmitBatches(Session* session, Record* record, int64_t count) const {
    const std::vector<PreparedCall> batch(static_cast<size_t>(std::min(options_.batch, count)),
                                          call_);
    for (int64_t first = 0; first < count;) {
      const int64_t size = std::min<int64_t>(static_cast<int64_t>(batch.size()), count - first);
      record->Started(first, size);
      const auto range =
          session->SubmitBatch(absl::MakeConstSpan(batch).first(static_cast<size_t>(size)),
                               [record](const BulkReport& report) { TakeReport(report, record); });
      if (!range.ok()) return range.status();
      first += size;
    }
    return absl::OkStatus();
  }

  static void TakeReport(const BulkReport& report, Record* record) {
    const Clock::time_point now = Clock::now();
    for (const uint64_t id : report.done) record->Ended(id, true, now);
    for (const TaskResult& result : report.results) {
      record->Ended(result.id, result.status.ok(), now);
    }
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
