#include "client/src/transport/grpc/channel.h"

#include <grpcpp/impl/client_unary_call.h>
#include <grpcpp/impl/rpc_method.h>

#include <array>
#include <utility>

#include "base/check.h"
#include "base/status.h"
#include "client/src/transport/grpc/async_calls.h"
#include "client/src/transport/grpc/byte_buffer.h"
#include "client/src/transport/grpc/call_context.h"
#include "client/src/transport/grpc/connection.h"
#include "client/src/transport/grpc/stream.h"

namespace shoal::internal::transport {
namespace {

using RpcMethods = std::array<grpc::internal::RpcMethod, kUnaryMethodCount>;

template <size_t... I>
RpcMethods RegisterAll(const std::shared_ptr<grpc::Channel>& channel,
                       std::index_sequence<I...> /*indices*/) {
  return {grpc::internal::RpcMethod(MethodPath(static_cast<Method>(I)),
                                    grpc::internal::RpcMethod::NORMAL_RPC, channel)...};
}

class GrpcChannel final : public Channel {
 public:
  explicit GrpcChannel(std::shared_ptr<grpc::Channel> native)
      : connection_(std::move(native)),
        methods_(RegisterAll(connection_.native(), std::make_index_sequence<kUnaryMethodCount>())) {
  }

  absl::StatusOr<Message> Call(Method method, const Frame& request,
                               const CallTerms& terms) override {
    SHOAL_CHECK(static_cast<size_t>(method) < kUnaryMethodCount);
    CallContext context(terms);
    grpc::ByteBuffer reply;
    // What generated stubs call: it waits on a queue of its own in this thread.
    const grpc::Status status = grpc::internal::BlockingUnaryCall(
        connection_.native().get(), methods_[static_cast<size_t>(method)], context.get(),
        ToByteBuffer(request, nullptr), &reply);
    if (!status.ok()) return FromGrpc(status);
    return ToMessage(reply);
  }

  std::unique_ptr<AsyncCalls> MakeAsyncCalls() override {
    return std::make_unique<GrpcAsyncCalls>(&connection_);
  }

  std::unique_ptr<Stream> MakeStream(Method method, const CallTerms& terms) override {
    return std::make_unique<GrpcStream>(&connection_, method, terms);
  }

  bool Reusable() const override { return connection_.native() != nullptr; }

 private:
  Connection connection_;
  // Registered with the channel once, which spares every call the building of its path.
  const RpcMethods methods_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<Channel>> MakeGrpcChannel(const ChannelOptions& options) {
  SHOAL_ASSIGN_OR_RETURN(std::shared_ptr<grpc::Channel> native, Connect(options));
  return std::make_unique<GrpcChannel>(std::move(native));
}

}  // namespace shoal::internal::transport
