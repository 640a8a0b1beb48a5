#include "server/service/session_output.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "shoal/v1/compute.pb.h"
#include "tests/server/service/chunks.h"
#include "tests/support/stream.h"

namespace shoal::service {
namespace {

using support::TestStream;

constexpr int64_t kMessageMax = 1000;

class Bare final : public transport::StreamHandler {
 public:
  Bare(transport::StreamCall* call, SessionOutput** output) : output_(call, kMessageMax) {
    *output = &output_;
  }
  void OnStart() override {}
  void OnMessage(transport::Message) override {}
  void OnHalfClose() override {}
  void OnWritten(bool ok) override { output_.OnWritten(ok); }
  void OnCancelled() override {
    output_.Finish(absl::CancelledError("gone"), /*drop_results=*/true);
  }
  void OnDone() override {}

 private:
  SessionOutput output_;
};

class SessionOutputTest : public ::testing::Test {
 protected:
  static std::string Result(uint64_t id, size_t text_bytes = 0) {
    v1::SessionResult result;
    result.set_id(id);
    result.mutable_status()->set_message(std::string(text_bytes, 'm'));
    return result.SerializeAsString();
  }

  v1::SessionResponse Receive() { return Parsed<v1::SessionResponse>(stream_.Receive()); }

  static std::vector<uint64_t> Done(const v1::SessionResponse& response) {
    return {response.done().begin(), response.done().end()};
  }
  static std::vector<uint64_t> Results(const v1::SessionResponse& response) {
    std::vector<uint64_t> ids;
    for (const v1::SessionResult& result : response.results()) ids.push_back(result.id());
    return ids;
  }
  using Ids = std::vector<uint64_t>;

  SessionOutput* output_ = nullptr;
  TestStream stream_{
      [this](transport::StreamCall* call) { return std::make_unique<Bare>(call, &output_); }};
};

TEST_F(SessionOutputTest, WhatEndsWhileAMessageIsOnItsWayLeavesTogether) {
  output_->SendCredits(7);
  const uint64_t ticket = output_->Begin(3);
  output_->Done(ticket, 1);
  output_->Result(ticket + 1, Result(2));
  output_->Done(ticket + 2, 3);
  EXPECT_EQ(Receive().credits(), 7);
  const auto second = Receive();
  EXPECT_EQ(second.credits(), 0);
  EXPECT_EQ(Done(second), (Ids{1, 3}));
  EXPECT_EQ(Results(second), (Ids{2}));
  EXPECT_EQ(output_->waiting_bytes(), 0);
}

TEST_F(SessionOutputTest, HeldResultsLeaveTogether) {
  const uint64_t ticket = output_->Begin(2);
  output_->Hold();
  output_->Done(ticket, 1);
  output_->Done(ticket + 1, 2);
  EXPECT_FALSE(stream_.IsWriting());
  output_->Release();
  EXPECT_EQ(Done(Receive()), (Ids{1, 2}));
}

TEST_F(SessionOutputTest, OrderedResultsWaitForThoseBefore) {
  output_->set_ordered();
  const uint64_t ticket = output_->Begin(2);
  const uint64_t third = output_->Begin(1);
  output_->Result(third, Result(30));
  output_->Done(ticket + 1, 20);
  EXPECT_FALSE(stream_.IsWriting());
  output_->Done(ticket, 10);
  EXPECT_EQ(Results(Receive()), (Ids{10, 20, 30}));
  output_->Done(output_->Begin(1), 40);
  EXPECT_EQ(Results(Receive()), (Ids{40}));
}

TEST_F(SessionOutputTest, NoMessageIsLargerThanTheLimit) {
  output_->Hold();
  Ids wanted;
  for (uint64_t id = 1; id <= 40; ++id) {
    output_->Result(output_->Begin(1), Result(id, 30 * (id % 20)));
    wanted.push_back(id);
  }
  Ids wanted_done;
  for (uint64_t id = 0; id < 500; ++id) {
    output_->Done(output_->Begin(1), UINT64_MAX - id);
    wanted_done.push_back(UINT64_MAX - id);
  }
  output_->Release();
  output_->Finish(absl::OkStatus(), /*drop_results=*/false);
  std::vector<std::string> messages;
  ASSERT_TRUE(stream_.ReceiveAll(&messages).ok());
  Ids results;
  Ids done;
  for (const std::string& message : messages) {
    EXPECT_LE(static_cast<int64_t>(message.size()), kMessageMax);
    const auto response = Parsed<v1::SessionResponse>(message);
    for (const uint64_t id : Done(response)) done.push_back(id);
    for (const uint64_t id : Results(response)) results.push_back(id);
  }
  EXPECT_EQ(results, wanted);
  EXPECT_EQ(done, wanted_done);
  EXPECT_LT(messages.size(), 25U);  // Nor are they sent one by one.
}

TEST_F(SessionOutputTest, AGoodEndWaitsForEveryResultABadOneOnlyForTheTasks) {
  const uint64_t ticket = output_->Begin(2);
  output_->Finish(absl::OkStatus(), /*drop_results=*/false);
  output_->Done(ticket, 1);
  EXPECT_EQ(Done(Receive()), (Ids{1}));
  EXPECT_FALSE(stream_.IsFinished());
  output_->Done(ticket + 1, 2);
  EXPECT_FALSE(stream_.IsFinished());
  EXPECT_EQ(Done(Receive()), (Ids{2}));
  EXPECT_TRUE(stream_.AwaitFinish().ok());
  EXPECT_TRUE(output_->finish_status().ok());
}

TEST_F(SessionOutputTest, ABadEndMayWaitForResults) {
  const uint64_t ticket = output_->Begin(1);
  output_->Finish(absl::UnavailableError("draining"), /*drop_results=*/false);
  output_->Done(ticket, 1);
  EXPECT_EQ(Done(Receive()), (Ids{1}));
  EXPECT_EQ(stream_.AwaitFinish(), absl::UnavailableError("draining"));
}

TEST_F(SessionOutputTest, ABadEndDropsResults) {
  const uint64_t ticket = output_->Begin(2);
  output_->Done(ticket, 1);
  output_->Finish(absl::AbortedError("bad"), /*drop_results=*/true);
  stream_.Receive();
  EXPECT_FALSE(stream_.IsFinished());
  output_->Done(ticket + 1, 2);
  EXPECT_FALSE(stream_.IsWriting());
  EXPECT_EQ(stream_.AwaitFinish(), absl::AbortedError("bad"));
  EXPECT_EQ(output_->finish_status(), absl::AbortedError("bad"));
}

TEST_F(SessionOutputTest, ABrokenStreamStillFinishesOnceAllTasksEnded) {
  const uint64_t ticket = output_->Begin(2);
  output_->Done(ticket, 1);
  stream_.Receive(/*ok=*/false);
  output_->Done(ticket + 1, 2);
  EXPECT_FALSE(stream_.IsWriting());
  output_->Finish(absl::CancelledError("gone"), /*drop_results=*/true);
  EXPECT_EQ(stream_.AwaitFinish().code(), absl::StatusCode::kCancelled);
}

TEST_F(SessionOutputTest, NothingIsReadAfterTheFinish) {
  output_->Read();
  EXPECT_TRUE(stream_.IsReading());
  output_->Finish(absl::CancelledError("gone"), /*drop_results=*/true);
  stream_.HalfClose();
  output_->Read();
  EXPECT_FALSE(stream_.IsReading());
}

TEST_F(SessionOutputTest, ThreadsThatEndTasksLoseNoResult) {
  constexpr uint64_t kPerThread = 300;
  const uint64_t ticket = output_->Begin(3 * kPerThread);
  std::vector<std::thread> threads;
  for (uint64_t i = 0; i < 3; ++i) {
    threads.emplace_back([&, i] {
      for (uint64_t n = 0; n < kPerThread; ++n) {
        const uint64_t id = i * kPerThread + n;
        if (n % 3 == 0) {
          output_->Result(ticket + id, Result(id));
        } else {
          output_->Done(ticket + id, id);
        }
      }
    });
  }
  output_->Finish(absl::OkStatus(), /*drop_results=*/false);
  std::vector<std::string> messages;
  ASSERT_TRUE(stream_.ReceiveAll(&messages).ok());
  for (std::thread& thread : threads) thread.join();
  size_t count = 0;
  for (const std::string& message : messages) {
    const auto response = Parsed<v1::SessionResponse>(message);
    count += Done(response).size() + Results(response).size();
  }
  EXPECT_EQ(count, 3 * kPerThread);
}

}  // namespace
}  // namespace shoal::service
