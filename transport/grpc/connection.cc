#include "transport/grpc/connection.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"
#include "transport/grpc/address.h"

namespace shoal::transport {
namespace {

// A server whose host is gone sends nothing, not even an end: without pings a call without a
// deadline would wait for it for ever.
void SetKeepalive(const wire::Keepalive& keepalive, grpc::ChannelArguments* arguments) {
  arguments->SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, static_cast<int>(keepalive.interval.count()));
  arguments->SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, static_cast<int>(keepalive.timeout.count()));
  // Kept connections, too: the next call must not be the one that finds out.
  arguments->SetInt(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  // By default the third ping waits for data to be sent, and a call that waits sends none.
  arguments->SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
}

grpc::ChannelArguments Arguments(const ChannelOptions& options) {
  grpc::ChannelArguments arguments;
  // One connection a channel: calls of equal channels would share it otherwise.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_FRAME_SIZE, static_cast<int>(kMiB));
  // The library retries by itself what is safe, and gRPC would buffer what is sent.
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  arguments.SetMaxSendMessageSize(-1);
  arguments.SetMaxReceiveMessageSize(
      static_cast<int>(std::clamp<int64_t>(options.message_bytes_max, 4 * kMiB, INT32_MAX)));
  // Reconnect about as eagerly as RetryPolicy asks again: the default of a second would outlast it.
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 50);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 2000);
  SetKeepalive(options.keepalive, &arguments);
  // A proxy named in the environment is not for a service of this kind.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  return arguments;
}

absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> CredentialsOf(
    const ChannelOptions& options) {
  if (!options.tls.has_value()) return grpc::InsecureChannelCredentials();
  if (absl::StartsWith(options.target, "unix:")) {
    return absl::InvalidArgumentError(
        absl::StrCat(options.target, ": a Unix socket is called without TLS"));
  }
  return absl::UnimplementedError(absl::StrCat(options.target, ": TLS is not built yet"));
}

}  // namespace

absl::StatusOr<std::shared_ptr<grpc::Channel>> Connect(const ChannelOptions& options) {
  SHOAL_RETURN_IF_ERROR(CheckAddress(options.target));
  SHOAL_ASSIGN_OR_RETURN(const auto credentials, CredentialsOf(options));
  return grpc::CreateCustomChannel(options.target, credentials, Arguments(options));
}

}  // namespace shoal::transport
