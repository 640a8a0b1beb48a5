#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "client/src/channel_pool.h"
#include "client/src/convert.h"
#include "client/src/pieces_stream.h"
#include "client/src/retrier.h"
#include "client/src/transfer.h"
#include "shoal/v1/array_service.pb.h"

namespace shoal::internal {
namespace {

absl::Status SaidNothing() {
  return absl::InternalError("the server ended a Put without saying what it stored");
}

/// One Put over as many streams as it takes.
class PutTransfer {
 public:
  PutTransfer(const Array& array, const PutOptions& options, const TransferContext& context)
      : array_(array), options_(options), context_(context) {}

  absl::StatusOr<ArrayInfo> Run(const CallEnv& env) {
    for (Retrier retrier(context_.retry, env);;) {
      const int64_t before = acknowledged_bytes_;
      absl::Status status = Attempt(env);
      if (status.ok()) return *std::move(stored_);
      if (acknowledged_bytes_ > before) retrier.Progressed();
      // What holds the name may be the attempt before, which broke without telling an id: the
      // server lets go of it when it notices.
      const bool own = broken_ && array_id_ == 0 && absl::IsAlreadyExists(status);
      broken_ |= absl::IsUnavailable(status);
      const absl::Status judged = own ? absl::UnavailableError(status.message()) : status;
      if (!retrier.Again(judged, /*can_resume=*/array_id_ != 0)) return status;
    }
  }

 private:
  /// One stream: from the start, or from where the last one stopped.
  absl::Status Attempt(const CallEnv& env) {
    SHOAL_ASSIGN_OR_RETURN(const BulkStream stream,
                           BulkStream::Make(context_.channels, Method::kPut, env));
    ChunkSender sender(context_.stream);
    const bool resuming = array_id_ != 0;
    base_bytes_ = 0;
    // Only the server knows how much of a broken stream it has kept.
    offset_known_ = !resuming;
    if (!resuming) sender.Add(array_, 0);
    const transport::Frame first = sender.Next(Header());
    stream->Send(first, !resuming && sender.done());
    for (;;) {
      switch (stream->Wait()) {
        case transport::Stream::Event::kMessage:
          SHOAL_RETURN_IF_ERROR(TakeResponse(stream->message(), &sender, stream.get()));
          break;
        case transport::Stream::Event::kSent:
          break;
        case transport::Stream::Event::kEnded: {
          SHOAL_RETURN_IF_ERROR(stream->Finish());
          if (stored_.has_value()) return absl::OkStatus();
          return SaidNothing();
        }
      }
      if (stream->can_send() && sender.may_send()) {
        const transport::Frame message = sender.Next({});
        stream->Send(message, sender.done());
      }
    }
  }

  std::string Header() const {
    v1::PutRequest request;
    v1::PutHeader* header = request.mutable_header();
    if (array_id_ != 0) {
      header->set_resume_id(array_id_);
    } else {
      ToProto(array_.dtype(), array_.shape(), header->mutable_spec());
      ToProto(Store{options_.name, options_.distribution, options_.replace},
              header->mutable_store());
    }
    return request.SerializeAsString();
  }

  absl::Status TakeResponse(const wire::Pieces& message, ChunkSender* sender,
                            transport::Stream* stream) {
    v1::PutResponse response;
    SHOAL_RETURN_IF_ERROR(ParseMessage(message, &response));
    const int64_t bytes = response.acknowledged_bytes();
    if (bytes < 0 || bytes > array_.byte_count()) {
      return absl::InternalError(
          absl::StrCat("the server acknowledged ", bytes, " bytes of ", array_.byte_count()));
    }
    if (response.array_id() != 0) array_id_ = response.array_id();
    if (response.has_array()) {
      SHOAL_ASSIGN_OR_RETURN(stored_, FromProto(response.array()));
    }
    if (!offset_known_) {
      offset_known_ = true;
      base_bytes_ = bytes;
      sender->Add(array_, 0, bytes);
      // With nothing left to send, the half-close still has to follow the header, unless this is
      // the last answer already, which an earlier stream had lost.
      if (sender->done() && !stored_.has_value()) {
        while (!stream->can_send()) {
          if (stream->Wait() != transport::Stream::Event::kEnded) continue;
          SHOAL_RETURN_IF_ERROR(stream->Finish());
          return SaidNothing();
        }
        stream->CloseSend();
      }
    }
    sender->Acknowledge(bytes - base_bytes_);
    if (bytes > acknowledged_bytes_) {
      acknowledged_bytes_ = bytes;
      if (options_.progress) options_.progress(bytes, array_.byte_count());
    }
    if (response.has_array()) {
      SHOAL_ASSIGN_OR_RETURN(stored_, FromProto(response.array()));
    }
    return absl::OkStatus();
  }

  const Array& array_;
  const PutOptions& options_;
  const TransferContext& context_;
  uint64_t array_id_ = 0;
  bool broken_ = false;  // An attempt ended so that the server may not know of it yet.
  int64_t acknowledged_bytes_ = 0;
  int64_t base_bytes_ = 0;  // Where the present stream began.
  bool offset_known_ = false;
  std::optional<ArrayInfo> stored_;
};

}  // namespace

absl::StatusOr<ArrayInfo> RunPut(const Array& array, const PutOptions& options,
                                 const TransferContext& context, const CallEnv& env) {
  return PutTransfer(array, options, context).Run(env);
}

}  // namespace shoal::internal
