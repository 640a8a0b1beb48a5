#include "server/transport/grpc/raw_service.h"

#include <grpcpp/impl/codegen/rpc_service_method.h>
#include <grpcpp/impl/codegen/server_callback_handlers.h>
#include <grpcpp/support/byte_buffer.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "server/transport/grpc/stream_call.h"
#include "server/transport/grpc/unary_call.h"

namespace shoal::transport {
namespace {

using grpc::internal::CallbackBidiHandler;
using grpc::internal::CallbackUnaryHandler;
using grpc::internal::RpcMethod;
using grpc::internal::RpcServiceMethod;

}  // namespace

RawService::RawService(ServiceTable service, CallCount* calls)
    : service_(std::move(service)), calls_(calls) {
  for (const Method& method : service_.methods) {
    const std::string& path =
        paths_.emplace_back(absl::StrCat("/", service_.name, "/", method.name));
    SHOAL_CHECK((method.unary != nullptr) != (method.stream != nullptr));
    if (method.unary) {
      AddUnary(path, method.unary);
    } else {
      AddStream(path, method.stream);
    }
  }
}

// The method objects belong to grpc::Service from AddMethod on.
void RawService::AddUnary(const std::string& path, const UnaryHandler& handler) {
  AddMethod(new RpcServiceMethod(path.c_str(), RpcMethod::NORMAL_RPC, nullptr));
  MarkMethodRawCallback(static_cast<int>(paths_.size()) - 1,
                        new CallbackUnaryHandler<grpc::ByteBuffer, grpc::ByteBuffer>(
                            [target = UnaryTarget{&handler, calls_}](
                                grpc::CallbackServerContext* context,
                                const grpc::ByteBuffer* request, grpc::ByteBuffer* response) {
                              return StartUnaryCall(target, context, request, response);
                            }));
}

void RawService::AddStream(const std::string& path, const StreamHandlerFactory& factory) {
  AddMethod(new RpcServiceMethod(path.c_str(), RpcMethod::BIDI_STREAMING, nullptr));
  MarkMethodRawCallback(static_cast<int>(paths_.size()) - 1,
                        new CallbackBidiHandler<grpc::ByteBuffer, grpc::ByteBuffer>(
                            [this, &factory](grpc::CallbackServerContext* context) {
                              return StartStreamCall(factory, context, calls_);
                            }));
}

}  // namespace shoal::transport
