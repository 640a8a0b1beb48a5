#include "transport/grpc/stream.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "client/src/pieces_stream.h"
#include "shoal/v1/array_service.pb.h"
#include "shoal/v1/compute.pb.h"
#include "tests/client/support/fake_server.h"
#include "tests/transport/grpc/methods.h"
#include "transport/grpc/channel.h"

namespace shoal::transport {
namespace {

using Event = Stream::Event;

class StreamTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto channel = MakeGrpcChannel({.target = server_.address(), .methods = kMethods});
    ASSERT_TRUE(channel.ok()) << channel.status();
    channel_ = *std::move(channel);
  }

  /// The first message of a session: one task, an echo of nothing.
  static Frame OpenWithTask() {
    v1::SessionRequest request;
    request.mutable_open();
    v1::SessionTask* task = request.add_tasks();
    task->set_id(7);
    task->mutable_call()->set_op("echo");
    return FrameOf(request.SerializeAsString());
  }

  shoal::testing::FakeServer server_;
  std::unique_ptr<Channel> channel_;
};

TEST_F(StreamTest, MessagesGoBothWaysUntilBothHaveEnded) {
  const std::unique_ptr<Stream> stream = channel_->MakeStream(kSession, {});
  EXPECT_TRUE(stream->can_send());
  stream->Send(OpenWithTask(), /*last=*/false);
  EXPECT_FALSE(stream->can_send());
  bool sent = false;
  bool answered = false;
  while (!sent || !answered) {
    const Event event = stream->Wait();
    ASSERT_NE(event, Event::kEnded);
    if (event == Event::kSent) sent = true;
    if (event != Event::kMessage) continue;
    v1::SessionResponse response;
    ASSERT_TRUE(internal::ParseMessage(stream->message(), &response).ok());
    for (const uint64_t id : response.done()) answered |= id == 7;
    for (const v1::SessionResult& result : response.results()) answered |= result.id() == 7;
  }
  EXPECT_TRUE(stream->can_send());
  stream->CloseSend();
  EXPECT_EQ(stream->Wait(), Event::kSent);
  EXPECT_FALSE(stream->can_send());
  while (stream->Wait() != Event::kEnded) {
  }
  EXPECT_TRUE(stream->Finish().ok());
  EXPECT_TRUE(channel_->Reusable());
}

TEST_F(StreamTest, AnotherThreadMayCancelIt) {
  const std::unique_ptr<Stream> stream = channel_->MakeStream(kSession, {});
  stream->Send(OpenWithTask(), /*last=*/false);
  std::thread canceller([&stream] { stream->Cancel(); });
  while (stream->Wait() != Event::kEnded) {
  }
  canceller.join();
  EXPECT_EQ(stream->Finish().code(), absl::StatusCode::kCancelled);
  EXPECT_TRUE(channel_->Reusable());
}

TEST_F(StreamTest, ASendThatCrossesTheEndIsStillAnswered) {
  server_.With(
      [](shoal::testing::Faults& faults, shoal::testing::Seen&) { faults.session_cut = 0; });
  const std::unique_ptr<Stream> stream = channel_->MakeStream(kSession, {});
  stream->Send(OpenWithTask(), /*last=*/false);
  while (stream->Wait() != Event::kEnded) {
  }
  EXPECT_FALSE(stream->can_send());
  std::thread sender([&stream] { stream->Send(OpenWithTask(), /*last=*/false); });
  EXPECT_EQ(stream->Wait(), Event::kSent);
  sender.join();
  EXPECT_FALSE(stream->Finish().ok());
}

TEST_F(StreamTest, WithoutASendNothingHappens) {
  channel_->MakeStream(kPut, {});
  EXPECT_TRUE(channel_->Reusable());
  server_.With([](shoal::testing::Faults&, const shoal::testing::Seen& seen) {
    EXPECT_TRUE(seen.calls.empty());
  });
}

TEST_F(StreamTest, APeerThatReadsNothingCannotKeepTheCallersMemory) {
  server_.With(
      [](shoal::testing::Faults& faults, shoal::testing::Seen&) { faults.stall_put = true; });
  v1::PutRequest header;
  header.mutable_header()->mutable_spec()->set_dtype(v1::DTYPE_UINT8);
  header.mutable_header()->mutable_spec()->add_shape(64);
  auto payload = std::make_unique<std::string>(size_t{8} << 20, 'p');  // More than any window.
  {
    const std::unique_ptr<Stream> stream = channel_->MakeStream(kPut, {});
    stream->Send(FrameOf(header.SerializeAsString()), /*last=*/false);
    while (stream->Wait() != Event::kSent) {
    }
    Frame frame;
    frame.parts.push_back(
        {{}, {{reinterpret_cast<const std::byte*>(payload->data()), payload->size()}, nullptr}});
    stream->Send(frame, /*last=*/false);
  }
  payload.reset();  // A sanitizer would see any use of it from here on.
  server_.With(
      [](shoal::testing::Faults& faults, shoal::testing::Seen&) { faults.stall_put = false; });
  auto next = MakeGrpcChannel({.target = server_.address(), .methods = kMethods});
  ASSERT_TRUE(next.ok());
  EXPECT_TRUE((*next)->Call(kGetServerInfo, {}, {}).ok());
}

}  // namespace
}  // namespace shoal::transport
