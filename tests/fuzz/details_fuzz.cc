// The details of errors on both sides: what the client makes of a trailer that it did not write,
// and that what the server sends fits into headers and can be read.

#include <grpcpp/support/status.h>

#include <cstdint>
#include <string>

#include "absl/strings/cord.h"
#include "base/check.h"
#include "server/transport/grpc/status_mapping.h"
#include "server/wire/status_details.h"
#include "shoal/status.h"
#include "shoal/v1/details.pb.h"
#include "transport/peer_status.h"

namespace {

using shoal::transport::PeerStatus;

constexpr size_t kHeaderBytesMax = 8192;

/// Everything that a client may ask about an error.
void Read(const absl::Status& status) {
  shoal::ErrorReason(status);
  shoal::ErrorMetadata(status);
  shoal::RetryDelay(status);
  shoal::FieldViolations(status);
  SHOAL_CHECK(!shoal::DescribeError(status).empty());
}

void CheckClient(int code, const std::string& bytes) {
  const auto status = PeerStatus(1 + code % 16, "message", bytes);
  SHOAL_CHECK(!status.ok());
  Read(status);
  for (const char* type : {"ErrorInfo", "RetryInfo", "BadRequest", "QuotaFailure"}) {
    absl::Status with = absl::InternalError("x");
    with.SetPayload(std::string("type.googleapis.com/google.rpc.") + type, absl::Cord(bytes));
    Read(with);
  }
  shoal::v1::TaskStatus task;
  if (task.ParseFromString(bytes)) Read(shoal::transport::FromTaskStatus(task));
}

void CheckServer(int code, const std::string& text) {
  const auto kind = static_cast<absl::StatusCode>(1 + code % 16);
  absl::Status status(kind, text);
  status = shoal::wire::WithReason(std::move(status), "REASON", {{"key", "value"}});
  status = shoal::wire::WithBadField(std::move(status), "field");
  const grpc::Status sent = shoal::transport::ToGrpcStatus(status);
  SHOAL_CHECK(static_cast<int>(sent.error_code()) == static_cast<int>(kind));
  SHOAL_CHECK(sent.error_message().size() + sent.error_details().size() * 4 / 3 < kHeaderBytesMax);
  const absl::Status received =
      PeerStatus(sent.error_code(), sent.error_message(), sent.error_details());
  SHOAL_CHECK(received.code() == kind);
  Read(received);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  CheckClient(data[0], bytes);
  CheckServer(data[0], bytes);
  return 0;
}
