#include "server/service/put_stream.h"

#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "server/runtime/landing.h"
#include "server/runtime/outcome_status.h"
#include "server/service/call_record.h"
#include "server/service/reply.h"
#include "server/service/result_codec.h"
#include "server/service/stream_writer.h"
#include "server/wire/array_codec.h"
#include "server/wire/status_details.h"
#include "shoal/v1/array_service.pb.h"

namespace shoal::service {
namespace {

/// Messages are handled one at a time; the mutex is for a cancellation that comes meanwhile.
class PutStream final : public transport::StreamHandler {
 public:
  PutStream(runtime::Engine* engine, transport::StreamCall* call)
      : engine_(*engine), call_(call), writer_(call), begun_(runtime::Now()) {}

  void OnStart() override { writer_.Read(); }

  void OnMessage(transport::Message message) override {
    const auto chunk = wire::DecodeChunkMessage(message.pieces());
    absl::Status taken = chunk.status();
    bool ended = false;
    std::optional<runtime::Landing> staged;
    {
      const std::lock_guard lock(mutex_);
      if (ended_) return;
      if (taken.ok()) taken = Take(*chunk);
      if (taken.ok() && chunk->has_chunk && !found_complete_) {
        if (landing_->staged()) {
          staged = landing_;  // An end that comes meanwhile forgets the member.
        } else {
          Landed();
        }
      }
      ended = ended_ =
          !taken.ok() || found_complete_ || (landing_->complete() && !staged.has_value());
    }
    if (staged.has_value()) return Stage(*staged, *chunk, std::move(message));
    if (ended) return End(std::move(taken));
    message = transport::Message();  // Landed: its memory goes before the next one comes.
    writer_.Read();
  }

  // The transport tells of a stream that broke as of one that was closed, and of its cancellation
  // only afterwards. A write shows which it is: on a broken stream it fails.
  void OnHalfClose() override {
    std::string probe;
    {
      const std::lock_guard lock(mutex_);
      if (ended_) return;
      if (landing_.has_value()) {
        probe = Acknowledgement();
        probe_ = ++pushed_;
      } else {
        ended_ = true;
      }
    }
    if (probe.empty()) return End(absl::InvalidArgumentError("closed without a header"));
    writer_.Push(transport::FrameOf(std::move(probe)));
  }

  void OnWritten(bool ok) override {
    writer_.OnWritten(ok);
    absl::Status truncated;
    {
      const std::lock_guard lock(mutex_);
      if (!ok || ended_ || ++written_ != probe_) return;
      ended_ = true;
      truncated = Truncated();
    }
    End(std::move(truncated));
  }

  void OnCancelled() override {
    {
      const std::lock_guard lock(mutex_);
      if (std::exchange(ended_, true)) return;
    }
    End(absl::CancelledError("the upload broke off"));
  }

  void OnDone() override {}

 private:
  absl::Status Take(const wire::ChunkMessage& chunk) {
    if (!landing_.has_value()) {
      SHOAL_RETURN_IF_ERROR(Open(chunk.rest));
    } else {
      SHOAL_RETURN_IF_ERROR(CheckLater(chunk));
    }
    if (chunk.has_chunk && !found_complete_) return Land(chunk);
    return absl::OkStatus();
  }

  /// What every message but the first must be: a chunk, and no header.
  static absl::Status CheckLater(const wire::ChunkMessage& message) {
    if (!message.has_chunk) return absl::InvalidArgumentError("a message without a chunk");
    v1::PutRequest request;
    if (!message.rest.empty() && (!request.ParseFromString(message.rest) || request.has_header())) {
      return absl::InvalidArgumentError("header: only in the first message");
    }
    return absl::OkStatus();
  }

  /// The call is held open meanwhile, and the array's memory kept.
  void Stage(const runtime::Landing& landing, const wire::ChunkMessage& chunk,
             transport::Message message) {
    const std::optional<uint64_t> place = writer_.Hold();
    if (!place.has_value()) return;  // A cancellation came first.
    landing.Stage(chunk, [this, place = *place, message = std::move(message),
                          array = landing.target().owner](const absl::Status& status) {
      OnStaged(status);
      writer_.Fill(place, std::nullopt);
    });
  }

  absl::Status Open(const std::string& rest) {
    SHOAL_ASSIGN_OR_RETURN(ticket_, engine_.drain.Admit());
    v1::PutRequest request;
    if (!request.ParseFromString(rest) || !request.has_header()) {
      return absl::InvalidArgumentError("the first message carries no valid header");
    }
    const v1::PutHeader& header = request.header();
    if (header.resume_id() != 0) {
      SHOAL_ASSIGN_OR_RETURN(use_, engine_.catalogue->Resume(ArrayId{header.resume_id()}));
      found_complete_ = (*use_)->complete.load(std::memory_order_acquire);
      if (found_complete_) return absl::OkStatus();
    } else {
      SHOAL_ASSIGN_OR_RETURN(plan::ArrayType type, wire::DecodeSpec(header.spec(), "header.spec"));
      SHOAL_ASSIGN_OR_RETURN(const plan::StoreAs store,
                             wire::DecodeStore(header.store(), "header.store"));
      SHOAL_ASSIGN_OR_RETURN(use_, engine_.catalogue->Create(std::move(type), store));
    }
    runtime::StoredArray& array = **use_;
    landing_.emplace(runtime::ArrayOperand(array, use_->array()), engine_.limits.chunk_bytes,
                     array.landed_bytes.load(std::memory_order_relaxed));
    // A small array's first answer is its last; others learn their id, to resume by, at once.
    if (landing_->total_bytes() > engine_.limits.chunk_bytes || header.resume_id() != 0) {
      Acknowledge();
    }
    return absl::OkStatus();
  }

  absl::Status Land(const wire::ChunkMessage& chunk) {
    if (chunk.header.array != 0) {
      return wire::BadField(
          "chunk.array", absl::StrCat(chunk.header.array, ": an upload has one array, number 0"));
    }
    return landing_->Land(chunk);
  }

  void OnStaged(const absl::Status& status) {
    bool ended = false;
    {
      const std::lock_guard lock(mutex_);
      if (ended_) return;
      if (status.ok()) Landed();
      ended = ended_ = !status.ok() || landing_->complete();
    }
    if (ended) return End(status);
    writer_.Read();
  }

  void Landed() {
    (*use_)->landed_bytes.store(landing_->landed_bytes(), std::memory_order_relaxed);
    // Twice a window: the client never waits for an answer that is not under way.
    if (++unacknowledged_ >= (engine_.limits.credit_chunks + 1) / 2 && !landing_->complete()) {
      Acknowledge();
    }
  }

  void Acknowledge() {
    unacknowledged_ = 0;
    ++pushed_;
    writer_.Push(transport::FrameOf(Acknowledgement()));
  }

  std::string Acknowledgement() const {
    v1::PutResponse response;
    response.set_array_id((*use_)->id.value);
    response.set_acknowledged_bytes(landing_->landed_bytes());
    return response.SerializeAsString();
  }

  absl::Status Truncated() const {
    const int64_t landed = landing_->landed_bytes();
    return wire::WithReason(absl::InvalidArgumentError(absl::StrCat(
                                "closed at offset ", landed, " of ", landing_->total_bytes())),
                            "TRUNCATED", {{"offset", absl::StrCat(landed)}});
  }

  /// Ends the upload. By whoever set `ended_`: nothing else touches it afterwards.
  void End(absl::Status status) {
    if (!status.ok() || found_complete_) return Conclude(std::move(status));
    runtime::StoredArray* array = use_->array().get();
    if (array->distribution.kind != plan::DistributionKind::kReplicated) {
      return Conclude(absl::OkStatus());
    }
    // It came down on its first worker; the stream is finished when the others have it too.
    engine_.mover->Replicate(array, [this](const absl::Status& copied) { Conclude(copied); });
  }

  /// Publishes the array, or keeps it to be resumed, or forgets it; then answers.
  void Conclude(absl::Status status) {
    if (status.ok() && !found_complete_) status = engine_.catalogue->Publish(*use_);
    std::string answer;
    if (use_.has_value()) {
      if (status.ok()) {
        answer = Answer();
      } else if (absl::IsCancelled(status) || absl::IsDataLoss(status)) {
        engine_.catalogue->Suspend(*use_);
      } else {
        engine_.catalogue->Abandon(*use_);
      }
    }
    const int64_t bytes = landing_.has_value() ? landing_->landed_bytes() : 0;
    // Before anybody is told: who has the answer may free the array at once.
    landing_.reset();  // Its view keeps the array's memory, too.
    use_.reset();
    engine_.ReportStored();
    CallRecord record;
    record.key = PutKey();
    record.begun = begun_;
    record.bytes_in = bytes;
    record.code = status.code();
    Record(engine_, record);
    status = runtime::ForClient(std::move(status));
    LogCall(engine_, {"Put", call_, begun_}, status);
    const StreamWriter::Gather together(&writer_);
    if (!answer.empty()) writer_.Push(transport::FrameOf(std::move(answer)));
    writer_.Finish(std::move(status));
  }

  std::string Answer() const {
    const runtime::StoredArray& array = **use_;
    v1::PutResponse response;
    response.set_array_id(array.id.value);
    response.set_acknowledged_bytes(array.bytes);
    EncodeArrayInfo(array, response.mutable_array());
    return response.SerializeAsString();
  }

  runtime::Engine& engine_;
  transport::StreamCall* const call_;
  StreamWriter writer_;
  const Instant begun_;
  std::mutex mutex_;
  runtime::DrainSignal::Ticket ticket_;
  std::optional<runtime::ArrayUse> use_;
  std::optional<runtime::Landing> landing_;
  int unacknowledged_ = 0;
  int64_t pushed_ = 0;  // Acknowledgements, and how many of them have been written.
  int64_t written_ = 0;
  int64_t probe_ = -1;           // Which of them shows whether the stream is whole.
  bool found_complete_ = false;  // Nothing is missing but the last answer.
  bool ended_ = false;           // Somebody ends the upload, alone.
};

}  // namespace

std::unique_ptr<transport::StreamHandler> NewPutStream(runtime::Engine* engine,
                                                       transport::StreamCall* call) {
  return std::make_unique<PutStream>(engine, call);
}

}  // namespace shoal::service
