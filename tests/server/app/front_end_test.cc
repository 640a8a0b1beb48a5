#include "server/app/front_end.h"

#include <grpcpp/create_channel.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <memory>
#include <string>

#include "base/units.h"
#include "shoal/v1/cluster.pb.h"
#include "shoal/v1/compute.pb.h"
#include "tests/server/transport/grpc/client.h"
#include "tests/support/arrays.h"

namespace shoal::app {
namespace {

class FrontEndTest : public ::testing::Test {
 protected:
  FrontEndTest() {
    config_.host = "127.0.0.1";
    config_.http_port = -1;
    config_.workers = 2;
    config_.threads = 1;
    config_.memory_limit_bytes = 64 * kMiB;
    config_.policy = "least_load";
    config_.log.fd = log_;
  }
  ~FrontEndTest() override { close(log_); }

  std::unique_ptr<FrontEnd> Start() {
    auto front_end = FrontEnd::Start(config_);
    EXPECT_TRUE(front_end.ok()) << front_end.status();
    return *std::move(front_end);
  }

  static transport::Client ClientOf(const FrontEnd& front_end) {
    return transport::Client(HostAndPort("127.0.0.1", front_end.port()));
  }

  /// What health says of a service, "" being all; 0: it does not know it.
  static int Health(const FrontEnd& front_end, const std::string& service = "") {
    std::string request;
    if (!service.empty()) {
      request = std::string("\n") + static_cast<char>(service.size()) + service;  // Field 1.
    }
    const auto answer = ClientOf(front_end).Call("/grpc.health.v1.Health/Check", request);
    return answer.bytes.size() == 2 ? answer.bytes[1] : 0;
  }

  const int log_ = memfd_create("log", MFD_CLOEXEC);
  Config config_;
};

TEST_F(FrontEndTest, ServesOnAPortAndOnItsSockets) {
  const auto front_end = Start();
  EXPECT_EQ(Health(*front_end), 1);
  v1::ApplyRequest request;
  request.set_op("sum");
  support::SetInline({1, 2, 3}, request.add_arguments());
  const std::string addresses[] = {HostAndPort("127.0.0.1", front_end->port()),
                                   "unix:" + front_end->unix_socket()};
  for (const std::string& address : addresses) {
    transport::Client client(address);
    const auto answer = client.Call("/shoal.v1.ComputeService/Apply", request.SerializeAsString());
    ASSERT_TRUE(answer.status.ok()) << answer.status.error_message();
    v1::ApplyResponse response;
    ASSERT_TRUE(response.ParseFromString(answer.bytes));
    EXPECT_EQ(support::FromBytes<float>(response.outputs(0).data()), std::vector<float>{6});
  }
  const auto answer = ClientOf(*front_end).Call("/shoal.v1.ClusterService/GetServerInfo", "");
  v1::GetServerInfoResponse info;
  ASSERT_TRUE(info.ParseFromString(answer.bytes));
  EXPECT_EQ(info.planes().unix_socket(), front_end->unix_socket());
  EXPECT_EQ(access(info.planes().lease_socket().c_str(), F_OK), 0);
  EXPECT_EQ(info.worker_count(), 2);
}

TEST_F(FrontEndTest, HealthKnowsTheServicesThatAreBuiltAndTheWorkers) {
  const auto front_end = Start();
  const std::string services[] = {"shoal.v1.ArrayService", "shoal.v1.ClusterService",
                                  "shoal.v1.ComputeService", "worker/0", "worker/1"};
  for (const std::string& service : services) EXPECT_EQ(Health(*front_end, service), 1) << service;
  for (const char* service : {"shoal.v1.TaskService", "shoal.v1.WorkerService", "worker/2"}) {
    EXPECT_EQ(Health(*front_end, service), 0) << service;
  }
  front_end->BeginDrain();
  for (const std::string& service : services) EXPECT_EQ(Health(*front_end, service), 2) << service;
}

TEST_F(FrontEndTest, DrainsThenStopsAndLeavesNoSocketBehind) {
  auto front_end = Start();
  const std::string socket = front_end->unix_socket();
  front_end->BeginDrain();
  front_end->BeginDrain();
  EXPECT_EQ(Health(*front_end), 2);
  v1::ApplyRequest request;
  request.set_op("sum");
  support::SetInline({1}, request.add_arguments());
  const auto answer =
      ClientOf(*front_end).Call("/shoal.v1.ComputeService/Apply", request.SerializeAsString());
  EXPECT_EQ(answer.status.error_code(), grpc::StatusCode::UNAVAILABLE);
  front_end->Shutdown(Duration::zero());
  front_end.reset();
  EXPECT_NE(access(socket.c_str(), F_OK), 0);
  EXPECT_NE(access(socket.substr(0, socket.rfind('/')).c_str(), F_OK), 0);
}

TEST_F(FrontEndTest, ServesHttpWhereAskedTo) {
  EXPECT_EQ(Start()->http_port(), -1);
  config_.http_port = 0;
  config_.unix_socket = false;
  const auto front_end = Start();
  EXPECT_GT(front_end->http_port(), 0);
  EXPECT_EQ(front_end->unix_socket(), "");
}

TEST_F(FrontEndTest, AnAddressInUseIsUnavailable) {
  const auto first = Start();
  config_.port = first->port();
  EXPECT_EQ(FrontEnd::Start(config_).status().code(), absl::StatusCode::kUnavailable);
  config_.port = 0;
  config_.http_port = first->port();
  EXPECT_EQ(FrontEnd::Start(config_).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(Health(*first), 1);
}

}  // namespace
}  // namespace shoal::app
