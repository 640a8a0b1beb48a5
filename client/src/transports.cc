#include "client/src/transports.h"

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "transport/grpc/channel.h"

namespace shoal::internal {
namespace {

struct Transport {
  absl::string_view prefix;  // Of the targets that are its own.
  bool yields_to_unix_socket;
  absl::StatusOr<std::unique_ptr<transport::Channel>> (*make)(const transport::ChannelOptions&);
};

// The first whose prefix fits.
constexpr Transport kTransports[] = {
    {"unix:", false, transport::MakeGrpcChannel},
    {"", true, transport::MakeGrpcChannel},  // All others.
};

const Transport* Find(absl::string_view target) {
  for (const Transport& row : kTransports) {
    if (absl::StartsWith(target, row.prefix)) return &row;
  }
  return nullptr;
}

}  // namespace

absl::StatusOr<std::unique_ptr<transport::Channel>> MakeChannel(
    const transport::ChannelOptions& options) {
  const Transport* transport = Find(options.target);
  if (transport == nullptr) {
    return absl::InvalidArgumentError("no transport is built in for the address");
  }
  return transport->make(options);
}

bool YieldsToUnixSocket(absl::string_view target) {
  const Transport* transport = Find(target);
  return transport != nullptr && transport->yields_to_unix_socket;
}

}  // namespace shoal::internal
