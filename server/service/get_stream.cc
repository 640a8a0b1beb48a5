#include "server/service/get_stream.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "server/runtime/outcome_status.h"
#include "server/service/call_record.h"
#include "server/service/chunk_sender.h"
#include "server/service/reply.h"
#include "server/service/result_codec.h"
#include "server/service/stream_writer.h"
#include "server/wire/array_codec.h"
#include "shoal/v1/array_service.pb.h"

namespace shoal::service {
namespace {

/// One write is outstanding at any time, so a reader that stalls costs one chunk and the
/// transport's window, whatever the array's size.
class GetStream final : public transport::StreamHandler {
 public:
  GetStream(runtime::Engine* engine, transport::StreamCall* call)
      : engine_(*engine),
        call_(call),
        writer_(call),
        begun_(runtime::Now()),
        ticket_(engine->drain.Enter()) {}

  void OnStart() override { writer_.Read(); }

  void OnMessage(transport::Message message) override {
    v1::GetResponse first;
    const absl::Status opened = Open(message, &first);
    if (!opened.ok()) return End(opened);
    {
      const StreamWriter::Gather together(&writer_);  // An only frame and the finish.
      if (SendNext(first.SerializeAsString())) return Complete();
    }
    // One ahead: the next chunk's checksum is made while this one is on its way.
    SendNext("");
  }

  void OnHalfClose() override { End(absl::InvalidArgumentError("closed without a request")); }

  void OnWritten(bool ok) override {
    if (ok && SendNext("")) Complete();
    writer_.OnWritten(ok);
  }

  void OnCancelled() override { End(absl::CancelledError("the download broke off")); }
  void OnDone() override {}

 private:
  absl::Status Open(const transport::Message& message, v1::GetResponse* first) {
    v1::GetRequest request;
    SHOAL_RETURN_IF_ERROR(Parse(message, &request));
    SHOAL_ASSIGN_OR_RETURN(const auto ref, wire::DecodeRef(request.array(), "array"));
    SHOAL_ASSIGN_OR_RETURN(runtime::ArrayUse use, engine_.catalogue->Find(ref));
    const runtime::StoredArray& array = *use;
    const int64_t item_bytes = kernels::ItemBytes(array.type.dtype);
    if (request.offset() < 0 || request.offset() > array.bytes) {
      return absl::OutOfRangeError(
          absl::StrCat("offset ", request.offset(), " of an array of ", array.bytes, " bytes"));
    }
    if (request.offset() % item_bytes != 0 || request.byte_count() < 0 ||
        request.chunk_bytes() < 0) {
      return absl::InvalidArgumentError(
          "offset must be a multiple of the element size; counts must not be negative");
    }
    const int64_t left = array.bytes - request.offset();
    bytes_ = request.byte_count() == 0 ? left : std::min(left, request.byte_count());
    ChunkOptions options;
    options.checksum = !request.no_checksum();
    options.engine = &engine_;
    options.chunk_bytes =
        request.chunk_bytes() == 0
            ? engine_.limits.chunk_bytes
            : std::min<int64_t>(request.chunk_bytes(), engine_.limits.chunk_bytes);
    EncodeArrayInfo(array, first->mutable_array());
    sender_.emplace(runtime::ArrayOperand(array, use.array()), request.offset(), bytes_, options);
    use_ = std::move(use);
    return absl::OkStatus();
  }

  /// True: what leaves next is the last frame.
  bool SendNext(const std::string& rest) {
    const std::lock_guard lock(mutex_);
    if (sender_.has_value()) {
      sender_->Send(rest, &writer_, [this](const absl::Status& failed) {
        End(failed);
        writer_.Finish(runtime::ForClient(failed));  // The last frame's, after the end.
      });
      if (sender_->done()) sender_.reset();
    }
    return !sender_.has_value() && writer_.queued() == 1;
  }

  /// Before the last frame leaves, and the status with it: who has that may free the array at once.
  /// What the transport has not yet put on the socket holds the memory, and is no use of the array.
  void Complete() {
    use_.reset();
    End(absl::OkStatus());
  }

  void End(const absl::Status& status) {
    if (ended_.exchange(true)) return;
    const absl::Status told = runtime::ForClient(status);
    CallRecord record;
    record.key = GetKey();
    record.begun = begun_;
    record.bytes_out = told.ok() ? bytes_ : 0;
    record.code = told.code();
    Record(engine_, record);
    LogCall(engine_, {"Get", call_, begun_}, told);
    writer_.Finish(told);
  }

  runtime::Engine& engine_;
  transport::StreamCall* const call_;
  StreamWriter writer_;
  const Instant begun_;
  const runtime::DrainSignal::Ticket ticket_;
  std::mutex mutex_;                      // OnWritten may come while OnMessage still sends.
  std::optional<ChunkSender> sender_;     // Until it is done.
  std::optional<runtime::ArrayUse> use_;  // Until the last frame leaves.
  std::atomic<bool> ended_ = false;
  int64_t bytes_ = 0;
};

}  // namespace

std::unique_ptr<transport::StreamHandler> NewGetStream(runtime::Engine* engine,
                                                       transport::StreamCall* call) {
  return std::make_unique<GetStream>(engine, call);
}

}  // namespace shoal::service
