#pragma once

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/server.h>

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "shoal/v1/array_service.pb.h"
#include "shoal/v1/cluster.pb.h"
#include "shoal/v1/compute.pb.h"
#include "shoal/v1/details.pb.h"
#include "tests/client/support/fake_leases.h"

namespace shoal::testing {

/// What goes wrong, and how often. Guarded by FakeServer's lock; change through FakeServer::With.
struct Faults {
  /// The next calls of a method (by its last word, "Apply") fail with these.
  std::map<std::string, std::deque<grpc::Status>> failures = {};
  /// The next Put streams break once they hold so many bytes.
  std::deque<int64_t> put_cuts = {};
  /// The next Get streams break after so many bytes.
  std::deque<int64_t> get_cuts = {};
  /// The next chunks sent by Get have a wrong checksum.
  int corrupt_chunks = 0;
  /// The next Put loses its last response: the array is complete, the stream broken.
  bool lose_put_answer = false;
  /// Put reads its header and nothing more.
  bool stall_put = false;
  /// Unary outputs above this fail as a server's would: RESOURCE_EXHAUSTED.
  int64_t inline_bytes = 256 * 1024;
  /// A session breaks after so many tasks (-1: never).
  int64_t session_cut = -1;
};

/// What has been seen.
struct Seen {
  std::map<std::string, int64_t> calls = {};  ///< By the last word of the method.
  int64_t put_bytes = 0;                      ///< In chunks.
  int64_t put_checksums = 0;
  int64_t unacknowledged_chunks_max = 0;
  std::vector<int64_t> session_batches = {};  ///< Tasks in each message.
  int64_t inline_arguments = 0;
  int64_t leased_arguments = 0;
  int64_t streamed_arguments = 0;
};

struct FakeServerOptions {
  std::string address = "127.0.0.1:0";
  std::string unix_socket = {};   ///< Empty: none.
  std::string lease_socket = {};  ///< Empty: none.
  std::string host_id = {};
  int64_t chunk_bytes = 64 * 1024;
  int32_t credit_chunks = 4;
  int64_t session_credits = 100;
  int64_t lease_bytes = int64_t{1} << 30;
};

/// A Shoal server for tests of the client: one process, arrays in strings, ops echo, add (float32),
/// sum (float32), hold (a session task that ends when it is cancelled) and fail.
///
/// It reads every message with protobuf's own parser, and so proves that the hand-made ones are the
/// contract's.
class FakeServer : private grpc::CallbackGenericService {
 public:
  explicit FakeServer(FakeServerOptions options = {});
  ~FakeServer() override;

  std::string address() const;
  const FakeServerOptions& options() const { return options_; }
  FakeLeases* leases() { return leases_.get(); }

  /// Reads or changes faults and sightings under the lock.
  template <typename F>
  auto With(F&& f) {
    const std::lock_guard lock(mutex_);
    return f(faults_, seen_);
  }

  // For the calls.
  struct Stored {
    v1::ArrayInfo info;
    std::string bytes = {};
  };
  struct Named {
    v1::ArraySpec spec;
    std::string bytes = {};
  };
  grpc::Status TakeFailure(const std::string& method);
  Stored* Find(const v1::ArrayRef& reference);                           // With the lock held.
  uint64_t NewArray(const v1::ArraySpec& spec, const v1::Store& store);  // Likewise.
  std::mutex& mutex() { return mutex_; }
  Faults& faults() { return faults_; }
  Seen& seen() { return seen_; }
  /// Fills `streamed` arguments from `payloads` by index.
  grpc::Status Apply(const v1::ApplyRequest& request, const std::map<int, std::string>& payloads,
                     v1::ApplyResponse* response);

 private:
  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* context) override;
  grpc::Status Unary(const std::string& method, const std::string& request, std::string* reply);
  grpc::Status Catalogue(const std::string& method, const std::string& request, std::string* reply);
  grpc::Status Argument(const v1::Argument& argument, const std::string* payload, Named* array);
  grpc::Status Deliver(const v1::Destination& place, Named array, v1::Output* output);
  void FillInfo(v1::GetServerInfoResponse* response) const;

  const FakeServerOptions options_;
  std::mutex mutex_;
  Faults faults_;
  Seen seen_;
  std::map<uint64_t, Stored> arrays_;
  uint64_t next_id_ = 1;
  std::unique_ptr<FakeLeases> leases_;
  int port_ = 0;
  std::unique_ptr<grpc::Server> server_;
};

/// A status with a google.rpc detail.
grpc::Status WithDetail(grpc::StatusCode code, const std::string& type,
                        const google::protobuf::MessageLite& detail);

}  // namespace shoal::testing
