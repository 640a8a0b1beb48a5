#pragma once

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/support/byte_buffer.h>

#include <deque>
#include <mutex>
#include <optional>
#include <string>

#include "shoal/v1/array.pb.h"
#include "tests/client/support/fake_server.h"

namespace shoal::testing {

/// One call: hands over messages one by one, and sends what it is told to, in order.
class FakeCall : public grpc::ServerGenericBidiReactor {
 public:
  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override { delete this; }

 protected:
  virtual void OnMessage(const std::string& bytes) = 0;
  virtual void OnHalfClose() = 0;
  /// Stop reading.
  virtual bool stalled() { return false; }

  void Begin();  // Of the constructor of the last class.
  void Reply(const google::protobuf::MessageLite& message);
  void End(const grpc::Status& status);
  bool ended();

 private:
  void Advance();  // With the lock held.

  std::mutex mutex_;
  grpc::ByteBuffer request_;
  std::deque<grpc::ByteBuffer> replies_;
  bool writing_ = false;
  bool finished_ = false;
  std::optional<grpc::Status> end_;
};

/// Of a method's path, the last word; the streams' implementations.
FakeCall* NewStream(const std::string& method, FakeServer* server);

std::string ToString(grpc::ByteBuffer* buffer);

/// The bytes of `spec`.
int64_t SpecBytes(const v1::ArraySpec& spec);

}  // namespace shoal::testing
