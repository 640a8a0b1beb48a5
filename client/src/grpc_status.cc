#include "client/src/grpc_status.h"

#include "absl/strings/cord.h"
#include "shoal/v1/details.pb.h"

namespace shoal::internal {
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

absl::Status FromGrpc(const grpc::Status& status) {
  if (status.ok()) return absl::OkStatus();
  absl::Status converted(Code(status.error_code()), status.error_message());
  v1::RpcStatus details;
  if (!status.error_details().empty() && details.ParseFromString(status.error_details())) {
    Attach(details.details(), &converted);
  }
  return converted;
}

absl::Status FromTaskStatus(const v1::TaskStatus& status) {
  absl::Status converted(Code(status.code()), status.message());
  Attach(status.details(), &converted);
  return converted;
}

}  // namespace shoal::internal
