#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/copy.h"
#include "base/status.h"
#include "client/src/call_codec.h"
#include "client/src/channel_pool.h"
#include "client/src/chunk_receiver.h"
#include "client/src/nested.h"
#include "client/src/transfer.h"
#include "shoal/status.h"
#include "shoal/v1/compute.pb.h"
#include "wire/chunk.h"

namespace shoal::internal {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

constexpr uint32_t kCallField = v1::ApplyStreamRequest::kCallFieldNumber;
static_assert(kCallField == v1::ApplyStreamResponse::kCallFieldNumber);
constexpr uint32_t kAcknowledgedField = v1::ApplyStreamResponse::kAcknowledgedBytesFieldNumber;

absl::Status Malformed() { return absl::InternalError("the server sent a malformed message"); }

absl::Status WrongSize(size_t output, int64_t bytes, int64_t room) {
  return absl::InvalidArgumentError(
      absl::StrCat("output ", output, " has ", bytes, " bytes, its destination has ", room));
}

/// Where the chunks of an output go: to the caller's array, or to new memory.
absl::StatusOr<Array> StreamDestination(const ReceivedOutput& received,
                                        const CallPlan::Target* target, BufferPool* pool) {
  if (target != nullptr && target->given) return target->array;
  SHOAL_ASSIGN_OR_RETURN(StorageRef storage, AllocateResult(pool, received.bytes));
  return ArrayAccess::Make(received.output.dtype, received.output.shape, received.bytes,
                           std::move(storage));
}

/// Brings one output to where the caller wants it. Streamed ones have their array already.
absl::Status Settle(size_t index, const CallPlan& plan, ReceivedOutput* received) {
  const CallPlan::Target* target = index < plan.targets.size() ? &plan.targets[index] : nullptr;
  Output& output = received->output;
  if (output.array_id != 0) return absl::OkStatus();
  if (received->leased) {
    if (target == nullptr || target->place == nullptr) {
      return absl::InternalError("the server wrote to a lease that nobody named");
    }
    if (received->bytes != target->landing.byte_count()) {
      return absl::InternalError("the server wrote an output of another size than expected");
    }
    SHOAL_ASSIGN_OR_RETURN(output.array, ArrayAccess::WithSpec(target->landing, output.dtype,
                                                               output.shape, received->bytes));
  }
  if (target == nullptr || !target->given || received->streamed) return absl::OkStatus();
  Array destination = target->array;
  if (destination.byte_count() != received->bytes) {
    return WrongSize(index, received->bytes, destination.byte_count());
  }
  if (received->bytes > 0 && destination.data().data() != output.array.data().data()) {
    CopyBytes(destination.mutable_data().data(), output.array.data().data(), received->bytes);
  }
  output.array = std::move(destination);
  return absl::OkStatus();
}

absl::StatusOr<Result> SettleAll(const CallPlan& plan, ReceivedCall received) {
  for (size_t i = 0; i < received.outputs.size(); ++i) {
    SHOAL_RETURN_IF_ERROR(Settle(i, plan, &received.outputs[i]));
    received.result.outputs.push_back(std::move(received.outputs[i].output));
  }
  return std::move(received.result);
}

/// One ApplyStream call.
class StreamedCall {
 public:
  StreamedCall(const Call& call, const CallPlan& plan, const TransferContext& context)
      : call_(call),
        plan_(plan),
        context_(context),
        sender_(context.stream),
        receiver_(context.stream.checksum) {}

  absl::StatusOr<Result> Run(const CallEnv& env) {
    SHOAL_ASSIGN_OR_RETURN(const BulkStream stream,
                           BulkStream::Make(context_.channels, Method::kApplyStream, env));
    for (size_t i = 0; i < plan_.inputs.size(); ++i) {
      if (plan_.inputs[i].way != CallPlan::Way::kStreamed) continue;
      sender_.Add(plan_.inputs[i].array, static_cast<int32_t>(i));
    }
    const transport::Frame first = sender_.Next(EncodeFirst());
    stream->Send(first, sender_.done());
    for (;;) {
      switch (stream->Wait()) {
        case transport::Stream::Event::kMessage:
          SHOAL_RETURN_IF_ERROR(TakeResponse(stream->message()));
          break;
        case transport::Stream::Event::kSent:
          break;
        case transport::Stream::Event::kEnded:
          SHOAL_RETURN_IF_ERROR(stream->Finish());
          return Complete();
      }
      if (stream->can_send() && sender_.may_send()) {
        const transport::Frame message = sender_.Next({});
        stream->Send(message, sender_.done());
      }
    }
  }

 private:
  std::string EncodeFirst() const {
    MessageBuilder builder(MessageBuilder::Payload::kCopied);
    EncodeCall(call_, plan_, &builder);
    const std::string encoded = builder.BuildString();
    std::string request;
    AppendFieldStart(&request, kCallField, encoded.size());
    request += encoded;
    return request;
  }

  absl::Status TakeResponse(const wire::Pieces& message) {
    SHOAL_ASSIGN_OR_RETURN(wire::ChunkMessage chunk, DecodeServerChunk(message));
    if (!chunk.rest.empty()) SHOAL_RETURN_IF_ERROR(TakeRest(chunk.rest));
    if (!chunk.has_chunk) return absl::OkStatus();
    // Chunks name outputs; only the streamed ones have a slot.
    const auto slot = std::find(slot_outputs_.begin(), slot_outputs_.end(), chunk.header.array);
    if (slot == slot_outputs_.end()) {
      return absl::InternalError("the server sent a chunk of an output that is not streamed");
    }
    chunk.header.array = static_cast<int32_t>(slot - slot_outputs_.begin());
    return receiver_.Accept(chunk);
  }

  absl::Status TakeRest(const std::string& rest) {
    CodedInputStream input(reinterpret_cast<const uint8_t*>(rest.data()),
                           static_cast<int>(rest.size()));
    input.PushLimit(static_cast<int>(rest.size()));
    while (const uint32_t tag = input.ReadTag()) {
      bool read = true;
      if (tag == (kCallField << 3 | 2)) {
        CodedInputStream::Limit outer = 0;
        if (!EnterNested(&input, &outer)) return Malformed();
        SHOAL_ASSIGN_OR_RETURN(ReceivedCall received, DecodeCall(&input, context_.pool));
        LeaveNested(&input, outer);
        SHOAL_RETURN_IF_ERROR(TakeCall(std::move(received)));
      } else if (tag == kAcknowledgedField << 3) {
        uint64_t bytes = 0;
        read = input.ReadVarint64(&bytes);
        sender_.Acknowledge(static_cast<int64_t>(bytes));
      } else {
        read = WireFormatLite::SkipField(&input, tag);
      }
      if (!read) return Malformed();
    }
    return absl::OkStatus();
  }

  absl::Status TakeCall(ReceivedCall received) {
    if (described_) return absl::InternalError("the server described the outputs twice");
    described_ = true;
    received_ = std::move(received);
    for (size_t i = 0; i < received_.outputs.size(); ++i) {
      ReceivedOutput& output = received_.outputs[i];
      if (!output.streamed) continue;
      const CallPlan::Target* target = i < plan_.targets.size() ? &plan_.targets[i] : nullptr;
      SHOAL_ASSIGN_OR_RETURN(output.output.array, StreamDestination(output, target, context_.pool));
      Array& array = output.output.array;
      if (array.byte_count() != output.bytes) {
        return WrongSize(i, output.bytes, array.byte_count());
      }
      receiver_.Add(array.mutable_data().data(), output.bytes);
      slot_outputs_.push_back(static_cast<int32_t>(i));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<Result> Complete() {
    if (!described_) return absl::InternalError("the server ended a call without its outputs");
    SHOAL_RETURN_IF_ERROR(receiver_.CheckWhole());
    return SettleAll(plan_, std::move(received_));
  }

  const Call& call_;
  const CallPlan& plan_;
  const TransferContext& context_;
  ChunkSender sender_;
  ChunkReceiver receiver_;
  std::vector<int32_t> slot_outputs_;  // The output that each slot of `receiver_` is.
  ReceivedCall received_;
  bool described_ = false;
};

absl::StatusOr<Result> RunUnary(const Call& call, const CallPlan& plan,
                                const TransferContext& context, const CallEnv& env) {
  MessageBuilder builder;
  EncodeCall(call, plan, &builder);
  SHOAL_ASSIGN_OR_RETURN(const transport::Message reply,
                         context.unary->Call(Method::kApply, builder.Build(), env));
  return DecodeUnary(plan, reply, context.pool);
}

}  // namespace

absl::StatusOr<Result> DecodeUnary(const CallPlan& plan, const transport::Message& reply,
                                   BufferPool* pool) {
  SHOAL_ASSIGN_OR_RETURN(ReceivedCall received, DecodeCall(reply.pieces(), pool));
  for (const ReceivedOutput& output : received.outputs) {
    if (output.streamed) {
      return absl::InternalError("the server announced chunks in a reply that has none");
    }
  }
  return SettleAll(plan, std::move(received));
}

absl::StatusOr<Result> RunApply(const Call& call, CallPlan* plan, const TransferContext& context,
                                const CallEnv& env) {
  if (!plan->stream) {
    absl::StatusOr<Result> result = RunUnary(call, *plan, context, env);
    // Too much for a unary reply, most likely: its size is only known once the server has looked.
    const bool too_large = result.status().code() == absl::StatusCode::kResourceExhausted &&
                           !RetryDelay(result.status()).has_value() && !plan->stores;
    if (!too_large) return result;
    plan->stream = true;
  }
  return StreamedCall(call, *plan, context).Run(env);
}

}  // namespace shoal::internal
