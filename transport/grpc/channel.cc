#include "transport/grpc/channel.h"

#include <grpcpp/impl/client_unary_call.h>
#include <grpcpp/impl/rpc_method.h>

#include <utility>
#include <vector>

#include "base/check.h"
#include "base/status.h"
#include "transport/grpc/async_calls.h"
#include "transport/grpc/byte_buffer.h"
#include "transport/grpc/call_context.h"
#include "transport/grpc/connection.h"
#include "transport/grpc/stream.h"

namespace shoal::transport {
namespace {

using RpcMethod = grpc::internal::RpcMethod;

std::vector<RpcMethod> RegisterAll(const std::shared_ptr<grpc::Channel>& channel,
                                   absl::Span<const char* const> paths) {
  std::vector<RpcMethod> methods;
  methods.reserve(paths.size());
  for (const char* path : paths) methods.emplace_back(path, RpcMethod::NORMAL_RPC, channel);
  return methods;
}

class GrpcChannel final : public Channel {
 public:
  GrpcChannel(std::shared_ptr<grpc::Channel> native, absl::Span<const char* const> methods)
      : connection_(std::move(native), methods),
        methods_(RegisterAll(connection_.native(), methods)) {}

  absl::StatusOr<Message> Call(size_t method, const Frame& request,
                               const CallTerms& terms) override {
    SHOAL_CHECK(method < methods_.size());
    CallContext context(terms);
    grpc::ByteBuffer reply;
    // What generated stubs call: it waits on a queue of its own in this thread.
    const grpc::Status status =
        grpc::internal::BlockingUnaryCall(connection_.native().get(), methods_[method],
                                          context.get(), ToByteBuffer(request, nullptr), &reply);
    if (!status.ok()) return FromGrpc(status);
    return ToMessage(reply);
  }

  std::unique_ptr<AsyncCalls> MakeAsyncCalls() override {
    return std::make_unique<GrpcAsyncCalls>(&connection_);
  }

  std::unique_ptr<Stream> MakeStream(size_t method, const CallTerms& terms) override {
    return std::make_unique<GrpcStream>(&connection_, method, terms);
  }

  bool Reusable() const override { return connection_.native() != nullptr; }

 private:
  Connection connection_;
  // Registered with the channel once, which spares every call the building of its path.
  const std::vector<RpcMethod> methods_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Channel>> MakeGrpcChannel(const ChannelOptions& options) {
  SHOAL_ASSIGN_OR_RETURN(std::shared_ptr<grpc::Channel> native, Connect(options));
  return std::make_unique<GrpcChannel>(std::move(native), options.methods);
}

}  // namespace shoal::transport
