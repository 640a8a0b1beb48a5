#include "server/service/apply_stream.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"
#include "server/runtime/call_run.h"
#include "server/runtime/landing.h"
#include "server/runtime/outcome_status.h"
#include "server/service/call_record.h"
#include "server/service/chunk_sender.h"
#include "server/service/echo_stream.h"
#include "server/service/reply.h"
#include "server/service/result_codec.h"
#include "server/service/stream_task.h"
#include "server/service/stream_writer.h"
#include "server/wire/call_codec.h"
#include "server/wire/status_details.h"
#include "shoal/v1/compute.pb.h"

namespace shoal::service {
namespace {

// Below this a streamed argument goes to one worker.
constexpr int64_t kScatterBytesMin = kMiB;

/// Lands all streamed arguments, runs the call, sends the outputs.
///
/// Its owners are the stream and, while it runs, the call's end.
class ComputeTask final : public StreamTask, public std::enable_shared_from_this<ComputeTask> {
 public:
  ComputeTask(runtime::Engine* engine, transport::StreamCall* call)
      : engine_(*engine), call_(call), writer_(call), begun_(runtime::Now()) {}

  absl::Status Open(plan::Call call, std::shared_ptr<const void> request) override {
    record_.key = KeyOf(ThroughputIndex(call), call.route, telemetry::Plane::kStream);
    record_.begun = begun_;
    record_.bytes_in = ArgumentBytes(call);
    want_timing_ = call.want_timing;
    for (size_t i = 0; i < call.arguments.size(); ++i) {
      const auto* streamed = std::get_if<plan::StreamedBytes>(&call.arguments[i].value);
      if (streamed == nullptr) continue;
      SHOAL_ASSIGN_OR_RETURN(
          runtime::Operand room,
          runtime::NewWorkerOperand(*engine_.workers, streamed->type, kScatterBytesMin));
      landings_.push_back(
          {runtime::Landing(std::move(room), engine_.limits.chunk_bytes), static_cast<int32_t>(i)});
    }
    setup_.call = std::move(call);
    setup_.request = std::move(request);
    setup_.returns_staged = true;
    setup_.deadline = DeadlineOf(*call_);
    SkipLanded();
    return absl::OkStatus();
  }

  absl::Status OnChunk(const wire::ChunkMessage& chunk, transport::Message message) override {
    if (chunk.has_chunk) {
      SHOAL_RETURN_IF_ERROR(CheckExpected(chunk));
      runtime::Landing& landing = landings_[current_].landing;
      SHOAL_RETURN_IF_ERROR(landing.Land(chunk));
      if (landing.staged()) {
        Stage(landing, chunk, std::move(message));
        return absl::OkStatus();
      }
      message = transport::Message();  // Its bytes are where they belong.
      Landed(chunk.data_bytes);
    }
    GoOn();
    return absl::OkStatus();
  }

  absl::Status OnHalfClose() override {
    const Arrival& arrival = landings_[current_];
    return wire::WithReason(absl::InvalidArgumentError(absl::StrCat(
                                "closed at offset ", arrival.landing.landed_bytes(), " of ",
                                arrival.landing.total_bytes(), " of argument ", arrival.argument)),
                            "TRUNCATED");
  }

  void OnWritten(bool ok) override {
    if (ok) {
      const std::lock_guard lock(sending_mutex_);
      if (sender_.has_value()) SendNext("");
    }
    writer_.OnWritten(ok);
  }

  void Abort(absl::Status status) override {
    std::shared_ptr<runtime::CallRun> run;
    bool running = false;
    {
      const std::lock_guard lock(mutex_);
      aborted_ = true;
      run = run_;
      running = running_;
    }
    // Without the lock: the end of the run may come within Cancel, on this very thread.
    if (run != nullptr) run->Cancel();
    if (!running) Finish(std::move(status));  // Else the end of the run finishes the call.
  }

 private:
  struct Arrival {
    runtime::Landing landing;
    int32_t argument;
  };

  absl::Status CheckExpected(const wire::ChunkMessage& chunk) const {
    if (current_ < landings_.size() && chunk.header.array == landings_[current_].argument) {
      return absl::OkStatus();
    }
    return absl::InvalidArgumentError(
        absl::StrCat("a chunk of argument ", chunk.header.array, " that was not expected now"));
  }

  // An abort may end the call meanwhile: then the writer neither writes nor reads.
  void Stage(const runtime::Landing& landing, const wire::ChunkMessage& chunk,
             transport::Message message) {
    landing.Stage(chunk, [self = shared_from_this(), message = std::move(message),
                          byte_count = chunk.data_bytes](const absl::Status& status) {
      if (!status.ok()) return self->Abort(status);
      self->Landed(byte_count);
      self->GoOn();
    });
  }

  void Landed(int64_t byte_count) {
    landed_bytes_ += byte_count;
    SkipLanded();
    if (++unacknowledged_ < (engine_.limits.credit_chunks + 1) / 2) return;
    unacknowledged_ = 0;
    v1::ApplyStreamResponse response;
    response.set_acknowledged_bytes(landed_bytes_);
    writer_.Push(transport::FrameOf(response.SerializeAsString()));
  }

  /// After a chunk has landed: the call, if it was the last.
  void GoOn() {
    if (current_ < landings_.size()) return writer_.Read();
    Run();
  }

  void SkipLanded() {
    while (current_ < landings_.size() && landings_[current_].landing.complete()) ++current_;
  }

  void Run() {
    for (Arrival& arrival : landings_) setup_.streamed.push_back(arrival.landing.target());
    landings_.clear();
    setup_.use = runtime::FrontUse::kHeld;
    {
      const std::lock_guard lock(mutex_);
      if (aborted_) return;
      running_ = true;
      // Under the lock: an abort that comes before reports the call, one that comes after does not.
      record_.phases.transfer_in = runtime::Now() - begun_;
    }
    auto run = runtime::CallRun::Start(
        &engine_, std::move(setup_),
        [self = shared_from_this()](absl::StatusOr<runtime::CallResult> result,
                                    absl::Span<const TaskId> tasks) {
          self->tasks_.assign(tasks.begin(), tasks.end());
          self->OnResult(std::move(result));
        });
    bool aborted = false;
    {
      const std::lock_guard lock(mutex_);
      if (!running_ || run == nullptr) return;
      run_ = run;
      aborted = aborted_;
    }
    if (aborted) run->Cancel();
  }

  void OnResult(absl::StatusOr<runtime::CallResult> result) {
    std::shared_ptr<runtime::CallRun> ended;  // Goes outside the lock.
    bool aborted = false;
    {
      const std::lock_guard lock(mutex_);
      running_ = false;
      ended = std::move(run_);
      aborted = aborted_;
    }
    if (!result.ok()) return Finish(result.status());
    if (aborted) return Finish(absl::CancelledError("cancelled by the caller"));
    result->phases.transfer_in = record_.phases.transfer_in;
    record_.phases = result->phases;
    record_.bytes_out = ReturnedBytes(*result);
    v1::ApplyStreamResponse first;
    EncodeResult(engine_, *result, {.want_timing = want_timing_, .streamed = true},
                 first.mutable_call());
    std::vector<runtime::Operand> returned;
    for (runtime::CallOutput& output : result->outputs) {
      const bool stays = output.stored || output.leased.has_value();
      returned.push_back(stays ? runtime::Operand() : std::move(output.data));
    }
    const StreamWriter::Gather together(&writer_);  // A last frame and the finish.
    const std::lock_guard lock(sending_mutex_);
    sender_.emplace(std::move(returned),
                    ChunkOptions{.chunk_bytes = engine_.limits.chunk_bytes, .engine = &engine_});
    SendNext(first.SerializeAsString());
  }

  // Called first by OnResult, then by the OnWritten of each frame; the OnWritten of the last
  // acknowledgement may come at the same time as the result. With the lock.
  void SendNext(const std::string& rest) {
    sender_->Send(rest, &writer_, [self = shared_from_this()](const absl::Status& failed) {
      self->Finish(failed);
      self->writer_.Finish(runtime::ForClient(failed));  // The last frame's, after the finish.
    });
    if (!sender_->done()) return;
    sender_.reset();
    Finish(absl::OkStatus());
  }

  void Finish(absl::Status status) {
    if (finished_.exchange(true)) return;
    status = runtime::ForClient(std::move(status));
    record_.code = status.code();
    record_.tasks = tasks_;
    Record(engine_, record_);
    LogCall(engine_, {"ApplyStream", call_, begun_}, status);
    writer_.Finish(std::move(status));
  }

  runtime::Engine& engine_;
  transport::StreamCall* const call_;
  StreamWriter writer_;
  const Instant begun_;
  runtime::CallSetup setup_;
  std::vector<Arrival> landings_;  // In the order in which the chunks come.
  size_t current_ = 0;
  int64_t landed_bytes_ = 0;
  int unacknowledged_ = 0;
  bool want_timing_ = false;
  CallRecord record_;
  std::vector<TaskId> tasks_;  // Of the record.

  std::mutex mutex_;
  std::shared_ptr<runtime::CallRun> run_;
  bool running_ = false;
  bool aborted_ = false;

  std::mutex sending_mutex_;
  std::optional<ChunkSender> sender_;  // From the result on, until it is done.
  std::atomic<bool> finished_ = false;
};

/// Reads the call, then hands everything to the task that it asks for.
class ApplyStream final : public transport::StreamHandler {
 public:
  ApplyStream(runtime::Engine* engine, transport::StreamCall* call)
      : engine_(*engine), call_(call), begun_(runtime::Now()) {}

  void OnStart() override { call_->Read(); }

  void OnMessage(transport::Message message) override {
    const absl::Status taken = Take(std::move(message));
    if (!taken.ok()) End(taken);
  }

  void OnHalfClose() override {
    if (task_ == nullptr) return End(absl::InvalidArgumentError("closed without a call"));
    if (const absl::Status closed = task_->OnHalfClose(); !closed.ok()) End(closed);
  }

  void OnWritten(bool ok) override { task_->OnWritten(ok); }

  void OnCancelled() override {
    std::shared_ptr<StreamTask> task;
    {
      const std::lock_guard lock(mutex_);
      cancelled_ = true;
      task = task_;
    }
    if (task != nullptr) task->Abort(absl::CancelledError("the caller went away"));
    // Without a task, the read that is outstanding fails, and ends the call.
  }

  void OnDone() override {}

 private:
  absl::Status Take(transport::Message message) {
    SHOAL_ASSIGN_OR_RETURN(const wire::ChunkMessage chunk,
                           wire::DecodeChunkMessage(message.pieces()));
    if (task_ == nullptr) {
      SHOAL_RETURN_IF_ERROR(Open(chunk.rest));
    } else if (!chunk.has_chunk) {
      return absl::InvalidArgumentError("a message without a chunk");
    }
    return task_->OnChunk(chunk, std::move(message));
  }

  absl::Status Open(const std::string& rest) {
    SHOAL_ASSIGN_OR_RETURN(ticket_, engine_.drain.Admit());
    auto request = std::make_shared<v1::ApplyStreamRequest>();
    if (!request->ParseFromString(rest) || !request->has_call()) {
      return absl::InvalidArgumentError("the first message carries no valid call");
    }
    SHOAL_ASSIGN_OR_RETURN(
        plan::Call call,
        wire::DecodeCall(request->call(), engine_.limits.call(/*may_stream=*/true)));
    std::shared_ptr<StreamTask> task;
    if (IsStreamedEcho(call)) {
      task = NewEchoTask(&engine_, call_);
    } else {
      task = std::make_shared<ComputeTask>(&engine_, call_);
    }
    SHOAL_RETURN_IF_ERROR(task->Open(std::move(call), std::move(request)));
    const std::lock_guard lock(mutex_);
    if (cancelled_) return absl::CancelledError("the caller went away");
    task_ = std::move(task);
    return absl::OkStatus();
  }

  void End(const absl::Status& status) {
    if (task_ != nullptr) return task_->Abort(status);
    const absl::Status told = runtime::ForClient(status);
    LogCall(engine_, {"ApplyStream", call_, begun_}, told);
    call_->Finish(told);
  }

  runtime::Engine& engine_;
  transport::StreamCall* const call_;
  const Instant begun_;
  std::mutex mutex_;                  // A cancellation may come while the call is being opened.
  std::shared_ptr<StreamTask> task_;  // The stream is one owner, work under way the other.
  runtime::DrainSignal::Ticket ticket_;
  bool cancelled_ = false;
};

}  // namespace

std::unique_ptr<transport::StreamHandler> NewApplyStream(runtime::Engine* engine,
                                                         transport::StreamCall* call) {
  return std::make_unique<ApplyStream>(engine, call);
}

}  // namespace shoal::service
