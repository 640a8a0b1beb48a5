#include "client/src/transports.h"

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "client/src/transport/grpc/channel.h"

namespace shoal::internal {
namespace {

struct Transport {
  absl::string_view prefix;  // Of the targets that are its own.
  absl::StatusOr<std::unique_ptr<transport::Channel>> (*make)(const transport::ChannelOptions&);
};

// The first whose prefix fits.
constexpr Transport kTransports[] = {
    {"", transport::MakeGrpcChannel},  // All others.
};

}  // namespace

absl::StatusOr<std::unique_ptr<transport::Channel>> MakeChannel(
    const transport::ChannelOptions& options) {
  for (const Transport& row : kTransports) {
    if (absl::StartsWith(options.target, row.prefix)) return row.make(options);
  }
  return absl::InvalidArgumentError("no transport is built in for the address");
}

}  // namespace shoal::internal
