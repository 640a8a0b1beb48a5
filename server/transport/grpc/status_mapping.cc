#include "server/transport/grpc/status_mapping.h"

#include <string>

#include "absl/strings/cord.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "base/utf8.h"
#include "shoal/v1/details.pb.h"

namespace shoal::transport {
namespace {

// Message and details travel twice, as text and within grpc-status-details-bin (in base 64), and
// peers refuse headers of more than 8 KiB.
constexpr size_t kMessageBytesMax = 2048;
constexpr size_t kDetailsBytesMax = 3072;

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
