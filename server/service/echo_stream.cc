#include "server/service/echo_stream.h"

#include <atomic>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "server/runtime/clock.h"
#include "server/runtime/landing.h"
#include "server/runtime/outcome_status.h"
#include "server/runtime/staging.h"
#include "server/service/call_record.h"
#include "server/service/reply.h"
#include "server/service/stream_writer.h"
#include "server/wire/array_codec.h"
#include "server/wire/status_details.h"
#include "shoal/v1/compute.pb.h"
#include "wire/crc32c.h"

namespace shoal::service {
namespace {

/// Its owners are the stream and the kernels under way.
class EchoTask final : public StreamTask, public std::enable_shared_from_this<EchoTask> {
 public:
  EchoTask(runtime::Engine* engine, transport::StreamCall* call)
      : engine_(*engine), call_(call), writer_(call) {}

  absl::Status Open(plan::Call call, std::shared_ptr<const void>) override {
    type_ = std::get<plan::StreamedBytes>(call.arguments[0].value).type;
    total_bytes_ = *type_.shape.ByteCount(type_.dtype);
    route_ = call.route;

    record_.key = KeyOf(ThroughputIndex(call), route_, telemetry::Plane::kStream);
    record_.begun = runtime::Now();
    if (route_ != plan::Route::kFront) {
      SHOAL_ASSIGN_OR_RETURN(runtime::Operand room, MakeRoom());
      landing_.emplace(std::move(room), engine_.limits.chunk_bytes);
      landing_->WillBeReadSoon();
    }
    if (route_ == plan::Route::kDevice) {
      SHOAL_ASSIGN_OR_RETURN(output_, MakeRoom());
    }
    first_ = Description();
    return absl::OkStatus();
  }

  absl::Status OnChunk(const wire::ChunkMessage& chunk, transport::Message message) override {
    if (chunk.has_chunk) SHOAL_RETURN_IF_ERROR(Pass(chunk, std::move(message)));
    if (received_bytes_ == total_bytes_) {
      // Nothing will follow the last chunk; where there is none, the description goes alone.
      const StreamWriter::Gather together(&writer_);
      if (total_bytes_ == 0) writer_.Push(transport::FrameOf(std::exchange(first_, "")));
      Flush();
      return absl::OkStatus();
    }
    {
      // Only now: a read asked for earlier could bring the next chunk while this one is handled.
      const std::lock_guard lock(mutex_);
      reading_ = false;
    }
    ReadIfRoom();
    return absl::OkStatus();
  }

  absl::Status OnHalfClose() override {
    if (received_bytes_ == total_bytes_) return absl::OkStatus();
    return wire::WithReason(absl::InvalidArgumentError(absl::StrCat(
                                "closed at offset ", received_bytes_.load(), " of ", total_bytes_)),
                            "TRUNCATED");
  }

  void OnWritten(bool ok) override {
    writer_.OnWritten(ok);
    ReadIfRoom();
  }

  void Abort(absl::Status status) override {
    {
      const std::lock_guard lock(mutex_);
      aborted_ = true;
    }
    Finish(std::move(status));
  }

 private:
  /// A chunk on its way back; it leaves when it is the first and ready.
  struct Pending {
    transport::Frame frame;
    int parts = 0;  // Work on it that has not ended.
  };

  absl::StatusOr<runtime::Operand> MakeRoom() {
    return runtime::NewWorkerOperand(*engine_.workers, type_, /*scatter_bytes_min=*/0);
  }

  std::string Description() {
    v1::ApplyStreamResponse response;
    v1::Output* output = response.mutable_call()->add_outputs();
    wire::EncodeSpec(type_, output->mutable_spec());
    output->set_streamed(true);
    if (route_ != plan::Route::kFront) {
      response.mutable_call()->set_backend(engine_.backend);
      response.mutable_call()->set_worker_count(engine_.workers->count());
    }
    return response.SerializeAsString();
  }

  absl::Status Pass(const wire::ChunkMessage& chunk, transport::Message message) {
    if (chunk.header.array != 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("a chunk of argument ", chunk.header.array, " of a call with one"));
    }
    Pending pending;
    if (landing_.has_value()) {
      SHOAL_RETURN_IF_ERROR(landing_->Land(chunk));
    } else {
      SHOAL_RETURN_IF_ERROR(Verify(chunk));
    }
    received_bytes_ += chunk.data_bytes;
    // The bytes go back as they came, and so does their checksum; the acknowledgement goes along.
    v1::ApplyStreamResponse landed;
    landed.set_acknowledged_bytes(received_bytes_);
    const std::string rest = std::exchange(first_, "") + landed.SerializeAsString();
    pending.frame = transport::FrameOf(wire::FrameChunk(rest, chunk.header, chunk.data_bytes));
    if (route_ == plan::Route::kFront) {
      auto owner = std::make_shared<transport::Message>(std::move(message));
      for (const wire::ConstBytes piece : chunk.data) pending.frame.Append({piece, owner});
      return Queue(std::move(pending), {});
    }
    if (landing_->staged()) return PassStaged(std::move(pending), chunk, std::move(message));
    message = transport::Message();  // Landed.
    return Queue(std::move(pending), {chunk.header.offset, chunk.header.offset + chunk.data_bytes});
  }

  absl::Status Verify(const wire::ChunkMessage& chunk) const {
    SHOAL_RETURN_IF_ERROR(
        runtime::CheckChunk(chunk, received_bytes_, total_bytes_, engine_.limits.chunk_bytes));
    if (!chunk.header.crc32c.has_value()) return absl::OkStatus();
    uint32_t crc = 0;
    for (const wire::ConstBytes piece : chunk.data) crc = wire::ExtendCrc32c(crc, piece);
    if (crc != *chunk.header.crc32c) return runtime::ChecksumError(chunk, crc);
    return absl::OkStatus();
  }

  using Parts = absl::InlinedVector<runtime::Extent, 2>;

  /// What comes back from the workers.
  const runtime::Operand& back() const {
    return route_ == plan::Route::kDevice ? output_ : landing_->target();
  }

  /// Where the bytes `bytes` of the arrival lie; the parts' elements are bytes, too.
  Parts ArrivalOf(plan::Range bytes) const {
    Parts parts;
    landing_->target().ForEachPart(
        bytes, [&](const runtime::Extent& extent, std::byte* data, plan::Range part) {
          parts.push_back({part, data, extent.worker, extent.way});
        });
    return parts;
  }

  /// Puts a chunk into the line and, on route device, starts its kernels; `bytes` is its range in
  /// the workers' memory, empty on route front.
  absl::Status Queue(Pending pending, plan::Range bytes) {
    Parts parts;
    if (route_ != plan::Route::kFront) {
      back().ForEachPart(
          bytes, [&](const runtime::Extent&, const std::byte* data, plan::Range part) {
            pending.frame.Append({{data, static_cast<size_t>(part.size())}, back().owner});
          });
    }
    if (route_ == plan::Route::kDevice) parts = ArrivalOf(bytes);
    pending.parts = static_cast<int>(parts.size());
    const int64_t number = StandInLine(std::move(pending));
    if (parts.empty()) Flush();
    for (const runtime::Extent& part : parts) {
      Launch(part, [self = shared_from_this(), number](const absl::Status& status) {
        self->OnComputed(number, status);
      });
    }
    return absl::OkStatus();
  }

  /// The same where the host cannot touch the workers' memory: the bytes go there, through the
  /// kernels, and back in copies on the workers' streams, one after another.
  absl::Status PassStaged(Pending pending, const wire::ChunkMessage& chunk,
                          transport::Message message) {
    SHOAL_ASSIGN_OR_RETURN(
        auto block, runtime::AllocateFrontEnd(engine_, chunk.data_bytes, runtime::FrontUse::kHeld));
    std::byte* const host = block->data();
    const plan::Range bytes{chunk.header.offset, chunk.header.offset + chunk.data_bytes};
    pending.frame.Append({{host, static_cast<size_t>(bytes.size())}, block});
    pending.parts = 1;
    const int64_t number = StandInLine(std::move(pending));
    const auto join = std::make_shared<runtime::Join>(
        [self = shared_from_this(), number, message = std::move(message),
         block](const absl::Status& status) { self->OnComputed(number, status); });
    landing_->Stage(chunk, join->Part());
    if (route_ == plan::Route::kDevice) {
      for (const runtime::Extent& part : ArrivalOf(bytes)) Launch(part, join->Part());
    }
    runtime::StageOut(back(), bytes, host, join->Part());
    join->Seal();
    return absl::OkStatus();
  }

  int64_t StandInLine(Pending pending) {
    const std::lock_guard lock(mutex_);
    line_.push_back(std::move(pending));
    return first_number_ + static_cast<int64_t>(line_.size()) - 1;
  }

  void Launch(const runtime::Extent& part, device::Done done) {
    auto pass = std::make_unique<device::PassThrough>(kernels::DType::kUint8, part.data,
                                                      OutputAt(part.elements.begin));
    const device::MapWork work = pass->Work(part.elements.size());
    (*engine_.workers)[part.worker].stream->Launch(
        work, nullptr,
        [pass = std::move(pass), done = std::move(done)](absl::Status status) mutable {
          std::move(done)(std::move(status));
        });
  }

  std::byte* OutputAt(int64_t byte) const {
    for (const runtime::Extent& extent : output_.extents) {
      const int64_t begin = extent.elements.begin * output_.item_bytes();
      if (byte < extent.elements.end * output_.item_bytes()) return extent.data + (byte - begin);
    }
    return nullptr;
  }

  void OnComputed(int64_t number, const absl::Status& status) {
    if (!status.ok()) return Abort(status);
    {
      const std::lock_guard lock(mutex_);
      if (aborted_) return;
      --line_[static_cast<size_t>(number - first_number_)].parts;
    }
    Flush();
    ReadIfRoom();  // What left the line for the transport makes room before it is written.
  }

  /// Sends what is ready at the head of the line. One thread at a time: frames keep their order.
  void Flush() {
    const StreamWriter::Gather together(&writer_);  // The last frame and the finish.
    bool complete = false;
    {
      const std::lock_guard lock(mutex_);
      if (aborted_) return;
      while (!line_.empty() && line_.front().parts == 0) {
        for (const transport::Frame::Part& part : line_.front().frame.parts) {
          sent_bytes_ += static_cast<int64_t>(part.payload.bytes.size());
        }
        writer_.Push(std::move(line_.front().frame));
        line_.pop_front();
        ++first_number_;
      }
      complete = sent_bytes_ == total_bytes_;
    }
    if (complete) Finish(absl::OkStatus());
  }

  void ReadIfRoom() {
    {
      const std::lock_guard lock(mutex_);
      const auto waiting = static_cast<int64_t>(line_.size() + writer_.queued());
      if (reading_ || aborted_ || received_bytes_ == total_bytes_) return;
      if (waiting >= engine_.limits.credit_chunks) return;
      reading_ = true;
    }
    writer_.Read();
  }

  void Finish(absl::Status status) {
    if (finished_.exchange(true)) return;
    status = runtime::ForClient(std::move(status));
    record_.bytes_in = received_bytes_;
    record_.bytes_out = status.ok() ? total_bytes_ : 0;
    record_.code = status.code();
    Record(engine_, record_);
    LogCall(engine_, {"ApplyStream", call_, record_.begun}, status);
    writer_.Finish(std::move(status));
  }

  runtime::Engine& engine_;
  transport::StreamCall* const call_;
  StreamWriter writer_;
  plan::ArrayType type_;
  plan::Route route_ = plan::Route::kFront;
  int64_t total_bytes_ = 0;
  std::string first_;  // The description of the output, until it has gone with the first chunk.
  std::optional<runtime::Landing> landing_;  // Unless route front.
  runtime::Operand output_;                  // Route device: what the kernels write.
  CallRecord record_;

  std::atomic<int64_t> received_bytes_ = 0;  // Written by OnChunk only.
  std::atomic<bool> finished_ = false;
  std::mutex mutex_;
  bool reading_ = true;  // A message has been asked for, or is being handled.
  int64_t sent_bytes_ = 0;
  std::deque<Pending> line_;
  int64_t first_number_ = 0;  // Of the head of the line.
  bool aborted_ = false;
};

}  // namespace

bool IsStreamedEcho(const plan::Call& call) {
  return call.Moves() && call.arguments.size() == 1 &&
         std::holds_alternative<plan::StreamedBytes>(call.arguments[0].value) &&
         (call.destinations.empty() ||
          std::holds_alternative<plan::ReturnToCaller>(call.destinations[0]));
}

std::shared_ptr<StreamTask> NewEchoTask(runtime::Engine* engine, transport::StreamCall* call) {
  return std::make_shared<EchoTask>(engine, call);
}

}  // namespace shoal::service
