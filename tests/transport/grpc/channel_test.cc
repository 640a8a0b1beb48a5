#include "transport/grpc/channel.h"

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <string>

#include "client/src/pieces_stream.h"
#include "shoal/v1/cluster.pb.h"
#include "tests/client/support/fake_server.h"
#include "tests/transport/grpc/methods.h"

namespace shoal::transport {
namespace {

class ChannelTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto channel = MakeGrpcChannel({.target = server_.address(), .methods = kMethods});
    ASSERT_TRUE(channel.ok()) << channel.status();
    channel_ = *std::move(channel);
  }

  void FailNext(grpc::Status status) {
    server_.With([&](shoal::testing::Faults& faults, shoal::testing::Seen&) {
      faults.failures["GetServerInfo"].push_back(std::move(status));
    });
  }

  static void ExpectInfo(const absl::StatusOr<Message>& reply) {
    ASSERT_TRUE(reply.ok()) << reply.status();
    v1::GetServerInfoResponse response;
    ASSERT_TRUE(internal::ParseMessage(reply->pieces(), &response).ok());
    EXPECT_EQ(response.version(), "0.1.0");
  }

  shoal::testing::FakeServer server_;
  std::unique_ptr<Channel> channel_;
};

TEST_F(ChannelTest, AUnaryCallComesBackWithItsReplyOrItsError) {
  ExpectInfo(channel_->Call(kGetServerInfo, {}, {}));
  FailNext({grpc::StatusCode::NOT_FOUND, "gone"});
  EXPECT_EQ(channel_->Call(kGetServerInfo, {}, {}).status(), absl::NotFoundError("gone"));
  EXPECT_TRUE(channel_->Reusable());
}

TEST_F(ChannelTest, TheTermsOfACallHold) {
  const auto past = std::chrono::steady_clock::now() - std::chrono::seconds(1);
  EXPECT_EQ(channel_->Call(kGetServerInfo, {}, {.deadline = past}).status().code(),
            absl::StatusCode::kDeadlineExceeded);
  Cancellation cancellation;
  ExpectInfo(channel_->Call(kGetServerInfo, {}, {.cancellation = &cancellation}));
  cancellation.Cancel();
  EXPECT_EQ(channel_->Call(kGetServerInfo, {}, {.cancellation = &cancellation}).status().code(),
            absl::StatusCode::kCancelled);
}

TEST_F(ChannelTest, AsynchronousCallsAreAnsweredBeforeTheirEnd) {
  FailNext({grpc::StatusCode::ABORTED, "once"});
  std::promise<absl::StatusOr<Message>> failed;
  std::promise<absl::StatusOr<Message>> served;
  {
    const std::unique_ptr<AsyncCalls> calls = channel_->MakeAsyncCalls();
    calls->Start(kGetServerInfo, {}, {},
                 [&failed](absl::StatusOr<Message> reply) { failed.set_value(std::move(reply)); });
    std::future<absl::StatusOr<Message>> first = failed.get_future();
    EXPECT_EQ(first.get().status(), absl::AbortedError("once"));
    calls->Start(kGetServerInfo, {}, {},
                 [&served](absl::StatusOr<Message> reply) { served.set_value(std::move(reply)); });
  }
  std::future<absl::StatusOr<Message>> second = served.get_future();
  ASSERT_EQ(second.wait_for(std::chrono::seconds(0)), std::future_status::ready);
  ExpectInfo(second.get());
}

TEST_F(ChannelTest, AsynchronousCallsThatNobodyMakesCostNothing) {
  EXPECT_NE(channel_->MakeAsyncCalls(), nullptr);
}

}  // namespace
}  // namespace shoal::transport
