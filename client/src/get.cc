#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "client/src/channel_pool.h"
#include "client/src/chunk_receiver.h"
#include "client/src/convert.h"
#include "client/src/retrier.h"
#include "client/src/transfer.h"
#include "shoal/v1/array_service.pb.h"
#include "wire/chunk.h"

namespace shoal::internal {
namespace {

/// One Get over as many streams as it takes.
class GetTransfer {
 public:
  GetTransfer(const GetCall& call, const TransferContext& context)
      : call_(call), context_(context) {}

  absl::StatusOr<ArrayInfo> Run(const CallEnv& env) {
    for (Retrier retrier(context_.retry, env);;) {
      const int64_t before = received_bytes_;
      absl::Status status = Attempt(env);
      if (status.ok()) return *std::move(info_);
      if (received_bytes_ > before) retrier.Progressed();
      if (!retrier.Again(status, /*can_resume=*/true)) return status;
    }
  }

 private:
  absl::Status Attempt(const CallEnv& env) {
    SHOAL_ASSIGN_OR_RETURN(const BulkStream stream,
                           BulkStream::Make(context_.channels, Method::kGet, env));
    ChunkReceiver receiver(context_.stream.checksum);
    if (info_.has_value()) receiver.Add(data_, info_->bytes, ResumeOffset());
    stream->Send(transport::FrameOf(Request().SerializeAsString()), /*last=*/true);
    for (;;) {
      switch (stream->Wait()) {
        case transport::Stream::Event::kMessage:
          SHOAL_RETURN_IF_ERROR(TakeResponse(stream->message(), &receiver));
          break;
        case transport::Stream::Event::kSent:
          break;
        case transport::Stream::Event::kEnded:
          SHOAL_RETURN_IF_ERROR(stream->Finish());
          if (!info_.has_value()) {
            return absl::InternalError("the server ended a Get without saying what it sends");
          }
          return receiver.CheckWhole();
      }
    }
  }

  v1::GetRequest Request() const {
    v1::GetRequest request;
    // By id once it is known: the name may be another array's by now.
    ToProto(info_.has_value() ? ArrayRef::ById(info_->id) : call_.reference,
            request.mutable_array());
    if (info_.has_value()) request.set_offset(ResumeOffset());
    request.set_no_checksum(!context_.stream.checksum);
    request.set_chunk_bytes(static_cast<int32_t>(context_.stream.chunk_bytes));
    return request;
  }

  int64_t ResumeOffset() const {
    const int64_t item_bytes = ItemBytes(info_->dtype);
    return received_bytes_ / item_bytes * item_bytes;
  }

  absl::Status TakeResponse(const wire::Pieces& message, ChunkReceiver* receiver) {
    SHOAL_ASSIGN_OR_RETURN(const wire::ChunkMessage chunk, DecodeServerChunk(message));
    if (!chunk.rest.empty()) {
      v1::GetResponse response;
      if (!response.ParseFromString(chunk.rest)) {
        return absl::InternalError("the server sent a malformed message");
      }
      if (response.has_array()) SHOAL_RETURN_IF_ERROR(TakeInfo(response.array(), receiver));
    }
    if (!chunk.has_chunk) return absl::OkStatus();
    SHOAL_RETURN_IF_ERROR(receiver->Accept(chunk));
    received_bytes_ = receiver->received_bytes(0);
    if (call_.progress) call_.progress(received_bytes_, info_->bytes);
    return absl::OkStatus();
  }

  absl::Status TakeInfo(const v1::ArrayInfo& proto, ChunkReceiver* receiver) {
    SHOAL_ASSIGN_OR_RETURN(ArrayInfo info, FromProto(proto));
    if (!info_.has_value()) {
      SHOAL_ASSIGN_OR_RETURN(data_, call_.landing(info));
      info_ = std::move(info);
      receiver->Add(data_, info_->bytes);
      return absl::OkStatus();
    }
    if (info.id == info_->id && info.bytes == info_->bytes) return absl::OkStatus();
    return absl::InternalError(absl::StrCat("the server sent array ", info.id, " of ", info.bytes,
                                            " bytes instead of ", info_->id, " of ", info_->bytes));
  }

  const GetCall& call_;
  const TransferContext& context_;
  std::optional<ArrayInfo> info_;  // From the first response on, over all streams.
  std::byte* data_ = nullptr;
  int64_t received_bytes_ = 0;
};

}  // namespace

absl::StatusOr<ArrayInfo> RunGet(const GetCall& call, const TransferContext& context,
                                 const CallEnv& env) {
  return GetTransfer(call, context).Run(env);
}

}  // namespace shoal::internal
