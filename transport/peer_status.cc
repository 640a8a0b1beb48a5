#include "transport/peer_status.h"

#include "absl/strings/cord.h"
#include "shoal/v1/details.pb.h"

namespace shoal::transport {
namespace {

/// The canonical code of a number that a peer sent; what is none of them is UNKNOWN.
absl::StatusCode Code(int number) {
  const bool canonical =
      number > 0 && number <= static_cast<int>(absl::StatusCode::kUnauthenticated);
  return canonical ? static_cast<absl::StatusCode>(number) : absl::StatusCode::kUnknown;
}

template <typename Details>
void Attach(const Details& details, absl::Status* status) {
  for (const auto& detail : details) {
    status->SetPayload(detail.type_url(), absl::Cord(std::string(detail.value())));
  }
}

}  // namespace

absl::Status PeerStatus(int code, const std::string& message, const std::string& details) {
  if (code == 0) return absl::OkStatus();
  absl::Status status(Code(code), message);
  v1::RpcStatus decoded;
  if (!details.empty() && decoded.ParseFromString(details)) Attach(decoded.details(), &status);
  return status;
}

absl::Status FromTaskStatus(const v1::TaskStatus& status) {
  absl::Status converted(Code(status.code()), status.message());
  Attach(status.details(), &converted);
  return converted;
}

}  // namespace shoal::transport
