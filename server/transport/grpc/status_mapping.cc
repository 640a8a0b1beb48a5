#include "server/transport/grpc/status_mapping.h"

#include <string>

#include "absl/strings/cord.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "base/utf8.h"
#include "shoal/v1/details.pb.h"

namespace shoal::transport {
namespace {

// Peers refuse headers of more than 8 KiB. The message travels twice: as text, where a byte may
// take three, and within grpc-status-details-bin, where three bytes take four.
constexpr size_t kMessageBytesMax = 1024;
constexpr size_t kDetailsBytesMax = 2560;
static_assert(3 * kMessageBytesMax + (kMessageBytesMax + kDetailsBytesMax + 64) * 4 / 3 < 8192);

}  // namespace

grpc::Status ToGrpcStatus(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  std::string message(Utf8Prefix(status.message(), kMessageBytesMax));
  const auto code = static_cast<grpc::StatusCode>(status.code());

  v1::RpcStatus details;
  status.ForEachPayload([&details](absl::string_view type_url, const absl::Cord& payload) {
    if (!absl::StartsWith(type_url, "type.googleapis.com/")) return;
    auto* detail = details.add_details();
    detail->set_type_url(std::string(type_url));
    detail->set_value(std::string(payload));
  });
  if (details.details().empty() || details.ByteSizeLong() > kDetailsBytesMax) {
    return {code, message};
  }
  details.set_code(static_cast<int>(status.code()));
  details.set_message(message);
  return {code, message, details.SerializeAsString()};
}

}  // namespace shoal::transport
