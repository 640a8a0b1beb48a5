#include "server/service/stream_writer.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/stream.h"

namespace shoal::service {
namespace {

using support::TestStream;

/// A handler that is nothing but its writer.
class Bare final : public transport::StreamHandler {
 public:
  explicit Bare(transport::StreamCall* call, StreamWriter** writer) : writer_(call) {
    *writer = &writer_;
  }
  void OnStart() override {}
  void OnMessage(transport::Message) override {}
  void OnHalfClose() override {}
  void OnWritten(bool ok) override { writer_.OnWritten(ok); }
  void OnCancelled() override { writer_.Finish(absl::CancelledError("gone")); }
  void OnDone() override {}

 private:
  StreamWriter writer_;
};

class StreamWriterTest : public ::testing::Test {
 protected:
  void Push(const std::string& text) { writer_->Push(transport::FrameOf(text)); }

  StreamWriter* writer_ = nullptr;
  TestStream stream_{
      [this](transport::StreamCall* call) { return std::make_unique<Bare>(call, &writer_); }};
};

TEST_F(StreamWriterTest, FramesLeaveOneAtATimeInOrder) {
  for (const char* text : {"a", "b", "c"}) Push(text);
  EXPECT_EQ(writer_->queued(), 2U);
  EXPECT_EQ(stream_.Receive(), "a");
  EXPECT_EQ(writer_->queued(), 1U);
  EXPECT_EQ(stream_.Receive(), "b");
  EXPECT_EQ(stream_.Receive(), "c");
  EXPECT_FALSE(stream_.IsWriting());
}

TEST_F(StreamWriterTest, AGoodEndWaitsForAllFramesABadOneForTheOneOnItsWay) {
  Push("a");
  Push("b");
  EXPECT_TRUE(writer_->Finish(absl::OkStatus()));
  Push("late");  // Dropped.
  std::vector<std::string> messages;
  EXPECT_TRUE(stream_.ReceiveAll(&messages).ok());
  EXPECT_EQ(messages, (std::vector<std::string>{"a", "b"}));
}

TEST_F(StreamWriterTest, ABadEndDropsWhatWaits) {
  Push("a");
  Push("b");
  EXPECT_TRUE(writer_->Finish(absl::AbortedError("bad")));
  EXPECT_FALSE(stream_.IsFinished());
  std::vector<std::string> messages;
  EXPECT_EQ(stream_.ReceiveAll(&messages), absl::AbortedError("bad"));
  EXPECT_EQ(messages, (std::vector<std::string>{"a"}));
}

TEST_F(StreamWriterTest, TheLastFrameTakesTheFinishAlong) {
  Push("a");
  Push("b");
  writer_->Finish(absl::OkStatus());
  EXPECT_EQ(stream_.Receive(), "a");
  EXPECT_TRUE(stream_.IsFinished());  // Though "b" has not been taken, and no OnWritten is due.
  EXPECT_EQ(stream_.Receive(), "b");
  EXPECT_EQ(stream_.Receive(), std::nullopt);
}

TEST_F(StreamWriterTest, WhatIsGatheredLeavesTogether) {
  {
    const StreamWriter::Gather outer(writer_);
    const StreamWriter::Gather inner(writer_);
    Push("a");
    writer_->Finish(absl::OkStatus());
    EXPECT_FALSE(stream_.IsWriting());
    EXPECT_FALSE(stream_.IsFinished());
  }
  EXPECT_FALSE(stream_.IsWriting());
  EXPECT_TRUE(stream_.IsFinished());
  EXPECT_EQ(stream_.Receive(), "a");
}

TEST_F(StreamWriterTest, AnErrorLeavesWithoutWhatWasGathered) {
  {
    const StreamWriter::Gather together(writer_);
    Push("a");
    writer_->Finish(absl::OkStatus());
    writer_->Finish(absl::InternalError("overrules"));
  }
  EXPECT_EQ(stream_.Receive(), std::nullopt);
  EXPECT_EQ(stream_.AwaitFinish(), absl::InternalError("overrules"));
}

TEST_F(StreamWriterTest, GatheringHoldsUpNothingForGood) {
  {
    const StreamWriter::Gather together(writer_);
    Push("a");
  }
  EXPECT_EQ(stream_.Receive(), "a");
  EXPECT_FALSE(stream_.IsFinished());
  writer_->Finish(absl::OkStatus());
  EXPECT_TRUE(stream_.IsFinished());
}

TEST_F(StreamWriterTest, TheFirstFinishCounts) {
  EXPECT_TRUE(writer_->Finish(absl::AbortedError("first")));
  EXPECT_FALSE(writer_->Finish(absl::OkStatus()));
  EXPECT_EQ(stream_.AwaitFinish(), absl::AbortedError("first"));
}

TEST_F(StreamWriterTest, ABrokenStreamDropsWhatWaitsAndStillFinishes) {
  Push("a");
  Push("b");
  stream_.Receive(/*ok=*/false);
  EXPECT_FALSE(stream_.IsWriting());
  writer_->Finish(absl::OkStatus());
  EXPECT_TRUE(stream_.IsFinished());
}

TEST_F(StreamWriterTest, NothingIsReadAfterTheFinish) {
  writer_->Read();
  EXPECT_TRUE(stream_.IsReading());
  writer_->Finish(absl::OkStatus());
  stream_.HalfClose();
  writer_->Read();
  EXPECT_FALSE(stream_.IsReading());
}

TEST(StreamWriterRaceTest, ReadsWritesAndFinishesFromAllSidesFinishOnce) {
  for (int round = 0; round < 200; ++round) {
    StreamWriter* writer = nullptr;
    TestStream stream(
        [&](transport::StreamCall* call) { return std::make_unique<Bare>(call, &writer); });
    std::atomic<int> finished = 0;
    std::thread pusher([&] {
      for (int i = 0; i < 5; ++i) writer->Push(transport::FrameOf("x"));
    });
    std::thread reader([&] { writer->Read(); });
    std::thread finisher([&] { finished += writer->Finish(absl::OkStatus()); });
    finished += writer->Finish(absl::CancelledError("gone"));
    stream.AwaitFinish().IgnoreError();
    for (std::thread* thread : {&pusher, &reader, &finisher}) thread->join();
    EXPECT_EQ(finished, 1);
  }
}

TEST_F(StreamWriterTest, AFrameThatIsStillBeingMadeHoldsUpThoseBehindItAndTheFinish) {
  const uint64_t first = *writer_->Hold();
  Push("c");
  const uint64_t given_up = *writer_->Hold();
  const uint64_t last = *writer_->Hold();
  EXPECT_FALSE(stream_.IsWriting());
  writer_->Fill(last, transport::FrameOf("d"));
  writer_->Fill(given_up, std::nullopt);
  writer_->Finish(absl::OkStatus());
  EXPECT_FALSE(stream_.IsWriting());
  writer_->Fill(first, transport::FrameOf("b"));
  for (const char* wanted : {"b", "c", "d"}) EXPECT_EQ(stream_.Receive(), wanted);
  EXPECT_TRUE(stream_.AwaitFinish().ok());
}

TEST_F(StreamWriterTest, AfterTheFinishNoPlaceIsHeld) {
  writer_->Finish(absl::CancelledError("gone"));
  EXPECT_TRUE(stream_.IsFinished());
  EXPECT_EQ(writer_->Hold(), std::nullopt);
}

TEST_F(StreamWriterTest, AnErrorDropsPlacesButWaitsForWhoHoldsThem) {
  const uint64_t place = *writer_->Hold();
  writer_->Finish(absl::OkStatus());
  writer_->Finish(absl::InternalError("overrules"));
  const uint64_t late = *writer_->Hold();
  EXPECT_FALSE(stream_.IsFinished());
  writer_->Fill(place, transport::FrameOf("dropped"));
  EXPECT_FALSE(stream_.IsFinished());
  writer_->Fill(late, std::nullopt);
  EXPECT_TRUE(stream_.IsFinished());
  EXPECT_EQ(stream_.AwaitFinish().code(), absl::StatusCode::kInternal);
}

}  // namespace
}  // namespace shoal::service
