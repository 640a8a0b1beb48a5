#include "client/src/call_codec.h"

#include <google/protobuf/wire_format_lite.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "client/src/convert.h"
#include "client/src/nested.h"
#include "client/src/pieces_stream.h"

namespace shoal::internal {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;
using google::protobuf::io::CodedOutputStream;

constexpr uint32_t LengthDelimited(uint32_t field) { return field << 3 | 2; }

size_t FieldBytes(size_t payload_bytes) {
  // All fields used here have one-byte tags.
  return 1 + static_cast<size_t>(CodedOutputStream::VarintSize64(payload_bytes)) + payload_bytes;
}

absl::Status Malformed() { return absl::InternalError("the server sent a malformed message"); }

void EncodeInline(const Argument& argument, const Array& array, MessageBuilder* builder) {
  v1::ArraySpec spec;
  ToProto(array.dtype(), array.shape(), &spec);
  const std::string encoded_spec = spec.SerializeAsString();
  const auto data_bytes = static_cast<size_t>(array.byte_count());
  const size_t inline_bytes = FieldBytes(encoded_spec.size()) + FieldBytes(data_bytes);
  const size_t name_bytes = argument.name.empty() ? 0 : FieldBytes(argument.name.size());

  std::string* head = builder->head();
  AppendFieldStart(head, v1::ApplyRequest::kArgumentsFieldNumber,
                   name_bytes + FieldBytes(inline_bytes));
  if (!argument.name.empty()) {
    AppendFieldStart(head, v1::Argument::kNameFieldNumber, argument.name.size());
    head->append(argument.name);
  }
  AppendFieldStart(head, v1::Argument::kInlineFieldNumber, inline_bytes);
  AppendFieldStart(head, v1::InlineArray::kSpecFieldNumber, encoded_spec.size());
  head->append(encoded_spec);
  AppendFieldStart(head, v1::InlineArray::kDataFieldNumber, data_bytes);
  builder->AppendPayload(array);
}

void SetPlace(const LeasePlace& place, v1::LeaseRef* reference) {
  reference->set_lease_id(place.lease_id);
  reference->set_lease_token(place.token);
  reference->set_offset(place.offset);
}

void EncodeArgument(const Argument& argument, const CallPlan::Input& input,
                    MessageBuilder* builder) {
  v1::Argument proto;
  proto.set_name(argument.name);
  switch (input.way) {
    case CallPlan::Way::kInline:
      EncodeInline(argument, input.array, builder);
      return;
    case CallPlan::Way::kLeased:
      ToProto(input.array.dtype(), input.array.shape(), proto.mutable_leased()->mutable_spec());
      SetPlace(*input.place, proto.mutable_leased()->mutable_location());
      break;
    case CallPlan::Way::kStreamed:
      ToProto(input.array.dtype(), input.array.shape(), proto.mutable_streamed());
      break;
    case CallPlan::Way::kStored:
      ToProto(std::get<ArrayRef>(argument.value), proto.mutable_ref());
      break;
  }
  const std::string encoded = proto.SerializeAsString();
  AppendFieldStart(builder->head(), v1::ApplyRequest::kArgumentsFieldNumber, encoded.size());
  builder->Append(encoded);
}

void EncodeDestinations(const Call& call, const CallPlan& plan, v1::ApplyRequest* request) {
  for (size_t i = 0; i < plan.targets.size(); ++i) {
    v1::Destination destination;
    if (plan.targets[i].place != nullptr) {
      SetPlace(*plan.targets[i].place, destination.mutable_leased());
    } else if (i < call.destinations.size() &&
               std::holds_alternative<Store>(call.destinations[i])) {
      ToProto(std::get<Store>(call.destinations[i]), destination.mutable_store());
    } else {
      destination.mutable_return_inline();
    }
    *request->add_destinations() = std::move(destination);
  }
  // The default need not be said.
  while (!request->destinations().empty() &&
         request->destinations().rbegin()->has_return_inline()) {
    request->mutable_destinations()->RemoveLast();
  }
}

/// Reads a length-delimited field as a message.
template <typename Message>
bool ReadMessage(CodedInputStream* input, Message* message) {
  CodedInputStream::Limit outer = 0;
  if (!EnterNested(input, &outer)) return false;
  const bool read = message->MergeFromCodedStream(input) && input->ConsumedEntireMessage();
  LeaveNested(input, outer);
  return read;
}

bool ReadText(CodedInputStream* input, std::string* text) {
  uint32_t length = 0;
  return input->ReadVarint32(&length) && input->ReadString(text, static_cast<int>(length));
}

/// Reads the bytes of an output into memory of their own.
absl::StatusOr<StorageRef> ReadData(CodedInputStream* input, BufferPool* pool, int64_t* bytes) {
  uint32_t length = 0;
  if (!input->ReadVarint32(&length)) return Malformed();
  // A length is only believed as far as there are bytes behind it.
  if (static_cast<int64_t>(length) > input->BytesUntilLimit()) {
    return Malformed();
  }
  SHOAL_ASSIGN_OR_RETURN(StorageRef storage, AllocateResult(pool, length));
  if (!input->ReadRaw(storage->data(), static_cast<int>(length))) return Malformed();
  *bytes = length;
  return storage;
}

}  // namespace

absl::StatusOr<StorageRef> AllocateResult(BufferPool* pool, int64_t bytes) {
  return pool != nullptr ? pool->Allocate(bytes) : AllocateHeap(bytes);
}

void EncodeCall(const Call& call, const CallPlan& plan, MessageBuilder* builder) {
  v1::ApplyRequest request;
  if (call.program.empty()) {
    request.set_op(call.op);
  } else {
    request.set_program(call.program);
  }
  request.mutable_outputs()->Add(call.outputs.begin(), call.outputs.end());
  for (const Param& param : call.params) ToProto(param, request.add_params());
  request.set_route(ToProto(call.route));
  request.set_want_timing(call.want_timing);
  EncodeDestinations(call, plan, &request);
  builder->Append(request.SerializeAsString());
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    EncodeArgument(call.arguments[i], plan.inputs[i], builder);
  }
}

absl::StatusOr<ReceivedOutput> DecodeOutput(CodedInputStream* input, BufferPool* pool) {
  ReceivedOutput received;
  v1::Output proto;  // All fields but the data.
  StorageRef storage;
  int64_t data_bytes = 0;
  while (const uint32_t tag = input->ReadTag()) {
    bool read = true;
    switch (tag) {
      case LengthDelimited(v1::Output::kDataFieldNumber): {
        SHOAL_ASSIGN_OR_RETURN(storage, ReadData(input, pool, &data_bytes));
        break;
      }
      case LengthDelimited(v1::Output::kNameFieldNumber):
        read = ReadText(input, proto.mutable_name());
        break;
      case LengthDelimited(v1::Output::kSpecFieldNumber):
        read = ReadMessage(input, proto.mutable_spec());
        break;
      case LengthDelimited(v1::Output::kLeasedFieldNumber):
        read = ReadMessage(input, proto.mutable_leased());
        break;
      case v1::Output::kArrayIdFieldNumber << 3:
        read = input->ReadVarint64(&received.output.array_id);
        break;
      case v1::Output::kStreamedFieldNumber << 3: {
        uint64_t flag = 0;
        read = input->ReadVarint64(&flag);
        received.streamed = flag != 0;
        break;
      }
      default:
        read = WireFormatLite::SkipField(input, tag);
    }
    if (!read) return Malformed();
  }
  if (!input->ConsumedEntireMessage()) return Malformed();
  SHOAL_ASSIGN_OR_RETURN(Spec spec, FromProto(proto.spec()));
  received.output.name = proto.name();
  received.output.dtype = spec.dtype;
  received.output.shape = spec.shape;
  received.bytes = spec.bytes;
  received.leased = proto.has_leased();
  const bool elsewhere = received.leased || received.streamed || received.output.array_id != 0;
  received.has_data = storage != nullptr || !elsewhere;
  if (!received.has_data) return received;
  if (storage == nullptr) {  // No elements: protobuf leaves empty bytes out.
    SHOAL_ASSIGN_OR_RETURN(storage, AllocateResult(pool, 0));
  }
  if (data_bytes != spec.bytes) {
    return absl::InternalError(
        absl::StrCat("the server sent ", data_bytes, " bytes for an array of ", spec.bytes));
  }
  received.output.array =
      ArrayAccess::Make(spec.dtype, std::move(spec.shape), spec.bytes, std::move(storage));
  return received;
}

absl::StatusOr<ReceivedCall> DecodeCall(CodedInputStream* input, BufferPool* pool) {
  ReceivedCall received;
  while (const uint32_t tag = input->ReadTag()) {
    bool read = true;
    switch (tag) {
      case LengthDelimited(v1::ApplyResponse::kOutputsFieldNumber): {
        CodedInputStream::Limit outer = 0;
        if (!EnterNested(input, &outer)) return Malformed();
        SHOAL_ASSIGN_OR_RETURN(ReceivedOutput output, DecodeOutput(input, pool));
        received.outputs.push_back(std::move(output));
        LeaveNested(input, outer);
        break;
      }
      case LengthDelimited(v1::ApplyResponse::kBackendFieldNumber):
        read = ReadText(input, &received.result.backend);
        break;
      case v1::ApplyResponse::kWorkerCountFieldNumber << 3: {
        uint64_t count = 0;
        read = input->ReadVarint64(&count);
        received.result.worker_count = static_cast<int32_t>(count);
        break;
      }
      case LengthDelimited(v1::ApplyResponse::kTimingFieldNumber): {
        v1::Timing timing;
        read = ReadMessage(input, &timing);
        received.result.timing = FromProto(timing);
        break;
      }
      default:
        read = WireFormatLite::SkipField(input, tag);
    }
    if (!read) return Malformed();
  }
  if (!input->ConsumedEntireMessage()) return Malformed();
  return received;
}

absl::StatusOr<ReceivedCall> DecodeCall(const wire::Pieces& message, BufferPool* pool) {
  PiecesStream stream(message);
  CodedInputStream input(&stream);
  const auto limit = input.PushLimit(static_cast<int>(wire::TotalBytes(message)));
  absl::StatusOr<ReceivedCall> received = DecodeCall(&input, pool);
  input.PopLimit(limit);
  return received;
}

}  // namespace shoal::internal
