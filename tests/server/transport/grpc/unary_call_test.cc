#include "server/transport/grpc/unary_call.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>

#include "server/wire/status_details.h"
#include "shoal/v1/details.pb.h"
#include "tests/server/transport/grpc/client.h"
#include "tests/support/eventually.h"
#include "tests/support/stream.h"

namespace shoal::transport {
namespace {

using support::Inbox;
using Calls = Inbox<std::shared_ptr<UnaryCall>>;

std::string RequestOf(const UnaryCall& call) {
  std::string text;
  for (const wire::ConstBytes piece : call.Request().pieces()) {
    text.append(reinterpret_cast<const char*>(piece.data()), piece.size());
  }
  return text;
}

class UnaryCallTest : public ServerTest {
 protected:
  UnaryCallTest() {
    Serve({{"Hold", [this](std::shared_ptr<UnaryCall> call) { calls_.Put(std::move(call)); },
            nullptr}});
  }

  Calls calls_;
  Inbox<Client::Answer> answers_;
};

TEST_F(UnaryCallTest, BytesGoInAndOutAsTheyAre) {
  for (const size_t size : {0U, 1U, 100U, 900'000U}) {
    grpc::ClientContext context;
    const std::string sent(size, 'q');
    client().Start(&context, "/test.Service/Hold", sent, &answers_);
    const auto call = calls_.Take();
    EXPECT_TRUE(RequestOf(*call) == sent);
    EXPECT_FALSE(call->IsCancelled());
    EXPECT_EQ(call->Peer().rfind("ipv4:127.0.0.1:", 0), 0U) << call->Peer();
    auto owner = std::make_shared<std::string>(size, 'p');
    Frame frame = FrameOf("h");
    frame.Append({{reinterpret_cast<const std::byte*>(owner->data()), size}, owner});
    call->Reply(std::move(frame));
    const Client::Answer answer = answers_.Take();
    EXPECT_TRUE(answer.status.ok()) << answer.status.error_message();
    EXPECT_TRUE(answer.bytes == "h" + *owner);
  }
}

TEST_F(UnaryCallTest, ErrorsArriveWithTheirDetails) {
  grpc::ClientContext context;
  client().Start(&context, "/test.Service/Hold", "", &answers_);
  calls_.Take()->Finish(wire::WithReason(absl::AbortedError("again"), "LOST"));
  const Client::Answer answer = answers_.Take();
  EXPECT_EQ(answer.status.error_code(), grpc::StatusCode::ABORTED);
  EXPECT_EQ(answer.status.error_message(), "again");
  v1::RpcStatus details;
  ASSERT_TRUE(details.ParseFromString(answer.status.error_details()));
  EXPECT_EQ(details.details(0).type_url(), "type.googleapis.com/google.rpc.ErrorInfo");
}

TEST_F(UnaryCallTest, TheDeadlineReachesTheHandler) {
  grpc::ClientContext none;
  client().Start(&none, "/test.Service/Hold", "", &answers_);
  auto call = calls_.Take();
  EXPECT_FALSE(call->TimeLeft().has_value());
  call->Reply({});
  EXPECT_TRUE(answers_.Take().status.ok());

  grpc::ClientContext hour;
  hour.set_deadline(std::chrono::system_clock::now() + std::chrono::hours(1));
  client().Start(&hour, "/test.Service/Hold", "", &answers_);
  call = calls_.Take();
  ASSERT_TRUE(call->TimeLeft().has_value());
  EXPECT_GT(*call->TimeLeft(), std::chrono::minutes(59));
  EXPECT_LE(*call->TimeLeft(), std::chrono::minutes(61));
  call->Reply({});
  EXPECT_TRUE(answers_.Take().status.ok());
}

TEST_F(UnaryCallTest, ACancellationRunsItsActionOnceBeforeOrAfterItWasSet) {
  for (const bool late : {false, true}) {
    grpc::ClientContext context;
    client().Start(&context, "/test.Service/Hold", "", &answers_);
    const auto call = calls_.Take();
    Inbox<bool> cancelled;
    if (!late) call->OnCancel([&] { cancelled.Put(true); });
    context.TryCancel();
    EXPECT_EQ(answers_.Take().status.error_code(), grpc::StatusCode::CANCELLED);
    EXPECT_TRUE(support::Eventually([&] { return call->IsCancelled(); }));
    if (late) call->OnCancel([&] { cancelled.Put(true); });
    EXPECT_TRUE(cancelled.Take());
    EXPECT_EQ(cancelled.size(), 0U);
    call->Finish(absl::CancelledError("gone"));
  }
}

TEST_F(UnaryCallTest, ADeadlineThatPassesCancels) {
  // On a loaded machine the first deadlines may pass before the server hears of the call.
  std::deque<grpc::ClientContext> contexts;
  for (auto timeout = std::chrono::milliseconds(20); calls_.size() == 0; timeout *= 4) {
    grpc::ClientContext& context = contexts.emplace_back();
    context.set_deadline(std::chrono::system_clock::now() + timeout);
    client().Start(&context, "/test.Service/Hold", "", &answers_);
    const auto comes = [&] { return calls_.size() > 0 || answers_.size() == contexts.size(); };
    ASSERT_TRUE(support::Eventually(comes));
  }
  const auto call = calls_.Take();
  Inbox<bool> cancelled;
  call->OnCancel([&] { cancelled.Put(true); });
  EXPECT_TRUE(cancelled.Take());
  // The client cancels by its own clock; the wire rounds what it tells the server up.
  EXPECT_TRUE(support::Eventually([&] { return *call->TimeLeft() <= Duration::zero(); }));
  call->Finish(absl::DeadlineExceededError("late"));
  for (size_t i = 0; i < contexts.size(); ++i) {
    EXPECT_EQ(answers_.Take().status.error_code(), grpc::StatusCode::DEADLINE_EXCEEDED);
  }
}

TEST_F(UnaryCallTest, AnActionGoesWithTheAnswer) {
  grpc::ClientContext context;
  client().Start(&context, "/test.Service/Hold", "", &answers_);
  const auto call = calls_.Take();
  const auto held = std::make_shared<int>(0);
  call->OnCancel([held] {});
  EXPECT_EQ(held.use_count(), 2);
  call->Reply({});
  EXPECT_EQ(held.use_count(), 1);
  EXPECT_TRUE(answers_.Take().status.ok());
}

}  // namespace
}  // namespace shoal::transport
