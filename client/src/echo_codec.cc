#include "client/src/echo_codec.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include "absl/strings/str_cat.h"
#include "client/src/convert.h"
#include "client/src/message_builder.h"
#include "client/src/pieces_stream.h"
#include "shoal/v1/compute.pb.h"

namespace shoal::internal {
namespace {

constexpr uint32_t kRoute = v1::EchoRequest::kRouteFieldNumber;
constexpr uint32_t kPayload = v1::EchoRequest::kPayloadFieldNumber;
static_assert(kPayload == v1::EchoResponse::kPayloadFieldNumber);

}  // namespace

transport::Frame EncodeEcho(const Array& payload, Route route) {
  MessageBuilder builder;
  if (route != Route::kDefault) {
    AppendVarint(builder.head(), kRoute << 3);
    AppendVarint(builder.head(), static_cast<uint64_t>(ToProto(route)));
  }
  AppendFieldStart(builder.head(), kPayload, static_cast<size_t>(payload.byte_count()));
  builder.AppendPayload(payload);
  return builder.Build();
}

absl::Status DecodeEcho(const wire::Pieces& message, absl::Span<std::byte> target) {
  const absl::Status malformed = absl::InternalError("the server sent a malformed echo");
  size_t received = 0;
  PiecesStream stream(message);
  google::protobuf::io::CodedInputStream input(&stream);
  while (const uint32_t tag = input.ReadTag()) {
    if (tag != (kPayload << 3 | 2)) {
      if (!google::protobuf::internal::WireFormatLite::SkipField(&input, tag)) return malformed;
      continue;
    }
    uint32_t length = 0;
    if (!input.ReadVarint32(&length)) return malformed;
    if (length != target.size()) {
      return absl::InternalError(
          absl::StrCat("the server echoed ", length, " bytes of ", target.size()));
    }
    if (!input.ReadRaw(target.data(), static_cast<int>(length))) return malformed;
    received = length;
  }
  if (received != target.size()) return malformed;
  return absl::OkStatus();
}

}  // namespace shoal::internal
