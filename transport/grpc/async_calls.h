#pragma once

#include <grpcpp/completion_queue.h>

#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>

#include "transport/channel.h"
#include "transport/grpc/connection.h"

namespace shoal::transport {

class GrpcAsyncCalls final : public AsyncCalls {
 public:
  explicit GrpcAsyncCalls(const Connection* connection);
  ~GrpcAsyncCalls() override;
  GrpcAsyncCalls(const GrpcAsyncCalls&) = delete;
  GrpcAsyncCalls& operator=(const GrpcAsyncCalls&) = delete;

  void Start(size_t method, const Frame& request, const CallTerms& terms, Done done) override;

 private:
  struct Pending;

  absl::Status StartLoop();
  void Loop();

  const Connection& connection_;
  grpc::CompletionQueue queue_;
  std::mutex mutex_;
  std::unordered_map<void*, std::unique_ptr<Pending>> pending_;  // By tag, its own address.
  std::thread thread_;
};

}  // namespace shoal::transport
