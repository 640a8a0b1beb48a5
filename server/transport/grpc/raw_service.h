#pragma once

#include <grpcpp/impl/codegen/service_type.h>

#include <deque>
#include <string>

#include "server/transport/call.h"
#include "server/transport/grpc/call_count.h"

namespace shoal::transport {

/// A gRPC service whose methods take and give undecoded bytes.
///
/// It registers its methods the way generated code does, from the table it is given: a new rpc
/// needs a row there and no code here. Streams of every shape are served as bidirectional ones;
/// on the wire they are the same.
class RawService final : public grpc::Service {
 public:
  /// Borrows `calls`, in which its calls are counted.
  RawService(ServiceTable service, CallCount* calls);

 private:
  void AddUnary(const std::string& path, const UnaryHandler& handler);
  void AddStream(const std::string& path, const StreamHandlerFactory& factory);

  const ServiceTable service_;
  CallCount* const calls_;
  std::deque<std::string> paths_;  // gRPC keeps pointers to them.
};

}  // namespace shoal::transport
